/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_PLOTS_H
#define SSREPORT_PAIR_PLOTS_H

/* Pictures of pairs, as scripts for gnuplot. */

#include "pairs.h"

/*
 * Throughput of both sides against the load of the background, with every placement and round.
 * False: there is nothing to draw, and nothing was written.
 */
bool ssreport_plot_sides(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/* The same of both together, absolute and relative to per-chip: for two of the same program. */
bool ssreport_plot_whole_system(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

/*
 * A small plot for each foreground and background of an environment. Rows, columns and axes are the
 * same for all environments of the set, apart from those that are emulated. Returns the width of
 * the picture, in its own units.
 */
unsigned ssreport_plot_matrix(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair);

#endif
