/* SPDX-License-Identifier: Apache-2.0 */
#include "run/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/streams.h"
#include "base/wakeup.h"
#include "platform/child.h"
#include "platform/platform.h"

int ss_crew_open(struct ss_crew *crew, struct ss_error *error) {
    for (int i = 0; i < 2; i++)
        crew->wakeup[i] = crew->guardian_wakeup[i] = -1;
    crew->terminal.file = crew->null = -1;
    crew->job = ss_guardian_job(&crew->setup);
    int status = ss_keeper_open(&crew->guardian, &crew->job);
    if (status < 0)
        return ss_error_fail(error, "cannot set up the run: %s", strerror(-status));

    crew->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    crew->executors = calloc(crew->plan->instances, sizeof *crew->executors);
    crew->cpu_times = calloc(crew->plan->instances, sizeof *crew->cpu_times);
    if (crew->null < 0 || !crew->executors || !crew->cpu_times ||
        pipe2(crew->wakeup, O_CLOEXEC | O_NONBLOCK) < 0 ||
        pipe2(crew->guardian_wakeup, O_CLOEXEC | O_NONBLOCK) < 0)
        return ss_error_fail(error, "cannot set up the run: %s", strerror(errno));

    crew->setup = (struct ss_guardian_setup){
        .board = crew->board,
        .master = getpid(),
        .wakeup = crew->guardian_wakeup[0],
        .master_wakeup = crew->wakeup[1],
        .terminal = &crew->terminal,
    };
    ss_terminal_open(&crew->terminal);

    return 0;
}

static int fail_fork(const char *what, struct ss_error *error) {
    return ss_error_fail(error,
        "cannot start %s: %s: run fewer instances or raise the limit on processes", what,
        strerror(errno));
}

int ss_crew_start_guardian(struct ss_crew *crew, struct ss_error *error) {
    pid_t guardian = ss_keeper_start(&crew->guardian);
    if (guardian < 0)
        return fail_fork("the guardian", error);
    atomic_store(&crew->board->guardian, guardian);
    return 0;
}

int ss_crew_start_executor(
    struct ss_crew *crew, uint32_t index, const int ends[2], struct ss_error *error) {
    const struct ss_plan *plan = crew->plan;
    const struct ss_launch launch = {
        .command = plan->commands.items[index],
        .index = plan->numbers[index],
        .instances = plan->instances_text,
        .input = crew->null,
        .output = ends[0],
        .errors = ends[1],
        .mark = crew->board->mark,
        .keep = plan->keep,
        .terminal = crew->terminal.file >= 0,
        .signals = crew->signals,
        .scheduling = crew->scheduling,
        .pin = plan->pinned ? &plan->cpus : NULL,
    };
    SS_OWNED(close) int held = ss_platform_lifeline_hold(crew->guardian.parent_lifeline);
    SS_OWNED(close) int held_too = ss_platform_lifeline_hold(crew->guardian.lifeline);
    pid_t executor = ss_child_fork_blocked();

    if (executor == 0)
        ss_executor_run(crew, index, &launch);
    if (executor < 0)
        return fail_fork("an executor", error);

    crew->executors[index] = executor;
    crew->running++;
    atomic_store(&crew->board->rows[index].executor, executor);
    return 0;
}

void ss_crew_wake(struct ss_crew *crew) {
    for (uint32_t i = 0; i < crew->plan->instances; i++)
        ss_platform_wake(&crew->board->rows[i].wake);
    ss_wakeup_send(crew->guardian_wakeup[1]);
}

/*
 * Continues a process of ours that something else has stopped: a stopped executor would leave its
 * instance stopped or running for good.
 */
static void unstop(const struct ss_crew *crew, pid_t pid) {
    bool ours = pid == crew->guardian.pid;
    for (uint32_t i = 0; i < crew->plan->instances; i++)
        ours |= crew->executors[i] == pid;
    if (ours)
        kill(pid, SIGCONT);
}

/*
 * Returns the pid of a child that has ended or stopped, or 0. If the sensor has ended, kills the
 * rest of its group before the caller reaps it: after that, the group's ID may be reused.
 */
static pid_t next_child(struct ss_crew *crew) {
    siginfo_t child = {0};
    if (waitid(P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0 || child.si_pid <= 0)
        return 0;
    if (child.si_pid == atomic_load(&crew->board->sensor) && child.si_code != CLD_STOPPED &&
        child.si_code != CLD_TRAPPED) {
        kill(-child.si_pid, SIGKILL);
        atomic_store(&crew->board->sensor, 0);
    }
    return child.si_pid;
}

pid_t ss_crew_reap(struct ss_crew *crew, uint32_t *who, int *status) {
    *who = SS_CREW_OTHER;
    pid_t pid;
    while ((pid = next_child(crew)) > 0 &&
           (pid = ss_platform_reap(pid, status, WNOHANG | WUNTRACED)) > 0 && WIFSTOPPED(*status))
        unstop(crew, pid);

    if (pid <= 0)
        return 0;

    if (pid == crew->guardian.pid) {
        *who = SS_CREW_GUARDIAN;
        crew->guardian.pid = 0;
    }

    for (uint32_t i = 0; i < crew->plan->instances; i++) {
        if (crew->executors[i] != pid)
            continue;
        *who = i;
        crew->executors[i] = 0;
        crew->running--;
        break;
    }

    return pid;
}

void ss_crew_dismiss_guardian(struct ss_crew *crew) {
    if (!crew->setup.board)
        return; /* neither the guardian nor an executor was started */
    atomic_store(&crew->board->over, 1);
    ss_wakeup_send(crew->guardian_wakeup[1]);
    if (!ss_keeper_dismiss(&crew->guardian))
        ss_guardian_finish(&crew->setup);
}

static ss_time shared_cpu_time(const struct ss_crew *crew) {
    return ss_platform_process_cpu_time(getpid()) +
           ss_platform_process_cpu_time(crew->guardian.pid);
}

/* Returns an executor's CPU time. An executor writes its total to the board before it exits. */
static ss_time executor_cpu_time(const struct ss_crew *crew, uint32_t index) {
    ss_time last = atomic_load(&crew->board->rows[index].cpu_time);
    return last ? last : ss_platform_process_cpu_time(crew->executors[index]);
}

void ss_crew_start_clock(struct ss_crew *crew) {
    crew->own_cpu = shared_cpu_time(crew);
    for (uint32_t i = 0; i < crew->plan->instances; i++)
        crew->cpu_times[i] = executor_cpu_time(crew, i);
}

ss_time ss_crew_cpu_time(const struct ss_crew *crew) {
    ss_time sum = ss_time_since(shared_cpu_time(crew), crew->own_cpu);
    for (uint32_t i = 0; i < crew->plan->instances; i++)
        sum += ss_time_since(executor_cpu_time(crew, i), crew->cpu_times[i]);
    return sum;
}

void ss_crew_close(struct ss_crew *crew) {
    ss_streams_close_pair(crew->wakeup);
    ss_streams_close_pair(crew->guardian_wakeup);
    if (crew->null >= 0)
        close(crew->null);
    ss_keeper_close(&crew->guardian);
    ss_terminal_close(&crew->terminal);
    free(crew->executors);
    free(crew->cpu_times);
}
