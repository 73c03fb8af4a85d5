/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_JOURNAL_H
#define SSACTUATE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

#include "kernel_file.h"
#include "running.h"

/*
 * A journal describes the changes that a run has to undo. It is a file in the state folder, and is
 * on disk before the first change is made. The run and its keeper hold a lock on it, so a journal
 * without a lock belongs to a run that was killed together with its keeper.
 *
 *   boot ID                       the boot in which it is valid
 *   run PID
 *   set KNOB PATH KEPT BEFORE     a file that may be changed, and its value
 *   group FOLDER HOME             a control group; its processes are moved to HOME
 *   processes PGID                a process group that is already running
 *   armed                         the lines above are complete
 *   want N VALUE                  file N is about to get this value
 *   got N VALUE                   the value that was then read back
 *   thread N PID TID STARTED CPUS a thread of process group N, and its affinity
 *   cpus N CPUS                   threads of group N are about to get this affinity
 */

/* How a value may differ after it is set. Each kind also accepts what the previous one accepts. */
enum ssactuate_tolerance {
    SSACTUATE_EXACT,
    SSACTUATE_ROUNDED, /* a number, rounded */
    SSACTUATE_LOWERED, /* a number, lowered to a maximum that is not known in advance */
};

/* A file of the kernel, and the value that it gets. */
struct ssactuate_setting {
    char knob[64]; /* name of the lock: one run at a time may change the files of a knob */
    char path[SSACTUATE_PATH_SIZE];
    char value[SSACTUATE_VALUE_SIZE];
    enum ssactuate_tolerance tolerance;
};

/* The kernel may change a rounded number by this fraction of it. */
#define SSACTUATE_ROUNDING 0.01

/* The folders of journals and locks, and the root of the files that journals describe. */
struct ssactuate_state {
    int root;                        /* descriptor of / or of a recorded tree */
    int folder;                      /* descriptor of the state folder */
    char *path;                      /* of the state folder; owned */
    char boot[SSACTUATE_VALUE_SIZE]; /* identifies this boot */
};

/*
 * Returns whether this user can have a state folder. `path` is the argument of
 * ssactuate_state_open(). Without a state folder, runs that need a journal are refused, and there
 * is nothing to restore.
 */
SS_MUST_USE bool ssactuate_state_has_folder(const char *path);

/*
 * Opens the state folder, and creates it if necessary: /run/showstopper below `path` or, if that is
 * NULL, on this machine. For users other than root, the latter is $XDG_RUNTIME_DIR/showstopper.
 */
SS_MUST_USE SS_NONNULL(1) int ssactuate_state_open(
    struct ssactuate_state *state, const char *path, struct ss_error *error);
SS_NONNULL() void ssactuate_state_close(struct ssactuate_state *state);

/* A file in a journal. */
struct ssactuate_entry {
    struct ssactuate_setting setting; /* `value` is the last value that was or will be set */
    char before[SSACTUATE_VALUE_SIZE];
    char got[SSACTUATE_VALUE_SIZE];
    bool touched;  /* the file may have been changed */
    bool known;    /* `got` was read back after the latest change */
    bool reported; /* the restorer has reported that another program has changed it */
};

struct ssactuate_group {
    char folder[1024], home[1024];
};

struct ssactuate_lock {
    char knob[64];
    int file;
    bool transient; /* the file is removed together with the journal */
};

struct ssactuate_journal {
    const struct ssactuate_state *state;
    int file; /* holds the lock; -1: not open */
    char name[96];
    char boot[SSACTUATE_VALUE_SIZE];
    pid_t pid;
    bool armed;
    struct ssactuate_entry *entries;
    size_t count, room;
    struct ssactuate_group *groups;
    size_t group_count, group_room;
    struct ssactuate_running running[SSACTUATE_RUNNING_MAX];
    size_t running_count;
    struct ssactuate_lock *locks;
    size_t lock_count, lock_room;
};

/* Creates the journal of this process. ssactuate_journal_arm() writes it to disk. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_create(
    struct ssactuate_journal *journal, const struct ssactuate_state *state, struct ss_error *error);

/*
 * Locks a knob until the journal is closed. Fails if another run holds the lock, and names its
 * process.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_lock(
    struct ssactuate_journal *journal, const char *knob, struct ss_error *error);

/* Adds a file with its current value. Returns its number. The file's knob must be locked. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_add(struct ssactuate_journal *journal,
    const struct ssactuate_setting *setting, struct ss_error *error);

SS_MUST_USE SS_NONNULL() int ssactuate_journal_add_group(struct ssactuate_journal *journal,
    const char *folder, const char *home, struct ss_error *error);

/*
 * Locks and adds a process group that is already running, with the affinity of its threads. Returns
 * its number. Fails if the group does not exist.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_add_running(
    struct ssactuate_journal *journal, pid_t group, struct ss_error *error);

/* Marks the journal as complete and syncs it to disk. From now on, it can restore a killed run. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_arm(
    struct ssactuate_journal *journal, struct ss_error *error);

/*
 * Sets a file of an armed journal and reads its value back. Fails if the kernel refuses the value
 * or keeps one that the setting does not accept.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_set(struct ssactuate_journal *journal,
    const struct ssactuate_setting *setting, struct ss_error *error);

/* Adds new threads of a process group. Returns 1, or 0 once the group has exited. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_scan(
    struct ssactuate_journal *journal, size_t number, struct ss_error *error);

/* Records that threads of a process group may get this affinity. Call this before setting it. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_note_cpus(struct ssactuate_journal *journal,
    size_t number, const struct ss_cpus *cpus, struct ss_error *error);

/*
 * Sets the affinity of all threads of a process group or, if `cpus` is NULL, restores the one that
 * each thread had before the run. Fails if a thread does not get it.
 */
SS_MUST_USE SS_NONNULL(1, 4) int ssactuate_journal_confine(struct ssactuate_journal *journal,
    size_t number, const struct ss_cpus *cpus, struct ss_error *error);

/* Callbacks for restoring values and removing groups. */
struct ssactuate_restorer {
    void *context;
    /* Reports a value that was not restored. The line has no newline. */
    void (*report)(void *context, const char *line);
    /* Moves the group's processes to its home and removes it. Returns 0 or a negative errno. */
    int (*remove_group)(const char *folder, const char *home);
};

/*
 * Restores the files in reverse order, then the affinity of threads, and removes the groups.
 * Reports files that another program has changed, and leaves them alone. If a value differs after
 * writing, writes it once more; if it still differs, fails and names the file. May be called again.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_restore(struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error);

/* Like ssactuate_journal_restore(), but keeps the control groups, which are still in use. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_restore_values(struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error);

/*
 * Restores files during a run, except those marked in `kept`, which has an item for each file of
 * the journal. Leaves files alone that another program has changed, and fails like
 * ssactuate_journal_restore().
 */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_restore_others(
    struct ssactuate_journal *journal, const bool *kept, struct ss_error *error);

/* Reads the journal again, in a keeper that has inherited it. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_reload(
    struct ssactuate_journal *journal, struct ss_error *error);

/* Removes the journal, once nothing is left to restore. */
SS_MUST_USE SS_NONNULL() int ssactuate_journal_remove(
    struct ssactuate_journal *journal, struct ss_error *error);

/*
 * Releases the locks and the memory. The file stays, unless ssactuate_journal_remove() removed it.
 */
SS_NONNULL() void ssactuate_journal_close(struct ssactuate_journal *journal);

/* Number of journals of other runs that ssactuate_restore_dead() found. */
struct ssactuate_restore_counts {
    size_t restored; /* journals of killed runs whose changes were restored */
    size_t outdated; /* journals of an earlier boot */
    size_t living;   /* journals of runs that are not over */
};

/*
 * Restores what killed runs have changed, and removes their journals. `own`, if not NULL, is the
 * caller's journal, whose knobs are locked already. A journal of an earlier boot is only removed,
 * because a reboot restores everything.
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssactuate_restore_dead(const struct ssactuate_state *state,
    const struct ssactuate_restorer *restorer, const struct ssactuate_journal *own,
    struct ssactuate_restore_counts *dead, struct ss_error *error);

#endif
