/* SPDX-License-Identifier: Apache-2.0 */

#include "census_run.h"

static void open_with_limit(pid_t limit) {
    world_renew(limit);
    for (uint32_t row = 0; row < WORLD_ROWS; row++)
        world_start_instance(row);
}

TEST(pids_are_examined_after_a_wrap_around) {
    world_pass(3 * SS_SECOND);
    world.latest = world.limit - 3;
    world_pass(3 * SS_SECOND);
    pid_t sessions[8];
    for (int i = 0; i < 8; i++)
        sessions[i] = world_fork_session(world_leader(0));
    assert_int_equal(sessions[2], world.limit);
    assert_int_equal(sessions[3], WORLD_FIRST);
    world_pass(100 * SS_MILLISECOND);
    for (int i = 0; i < 8; i++)
        world_expect_branch(0, sessions[i], true);
    world_check(true);
    assert_int_equal(world.surveys, 0);
}

/* All pids may be reused between two passes, so new ones cannot be determined. */
TEST(small_pid_range_is_scanned_fully) {
    open_with_limit(4096);
    world_pass(3 * SS_SECOND);
    pid_t before = world_fork_session(world_leader(0));
    world.latest = 4000;
    pid_t after = world_fork_session(world_leader(1));
    world.latest = before + 1;
    world_pass(200 * SS_MILLISECOND);
    world_expect_branch(0, before, true);
    world_expect_branch(1, after, true);
}

TEST(many_new_pids_cause_a_full_scan) {
    open_with_limit(1 << 20);
    world_pass(3 * SS_SECOND);
    pid_t early = world_fork_session(world_leader(0));
    world.latest += 65000;
    pid_t late = world_fork_session(world_leader(1));
    world_pass(100 * SS_MILLISECOND);
    assert_int_equal(world.surveys, 0);
    world_expect_branch(0, early, true);
    world_expect_branch(1, late, true);
    pid_t next = world_fork_session(world_leader(0));
    world.latest += 66000;
    world_pass(100 * SS_MILLISECOND);
    assert_int_equal(world.surveys, 1);
    world_expect_branch(0, next, true);
    world_pass(3 * SS_SECOND);
    world.latest = world.limit - 1000;
    world_pass(3 * SS_SECOND);
    unsigned long before = world.surveys;
    world.latest = 100000;
    next = world_fork_session(world_leader(0));
    world_pass(100 * SS_MILLISECOND);
    assert_int_equal(world.surveys, before + 1);
    world_expect_branch(0, next, true);
}

TEST(unknown_latest_pid_causes_full_scan) {
    world_renew(32768);
    world.silent = true;
    world_start_instance(0);
    world_pass(2 * SS_SECOND);
    world_fork_strangers(200);
    pid_t session = world_fork_session(world_leader(0));
    world_pass(1100 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
    assert_in_range(world.surveys, 3, 8);
    session = world_fork_session(session);
    world_pass(1100 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
}

/* A process becomes visible only after its pid is assigned, the last one after a recount. */
TEST(late_visible_process_is_found_by_a_recount) {
    for (int moment = 0; moment < 11; moment++) {
        world_pass(107 * SS_MILLISECOND);
        if (moment == 10)
            world.now = world.census.recount_due - 10 * SS_MILLISECOND;
        pid_t session = world_fork_session(world_leader(0));
        world_at(session)->hidden = true;
        world_pass((moment == 10 ? 500 : 200) * SS_MILLISECOND);
        assert_int_equal(world_count_branches(), moment);
        world_at(session)->hidden = false;
        world_pass((moment == 10 ? 1000 : 2100) * SS_MILLISECOND);
        world_expect_branch(0, session, true);
    }
}

WORLD_RUN(world_setup)
