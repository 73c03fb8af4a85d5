/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_PERF_H
#define SHOWSTOPPER_RUN_PERF_H

#include "run/state.h"

/*
 * The master's part of --counters: each second it asks the executors for what their instances have
 * counted, and a moment later writes what they have told by then. An executor that is late is in
 * the next row.
 */

/* Says what this machine does not count. Does nothing without --counters, as all that follow. */
SS_MUST_USE int ss_master_open_perf(struct ss_master *master);

/* Rows begin now. */
void ss_master_begin_perf(struct ss_master *master, ss_time now);

/* When there is something to ask or to write next. */
ss_time ss_master_perf_due(const struct ss_master *master);

/* Does what is due. */
void ss_master_take_perf(struct ss_master *master, ss_time now);

/* The last row: nothing is left to count. */
void ss_master_end_perf(struct ss_master *master, ss_time now);

#endif
