/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LEVELS_H
#define SSREPORT_LEVELS_H

/* Compares levels of knobs. */

#include "report.h"

/*
 * Returns the name of the only actuator that differs between two levels, or that only one of them
 * has; NULL if none or several do. One instance is the default. `workers`, a setting of the
 * service, counts too, so that levels that also differ in it are not compared.
 */
SS_NONNULL()
const char *ssreport_levels_knob(
    const struct ssreport_responses *one, const struct ssreport_responses *other);

/*
 * Returns whether two levels differ in exactly one knob, in balance or in cap; true if a level has
 * no knobs.
 */
SS_NONNULL()
bool ssreport_levels_are_one_step(
    const struct ssreport_responses *one, const struct ssreport_responses *other);

/* Larger than any amount. Finite, so that unlimited levels can be ordered, too. */
#define SSREPORT_UNLIMITED 1e15

/*
 * Returns how much a level gives of an actuator, so that levels can be ordered: a frequency in Hz
 * (unlimited for max, 0 for min), a number of instances or CPUs, a percentage, 1 if not pinned and
 * 0 if pinned; unlimited if the level does not limit it. NaN if unknown.
 */
SS_NONNULL() double ssreport_levels_amount(const struct ssreport_responses *of, const char *knob);

/* Returns the number of CPUs of a level such as "pin=first:8,each"; NaN if it has none. */
SS_NONNULL() double ssreport_levels_pinned(const struct ssreport_responses *of);

#endif
