/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_CENSUS_H
#define SHOWSTOPPER_TREE_CENSUS_H

#include <showstopper/contract.h>

/*
 * Determines which processes belong to which instance. An instance's own group needs no
 * bookkeeping: one signal reaches all of it. The census finds descendants in other groups and
 * writes them to the board as branches. Its cost depends on the number of new processes, not of
 * all: it examines only pids assigned since the last pass. It checks the group of a known process
 * again every 0.1 s in its first second, and more often at the very start, because most processes
 * that leave their group do so early; after that, once a second. A process can leave its group only
 * while it may run. Once some have left, the census therefore checks all young processes after each
 * stop; the less they may run, the longer they count as young.
 *
 * Groups of attached instances may have members that are not ours, unless one of ours has begun
 * their session. In such groups, each process is a branch by itself. Orphans get parents that are
 * not ours, so known orphans remain members, and so do their descendants. An orphan whose parent
 * was never seen, such as a daemon, is ours if the kernel has reported its birth, or if one of ours
 * has begun its session. Other orphans that may be ours are counted as strays.
 *
 * A process may also fork a sibling (CLONE_PARENT), whose birth the kernel reports as one of their
 * common parent. It shares the memory image of the process that forked it, not that of the parent.
 */

#include "base/pid_map.h"
#include "loop/board.h"
#include "platform/platform.h"
#include "tree/branches.h"

/* The functions through which the census accesses processes. Tests supply simulated ones. */
struct ss_census_source {
    pid_t (*latest)(void);
    pid_t (*limit)(void);
    pid_t (*group)(pid_t pid);
    bool (*info)(pid_t pid, struct ss_process *process);
    bool (*may_signal)(pid_t pid);
    bool (*freezer)(const char *name, pid_t pid, uint64_t started);
    void (*each)(void (*visit)(void *context, pid_t pid), void *context);
    bool (*is_gone)(void *holder, uint32_t slot); /* whether no process of the branch is left */
    bool (*listen)(void *holder, bool on); /* turns fork events on or off; returns false if they are
                                              not available */
    /*
     * Calls `visit` for each birth since the last call, in order. Only used for attached instances.
     */
    enum ss_births (*births)(
        void *holder, void (*visit)(void *context, pid_t parent, pid_t child), void *context);
    bool (*is_akin)(pid_t one, pid_t other); /* see ss_platform_process_is_akin() */
    uint64_t (*image)(pid_t pid);            /* see ss_platform_process_image() */
    void *holder;
};

/* A process that belongs to an instance. */
struct ss_census_member {
    pid_t pid;
    uint32_t row;
    uint32_t slot;     /* its branch on the board; SS_BOARD_BRANCHES_MAX if its group covers it */
    pid_t session;     /* session at first sight; 0: unknown */
    bool out_of_reach; /* we may not signal it: it is in a freezer, or counted as out of reach */
};

/* A recently assigned pid. Its group is checked repeatedly while it is young. */
struct ss_census_newcomer {
    pid_t pid;
    bool ours; /* it is a member; otherwise its group or ancestors are not known yet */
    ss_time since;
    ss_time due;
};

struct ss_census {
    struct ss_board *board;
    const struct ss_census_source *source;
    bool pidfds_signal_groups;  /* see ss_platform_pidfd_signals_groups() */
    pid_t limit;                /* the largest possible pid */
    pid_t latest;               /* the last pid that was examined */
    pid_t latest_at_recount[2]; /* `latest` two recounts ago, and one recount ago */
    pid_t rescan_after;         /* the second pass continues after this pid, up to `rescan_until` */
    pid_t rescan_until;
    ss_time interval;
    ss_time due;               /* time of the next pass, unless an event arrives earlier */
    uint32_t missed_groups;    /* the board's count of missed groups at the last pass */
    ss_time recount_due;       /* time at which all members are checked again */
    uint32_t budget;           /* lines of descent that may still be followed in this pass */
    pid_t unrelated_parent;    /* a parent that turned out not to be ours in this pass; 0 if none */
    bool found_ours;           /* this pass has found one of our processes */
    bool added_branch;         /* this pass has added a branch */
    bool listening;            /* every new process is reported */
    bool surveying;            /* the first pass of this census: births may predate it */
    bool fresh;                /* the processes examined now have just been started */
    bool overflowed;           /* some processes did not fit */
    struct ss_pid_map covered; /* maps groups that one signal reaches to rows */
    struct ss_pid_map slots;   /* maps groups that are branches to their slots on the board */
    struct ss_pid_map roots;   /* maps the ends of lines of descent to rows: each row's executor, or
                                  the first process of an attached instance */
    struct ss_pid_map indexes; /* maps pids to indexes of members */
    /*
     * For attached instances: maps pids to the rows of their last known owners, in two generations
     * of a second each. The dead are thus known for long enough to attribute their children.
     */
    struct ss_pid_map kin[2];
    enum ss_births births; /* whether all births since the last pass were reported */
    pid_t own_session;     /* session of showstopper itself, in which not all processes are ours */
    struct ss_pid_map strays; /* strays that the board counts, and those from before the census */
    pid_t *leaders;           /* leader of each row, as entered in `covered` */
    pid_t *tops;              /* top of each row, as entered in `roots` */
    pid_t *leader_parents; /* for attached instances: the parent of each leader; 0 if unknown, or if
                              the parent's own forks may have the leader's image */
    struct ss_census_member *members;
    uint32_t count;
    struct ss_census_newcomer *newcomers; /* oldest first */
    uint32_t newcomers_count;
    uint32_t young;   /* number of newcomers that are ours */
    ss_time *left_at; /* for each row, when one of its processes was last found outside its group;
                         0: never */
    ss_time now;      /* time of this pass */
};

/* Opens a census that counts processes whose pids were assigned after `since`. */
SS_MUST_USE int ss_census_open(struct ss_census *census, struct ss_board *board,
    const struct ss_census_source *source, bool pidfds_signal_groups, pid_t since);
void ss_census_close(struct ss_census *census);

/* Examines new processes. Returns when to call it again, unless a fork event arrives earlier. */
ss_time ss_census_take(struct ss_census *census, ss_time now);

/* Returns whether the last pass examined every pid that had been assigned by then. */
bool ss_census_is_complete(const struct ss_census *census);

/*
 * Continues after another census of the same board and scans all processes: for a guardian that
 * starts while instances are running.
 */
void ss_census_survey(struct ss_census *census);

#endif
