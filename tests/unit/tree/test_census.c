/* SPDX-License-Identifier: Apache-2.0 */

#include "census_run.h"

TEST(foreign_processes_and_the_instance_group_are_never_claimed) {
    pid_t daemon = world_fork_session(WORLD_INIT);
    pid_t sibling = world_fork(WORLD_MASTER);
    world_setsid(sibling);
    pid_t child = world_fork(world_leader(0));
    for (int i = 0; i < 20; i++) {
        world_fork_session(daemon);
        world_fork(sibling);
        world_fork_session(WORLD_SHELL);
        world_fork(child);
        world_pass(300 * SS_MILLISECOND);
    }
    assert_int_equal(world_count_branches(), 0);
    assert_int_equal(world.board->out_of_reach, 0);
}

TEST(new_session_becomes_a_branch) {
    world_pass(SS_SECOND);
    uint32_t notified = world.board->rows[1].branch_changes;
    uint32_t wake = world.board->rows[1].wake;
    pid_t session = world_fork_session(world_leader(1));
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(1, session, true);
    assert_int_equal(world_count_branches(), 1);
    assert_int_not_equal(world.board->rows[1].branch_changes, notified);
    assert_int_not_equal(world.board->rows[1].wake, wake);
    assert_int_equal(world.board->rows[0].branch_changes, 0);
}

/* The leader is old, so the group is found through another member. */
TEST(group_is_found_by_any_member) {
    pid_t leader = world_fork(world_leader(0));
    world_pass(500 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 0);
    world_setsid(leader);
    world_fork(leader);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, leader, true);
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 1);
}

TEST(session_is_found_200_generations_below_its_instance) {
    pid_t pid = world_leader(2);
    for (int i = 0; i < 200; i++)
        pid = world_fork(pid);
    world_pass(SS_SECOND);
    assert_int_equal(world_count_branches(), 0);
    pid_t session = world_fork_session(pid);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(2, session, true);
}

#define BLOOM_LEVELS 5
#define BLOOM_SIZE   (1 << (BLOOM_LEVELS + 1))

/* A process of a growing tree; at a given age it leaves its group and forks. */
struct bloom {
    pid_t pid;
    int level;
    ss_time birth;
    ss_time unreached; /* uninterrupted, until now */
    bool left;
};

/*
 * Returns the longest time for which a process was out of reach. `whole` becomes the total time
 * during which any process was out of reach.
 */
static ss_time grow_bloom(ss_time age, ss_time *whole) {
    static struct bloom all[BLOOM_SIZE];
    size_t count = 1;
    ss_time longest = 0;
    all[0] = (struct bloom){.pid = world_leader(0), .birth = world.now};
    *whole = 0;
    for (ss_time end = world.now + 3 * SS_SECOND; world.now < end;) {
        for (size_t i = 0; i < count; i++) {
            if (all[i].left || world.now < all[i].birth + age)
                continue;
            all[i].left = true;
            world_setsid(all[i].pid);
            for (int child = 0; child < 2 && all[i].level < BLOOM_LEVELS; child++)
                all[count++] = (struct bloom){
                    .pid = world_fork(all[i].pid), .level = all[i].level + 1, .birth = world.now};
        }
        world_pass(SS_MILLISECOND);
        bool missed = false;
        for (size_t i = 0; i < count; i++) {
            bool reached = world_is_reached(all[i].pid);
            missed |= !reached;
            all[i].unreached = reached ? 0 : all[i].unreached + SS_MILLISECOND;
            if (all[i].unreached > longest)
                longest = all[i].unreached;
        }
        *whole += missed ? SS_MILLISECOND : 0;
    }
    assert_int_equal(count, BLOOM_SIZE - 1);
    return longest;
}

TEST(rapidly_forking_tree_is_followed) {
    static const int ages[] = {1, 4, 11, 40, 150};
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        ss_time whole;
        world_close();
        world_open();
        ss_time longest = grow_bloom((ss_time)ages[i] * SS_MILLISECOND, &whole);
        assert_in_range(longest, 0, 100 * SS_MILLISECOND);
        assert_in_range(whole, 0, (ages[i] < 20 ? 150 : 500) * SS_MILLISECOND);
        world_check(true);
    }
}

TEST(process_that_leaves_its_group_early_is_found_soon) {
    for (int age = 50; age < 1000; age += 90) {
        world_pass(1234 * SS_MILLISECOND);
        pid_t child = world_fork(world_leader(0));
        for (int i = 0; i < age; i += 10) {
            world_fork_strangers(1);
            world_pass(10 * SS_MILLISECOND);
        }
        world_setsid(child);
        world_pass(100 * SS_MILLISECOND);
        world_expect_branch(0, child, true);
    }
}

static bool is_waited_for(void) {
    return atomic_load(&world.board->rows[0].leaving);
}

/* One process left its group and was found, so others are expected to follow. */
static pid_t fork_a_leaver(double duty) {
    world_pass(3 * SS_SECOND);
    atomic_store(&world.board->rows[0].global_duty, ss_word_from_double(duty));
    assert_false(is_waited_for());
    world_fork_session(world_leader(0));
    pid_t child = world_fork(world_leader(0));
    world_pass(100 * SS_MILLISECOND);
    assert_true(is_waited_for());
    return child;
}

TEST(process_that_leaves_its_group_is_found_when_instances_stop) {
    pid_t child = fork_a_leaver(1);
    for (int i = 0; i < 9; i++) {
        world_pass(100 * SS_MILLISECOND);
        world_setsid(child);
        ss_census_take(&world.census, world.now + 1);
        world_hold_all();
        world_expect_branch(0, child, true);
        child = world_fork(world_leader(0));
    }
    /* The last process stays; after a second it is no longer expected to leave. */
    world_pass(1300 * SS_MILLISECOND);
    assert_false(is_waited_for());
}

/* With a duty of 0.1 a process may first run seconds after its fork. */
TEST(low_duty_lengthens_the_wait_for_a_process_to_leave) {
    pid_t child = fork_a_leaver(0.1);
    world_pass(8 * SS_SECOND);
    assert_true(is_waited_for());
    world_setsid(child);
    ss_census_take(&world.census, world.now + 1);
    world_hold_all();
    world_expect_branch(0, child, true);
    world_fork(world_leader(0));
    world_pass(11 * SS_SECOND);
    assert_false(is_waited_for());
}

/* A pid is assigned before its process is visible. */
TEST(process_not_yet_visible_is_found_soon) {
    world_pass(3 * SS_SECOND);
    pid_t session = world_fork_session(world_leader(0));
    world_at(session)->hidden = true;
    world.now = world.due;
    world_take();
    assert_int_equal(world_count_branches(), 0);
    world_at(session)->hidden = false;
    world_pass(200 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
}

TEST(orphan_without_a_session_leader_is_a_single_branch) {
    pid_t daemons[3];
    for (int i = 0; i < 3; i++) {
        daemons[i] = world_fork_daemon(world_leader(0));
        assert_int_equal(world_at(daemons[i])->parent, world.board->rows[0].executor);
    }
    world_pass(100 * SS_MILLISECOND);
    for (int i = 0; i < 3; i++)
        world_expect_branch(0, daemons[i], false);
    assert_int_equal(world_count_branches(), 3);
}

/* The parent does not reap: its dead child still leads a group, but cannot be held. */
TEST(zombie_leader_does_not_make_a_group_branch) {
    pid_t middle = world_fork_session(world_leader(0));
    pid_t worker = world_fork(middle);
    world_end_unreaped(middle);
    world_pass(5 * SS_SECOND);
    world_expect_branch(0, worker, false);
}

/*
 * The guardian held the group in time, but not the executor, because its leader ended. Until the
 * next recount, a second later, the group would neither be stopped nor ended.
 */
TEST(group_that_cannot_be_held_is_split_in_the_next_pass) {
    world_pass(1500 * SS_MILLISECOND);
    pid_t middle = world_fork_session(world_leader(0));
    pid_t worker = world_fork(middle);
    world.late = true;
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, middle, true);
    world_end(middle);
    world.late = false;
    world.changes = UINT32_MAX;
    world_hold_all();
    world_take();
    world_expect_branch(0, worker, false);
}

static pid_t ending;

static bool is_gone_once_ended(void *holder, uint32_t slot) {
    if (world_is_there(ending))
        world_end(ending);
    return world_is_gone(holder, slot);
}

/* The guardian did not hold the group in time; an executor may have. */
TEST(group_the_guardian_cannot_hold_becomes_single_branches) {
    world_pass(1500 * SS_MILLISECOND); /* far from a recount, which would find it as well */
    ending = world_fork_session(world_leader(0));
    pid_t worker = world_fork(ending);
    world.source.is_gone = is_gone_once_ended;
    world_take();
    world_expect_branch(0, worker, false);
}

/* The leader of the last group has exited, so the group's instance is unknown. */
TEST(foreign_group_is_not_claimed) {
    pid_t job = world_fork_session(WORLD_SHELL);
    pid_t headless = world_fork_session(WORLD_SHELL);
    const pid_t groups[] = {WORLD_SHELL, job, WORLD_MASTER, world_fork(headless)};
    pid_t ours[4];
    for (int i = 0; i < 4; i++) {
        ours[i] = world_fork(world_leader(0));
        world_join(ours[i], groups[i]);
    }
    world_end(headless);
    world_pass(5 * SS_SECOND);
    assert_int_equal(world_count_branches(), 4);
    for (int i = 0; i < 4; i++)
        world_expect_branch(0, ours[i], false);
}

/* The guest belongs to instance 1, but its group is a branch of its leader's instance 0. */
TEST(group_branch_belongs_to_its_leaders_instance) {
    pid_t session = world_fork_session(world_leader(0));
    pid_t guest = world_fork(world_leader(1));
    world_join(guest, session);
    world_pass(3 * SS_SECOND);
    world_expect_branch(0, session, true);
}

/* An instance's leader may leave its own group. */
TEST(instance_leader_that_joins_another_group_is_found) {
    world_pass(SS_SECOND);
    world_join(world_leader(0), WORLD_SHELL);
    world_pass(1100 * SS_MILLISECOND);
    world_expect_branch(0, world_leader(0), false);
}

TEST(each_process_is_a_branch_if_groups_cannot_be_held) {
    world.census.pidfds_signal_groups = false;
    pid_t session = world_fork_session(world_leader(0));
    pid_t members[5];
    for (int i = 0; i < 5; i++)
        members[i] = world_fork(session);
    world_pass(100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 6);
    world_expect_branch(0, session, false);
    for (int i = 0; i < 5; i++)
        world_expect_branch(0, members[i], false);
    world_check(true);
    world_end(members[2]);
    world_pass(1100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 5);
}

TEST(branch_of_an_ended_process_or_group_is_released) {
    pid_t daemons[3];
    for (int i = 0; i < 3; i++)
        daemons[i] = world_fork_daemon(world_leader(0));
    pid_t session = world_fork_session(world_leader(0));
    pid_t last = world_fork(session);
    world_pass(SS_SECOND);
    assert_int_equal(world_count_branches(), 4);
    uint32_t notified = world.board->rows[0].branch_changes;
    world_end(daemons[1]);
    world_end(session);
    world_pass(1100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 3);
    assert_int_not_equal(world.board->rows[0].branch_changes, notified);
    world_check(true);
    world_end(daemons[0]);
    world_end(daemons[2]);
    world_end(last);
    world_pass(1100 * SS_MILLISECOND);
    assert_int_equal(world_count_branches(), 0);
    assert_int_equal(world.board->branches_used, 4);
}

TEST(reused_group_id_is_a_different_group) {
    pid_t session = world_fork_session(world_leader(0));
    world_pass(SS_SECOND);
    world_end(session);
    world_put(session, WORLD_SHELL);
    world_setsid(session);
    pid_t child = world_fork(session);
    world_check(true);
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 0);
    pid_t guest = world_fork(world_leader(0));
    world_join(guest, child);
    world_pass(3 * SS_SECOND);
    assert_int_equal(world_count_branches(), 1);
    world_expect_branch(0, guest, false);
}

/* One of our processes gets the pid of one that has ended. */
TEST(new_process_with_reused_pid_is_found) {
    pid_t daemon = world_fork_daemon(world_leader(0));
    pid_t child = world_fork(world_leader(0));
    for (int i = 0; i < 10; i++)
        world_fork(WORLD_SHELL);
    world_pass(SS_SECOND);
    world_end(daemon);
    world_end(child);
    world.latest = daemon - 1;
    assert_int_equal(world_fork_session(world_leader(1)), daemon);
    assert_int_equal(world_fork_session(world_leader(1)), child);
    world_pass(3 * SS_SECOND);
    world_expect_branch(1, daemon, true);
    world_expect_branch(1, child, true);
    assert_int_equal(world_count_branches(), 2);
}

/* A process may end just after a freezer was made for it. */
TEST(unsignalable_process_is_frozen_or_counted_once) {
    pid_t inside = world_fork(world_leader(0));
    pid_t session = world_fork_session(world_leader(0));
    world_at(inside)->foreign = true;
    world_at(session)->foreign = true;
    world_pass(5 * SS_SECOND);
    assert_int_equal(world.board->out_of_reach, 2);
    world_at(world_fork(world_leader(0)))->foreign = true;
    world_pass(5 * SS_SECOND);
    assert_int_equal(world.board->out_of_reach, 3);
    assert_int_equal(world.board->rows[0].frozen, 0);
    assert_int_equal(world.board->rows[0].may_have_freezer, 1);
    assert_int_equal(world.board->rows[1].may_have_freezer, 0);
    world.freezers = true;
    uint32_t notified = world.board->rows[1].branch_changes;
    world_at(world_fork(world_leader(1)))->foreign = true;
    world_pass(5 * SS_SECOND);
    assert_int_equal(world.board->out_of_reach, 3);
    assert_int_equal(world.frozen, 1);
    assert_int_equal(world.board->rows[1].frozen, 1);
    assert_int_not_equal(world.board->rows[1].branch_changes, notified);
}

/* A foreign group reuses an ID that was ours a moment ago. */
TEST(foreign_unsignalable_processes_are_not_counted_or_frozen) {
    world.freezers = true;
    pid_t session = world_fork_session(world_leader(0));
    world_pass(SS_SECOND);
    world_end(session);
    world_put(session, WORLD_SHELL);
    world_setsid(session);
    world_at(world_fork(session))->foreign = true;
    world_pass(5 * SS_SECOND);
    assert_int_equal(world.board->out_of_reach, 0);
    assert_int_equal(world.frozen, 0);
}

WORLD_RUN(world_setup)
