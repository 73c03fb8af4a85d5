/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_CREW_H
#define SHOWSTOPPER_RUN_CREW_H

#include <showstopper/contract.h>

#include "command/plan.h"
#include "keeper/keeper.h"
#include "loop/board.h"
#include "screen/terminal.h"
#include "tree/guardian.h"
#include "tree/instance.h"

/*
 * The processes of a run, as the master sees them. The master is the parent of the guardian and of
 * every executor; an executor is the parent of its instance.
 */
struct ss_crew {
    const struct ss_plan *plan;
    struct ss_board *board;
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;
    int wakeup[2];          /* pipe from executors and guardian to the master */
    int guardian_wakeup[2]; /* pipe from executors and master to the guardian */
    int null;               /* the instances' standard input */
    struct ss_terminal terminal;
    struct ss_guardian_setup setup;
    struct ss_keeper_job job;
    struct ss_keeper guardian; /* executors hold the keeper's lifelines, too */
    pid_t *executors;          /* 0 if not started or already reaped */
    uint32_t running;          /* executors not yet reaped */
    ss_time *cpu_times;        /* CPU time of each executor when counting began */
    ss_time own_cpu;           /* CPU time of master and guardian when counting began */
};

/*
 * Opens the crew. The caller must have set the first four members, and closes the crew even if this
 * fails.
 */
SS_MUST_USE int ss_crew_open(struct ss_crew *crew, struct ss_error *error);

SS_MUST_USE int ss_crew_start_guardian(struct ss_crew *crew, struct ss_error *error);

/*
 * Starts the executor of instance `index`. `ends` become the instance's standard output and error;
 * for -1 it inherits ours.
 */
SS_MUST_USE int ss_crew_start_executor(
    struct ss_crew *crew, uint32_t index, const int ends[2], struct ss_error *error);

/* Makes every executor and the guardian check the board. */
void ss_crew_wake(struct ss_crew *crew);

/* Values of `who` for children that are not executors. */
#define SS_CREW_GUARDIAN (UINT32_MAX - 1)
#define SS_CREW_OTHER    UINT32_MAX

/*
 * Reaps one child that has exited. Returns its pid, or 0 if no child has. Sets `who` to the index
 * of the executor or to one of the above, and `status` as waitpid() does. Continues guardian and
 * executors that something has stopped; if the sensor has exited, kills the rest of its group.
 */
pid_t ss_crew_reap(struct ss_crew *crew, uint32_t *who, int *status);

/*
 * Ends the guardian and waits for it. If it was killed and cannot be replaced, does its last work
 * in this process.
 */
void ss_crew_dismiss_guardian(struct ss_crew *crew);

void ss_crew_start_clock(struct ss_crew *crew);

/* Returns the CPU time that all our processes have used since ss_crew_start_clock(). */
ss_time ss_crew_cpu_time(const struct ss_crew *crew);

void ss_crew_close(struct ss_crew *crew);

/* Runs an executor in the process that was forked for it. */
_Noreturn void ss_executor_run(
    const struct ss_crew *crew, uint32_t index, const struct ss_launch *launch);

#endif
