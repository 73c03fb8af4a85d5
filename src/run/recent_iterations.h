/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_RECENT_ITERATIONS_H
#define SHOWSTOPPER_RUN_RECENT_ITERATIONS_H

#include "loop/board.h"
#include "measure/iterations.h"

/*
 * The iterations of --repeat without --iteration, passed on from an executor to the master through
 * the board.
 */

/* For the executor: publishes an iteration. */
void ss_recent_iterations_put(struct ss_row *row, ss_time start, ss_time end);

/*
 * For the master: adds the iterations that the row has published after the first `seen`, and
 * advances `seen`. The times of those that later ones have overwritten are lost: they are spread
 * evenly over the time before the oldest one that is left.
 */
void ss_recent_iterations_take(
    const struct ss_row *row, uint64_t *seen, struct ss_iterations *iterations, uint32_t instance);

#endif
