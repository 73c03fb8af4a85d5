/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CENSUS_RUN_H
#define SHOWSTOPPER_TESTS_CENSUS_RUN_H

/*
 * Simulates a run in the world of census_world.h. As in a real run, the guardian and the executors
 * hold branches permanently: a hold refers to the process that had the pid when the hold was taken.
 */

#include "census_world.h"

static inline bool world_hold_reaches(const struct world_hold *hold, pid_t pid) {
    const struct world_process *process = world_at(pid);
    if (!hold->serial || !hold->holds || !process->started)
        return false;
    return hold->group ? process->group == hold->pid && process->group_started == hold->started
                       : pid == hold->pid && process->started == hold->started;
}

/* Updates a hold from its slot. A process that has ended cannot be held. */
static inline void world_take_hold(struct world_hold *hold, struct ss_branch *branch) {
    uint32_t owner = atomic_load(&branch->owner);
    uint32_t serial = atomic_load(&branch->serial);
    if (owner && hold->serial == serial && hold->row == owner - 1)
        return;
    *hold = (struct world_hold){0};
    if (!owner)
        return;
    *hold = (struct world_hold){
        .serial = serial,
        .row = owner - 1,
        .pid = atomic_load(&branch->pid),
        .started = atomic_load(&branch->started),
        .group = atomic_load(&branch->group),
    };
    const struct world_process *process = world_at(hold->pid);
    hold->holds = process->started == hold->started && process->state != 'Z';
}

/* Counts notifications of executors. */
static inline uint32_t world_count_changes(void) {
    uint32_t count = 0;
    for (uint32_t row = 0; row < WORLD_ROWS; row++)
        count += atomic_load(&world.board->rows[row].branch_changes);
    return count;
}

static inline void world_report_missed_group(struct ss_branch *branch, uint32_t serial) {
    if (atomic_exchange(&branch->missed_serial, serial) != serial)
        atomic_fetch_add(&world.board->missed_groups, 1);
}

/* Reports missed branches, as executors that were too late do. */
static inline void world_report_missed(void) {
    for (uint32_t place = 0; place < SS_BOARD_BRANCHES_MAX; place++) {
        const struct world_hold *hold = &world.executors[place];
        if (hold->serial && hold->group && !hold->holds)
            world_report_missed_group(&ss_board_branches(world.board)[place], hold->serial);
    }
}

static inline void world_refresh(struct world_hold holds[SS_BOARD_BRANCHES_MAX]) {
    struct ss_branch *branches = ss_board_branches(world.board);
    uint32_t used = atomic_load(&world.board->branches_used);
    for (uint32_t place = 0; place < used; place++)
        world_take_hold(&holds[place], &branches[place]);
}

static inline void world_hold_all(void) {
    uint32_t changes = world_count_changes();
    if (changes == world.changes)
        return;
    world.changes = changes;
    world_refresh(world.guardian);
    if (world.late)
        return;
    world_refresh(world.executors);
    world_report_missed();
}

static inline bool world_reaches_nobody(const struct world_hold *hold) {
    const struct world_group *group = &world.groups[hold->pid];
    if (!hold->group)
        return !world_hold_reaches(hold, hold->pid);
    return !hold->holds || group->members == 0 || group->started != hold->started;
}

static inline bool world_is_gone(void *holder, uint32_t place) {
    assert_ptr_equal(holder, &world);
    world_hold_all();
    return world_reaches_nobody(&world.guardian[place]);
}

/*
 * Returns whether signals to an instance reach this process, through the instance's group or a
 * branch.
 */
static inline bool world_is_reached(pid_t pid) {
    const struct world_process *process = world_at(pid);
    for (uint32_t row = 0; row < WORLD_ROWS; row++) {
        const struct ss_row *shown = &world.board->rows[row];
        if (world.board->attached && pid == atomic_load(&shown->leader) &&
            process->started == atomic_load(&shown->leader_started))
            return true;
        if (!world.board->attached && process->group > 1 &&
            process->group == atomic_load(&shown->leader) &&
            process->group_started == atomic_load(&shown->leader_started))
            return true;
    }
    uint32_t used = atomic_load(&world.board->branches_used);
    for (uint32_t place = 0; place < used; place++) {
        if (world_hold_reaches(&world.executors[place], pid))
            return true;
    }
    return false;
}

static inline pid_t world_open_row(uint32_t row) {
    struct ss_row *shown = &world.board->rows[row];
    pid_t executor = WORLD_MASTER + 1 + (pid_t)row;
    world_put(executor, WORLD_MASTER);
    atomic_store(&shown->executor_started, world_at(executor)->started);
    atomic_store(&shown->executor, executor);
    return executor;
}

/* Starts an executor's instance, which leads its own group. */
static inline pid_t world_start_instance(uint32_t row) {
    pid_t leader = world_fork(atomic_load(&world.board->rows[row].executor));
    world_setsid(leader);
    world_at(leader)->ours = true;
    atomic_store(&world.board->rows[row].leader_started, world_at(leader)->started);
    atomic_store(&world.board->rows[row].leader, leader);
    return leader;
}

static inline pid_t world_leader(uint32_t row) {
    return atomic_load(&world.board->rows[row].leader);
}

/* Opens a world in which the guardian begins before there are instances. */
static inline void world_open_empty(pid_t limit, bool groups) {
    memset(&world, 0, sizeof world);
    world.limit = limit;
    world.latest = 1000 < limit / 2 ? 1000 : WORLD_FIRST;
    world.now = 1000 * SS_SECOND;
    world.processes = calloc((size_t)limit + 1, sizeof *world.processes);
    world.groups = calloc((size_t)limit + 1, sizeof *world.groups);
    assert_true(world.processes && world.groups);
    world.board = ss_board_allocate(WORLD_ROWS, 0, false);
    assert_non_null(world.board);
    world_put(WORLD_INIT, 0);
    world_put(WORLD_SHELL, WORLD_INIT);
    world_setsid(WORLD_SHELL);
    world_put(WORLD_MASTER, WORLD_SHELL);
    world_setsid(WORLD_MASTER);
    world.source = (struct ss_census_source){
        .latest = world_latest,
        .limit = world_limit,
        .group = world_group,
        .info = world_look,
        .may_signal = world_may_signal,
        .freezer = world_freezer,
        .each = world_each,
        .is_gone = world_is_gone,
        .listen = world_listen,
        .births = world_births,
        .is_akin = world_is_akin,
        .image = world_image,
        .holder = &world,
    };
    assert_int_equal(
        ss_census_open(&world.census, world.board, &world.source, groups, world.latest), 0);
    for (uint32_t row = 0; row < WORLD_ROWS; row++)
        world_open_row(row);
}

static inline void world_open(void) {
    world_open_empty(32768, true);
    for (uint32_t row = 0; row < WORLD_ROWS; row++)
        world_start_instance(row);
}

static inline void world_close(void) {
    ss_census_close(&world.census);
    free(world.board);
    free(world.processes);
    free(world.groups);
    free(world.births);
}

/* Makes one pass now. */
static inline void world_take(void) {
    world.takes++;
    world.reported = false;
    world.due = ss_census_take(&world.census, world.now);
    assert_that(world.due, >, world.now);
    world_hold_all();
}

/* Lets `time` pass and runs every pass that becomes due. */
static inline void world_pass(ss_time time) {
    ss_time end = world.now + time;
    while (world.due <= end || world.reported) {
        if (!world.reported && world.due > world.now)
            world.now = world.due;
        world_take();
    }
    world.now = end;
}

static inline uint32_t world_count_branches(void) {
    uint32_t count = 0;
    for (uint32_t place = 0; place < SS_BOARD_BRANCHES_MAX; place++)
        count += atomic_load(&ss_board_branches(world.board)[place].owner) != 0;
    return count;
}

/* Returns the branch on the board with this pid. Fails the test unless there is exactly one. */
static inline struct ss_branch *world_branch(pid_t number) {
    struct ss_branch *found = NULL;
    for (uint32_t place = 0; place < SS_BOARD_BRANCHES_MAX; place++) {
        struct ss_branch *branch = &ss_board_branches(world.board)[place];
        if (!atomic_load(&branch->owner) || atomic_load(&branch->pid) != number)
            continue;
        assert_null(found);
        found = branch;
    }
    assert_non_null(found);
    return found;
}

static inline void world_expect_branch(uint32_t row, pid_t number, bool group) {
    struct ss_branch *branch = world_branch(number);
    assert_int_equal(atomic_load(&branch->owner), row + 1);
    assert_int_equal(atomic_load(&branch->group), group);
    assert_int_equal(atomic_load(&branch->started), world_at(number)->started);
}

/* Checks that no foreign process is reached and, with `whole`, that all of ours are. */
static inline void world_check(bool whole) {
    for (pid_t pid = 1; pid <= world.highest; pid++) {
        if (!world_is_there(pid))
            continue;
        bool reached = world_is_reached(pid);
        if (reached && !world_at(pid)->ours)
            fail_msg("process %d is not ours and would be signaled", (int)pid);
        if (whole && !reached && world_at(pid)->ours && world_at(pid)->state != 'Z')
            fail_msg("process %d is ours and would not be signaled", (int)pid);
    }
}

/* Replaces the world with one without instances and with this highest pid. */
static inline void world_renew(pid_t limit) {
    world_close();
    world_open_empty(limit, true);
}

static inline int world_setup(void **state) {
    world_open();
    return 0;
}

/* The signals of a run must reach all of our processes, and no others, at the end of each case. */
static inline int world_teardown(void **state) {
    world_check(!world.partial);
    world_close();
    return 0;
}

/*
 * Like UNIT_RUN, but creates a new world for each case with `open`, and runs all cases a second
 * time in a world that reports forks.
 */
#define WORLD_RUN(open)                                                                            \
    int main(int argc, char **argv) {                                                              \
        for (size_t i = 0; i < unit_case_count; i++) {                                             \
            unit_cases[i].setup_func = open;                                                       \
            unit_cases[i].teardown_func = world_teardown;                                          \
        }                                                                                          \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        int failed =                                                                               \
            _cmocka_run_group_tests("silent world", unit_cases, unit_case_count, NULL, NULL);      \
        world_reports = true;                                                                      \
        return failed + _cmocka_run_group_tests(                                                   \
                            "reporting world", unit_cases, unit_case_count, NULL, NULL);           \
    }

#endif
