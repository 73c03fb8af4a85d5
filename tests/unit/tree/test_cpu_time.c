/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of the CPU time of an instance, which is a child of this test and follows its commands. */

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/branches.h"
#include "tree/cpu_time.h"
#include "unit.h"

#define TURN      (60 * SS_MILLISECOND) /* CPU time of a process for one command */
#define NO_CLOCKS "perf-events: the system does not permit counting CPU time"

#define STEP (20 * SS_MILLISECOND) /* twice GRAIN of cpu_time.c */

static struct ss_board *board;
static struct ss_cpu_time meter;
static int orders[2];
static int answers[2];
static uint64_t begun;
static ss_time begun_at;
static bool refused; /* the kernel refuses to open clocks */

static uint64_t read_total(void) {
    meter.due = 0;
    return ss_cpu_time_read(&meter, ss_platform_now()) - begun;
}

static void work(void) {
    ss_time begin = ss_platform_process_cpu_time(getpid());
    while (ss_platform_process_cpu_time(getpid()) < begin + TURN) {
    }
}

static void answer(void) {
    if (write(answers[1], "", 1) != 1)
        _exit(1);
}

static void await_order(void) {
    char byte;
    if (read(orders[0], &byte, 1) != 1)
        _exit(1);
}

static void await_answer(void) {
    char byte;
    assert_int_equal(read(answers[0], &byte, 1), 1);
}

static void order(void) {
    assert_int_equal(write(orders[1], "", 1), 1);
    await_answer();
}

static pid_t start(void (*act)(void)) {
    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(240);
        act();
        for (;;)
            pause();
    }
    board = ss_board_allocate(1, 0, false);
    assert_that(pid, >, 0);
    assert_true(board);
    board->attached = true;
    atomic_store(&board->rows[0].leader_started, ss_platform_process_started(pid));
    atomic_store(&board->rows[0].leader, pid);
    ss_cpu_time_open(&meter, board, 0);
    meter.refused = refused;
    begun = 0;
    begun_at = ss_platform_now();
    begun = read_total();
    return pid;
}

static void end(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ss_cpu_time_close(&meter);
    free(board);
    for (int i = 0; i < 2; i++) {
        close(orders[i]);
        close(answers[i]);
    }
}

/*
 * Accepts up to the passed time, if that is more: only one process works at a time, but the
 * kernel's clocks advance even while the host runs something else.
 */
static void expect_between(uint64_t total, ss_time least, ss_time most) {
    ss_time passed = ss_platform_now() - begun_at + STEP;
    most = most > passed ? most : passed;
    if (total < least || total > most)
        fail_msg("%.1f ms, not %.1f to %.1f", (double)total / 1e6, (double)least / 1e6,
            (double)most / 1e6);
}

static void work_when_ordered(void) {
    for (;;) {
        await_order();
        work();
        answer();
    }
}

static void spin_when_ordered(void) {
    await_order();
    answer();
    for (;;)
        work();
}

/* The executor's time grows between the readings of its clocks. */
TEST(time_of_a_busy_executor_does_not_count) {
    pid_t pid = start(spin_when_ordered);
    ss_cpu_time_close(&meter);
    board->attached = false;
    atomic_store(&board->rows[0].executor, pid);
    ss_cpu_time_open(&meter, board, 0);
    assert_int_equal(ss_cpu_time_read(&meter, ss_platform_now()), 0);
    order();
    for (int i = 0; i < 50; i++) {
        uint64_t total = ss_cpu_time_read(&meter, ss_platform_now());
        assert_that(total, <, SS_SECOND);
        usleep(1000);
    }
    end(pid);
}

TEST(cpu_time_of_the_instance_leader_counts) {
    pid_t pid = start(work_when_ordered);
    ss_time before = ss_platform_process_cpu_time(pid);
    for (uint64_t i = 1; i <= 3; i++) {
        order();
        expect_between(read_total(), i * TURN, ss_platform_process_cpu_time(pid) - before + STEP);
    }
    end(pid);
}

/* Starts a child that works on one command and ends on another. */
static void have_child(bool waits) {
    if (!waits)
        signal(SIGCHLD, SIG_IGN);
    await_order();
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        answer();
        await_order();
        _exit(0);
    }
    waitpid(child, NULL, 0); /* waits even if SIGCHLD is ignored */
    answer();
}

static void wait_for_child(void) {
    have_child(true);
}

TEST(cpu_time_of_a_waited_child_counts_once) {
    pid_t pid = start(wait_for_child);
    order();
    uint64_t alive = read_total();
    expect_between(alive, TURN, TURN + STEP);
    order();
    uint64_t total = read_total();
    assert_that(total, >=, alive);
    expect_between(total, TURN, TURN + STEP);
    expect_between(read_total(), TURN, TURN + STEP);
    end(pid);
}

static void claim(void *context, pid_t pid) {
    uint32_t slot = ss_branch_claim(board, 0, pid, ss_platform_process_started(pid), false);
    assert_int_equal(slot, *(uint32_t *)context);
}

/* The child precedes its parent on the board. */
TEST(cpu_time_of_a_waited_child_in_a_control_group_counts_once) {
    uint32_t slots[] = {0, 1};
    pid_t pid = start(wait_for_child);
    *board->group = '/';
    atomic_store(&board->rows[0].leader, 0);
    claim(&slots[0], getpid());
    claim(&slots[1], pid);
    ss_branch_release(board, 0);
    order();
    ss_platform_process_children(pid, claim, &slots[0]);
    read_total();
    order();
    read_total();
    expect_between(read_total(), TURN, TURN + STEP);
    end(pid);
}

TEST(cpu_time_of_an_unseen_child_counts_when_it_is_waited_for) {
    pid_t pid = start(wait_for_child);
    order();
    order();
    expect_between(read_total(), TURN - STEP, TURN + STEP);
    end(pid);
}

static void ignore_many_children(void) {
    for (;;)
        have_child(false);
}

TEST(cpu_time_of_every_unwaited_child_counts) {
    pid_t pid = start(ignore_many_children);
    for (uint64_t i = 1; i <= 4; i++) {
        order();
        read_total();
        order();
        read_total(); /* its parent may still wait for it */
        expect_between(read_total(), i * TURN - STEP, i * TURN + STEP);
    }
    end(pid);
}

TEST(kernel_clocks_count_cpu_time_between_listings) {
    if (refused)
        return;
    pid_t pid = start(work_when_ordered);
    meter.due = SS_TIME_NEVER;
    for (uint64_t i = 1; i <= 3; i++) {
        order();
        uint64_t total = ss_cpu_time_read(&meter, ss_platform_now()) - begun;
        if (!meter.refused)
            expect_between(total, i * TURN - STEP, i * TURN + STEP);
    }
    bool by_kernel = !meter.refused;
    end(pid);
    SKIP_UNLESS(by_kernel, NO_CLOCKS);
}

/* Leaves a grandchild whose parent ends, so it is not a child of any listed process. */
static void leave_orphan(void) {
    await_order();
    pid_t child = fork();
    if (child == 0) {
        pid_t orphan = fork();
        if (orphan == 0) {
            prctl(PR_SET_PDEATHSIG, 0);
            alarm(240);
            work();
            if (write(answers[1], &(pid_t){getpid()}, sizeof orphan) != sizeof orphan)
                _exit(1);
            await_order();
            work();
            answer();
            await_order();
            _exit(0);
        }
        pause();
    }
    char byte;
    if (read(orders[0], &byte, 1) == 1)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    answer();
    work_when_ordered();
}

/* Stops a process; returns once it can no longer receive a command. */
static void stop(pid_t pid) {
    struct ss_process process;
    kill(pid, SIGSTOP);
    do
        assert_true(ss_platform_process_info(pid, &process));
    while (process.state != 'T');
}

TEST(cpu_time_of_an_orphan_on_the_board_counts) {
    pid_t orphan = 0;
    pid_t pid = start(leave_orphan);
    assert_int_equal(write(orders[1], "", 1), 1);
    assert_int_equal(read(answers[0], &orphan, sizeof orphan), sizeof orphan);
    ss_branch_claim(board, 0, orphan, ss_platform_process_started(orphan), false);
    expect_between(read_total(), TURN, TURN + STEP);
    stop(orphan); /* so that its parent receives the command */
    order();
    kill(orphan, SIGCONT);
    stop(pid);
    expect_between(read_total(), TURN, TURN + STEP);
    order();
    expect_between(read_total(), 2 * TURN, 2 * TURN + STEP);
    kill(orphan, SIGKILL);
    end(pid);
}

static uint64_t count_after(ss_time passed) {
    struct ss_counters counters;
    ss_time begin = ss_platform_now();
    while (ss_platform_now() < begin + passed) {
    }
    ss_cpu_time_sum(board, 2, 2, &counters);
    return counters.used;
}

/* An executor publishes its reading only once per round. */
TEST(cpu_time_of_running_instances_is_extrapolated) {
    board = ss_board_allocate(2, 0, false);
    ss_cpu_time_open(&meter, board, 1);
    assert_int_equal(count_after(0), 0);
    meter.published = 7 * SS_SECOND;
    meter.rate = 1.5;
    ss_cpu_time_publish(&meter, false, ss_platform_now());
    assert_int_equal(count_after(20 * SS_MILLISECOND), 7 * SS_SECOND);
    ss_time published = ss_platform_now();
    ss_cpu_time_publish(&meter, true, published);
    uint64_t more = count_after(20 * SS_MILLISECOND) - 7 * SS_SECOND;
    assert_that(more, >=, 30 * SS_MILLISECOND);
    assert_that(more, <=, (uint64_t)(1.5 * (double)(ss_platform_now() - published)));
    ss_cpu_time_close(&meter);
    free(board);
}

/* An instance ends while it runs, and nothing is published after that. */
TEST(ended_instances_use_no_more_cpu_time) {
    static const enum ss_life ends[] = {SS_LIFE_ENDED, SS_LIFE_START_FAILED, SS_LIFE_CLEARED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        board = ss_board_allocate(1, 0, false);
        ss_cpu_time_open(&meter, board, 0);
        ss_board_join(board, 0);
        meter.published = 7 * SS_SECOND;
        meter.rate = 1.5;
        ss_cpu_time_publish(&meter, true, ss_platform_now());
        assert_that(count_after(SS_MILLISECOND), >, 7 * SS_SECOND);
        ss_board_leave(board, 0, ends[i]);
        assert_int_equal(count_after(SS_MILLISECOND), 7 * SS_SECOND);
        /* Half of a CPU makes a load of 1, although both CPUs may be used. */
        struct ss_counters counters;
        ss_cpu_time_sum(board, 2, 0.5, &counters);
        assert_near(counters.capacity, 0.5, 0);
        assert_near(counters.cpus, 2, 0);
        ss_cpu_time_close(&meter);
        free(board);
    }
}

/* Runs and then stops the process for equal times; returns the permitted time. */
static ss_time take_turn(pid_t pid) {
    ss_time begin = meter.read_at;
    ss_cpu_time_publish(&meter, true, begin);
    order();
    read_total();
    ss_time passed = meter.read_at - begin;
    ss_cpu_time_publish(&meter, false, meter.read_at);
    stop(pid);
    usleep((useconds_t)(passed / SS_MICROSECOND));
    read_total();
    kill(pid, SIGCONT);
    return passed;
}

TEST(cpu_time_rate_is_per_permitted_time) {
    ss_time shortest = SS_TIME_NEVER;
    ss_time longest = 0;
    pid_t pid = start(work_when_ordered);
    for (int i = 0; i < 20; i++) {
        ss_time passed = take_turn(pid);
        shortest = passed < shortest ? passed : shortest;
        longest = passed > longest ? passed : longest;
    }
    double least = (double)TURN / (double)longest;
    double most = (double)TURN / (double)shortest;
    if (meter.rate < 0.8 * least || meter.rate > 1.2 * most)
        fail_msg("%g CPUs, not %g to %g", meter.rate, least, most);
    end(pid);
}

/* Runs all cases a second time without the kernel's clocks. */
int main(int argc, char **argv) {
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    int failed = _cmocka_run_group_tests(*argv, unit_cases, unit_case_count, NULL, NULL);
    refused = true;
    failed += _cmocka_run_group_tests(
        "without clocks of the kernel", unit_cases, unit_case_count, NULL, NULL);
    return unit_status(failed, argc > 1 ? 1 : unit_case_count);
}
