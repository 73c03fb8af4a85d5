/* SPDX-License-Identifier: Apache-2.0 */

/* Holds on real processes: which processes they signal, and which they never signal. */

#include "family.h"
#include "kin.h"
#include "process.h"
#include "sandbox.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "platform/platform.h"
#include "tree/branches.h"

static struct ss_board *board;
static struct ss_holds holds;

static void open_board(void) {
    board = kin_board(2);
    memset(&holds, 0, sizeof holds);
    ss_platform_adopt_orphans();
}

/* Refreshes the holds from the board and returns the index of the first new one. */
static uint32_t refresh(void) {
    uint32_t fresh;
    ss_holds_refresh(&holds, board, 0, &fresh);
    return fresh;
}

/* Holds the process or group as the executor of row 0 does. */
static struct ss_hold *take_hold(pid_t pid, bool group) {
    uint64_t started = ss_platform_process_started(pid);
    ck_assert_uint_ne(started, 0);
    ss_branch_claim(board, 0, pid, started, group);
    uint32_t fresh = refresh();
    ck_assert_uint_eq(fresh + 1, holds.count);
    return &holds.list[fresh];
}

static void need_groups(void) {
    SKIP_UNLESS(ss_platform_pidfd_signals_groups(), "pidfd-group: requires Linux 6.9");
}

static pid_t *member; /* shared with the children */

/* Outlives the leader, its parent. The test then adopts it, and it dies with the test. */
_Noreturn static void outlive(pid_t leader, pid_t test) {
    prctl(PR_SET_PDEATHSIG, 0);
    alarm(PROCESS_TIMEOUT);
    close(kin_gate[1]);
    for (;;) {
        if (getppid() == test)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != leader && getppid() != test)
            _exit(99);
        run_nap(NULL);
    }
}

/* Leads a session and forks a member into it. */
static void lead_session(void) {
    pid_t test = getppid();
    pid_t leader = getpid();
    setsid();
    pid_t child = fork();
    if (child == 0)
        outlive(leader, test);
    *member = child;
}

TEST_CASE(a_held_group_is_signaled_after_its_leader_ended) {
    open_board();
    member = kin_share(sizeof *member);
    need_groups();
    pid_t leader = kin_start(lead_session);
    struct ss_hold *hold = take_hold(leader, true);
    kin_end(leader);
    ck_assert_uint_eq(ss_platform_process_started(leader), 0);
    /* The pid alone could be the id of a reused group. */
    for (int known = 0; known < 2; known++) {
        struct ss_hold blind = {.pid = leader,
            .started = known ? hold->started : 0,
            .group = true,
            .pidfd = -1,
            .by_pid = true};
        ck_assert_int_eq(ss_hold_signal(&blind, SIGKILL), -ESRCH);
    }
    ck_assert_int_eq(ss_hold_signal(hold, SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(*member));
    ck_assert_int_eq(ss_hold_signal(hold, SIGCONT), 0);
    RUN_UNTIL(NULL, kin_waits(*member));
    /* The group exists as long as it has a member. */
    kin_end_unreaped(*member);
    ck_assert_int_eq(ss_hold_signal(hold, 0), 0);
    kin_reap(*member);
    ck_assert_int_eq(ss_hold_signal(hold, 0), -ESRCH);
    ck_assert_int_eq(ss_hold_signal(hold, SIGKILL), -ESRCH);
}

TEST_CASE(signals_to_a_held_process_do_not_reach_its_group) {
    open_board();
    member = kin_share(sizeof *member);
    pid_t leader = kin_start(lead_session);
    struct ss_hold *hold = take_hold(leader, false);
    ck_assert_int_eq(ss_hold_signal(hold, SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(leader));
    ck_assert_int_ne(run_state(*member), 'T');
    kin_end(leader);
    ck_assert_int_eq(ss_hold_signal(hold, SIGKILL), -ESRCH);
    ck_assert_int_eq(kill(*member, 0), 0);
}

/* Starts another process with that pid, which also leads a group. */
static pid_t start_stranger(pid_t number) {
    run_let_pass(NULL, 0.1); /* until it would get a later start time in clock ticks */
    pid_t stranger = kin_start_as(number, family_lead_group);
    SKIP_UNLESS(stranger >= 0, "pid-choice: cannot choose pids");
    ck_assert_int_eq(stranger, number);
    return stranger;
}

static void expect_untouched(struct ss_hold *hold, pid_t stranger) {
    ck_assert_int_eq(ss_hold_signal(hold, SIGKILL), -ESRCH);
    ck_assert_int_eq(ss_hold_signal(hold, SIGSTOP), -ESRCH);
    ss_holds_signal(&holds, 0, SS_HOLDS_ALL, SIGSTOP);
    ss_holds_signal_reversed(&holds, SS_HOLDS_ALL, SIGKILL);
    ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG | WUNTRACED), 0);
}

static void give_number_away(bool group) {
    open_board();
    if (group)
        need_groups();
    pid_t child = kin_start(family_lead_group);
    struct ss_hold *hold = take_hold(child, group);
    ck_assert_int_eq(ss_hold_signal(hold, 0), 0);
    kin_end(child);
    pid_t stranger = start_stranger(child);
    expect_untouched(hold, stranger);
    ss_branch_release(board, hold->slot);
    refresh();
    ck_assert_uint_eq(holds.count, 0);
    kin_end(stranger);
}

TEST_CASE(a_process_or_group_with_a_reused_pid_is_not_signaled) {
    give_number_away(false);
    give_number_away(true);
}

/* The pid is reused before a pidfd is opened, or pidfds are not available. */
TEST_CASE(a_pid_reused_before_it_is_held_is_not_signaled) {
    open_board();
    pid_t child = kin_start(family_lead_group);
    uint64_t started = ss_platform_process_started(child);
    kin_end(child);
    pid_t stranger = start_stranger(child);
    for (int group = 0; group < 2; group++) {
        ss_branch_claim(board, 0, child, started, group);
        uint32_t fresh = refresh();
        expect_untouched(&holds.list[fresh], stranger);
        struct ss_hold blind = {
            .pid = child, .started = started, .group = group, .pidfd = -1, .by_pid = true};
        expect_untouched(&blind, stranger);
        ck_assert_int_eq(ss_platform_process_signal_by_pid(child, started, SIGKILL), -ESRCH);
        ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
    }
}

/*
 * The guardian registered the group in time, and cannot detect that it is never stopped: the
 * executor must report that.
 */
TEST_CASE(the_executor_reports_a_group_whose_leader_has_ended) {
    open_board();
    member = kin_share(sizeof *member);
    need_groups();
    static struct ss_holds guardian;
    uint32_t fresh;
    pid_t leader = kin_start(lead_session);
    uint64_t started = ss_platform_process_started(leader);
    ss_branch_claim(board, 0, leader, started, true);
    ss_holds_refresh(&guardian, board, SS_HOLDS_ALL, &fresh);
    kin_end(leader);
    refresh();
    ck_assert_int_eq(ss_hold_signal(&guardian.list[0], 0), 0);
    ck_assert_int_eq(ss_hold_signal(&holds.list[0], 0), -ESRCH);
    const struct ss_branch *branch = ss_board_branches(board);
    ck_assert_uint_eq(branch->missed_serial, branch->serial);
}

/* No further file can be opened: pid and start time must suffice. */
TEST_CASE(processes_are_held_by_pid_and_start_time_if_pidfds_run_out) {
    open_board();
    pid_t child = kin_start(NULL);
    uint64_t started = ss_platform_process_started(child);
    ss_branch_claim(board, 0, child, started, false);
    ss_branch_claim(board, 0, child, started + 1, false);
    struct rlimit before;
    int lowest = dup(0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = (rlim_t)lowest, .rlim_max = before.rlim_max};
    close(lowest);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    refresh();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_uint_eq(holds.count, 2);
    ck_assert_int_eq(ss_hold_signal(&holds.list[1], SIGKILL), -ESRCH);
    ck_assert_int_eq(ss_hold_signal(&holds.list[0], SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(child));
    kin_end(child);
    ck_assert_int_eq(ss_hold_signal(&holds.list[0], SIGSTOP), -ESRCH);
}

TEST_CASE(a_released_process_is_continued) {
    open_board();
    pid_t first = kin_start(NULL);
    pid_t second = kin_start(NULL);
    uint32_t place = take_hold(first, false)->slot;
    take_hold(second, false);
    ss_holds_signal(&holds, 0, SS_HOLDS_ALL, SIGSTOP);
    RUN_UNTIL(NULL, kin_is_stopped(first) && kin_is_stopped(second));
    ss_branch_release(board, place);
    refresh();
    RUN_UNTIL(NULL, kin_waits(first));
    ck_assert(kin_is_stopped(second));
}

#define ORDERED 5

static int answers[2];

/*
 * Pins the calling process to the first permitted CPU, at real-time priority: processes there run
 * in the order in which they are woken, once their waker sleeps.
 */
static bool queue_up(int priority) {
    sandbox_stay_on_one_cpu();
    return sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){priority}) == 0;
}

/* Writes `name` for each SIGUSR1. */
static void answer(char name) {
    sigset_t asked;
    int number;
    sigemptyset(&asked);
    sigaddset(&asked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    queue_up(1);
    close(kin_gate[1]);
    while (sigwait(&asked, &number) == 0 && write(answers[1], &name, 1) == 1) {
    }
    _exit(1);
}

static char next_name = 'a';

static void answer_by_name(void) {
    answer(next_name);
}

static void expect_answers(const char *wanted) {
    char names[ORDERED + 1] = "";
    for (size_t i = 0; i < ORDERED; i++)
        ck_assert_int_eq(read(answers[0], &names[i], 1), 1);
    ck_assert_str_eq(names, wanted);
}

TEST_CASE(signals_are_sent_in_order_and_in_reverse) {
    open_board();
    ck_assert_int_eq(pipe(answers), 0);
    SKIP_UNLESS(queue_up(2), "realtime: real-time priority is not permitted");
    for (; next_name < 'a' + ORDERED; next_name++) {
        pid_t child = kin_start(answer_by_name);
        take_hold(child, false);
        RUN_UNTIL(NULL, kin_waits(child));
    }
    for (int turn = 0; turn < 20; turn++) {
        ss_holds_signal(&holds, 0, SS_HOLDS_ALL, SIGUSR1);
        expect_answers("abcde");
        ss_holds_signal_reversed(&holds, 0, SIGUSR1);
        expect_answers("edcba");
    }
}
