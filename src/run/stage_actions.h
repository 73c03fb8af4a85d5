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

/*
 * Handles any event; `by` and `signal` as in ss_master_end(). After a pause, returns when the run
 * is continued.
 */
void ss_master_handle(struct ss_master *master, enum ss_event event, const char *by, int signal);

#endif
