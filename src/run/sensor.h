/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_SENSOR_H
#define SHOWSTOPPER_RUN_SENSOR_H

#include <stdbool.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "keeper/signals.h"

/* A sensor that has printed nothing for this long counts as dead. */
#define SS_SENSOR_SILENCE (10 * SS_SECOND)

/* A program that prints the load, one number from 0 to 1 per line. Only the master reads it. */
struct ss_sensor {
    pid_t pid;  /* pid of the program; 0 if not started */
    int status; /* how the program ended, as from waitpid(); -1 if unknown */
    int from;
    char line[256];
    size_t length;
    bool overlong;     /* the current line is too long for a number */
    double value;      /* the latest load; NaN if none yet */
    ss_time last_line; /* when the latest line arrived, or the start */
};

struct ss_scheduling;

/* Settings of showstopper's caller, restored for the sensor, and the mark of the run. */
struct ss_sensor_caller {
    const struct ss_signals *signals;
    const struct ss_scheduling *scheduling;
    const char *mark; /* see SS_SWEEP_MARK */
};

SS_MUST_USE int ss_sensor_start(struct ss_sensor *sensor, const char *command,
    const struct ss_sensor_caller *caller, ss_time now, struct ss_error *error);

/*
 * Reads the available output. Fails if it is not a load or has ended. At its end, waits up to 0.1 s
 * for the sensor to exit, then reaps it and kills the rest of its group.
 */
SS_MUST_USE int ss_sensor_read(struct ss_sensor *sensor, ss_time now, struct ss_error *error);

/* Fails if the sensor has been silent for too long. */
SS_MUST_USE int ss_sensor_check(
    const struct ss_sensor *sensor, ss_time now, struct ss_error *error);

/*
 * Kills the sensor and its process group, and closes its output. Returns false if the sensor has
 * not ended after half a second: it may belong to another user or be frozen.
 */
SS_MUST_USE bool ss_sensor_end(struct ss_sensor *sensor);

#endif
