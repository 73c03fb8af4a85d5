/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RATIO_FINDINGS_H
#define SSPROFILE_RATIO_FINDINGS_H

/* Findings: sentences that say what the figures mean. */

#include <stddef.h>

#include <showstopper/contract.h>

#include "ratios.h"
#include "sheet.h"

/* Findings are a sheet with one column, which has the sentences. */
extern const struct table_column ssprofile_finding_columns[1];

#define SSPROFILE_FINDINGS() TABLE_SHEET("findings", "Findings", ssprofile_finding_columns)

SS_FORMAT(2, 3) void ssprofile_say(struct table_sheet *findings, const char *format, ...);

/* Sets `text` to "[1.65, 7.10]", with more digits if both numbers are nearly equal. */
SS_NONNULL() void ssprofile_show_range(char text[64], double least, double most);

/* States the range of the ratios and its coverage. `base` is the name of the base. */
SS_NONNULL()
void ssprofile_say_range(
    struct table_sheet *findings, const struct ssprofile_series *target, const char *base);

/* States the range and its coverage if base and target are halves of the profile `whole`. */
SS_NONNULL()
void ssprofile_say_chance(
    struct table_sheet *findings, const struct ssprofile_series *target, const char *whole);

/*
 * States how much shorter the range under a throttle is, and why. Both series have the same
 * benchmarks.
 */
SS_NONNULL()
void ssprofile_say_reduction(struct table_sheet *findings, const struct ssprofile_series *plain,
    const struct ssprofile_series *throttled);

/*
 * Returns "narrows", "widens" or "stays the same"; `scatter` is the scatter of repeated runs, 0 to
 * 1.
 */
const char *ssprofile_spread_change(double before, double after, double scatter);

/* Explains why a frequency, unlike other throttles, may change the relative spread. */
#define SSPROFILE_WHY_FREQUENCY                                                                    \
    "A lower frequency slows benchmarks that wait for memory less than those that compute."

/* States what a throttle cannot do, for a target that has no throttled profile. */
SS_NONNULL()
void ssprofile_say_limit(struct table_sheet *findings, const struct ssprofile_series *target);

/*
 * States how many ratios differ from 1 by at most `part`, and names the others, as far as they fit.
 */
SS_NONNULL()
void ssprofile_say_within(
    struct table_sheet *findings, const struct ssprofile_series *target, double part);

/* States how many benchmarks were left out, and why. */
SS_NONNULL()
void ssprofile_say_left_out(struct table_sheet *findings, const struct ssprofile_series *target);

#endif
