/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_BATCH_CREW_H
#define SSBATCH_BATCH_CREW_H

#include <stdbool.h>

#include "keeper/keeper.h"
#include "keeper/signals.h"
#include "minder.h"
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

/* The maximum number of commands at the same time, including those that left a daemon. */
#define SSBATCH_SLOTS 64

/* Set in the environment of all commands; its value is the mark of the call. */
#define SSBATCH_MARK "SSBATCH_CALL"

#define SSBATCH_MARK_ROOM 128

struct ssbatch_crew {
    const char *mark;             /* of the call */
    struct ssbatch_slot *slots;   /* in shared memory */
    pid_t minders[SSBATCH_SLOTS]; /* 0: free, or reaped */
    bool forgotten[SSBATCH_SLOTS];
    bool used[SSBATCH_SLOTS];
    bool lost; /* a minder was killed, and its descendants have become children of ssbatch */
    int bell[2];
    int ended_by; /* the signal that interrupts the study, or 0 */
    bool blind;   /* in the keeper: signals do not wake it */
    struct ss_signals signals;
    struct ss_counter_reader machine;
    bool reads_machine;

    /* Undoes the call. Called in the keeper when ssbatch and all of its commands are dead. */
    void (*undo)(void *context, struct ssbatch_spawner *spawner);
    void *undo_context;
    struct ss_keeper_duty duty;
    struct ss_keeper keeper;
};

/*
 * Sets up what the processes share, and starts the keeper. The caller has set `undo` and `mark`;
 * the crew must not be moved afterwards.
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
