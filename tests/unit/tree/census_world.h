/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CENSUS_WORLD_H
#define SHOWSTOPPER_TESTS_CENSUS_WORLD_H

/* A simulated world of processes that the census can examine. */

#include <stdlib.h>
#include <string.h>

#include "tree/census.h"
#include "unit.h"

#define WORLD_INIT   1
#define WORLD_SHELL  50
#define WORLD_MASTER 100
#define WORLD_FIRST  300 /* the lowest pid after a wrap-around */
#define WORLD_ROWS   3

struct world_process {
    pid_t parent;
    pid_t group;
    pid_t session;
    uint64_t group_started; /* distinguishes this group from a later one with the same ID */
    uint64_t started;       /* 0 if it does not exist */
    char state;
    bool ours;
    bool hidden;    /* has a pid, but is not visible yet */
    bool foreign;   /* we may not signal it */
    bool akin;      /* same user and control groups as the instances */
    uint64_t image; /* 0 if unknown */
};

struct world_birth {
    pid_t parent;
    pid_t child;
};

/* The group with a given ID. No new process gets that pid while the group has members. */
struct world_group {
    uint32_t members;
    uint64_t started;
};

/* A hold on a group refers to the group as it was when the hold was taken. */
struct world_hold {
    uint32_t serial; /* 0 if empty */
    uint32_t row;
    pid_t pid;
    uint64_t started;
    bool group;
    bool holds; /* taken in time */
};

static struct {
    struct world_process *processes;
    struct world_group *groups;
    struct ss_board *board;
    struct ss_census census;
    struct ss_census_source source;
    ss_time now;
    ss_time due;
    pid_t latest;
    pid_t highest; /* pid of any process so far */
    pid_t limit;
    uint64_t clock; /* gives every process a different start time */
    uint32_t changes;
    bool partial;  /* at the end, not all of our processes need to be reached */
    bool late;     /* the executors do not read the board */
    bool silent;   /* the latest pid is unknown */
    bool freezers; /* unsignalable processes can be frozen */
    bool listens;
    bool reported; /* a fork was reported, but no pass followed yet */
    unsigned long takes;
    unsigned long looks;
    unsigned long asks; /* number of lookups of groups */
    unsigned long surveys;
    unsigned long frozen;
    struct world_birth *births; /* births to report */
    uint32_t births_count;
    uint32_t births_room;
    bool loses;                 /* reports of births get lost */
    void (*on_look)(pid_t pid); /* called at every pass; may change the world */
    void (*on_listen)(void);    /* called before listening for forks */
    struct world_hold guardian[SS_BOARD_BRANCHES_MAX];
    struct world_hold executors[SS_BOARD_BRANCHES_MAX];
} world;

/* Whether forks are reported to listeners. */
static bool world_reports;

static inline struct world_process *world_at(pid_t pid) {
    assert_that(pid, >=, 0);
    assert_that(pid, <=, world.limit);
    return &world.processes[pid];
}

static inline bool world_is_there(pid_t pid) {
    return pid > 0 && pid <= world.limit && world.processes[pid].started != 0;
}

static inline pid_t world_latest(void) {
    return world.silent ? -1 : world.latest;
}

static inline pid_t world_limit(void) {
    return world.limit;
}

static inline pid_t world_group(pid_t pid) {
    world.asks++;
    return world_is_there(pid) && !world.processes[pid].hidden ? world.processes[pid].group : -1;
}

static inline bool world_look(pid_t pid, struct ss_process *process) {
    world.looks++;
    if (world.on_look)
        world.on_look(pid);
    if (world_group(pid) < 0)
        return false;
    const struct world_process *seen = world_at(pid);
    *process = (struct ss_process){
        .parent = seen->parent,
        .group = seen->group,
        .session = seen->session,
        .state = seen->state,
        .started = seen->started,
    };
    return true;
}

static inline bool world_may_signal(pid_t pid) {
    return !world_is_there(pid) || !world.processes[pid].foreign;
}

static inline bool world_freezer(const char *name, pid_t pid, uint64_t started) {
    assert_true(*name);
    assert_that(started, ==, world_at(pid)->started);
    assert_true(world_at(pid)->ours);
    world.frozen += world.freezers;
    return world.freezers;
}

static inline bool world_listen(void *holder, bool on) {
    assert_ptr_equal(holder, &world);
    if (on && world_reports && world.on_listen)
        world.on_listen();
    world.listens = on && world_reports;
    return world_reports;
}

static inline void world_each(void (*visit)(void *context, pid_t pid), void *context) {
    world.surveys++;
    for (pid_t pid = 1; pid <= world.highest; pid++) {
        if (world_group(pid) >= 0)
            visit(context, pid);
    }
}

/* Without reports of forks, births are unknown. */
static inline enum ss_births world_births(
    void *holder, void (*visit)(void *context, pid_t parent, pid_t child), void *context) {
    assert_ptr_equal(holder, &world);
    uint32_t count = world.births_count;
    world.births_count = 0;
    if (!world_reports)
        return SS_BIRTHS_UNKNOWN;
    for (uint32_t i = 0; i < count && !world.loses; i++)
        visit(context, world.births[i].parent, world.births[i].child);
    return world.loses ? SS_BIRTHS_LOST : SS_BIRTHS_ALL;
}

static inline bool world_is_akin(pid_t one, pid_t other) {
    return world_at(one)->akin && world_at(other)->akin;
}

static inline uint64_t world_image(pid_t pid) {
    return world_is_there(pid) ? world.processes[pid].image : 0;
}

static inline void world_note_birth(pid_t parent, pid_t child) {
    if (world.births_count == world.births_room) {
        world.births_room = 2 * world.births_room + 64;
        world.births = reallocarray(world.births, world.births_room, sizeof *world.births);
        assert_non_null(world.births);
    }
    world.births[world.births_count++] = (struct world_birth){parent, child};
}

static inline void world_set_group(pid_t pid, pid_t group, uint64_t started) {
    struct world_process *process = world_at(pid);
    if (process->group)
        world.groups[process->group].members--;
    process->group = group;
    process->group_started = started;
    if (!group)
        return;
    world.groups[group].members++;
    world.groups[group].started = started;
}

static inline void world_lead_group(pid_t pid) {
    world_set_group(pid, pid, world_at(pid)->started);
}

static inline void world_setsid(pid_t pid) {
    world_lead_group(pid);
    world_at(pid)->session = pid;
}

static inline void world_join(pid_t pid, pid_t other) {
    world_set_group(pid, world_at(other)->group, world_at(other)->group_started);
}

static inline bool world_is_free(pid_t number) {
    return !world_is_there(number) && world.groups[number].members == 0;
}

static inline void world_put(pid_t pid, pid_t parent) {
    assert_true(world_is_free(pid));
    if (pid > world.highest)
        world.highest = pid;
    *world_at(pid) = (struct world_process){
        .parent = parent,
        .started = ++world.clock,
        .state = 'S',
        .ours = world_at(parent)->ours,
        .akin = world_at(parent)->akin,
        .image = world_at(parent)->image,
        .session = world_at(parent)->session,
    };
    world_join(pid, parent);
    world_note_birth(parent, pid);
}

static inline pid_t world_fork(pid_t parent) {
    do
        world.latest = world.latest < world.limit ? world.latest + 1 : WORLD_FIRST;
    while (!world_is_free(world.latest));
    world_put(world.latest, parent);
    world.reported |= world.listens;
    return world.latest;
}

static inline pid_t world_fork_session(pid_t parent) {
    pid_t pid = world_fork(parent);
    world_setsid(pid);
    return pid;
}

/* Executes a program. */
static inline void world_exec(pid_t pid) {
    world_at(pid)->image = ++world.clock;
}

/* Forks a sibling, with CLONE_PARENT. */
static inline pid_t world_fork_sibling(pid_t pid) {
    pid_t sibling = world_fork(world_at(pid)->parent);
    world_at(sibling)->image = world_at(pid)->image;
    world_at(sibling)->ours = world_at(pid)->ours;
    return sibling;
}

static inline bool world_adopts(pid_t pid) {
    for (uint32_t row = 0; row < WORLD_ROWS; row++) {
        if (atomic_load(&world.board->rows[row].executor) == pid)
            return true;
    }
    return pid == WORLD_INIT || pid == WORLD_MASTER;
}

static inline void world_orphan_children(pid_t pid) {
    pid_t heir = world_at(pid)->parent;
    while (!world_adopts(heir))
        heir = world_at(heir)->parent;
    for (pid_t child = 1; child <= world.highest; child++) {
        if (world_is_there(child) && world.processes[child].parent == pid)
            world.processes[child].parent = heir;
    }
}

/* Ends a process that its parent does not reap. */
static inline void world_end_unreaped(pid_t pid) {
    world_orphan_children(pid);
    world_at(pid)->state = 'Z';
}

static inline void world_end(pid_t pid) {
    world_orphan_children(pid);
    world_set_group(pid, 0, 0);
    *world_at(pid) = (struct world_process){0};
}

/* Forks a daemon: a process in a session whose leader, its parent, has ended. */
static inline pid_t world_fork_daemon(pid_t parent) {
    pid_t middle = world_fork_session(parent);
    pid_t daemon = world_fork(middle);
    world_end(middle);
    return daemon;
}

/* Forks this many processes that are not ours. */
static inline void world_fork_strangers(int count) {
    while (count-- > 0)
        world_fork_session(WORLD_SHELL);
}

#endif
