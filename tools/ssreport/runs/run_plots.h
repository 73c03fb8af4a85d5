/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUN_PLOTS_H
#define SSREPORT_RUN_PLOTS_H

/* Pictures of a run, as scripts for gnuplot. */

#include "run.h"

struct ssreport_plot {
    const char *caption;
    bool (*applies)(const struct ssreport_run *run);
    void (*write)(FILE *script, const struct ssreport_run *run);
};

/* All pictures, in order, ended by one without a caption. */
extern const struct ssreport_plot ssreport_plots[];

#endif
