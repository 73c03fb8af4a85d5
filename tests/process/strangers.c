/* SPDX-License-Identifier: Apache-2.0 */
#include "strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#include "family.h"
#include "sandbox.h"

#define STRANGERS_MAX 256

/* Highest pid in the namespace. After it, pids start again at 300. */
#define PID_LIMIT "700"

struct stranger {
    pid_t number;  /* the pid that it took */
    pid_t process; /* the process, or the remaining member of its group */
    volatile int signal;
    volatile pid_t sender;
};

/* A ring buffer shared with the strangers; `count` slots, beginning with `oldest`, are in use. */
static struct stranger *strangers;
static size_t oldest;
static size_t count;

static struct stranger *stranger_at(size_t index) {
    return &strangers[(oldest + index) % STRANGERS_MAX];
}

/* Before Linux 6.14 all PID namespaces share one limit. */
static bool has_own_number_limit(void) {
    struct utsname name;
    int major = 0;
    int minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 14));
}

static void limit_numbers(void) {
    int file = has_own_number_limit() ? open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    if (write(file, PID_LIMIT, strlen(PID_LIMIT)) < 0)
        fputs("the numbers are not limited\n", stderr);
    close(file);
}

static bool settle(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return false;
    limit_numbers();
    return true;
}

/* Runs `body` in a child and reaps all orphans. Exits with the status of that child. */
_Noreturn static void be_init(void (*body)(void)) {
    int status = 0;
    pid_t ended;
    if (!settle())
        _exit(SANDBOX_MISSING);
    pid_t child = fork();
    if (child == 0) {
        body();
        exit(EXIT_SUCCESS);
    }
    do
        ended = waitpid(-1, &status, 0);
    while (ended > 0 && ended != child);
    _exit(ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

/* A process that changed its user cannot read its own files in /proc until it becomes dumpable. */
static void become_unprivileged(void) {
    if (getuid() == 0)
        family_become_nobody();
    prctl(PR_SET_DUMPABLE, 1);
}

/* Runs `body` in a new PID namespace. Returns the exit status of the first process in it. */
static int run_apart(void (*body)(void)) {
    int status = 0;
    if (!sandbox_unshare(CLONE_NEWPID | CLONE_NEWNS))
        return SANDBOX_MISSING;
    pid_t init = fork();
    if (init == 0)
        be_init(body);
    if (init < 0 || waitpid(init, &status, 0) != init || !WIFEXITED(status))
        return EXIT_FAILURE;
    return WEXITSTATUS(status);
}

void strangers_run_apart(void (*body)(void), bool unprivileged) {
    if (unprivileged)
        become_unprivileged();
    int status = run_apart(body);
    /* The process that found a failure has reported it. */
    if (status != EXIT_SUCCESS)
        exit(status);
}

static pid_t fork_as(pid_t number) {
    struct clone_args arguments = {
        .exit_signal = SIGCHLD,
        .set_tid = (uintptr_t)&number,
        .set_tid_size = 1,
    };
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

static void try_number(void) {
    pid_t child = fork_as(250);
    if (child == 0)
        _exit(EXIT_SUCCESS);
    if (child != 250)
        _exit(SANDBOX_MISSING);
}

bool strangers_are_possible(bool unprivileged) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        if (unprivileged)
            become_unprivileged();
        _exit(run_apart(try_number));
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Records every signal that can be blocked; the caller has blocked them. */
_Noreturn static void stand_by(struct stranger *self) {
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    for (;;) {
        int signal = sigwaitinfo(&all, &info);
        if (signal <= 0 || signal == SIGCHLD)
            continue;
        self->sender = info.si_pid;
        self->signal = signal;
    }
}

/* Exits, but leaves a child as member of its group. */
_Noreturn static void leave_group_behind(struct stranger *self) {
    pid_t child = fork();
    if (child == 0)
        stand_by(self);
    self->process = child;
    _exit(child < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool try_once(pid_t number, bool only_group) {
    sigset_t all;
    sigset_t before;
    if (!strangers)
        strangers = mmap(NULL, STRANGERS_MAX * sizeof *strangers, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(strangers != MAP_FAILED && count < STRANGERS_MAX);
    struct stranger *stranger = stranger_at(count);
    *stranger = (struct stranger){.number = number, .process = number};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork_as(number);
    if (child == 0) {
        setsid();
        if (only_group)
            leave_group_behind(stranger);
        stand_by(stranger);
    }
    int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    ck_assert_msg(child == number || why == EEXIST, "number %d: %s", (int)number, strerror(why));
    if (child == number && only_group)
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    count += child == number;
    return child == number;
}

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

bool stranger_try(struct run *run, pid_t number, double patience) {
    double deadline = run_now() + patience;
    while (!try_once(number, false)) {
        if (run_now() > deadline)
            return false;
        nap();
        run_look(run);
    }
    return true;
}

void stranger_take(struct run *run, pid_t number) {
    ck_assert_msg(stranger_try(run, number, RUN_PATIENCE), "pid %d is still in use", (int)number);
}

void stranger_take_group(struct run *run, pid_t number) {
    RUN_UNTIL(run, try_once(number, true));
}

static void expect_untouched(const struct stranger *stranger) {
    char state = run_state(stranger->process);
    ck_assert_msg(state == 'S' || state == 'R',
        "the stranger %d, which took pid %d, was stopped or killed: its state is %c",
        (int)stranger->process, (int)stranger->number, state ? state : '-');
    ck_assert_msg(stranger->signal == 0,
        "the stranger %d, which took pid %d, was sent signal %d by process %d",
        (int)stranger->process, (int)stranger->number, stranger->signal, (int)stranger->sender);
}

/* The remaining member of a group is not our child, so its waitpid() fails, which is harmless. */
void strangers_dismiss(size_t but) {
    for (; count > but; count--) {
        struct stranger *stranger = stranger_at(0);
        expect_untouched(stranger);
        kill(stranger->process, SIGKILL);
        waitpid(stranger->process, NULL, 0);
        oldest = (oldest + 1) % STRANGERS_MAX;
    }
}
