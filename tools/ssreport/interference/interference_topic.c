/* SPDX-License-Identifier: Apache-2.0 */
#include "interference_topic.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "combined_throughput.h"
#include "html_page.h"
#include "interference_tables.h"
#include "pair_findings.h"
#include "pair_plots.h"
#include "pair_question.h"
#include "pairs.h"
#include "picture.h"
#include "run_order.h"

/* Maximum number of pairs that the terminal shows. */
#define PAIRS_MAX 40

// clang-format off
static const struct table_column interference_columns[] = {
    {"environment", "environment", .text = {"in", 10}},
    {"placement", "placement", .text = {"placement", 11}},
    {"foreground", "foreground", .text = {"foreground", 12}},
    {"background", "background", .text = {"background", 12}},
    {"tau_seconds", "mean round, s", 3, .if_known = true},
    {"round", "round", .text = {"round", 6}},
    {"metric_percent", "interference, %", 2, .text = {"metric", 9}},
    {"low_percent", "its confidence, from", 2, .text = {"from", 9}},
    {"high_percent", "to", 2, .text = {"to", 9}}, {"first_half_percent", "first half", 2},
    {"second_half_percent", "second half", 2}, {"angle_degrees", "angle, degrees", 2},
    {"agree", NULL}, {"significant", NULL},
    {"first_points", NULL}, {"first_intercept", NULL}, {"first_intercept_p", NULL},
    {"first_slope", NULL}, {"first_slope_p", NULL},
    {"second_points", NULL}, {"second_intercept", NULL}, {"second_intercept_p", NULL},
    {"second_slope", NULL}, {"second_slope_p", NULL},
    {"first_low_percent", NULL}, {"first_high_percent", NULL}, {"second_low_percent", NULL},
    {"second_high_percent", NULL}, {"measured_in", NULL}, {"others", "others, %", 1, true, true},
    {"note", "note"}, {"set", NULL},
};
static const struct table_column published_columns[] = {
    {"environment", "environment"}, {"placement", "placement"}, {"foreground", "foreground"},
    {"background", "background"}, {"tau_seconds", "mean round, s", 3, .if_known = true},
    {"round", "round"},
    {"metric_percent", "here", 1},
    {"kvm_percent", "published, KVM", 1}, {"kvm_least", "of all pairs there, from", 1},
    {"kvm_most", "to", 1},
    {"lxc_percent", "published, LXC", 1}, {"lxc_least", "of all pairs there, from", 1},
    {"lxc_most", "to", 1}, {"set", NULL},
};
static const struct table_column step_columns[] = {
    {"environment", "environment"}, {"measured_in", "measured"}, {"placement", "placement"},
    {"foreground", "foreground"}, {"background", "background"}, {"round", "round"},
    {"step", "step"}, {"half", NULL}, {"target", "target, %", 2, true},
    {"background_load", "background load, %", 2, true},
    {"background_iterations_per_second", "background, /s", 4},
    {"foreground_iterations_per_second", "foreground, /s", 4},
    {"iterations_per_second", "both, /s", 4, .if_known = true},
    {"weighted_speedup", "weighted speedup", 4, .if_known = true},
    {"relative_to_per_chip", "relative to per-chip", 4, .if_known = true},
    {"watts", "W", 2, .if_known = true}, {"per_watt_hour", "per Wh", 3, .if_known = true},
    {"per_watt_hour_relative", "per Wh, relative to per-chip", 4, .if_known = true},
    {"tau_seconds", "mean round, s", 3, .if_known = true}, {"set", NULL},
};
static const struct table_column change_columns[] = {
    {"environment", "environment"}, {"measured_in", NULL}, {"foreground", "foreground"},
    {"background", "background"}, {"measure", "by"},
    {"below", "best below"}, {"above", "best above"}, {"load", "background load, %", 1, true},
    {"load_low", "its confidence, from", 1, true}, {"load_high", "to", 1, true}, {"told", "told"},
    {"steps", "steps"}, {"load_least", NULL}, {"load_most", NULL}, {"set", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("interference", "All pairs", interference_columns),
    TABLE_INIT("interference-steps", "Throughput of both sides, step by step", step_columns),
    TABLE_INIT("interference-published", "Interference next to published figures, in percent",
        published_columns),
    TABLE_INIT("changes", "Background loads at which the best placement changes",
        change_columns),
    {.name = NULL},
};
// clang-format on

/* Adds a row, and sets the cells that most tables of pairs have in common. */
static void add_row(struct table_sheet *sheet, const struct ssreport_pair *pair) {
    const struct ssreport_run *run = pair->foreground;
    TABLE_ROW(sheet, CELL("environment", ssreport_run_environment(run)),
        CELL("placement", pair->placement), CELL("round", run->round > 0 ? run->round : NAN),
        CELL("tau_seconds", pair->background->tau > 0 ? pair->background->tau : NAN),
        CELL("set", run->set + 1));
}

#define FIT_CELLS(half, fit, interval)                                                             \
    CELL(half "_points", (fit).count), CELL(half "_intercept", (fit).intercept),                   \
        CELL(half "_intercept_p", (fit).intercept_p), CELL(half "_slope", (fit).slope),            \
        CELL(half "_slope_p", (fit).slope_p), CELL(half "_low_percent", (interval).low),           \
        CELL(half "_high_percent", (interval).high)

static void add_interference(
    const struct ssreport_report *report, const struct ssreport_pair *pair) {
    struct table_sheet *sheet = ssreport_table(report, "interference");
    const struct ssreport_interference *result = &pair->interference;
    const struct ssreport_run *run = pair->foreground;
    add_row(sheet, pair);
    TABLE_CELLS(sheet, CELL("foreground", pair->program),
        CELL("background", pair->background_program), CELL("metric_percent", result->metric),
        CELL("low_percent", result->interval.low), CELL("high_percent", result->interval.high),
        CELL("first_half_percent", result->halves[0]),
        CELL("second_half_percent", result->halves[1]), CELL("angle_degrees", result->angle),
        CELL("agree", result->agree), CELL("significant", result->significant),
        FIT_CELLS("first", result->fits[0], result->half_intervals[0]),
        FIT_CELLS("second", result->fits[1], result->half_intervals[1]),
        CELL("measured_in", run->measured_in), CELL("others", run->others),
        CELL("note", ssreport_interference_missing(result)));
}

static void add_steps(const struct ssreport_report *report, const struct ssreport_pair *pair) {
    struct table_sheet *sheet = ssreport_table(report, "interference-steps");
    for (size_t i = 0; i < pair->count; i++) {
        const struct ssreport_pair_step *step = &pair->steps[i];
        double measure = ssreport_measure_of(pair, step, SSREPORT_OF_SYSTEM);
        add_row(sheet, pair);
        TABLE_CELLS(sheet, CELL("measured_in", pair->foreground->measured_in),
            CELL("foreground", pair->program), CELL("background", pair->background_program),
            CELL("step", i + 1),
            CELL("half", ssreport_steps_direction(&pair->background->steps, step->half)),
            CELL("target", step->target), CELL("background_load", step->load),
            CELL("background_iterations_per_second", step->background),
            CELL("foreground_iterations_per_second", step->foreground),
            CELL("iterations_per_second", pair->is_one_program ? measure : NAN),
            CELL("weighted_speedup", pair->is_one_program ? NAN : measure),
            CELL("relative_to_per_chip",
                ssreport_measure_relative(report, pair, step, SSREPORT_OF_SYSTEM)),
            CELL("watts", step->watts),
            CELL("per_watt_hour", ssreport_measure_of(pair, step, SSREPORT_PER_WATT_HOUR)),
            CELL("per_watt_hour_relative",
                ssreport_measure_relative(report, pair, step, SSREPORT_PER_WATT_HOUR)));
    }
}

/*
 * Returns whether published figures apply to a pair. Figures for LXC and KVM apply to the same
 * environment, and both apply to the machine itself; none apply to emulation.
 */
static bool is_comparable(const struct ssreport_pair *pair, const char *published_in) {
    return ssreport_run_is_on_host(pair->foreground) ||
           strcmp(ssreport_run_environment(pair->foreground), published_in) == 0;
}

/*
 * Adds the published figures of a pair, and their range over all published pairs with its
 * placement.
 */
static void add_published(const struct ssreport_report *report, const struct ssreport_pair *pair) {
    static const struct {
        const char *environment, *table, *number, *least, *most;
    } known[] = {{"kvm", "interference-kvm", "kvm_percent", "kvm_least", "kvm_most"},
        {"lxc", "interference-lxc", "lxc_percent", "lxc_least", "lxc_most"}};
    struct table_sheet *sheet = ssreport_table(report, "interference-published");
    const struct ssreport_run *run = pair->foreground;
    add_row(sheet, pair);
    TABLE_CELLS(sheet, CELL("foreground", pair->program),
        CELL("background", pair->background_program),
        CELL("metric_percent", pair->interference.metric));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *placement = is_comparable(pair, known[i].environment) ? run->placement : NULL;
        struct ssreport_range range =
            published_range(&report->published, known[i].table, placement);
        const struct published_cell *cell = published_find(&report->published, known[i].table,
            (const char *const[]){placement, ssreport_run_published(run)},
            ssreport_run_published(pair->background));
        TABLE_CELLS(sheet, CELL(known[i].number, published_print(&report->published, cell)),
            CELL(known[i].least, range.least), CELL(known[i].most, range.most));
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    if (ssreport_pairs_find(report) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; i < report->pair_count; i++) {
        add_interference(report, &report->pairs[i]);
        add_steps(report, &report->pairs[i]);
        add_published(report, &report->pairs[i]);
    }
    return ssreport_pair_findings(report) < 0 ? ss_error_memory(error) : 0;
}

/* Prints a caption: environment, first text, and second text if not NULL. */
static void print_caption(FILE *page, const char *element, const struct ssreport_pair *pair,
    const char *first, const char *second) {
    fprintf(page, "<%s>", element);
    table_html_text(page, pair->environment);
    fputs(pair->foreground->set > 0 ? ", second set: " : ": ", page);
    table_html_text(page, first);
    if (second) {
        fputs(" beside ", page);
        table_html_text(page, second);
    }
    fprintf(page, "</%s>\n", element);
}

static void print_matrices(struct ssreport_page *page, const struct ssreport_report *report) {
    static const char *const sides[] = {
        "foregrounds by row, backgrounds by column", "backgrounds by row, foregrounds by column"};
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT);
    bool begins = !page->without.status;
    if (begins)
        fputs(
            "<p>In each field: the throughput of the row's program, in percent of its highest in "
            "any field, against the background's load; dashed in the second half of the staircase. "
            "All fields have the axes of the one at the lower left.</p>\n<div class=\"plots\">\n",
            page->stream);
    for (size_t i = 0; i < 2 * groups.count; i++) {
        const struct ssreport_pair *pair = &report->pairs[groups.first[i / 2]];
        SS_OWNED(fclose) FILE *script = ssreport_page_script(page);
        if (!script)
            break;
        unsigned width = ssreport_plot_matrix(script, report, pair, i % 2 == 1);
        if (width == 0)
            continue;
        fputs("<figure class=\"wide\">", page->stream);
        print_caption(page->stream, "figcaption", pair, sides[i % 2], NULL);
        fprintf(page->stream, "<div style=\"min-width:%upx;max-width:%upx\">\n", width * 3 / 4,
            width * 5 / 4);
        page_picture(
            page->stream, script, ++page->pictures, "throughput of all pairs", &page->without);
        fputs("</div></figure>\n", page->stream);
    }
    if (begins)
        fputs("</div>\n", page->stream);
}

static void print_pair(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_pair *pair) {
    static const struct {
        const char *caption;
        bool (*write)(FILE *, const struct ssreport_report *, const struct ssreport_pair *);
    } plots[] = {{"Throughput of both sides against the background's load; \u25b2 going up, \u25bd "
                  "going down",
                     ssreport_plot_sides},
        {"Throughput of both sides together", ssreport_plot_whole_system},
        {"Throughput of both sides per watt-hour", ssreport_plot_energy}};
    fputs("<details>", page->stream);
    print_caption(page->stream, "summary", pair, pair->program, pair->background_program);
    fputs("<div class=\"plots\">\n", page->stream);
    const char *steps = pair->count > 1 ? ": means of the steps over time" : "";
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
        FILE *script = ssreport_page_script(page);
        char caption[160];
        if (!script)
            break;
        snprintf(caption, sizeof caption, "%s%s", plots[i].caption, i > 0 ? steps : "");
        ssreport_page_figure(page, script, plots[i].write(script, report, pair), caption);
    }
    SS_OWNED(groups)
    struct stats_groups rounds = ssreport_pairs_group(
        report, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS | SSREPORT_PAIR_ROUND);
    for (size_t i = 0; i < rounds.count; i++) {
        const struct ssreport_pair *first = &report->pairs[rounds.first[i]];
        char caption[160];
        FILE *script =
            ssreport_pair_is_like(pair, first, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS)
                ? ssreport_page_script(page)
                : NULL;
        snprintf(caption, sizeof caption,
            "Load of the background, throughput of the foreground%s; thick: means of the steps",
            first->background->energy.count > 1 ? ", power" : "");
        if (script)
            ssreport_page_figure(
                page, script, ssreport_plot_placements(script, report, first), caption);
    }
    fputs("</div></details>\n", page->stream);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups pairs =
        ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS);
    if (report->pair_count == 0)
        return;
    ssreport_page_open(page, "Interference");
    page_sheet(page->stream, ssreport_table(report, "changes"));
    ssreport_shades_print(page->stream, report);
    print_matrices(page, report);
    for (size_t i = 0; i < pairs.count && !page->without.status; i++)
        print_pair(page, report, &report->pairs[pairs.first[i]]);
    page_sheet(page->stream, ssreport_table(report, "interference"));
    page_sheet(page->stream, ssreport_table(report, "interference-steps"));
    ssreport_page_published(page);
    page_sheet(page->stream, ssreport_table(report, "interference-published"));
    ssreport_page_close(page);
}

/* Omits a long table, which would hide the findings. */
static void print_text(FILE *stream, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "interference");
    size_t rows = table_rows(sheet);
    if (rows > PAIRS_MAX)
        fprintf(stream, "\ninterference of %zu pairs: see interference.csv (--output)\n", rows);
    else
        table_print_text(stream, sheet, "interference metric in %, and its confidence interval");
}

const struct ssreport_topic ssreport_interference_topic = {
    .name = "interference",
    .tables = tables,
    .build = build,
    .ask = ssreport_pair_question,
    .page = print_page,
    .text = print_text,
    .free = ssreport_pairs_free,
};
