/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_WATCH_H
#define SHOWSTOPPER_RUN_WATCH_H

#include "run/state.h"

/* What the board has to tell: starts and ends of instances, iterations, failures. */
void ss_master_watch(struct ss_master *master);

/* Children that have ended. */
void ss_master_reap(struct ss_master *master);

#endif
