/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WHOLE_SYSTEM_H
#define SSREPORT_WHOLE_SYSTEM_H

#include "pairs.h"

/*
 * Returns the throughput of both sides in a step, relative to the same step and round with the
 * placement per-chip in the same environment; NaN if there is no such step.
 */
double ssreport_whole_system_relative(const struct ssreport_report *report,
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step);

#endif
