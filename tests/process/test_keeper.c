/* SPDX-License-Identifier: Apache-2.0 */

/* A keeper outlives its parent, however either of them ends. */

#include "kin.h"
#include "process.h"

#include "keeper/keeper.h"
#include "platform/platform.h"

/* Pipe to which keepers write a letter for each call: o (opened), ! (orphaned), . (closed). */
static int log_ends[2];

/* The pid of a keeper that a child of the test has started; in shared memory. */
static _Atomic pid_t *keeper_pid;

static struct ss_keeper keeper;
static int open_status; /* returned by the open function of later keepers */

/* Whether later keepers stop themselves after their parent has been reaped. */
static bool stops_when_orphaned;
static pid_t first_parent;

static int stops_when_closed; /* how often later keepers stop themselves before they exit */

static void note(char event) {
    ck_assert_int_eq(write(log_ends[1], &event, 1), 1);
}

static int note_opened(void *context, int parent) {
    close(kin_gate[1]);
    first_parent = getppid();
    note('o');
    return open_status;
}

static void note_orphaned(void *context) {
    note('!');
    /* The death of the parent continues a keeper that is already stopped. */
    while (stops_when_orphaned && kill(first_parent, 0) == 0)
        run_nap(NULL);
    if (stops_when_orphaned)
        raise(SIGSTOP);
}

static void note_closed(void *context) {
    note('.');
    for (int i = 0; i < stops_when_closed; i++)
        raise(SIGSTOP);
}

static const struct ss_keeper_job duty = {
    .name = "keeper-test",
    .open = note_opened,
    .orphaned = note_orphaned,
    .close = note_closed,
};

static char next_event(void) {
    char event = 0;
    ck_assert_int_eq(read(log_ends[0], &event, 1), 1);
    return event;
}

static void expect_events(const char *events) {
    for (; *events; events++)
        ck_assert_int_eq(next_event(), *events);
}

static void expect_no_event(void) {
    char event = 0;
    ck_assert_int_eq(fcntl(log_ends[0], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(read(log_ends[0], &event, 1), -1);
    ck_assert_int_eq(event, 0);
}

static void open_log(void) {
    keeper_pid = kin_share(sizeof *keeper_pid);
    ck_assert_int_eq(pipe2(log_ends, O_CLOEXEC), 0);
}

/* Runs in the parent of a keeper. */
static void start_keeper(void) {
    setpgid(0, 0);
    if (ss_keeper_open(&keeper, &duty) < 0)
        _exit(98);
    pid_t pid = ss_keeper_start(&keeper);
    if (pid < 0)
        _exit(97);
    atomic_store(keeper_pid, pid);
}

/*
 * Starts a child that leads a group and is the parent of a keeper; returns when the keeper is
 * ready.
 */
static pid_t start_parent(void) {
    open_log();
    pid_t parent = kin_start(start_keeper);
    expect_events("o");
    return parent;
}

/* The parent is the test itself. */
static void start_own_keeper(void) {
    open_log();
    start_keeper();
    expect_events("o");
}

TEST_CASE(death_of_the_parent_is_handled_once) {
    pid_t parent = start_parent();
    kin_end(parent);
    expect_events("!.");
    RUN_UNTIL(NULL, !run_lives(atomic_load(keeper_pid)));
    expect_no_event();
}

TEST_CASE(signals_of_a_terminal_do_not_end_a_keeper) {
    static const int sent[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ};
    pid_t parent = start_parent();
    pid_t pid = atomic_load(keeper_pid);
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        ck_assert_int_eq(kill(pid, sent[i]), 0);
    RUN_UNTIL(NULL, kin_waits(pid));
    kin_end(parent);
    expect_events("!.");
}

TEST_CASE(a_killed_group_of_the_parent_spares_the_keeper) {
    pid_t parent = start_parent();
    ck_assert_int_eq(getpgid(parent), parent);
    ck_assert_int_eq(kill(-parent, SIGKILL), 0);
    kin_reap(parent);
    expect_events("!.");
}

TEST_CASE(a_stopped_keeper_handles_the_death_of_its_parent) {
    pid_t parent = start_parent();
    pid_t pid = atomic_load(keeper_pid);
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(pid));
    kin_end(parent);
    expect_events("!.");
}

TEST_CASE(a_stopped_parent_is_continued_when_its_keeper_dies) {
    pid_t parent = start_parent();
    ck_assert_int_eq(kill(parent, SIGSTOP), 0);
    RUN_UNTIL(NULL, kin_is_stopped(parent));
    ck_assert_int_eq(kill(atomic_load(keeper_pid), SIGKILL), 0);
    RUN_UNTIL(NULL, kin_waits(parent));
    kin_end(parent);
}

static void expect_dismissal(void) {
    ck_assert(ss_keeper_dismiss(&keeper));
    expect_events(".");
    expect_no_event();
    ck_assert_int_eq(keeper.pid, 0);
    ss_keeper_close(&keeper);
}

TEST_CASE(a_dismissed_keeper_does_not_clean_up_even_if_it_was_stopped) {
    for (int stopped = 0; stopped < 2; stopped++) {
        start_own_keeper();
        if (stopped)
            ck_assert_int_eq(kill(keeper.pid, SIGSTOP), 0);
        RUN_UNTIL(NULL, !stopped || kin_is_stopped(keeper.pid));
        expect_dismissal();
    }
}

TEST_CASE(a_killed_keeper_is_replaced_when_it_is_dismissed) {
    start_own_keeper();
    ck_assert_int_eq(kill(keeper.pid, SIGKILL), 0);
    ck_assert(ss_keeper_dismiss(&keeper));
    expect_events("o.");
    ss_keeper_close(&keeper);
}

/* The first SIGCONT may come before the first stop. */
TEST_CASE(a_keeper_that_is_stopped_while_it_is_dismissed_is_continued) {
    stops_when_closed = 3;
    start_own_keeper();
    expect_dismissal();
}

TEST_CASE(a_keeper_that_cannot_be_set_up_exits_without_cleaning_up) {
    int status;
    open_log();
    open_status = -1;
    start_keeper();
    expect_events("o");
    ck_assert_int_eq(waitpid(keeper.pid, &status, 0), keeper.pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), SS_ERROR_FAILED);
    expect_no_event();
    ss_keeper_close(&keeper);
}

TEST_CASE(a_keeper_whose_successors_cannot_be_set_up_has_not_finished) {
    start_own_keeper();
    open_status = -1;
    ck_assert_int_eq(kill(keeper.pid, SIGKILL), 0);
    ck_assert(!ss_keeper_dismiss(&keeper));
    ss_keeper_close(&keeper);
}

TEST_CASE(awaiting_a_stopped_keeper_continues_it) {
    stops_when_orphaned = true;
    pid_t parent = start_parent();
    pid_t pid = atomic_load(keeper_pid);
    uint64_t started = ss_platform_process_started(pid);
    kin_end(parent);
    expect_events("!");
    RUN_UNTIL(NULL, kin_is_stopped(pid));
    ss_keeper_await(pid, started, 100 * SS_SECOND);
    expect_events(".");
    ck_assert(!run_lives(pid));
    ss_keeper_await(pid, started, 100 * SS_SECOND); /* returns at once */
}

static bool take_turn(void *context) {
    int *turns = context;
    note('t');
    return ++*turns < 3;
}

TEST_CASE(a_keeper_exits_when_its_turn_function_returns_false) {
    int status;
    int turns = 0;
    struct ss_keeper_job turning = duty;
    turning.turn = take_turn;
    turning.context = &turns;
    open_log();
    ck_assert_int_eq(ss_keeper_open(&keeper, &turning), 0);
    ck_assert_int_gt(ss_keeper_start(&keeper), 0);
    expect_events("ottt.");
    ck_assert_int_eq(waitpid(keeper.pid, &status, 0), keeper.pid);
    ck_assert_int_eq(status, 0);
    ss_keeper_close(&keeper);
}
