/* SPDX-License-Identifier: Apache-2.0 */
#include "loadline_topic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "gnuplot.h"
#include "html_page.h"
#include "load_series.h"
#include "worth.h"

// clang-format off
static const struct table_column level_columns[] = {
    {"set", NULL}, {"environment", NULL}, {"workload", "workload", .text = {"workload", 10}}, {"method", "method", .text = {"method", 12}},
    {"target", "target, %", 1, true}, {"load", "load, %", 2, true, .text = {"load, %", 8}}, {"visits", "visits"},
    {"throughput", "throughput, /s", 4, .text = {"/s", 11}}, {"throughput_low", "from", 4}, {"throughput_high", "to", 4},
    {"done", "done, %", 2, true, .text = {"done, %", 8}}, {"done_low", "from", 2, true, .text = {"from", 7}},
    {"done_high", "to", 2, true, .text = {"to", 7}}, {"up_to_down", "up above down, %", 2, true},
    {"response_mean_seconds", "mean response, s", 4, .if_known = true},
    {"response_p50_seconds", "median", 4, .if_known = true}, {"response_p95_seconds", "95 %", 4, .if_known = true}, {"response_p95_least_seconds", NULL}, {"response_p95_most_seconds", NULL},
    {"watts", "W", 2, .if_known = true}, {"watts_least", NULL}, {"watts_most", NULL},
};
static const struct table_column answer_columns[] = {
    {"set", NULL}, {"environment", NULL}, {"workload", "workload"}, {"method", "method"},
    {"at", "load, %", 1, true}, {"done", "done, %", 2, true}, {"done_low", "from", 2, true},
    {"done_high", "to", 2, true}, {"left", "more is left, %", 2, true}, {"rounds", "rounds"}, {"left_out", "levels left out"},
    {"error", "error, %", 3, true}, {"freedom", NULL},
    {"hysteresis", "up above down, %", 2, true}, {"hysteresis_low", NULL}, {"hysteresis_high", NULL},
    {"full_load", "maximum at, %", 1, true}, {"full_throughput", "maximum, /s", 4},
    {"per_joule", "operations per joule", 4, .if_known = true}, {"answer", NULL},
};
static const struct table_column prediction_columns[] = {
    {"workload", "workload"}, {"method", "method"}, {"load", "load, %", 1, true},
    {"throughput", "throughput, /s", 4}, {"low", "from", 4}, {"high", "to", 4},
    {"unlimited_low", "without a bend above, from", 4}, {"unlimited_high", "to", 4},
    {"missed", "highest level missed by, %", 2, true, true}, {"knee_above", "known knee above the levels, %", 1, true, true},
};
static const struct table_column fit_columns[] = {
    {"workload", "workload"}, {"method", "method"}, {"shape", "shape"}, {"knee_low", "bent at, %, from", 1, true, true},
    {"knee_high", "to", 1, true, true},
    {"fits", "fits"}, {"predicted", "predicted, /s", 4}, {"low", "from", 4}, {"high", "to", 4},
};
static const struct table_column power_columns[] = {
    {"workload", "workload"}, {"method", "method"}, {"part", "of the maximum of the levels, %", 0, true},
    {"throughput", "throughput, /s", 4}, {"watts", "W", 2}, {"per_joule", "operations per joule", 4},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("loadline", "Throughput at each load, relative to the maximum", level_columns),
    TABLE_INIT("loadline-answers", "What is left", answer_columns),
    TABLE_INIT("loadline-predictions", "Predicted throughput", prediction_columns),
    TABLE_INIT("loadline-fits", "Shapes of the line, and what each predicts", fit_columns),
    TABLE_INIT("loadline-power", "Power at parts of the maximum throughput of the levels, interpolated", power_columns),
    {.name = NULL},
};
// clang-format on

static void add_levels(
    const struct ssreport_report *report, const struct ssreport_load_series *series) {
    const struct loadline *line = &series->line;
    double confidence = report->settings.confidence;
    for (size_t i = 0; i < line->count; i++) {
        const struct loadline_level *level = &line->levels[i];
        struct loadline_bands bands;
        const struct ssreport_load_responses *responses = &series->responses[i];
        struct ssreport_band done = ssreport_load_series_done_at(series, i, confidence);
        loadline_bands_of_level(line, i, confidence, &bands);
        TABLE_ROW(ssreport_table(report, "loadline"), CELL("set", series->set + 1),
            CELL("environment", series->environment), CELL("workload", (const char *)series->label),
            CELL("method", series->method), CELL("target", level->target),
            CELL("load", level->load), CELL("visits", level->visits),
            CELL("throughput", bands.throughput.y), CELL("throughput_low", bands.throughput.low),
            CELL("throughput_high", bands.throughput.high), CELL("done", done.y),
            CELL("done_low", done.low), CELL("done_high", done.high),
            CELL("up_to_down", expm1(level->log_way[LOADLINE_UP] - level->log_way[LOADLINE_DOWN])),
            CELL("response_mean_seconds", responses->mean),
            CELL("response_p50_seconds", responses->p50),
            CELL("response_p95_seconds", responses->p95),
            CELL("response_p95_least_seconds", responses->p95_range.least),
            CELL("response_p95_most_seconds", responses->p95_range.most),
            CELL("watts", level->watts), CELL("watts_least", responses->watts_range.least),
            CELL("watts_most", responses->watts_range.most));
    }
}

static void add_answer(
    const struct ssreport_report *report, const struct ssreport_load_series *series) {
    struct table_sheet *sheet = ssreport_table(report, "loadline-answers");
    const struct loadline *line = &series->line;
    char answer[1024];
    ssreport_load_series_answer(series, answer, sizeof answer);
    ssreport_qualify(report, answer, sizeof answer);
    TABLE_ROW(sheet, CELL("set", series->set + 1), CELL("environment", series->environment),
        CELL("workload", (const char *)series->label), CELL("method", series->method),
        CELL("at", series->at), CELL("answer", (const char *)answer));
    if (series->failure)
        return;
    struct ssreport_interval hysteresis = ssreport_mean_interval(
        line->hysteresis, line->hysteresis_error, report->settings.confidence);
    TABLE_CELLS(sheet, CELL("done", series->done.y), CELL("done_low", series->done.low),
        CELL("done_high", series->done.high), CELL("left", ssreport_load_series_left(series)),
        CELL("rounds", line->rounds), CELL("left_out", line->left_out),
        CELL("error", line->error.error), CELL("freedom", line->error.freedom),
        CELL("hysteresis", expm1(line->hysteresis)), CELL("hysteresis_low", expm1(hysteresis.low)),
        CELL("hysteresis_high", expm1(hysteresis.high)), CELL("full_load", series->full_load),
        CELL("full_throughput", series->full_throughput),
        CELL("per_joule", series->has_power ? series->power.per_joule : NAN));
}

static void add_prediction(
    const struct ssreport_report *report, const struct ssreport_load_series *series) {
    const struct loadline_prediction *prediction = &series->prediction;
    if (!(series->predict > 0) || series->unpredicted)
        return;
    TABLE_ROW(ssreport_table(report, "loadline-predictions"),
        CELL("workload", (const char *)series->label), CELL("method", series->method),
        CELL("load", series->predict), CELL("throughput", prediction->range.y),
        CELL("low", prediction->range.low), CELL("high", prediction->range.high),
        CELL("unlimited_low", prediction->free.low), CELL("unlimited_high", prediction->free.high),
        CELL("missed", prediction->missed), CELL("knee_above", prediction->unidentified));
}

static void add_fits(
    const struct ssreport_report *report, const struct ssreport_load_series *series) {
    static const char *const names[LOADLINE_SHAPES] = {
        [LOADLINE_STRAIGHT] = "work per load is linear",
        [LOADLINE_CURVE] = "contention, as for locks",
        [LOADLINE_KNEE] = "a bend",
        [LOADLINE_LIMIT] = "a limit, as of memory bandwidth",
    };
    for (size_t i = 0; i < series->prediction.fit_count; i++) {
        const struct loadline_fit *fit = &series->prediction.fits[i];
        TABLE_ROW(ssreport_table(report, "loadline-fits"),
            CELL("workload", (const char *)series->label), CELL("method", series->method),
            CELL("shape", names[fit->shape]), CELL("knee_low", fit->knee.low),
            CELL("knee_high", fit->knee.high), CELL("fits", fit->fits),
            CELL("predicted", fit->range.y), CELL("low", fit->range.low),
            CELL("high", fit->range.high));
    }
}

static void add_power(
    const struct ssreport_report *report, const struct ssreport_load_series *series) {
    for (size_t i = 0; series->has_power && i < LOADLINE_PARTS; i++) {
        const struct loadline_part *part = &series->power.parts[i];
        TABLE_ROW(ssreport_table(report, "loadline-power"),
            CELL("workload", (const char *)series->label), CELL("method", series->method),
            CELL("part", part->part), CELL("throughput", part->throughput),
            CELL("watts", part->watts), CELL("per_joule", part->per_joule));
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    if (ssreport_load_series_find(report) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; i < report->load_series_count; i++) {
        const struct ssreport_load_series *series = &report->load_series[i];
        add_answer(report, series);
        if (series->failure)
            continue;
        add_levels(report, series);
        add_prediction(report, series);
        add_fits(report, series);
        add_power(report, series);
    }
    return 0;
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    if (report->load_series_count == 0)
        return false;
    const struct ssreport_load_series *series = &report->load_series[0];
    snprintf(headline->question, sizeof headline->question,
        "How much of its maximum throughput does %.100s reach at %.3g %% load, and what is left?",
        series->label, 100 * series->at);
    ssreport_load_series_answer(series, headline->answer, sizeof headline->answer);
    return true;
}

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

static void print_method(struct ssreport_page *page, const struct ssreport_load_series *series) {
    fputs("<p>", page->stream);
    table_html_text(page->stream, series->label);
    if (series->is_service)
        fputs(": loaded by the rate of requests.", page->stream);
    else if (ssreport_is_word(series->method, "independent"))
        fputs(
            ": method <code>independent</code>: instances run and stop in rounds of random length, "
            "so that they overlap as independent programs do.",
            page->stream);
    else
        fprintf(page->stream, ": method <code>%s</code>, which overlaps instances in its own way.",
            series->method ? series->method : "unknown");
    fputs("</p>\n", page->stream);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    if (report->load_series_count == 0)
        return;
    ssreport_page_open(page, "What is left");
    fputs(
        "<p>Each level of load was held on the way up and on the way down. Done is the throughput "
        "at a load relative to the maximum, which is the throughput of the highest level unless "
        "that of another level exceeds it by three errors. The error is estimated from the "
        "differences between both ways. The dotted line shows throughput in proportion to "
        "load.</p>\n",
        page->stream);
    for (size_t i = 0; i < report->load_series_count; i++) {
        print_method(page, &report->load_series[i]);
        ssreport_loadline_plot(page, report, &report->load_series[i]);
    }
    page_sheet(page->stream, ssreport_table(report, "loadline-answers"));
    page_sheet(page->stream, ssreport_table(report, "loadline"));
    page_sheet(page->stream, ssreport_table(report, "loadline-predictions"));
    page_sheet(page->stream, ssreport_table(report, "loadline-fits"));
    page_sheet(page->stream, ssreport_table(report, "loadline-power"));
    ssreport_page_close(page);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    table_print_text(stream, ssreport_table(report, "loadline"),
        "load line; throughput at each load, relative to the maximum");
}

const struct ssreport_topic ssreport_loadline_topic = {
    .name = "loadline",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
    .free = ssreport_load_series_free,
};
