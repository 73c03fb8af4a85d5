/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_RUN_RECORD_H
#define SSACTUATE_RUN_RECORD_H

#include "actuator.h"

/* Measures the actual frequency while a command runs, and writes the record of the run. */
struct ssactuate_record {
    struct {
        int cycles, clock; /* descriptors of counters; -1: not available */
    } counters;
    size_t samples_files; /* number of files scaling_cur_freq; 0 if the counters work */
    char (*files)[SSACTUATE_PATH];
    double sum; /* of samples, in Hz */
    size_t samples;
    const struct ssactuate_machine *machine;
    ss_time begin;
};

/* Begins to measure. The command, which is not executed yet, is in this process. */
SS_NONNULL()
void ssactuate_record_open(
    struct ssactuate_record *record, const struct ssactuate_machine *machine, pid_t command);

/* Takes a sample if counters are not available. */
SS_NONNULL() void ssactuate_record_sample(struct ssactuate_record *record);

struct ssactuate_result {
    const char *const *words;
    char *const *command;
    const struct ssactuate_plan *plan;
    const struct ssactuate_journal *journal; /* NULL: no file was set */
    const struct ss_limit_group *group;      /* NULL: none */
    bool masked;
    const char *urls; /* of instances, separated by blanks; NULL: none */
    int status;
};

/* Writes the record, whole or not at all; "-" is standard output. */
SS_MUST_USE SS_NONNULL() int ssactuate_record_write(const struct ssactuate_record *record,
    const char *path, const struct ssactuate_result *result, struct ss_error *error);

SS_NONNULL() void ssactuate_record_close(struct ssactuate_record *record);

#endif
