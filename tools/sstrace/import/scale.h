/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SCALE_H
#define SSTRACE_SCALE_H

/* Converts the numbers of a column to loads. */

#include <showstopper/contract.h>

#include "fields.h"
#include "samples.h"

struct sstrace_scale {
    double full;  /* the number at full load: 100, 1, or 100 times the CPUs */
    bool is_idle; /* the number is idle time */
    bool comma;   /* numbers may have a decimal comma */
    bool proven;  /* an earlier number showed that commas are decimal points */
};

/* Sets the scale from the options; `unit` is the default. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_scale_set(struct sstrace_scale *scale,
    const struct sstrace_import_options *options, enum sstrace_unit unit, struct ss_error *error);

/* Rounding and clocks that disagree may raise idle time above 100 %, by less than this. */
#define SSTRACE_ROUNDING_PERCENT 1.0

/* Returns the load of a CPU that was idle for `idle` percent; up to 100 + `rounding` means 0. */
double sstrace_scale_from_idle(double idle, double rounding);

/*
 * Converts a field to a load; a percent sign counts as a unit. `number` receives the value of the
 * field. A comma that may separate thousands, as in 1,000, is refused unless an earlier number
 * showed that commas are decimal points.
 */
SS_NONNULL()
int sstrace_scale_load(struct sstrace_scale *scale, struct text_input *input,
    const struct text_field *field, double *number, double *load);

#endif
