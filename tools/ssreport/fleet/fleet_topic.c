/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_topic.h"

#include <math.h>

#include "fleet_figures.h"
#include "fleet_plots.h"
#include "html_page.h"

/* The maximum number of nodes that a sentence names. */
#define NAMED_MAX 3

/* The maximum number of rows of a table of nodes on the page. */
#define SHOWN_MAX 100

// clang-format off
static const struct table_column fleet_columns[] = {
    {"fleet", "fleet", .text = {"fleet", 16}}, {"set", NULL}, {"nodes", "nodes", .text = {"nodes", 6}},
    {"measured", "with samples", .text = {"with", 6}}, {"failed", "failed", .text = {"failed", 7}},
    {"cpus", "CPUs", 1}, {"duration_seconds", "s", 0},
    {"load_mean", "load, %", 2, true, .text = {"load, %", 8}},
    {"target_mean", "target, %", 2, true, .text = {"target", 7}},
    {"error_mean", "error, points", 2, true, .text = {"error", 7}},
    {"error_abs_mean", "absolute error, points", 2, true, .text = {"absolute", 9}},
    {"node_error_low", "90 % of the nodes: error from", 2, true},
    {"node_error_high", "to", 2, true}, {"node_error_worst", "worst node", 2, true},
    {"late_median_seconds", "late, median, s", 4, .small = true}, {"late_most_seconds", "most, s", 4, .small = true},
    {"start_spread_seconds", "starts differ by, s", 4, .small = true, .text = {"starts, s", 10}},
    {"clock_error_seconds", "clocks known within, s", 4, .small = true},
    {"untrusted_clocks", "clocks not trusted", .text = {"clocks?", 7}},
};
static const struct table_column node_columns[] = {
    {"fleet", NULL}, {"node", "node"}, {"trace", "trace"}, {"status", "status"}, {"reason", "reason", .if_known = true},
    {"cpus", "CPUs", 1}, {"covered_seconds", "measured, s", 1}, {"load_mean", "load, %", 2, true},
    {"target_mean", "target, %", 2, true}, {"error_mean", "error, points", 2, true},
    {"error_abs_mean", "absolute error, points", 2, true}, {"late_seconds", "late, s", 4, .small = true},
    {"offset_seconds", "clock ahead, s", 4, .small = true}, {"offset_error_seconds", "known within, s", 4, .small = true},
    {"clock_trusted", "clock trusted"}, {"clock", "synchronized by", .if_known = true},
    {"clock_error_seconds", "which admits an error of, s", 4, .if_known = true, .small = true},
};
static const struct table_column prediction_columns[] = {
    {"fleet", NULL}, {"node", "node"}, {"trace", "trace"}, {"predicted_by", "predicted by nodes"},
    {"any_trace", "of any trace"}, {"error_mean", "error, points", 3, true, .small = true},
    {"error_low", "predicted from", 3, true, .small = true}, {"error_high", "to", 3, true, .small = true}, {"error_within", "within"},
    {"apart_mean", "absolute error over 10 s, points", 3, true, .small = true}, {"apart_low", "predicted from", 3, true, .small = true},
    {"apart_high", "to", 3, true, .small = true}, {"apart_within", "within"},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("fleet", "Fleets: the load of all nodes against their targets", fleet_columns),
    TABLE_INIT("fleet-nodes", "Nodes", node_columns),
    TABLE_INIT("fleet-prediction", "Nodes and the intervals that the first fleet predicts for them", prediction_columns),
    {.name = NULL},
};
// clang-format on

static void add_fleet(const struct ssreport_report *report, const struct ssreport_fleet *fleet,
    const struct ssreport_whole *whole) {
    TABLE_ROW(ssreport_table(report, "fleet"), CELL("fleet", fleet->name),
        CELL("set", fleet->set + 1), CELL("nodes", whole->nodes), CELL("measured", whole->measured),
        CELL("failed", whole->failed), CELL("cpus", whole->cpus),
        CELL("duration_seconds", whole->duration), CELL("load_mean", whole->load),
        CELL("target_mean", whole->target), CELL("error_mean", whole->error),
        CELL("error_abs_mean", whole->error_abs), CELL("node_error_low", whole->errors.low),
        CELL("node_error_high", whole->errors.high), CELL("node_error_worst", whole->error_worst),
        CELL("late_median_seconds", whole->late_median),
        CELL("late_most_seconds", whole->late_most), CELL("start_spread_seconds", whole->spread),
        CELL("clock_error_seconds", whole->clock_error),
        CELL("untrusted_clocks", whole->untrusted));
}

static void add_nodes(const struct ssreport_report *report, const struct ssreport_fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        const struct ssreport_fleet_node *node = &fleet->nodes[i];
        TABLE_ROW(ssreport_table(report, "fleet-nodes"), CELL("fleet", fleet->name),
            CELL("node", node->name), CELL("trace", node->trace),
            CELL("status", (const char *)(node->failed ? "failed" : "done")),
            CELL("reason", (const char *)(*node->reason ? node->reason : NULL)),
            CELL("cpus", node->cpus), CELL("covered_seconds", node->covered),
            CELL("load_mean", node->load), CELL("target_mean", node->target),
            CELL("error_mean", node->error), CELL("error_abs_mean", node->error_abs),
            CELL("late_seconds", node->late), CELL("offset_seconds", node->offset),
            CELL("offset_error_seconds", node->offset_error),
            CELL("clock_trusted", ssreport_fleet_trusts_clock(node)),
            CELL("clock", (const char *)(*node->clock ? node->clock : NULL)),
            CELL("clock_error_seconds", node->clock_error));
    }
}

/* Returns the first fleet of a set; NULL if the set has none, or if no sets are compared. */
static const struct ssreport_fleet *fleet_of(const struct ssreport_report *report, int set) {
    for (size_t i = 0; report->compares && i < report->fleet_count; i++) {
        if (report->fleets[i].set == set)
            return &report->fleets[i];
    }
    return NULL;
}

static void add_prediction(const struct ssreport_report *report, const struct ssreport_fleet *fleet,
    const struct ssreport_fleet_node *node, const struct ssreport_prediction *prediction) {
    if (prediction->nodes == 0 || !(node->covered > 0))
        return;
    TABLE_ROW(ssreport_table(report, "fleet-prediction"), CELL("fleet", fleet->name),
        CELL("node", node->name), CELL("trace", node->trace),
        CELL("predicted_by", prediction->nodes), CELL("any_trace", prediction->any_trace),
        CELL("error_mean", node->error), CELL("error_low", prediction->error.low),
        CELL("error_high", prediction->error.high),
        CELL("error_within", ssreport_is_within(prediction->error, node->error)),
        CELL("apart_mean", node->apart), CELL("apart_low", prediction->apart.low),
        CELL("apart_high", prediction->apart.high),
        CELL("apart_within", ssreport_is_within(prediction->apart, node->apart)));
}

/* Counts the nodes of the second set within the intervals that the first set predicts. */
static bool predict_all(
    const struct ssreport_report *report, struct ssreport_prediction_count *count, bool add_rows) {
    const struct ssreport_fleet *first = fleet_of(report, 0), *second = fleet_of(report, 1);
    bool is_counted = true;
    *count = (struct ssreport_prediction_count){0};
    for (size_t i = 0; first && second && is_counted && i < second->count; i++) {
        struct ssreport_prediction prediction;
        is_counted = ssreport_predict(&prediction, first, &second->nodes[i]) &&
                     ssreport_prediction_add(count, &prediction, &second->nodes[i]);
        if (is_counted && add_rows)
            add_prediction(report, second, &second->nodes[i], &prediction);
    }
    return ssreport_prediction_end(count) && is_counted;
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    struct ssreport_prediction_count count;
    for (size_t i = 0; i < report->fleet_count; i++) {
        struct ssreport_whole whole;
        if (!ssreport_whole_of(&whole, &report->fleets[i]))
            return ss_error_memory(error);
        add_fleet(report, &report->fleets[i], &whole);
        add_nodes(report, &report->fleets[i]);
    }
    return predict_all(report, &count, true) ? 0 : ss_error_memory(error);
}

/*
 * Appends " These nodes failed: n7 (did not report within 60s) and 2 more." or, with `clocks`,
 * " These clocks are not trusted: n7 (3.000 s ahead, known within 0.001 s) and 2 more."
 */
static void name_nodes(const struct ssreport_fleet *fleet, bool clocks, char *text, size_t size) {
    size_t used = strlen(text), found = 0;
    for (size_t i = 0; i < fleet->count && used < size; i++) {
        const struct ssreport_fleet_node *node = &fleet->nodes[i];
        char what[160];
        if ((clocks ? ssreport_fleet_trusts_clock(node) : !node->failed) || ++found > NAMED_MAX)
            continue;
        if (clocks)
            snprintf(what, sizeof what, "%.3f s %s, known within %.2g s", fabs(node->offset),
                node->offset < 0 ? "behind" : "ahead", node->offset_error);
        else
            snprintf(what, sizeof what, "%.120s", node->reason);
        const char *begin = clocks ? " These clocks are not trusted: " : " These nodes failed: ";
        used += (size_t)snprintf(
            text + used, size - used, "%s%.60s (%s)", found == 1 ? begin : ", ", node->name, what);
    }
    if (found > NAMED_MAX && used < size)
        used += (size_t)snprintf(text + used, size - used, " and %zu more", found - NAMED_MAX);
    if (found > 0 && used < size)
        snprintf(text + used, size - used, ".");
}

static bool ask_prediction(
    const struct ssreport_report *report, struct ssreport_headline *headline) {
    const struct ssreport_fleet *first = fleet_of(report, 0), *second = fleet_of(report, 1);
    struct ssreport_prediction_count count;
    if (!first || !second || !predict_all(report, &count, false))
        return false;
    snprintf(headline->question, sizeof headline->question,
        "Do %zu nodes follow their traces as %zu nodes predict?", second->count, first->count);
    if (count.nodes == 0)
        snprintf(headline->answer, sizeof headline->answer,
            "Unknown: at least 19 nodes of the first fleet and one node of the second must have "
            "samples.");
    else
        snprintf(headline->answer, sizeof headline->answer,
            "%zu of %zu nodes are in the interval that %s predicts for the mean error of 90 %% of "
            "the nodes, and %zu in that for the absolute error over 10 s. If the prediction is "
            "right, each interval contains at least %zu nodes in 97.5 %% of all cases.",
            count.error, count.nodes, ssreport_report_set_name(report, 0), count.apart,
            count.expected);
    name_nodes(second, false, headline->answer, sizeof headline->answer);
    name_nodes(second, true, headline->answer, sizeof headline->answer);
    return true;
}

/* Writes a time of at least 1 ms, the resolution of times in records. */
static void write_started(char *text, size_t size, double seconds) {
    double whole = fmax(1, ceil(1000 * seconds - 0.001));
    if (whole < 1000)
        snprintf(text, size, " They started within %.0f ms.", whole);
    else
        snprintf(text, size, " They started within %.9g s.", whole / 1000);
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    struct ssreport_whole whole;
    char started[60] = "";
    if (ask_prediction(report, headline))
        return true;
    if (report->fleet_count == 0 || !ssreport_whole_of(&whole, &report->fleets[0]))
        return false;
    char *text = headline->answer;
    size_t size = sizeof headline->answer;
    if (isfinite(whole.spread))
        write_started(started, sizeof started, whole.spread);
    snprintf(headline->question, sizeof headline->question,
        "How well do %zu nodes together follow their traces?", whole.nodes);
    if (whole.measured == 0)
        snprintf(text, size, "No node has a sample.");
    else
        snprintf(text, size,
            "The load of %zu of %zu nodes was %.2f %%, for a target of %.2f %%; it was %.2f points "
            "from the target on average over time. The mean error (target minus load) of 90 %% of "
            "these nodes was between %.2f and %.2f points.%s",
            whole.measured, whole.nodes, 100 * whole.load, 100 * whole.target,
            100 * whole.error_abs, 100 * whole.errors.low, 100 * whole.errors.high, started);
    name_nodes(&report->fleets[0], false, text, size);
    name_nodes(&report->fleets[0], true, text, size);
    return true;
}

static void print_fleet(struct ssreport_page *page, const struct ssreport_fleet *fleet) {
    fputs("<h3>", page->stream);
    table_html_text(page->stream, fleet->name);
    fputs("</h3>\n", page->stream);
    fputs("<div class=\"plots\">\n", page->stream);
    ssreport_fleet_plot_sum(page, fleet);
    ssreport_fleet_plot_errors(page, fleet);
    ssreport_fleet_plot_map(page, fleet);
    fputs("</div>\n", page->stream);
}

/* Prints a table or, if it is too long for the page, the name of its file. */
static void print_nodes(struct ssreport_page *page, const struct table_sheet *nodes) {
    if (table_rows(nodes) <= SHOWN_MAX)
        page_sheet(page->stream, nodes);
    else
        fprintf(page->stream, "<p><code>%s.csv</code> has all nodes.</p>\n", nodes->name);
}

static void print_prediction(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "fleet-prediction");
    if (table_rows(sheet) == 0)
        return;
    ssreport_page_open(page, "Predicted and measured nodes");
    fputs("<p>Each interval contains a further node with a probability of 90 %, whatever the "
          "distribution: its bounds are two of the values of the nodes that predict it, which are "
          "those with the same trace if there are at least 19, otherwise all. The error over 10 s "
          "is the mean absolute difference of load and target over spans of 10 s, so that it does "
          "not depend on the interval of samples.</p>\n<div class=\"plots\">\n",
        page->stream);
    ssreport_fleet_plot_prediction(page, sheet, "error", "mean error (target minus load), points");
    ssreport_fleet_plot_prediction(page, sheet, "apart", "absolute error over 10 s, points");
    fputs("</div>\n", page->stream);
    print_nodes(page, sheet);
    ssreport_page_close(page);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *nodes = ssreport_table(report, "fleet-nodes");
    if (report->fleet_count == 0)
        return;
    print_prediction(page, report);
    ssreport_page_open(page, "Fleets");
    fputs("<p>A fleet's load is the sum over the nodes that have samples at that time, and its "
          "target the sum of their targets. The error is target minus load, so it is negative if "
          "the load was above the target. Lateness is the time from the planned start to the start "
          "of the trace, by the clock of ssfleet; times have a resolution of 1 ms.</p>\n",
        page->stream);
    page_sheet(page->stream, ssreport_table(report, "fleet"));
    for (size_t i = 0; i < report->fleet_count; i++)
        print_fleet(page, &report->fleets[i]);
    print_nodes(page, nodes);
    ssreport_page_close(page);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    table_print_text(stream, ssreport_table(report, "fleet"),
        "fleets; load of all nodes against their targets, in percent of their CPUs");
}

const struct ssreport_topic ssreport_fleet_topic = {
    .name = "fleet",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
};
