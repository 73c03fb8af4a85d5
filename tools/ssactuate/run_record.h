/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_RUN_RECORD_H
#define SSACTUATE_RUN_RECORD_H

#include "base/json.h"
#include "session.h"

/* Version of the layout of the --record file, of `run` and `follow`. */
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

/* Samples the frequency, unless counters measure it. */
SS_NONNULL() void ssactuate_record_sample(struct ssactuate_record *record);

/*
 * Writes the record of a run whose control group still exists, whole or not at all, to the file of
 * --record; "-" is standard output.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_record_write(const struct ssactuate_record *record,
    const struct ssactuate_session *session, struct ss_error *error);

/* Writes the array "knobs": the words, without the password of a URL. */
SS_NONNULL() void ssactuate_record_write_knobs(struct ss_json *json, const char *const *words);

SS_NONNULL() void ssactuate_record_close(struct ssactuate_record *record);

#endif
