/* SPDX-License-Identifier: Apache-2.0 */

/* The platform layer's reports about real processes. */

#include "family.h"
#include "json_text.h"
#include "kin.h"
#include "process.h"
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"

static void *wait_in_thread(void *tid) {
    if (tid)
        *(pid_t *)tid = (pid_t)syscall(SYS_gettid);
    kin_wait_for_ever();
    return NULL;
}

/* Leaves the process with a second thread only. */
static void leave_to_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_in_thread, NULL);
    pthread_exit(NULL);
}

static const char *read_line(const char *path) {
    static char line[256];
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    return line;
}

TEST_CASE(zombies_do_not_count_as_living_children) {
    ck_assert(!ss_platform_has_living_children());
    pid_t first = kin_start(NULL);
    ck_assert(ss_platform_has_living_children());
    kin_end_unreaped(first);
    ck_assert(!ss_platform_has_living_children());
    pid_t second = kin_start(NULL);
    ck_assert(ss_platform_has_living_children());
    kill(second, SIGSTOP);
    RUN_UNTIL(NULL, kin_is_stopped(second));
    ck_assert(ss_platform_has_living_children());
    /* A stop can still be waited for by a call that requests stops. */
    siginfo_t info = {0};
    ck_assert_int_eq(waitid(P_PID, (id_t)second, &info, WSTOPPED | WNOHANG | WNOWAIT), 0);
    ck_assert_int_eq(info.si_pid, second);
    kill(second, SIGCONT);
    ck_assert(ss_platform_has_living_children());
    kin_end_unreaped(second);
    ck_assert(!ss_platform_has_living_children());
    kin_reap(first);
    kin_reap(second);
    ck_assert(!ss_platform_has_living_children());
}

TEST_CASE(a_process_lives_until_its_last_thread_exits) {
    pid_t child = kin_start(leave_to_a_thread);
    RUN_UNTIL(NULL, run_state(child) == 'Z'); /* the system shows it as a zombie */
    ck_assert(ss_platform_has_living_children());
    uint64_t started = ss_platform_process_started(child);
    ck_assert_uint_ne(started, 0);
    ck_assert(ss_platform_process_is_alive(child, started));
    struct ss_process process;
    ck_assert(ss_platform_process_info(child, &process));
    ck_assert_int_ne(process.state, 'Z'); /* otherwise a run would not end it */
    ck_assert(!ss_platform_process_is_exiting(child));
    int hold = ss_platform_process_open(child, started);
    ck_assert_int_ge(hold, 0);
    close(hold);
    kin_end_unreaped(child);
    ck_assert(!ss_platform_has_living_children());
    ck_assert(!ss_platform_process_is_alive(child, started));
    ck_assert(ss_platform_process_is_exiting(child));
    kin_reap(child);
    ck_assert(ss_platform_process_is_exiting(child));
}

TEST_CASE(parent_group_state_and_start_time_are_read) {
    pid_t child = kin_start(family_lead_group);
    struct ss_process process;
    ck_assert(ss_platform_process_info(child, &process));
    ck_assert_int_eq(process.parent, getpid());
    ck_assert_int_eq(process.group, child);
    ck_assert_uint_eq(process.started, ss_platform_process_started(child));
    ck_assert_int_eq(getpgid(child), child);
    kill(child, SIGSTOP);
    RUN_UNTIL(NULL, ss_platform_process_info(child, &process) && process.state == 'T');
    ck_assert(ss_platform_process_may_signal(child));
    kin_end_unreaped(child);
    ck_assert(ss_platform_process_may_signal(child));
    ck_assert(ss_platform_process_info(child, &process));
    ck_assert_int_eq(process.state, 'Z');
    ck_assert_int_eq(process.parent, getpid());
    ck_assert_int_eq(getpgid(child), child);
    kin_reap(child);
    ck_assert(ss_platform_process_may_signal(child)); /* a process that is gone cannot forbid it */
    ck_assert(!ss_platform_process_info(child, &process));
    ck_assert_int_eq(getpgid(child), -1);
    ck_assert(!ss_platform_process_info(0, &process));
    ck_assert(!ss_platform_process_info(-1, &process));
    ck_assert(!ss_platform_process_info(-getpid(), &process));
}

static const char *name;

static void take_name(void) {
    prctl(PR_SET_NAME, name);
}

TEST_CASE(odd_process_names_do_not_confuse_the_parser) {
    const char *const names[] = {
        ") Z 1 2 3", "((((", "a b c", ") S 1", ")", "\n) R 1 1", "", "0 0 0 0 0 0 0 0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name = names[i];
        pid_t child = kin_start(take_name);
        struct ss_process process;
        RUN_UNTIL(NULL, ss_platform_process_info(child, &process) && process.state == 'S');
        ck_assert_int_eq(process.parent, getpid());
        ck_assert_int_eq(process.group, getpgrp());
        ck_assert_uint_ge(process.started, ss_platform_process_started(getpid()));
        kin_end(child);
    }
}

/* /proc does not list a thread but has a folder for its tid. */
TEST_CASE(threads_are_not_listed_as_processes) {
    static pid_t number;
    struct ss_process process;
    pthread_t thread;
    kin_gate[1] = -1;
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_thread, &number), 0);
    RUN_UNTIL(NULL, __atomic_load_n(&number, __ATOMIC_ACQUIRE) != 0);
    ck_assert_int_eq(getpgid(number), getpgrp());
    ck_assert(!ss_platform_process_info(number, &process));
    ck_assert_uint_eq(ss_platform_process_started(number), 0);
    ck_assert_int_lt(ss_platform_process_open(number, ss_platform_process_started(getpid())), 0);
}

TEST_CASE(processes_of_another_user_may_not_be_signaled) {
    pid_t asker = fork();
    if (asker == 0) {
        struct stat first;
        if (geteuid() == 0)
            family_become_nobody();
        /* In a container, all processes may belong to us. */
        if (stat("/proc/1", &first) == 0 && first.st_uid == geteuid())
            _exit(PROCESS_SKIPPED);
        _exit(ss_platform_process_may_signal(1) || !ss_platform_process_may_signal(getpid()));
    }
    int status;
    ck_assert_int_eq(waitpid(asker, &status, 0), asker);
    ck_assert(WIFEXITED(status));
    SKIP_UNLESS(WEXITSTATUS(status) != PROCESS_SKIPPED, "another-user: none has a process");
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static pid_t wanted[3];
static int seen[3];

static void see(void *context, pid_t pid) {
    ck_assert_ptr_eq(context, &wanted);
    ck_assert_int_gt(pid, 0);
    for (int i = 0; i < 3; i++)
        seen[i] += pid == wanted[i];
}

TEST_CASE(every_process_is_listed_once) {
    wanted[0] = getpid();
    wanted[1] = kin_start(NULL);
    wanted[2] = kin_start(leave_to_a_thread);
    ss_platform_process_each(see, &wanted);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(seen[i], 1);
}

/* Counts pids from `from` to `to`, which may have wrapped; others start processes, too. */
static pid_t count_numbers(pid_t from, pid_t to) {
    return to >= from ? to - from : to + ss_platform_pid_limit() - from;
}

/* lxcfs mounts a file that does not know our processes. */
static bool loadavg_is_the_kernels(void) {
    struct stat proc, loadavg;
    return stat("/proc", &proc) == 0 && stat("/proc/loadavg", &loadavg) == 0 &&
           proc.st_dev == loadavg.st_dev;
}

static void expect_latest_pids(void) {
    pid_t limit = ss_platform_pid_limit();
    ck_assert_int_eq(limit, atoi(read_line("/proc/sys/kernel/pid_max")));
    for (int i = 0; i < 20; i++) {
        pid_t before = ss_platform_pid_latest();
        pid_t child = kin_start(NULL);
        pid_t after = ss_platform_pid_latest();
        ck_assert_int_gt(before, 0);
        ck_assert_int_lt(child, limit);
        ck_assert_int_gt(count_numbers(before, child), 0);
        ck_assert_int_lt(count_numbers(before, child), limit / 2);
        ck_assert_int_lt(count_numbers(child, after), limit / 2);
        kin_end(child);
    }
}

TEST_CASE(latest_pid_grows_with_every_process) {
    if (loadavg_is_the_kernels())
        expect_latest_pids();
    else
        ck_assert_int_eq(ss_platform_pid_latest(), -1);
}

#define SYSTEM_CALL_OPEN 434 /* pidfd_open */
#define SYSTEM_CALL_SEND 424 /* pidfd_send_signal */

/* As in a container whose seccomp rules are older than the call: EPERM instead of ENOSYS. */
static void refuse(unsigned call) {
    sandbox_deny(call, EPERM);
}

static void expect_signals_without(unsigned call) {
    pid_t child = kin_start(NULL);
    ck_assert_int_eq(ss_platform_process_signal_group(-1, 0), -ESRCH);
    refuse(call);
    uint64_t started = ss_platform_process_started(child);
    int refused = ss_platform_process_open(child, started);
    ck_assert(refused < 0 && refused != -ESRCH);
    ck_assert(!ss_platform_pidfd_signals_groups());
    ck_assert_int_eq(ss_platform_process_signal_by_pid(child, started + 1, SIGKILL), -ESRCH);
    ck_assert_int_eq(
        ss_platform_process_signal_by_pid(1, ss_platform_process_started(1), 0), -ESRCH);
    ck_assert_int_eq(ss_platform_process_signal_by_pid(-1, 0, 0), -ESRCH);
    ck_assert_int_eq(ss_platform_process_signal_by_pid(child, started, SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(child));
    kin_end(child);
}

TEST_CASE(processes_are_signaled_if_pidfd_open_is_denied) {
    expect_signals_without(SYSTEM_CALL_OPEN);
}

TEST_CASE(processes_are_signaled_if_pidfd_send_signal_is_denied) {
    expect_signals_without(SYSTEM_CALL_SEND);
}

static void refuse_signals(void) {
    refuse(SYSTEM_CALL_SEND);
}

TEST_CASE(attached_processes_are_stopped_if_pidfd_send_signal_is_denied) {
    struct run_setup setup = {.prepare = refuse_signals};
    struct run *target = run_start(NULL, WORDS(PAYLOAD, "spin"));
    const char *pid = run_pid_text(target->pid);
    struct run *run = START_IN(&setup, "-q", "-l", "50%", "-c", "fixed", "--attach", pid);
    RUN_UNTIL(run, kin_is_stopped(target->pid));
    run_end(run, SIGTERM);
    ck_assert(!kin_is_stopped(target->pid));
    run_end(target, SIGKILL);
}

static void refuse_clocks(void) {
    refuse(SYS_perf_event_open);
}

TEST_CASE(own_load_is_measured_if_perf_event_open_is_denied) {
    struct run_setup setup = {.prepare = refuse_clocks};
    struct run *plan = SUCCEED_IN(&setup, "--dry-run", "-n", "1", "-f", "own", "-l", "50%", "true");
    run_expect_text(&plan->out, "alone; from /proc\n");
    /* On a busy machine an instance may get no CPU for seconds. */
    double load = 0;
    for (const char *const *length = WORDS("2s", "8s", "32s"); *length && !(load > 0); length++) {
        struct run *run = SUCCEED_IN(&setup, "-n", "1", "-f", "own", "-l", "10%", "--duration",
            *length, "--json", "-", PAYLOAD, "spin");
        load = json_number(run->out.bytes, "load_mean");
    }
    ck_assert_double_gt(load, 0);
}

/* As on a file system that does not support O_TMPFILE. */
static void refuse_files_without_a_name(void) {
    sandbox_deny_if(SYS_openat, 2, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP);
}

static void make_files_for_all(void) {
    umask(0);
}

static void make_files_for_all_with_names(void) {
    umask(0);
    refuse_files_without_a_name();
}

/* Returns the number of descriptors for shared memory; its files must be private. */
static size_t count_private_segments(pid_t pid) {
    char target[400];
    size_t count = 0;
    const char *folder = run_format("/proc/%d/fd", (int)pid);
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat status;
        const char *path = run_path(folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0 || strncmp(target, "/dev/shm/", 9) != 0)
            continue;
        count++;
        ck_assert_int_eq(stat(path, &status), 0);
        ck_assert_int_eq(status.st_mode & 07777, 0600);
        ck_assert_uint_eq(status.st_nlink, 0); /* no name */
    }
    closedir(directory);
    return count;
}

TEST_CASE(shared_memory_is_private) {
    static void (*const prepares[])(void) = {make_files_for_all, make_files_for_all_with_names};
    for (size_t i = 0; i < sizeof prepares / sizeof *prepares; i++) {
        struct run_setup setup = {.prepare = prepares[i]};
        struct run *run =
            START_IN(&setup, "-v", "-n", "1", "-f", "own", "-l", "10%", PAYLOAD, "spin");
        run_wait_text(run, "instances are running");
        ck_assert_uint_ge(count_private_segments(run->pid), 1);
        ck_assert_uint_eq(count_private_segments(run_find(run, "payload")), 0);
        run_end_clean(run, SIGTERM);
    }
}

static bool has_event(int forks) {
    struct pollfd poll_forks = {.fd = forks, .events = POLLIN};
    return poll(&poll_forks, 1, 0) == 1;
}

static struct {
    pid_t parent;
    pid_t child;
    bool found;
} birth;

static void see_birth(void *context, pid_t parent, pid_t child) {
    ck_assert_ptr_null(context);
    birth.found |= parent == birth.parent && child == birth.child;
}

TEST_CASE(fork_events_are_reported_with_parent_and_child) {
    int forks = ss_platform_fork_events_open();
    SKIP_UNLESS(forks >= 0, "forks: reported only to root, and not inside containers");
    for (int i = 0; i < 3; i++) {
        ck_assert(ss_platform_fork_events_listen(forks, true));
        pid_t child = kin_start(NULL);
        RUN_UNTIL(NULL, has_event(forks));
        kin_end(child);
        ck_assert(ss_platform_fork_events_listen(forks, false));
    }
    ck_assert(ss_platform_fork_events_record(forks));
    for (int i = 0; i < 3; i++) {
        birth.parent = getpid();
        birth.child = kin_start(NULL);
        birth.found = false;
        enum ss_births births = ss_platform_fork_events_read(forks, see_birth, NULL);
        ck_assert(birth.found || births == SS_BIRTHS_LOST);
        kin_end(birth.child);
    }
    close(forks);
}

/* The kernel ignores the request silently, so a wait for its answer would not end. */
TEST_CASE(forks_are_not_reported_in_a_namespace) {
    SKIP_UNLESS(unshare(CLONE_NEWPID) == 0, "root: only root can make a PID namespace");
    pid_t child = fork();
    if (child == 0)
        _exit(ss_platform_fork_events_open() >= 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
