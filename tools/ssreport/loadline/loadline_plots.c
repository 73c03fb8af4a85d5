/* SPDX-License-Identifier: Apache-2.0 */
#include "loadline_plots.h"

#include <math.h>

#include "frame.h"
#include "gnuplot.h"

/* Distance between points of the band, as a load. */
#define BAND_STEP 0.01

static void write_band(FILE *script, const struct ssreport_load_series *series, double confidence) {
    const struct loadline *line = &series->line;
    double highest = line->levels[line->count - 1].load;
    fputs("$band << END\n", script);
    for (double load = line->levels[0].load; load < highest + BAND_STEP; load += BAND_STEP) {
        double at = fmin(load, highest);
        struct ssreport_band band = loadline_throughput(line, at, confidence);
        fprintf(script, "%.6g %.6g %.6g %.6g\n", 100 * at, band.y, band.low, band.high);
    }
    fputs("END\n", script);
}

/*
 * Writes load, throughput and watts of the visits, in a block for each way, and again in $invalid
 * if their record is invalid. Returns whether any is.
 */
static bool write_visits(FILE *script, const struct ssreport_load_series *series) {
    bool has_invalid = false;
    for (size_t i = 0; i < series->count; i++) {
        const struct loadline_visit *visit = &series->visits[i].visit;
        if (!series->visits[i].is_invalid || series->visits[i].is_burst)
            continue;
        fprintf(script, "%s%.6g %.6g\n", has_invalid ? "" : "$invalid << END\n", 100 * visit->load,
            visit->throughput);
        has_invalid = true;
    }
    fputs(has_invalid ? "END\n" : "", script);
    for (int way = 0; way < LOADLINE_WAYS; way++) {
        fprintf(script, "$%s << END\n", way == LOADLINE_UP ? "up" : "down");
        for (size_t i = 0; i < series->count; i++) {
            const struct loadline_visit *visit = &series->visits[i].visit;
            if (!series->visits[i].is_burst && (int)visit->way == way)
                fprintf(
                    script, "%.6g %.6g %.6g\n", 100 * visit->load, visit->throughput, visit->watts);
        }
        fputs("END\n", script);
    }
    return has_invalid;
}

static void plot_throughput(
    struct ssreport_page *page, const struct ssreport_load_series *series, double confidence) {
    FILE *script = ssreport_page_script(page);
    const struct loadline_level *full = &series->line.levels[series->line.full];
    const struct loadline_prediction *prediction = &series->prediction;
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis_between(script, 'x', "load, %", 0, 100);
    plot_axis(script, 'y', series->is_service ? "requests/s" : "iterations/s", PLOT_FROM_ZERO);
    write_band(script, series, confidence);
    bool has_invalid = write_visits(script, series);
    fprintf(
        script, "$straight << END\n0 0\n%.6g %.6g\nEND\n", 100 * full->load, exp(full->log_mean));
    fprintf(script,
        "plot %s$band using 1:3:4 with filledcurves " PLOT_SHADED " fc rgb \"%s\" notitle, "
        "$straight with lines lw 1 dt 3 lc rgb \"%s\" title \"in proportion to load\", "
        "$band using 1:2 with lines lw 1.6 lc rgb \"%s\" title \"mean\", "
        "$up using 1:2 with points pt 9 ps 0.7 lc rgb \"%s\" title \"going up\", "
        "$down using 1:2 with points pt 11 ps 0.7 lc rgb \"%s\" title \"going down\"",
        has_invalid ? "$invalid using 1:2 with " PLOT_RINGS " title \"invalid runs\", " : "",
        PLOT_BLUE, PLOT_AXIS, PLOT_BLUE, PLOT_GREEN, PLOT_ORANGE);
    if (prediction->fit_count > 0 && !series->unpredicted)
        fprintf(script,
            ", '-' using 1:2:3:4 with yerrorbars pt 5 ps 1 lw 1.6 lc rgb \"%s\" title "
            "\"predicted\"\n%.6g %.6g %.6g %.6g\ne",
            PLOT_PURPLE, 100 * series->predict, prediction->range.y, prediction->range.low,
            isfinite(prediction->range.high) ? prediction->range.high : prediction->range.y);
    fputc('\n', script);
    ssreport_page_figure(page, script, true, "Throughput against load, with its interval");
}

static void plot_responses(struct ssreport_page *page, const struct ssreport_load_series *series) {
    FILE *script = ssreport_page_script(page);
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis_between(script, 'x', "load, %", 0, 100);
    plot_axis(script, 'y', "response time, s", PLOT_LOGARITHMIC);
    fputs("$responses << END\n", script);
    for (size_t i = 0; i < series->line.count; i++)
        fprintf(script, "%.6g %.6g %.6g %.6g %.6g %.6g\n", 100 * series->line.levels[i].load,
            series->responses[i].p50, series->responses[i].p95, series->responses[i].mean,
            series->responses[i].p95_range.least, series->responses[i].p95_range.most);
    fprintf(script,
        "END\n"
        "plot $responses using 1:5:6 with filledcurves " PLOT_SHADED " fc rgb \"%s\" notitle, "
        "$responses using 1:3 with linespoints pt 7 ps 0.7 lw 1.6 lc rgb \"%s\" title \"95 %%\", "
        "$responses using 1:4 with linespoints pt 5 ps 0.7 lw 1.3 lc rgb \"%s\" title \"mean\", "
        "$responses using 1:2 with linespoints pt 9 ps 0.7 lw 1.3 lc rgb \"%s\" title \"median\"\n",
        PLOT_ORANGE, PLOT_ORANGE, PLOT_BLUE, PLOT_GREEN);
    ssreport_page_figure(page, script, true,
        "Response times against load, from when each request was due; the band contains the "
        "95th percentile of each visit");
}

static void plot_power(struct ssreport_page *page, const struct ssreport_load_series *series) {
    FILE *script = ssreport_page_script(page);
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis_between(script, 'x', "load, %", 0, 100);
    plot_axis(script, 'y', "power, W", PLOT_FROM_ZERO);
    write_visits(script, series);
    fputs("$watts << END\n", script);
    fprintf(script, "0 %.6g NaN NaN\n", series->line.idle_watts);
    for (size_t i = 0; i < series->line.count; i++)
        fprintf(script, "%.6g %.6g %.6g %.6g\n", 100 * series->line.levels[i].load,
            series->line.levels[i].watts, series->responses[i].watts_range.least,
            series->responses[i].watts_range.most);
    fprintf(script,
        "END\n"
        "plot $watts using 1:3:4 with filledcurves " PLOT_SHADED " fc rgb \"%s\" notitle, "
        "$watts using 1:2 with lines lw 1.6 lc rgb \"%s\" title \"mean\", "
        "$up using 1:3 with points pt 9 ps 0.7 lc rgb \"%s\" title \"going up\", "
        "$down using 1:3 with points pt 11 ps 0.7 lc rgb \"%s\" title \"going down\"\n",
        PLOT_BLUE, PLOT_BLUE, PLOT_GREEN, PLOT_ORANGE);
    ssreport_page_figure(page, script, true, "Power against load; the band contains each visit");
}

void ssreport_loadline_plot(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_load_series *series) {
    if (series->failure)
        return;
    fputs("<div class=\"plots\">\n", page->stream);
    plot_throughput(page, series, report->settings.confidence);
    if (series->is_service)
        plot_responses(page, series);
    if (series->has_power)
        plot_power(page, series);
    fputs("</div>\n", page->stream);
}
