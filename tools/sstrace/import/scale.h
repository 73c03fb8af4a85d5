/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SCALE_H
#define SSTRACE_SCALE_H

/* Loads from the numbers of a field. */

#include <showstopper/contract.h>

#include "fields.h"
#include "samples.h"

/* The scale of a number. */
struct sstrace_scale {
    double full; /* the number at full load: 100, 1, 100 times CPUs */
    bool idle;   /* the load is what the number leaves */
    bool comma;  /* may be a decimal point */
    bool proven; /* it was one in a number that has no other reading */
};

/* By the options; without a unit there it is `unit`. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_scale_set(struct sstrace_scale *scale,
    const struct sstrace_import_options *options, enum sstrace_unit unit, struct ss_error *error);

/*
 * Loads from numbers; a percent sign after one counts as a unit. `number` is the value of the
 * field. A comma that may as well separate thousands, as in 1,000, is refused unless an earlier
 * number has proven that it is a decimal point.
 */
SS_NONNULL()
int sstrace_scale_load(struct sstrace_scale *scale, struct sstrace_input *input,
    const struct sstrace_field *field, double *number, double *load);

#endif
