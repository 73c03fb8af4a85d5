/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OVERLAY_H
#define SSREPORT_OVERLAY_H

/* Draws runs over the same time: load and target, throughput, and power. */

#include "report.h"

/* Maximum number of lines: more could not be distinguished by color. */
#define SSREPORT_OVERLAY_MAX 8

enum ssreport_panel { SSREPORT_LOAD_PANEL, SSREPORT_THROUGHPUT_PANEL, SSREPORT_POWER_PANEL };

struct ssreport_overlay {
    const char *time; /* label of the time axis, without its unit */
    struct {
        const struct ssreport_run *run;     /* its load, target and power are drawn */
        const struct ssreport_run *counted; /* its throughput is drawn: of a background, that of the
                                               foreground; otherwise the same run's */
        const char *color;
        char name[64];
    } lines[SSREPORT_OVERLAY_MAX];
    size_t count, omitted; /* number of lines, and of runs without one */
    unsigned only;         /* draw only the panel whose bit is set, of one run; 0: all panels */
};

/*
 * Adds a line, or counts it if there is no room. With a NULL color, each line has another one.
 * Returns its name, to be filled in, or NULL.
 */
SS_NONNULL(1, 2, 3)
char *ssreport_overlay_add(struct ssreport_overlay *overlay, const struct ssreport_run *run,
    const struct ssreport_run *counted, const char *color);

/*
 * Writes the script. Panels of throughput and power of pairs include the means of the steps.
 * Returns false, without writing anything, unless there are two lines or a pair.
 */
SS_NONNULL(1, 2)
bool ssreport_overlay_write(FILE *script, const struct ssreport_overlay *overlay);

/* Writes the script for a panel of one run; power and throughput include the means of its steps. */
SS_NONNULL()
void ssreport_overlay_run(
    FILE *script, const struct ssreport_run *run, enum ssreport_panel panel, const char *name);

#endif
