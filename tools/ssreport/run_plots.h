/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PLOTS_H
#define SSREPORT_PLOTS_H

/* What is drawn of a run, as scripts for gnuplot. */

#include "run.h"

struct ssreport_plot {
    const char *caption;
    bool (*is_there)(const struct ssreport_run *run);
    void (*write)(FILE *script, const struct ssreport_run *run);
};

/* In the order in which they are shown; the last one has no caption. */
extern const struct ssreport_plot ssreport_plots[];

/* How any picture looks, and the names of its axes. */
void ssreport_plots_frame(FILE *script, const char *x, const char *y);

/* The axis of a load or duty in percent, from and to a multiple of 5 around these parts of 1. */
void ssreport_plots_percent_axis(FILE *script, double least, double most);

/* The color of a placement, as "#0072b2"; NULL: it is none of tools/experiments. */
const char *ssreport_plots_color(const char *placement);

#endif
