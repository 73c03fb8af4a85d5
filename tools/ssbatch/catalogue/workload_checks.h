/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_WORKLOAD_CHECKS_H
#define SSBATCH_WORKLOAD_CHECKS_H

/* Checks of the workloads of a study, before it is planned. */

#include <stdbool.h>
#include <stdio.h>

#include "catalogue.h"

struct ssbatch_workload_checks {
    const struct ssbatch_catalogue *catalogue;
    const char *option;   /* the option that names the workloads, for messages */
    const char *warmup;   /* seconds; warns of workloads that need more; NULL: does not */
    bool even_if_missing; /* only warns of a workload that cannot run here */
    bool warn_uncounted;  /* warns of workloads whose iterations are not counted */
};

/*
 * Fails unless all workloads are known and can run here. Warns on standard error. Writes the names
 * of those whose iterations are counted, one a line.
 */
SS_NONNULL(1, 2, 3)
int ssbatch_workloads_check(FILE *stream, const struct ssbatch_workload_checks *checks,
    char *const *names, struct ss_error *error);

/*
 * Writes the published workloads that can run here, and for another one the stand-in that the
 * catalogue says to represent it, one a line. Says on standard error which ones are represented or
 * left out.
 */
SS_NONNULL(1, 2, 3, 4)
int ssbatch_workloads_represent(FILE *stream, const struct ssbatch_catalogue *catalogue,
    char *const *names, char *const *stand_ins, struct ss_error *error);

#endif
