/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PLACEMENT_POLICY_H
#define SSREPORT_PLACEMENT_POLICY_H

#include <stdio.h>

#include <showstopper/error.h>

#include "report.h"

/*
 * Writes a policy for `ssactuate follow`: the best placement of a pair, for both sides together, at
 * each load of the background. Only certain changes become rules; at loads within the interval of a
 * change, the present placement stays. `pair` selects one of several pairs: "FOREGROUND,BACKGROUND"
 * or "FOREGROUND,BACKGROUND,ENVIRONMENT"; NULL if the report has only one.
 */
SS_MUST_USE SS_NONNULL(1, 2, 5) int ssreport_policy_write(FILE *stream,
    const struct ssreport_report *report, const char *pair, bool by_energy, struct ss_error *error);

#endif
