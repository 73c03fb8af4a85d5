/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_CENSUS_H
#define SHOWSTOPPER_TREE_CENSUS_H

/*
 * Who belongs to which instance. An instance's own group needs no counting: one signal reaches all
 * of it. The census finds descendants that are in other groups and writes them on the board as
 * branches. It costs what is new, not what is there: only numbers given away since the last look
 * are looked at, and whom it has counted once it asks again for the group: in its first second
 * every 0.1 s and more often at the beginning, as most that leave their group do so when they
 * begin; later once a second. A process leaves only while it may run, so where some have left, all
 * that are young are asked after each stop, and are young for longer the less they may run.
 */

#include "base/pid_map.h"
#include "loop/board.h"
#include "platform/platform.h"
#include "tree/branches.h"

/* Where it learns about processes: the system's platform functions, or a test's own world. */
struct ss_census_source {
    pid_t (*latest)(void);
    pid_t (*limit)(void);
    pid_t (*group)(pid_t pid);
    bool (*look)(pid_t pid, struct ss_process *process);
    bool (*may_signal)(pid_t pid);
    bool (*freezer)(const char *name, pid_t pid);
    void (*each)(void (*see)(void *context, pid_t pid), void *context);
    bool (*is_gone)(void *holder, uint32_t place); /* nobody is left of a branch on the board */
    bool (*listen)(void *holder, bool on);         /* for forks; false: nobody would tell of them */
    void *holder;
};

/* Somebody who has been counted. */
struct ss_census_member {
    pid_t pid;
    uint32_t row;
    uint32_t place; /* the branch that it is; SS_BOARD_BRANCHES: its group covers it */
    bool beyond;    /* we may not signal it; it is in the freezer, or has been counted as lost */
};

/* A pid that has only just been given away. It is asked for its group again while it is young. */
struct ss_census_newcomer {
    pid_t pid;
    bool ours; /* it has been counted; otherwise it could not be seen yet, or not be traced */
    ss_time since;
    ss_time due;
};

struct ss_census {
    struct ss_board *board;
    const struct ss_census_source *source;
    bool groups;      /* a group can be held as such, see ss_platform_process_holds_groups() */
    pid_t limit;      /* of process numbers */
    pid_t latest;     /* the last number that has been looked at */
    pid_t settled[2]; /* the same two recounts ago, and one */
    pid_t again;      /* who came behind this number ... */
    pid_t until;      /* ... and up to this one is still to be looked at again */
    ss_time interval;
    ss_time due;               /* the next look, unless something is told before */
    ss_time recount;           /* when those who have been counted are asked again */
    uint32_t budget;           /* of lines of descent that may still be followed in this look */
    pid_t stranger;            /* a parent known in this look to be none of ours; 0: none */
    bool ours;                 /* this look has met somebody of ours ... */
    bool found;                /* ... and somebody in a group not known before */
    bool listening;            /* whoever comes is told of */
    bool crowded;              /* somebody was met for whom there is no room */
    struct ss_pid_map covered; /* groups that one signal reaches, to rows */
    struct ss_pid_map executors;
    struct ss_pid_map places; /* members, to their index */
    pid_t *leaders;           /* of each row, as they stand in `covered` */
    pid_t *parents;           /* its executor, as it stands in `executors` */
    struct ss_census_member *members;
    uint32_t count;
    struct ss_census_newcomer *newcomers; /* the oldest first */
    uint32_t newcomers_count;
    uint32_t young;   /* those of them that are ours */
    ss_time *left_at; /* of each row: when one of it was last found in a group of its own; 0: never
                       */
    ss_time now;      /* of this look */
};

/* Whoever is to be counted got a number behind `since`. */
int ss_census_open(struct ss_census *census, struct ss_board *board,
    const struct ss_census_source *source, bool groups, pid_t since);
void ss_census_close(struct ss_census *census);

/* Looks at what is new. Returns when to look again; earlier if it listens and is told of forks. */
ss_time ss_census_take(struct ss_census *census, ss_time now);

/*
 * Goes on where another census of the same board has ended, and looks at every process there is:
 * for who comes when instances run already.
 */
void ss_census_survey(struct ss_census *census);

#endif
