/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pidfds.h"
#include "platform/platform.h"
#include "unit.h"

static int ready[2];

/* Starts a child that the kernel kills if this process ends first. */
static pid_t start_child(void (*first)(void)) {
    char byte;
    pid_t parent = getpid();
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_that(child, >=, 0);
    if (child == 0) {
        if (ss_platform_die_with(parent, SIGKILL) < 0)
            _exit(1);
        if (first)
            first();
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* end of file: the child is ready */
    close(ready[0]);
    return child;
}

static void end_child(pid_t child) {
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Waits until the child has exited, without reaping it. */
static void await_end(pid_t child) {
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

TEST(child_process_can_be_held) {
    need_pidfds();
    int status;
    pid_t child = start_child(NULL);
    int process = ss_platform_process_open(child, ss_platform_process_started(child));
    assert_that(process, >=, 0);
    assert_int_equal(ss_platform_process_signal(process, 0), 0);
    assert_int_equal(ss_platform_process_signal(process, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_that(WTERMSIG(status), ==, SIGTERM);
    assert_int_equal(ss_platform_process_signal(process, SIGTERM), -ESRCH);
    close(process);
}

/* If the start time differs, the pid belongs to another process. */
TEST(process_that_ended_or_whose_pid_was_reused_is_not_held) {
    need_pidfds();
    pid_t child = start_child(NULL);
    uint64_t started = ss_platform_process_started(child);
    const uint64_t others[] = {started - 1, started + 1, 0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ss_platform_process_open(child, others[i]), -ESRCH);
        assert_false(ss_platform_process_is_alive(child, others[i]));
    }
    assert_true(ss_platform_process_is_alive(child, started));
    assert_int_equal(kill(child, SIGKILL), 0);
    for (int reaped = 0; reaped < 2; reaped++) {
        if (reaped)
            assert_int_equal(waitpid(child, NULL, 0), child);
        else
            await_end(child);
        assert_int_equal(ss_platform_process_open(child, started), -ESRCH);
        assert_int_equal(ss_platform_process_open(child, 0), -ESRCH);
        assert_false(ss_platform_process_is_alive(child, started));
        assert_false(ss_platform_process_is_alive(child, 0));
    }
}

TEST(invalid_pids_are_never_signaled) {
    need_pidfds();
    assert_int_equal(ss_platform_process_open(0, 0), -ESRCH);
    assert_int_equal(ss_platform_process_open(1, ss_platform_process_started(1)), -ESRCH);
    assert_int_equal(ss_platform_process_open(-1, 0), -ESRCH);
    assert_int_equal(ss_platform_process_signal(-1, SIGCONT), -ESRCH);
    assert_int_equal(ss_platform_process_signal_group(-1, SIGCONT), -ESRCH);
    int file = dup(0);
    assert_int_equal(ss_platform_process_signal(file, SIGCONT), -EBADF);
    close(file);
}

static int answers[2];

/* The second member of the group answers the signal, which proves its delivery. */
static void lead_a_group(void) {
    sigset_t asked;
    int number;
    sigemptyset(&asked);
    sigaddset(&asked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    setpgid(0, 0);
    pid_t leader = getpid();
    if (fork() != 0)
        return;
    if (ss_platform_die_with(leader, SIGKILL) < 0)
        _exit(1);
    close(ready[1]);
    while (sigwait(&asked, &number) != 0 || write(answers[1], "a", 1) != 1)
        continue;
    for (;;)
        pause();
}

TEST(group_is_signaled_through_its_leader) {
    need_pidfds();
    int status;
    assert_int_equal(pipe(answers), 0);
    pid_t child = start_child(lead_a_group);
    int process = ss_platform_process_open(child, ss_platform_process_started(child));
    assert_that(process, >=, 0);
    int why = ss_platform_process_signal_group(process, SIGUSR1);
    if (why == -ENOSYS) {
        end_child(child);
        SKIP("pidfd-group: requires Linux 6.9");
    }
    assert_int_equal(why, 0);
    struct pollfd answered = {.fd = answers[0], .events = POLLIN};
    assert_int_equal(poll(&answered, 1, 10000), 1);
    assert_int_equal(ss_platform_process_signal_group(process, SIGSTOP), 0);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(ss_platform_process_signal_group(process, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_that(WTERMSIG(status), ==, SIGKILL);
    close(process);
}

static void take_a_strange_name(void) {
    prctl(PR_SET_NAME, ") R 1 2 (a b)");
}

TEST(processes_have_distinct_identities) {
    setpgid(0, 0); /* only a leader knows whether groups can be held; fails if it already is one */
    uint64_t own = ss_platform_process_started(getpid());
    pid_t child = start_child(take_a_strange_name);
    uint64_t started = ss_platform_process_started(child);
    assert_that(own, >, 0);
    assert_int_equal(ss_platform_process_started(getpid()), own);
    pid_t other = start_child(take_a_strange_name);
    assert_int_equal(ss_platform_process_started(child), started);
    int hold = ss_platform_process_open(other, started);
    /* On systems with process identities, even a process started in the same tick differs. */
    if (ss_platform_pidfd_signals_groups()) {
        assert_that(started, !=, own);
        assert_int_equal(hold, -ESRCH);
    }
    if (hold >= 0)
        close(hold);
    end_child(other);
    end_child(child);
    assert_int_equal(ss_platform_process_started(child), 0);
}

TEST(cpu_time_of_a_process_is_read) {
    assert_that(ss_platform_process_cpu_time(getpid()), >, 0);
    assert_int_equal(ss_platform_process_cpu_time(0), 0);
    assert_int_equal(ss_platform_process_cpu_time(-1), 0);
}

TEST(sleep_and_poll_end_at_the_deadline) {
    _Atomic uint32_t word = 5;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct pollfd input = {.fd = ends[0], .events = POLLIN};
    for (int polls = 0; polls < 2; polls++) {
        ss_time begin = ss_platform_now();
        ss_time deadline = begin + 30 * SS_MILLISECOND;
        if (polls)
            assert_int_equal(ss_platform_poll(&input, 1, deadline), 0);
        else
            ss_platform_sleep(&word, 5, deadline);
        ss_time end = ss_platform_now();
        assert_that(end, >=, deadline);
        assert_that(end, <, begin + 60 * SS_SECOND);
    }
    assert_int_equal(ss_platform_poll(&input, 1, 0), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(ss_platform_poll(&input, 1, SS_TIME_NEVER), 1);
    close(ends[0]);
    close(ends[1]);
}

TEST(sleep_ends_at_once_when_the_deadline_has_passed_or_the_futex_word_differs) {
    _Atomic uint32_t word = UINT32_MAX - 1;
    ss_time begin = ss_platform_now();
    ss_platform_sleep(&word, UINT32_MAX - 1, begin - 1);
    ss_platform_sleep(&word, UINT32_MAX - 1, 0);
    ss_platform_sleep(&word, 4, SS_TIME_NEVER);
    ss_platform_sleep(&word, 4, begin + 30 * SS_SECOND);
    assert_that(ss_platform_now(), <, begin + 25 * SS_SECOND);
    for (uint32_t expected = UINT32_MAX; expected + 1 < 2; expected++) {
        ss_platform_wake(&word);
        assert_int_equal(word, expected);
    }
}

static void *wake_until_ordered(void *argument) {
    _Atomic uint32_t *words = argument;
    while (words[1] == 0) {
        usleep(1000);
        ss_platform_wake(&words[0]);
    }
    return NULL;
}

TEST(sleep_ends_when_woken) {
    static _Atomic uint32_t words[2];
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wake_until_ordered, words), 0);
    ss_time begin = ss_platform_now();
    for (int i = 0; i < 10; i++) {
        uint32_t seen = words[0];
        ss_platform_sleep(&words[0], seen, i % 2 ? SS_TIME_NEVER : begin + 60 * SS_SECOND);
    }
    ss_time end = ss_platform_now();
    words[1] = 1;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_that(end, <, begin + 30 * SS_SECOND);
    assert_that(words[0], >, 0);
}

/* Returns false if the kernel does not count the time. */
static bool read_wait(ss_time *waited) {
    unsigned long long ran, number;
    FILE *file = fopen("/proc/self/schedstat", "re");
    if (!file)
        return false;
    assert_int_equal(fscanf(file, "%llu %llu", &ran, &number), 2);
    fclose(file);
    *waited = number;
    return true;
}

TEST(own_wait_agrees_with_the_kernel) {
    ss_time before, after;
    if (!read_wait(&before)) {
        assert_true(ss_platform_own_wait() == SS_TIME_NEVER);
        return;
    }
    ss_time waited = ss_platform_own_wait();
    assert_true(read_wait(&after));
    assert_that(waited, >=, before);
    assert_that(waited, <=, after);
}

static _Atomic int alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

/* Signals repeat so that one of them arrives during the sleep. */
TEST(sleep_ends_on_a_signal) {
    _Atomic uint32_t word = 5;
    struct sigaction action = {.sa_handler = count_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {0};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    ss_time begin = ss_platform_now();
    setitimer(ITIMER_REAL, &often, NULL);
    ss_platform_sleep(&word, 5, begin + 60 * SS_SECOND);
    ss_time end = ss_platform_now();
    setitimer(ITIMER_REAL, &never, NULL);
    assert_that(alarms, >, 0);
    assert_that(end, <, begin + 30 * SS_SECOND);
}

UNIT_RUN
