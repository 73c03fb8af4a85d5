/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/end_signals.h"

/* Steps of the child before it executes the command. */
enum { ENTER_GROUP = 1, SET_AFFINITY };

static int prepare(const void *context) {
    const struct ssactuate_child *child = context;
    struct ss_cpus cpus;
    int result = child->group ? limit_group_enter(child->group) : 0;

    if (result < 0) {
        errno = -result;
        return ENTER_GROUP;
    }

    ss_platform_scheduling_restore(child->scheduling, child->mask);
    /* The kernel silently drops CPUs that a cpuset lacks. */
    if (child->mask &&
        (ss_platform_thread_affinity(0, &cpus) < 0 || !ss_cpus_are_equal(&cpus, child->mask)))
        return SET_AFFINITY;

    ss_signals_restore(child->signals, false);
    return 0;
}

static const char *explain_group(int number) {
    switch (number) {
    case ENOSPC:
        return ": the cpuset of the group has no CPUs or no memory nodes";
    case EBUSY:
        return ": another program has enabled controllers for its subgroups";
    default:
        return "";
    }
}

int ssactuate_child_fork(struct ssactuate_child *child, struct ss_error *error) {
    const struct ss_child_setup setup = {
        .words = child->words,
        .streams = {-1, -1, -1},
        .death_signal = SIGTERM,
        .mask = &child->signals->caller_mask,
        .prepare = prepare,
        .context = child,
    };
    int result = ss_child_fork(&child->process, &setup);
    if (result < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(-result));
    return 0;
}

int ssactuate_child_execute(struct ssactuate_child *child, struct ss_error *error) {
    static char cpus[8 * SS_CPUS_MAX];
    struct ss_child_failure failure;
    if (ss_child_execute(&child->process, &failure) == 0)
        return 0;

    child->ended = true;
    if (failure.step == ENTER_GROUP)
        return ss_error_fail(error, "cannot move the command into its control group: %s%s",
            strerror(failure.err), explain_group(failure.err));
    if (failure.step == SET_AFFINITY) {
        ss_cpus_print(cpus, sizeof cpus, child->mask);
        return ss_error_fail(error,
            "cannot run the command on CPUs %s: some of them are offline or outside the cpuset of "
            "ssactuate",
            cpus);
    }
    return ss_child_fail(&failure, child->words[0], error);
}

void ssactuate_child_reaped(struct ssactuate_child *child, int status) {
    child->ended = true;
    child->status = ss_child_exit_status(status);
}

int ssactuate_child_handle_signals(struct ss_signals *signals, struct ss_error *error) {
    int result = 0;
    for (int number; (number = ss_signals_next(signals)) != 0;) {
        if (number == SIGTSTP)
            ss_signals_suspend(signals);
        if (ss_end_signals_has(number))
            result = ss_error_set(error, 128 + number,
                "signal %d (%s) ended the run before it began", number, strsignal(number));
    }
    return result;
}

/* A forwarded copy of a terminal's signal arrives within this time of the original. */
#define REPEATED_MAX (100 * SS_MILLISECOND)

bool ssactuate_is_repeated(struct ssactuate_end_signal *last, int number, bool typed, ss_time now) {
    bool repeated = last->number == number && last->typed != typed &&
                    ss_time_since(now, last->time) <= REPEATED_MAX;
    *last = repeated ? (struct ssactuate_end_signal){0}
                     : (struct ssactuate_end_signal){.number = number, .typed = typed, .time = now};
    return repeated;
}

/* A visit to all threads of a process's descendants. */
struct visit {
    const pid_t *spared;        /* two children to skip with their descendants; 0 if unused */
    const struct stat *program; /* processes that execute it are skipped; may be NULL */
    void (*on_thread)(void *context, pid_t thread);
    void *context;
};

static bool executes(pid_t pid, const struct stat *program) {
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat(path, &found) == 0 && found.st_dev == program->st_dev &&
           found.st_ino == program->st_ino;
}

static void visit_process(void *context, pid_t pid) {
    const struct visit *visit = context;
    if (pid == visit->spared[0] || pid == visit->spared[1])
        return;
    if (!visit->program || !executes(pid, visit->program))
        ss_platform_process_threads(pid, visit->on_thread, visit->context);
    ss_platform_process_children(pid, visit_process, context);
}

static void visit_thread(void *context, pid_t thread) {
    uint64_t started = ss_platform_thread_started(thread);
    if (started > 0)
        ssactuate_binding_visit(context, thread, started);
}

void ssactuate_child_bind_thread(void *context, pid_t thread, uint32_t cpu) {
    struct ss_cpus cpus = {0};
    (void)context;
    ss_cpus_add(&cpus, cpu);
    /* Fails if the thread has ended. */
    ss_platform_thread_bind(thread, &cpus);
}

static void move_thread(void *context, pid_t thread) {
    ss_platform_thread_bind(thread, context); /* fails if the thread has ended */
}

void ssactuate_child_move(pid_t root, const pid_t spared[2], struct ss_cpus mask) {
    struct visit visit = {.spared = spared, .on_thread = move_thread, .context = &mask};
    /* Twice: threads started during the first pass may have inherited the previous mask. */
    for (int i = 0; i < 2; i++)
        ss_platform_process_children(root, visit_process, &visit);
    if (root != getpid())
        ss_platform_process_threads(root, move_thread, &mask);
}

void ssactuate_child_bind(
    struct ssactuate_binding *binding, const pid_t spared[2], const struct stat *program) {
    struct visit visit = {spared, program, visit_thread, binding};
    ssactuate_binding_begin(binding);
    ss_platform_process_children(getpid(), visit_process, &visit);
    ssactuate_binding_end(binding, ssactuate_child_bind_thread, NULL);
}
