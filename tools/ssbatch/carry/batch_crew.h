/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_BATCH_CREW_H
#define SSBATCH_BATCH_CREW_H

#include <stdatomic.h>
#include <stdbool.h>

#include "keeper/keeper.h"
#include "keeper/signals.h"
#include "platform/platform.h"
#include "spawner.h"

/*
 * The processes of one call of ssbatch: a minder for each command, and a keeper.
 *
 * (the caller)
 *  `- ssbatch
 *      |- ssbatch-keeper     when ssbatch dies: waits for the minders, ends what they have missed,
 *      |                     and undoes what the journals of this call name
 *      |- ssbatch-minder     ends its command when ssbatch dies or sends SIGTERM
 *      |   `- command
 *      |       `- ...        daemons become children of the minder
 *      `- ssbatch-minder ...
 */

/* Steps before a command is executed. */
enum ssbatch_step { SSBATCH_EXECUTE, SSBATCH_SET_UP, SSBATCH_ENTER_FOLDER };

/*
 * A minder is the parent of one command and a subreaper, so that all processes that the command
 * starts, even daemons, are its descendants. It ends them at SIGTERM or when ssbatch dies. ssbatch
 * and its keeper read the state of command and minder from shared memory.
 */
struct ssbatch_slot {
    _Atomic int32_t minder; /* 0: the slot is free */
    _Atomic uint64_t minder_started;
    _Atomic int32_t pid;    /* pid of the command */
    _Atomic int32_t err;    /* errno if the command was not executed */
    _Atomic int32_t step;   /* what failed then: enum ssbatch_step */
    _Atomic int32_t status; /* once the command has ended: its exit status, or 128 + N for signal
                               N */
    _Atomic int32_t signal; /* the signal that ended it; 0: none */
    _Atomic uint32_t ended;
    _Atomic uint64_t cpu_time; /* CPU time of the command and its descendants, set when the minder
                                  exits */
    _Atomic uint64_t grace;    /* time between SIGTERM and SIGKILL */
};

struct ssbatch_minder {
    struct ssbatch_slot *slot;
    const struct ssbatch_command *command;
    const struct ss_signals *signals; /* the caller's signal settings, which the command gets
                                         back */
    pid_t master;
    int wakeup; /* gets a byte when the command has ended */
};

/*
 * Runs the minder. Call this in a child of ss_child_fork_blocked(). Closes `executed` once the
 * command runs.
 */
_Noreturn void ssbatch_minder_run(const struct ssbatch_minder *minder, int executed) SS_NONNULL();

/*
 * Signals the living descendants of this process. Spares children for which `is_spared` returns
 * true, and their descendants.
 */
void ssbatch_signal_descendants(
    int signal, bool (*is_spared)(void *context, pid_t pid), void *context);

/* How long guardians of killed commands may take to end their instances. */
#define SSBATCH_GUARDIAN_PATIENCE (1500 * SS_MILLISECOND)

/* The grace of commands when ssbatch has died: before a second SIGTERM, and before SIGKILL. */
#define SSBATCH_ORPHAN_GRACE      (1200 * SS_MILLISECOND)
#define SSBATCH_ORPHAN_KILL_GRACE (800 * SS_MILLISECOND)

/* The maximum number of commands at the same time, including those that left a daemon. */
#define SSBATCH_SLOTS_MAX 64

/* Set in the environment of all commands; its value is the mark of the call. */
#define SSBATCH_MARK_VARIABLE "SSBATCH_CALL"

#define SSBATCH_MARK_SIZE 128

struct ssbatch_crew {
    const char *mark;                     /* mark of the call */
    struct ssbatch_slot *slots;           /* in shared memory */
    pid_t minder_pids[SSBATCH_SLOTS_MAX]; /* 0: free, or reaped */
    bool forgotten[SSBATCH_SLOTS_MAX];
    bool used[SSBATCH_SLOTS_MAX];
    bool has_lost_minder; /* a minder was killed, and its descendants have become children of
                             ssbatch */
    int wakeup[2];
    int ended_by;         /* the signal that interrupts the study, or 0 */
    bool ignores_signals; /* in the keeper: signals do not wake it */
    struct ss_signals signals;
    struct ss_counter_reader machine;
    bool reads_machine;

    /* Undoes the call. Called in the keeper when ssbatch and all of its commands are dead. */
    void (*undo)(void *context, struct ssbatch_spawner *spawner);
    void *undo_context;
    struct ss_keeper_job job;
    struct ss_keeper keeper;
};

/*
 * Sets up what the processes share, makes this process a subreaper, and starts the keeper. The
 * caller has set `undo` and `mark`; the crew must not be moved afterwards.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_crew_open(struct ssbatch_crew *crew, struct ss_error *error);

SS_NONNULL() struct ssbatch_spawner ssbatch_crew_spawner(struct ssbatch_crew *crew);

/* Dismisses the keeper. Call this when no command is left. */
SS_NONNULL() void ssbatch_crew_close(struct ssbatch_crew *crew);

/*
 * Ends the processes of a dead call: waits for guardians among them, then kills the rest. Returns
 * the number of processes that are still alive.
 */
SS_NONNULL() size_t ssbatch_crew_end_marked(const char *mark);

#endif
