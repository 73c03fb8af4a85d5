/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_STAGE_ACTIONS_H
#define SHOWSTOPPER_RUN_STAGE_ACTIONS_H

/* Moves a run from stage to stage with the actions of the table in stage.c. */

#include "run/state.h"

/* Handles events that depend only on time, or on the start of all instances. */
void ss_master_advance(struct ss_master *master, ss_time now);

/*
 * Begins to end the run because of an event inside it. The summary gives `by` as the reason;
 * `signal` is sent to the instances.
 */
void ss_master_end(struct ss_master *master, const char *by, int signal);

/*
 * Handles any event; `by` and `signal` are those of ss_master_end(). For a pause, returns only when
 * the run is continued.
 */
void ss_master_handle(struct ss_master *master, enum ss_event event, const char *by, int signal);

#endif
