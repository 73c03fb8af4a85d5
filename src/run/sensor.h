/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_SENSOR_H
#define SHOWSTOPPER_RUN_SENSOR_H

#include <stdbool.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "tree/signals.h"

/* A sensor that has said nothing for so long is taken for dead. */
#define SS_SENSOR_SILENCE (10 * SS_SECOND)

/* A program that prints the load, a number from 0 to 1 to a line. Read by the master alone. */
struct ss_sensor {
    pid_t process; /* 0: there is none */
    int from;
    char line[256];
    size_t length;
    bool overlong; /* the present line is too long to be a number */
    double value;  /* the latest one; NaN: none yet */
    ss_time heard; /* when */
};

int ss_sensor_start(struct ss_sensor *sensor, const char *command, const struct ss_signals *signals,
    ss_time now, struct ss_error *error);

/* Reads what there is. Fails when the sensor has ended or says what is no load. */
int ss_sensor_read(struct ss_sensor *sensor, ss_time now, struct ss_error *error);

/* Fails when it has been silent for too long. */
int ss_sensor_check(const struct ss_sensor *sensor, ss_time now, struct ss_error *error);

void ss_sensor_end(struct ss_sensor *sensor);

#endif
