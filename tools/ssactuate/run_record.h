/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_RUN_RECORD_H
#define SSACTUATE_RUN_RECORD_H

#include "place.h"

/* The layout of the file of --record, of run and of follow. */
#define SSACTUATE_RECORD_SCHEMA 1

/* Measures the actual frequency while a command runs, and writes the record of the run. */
struct ssactuate_record {
    struct {
        int cycles, clock; /* descriptors of counters; -1: not available */
    } counters;
    bool is_sampled; /* the counters do not work, but the machine reports a frequency */
    double sum;      /* sum of the samples, in Hz */
    size_t samples;
    const struct ssactuate_machine *machine;
    ss_time begin;
};

/* Starts measuring the process `command`, which has not executed the command yet. */
SS_NONNULL()
void ssactuate_record_open(
    struct ssactuate_record *record, const struct ssactuate_machine *machine, pid_t command);

/* Samples the frequency if that is needed. */
SS_NONNULL() void ssactuate_record_sample(struct ssactuate_record *record);

/* A file that limits the command, when it was set. */
struct ssactuate_limit {
    char *path, *asked, *got; /* owned */
};

struct ssactuate_limits {
    struct ssactuate_limit *items; /* owned */
    size_t count, room;
    bool is_incomplete; /* memory was short for an item */
};

/* Reads the limits of the command's control group, after they were set. */
SS_NONNULL()
void ssactuate_limits_read(struct ssactuate_limits *limits, const struct ssactuate_place *place,
    const struct ssactuate_plan *plan);

SS_NONNULL() void ssactuate_limits_free(struct ssactuate_limits *limits);

struct ssactuate_result {
    const char *const *words;
    char *const *command;
    const struct ssactuate_plan *plan;
    const struct ssactuate_journal *journal; /* NULL: no file was set */
    const struct limit_group *group;         /* NULL if absent */
    const struct ssactuate_limits *limits;
    bool masked;
    const char *urls; /* URLs of instances, separated by blanks; NULL if absent */
    int status;
};

/* Writes the record, whole or not at all; "-" is standard output. */
SS_MUST_USE SS_NONNULL() int ssactuate_record_write(const struct ssactuate_record *record,
    const char *path, const struct ssactuate_result *result, struct ss_error *error);

/* Writes the array "knobs": the words, without the password of a URL. */
SS_NONNULL()
void ssactuate_record_write_knobs(struct ss_json *json, const char *const *words);

SS_NONNULL() void ssactuate_record_close(struct ssactuate_record *record);

#endif
