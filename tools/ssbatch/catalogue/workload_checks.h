/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_WORKLOAD_CHECKS_H
#define SSBATCH_WORKLOAD_CHECKS_H

/* Checks the workloads of a study before the plan is printed. */

#include <stdbool.h>
#include <stdio.h>

#include "catalogue.h"

struct ssbatch_workload_checks {
    const struct ssbatch_catalogue *catalogue;
    const char *option;   /* the option that names the workloads, for messages */
    const char *warmup;   /* seconds; warns of workloads that need a longer one; NULL: no warning */
    bool even_if_missing; /* only warn of a workload that cannot run here */
    bool warn_uncounted;  /* warn of workloads whose iterations are not counted */
};

/*
 * Fails unless all workloads are known and can run here. Prints warnings to standard error. Writes
 * the names of workloads with counted iterations, one per line.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_workloads_check(FILE *stream,
    const struct ssbatch_workload_checks *checks, char *const *names, struct ss_error *error);

/*
 * Writes the published workloads that can run here, one per line. A workload that cannot run is
 * replaced by the stand-in that the catalogue names, if any. Reports replaced and missing workloads
 * on standard error.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4) int ssbatch_workloads_represent(FILE *stream,
    const struct ssbatch_catalogue *catalogue, char *const *names, char *const *stand_ins,
    struct ss_error *error);

#endif
