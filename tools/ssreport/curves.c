/* SPDX-License-Identifier: Apache-2.0 */

/* The local curve of every run of steps, and of runs that form a curve together, beside its line.
 */

#include "report.h"

/* The curve is told at so many loads, in equal distances. */
#define LOADS 41

// clang-format off
static const struct ssreport_column curve_columns[] = {
    {"record", "record"}, {"points", NULL}, {"bandwidth", NULL}, {"load", "load, %", 2, true},
    {"iterations_per_second", "throughput, /s", 4}, {"low", "its confidence, from", 4},
    {"high", "to", 4}, {"line", "straight line", 4}, {"line_low", NULL}, {"line_high", NULL},
};
// clang-format on

static void add_curve(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_curve *curve = &run->curve;
    for (int i = 0; i < LOADS && curve->count > 0; i++) {
        /* Rounding must not lead beyond its end. */
        double load = i + 1 < LOADS ? curve->least + (curve->most - curve->least) * i / (LOADS - 1)
                                    : curve->most;
        struct ssreport_band local = ssreport_curve_at(curve, load, run->confidence);
        struct ssreport_band line = ssreport_fit_at(&run->fit, load, run->confidence);
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(sheet, (double)curve->count, curve->bandwidth, load, local.y, local.low,
            local.high, line.y, line.low, line.high);
    }
}

void ssreport_report_curves(struct ssreport_report *report) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_CURVE];
    *sheet = SSREPORT_SHEET("curve", "Throughput against load: local curve", curve_columns);
    for (size_t i = 0; i < report->run_count; i++)
        add_curve(sheet, &report->runs[i]);
    for (size_t i = 0; i < report->together_count; i++)
        add_curve(sheet, &report->together[i]);
}
