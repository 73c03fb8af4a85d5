/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LEVELS_H
#define SSREPORT_LEVELS_H

/* Levels of knobs: what differs between two of them. */

#include "report.h"

/*
 * Returns the name of the only actuator that differs between two levels, or that is at one of them
 * only; NULL if several do. One instance is the default. `workers` is of the service, so levels in
 * which they differ are not compared.
 */
SS_NONNULL()
const char *ssreport_levels_knob(
    const struct ssreport_responses *one, const struct ssreport_responses *other);

/*
 * Returns whether two levels have no knobs, or differ in only one of them, in balance or in cap.
 */
SS_NONNULL()
bool ssreport_levels_are_one_step(
    const struct ssreport_responses *one, const struct ssreport_responses *other);

/* More than any amount; finite, so that the levels next to an unlimited one have an order. */
#define SSREPORT_UNLIMITED 1e15

/*
 * Returns how much a level gives of an actuator, so that levels can be ordered: a frequency in Hz
 * (unlimited for max, 0 for min), a number of instances or CPUs, a percentage, 1 if not pinned and
 * 0 if pinned; unlimited if the level does not limit it. NaN if unknown.
 */
SS_NONNULL() double ssreport_levels_amount(const struct ssreport_responses *of, const char *knob);

#endif
