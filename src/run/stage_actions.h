/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_STAGE_ACTIONS_H
#define SHOWSTOPPER_RUN_STAGE_ACTIONS_H

/* Moves a run from stage to stage with the actions of the table in stage.c. */

#include "run/state.h"

/* Handles events that depend only on time, or on the start of all instances. */
void ss_master_advance(struct ss_master *master, ss_time now);

/*
 * Ends the run because of an event inside it: `by` is for the summary, `signal` for the instances.
 */
void ss_master_end(struct ss_master *master, const char *by, int signal);

void ss_master_end_by_signal(struct ss_master *master, int signal);

/* Pauses for Ctrl-Z. Returns when the run is continued. */
void ss_master_pause(struct ss_master *master);

/* Handles the end of the last executor. */
void ss_master_leave(struct ss_master *master);

#endif
