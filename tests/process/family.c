/* SPDX-License-Identifier: Apache-2.0 */
#include "family.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "sandbox.h"

#define NOBODY 65534

struct family family_find(const char *name) {
    struct family family;
    family.count = run_named(name, family.pids);
    return family;
}

size_t family_count(const struct family *family, char state) {
    size_t count = 0;
    for (size_t i = 0; i < family->count; i++)
        count += run_state(family->pids[i]) == state;
    return count;
}

size_t family_count_living(const struct family *family) {
    size_t count = 0;
    for (size_t i = 0; i < family->count; i++)
        count += run_lives(family->pids[i]);
    return count;
}

bool family_has(const struct family *family, pid_t pid) {
    for (size_t i = 0; i < family->count; i++) {
        if (family->pids[i] == pid)
            return true;
    }
    return false;
}

bool family_is_stopped(const char *name, size_t count) {
    struct family family = family_find(name);
    return family.count == count && family_count(&family, 'T') == count;
}

bool family_all_stopped(const char *name) {
    struct family family = family_find(name);
    return family.count > 0 && family_count(&family, 'T') == family.count;
}

double family_cpu_time(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

void family_expect_to_run(struct run *run, const struct family *family, double seconds) {
    double before[RUN_PIDS_MAX];
    for (size_t i = 0; i < family->count; i++)
        before[i] = family_cpu_time(family->pids[i]);
    for (size_t i = 0; i < family->count; i++)
        RUN_UNTIL(run, family_cpu_time(family->pids[i]) >= before[i] + seconds);
}

void family_signal(const struct family *family, int number) {
    for (size_t i = 0; i < family->count; i++)
        kill(family->pids[i], number);
}

void family_signal_named(const char *name, int number) {
    struct family family = family_find(name);
    ck_assert_msg(family.count > 0, "no process is named '%s'", name);
    family_signal(&family, number);
}

void family_kill_together(const struct family *family, pid_t last) {
    struct sched_param before;
    struct sched_param highest = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    int policy = sched_getscheduler(0);
    sched_getparam(0, &before);
    sched_setscheduler(0, SCHED_FIFO, &highest);
    /* `last` could react before its own SIGKILL, on another CPU or if we are preempted. */
    if (last > 1)
        kill(last, SIGSTOP);
    family_signal(family, SIGKILL);
    if (last > 1)
        kill(last, SIGKILL);
    sched_setscheduler(0, policy, &before);
}

pid_t family_find_guardian(struct run *run, pid_t except) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_named("ss-guardian", pids) == 1 && pids[0] != except);
    return pids[0];
}

/* Returns how many processes it found. */
static size_t kill_all_found(void) {
    struct family family = family_find("");
    family_signal(&family, SIGKILL);
    return family.count;
}

/*
 * Repeats, because a look may miss a child that its parent was just forking when it was killed. If
 * the parent's group got SIGSTOP during that fork, the child is stopped and would not end itself.
 */
void family_end_all(void) {
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, kill_all_found() == 0);
}

void family_end_kept(const struct family *kept) {
    RUN_UNTIL(NULL, family_find("ss-").count == 0);
    ck_assert_uint_eq(family_count_living(kept), kept->count);
    family_expect_to_run(NULL, kept, 0.01);
    family_end_all();
}

void family_deny_pidfds(void) {
    sandbox_deny(SYS_pidfd_open, ENOSYS);
}

void family_deny_realtime(void) {
    sandbox_deny(SYS_sched_setscheduler, EPERM);
}

void family_become_nobody(void) {
    setrlimit(RLIMIT_RTPRIO, &(struct rlimit){0, 0});
    if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        _exit(PROCESS_SKIPPED);
}

void family_lead_group(void) {
    setpgid(0, 0);
}

void family_dump_no_core(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* Returns whether the user "nobody", if we may become it, can execute both files. */
static bool nobody_can_execute(const char *first, const char *second) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        family_become_nobody();
        _exit(access(first, X_OK) < 0 || access(second, X_OK) < 0 ? PROCESS_SKIPPED : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

bool family_can_become_nobody(void) {
    return nobody_can_execute("/", "/");
}

void family_need_nobody(void) {
    SKIP_UNLESS(nobody_can_execute(SHOWSTOPPER, PAYLOAD),
        "another-user: no other user can read the build folder");
}
