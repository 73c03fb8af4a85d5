/* SPDX-License-Identifier: Apache-2.0 */

#include "energy_topic.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "html_page.h"
#include "idle_tables.h"
#include "options/option.h"
#include "power_fits.h"
#include "power_settings.h"
#include "run_order.h"

// clang-format off
static const struct table_column energy_columns[] = {
    {"record", "record", .text = {"run", 23}}, {"workload", NULL}, {"covers", "power covers"},
    {"seconds", "seconds sampled", .text = {"seconds", 9}}, {"watts", "W", 2, .text = {"W", 9}},
    {"watt_hours", "Wh", 4, .text = {"Wh", 11}}, {"iterations", "iterations", 1},
    {"iterations_per_watt_hour", "iterations per Wh", 3, .text = {"per Wh", 13}},
    {"note", "note"},
};
static const struct table_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", NULL}, {"target", "target, %", 2, true},
    {"load", "load, %", 2, true}, {"seconds", "seconds sampled"}, {"watts", "W", 2},
    {"watt_hours", "Wh", 4}, {"iterations", "iterations", 1},
    {"iterations_per_watt_hour", "iterations per Wh", 3},
};
static const struct table_column fit_columns[] = {
    {"set", NULL}, {"environment", NULL}, {"workload", "program", .if_known = true},
    {"variant", "variant", .if_known = true},
    {"placement", "placement", .if_known = true, .text = {"placement", 12}},
    {"method", "method", .if_known = true}, {"command", "command", .if_known = true},
    {"instances", "instances", .if_known = true}, {"cpus", "CPUs"},
    {"steps", "steps", .text = {"steps", 7}},
    {"line_constant", "line: W at 0", 2, .text = {"W at 0", 9}},
    {"line_slope", "W for each CPU", 3, .text = {"W/CPU", 8}},
    {"line_r_squared", "R\u00b2", 4, .text = {"R2", 8}},
    {"constant", "parabola: W at 0", 2, .text = {"W at 0", 9}},
    {"slope", "W for each CPU", 3, .text = {"W/CPU", 8}},
    {"square", "W for each CPU\u00b2", 4, .text = {"W/CPU2", 9}},
    {"r_squared", "R\u00b2", 4, .text = {"R2", 8}}, {"square_p", "p of curvature", 4, .small = true},
    {"best", "better"}, {"proportionality", "proportionality", 3}, {"proportionality_of", "of"},
};
static const struct table_column setting_columns[] = {
    {"set", NULL}, {"environment", NULL}, {"workload", "program", .if_known = true},
    {"variant", "variant", .if_known = true}, {"method", NULL},
    {"load", "load, %", 1, true, .text = {"load, %", 9}},
    {"placement", "setting", .text = {"setting", 20}}, {"runs", "runs", .text = {"runs", 6}},
    {"least", "least, W", 1, .text = {"least", 8}},
    {"lower_quartile", "25 %", 1, .text = {"25 %", 8}}, {"median", "median", 1, .text = {"median", 8}},
    {"upper_quartile", "75 %", 1, .text = {"75 %", 8}}, {"most", "most", 1, .text = {"most", 8}},
};
static const struct table_column idle_columns[] = {
    {"record", "record"}, {"step", "step", .if_known = true}, {"half", NULL},
    {"target", "target, %", 2, true, true}, {"load", "load, %", 2, true}, {"seconds", "seconds"},
    {"watts", "W", 2, .if_known = true}, {"frequency_mhz", "MHz", 0, .if_known = true},
    {"active", "active, %", 2, true}, {"active_deviation", "deviation", 2, true},
    {"state", "idle state"}, {"share", "of idle time, %", 2, true},
    {"share_deviation", "deviation", 2, true}, {"residency", "of all time, %", 2, true},
    {"environment", NULL}, {"placement", "placement", .if_known = true}, {"round", NULL},
    {"set", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("energy", "Energy: iterations per watt-hour", energy_columns),
    TABLE_INIT("energy-steps", "Energy by step", step_columns),
    TABLE_INIT("power-fits", "Power over busy CPUs: a line and a parabola through all steps", fit_columns),
    TABLE_INIT("power-settings", "Mean power of the runs by setting, at loads with three or more settings",
        setting_columns),
    TABLE_INIT("idle-states",
        "Idle states and frequency of the CPUs, of runs and their steps", idle_columns),
    {.name = NULL},
};
// clang-format on

/* A run and, if the measured power fed both, its foreground. */
struct consumer {
    const struct ssreport_run *run;
    const struct ssreport_run *foreground; /* NULL if the run had no foreground */
    bool adds_up; /* both sides run the same program, so iterations can be added */
};

/* Returns whether the run is a foreground whose energy is counted with its background. */
static bool is_counted_elsewhere(
    const struct ssreport_report *report, const struct ssreport_run *run) {
    return run->energy.shared && ssreport_is_word(run->role, "foreground") &&
           ssreport_report_beside(report, run, "background");
}

static struct consumer find_consumer(
    const struct ssreport_report *report, const struct ssreport_run *run) {
    struct consumer consumer = {.run = run, .adds_up = true};
    if (!run->energy.shared)
        return consumer;
    consumer.foreground = ssreport_report_beside(report, run, "foreground");
    consumer.adds_up =
        consumer.foreground && ssreport_is_word(consumer.foreground->workload, run->workload);
    return consumer;
}

/*
 * Returns the iterations between two times; NaN if they were not counted, or if the sides run
 * different programs.
 */
static double iterations_between(const struct consumer *consumer, double from, double to) {
    double rate = ssreport_steps_throughput(&consumer->run->record, from, to);
    if (consumer->foreground)
        rate += ssreport_report_throughput_beside(consumer->foreground, consumer->run, from, to);
    return consumer->adds_up ? rate * (to - from) : NAN;
}

/*
 * Returns the iterations per watt-hour of a time of this length. Power may be known for only a part
 * of it, whose energy is not that of all iterations: assumes the mean power for the rest.
 */
static double per_watt_hour(double iterations, double length, const struct ssreport_cost *cost) {
    return cost->watts > 0 ? 3600 * iterations / (length * cost->watts) : NAN;
}

static struct ssreport_cost cost_between(const struct ssreport_run *run, double from, double to) {
    return ssreport_energy_between(&run->energy, run->record.wall + from, run->record.wall + to);
}

/* Sets the cells of the last row that the tables energy and energy-steps have in common. */
static void add_cost(
    struct table_sheet *sheet, const struct ssreport_cost *cost, double iterations, double length) {
    TABLE_CELLS(sheet, CELL("seconds", cost->seconds), CELL("watts", cost->watts),
        CELL("watt_hours", cost->seconds > 0 ? cost->watt_hours : NAN),
        CELL("iterations", iterations),
        CELL("iterations_per_watt_hour", per_watt_hour(iterations, length, cost)));
}

/* Returns whether the run is one side of a pair. */
static bool is_side(const struct ssreport_run *run) {
    return ssreport_is_word(run->role, "foreground") || ssreport_is_word(run->role, "background");
}

static void note_cost(struct ssreport_notes *notes, const struct consumer *consumer,
    const struct ssreport_cost *cost, double length) {
    /* Seconds do not begin with the run, so one may be missing. */
    double all = fmax(cost->seconds + cost->unknown, floor(length) - 1);
    if (cost->seconds < all - 0.5)
        ssreport_notes_add(notes, "power is known for %.0f of %.0f s", cost->seconds, all);
    if (consumer->foreground && consumer->adds_up)
        ssreport_notes_add(notes, "power and iterations of both programs");
    else if (consumer->foreground)
        ssreport_notes_add(notes, "power of two programs, whose iterations do not add up");
    else if (!consumer->adds_up && !is_side(consumer->run))
        ssreport_notes_add(notes, "power of all commands of the run, not of this one alone");
    else if (!consumer->adds_up)
        ssreport_notes_add(notes, "power of two programs, of which one is not reported");
    if (!consumer->run->record.has_iterations)
        ssreport_notes_add(notes, "iterations were not counted");
}

static void add_run(const struct ssreport_report *report, const struct ssreport_run *run) {
    struct table_sheet *sheet = ssreport_table(report, "energy");
    double from = run->record.counted_from, to = ssreport_record_counted_to(&run->record);
    bool elsewhere = is_counted_elsewhere(report, run), known = run->energy.count > 0;
    struct consumer consumer = find_consumer(report, run);
    struct ssreport_cost cost = cost_between(run, from, to);
    struct ssreport_notes notes = {0};
    double iterations = known && !elsewhere ? iterations_between(&consumer, from, to) : NAN;
    if (!known) {
        ssreport_notes_add(&notes, "no power was recorded");
        cost = (struct ssreport_cost){.watts = NAN};
    } else if (elsewhere) {
        ssreport_notes_add(&notes, "counted with its background");
    } else {
        note_cost(&notes, &consumer, &cost, to - from);
    }
    TABLE_ROW(sheet, CELL("record", run->record.name), CELL("workload", run->workload),
        CELL("covers", !known              ? ""
                       : run->power_source ? run->power_source
                                           : "not known"),
        CELL("note", notes.text));
    add_cost(sheet, &cost, iterations, to - from);
}

static void add_steps(const struct ssreport_report *report, const struct ssreport_run *run) {
    struct table_sheet *sheet = ssreport_table(report, "energy-steps");
    struct consumer consumer = find_consumer(report, run);
    if (run->energy.count == 0 || is_counted_elsewhere(report, run))
        return;
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        struct ssreport_cost cost = cost_between(run, step->from, step->to);
        TABLE_ROW(sheet, CELL("record", run->record.name), CELL("step", i + 1),
            CELL("half", step->half ? step->half : NAN), CELL("target", step->target),
            CELL("load", step->load.mean));
        add_cost(sheet, &cost, iterations_between(&consumer, step->from, step->to),
            step->to - step->from);
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    for (size_t i = 0; i < report->run_count; i++) {
        add_run(report, &report->runs[i]);
        add_steps(report, &report->runs[i]);
    }
    return ssreport_power_fits_fill(report) < 0 || ssreport_power_settings_fill(report) < 0 ||
                   ssreport_idle_fill(report) < 0
               ? ss_error_memory(error)
               : 0;
}

static bool has_energy(const void *item, void *context) {
    const struct ssreport_run *run = item;
    (void)context;
    return run->energy.count > 0;
}

static int compare_sources(const void *left, const void *right, void *context) {
    const struct ssreport_run *one = left, *other = right;
    (void)context;
    return ssreport_compare_words(one->power_source, other->power_source);
}

/* Groups runs with known power by the part of the machine that it covers. */
static struct stats_groups group_sources(const struct ssreport_report *report) {
    const struct stats_key key = {
        .size = sizeof *report->runs, .compare = compare_sources, .includes = has_energy};
    return stats_group_by(report->runs, report->run_count, &key);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups sources = group_sources(report);
    ssreport_page_section(page, ssreport_table(report, "idle-states"), "Idle states");
    if (sources.count == 0)
        return;
    ssreport_page_open(page, "Energy");
    page_sheet(page->stream, ssreport_table(report, "energy"));
    page_sheet(page->stream, ssreport_table(report, "power-fits"));
    ssreport_power_settings_print(page, report);
    ssreport_page_close(page);
}

static void print_footnote(struct ssreport_page *page, const struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups sources = group_sources(report);
    if (sources.count == 0 && report->run_count > 0)
        fputs(
            "<p><small>Energy: no power was recorded with these runs.</small></p>\n", page->stream);
}

/*
 * Prints the energy of a run. For runs side by side, the background's rows have the power of both.
 */
static void print_run(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    const struct table_sheet *sheet = ssreport_table(report, "energy-steps");
    bool has_row = false;
    for (size_t i = 0; i < table_rows(sheet); i++)
        has_row |= strcmp(table_cell_at(sheet, i, "record")->text, run->record.name) == 0;
    if (has_row && run->steps.count > 1)
        table_print_html(page->stream, sheet, run->record.name);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups sources = group_sources(report);
    if (report->run_count == 0)
        return;
    if (sources.count == 0) {
        fputs("energy: no power was recorded\n", stream);
        return;
    }
    table_print_text(stream, ssreport_table(report, "energy"), "energy; iterations per watt-hour");
    table_print_text(stream, ssreport_table(report, "power-fits"),
        "power over busy CPUs: a line and a parabola through all steps");
    table_print_text(stream, ssreport_table(report, "power-settings"),
        "mean power of the runs by setting, W, at loads with three or more settings");
    for (size_t i = 0; i < sources.count; i++) {
        const char *source = report->runs[sources.first[i]].power_source;
        fputs("power covers ", stream);
        ss_option_print_wrapped(
            stream, 13, source ? ss_words_show(source).text : "an unknown part of the machine");
    }
}

const struct ssreport_topic ssreport_energy_topic = {
    .name = "energy",
    .tables = tables,
    .build = build,
    .page = print_page,
    .details = print_footnote,
    .run = print_run,
    .text = print_text,
};
