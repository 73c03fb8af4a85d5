/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_EVENTS_H
#define SHOWSTOPPER_RUN_EVENTS_H

#include "run/state.h"

/* Handles changes on the board: instances that have started or ended, iterations, failures. */
void ss_master_handle_board(struct ss_master *master);

void ss_master_reap(struct ss_master *master);

/* Sleeps until `deadline` or the next event, and handles all pending events. */
void ss_master_handle_events(struct ss_master *master, ss_time deadline);

/* Reads the sensor, if the run has one, and ends the run if it fails. */
void ss_master_read_sensor(struct ss_master *master, ss_time now);

#endif
