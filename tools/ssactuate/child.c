/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

/* ---- start ---- */

_Noreturn static void execute(
    const struct ssactuate_child *child, pid_t parent, int gate, int why) {
    char byte;
    int result = child->group ? ss_platform_limit_group_enter(child->group) : 0;
    /* The gate opens when the parent closes it, or is killed. */
    ssize_t length = read(gate, &byte, 1);
    if (length == 0 && result == 0 && ss_platform_die_with(parent, SIGTERM) == 0) {
        ss_platform_scheduling_restore(child->scheduling, child->mask);
        ss_signals_restore(child->signals, false);
        execvp(child->words[0], child->words);
    }
    int number = result < 0 ? -result : errno;
    length = write(why, &number, sizeof number);
    _exit(number == ENOENT ? SS_ERROR_NOT_FOUND : SS_ERROR_NOT_EXECUTABLE);
}

int ssactuate_child_fork(struct ssactuate_child *child, struct ss_error *error) {
    int gate[2], why[2];
    pid_t parent = getpid();
    if (pipe2(gate, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    SS_OWNED(close) int read_end = gate[0];
    SS_OWNED(close) int write_end = gate[1];
    if (pipe2(why, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    SS_OWNED(close) int why_end = why[1];
    child->why = why[0];
    child->pid = ss_signals_fork();
    if (child->pid == 0) {
        close(write_end);
        execute(child, parent, read_end, why_end);
    }
    if (child->pid < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(errno));
    child->gate = ss_owned_take(&write_end);
    return 0;
}

int ssactuate_child_execute(struct ssactuate_child *child, struct ss_error *error) {
    int number = 0;
    close(child->gate);
    child->gate = -1;
    ssize_t length = read(child->why, &number, sizeof number);
    close(child->why);
    if (length <= 0)
        return 0;
    ss_platform_reap(child->pid, &child->status, 0);
    child->ended = true;
    return ss_error_set(error, number == ENOENT ? SS_ERROR_NOT_FOUND : SS_ERROR_NOT_EXECUTABLE,
        "cannot execute '%s': %s", ss_words_show(child->words[0]).text, strerror(number));
}

void ssactuate_child_reaped(struct ssactuate_child *child, int status) {
    child->ended = true;
    child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- binding ---- */

struct look {
    struct ssactuate_binding *binding;
    pid_t keeper;
};

static void see_thread(void *context, pid_t thread) {
    struct look *look = context;
    uint64_t started = ss_platform_process_started(thread);
    if (started > 0)
        ssactuate_binding_see(look->binding, thread, started);
}

static void see_process(void *context, pid_t pid) {
    struct look *look = context;
    if (pid == look->keeper)
        return;
    ss_platform_process_threads(pid, see_thread, look);
    ss_platform_process_children(pid, see_process, look);
}

static void bind_thread(void *context, pid_t thread, uint32_t cpu) {
    struct ss_cpus cpus = {0};
    (void)context;
    ss_cpus_add(&cpus, cpu);
    if (sched_setaffinity(thread, sizeof cpus, (const cpu_set_t *)(const void *)&cpus) < 0)
        return; /* the thread has ended */
}

void ssactuate_child_bind(struct ssactuate_binding *binding, pid_t keeper) {
    struct look look = {binding, keeper};
    ssactuate_binding_begin(binding);
    ss_platform_process_children(getpid(), see_process, &look);
    ssactuate_binding_end(binding, bind_thread, NULL);
}
