/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests with instances and guardians that come and go, and with more processes than the board or
 * the census can hold.
 */

#include "census_run.h"

/* Until the executor knows its leader, the leader may not have its own group. */
TEST(nothing_is_claimed_before_the_leader_is_known) {
    pid_t leader = world_leader(0);
    atomic_store(&world.board->rows[0].leader, 0);
    pid_t session = world_fork_session(leader);
    world_join(leader, WORLD_MASTER);
    world_pass(500 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 0);
    world_setsid(leader);
    atomic_store(&world.board->rows[0].leader, leader);
    world_pass(2 * SS_SECOND);
    world_expect_branch(0, session, true);
    assert_int_equal(world_count_branches(), 1);
}

static pid_t published_late;

static void publish_on_look(pid_t pid) {
    if (pid == published_late)
        atomic_store(&world.board->rows[0].leader, published_late);
}

/* The leader is published only after the census has read the board. */
TEST(branch_of_an_instance_group_published_late_is_released) {
    published_late = world_leader(0);
    atomic_store(&world.board->rows[0].leader, 0);
    pid_t child = world_fork(published_late);
    world.on_look = publish_on_look;
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_group(child), world_leader(0));
    assert_int_equal(world_count_branches(), 0);
}

/* With --repeat, the next instance of a row is another process. */
TEST(repeated_instance_gets_branches_again) {
    pid_t first = world_leader(0);
    world_fork_session(first);
    world_pass(SS_SECOND);
    assert_int_equal(world_count_branches(), 1);
    for (pid_t pid = first; pid <= world.latest; pid++) {
        if (world_at(pid)->parent == first)
            world_end(pid);
    }
    atomic_store(&world.board->rows[0].leader, 0);
    world_end(first);
    pid_t second = world_start_instance(0);
    pid_t session = world_fork_session(second);
    world_fork(second);
    world_pass(1100 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
    assert_int_equal(world_count_branches(), 1);
}

/* The guardian handles these processes, because no executor is left to stop them. */
TEST(row_of_dead_executor_gets_no_branches) {
    world.partial = true;
    pid_t executor = atomic_load(&world.board->rows[0].executor);
    atomic_store(&world.board->rows[0].executor, -1);
    world_end(executor);
    world_fork_session(world_leader(0));
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 0);
}

/* The pid on the board was reused; the start time differs. */
TEST(reused_executor_pid_is_not_an_executor) {
    pid_t executor = atomic_load(&world.board->rows[0].executor);
    world_end(executor);
    world_put(executor, WORLD_SHELL);
    world_fork_session(executor);
    world_fork(executor);
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 0);
    assert_int_equal(world.board->out_of_reach, 0);
}

/* Like the first look of a successor: existing processes are found, once each. */
TEST(first_pass_finds_existing_processes_once) {
    world_renew(32768);
    world_fork_strangers(300);
    world_start_instance(0);
    pid_t session = world_fork_session(world_leader(0));
    world_fork(session);
    world.census.latest = world.census.latest_at_recount[0] = world.census.latest_at_recount[1] =
        world.latest;
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 0);
    ss_census_survey(&world.census);
    world_hold_all();
    world_expect_branch(0, session, true);
    assert_int_equal(world_count_branches(), 1);
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 1);
}

/* Starts the census of a new guardian, which has no information except the board. */
static void succeed(void) {
    ss_census_close(&world.census);
    memset(world.guardian, 0, sizeof world.guardian);
    world.changes = UINT32_MAX;
    assert_int_equal(
        ss_census_open(&world.census, world.board, &world.source, true, world.latest), 0);
    ss_census_survey(&world.census);
    world_hold_all();
}

TEST(successor_adopts_existing_branches) {
    pid_t daemon = world_fork_daemon(world_leader(0));
    pid_t session = world_fork_session(world_leader(1));
    pid_t headless = world_fork_session(world_leader(1));
    pid_t member = world_fork(headless);
    world_pass(SS_SECOND);
    assert_int_equal(world_count_branches(), 3);
    world_end(headless);
    succeed();
    world_pass(2 * SS_SECOND);
    assert_int_equal(world_count_branches(), 3);
    world_expect_branch(0, daemon, false);
    world_expect_branch(1, session, true);
    world_expect_branch(1, member, false);
    world_check(true);
    world_end(daemon);
    world_end(session);
    world_end(member);
    world_pass(1100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 0);
}

TEST(excess_branches_are_claimed_when_slots_become_free) {
    pid_t sessions[SS_BOARD_BRANCHES_MAX + 50];
    int count = sizeof sessions / sizeof *sessions;
    for (int i = 0; i < count; i++)
        sessions[i] = world_fork_session(world_leader((uint32_t)i % WORLD_ROWS));
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), SS_BOARD_BRANCHES_MAX);
    assert_int_equal(world.board->branches_used, SS_BOARD_BRANCHES_MAX);
    world_check(false);
    /* Processes that do not fit are not a reason to look sooner. */
    uint32_t changes = world_count_changes();
    for (int i = 0; i < 20; i++) {
        world.now = world.due;
        world_take();
        assert_that(world.due - world.now, >=, 50 * SS_MILLISECOND);
    }
    assert_int_equal(world_count_changes(), changes);
    for (int i = 0; i < 100; i++)
        world_end(sessions[i * 7]);
    world_pass(2100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), count - 100);
}

TEST(census_tolerates_more_processes_than_it_can_count) {
    pid_t daemons[50];
    world_renew(100000);
    pid_t leader = world_start_instance(0);
    for (int i = 0; i < 33000; i++)
        world_fork(leader);
    world_pass(3 * SS_SECOND);
    for (int i = 0; i < 50; i++)
        daemons[i] = world_fork_daemon(world_leader(0));
    world_pass(5 * SS_SECOND);
    assert_in_range(world_count_branches(), 0, 50);
    for (int i = 0; i < 40; i++)
        world_end(daemons[i]);
    world_pass(3 * SS_SECOND);
    assert_in_range(world_count_branches(), 0, 10);
    for (pid_t pid = leader + 1; pid < leader + 2000; pid++)
        world_end(pid);
    world_pass(5 * SS_SECOND);
    for (int i = 40; i < 50; i++)
        world_expect_branch(0, daemons[i], false);
}

WORLD_RUN(world_setup)
