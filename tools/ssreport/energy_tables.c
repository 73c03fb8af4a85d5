/* SPDX-License-Identifier: Apache-2.0 */

/* What iterations have cost, where power was sampled beside them. */

#include <math.h>

#include "report.h"

// clang-format off
static const struct ssreport_column energy_columns[] = {
    {"record", "record"}, {"workload", NULL}, {"covers", "power covers"},
    {"seconds", "seconds sampled"}, {"watts", "W", 2}, {"watt_hours", "Wh", 4},
    {"iterations", "iterations", 1}, {"iterations_per_watt_hour", "iterations per Wh", 3},
    {"relative", "relative", 3}, {"note", "note"},
};
static const struct ssreport_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", NULL}, {"target", "target, %", 2, true},
    {"load", "load, %", 2, true}, {"seconds", "seconds sampled"}, {"watts", "W", 2},
    {"watt_hours", "Wh", 4}, {"iterations", "iterations", 1},
    {"iterations_per_watt_hour", "iterations per Wh", 3}, {"relative", "relative", 3},
    {"relative_to", NULL}, {"environment", NULL}, {"placement", NULL}, {"foreground", NULL},
    {"background", NULL}, {"round", NULL}, {"measured_in", NULL}, {"set", NULL},
};
// clang-format on

/* A run, and the one beside it if the same power has fed both. */
struct consumer {
    const struct ssreport_run *run;
    const struct ssreport_run *foreground; /* NULL: it was alone */
    bool adds_up;                          /* iterations of both are the same */
};

/* A foreground counts with its background. */
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

/* NaN: not counted, or of two programs. */
static double iterations_between(const struct consumer *consumer, double from, double to) {
    double rate = ssreport_steps_throughput(&consumer->run->record, from, to);
    if (consumer->foreground)
        rate += ssreport_report_throughput_beside(consumer->foreground, consumer->run, from, to);
    return consumer->adds_up ? rate * (to - from) : NAN;
}

static double divide(double iterations, double watt_hours) {
    return watt_hours > 0 ? iterations / watt_hours : NAN;
}

static struct ssreport_cost cost_between(const struct ssreport_run *run, double from, double to) {
    return ssreport_energy_between(&run->energy, run->record.wall + from, run->record.wall + to);
}

static void add_cost(struct ssreport_sheet *sheet, const struct ssreport_cost *cost,
    double iterations, double relative) {
    SSREPORT_NUMBERS(sheet, (double)cost->seconds, cost->watts,
        cost->seconds ? cost->watt_hours : NAN, iterations, divide(iterations, cost->watt_hours),
        relative);
}

/* ---- runs ---- */

static double rate_of_run(const struct ssreport_report *report, const struct ssreport_run *run) {
    if (run->energy.count == 0 || is_counted_elsewhere(report, run))
        return NAN;
    double from = run->record.counted_from, to = ssreport_record_counted_to(&run->record);
    struct consumer consumer = find_consumer(report, run);
    struct ssreport_cost cost = cost_between(run, from, to);
    return divide(iterations_between(&consumer, from, to), cost.watt_hours);
}

/* What no manifest names is the same program if it was called in the same way. */
static bool is_comparable(const struct ssreport_run *left, const struct ssreport_run *right) {
    if (left->placement || right->placement)
        return false;
    return left->workload || right->workload
               ? ssreport_is_word(left->workload, right->workload)
               : ssreport_is_same(left->record.command, right->record.command);
}

static bool is_same_side(const struct ssreport_run *left, const struct ssreport_run *right) {
    if (!left || !right)
        return left == right;
    return ssreport_is_same(left->workload, right->workload) &&
           ssreport_is_same(left->method, right->method);
}

/* The same pair, or the same run alone, in the placement per-chip. NULL: it was not run. */
static const struct ssreport_run *find_per_chip(
    const struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_run *foreground = ssreport_report_beside(report, run, "foreground");
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *other = &report->runs[i];
        if (ssreport_is_word(other->placement, "per-chip") && other->set == run->set &&
            ssreport_is_one_environment(other, run) &&
            ssreport_is_same(other->measured_in, run->measured_in) &&
            ssreport_is_same(other->role, run->role) && other->round == run->round &&
            is_same_side(other, run) &&
            is_same_side(ssreport_report_beside(report, other, "foreground"), foreground))
            return other;
    }
    return NULL;
}

/*
 * What has a placement against the same in per-chip; anything else against the first run of the
 * same program that has a figure.
 */
static double relative_rate(
    const struct ssreport_report *report, const struct ssreport_run *run, double rate) {
    if (run->placement) {
        const struct ssreport_run *other = find_per_chip(report, run);
        double base = other ? rate_of_run(report, other) : NAN;
        return base > 0 ? rate / base : NAN;
    }
    for (size_t i = 0; i < report->run_count && isfinite(rate); i++) {
        double first =
            is_comparable(&report->runs[i], run) ? rate_of_run(report, &report->runs[i]) : NAN;
        if (first > 0)
            return rate / first;
    }
    return NAN;
}

static void note_cost(struct ssreport_notes *notes, const struct consumer *consumer,
    const struct ssreport_cost *cost, double length) {
    /* Where the seconds begin is chance, so there may be one fewer than the run is long. */
    double all = fmax((double)(cost->seconds + cost->unknown), floor(length) - 1);
    if ((double)cost->seconds < all)
        ssreport_notes_add(notes, "power is known for %zu of %.0f s", cost->seconds, all);
    if (consumer->foreground && consumer->adds_up)
        ssreport_notes_add(notes, "with the iterations of the foreground");
    else if (consumer->foreground)
        ssreport_notes_add(notes, "of two programs, whose iterations do not add up");
    else if (!consumer->adds_up)
        ssreport_notes_add(notes, "power of two programs, of which one is not reported");
    if (!consumer->run->record.has_iterations)
        ssreport_notes_add(notes, "iterations were not counted");
}

static void add_run(struct ssreport_report *report, const struct ssreport_run *run) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_ENERGY];
    double from = run->record.counted_from, to = ssreport_record_counted_to(&run->record);
    bool elsewhere = is_counted_elsewhere(report, run);
    struct consumer consumer = find_consumer(report, run);
    struct ssreport_cost cost = cost_between(run, from, to);
    struct ssreport_notes notes = {0};
    double iterations = NAN;
    SSREPORT_TEXTS(sheet, run->record.name, run->workload);
    if (run->energy.count == 0) {
        SSREPORT_TEXTS(sheet, "");
        ssreport_notes_add(&notes, "no power was recorded");
        cost = (struct ssreport_cost){.watts = NAN};
    } else {
        SSREPORT_TEXTS(sheet, run->power_source ? run->power_source : "not known");
        if (elsewhere)
            ssreport_notes_add(&notes, "counted with its background");
        else
            note_cost(&notes, &consumer, &cost, to - from);
        iterations = elsewhere ? NAN : iterations_between(&consumer, from, to);
    }
    add_cost(
        sheet, &cost, iterations, relative_rate(report, run, divide(iterations, cost.watt_hours)));
    SSREPORT_TEXTS(sheet, notes.text);
}

/* ---- steps ---- */

static double rate_of_step(const struct ssreport_report *report, const struct ssreport_run *run,
    const struct ssreport_step *step) {
    if (run->energy.count == 0)
        return NAN;
    struct consumer consumer = find_consumer(report, run);
    struct ssreport_cost cost = cost_between(run, step->from, step->to);
    return divide(iterations_between(&consumer, step->from, step->to), cost.watt_hours);
}

/* What the steps of a run stand against: those of `run`, or else its own first one. */
struct base {
    const struct ssreport_run *per_chip;
    double first;
};

/* Of per-chip the step of the same level and half, never the mean of several. */
static double base_of_step(const struct ssreport_report *report, const struct base *base,
    const struct ssreport_run *run, size_t at) {
    if (!run->placement)
        return base->first;
    const struct ssreport_step *step =
        base->per_chip ? ssreport_steps_counterpart(&run->steps, at, &base->per_chip->steps) : NULL;
    return step ? rate_of_step(report, base->per_chip, step) : NAN;
}

static void add_steps(struct ssreport_report *report, const struct ssreport_run *run) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_ENERGY_STEPS];
    struct consumer consumer = find_consumer(report, run);
    const struct ssreport_run *foreground = ssreport_report_beside(report, run, "foreground");
    struct base base = {.first = NAN};
    if (run->energy.count == 0 || is_counted_elsewhere(report, run))
        return;
    if (run->placement)
        base.per_chip = find_per_chip(report, run);
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        struct ssreport_cost cost = cost_between(run, step->from, step->to);
        double iterations = iterations_between(&consumer, step->from, step->to);
        double rate = divide(iterations, cost.watt_hours);
        if (!(base.first > 0))
            base.first = rate;
        double against = base_of_step(report, &base, run, i);
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(
            sheet, (double)i + 1, step->half ? step->half : NAN, step->target, step->load.mean);
        add_cost(sheet, &cost, iterations, against > 0 ? rate / against : NAN);
        SSREPORT_TEXTS(sheet,
            !run->placement ? "the first step"
            : base.per_chip ? base.per_chip->record.name
                            : "",
            ssreport_run_environment(run), run->placement, foreground ? foreground->workload : "",
            run->workload);
        SSREPORT_NUMBERS(sheet, run->round > 0 ? run->round : NAN);
        SSREPORT_TEXTS(sheet, run->measured_in);
        SSREPORT_NUMBERS(sheet, run->set + 1);
    }
}

bool ssreport_report_has_energy(const struct ssreport_report *report) {
    bool known = false;
    for (size_t i = 0; i < report->run_count; i++)
        known |= report->runs[i].energy.count > 0;
    return known;
}

void ssreport_report_energy(struct ssreport_report *report) {
    report->sheets[SSREPORT_ENERGY] = SSREPORT_SHEET("energy",
        "Energy: iterations per watt-hour, relative to per-chip; without placements, to the first "
        "run of "
        "the same program",
        energy_columns);
    report->sheets[SSREPORT_ENERGY_STEPS] = SSREPORT_SHEET("energy-steps",
        "Energy by step, relative to the same step in per-chip; without placements, to the first "
        "step",
        step_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        add_run(report, &report->runs[i]);
        add_steps(report, &report->runs[i]);
    }
}
