/* SPDX-License-Identifier: Apache-2.0 */
#include "loadline_topic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html_page.h"
#include "load_series.h"
#include "loadline_plots.h"
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
