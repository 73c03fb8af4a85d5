/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of attached instances, whose processes are not descendants of an executor. */

#include "census_run.h"

/* Attaches a process that something else started, in a foreign group, as row 0. */
static pid_t attach(pid_t pid) {
    struct ss_row *row = &world.board->rows[0];
    world_at(pid)->ours = world_at(pid)->akin = true;
    atomic_store(&row->leader_started, world_at(pid)->started);
    atomic_store(&row->leader, pid);
    return pid;
}

static int open_attached(void **state) {
    world_open_empty(32768, true);
    world.board->attached = true;
    return 0;
}

/* Starts a job as a shell does. */
static pid_t start_job(void) {
    pid_t job = world_fork(WORLD_SHELL);
    world_lead_group(job);
    return job;
}

static pid_t start_service(void) {
    return world_fork_session(WORLD_INIT);
}

static void begin(void) {
    ss_census_survey(&world.census);
    world_hold_all();
}

/* Leaves a daemon: its parent is a child that forks and ends before the next pass. */
static pid_t leave_daemon(pid_t parent) {
    pid_t child = world_fork(parent);
    pid_t daemon = world_fork(child);
    world_end(child);
    return daemon;
}

static uint32_t strays(void) {
    return atomic_load(&world.board->strays);
}

TEST(descendants_are_found_when_attaching_and_later) {
    pid_t root = attach(start_job());
    pid_t child = world_fork(root);
    pid_t grandchild = world_fork_session(child);
    begin();
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, child, false);
    world_expect_branch(0, grandchild, true);
    world_pass(5 * SS_SECOND);
    pid_t late = world_fork(root);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, late, false);
    pid_t session = world_fork_session(late);
    world_fork(session);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, session, true);
    assert_int_equal(world_count_branches(), 4);
}

/* All processes of a pipeline share a group, and any of them may lead it. */
TEST(foreign_group_members_and_daemons_are_left_alone) {
    pid_t root = attach(start_job());
    pid_t neighbor = world_fork(WORLD_SHELL);
    world_join(neighbor, root);
    world_fork(neighbor);
    begin();
    for (int i = 0; i < 20; i++) {
        world_fork(root);
        world_end(world_fork(root));
        world_fork(neighbor);
        world_fork_session(neighbor);
        world_setsid(leave_daemon(neighbor));
        leave_daemon(leave_daemon(neighbor));
        leave_daemon(WORLD_SHELL);
        world_pass(100 * SS_MILLISECOND);
        world_check(true);
    }
    assert_int_equal(strays(), 0);
}

/* Foreign processes of the session may join a group that ours leads. */
TEST(groups_in_a_foreign_session_are_not_branches) {
    pid_t root = attach(start_job());
    pid_t child = world_fork(root);
    world_lead_group(child);
    pid_t stranger = world_fork(WORLD_SHELL);
    world_join(stranger, child);
    begin();
    world_pass(2 * SS_SECOND);
    world_expect_branch(0, child, false);
}

TEST(groups_in_our_session_are_branches) {
    pid_t root = attach(start_service());
    pid_t child = world_fork(root);
    begin();
    pid_t group = world_fork(child);
    world_lead_group(group);
    world_pass(100 * SS_MILLISECOND);
    world_fork(group);
    pid_t session = world_fork_session(child);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, root, true);
    world_expect_branch(0, group, true);
    world_expect_branch(0, session, true);
    for (int i = 0; i < 100; i++) {
        world_end(world_fork(child));
        world_fork(i % 2 ? root : group);
        world_pass(10 * SS_MILLISECOND);
    }
    assert_int_equal(world_count_branches(), 3);
}

/* Makes a grandchild whose parent ends once both have been found. */
static pid_t leave_orphan(pid_t root) {
    pid_t parent = world_fork(root);
    pid_t orphan = world_fork(parent);
    world_pass(100 * SS_MILLISECOND);
    world_end(parent);
    return orphan;
}

TEST(group_of_the_run_is_not_a_branch) {
    pid_t root = attach(start_service());
    world_fork(root);
    pid_t master = world_fork(WORLD_INIT);
    world_join(master, root);
    world.board->master = master;
    begin();
    world_pass(2 * SS_SECOND);
}

TEST(known_orphans_and_their_children_stay_branches) {
    pid_t root = attach(start_job());
    begin();
    pid_t orphan = leave_orphan(root);
    assert_int_equal(world_at(orphan)->parent, WORLD_INIT);
    world_pass(3 * SS_SECOND);
    world_expect_branch(0, orphan, false);
    pid_t late = world_fork_session(orphan);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, late, true);
    /* The census of another guardian finds them, too. */
    ss_census_close(&world.census);
    assert_int_equal(
        ss_census_open(&world.census, world.board, &world.source, true, world.latest), 0);
    begin();
    world_pass(2 * SS_SECOND);
    world_expect_branch(0, orphan, false);
    world_fork(orphan);
    world_pass(100 * SS_MILLISECOND);
}

/*
 * A foreign process has reused the pid of an ended branch, which is noticed up to a second later.
 */
TEST(children_of_a_reused_pid_are_foreign) {
    pid_t root = attach(start_job());
    begin();
    pid_t child = world_fork(root);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, child, false);
    world_end(child);
    world_put(child, WORLD_SHELL);
    world_at(child)->ours = false;
    for (int i = 0; i < 5; i++) {
        world_fork(child);
        world_pass(10 * SS_MILLISECOND);
        world_check(true);
    }
}

/* Without the report of its birth, the daemon is left alone and counted. */
TEST(daemon_is_found_by_its_fork_event) {
    pid_t root = attach(start_job());
    world_at(start_service())->akin = true;
    begin();
    world_pass(5 * SS_SECOND);
    pid_t daemon = leave_daemon(root);
    pid_t session = leave_daemon(root);
    world_setsid(session);
    world_pass(200 * SS_MILLISECOND);
    world.partial = !world_reports;
    world_check(world_reports);
    assert_int_equal(world_count_branches(), world_reports ? 2 : 0);
    assert_int_equal(strays(), world_reports ? 0 : 2);
    if (!world_reports)
        return;
    world_expect_branch(0, daemon, false);
    world_expect_branch(0, session, true);
    world_pass(5 * SS_SECOND);
    leave_daemon(leave_daemon(daemon));
    world_fork(leave_daemon(session));
    world_pass(200 * SS_MILLISECOND);
}

/* The kernel reports the shell as their parent, but the shell also starts other programs. */
TEST(siblings_of_an_attached_process_are_found_by_their_image) {
    world_exec(WORLD_SHELL);
    pid_t root = attach(start_job());
    world_exec(root);
    world_at(world_fork_sibling(root))->ours = false; /* it was forked before the run */
    begin();
    world_pass(3 * SS_SECOND);
    pid_t sibling = world_fork_sibling(root);
    world_setsid(sibling);
    world_fork(WORLD_SHELL);
    world_exec(world_fork(WORLD_SHELL));
    world_pass(200 * SS_MILLISECOND);
    world_expect_branch(0, sibling, true);
    assert_int_equal(world_count_branches(), 1);
    world_exec(sibling);
    world_fork_session(world_fork(sibling));
    world_setsid(world_fork_sibling(root));
    world_pass(5 * SS_SECOND);
}

/* The attached process is a function of a script, and so are others, which are not attached. */
TEST(siblings_with_the_image_of_their_parent_are_left_alone) {
    world_exec(WORLD_SHELL);
    pid_t root = attach(start_job());
    begin();
    world_fork(WORLD_SHELL);
    world_pass(3 * SS_SECOND);
    world_exec(WORLD_SHELL);
    world_pass(3 * SS_SECOND);
    world_fork(WORLD_SHELL);
    world_pass(3 * SS_SECOND);
    world_fork(root);
    world_pass(200 * SS_MILLISECOND);
}

/*
 * On an overloaded machine the next pass may be late, and it follows only a few lines of descent.
 */
TEST(daemon_after_many_foreign_processes_is_found) {
    pid_t root = attach(start_job());
    begin();
    world_pass(3 * SS_SECOND);
    world_fork_strangers(1000);
    leave_daemon(root);
    for (int i = 0; i < 12; i++) {
        world.now += 2 * SS_SECOND;
        world_take();
    }
    world.partial = !world_reports;
}

/* Like setsid(1) and daemon(3), in a child that has existed for a while. */
TEST(daemon_is_found_by_its_session) {
    pid_t root = attach(start_job());
    begin();
    pid_t child = world_fork(root);
    world_pass(3 * SS_SECOND);
    world_setsid(child);
    pid_t daemon = world_fork(child);
    world_end(child);
    world_pass(200 * SS_MILLISECOND);
    world_expect_branch(0, daemon, false);
    world_pass(10 * SS_SECOND);
    leave_daemon(daemon);
    world_pass(200 * SS_MILLISECOND);
    world_check(true);
    assert_int_equal(strays(), 0);
}

/* All members of a session descend from the process that began it. */
TEST(existing_orphans_in_our_session_are_found) {
    pid_t root = attach(start_service());
    pid_t orphan = leave_daemon(root);
    world_lead_group(orphan);
    begin();
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, orphan, true);
}

/* Showstopper itself was started in the background of that session, and its parent has ended. */
TEST(the_run_itself_is_not_claimed_by_its_session) {
    pid_t root = attach(start_service());
    pid_t master = leave_daemon(root);
    world_at(master)->ours = false;
    world.board->master = master;
    ss_census_close(&world.census);
    assert_int_equal(
        ss_census_open(&world.census, world.board, &world.source, true, world.latest), 0);
    begin();
    world_lead_group(master);
    pid_t executor = world_fork(master);
    world_pass(2 * SS_SECOND);
    assert_false(world_is_reached(executor));
}

/* Between two passes a child ends, and a foreign process reuses its pid and becomes a daemon. */
TEST(daemon_of_a_reused_pid_is_foreign) {
    world_renew(5000);
    world.board->attached = true;
    pid_t before = world.latest;
    pid_t root = attach(start_job());
    begin();
    pid_t child = world_fork(root);
    do {
        world_end(world_fork(WORLD_SHELL));
        if (world.latest % 500 == 0)
            world_pass(100 * SS_MILLISECOND);
    } while (world.latest != before);
    world_pass(SS_SECOND);
    world_expect_branch(0, child, false);
    world_end(child);
    pid_t stranger = world_fork_session(WORLD_SHELL);
    assert_int_equal(stranger, child);
    pid_t daemon = world_fork(stranger);
    world_fork(daemon);
    world_end(stranger);
    world_pass(3 * SS_SECOND);
}

/* Until the next recount, the census knows only the limit that it read before. */
TEST(pids_above_a_raised_limit_are_examined) {
    world_renew(6000);
    world.board->attached = true;
    world.limit = 5000;
    pid_t root = attach(start_job());
    begin();
    world_pass(2 * SS_SECOND);
    world.limit = 6000;
    while (world.latest < 5500)
        world_end(world_fork(WORLD_SHELL));
    world_fork(root);
    world_pass(10 * SS_MILLISECOND);
    world_pass(2 * SS_SECOND);
}

/* Any known pid may have been reused by a foreign process. */
TEST(daemon_is_left_alone_if_fork_events_were_lost) {
    pid_t root = attach(start_job());
    begin();
    world_pass(SS_SECOND);
    world.loses = true;
    pid_t daemon = leave_daemon(root);
    world_pass(100 * SS_MILLISECOND);
    assert_false(world_is_reached(daemon));
    assert_int_equal(strays(), 1);
    world_at(daemon)->ours = false;
    world.loses = false;
    world_pass(2 * SS_SECOND);
    leave_daemon(root);
    world_pass(200 * SS_MILLISECOND);
    world.partial = !world_reports;
}

/* Freezing needs another control group, and another user's process must stay in its own. */
TEST(unsignalable_attached_processes_are_not_frozen) {
    world.freezers = true;
    pid_t root = attach(start_job());
    begin();
    world_at(world_fork(root))->foreign = true;
    world_pass(2 * SS_SECOND);
    assert_int_equal(world.frozen, 0);
    assert_int_equal(atomic_load(&world.board->out_of_reach), 1);
}

TEST(attached_trees_have_separate_branches) {
    pid_t root = attach(start_job());
    pid_t other = start_job();
    struct ss_row *row = &world.board->rows[1];
    world_at(other)->ours = true;
    atomic_store(&row->leader_started, world_at(other)->started);
    atomic_store(&row->leader, other);
    begin();
    pid_t left = world_fork_session(root);
    pid_t right = world_fork_session(other);
    world_pass(100 * SS_MILLISECOND);
    world_expect_branch(0, left, true);
    world_expect_branch(1, right, true);
}

WORLD_RUN(open_attached)
