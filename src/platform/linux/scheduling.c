/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/platform.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct ss_scheduling {
    int policy;
    struct sched_param parameters;
    int nice;
    unsigned long slack; /* nanoseconds */
    struct rlimit files;
    struct rlimit realtime;
    struct ss_cpus affinity;
};

/*
 * How long our processes may run at real-time priority without sleeping before they get SIGXCPU, in
 * microseconds.
 */
#define REALTIME_LIMIT_US 500000

struct ss_scheduling *ss_platform_scheduling_save(void) {
    struct ss_scheduling *saved = calloc(1, sizeof *saved);
    if (!saved)
        return NULL;
    saved->policy = sched_getscheduler(0);
    sched_getparam(0, &saved->parameters);
    saved->nice = getpriority(PRIO_PROCESS, 0);
    saved->slack = (unsigned long)prctl(PR_GET_TIMERSLACK);
    getrlimit(RLIMIT_NOFILE, &saved->files);
    getrlimit(RLIMIT_RTTIME, &saved->realtime);
    ss_platform_affinity(&saved->affinity);
    return saved;
}

void ss_platform_scheduling_restore(const struct ss_scheduling *saved, const struct ss_cpus *pin) {
    ss_platform_thread_bind(0, pin ? pin : &saved->affinity);
    setrlimit(RLIMIT_NOFILE, &saved->files);
    setrlimit(RLIMIT_RTTIME, &saved->realtime);
    if (sched_getscheduler(0) != saved->policy)
        sched_setscheduler(0, saved->policy, &saved->parameters);
    setpriority(PRIO_PROCESS, 0, saved->nice);
    prctl(PR_SET_TIMERSLACK, saved->slack);
}

/* Highest priority of ordinary processes. */
#define HIGHEST_NICE (-20)

/* Requests real-time priority for this process. Returns 0 or a negative errno. */
static int take_realtime_priority(void) {
    struct sched_param parameters = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0 ? 0 : -errno;
}

/* Lowers only the soft limit: a lowered hard limit could not be raised again for the instances. */
static void limit_realtime(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTTIME, &limit) == 0 &&
        (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > REALTIME_LIMIT_US)) {
        limit.rlim_cur = REALTIME_LIMIT_US;
        setrlimit(RLIMIT_RTTIME, &limit);
    }
}

int ss_platform_minimize_latency(enum ss_priority priority) {
    prctl(PR_SET_TIMERSLACK, 1UL);

    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    int refused = 0;
    if (priority == SS_PRIORITY_REALTIME) {
        limit_realtime();
        refused = take_realtime_priority();
    }
    if (refused || priority == SS_PRIORITY_HIGH)
        setpriority(PRIO_PROCESS, 0, HIGHEST_NICE);
    return refused;
}

void ss_platform_process_raise_priority(pid_t pid) {
    setpriority(PRIO_PROCESS, (id_t)pid, HIGHEST_NICE);
}

void ss_platform_drop_realtime(void) {
    sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &(struct sched_param){0});
}

/* The cpu_set_t of glibc has only 1024 CPUs; the kernel takes any length. */
int ss_platform_thread_affinity(pid_t thread, struct ss_cpus *cpus) {
    *cpus = (struct ss_cpus){0};
    return sched_getaffinity(thread, sizeof *cpus, (cpu_set_t *)(void *)cpus) < 0 ? -errno : 0;
}

int ss_platform_thread_bind(pid_t thread, const struct ss_cpus *cpus) {
    const cpu_set_t *set = (const cpu_set_t *)(const void *)cpus;
    return sched_setaffinity(thread, sizeof *cpus, set) < 0 ? -errno : 0;
}

void ss_platform_affinity(struct ss_cpus *cpus) {
    if (ss_platform_thread_affinity(0, cpus) < 0) {
        long count = sysconf(_SC_NPROCESSORS_ONLN);
        for (long cpu = 0; cpu < count; cpu++)
            ss_cpus_add(cpus, (uint32_t)cpu);
    }
}

/*
 * Waits without real-time priority: while another process reads the files of this one in /proc, the
 * kernel spins in waitpid(). At real-time priority, that would keep a reader on the same CPU from
 * finishing for as long as real-time processes may run at all: 0.95 s.
 */
pid_t ss_platform_reap(pid_t pid, int *status, int flags) {
    bool realtime = (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
    pid_t reaped;
    if (realtime)
        ss_platform_drop_realtime();
    do
        reaped = waitpid(pid, status, flags);
    while (reaped < 0 && errno == EINTR);
    if (realtime)
        take_realtime_priority();
    return reaped;
}
