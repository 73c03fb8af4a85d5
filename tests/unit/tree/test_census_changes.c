/* SPDX-License-Identifier: Apache-2.0 */

/* Tests with worlds that change during a pass of the census. */

#include "census_run.h"

/* In each try, the world changes at a later lookup of the pass. */
#define TRIES 60

static unsigned long change_at;
static void (*change)(void);

static void change_on_look(pid_t pid) {
    if (world.looks == change_at)
        change();
}

/* For each lookup of a pass in turn, changes the world at that lookup. */
static void change_at_each_look(void (*prepare)(void), void (*what)(void), bool whole) {
    change = what;
    for (unsigned long look = 1; look <= TRIES; look++) {
        world_close();
        world_open();
        world_pass(5 * SS_SECOND);
        prepare();
        change_at = world.looks + look;
        world.on_look = change_on_look;
        for (int i = 0; i < 40; i++) {
            world_pass(100 * SS_MILLISECOND);
            world_check(false);
        }
        world_check(whole);
    }
}

static pid_t subject, other;

static void prepare_daemon(void) {
    subject = world_fork_daemon(world_leader(0));
}

static void prepare_session(void) {
    subject = world_fork_session(world_leader(0));
}

static void give_number_to_stranger(void) {
    world_end(subject);
    world_put(subject, WORLD_SHELL);
    world_setsid(subject);
}

/* Makes a late group that is found through one of our processes. */
static void prepare_group(void) {
    subject = world_fork(world_leader(0));
    world_pass(500 * SS_MILLISECOND);
    world_setsid(subject);
    other = world_fork(subject);
}

static void give_leaders_number_to_stranger(void) {
    world_join(other, WORLD_SHELL);
    give_number_to_stranger();
}

/* Makes a foreign process whose parent does not lead a group. */
static void prepare_stranger(void) {
    other = world_fork(WORLD_SHELL);
    subject = world_fork_session(other);
}

static void give_parents_number_to_ours(void) {
    world_end(other);
    world_put(other, world_leader(0));
}

static void give_parents_number_to_ours_in_a_session(void) {
    give_parents_number_to_ours();
    world_setsid(other);
}

/* Makes a foreign process two generations below the shell. */
static void prepare_grandchild(void) {
    other = world_fork(WORLD_SHELL);
    subject = world_fork_session(world_fork_session(other));
}

static void prepare_line(void) {
    other = world_fork(world_leader(0));
    subject = world_fork_session(other);
}

static void end_parent(void) {
    world_end(other);
}

static void give_parents_number_to_stranger(void) {
    world_end(other);
    world_put(other, WORLD_SHELL);
}

TEST(process_that_changes_while_it_is_examined_is_claimed_if_it_is_ours) {
    static const struct {
        const char *subject;
        void (*prepare)(void), (*change)(void);
        bool whole; /* all of our processes must be found */
    } rows[] = {
        {"reused pid", prepare_daemon, give_number_to_stranger, false},
        {"reused pid of a session", prepare_session, give_number_to_stranger, false},
        {"reused pid of a leader", prepare_group, give_leaders_number_to_stranger, false},
        {"child of a reused pid", prepare_stranger, give_parents_number_to_ours, false},
        {"child of a reused pid in a session", prepare_stranger,
            give_parents_number_to_ours_in_a_session, false},
        {"grandchild of a reused pid", prepare_grandchild, give_parents_number_to_ours, false},
        {"ours, whose parent ends", prepare_line, end_parent, true},
        {"ours, whose parent's pid is reused", prepare_line, give_parents_number_to_stranger, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].subject);
        change_at_each_look(rows[i].prepare, rows[i].change, rows[i].whole);
    }
}

static void prepare_late_session(void) {
    other = world_fork(world_leader(0));
    subject = world_fork(other);
    world_pass(500 * SS_MILLISECOND);
    world_setsid(subject);
}

static pid_t heir;

/* Makes each lookup find another parent. */
static void change_parent_on_look(pid_t pid) {
    if (pid != subject || heir > 20)
        return;
    heir++;
    pid_t parent = world_fork(world_leader(0));
    world_at(subject)->parent = parent;
}

/* The line of descent breaks so often that the census gives up for a while. */
TEST(process_with_a_changing_line_of_descent_is_found) {
    world_pass(5 * SS_SECOND);
    prepare_late_session();
    heir = 0;
    world.on_look = change_parent_on_look;
    world_pass(10 * SS_SECOND);
    assert_that(heir, >, 20);
    world_expect_branch(0, subject, true);
}

static uint32_t seed;

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

static bool is_fixed(pid_t pid) {
    if (pid < WORLD_FIRST)
        return true;
    for (uint32_t row = 0; row < WORLD_ROWS; row++) {
        if (world_leader(row) == pid)
            return true;
    }
    return false;
}

#define CROWD 300

/* Pids of some processes of the random world; many of them have ended. */
static pid_t crowd[CROWD];

static void join_somebody(pid_t pid) {
    pid_t friend = draw(3) ? crowd[draw(CROWD)] : WORLD_SHELL;
    if (world_is_there(friend) && (world_at(pid)->ours || !world_at(friend)->ours))
        world_join(pid, friend);
}

static void fork_somebody(uint32_t place) {
    pid_t parent = crowd[draw(CROWD)];
    if (is_fixed(parent) || !world_is_there(parent) || world_at(parent)->state == 'Z')
        parent = draw(2) ? world_leader(draw(WORLD_ROWS)) : WORLD_SHELL;
    crowd[place] = world_fork(parent);
    world_at(crowd[place])->hidden = draw(10) == 0;
    if (draw(3) == 0)
        world_setsid(crowd[place]);
}

static void do_something(void) {
    uint32_t place = draw(CROWD);
    pid_t pid = crowd[place];
    if (!world_is_there(pid) || is_fixed(pid)) {
        fork_somebody(place);
        return;
    }
    uint32_t what = draw(10);
    if (world_at(pid)->state == 'Z')
        world_end(pid);
    else if (what < 4)
        world_end(pid);
    else if (what == 4)
        world_end_unreaped(pid);
    else if (what < 7)
        world_setsid(pid);
    else if (what == 7)
        join_somebody(pid);
}

static void do_something_on_look(pid_t pid) {
    if (draw(4) == 0)
        do_something();
}

/* Like --repeat: ends a whole instance and starts another one. */
static void restart_instance(uint32_t row) {
    pid_t executor = atomic_load(&world.board->rows[row].executor);
    world_end(world_leader(row));
    atomic_store(&world.board->rows[row].leader, 0);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < CROWD; i++) {
            if (!world_is_there(crowd[i]) || world_at(crowd[i])->parent != executor)
                continue;
            world_end(crowd[i]);
            more = true;
        }
    }
    world_start_instance(row);
}

static void show_all(void) {
    for (int i = 0; i < CROWD; i++) {
        if (world_is_there(crowd[i]))
            world_at(crowd[i])->hidden = false;
    }
}

static void settle(void) {
    world.on_look = NULL;
    world.late = false;
    world.changes = UINT32_MAX;
    show_all();
    world_pass(5 * SS_SECOND);
}

TEST(random_events_never_reach_foreign_processes) {
    seed = 4711;
    memset(crowd, 0, sizeof crowd);
    world_renew(6000);
    for (uint32_t row = 0; row < WORLD_ROWS; row++)
        world_start_instance(row);
    for (int phase = 0; phase < 30; phase++) {
        world.census.pidfds_signal_groups = phase % 10 != 9;
        for (int step = 0; step < 200; step++) {
            show_all();
            world.late = draw(4) == 0;
            world.on_look = draw(2) ? do_something_on_look : NULL;
            for (uint32_t i = draw(8); i > 0; i--)
                do_something();
            if (draw(50) == 0)
                restart_instance(draw(WORLD_ROWS));
            world_pass(draw(100) * SS_MILLISECOND);
            world_check(false);
        }
        settle();
    }
}

WORLD_RUN(world_setup)
