/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WHOLE_SYSTEM_H
#define SSREPORT_WHOLE_SYSTEM_H

#include "report.h"

/*
 * What both sides do in a step, over what they do in the same step of the same round with the
 * placement per-chip in the same environment. NaN: there is no such step.
 */
double ssreport_whole_system_relative(const struct ssreport_report *report,
    const struct ssreport_pair *pair, const struct ssreport_pair_step *step);

#endif
