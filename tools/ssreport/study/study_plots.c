/* SPDX-License-Identifier: Apache-2.0 */
#include "study_plots.h"

#include <math.h>

#include "frame.h"
#include "gnuplot.h"

/*
 * Writes lines of value, mean, low and high. Without an interval, both bounds equal the mean.
 * Returns the number of lines.
 */
static size_t write_series(
    FILE *script, const struct ssreport_study_points *points, size_t series) {
    size_t count = 0;
    fprintf(script, "$s%zu << END\n", series);
    for (size_t i = 0; i < points->count; i++) {
        const struct ssreport_study_point *point = &points->items[i];
        const struct ssreport_mean *mean = &point->throughput;
        if (point->series != series || !isfinite(point->at) || mean->count == 0)
            continue;
        bool sure = isfinite(mean->low) && isfinite(mean->high);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", point->at, mean->mean,
            sure ? mean->low : mean->mean, sure ? mean->high : mean->mean);
        count++;
    }
    fputs("END\n", script);
    return count;
}

/* Writes the points that contain invalid runs, which get rings. Returns false without any. */
static bool write_invalid(FILE *script, const struct ssreport_study_points *points) {
    size_t count = 0;
    fputs("$invalid << END\n", script);
    for (size_t i = 0; i < points->count; i++) {
        const struct ssreport_study_point *point = &points->items[i];
        bool is_invalid = false;
        for (size_t j = 0; j < point->rounds; j++)
            is_invalid |= ssreport_run_is_invalid(point->runs[j]);
        if (is_invalid && isfinite(point->at) && point->throughput.count > 0)
            count += fprintf(script, "%.9g %.9g\n", point->at, point->throughput.mean) > 0;
    }
    fputs("END\n", script);
    return count > 0;
}

static const struct ssreport_study_point *first_of(
    const struct ssreport_study_points *points, size_t series) {
    size_t i = 0;
    while (points->items[i].series != series)
        i++;
    return &points->items[i];
}

static void plot_series(
    FILE *script, const struct ssreport_report *report, const struct ssreport_study_point *point) {
    char name[200];
    ssreport_study_series(name, report, point);
    fprintf(script, "$s%zu using 1:2:3:4 with yerrorlines pt %d ps 0.7 lw 1.3 lc rgb \"%s\" title ",
        point->series, plot_series_mark(point->series), plot_series_color(point->series));
    plot_quote(script, *name ? name : "all runs", 40);
    fputs(", ", script);
}

void ssreport_study_plot(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_study_points *points) {
    const struct ssreport_differences *differences = &report->differences;
    FILE *script = ssreport_page_script(page);
    size_t count = 0;
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis(script, 'x', differences->names[differences->axis], PLOT_FROM_ZERO);
    plot_axis(script, 'y', "throughput, /s", PLOT_FROM_ZERO);
    fputs("set key maxcols 3\n", script);
    for (size_t series = 0; series < points->series; series++)
        count += write_series(script, points, series);
    bool has_invalid = write_invalid(script, points);
    fputs("plot ", script);
    if (has_invalid)
        fputs("$invalid using 1:2 with " PLOT_RINGS " title \"with invalid runs\", ", script);
    for (size_t series = 0; series < points->series; series++)
        plot_series(script, report, first_of(points, series));
    fputs("NaN notitle\n", script);
    ssreport_page_figure(page, script, count > 0, "Throughput; bars are confidence intervals");
}
