/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/streams.h"
#include "base/words.h"
#include "platform/platform.h"

/* Receives an object. Returns false if the other end is closed. */
static bool receive(int pipe, void *object, size_t size) {
    ssize_t length;
    do
        length = read(pipe, object, size);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)size;
}

/*
 * exec would do the same, but a signal could arrive before it, once signals are no longer blocked.
 */
static void reset_handlers(void) {
    struct sigaction action;
    for (int number = 1; number < NSIG; number++) {
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    }
}

/* Executes the program. Returns only on failure. */
static struct ss_child_failure execute(
    const struct ss_child_setup *setup, pid_t parent, const sigset_t *mask) {
    if (setup->has_group)
        setpgid(0, 0);
    for (int i = 0; i < 3; i++) {
        if (setup->streams[i] >= 0 && dup2(setup->streams[i], i) < 0)
            return (struct ss_child_failure){.err = errno};
    }

    int step = setup->prepare ? setup->prepare(setup->context) : 0;
    if (step)
        return (struct ss_child_failure){step, errno};

    if (setup->death_signal && ss_platform_die_with(parent, setup->death_signal) < 0)
        _exit(SS_ERROR_FAILED);
    reset_handlers();
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(setup->words[0], setup->words);
    return (struct ss_child_failure){.err = errno};
}

/* End of file at the gate means that the parent is dead, and may be the only sign of it. */
_Noreturn static void run(const struct ss_child_setup *setup, pid_t parent, const sigset_t *mask,
    const int gate[2], int report) {
    char byte;
    close(gate[1]);
    if (!receive(gate[0], &byte, 1))
        _exit(SS_ERROR_FAILED);
    struct ss_child_failure failure = execute(setup, parent, mask);
    if (write(report, &failure, sizeof failure) < 0)
        _exit(SS_ERROR_FAILED); /* the parent is dead */
    _exit(SS_ERROR_NOT_EXECUTABLE);
}

pid_t ss_child_fork_blocked(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child != 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

int ss_child_fork(struct ss_child *child, const struct ss_child_setup *setup) {
    int report[2];
    pid_t parent = getpid();
    sigset_t mask;
    if (pipe2(child->gate, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(report, O_CLOEXEC) < 0) {
        int err = errno;
        ss_streams_close_pair(child->gate);
        return -err;
    }

    sigprocmask(SIG_SETMASK, NULL, &mask);
    child->pid = ss_child_fork_blocked();
    if (child->pid == 0)
        run(setup, parent, setup->mask ? setup->mask : &mask, child->gate, report[1]);
    int err = errno;

    close(report[1]);
    child->report = report[0];
    if (child->pid > 0)
        return 0;
    close(child->report);
    ss_streams_close_pair(child->gate);
    child->pid = 0;
    return -err;
}

int ss_child_execute(struct ss_child *child, struct ss_child_failure *failure) {
    /* The read end is still open here, so a killed child causes no SIGPIPE. */
    while (write(child->gate[1], "", 1) < 0 && errno == EINTR)
        continue;
    ss_streams_close_pair(child->gate);
    bool failed = receive(child->report, failure, sizeof *failure);
    close(child->report);
    if (!failed)
        return 0;
    ss_platform_reap(child->pid, NULL, 0);
    child->pid = 0;
    return -1;
}

int ss_child_fail(
    const struct ss_child_failure *failure, const char *program, struct ss_error *error) {
    return ss_error_set(error,
        failure->err == ENOENT ? SS_ERROR_NOT_FOUND : SS_ERROR_NOT_EXECUTABLE,
        "cannot execute '%s': %s", ss_words_show(program).text, strerror(failure->err));
}
