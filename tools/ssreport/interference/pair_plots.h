/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_PLOTS_H
#define SSREPORT_PAIR_PLOTS_H

/* Pictures of pairs, as scripts for gnuplot. */

#include "pairs.h"

/*
 * Draws the throughput of both sides against the load of the background, for every placement and
 * round. If there are no points, writes nothing and returns false.
 */
bool ssreport_plot_sides(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/*
 * Draws the combined throughput of both sides, absolute and relative to per-chip; if the programs
 * differ, the weighted speedup: over time if the background goes through several steps, otherwise
 * against its load. If it is unknown, writes nothing and returns false.
 */
bool ssreport_plot_whole_system(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/* Draws the same per watt-hour. */
bool ssreport_plot_energy(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/*
 * Draws the load of the background, the throughput of the foreground and, if known, the power over
 * time, with each placement of the pair in one round.
 */
bool ssreport_plot_placements(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/*
 * Draws a small plot for each foreground and background of an environment: the throughput of one
 * side, whose programs are in rows. Rows, columns and axes are the same for all environments of the
 * set, except emulated ones. Returns the width of the picture in its own units; 0 without points.
 */
unsigned ssreport_plot_matrix(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, bool of_background);

#endif
