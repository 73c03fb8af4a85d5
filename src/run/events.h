/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_EVENTS_H
#define SHOWSTOPPER_RUN_EVENTS_H

#include "run/state.h"

/* Sleeps until `deadline` or until something happens, and handles all that did. */
void ss_master_handle_events(struct ss_master *master, ss_time deadline);

/* Takes what the sensor has said, if there is one. */
void ss_master_read_sensor(struct ss_master *master, ss_time now);

#endif
