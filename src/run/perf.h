/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_PERF_H
#define SHOWSTOPPER_RUN_PERF_H

#include "run/state.h"

/*
 * The master's part of --counters: each second it requests from the executors the counts of their
 * instances, and a moment later writes those that have arrived. Counts that arrive later are in the
 * next row.
 */

/*
 * Records which events this machine does not count. Like all functions here, this does nothing
 * without --counters.
 */
SS_MUST_USE int ss_master_open_perf(struct ss_master *master);

/* Makes a row due every second from `now` on. */
void ss_master_begin_perf(struct ss_master *master, ss_time now);

/* Returns when the next request or row is due. */
ss_time ss_master_perf_due(const struct ss_master *master);

/* Writes a row and sends a request if they are due. */
void ss_master_take_perf(struct ss_master *master, ss_time now);

/* Writes the last row and frees the state. Call this when all instances have ended. */
void ss_master_end_perf(struct ss_master *master, ss_time now);

#endif
