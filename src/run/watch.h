/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_WATCH_H
#define SHOWSTOPPER_RUN_WATCH_H

#include "run/state.h"

/* Handles changes on the board: instances that started or ended, iterations, failures. */
void ss_master_watch(struct ss_master *master);

void ss_master_reap(struct ss_master *master);

#endif
