/* SPDX-License-Identifier: Apache-2.0 */

#include "census_run.h"

TEST(no_process_is_looked_up_without_new_ones) {
    world_fork_strangers(2000);
    for (int i = 0; i < 50; i++) {
        pid_t session = world_fork_session(world_leader(0));
        world_fork(session);
        world_fork(world_leader(0));
    }
    world_fork_strangers(3000);
    world_pass(10 * SS_SECOND);
    assert_int_equal(world_count_branches(), 50);
    unsigned long looks = world.looks;
    world_pass(60 * SS_SECOND);
    assert_int_equal(world.looks, looks);
    assert_int_equal(world.surveys, 0);
}

/* Returns the lookups for a few new processes among `strangers` foreign ones. */
static unsigned long count_looks(int strangers) {
    world_renew(32768);
    world_start_instance(0);
    world_fork_strangers(strangers);
    world_pass(20 * SS_SECOND);
    unsigned long looks = world.looks;
    for (int i = 0; i < 10; i++) {
        world_fork_session(world_leader(0));
        world_fork_strangers(1);
        world_pass(200 * SS_MILLISECOND);
    }
    world_pass(5 * SS_SECOND);
    assert_int_equal(world_count_branches(), 10);
    return world.looks - looks;
}

TEST(existing_processes_do_not_raise_the_cost_of_a_pass) {
    unsigned long alone = count_looks(0);
    assert_in_range(alone, 1, 600);
    assert_in_range(count_looks(5000), 1, alone + 20);
}

/* Returns the time to the next pass, after one more foreign process. */
static ss_time wait_after_a_stranger(void) {
    world_fork_strangers(1);
    world.now = world.due;
    world_take();
    return world.due - world.now;
}

TEST(passes_are_rarer_if_only_foreign_processes_start) {
    world_pass(5 * SS_SECOND);
    ss_time before = 100 * SS_MILLISECOND;
    for (int i = 0; i < 10; i++) {
        ss_time wait = wait_after_a_stranger();
        assert_that(wait, >=, before);
        assert_that(wait, <=, SS_SECOND);
        before = wait;
    }
    assert_that(before, ==, SS_SECOND);
    world_fork(world_leader(0));
    assert_that(wait_after_a_stranger(), ==, 100 * SS_MILLISECOND);
    for (int i = 0; i < 10; i++)
        wait_after_a_stranger();
    world.now = world.due; /* nothing has started */
    world_take();
    assert_that(world.due - world.now, ==, (world_reports ? 500 : 100) * SS_MILLISECOND);
}

TEST(passes_are_rare_while_forks_are_reported) {
    world_pass(5 * SS_SECOND);
    unsigned long takes = world.takes;
    world_pass(10 * SS_SECOND);
    if (world_reports)
        assert_in_range(world.takes - takes, 18, 22);
    else
        assert_in_range(world.takes - takes, 90, 110);
}

TEST(reported_fork_causes_an_immediate_pass) {
    world_pass(5 * SS_SECOND);
    pid_t session = world_fork_session(world_leader(0));
    world_pass(world_reports ? 0 : 100 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
    world_pass(500 * SS_MILLISECOND);
    session = world_fork_session(world_leader(2));
    world_pass(world_reports ? 0 : 100 * SS_MILLISECOND);
    world_expect_branch(2, session, true);
}

/* Handling every report would cost more than periodic passes. Ends of threads are reported, too. */
TEST(frequent_reports_do_not_cause_frequent_passes) {
    for (int forks = 0; forks < 2; forks++) {
        world_pass(5 * SS_SECOND);
        unsigned long takes = world.takes;
        for (int i = 0; i < 1000; i++) {
            if (forks)
                world_fork_strangers(3);
            else
                world.reported = world.listens;
            world_pass(SS_MILLISECOND);
        }
        assert_in_range(world.takes - takes, 1, 30);
        if (forks)
            assert_false(world.listens);
        pid_t session = world_fork_session(world_leader(0));
        world_pass(1100 * SS_MILLISECOND);
        world_expect_branch(0, session, true);
    }
}

static pid_t born_too_early;

static void fork_before_listening(void) {
    born_too_early = world_fork_session(world_leader(1));
    world.on_listen = NULL;
}

/* A fork between the pass and the request for reports is not reported. */
TEST(fork_before_listening_begins_is_found) {
    world_pass(5 * SS_SECOND);
    world.on_listen = fork_before_listening;
    world_fork(WORLD_SHELL);
    world_pass(400 * SS_MILLISECOND);
    if (!world_reports)
        return;
    assert_that(born_too_early, >, 0);
    world_expect_branch(1, born_too_early, true);
}

TEST(found_process_causes_an_early_pass) {
    world_pass(5 * SS_SECOND);
    world_fork_session(world_leader(0));
    world.now = world.due;
    world_take();
    assert_that(world.due - world.now, <=, 5 * SS_MILLISECOND);
    world.now = world.due;
    world_take();
    assert_that(world.due - world.now, >=, 50 * SS_MILLISECOND);
}

/* Like `setsid make`: groups are made once, followed by many forks. */
TEST(forks_within_groups_cost_no_extra_passes) {
    pid_t session = world_fork_session(world_leader(0));
    world_pass(5 * SS_SECOND);
    unsigned long takes = world.takes;
    unsigned long asks = world.asks;
    for (int i = 0; i < 1000; i++) {
        pid_t child = world_fork(session);
        world_pass(10 * SS_MILLISECOND);
        if (i % 2)
            world_end(child);
    }
    assert_in_range(world.takes - takes, 90, 115);
    /* 500 of the processes stay and are looked up once a second. */
    assert_in_range(world.asks - asks, 1, 1000 * 20 + 500 * 10);
}

TEST(each_pass_follows_only_a_few_lines_of_descent) {
    world_pass(5 * SS_SECOND);
    world_fork_strangers(1000);
    pid_t session = world_fork_session(world_leader(0));
    int takes = 0;
    while (world_count_branches() == 0) {
        unsigned long looks = world.looks;
        world.now = world.due;
        world_take();
        assert_in_range(world.looks - looks, 1, 2000);
        assert_in_range(++takes, 1, 100);
        assert_true(world_count_branches() || world.due - world.now <= 5 * SS_MILLISECOND);
    }
    assert_in_range(takes, 2, 100);
    world_expect_branch(0, session, true);
}

/* A sibling of a foreign process is foreign. */
TEST(foreign_siblings_cost_one_lookup_each) {
    pid_t parent = WORLD_SHELL;
    for (int i = 0; i < 20; i++)
        parent = world_fork_session(parent);
    world_pass(5 * SS_SECOND);
    for (int i = 0; i < 100; i++)
        world_setsid(world_fork(parent));
    unsigned long looks = world.looks;
    world.now = world.due;
    world_take();
    assert_in_range(world.looks - looks, 100, 150);
}

/* A foreign line of descent is remembered for only one pass. */
TEST(process_with_a_reused_foreign_pid_is_found) {
    pid_t parent = world_fork_session(WORLD_SHELL);
    pid_t child = world_fork_session(parent);
    world_pass(SS_SECOND);
    world_end(child);
    world_end(parent);
    world_put(parent, world_leader(0));
    pid_t session = world_fork_session(parent);
    world_pass(3 * SS_SECOND);
    world_expect_branch(0, session, true);
}

WORLD_RUN(world_setup)
