/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_PLOT_H
#define SHOWSTOPPER_TESTS_REPORT_PLOT_H

/* Finds the pictures of a run and writes their gnuplot scripts to memory. */

#include "report_make.h"
#include "run_plots.h"

static inline const struct ssreport_plot *find_plot(const char *caption) {
    const struct ssreport_plot *plot = ssreport_plots;
    while (plot->caption && strcmp(plot->caption, caption) != 0)
        plot++;
    if (!plot->caption)
        fail_msg("no picture '%s'", caption);
    return plot;
}

/* Returns the script of the picture with this caption. */
static inline struct text write_plot(const struct ssreport_run *run, const char *caption) {
    const struct ssreport_plot *plot = find_plot(caption);
    struct text text;
    assert_true(plot->applies(run));
    begin(&text);
    plot->write(text.stream, run);
    end(&text);
    return text;
}

#endif
