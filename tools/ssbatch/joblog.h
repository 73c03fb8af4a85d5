/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_JOBLOG_H
#define SSBATCH_JOBLOG_H

#include "carry_run.h"

/* A table of attempts with the columns of GNU parallel's --joblog. */
struct ssbatch_joblog {
    FILE *file; /* NULL: --joblog was not given */
    size_t rows;
};

/* Fails if the file cannot be opened for appending; creates nothing. `path` may be NULL. */
SS_MUST_USE int ssbatch_joblog_check(const char *path, struct ss_error *error);

/* Opens the file for appending, with a heading if it is empty. `path` may be NULL. */
SS_MUST_USE SS_NONNULL(1) int ssbatch_joblog_open(
    struct ssbatch_joblog *log, const char *path, struct ss_error *error);

SS_MUST_USE SS_NONNULL(1, 2, 3, 4) int ssbatch_joblog_add(struct ssbatch_joblog *log,
    const struct ssbatch_study *study, const struct ssbatch_run *run,
    const struct ssbatch_attempt *attempt, struct ss_error *error);

SS_NONNULL() void ssbatch_joblog_close(struct ssbatch_joblog *log);

#endif
