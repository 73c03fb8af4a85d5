/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_VALUES_H
#define SSBATCH_VALUES_H

#include "stage.h"
#include "study_folder.h"

/* The values of `once` lines in the folder of a study, as lines NAME VALUE. */

/* Adds the values that the study keeps. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_values_read(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error);

/*
 * Keeps all values. If another call has found values meanwhile, they replace the ones of this call.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_values_keep(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error);

#endif
