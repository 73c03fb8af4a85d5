/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_STAGE_ACTIONS_H
#define SHOWSTOPPER_RUN_STAGE_ACTIONS_H

/* Leads a run from stage to stage: does what the table of stage.h says. */

#include "run/state.h"

/* When a run that has yet to begin may start its instances. */
ss_time ss_master_first_stage_end(const struct ss_plan *plan);

/* What has come by time, and once all instances have been started. */
void ss_master_advance(struct ss_master *master, ss_time now);

/* Something in the run asks for its end: `by` is for the summary, `signal` for the instances. */
void ss_master_end(struct ss_master *master, const char *by, int signal);

/* A signal asks for the end. */
void ss_master_end_by_signal(struct ss_master *master, int signal);

/* Ctrl-Z: returns when it has been continued. */
void ss_master_pause(struct ss_master *master);

/* No executor is left. */
void ss_master_leave(struct ss_master *master);

#endif
