/* SPDX-License-Identifier: Apache-2.0 */
#include "idle_tables.h"

#include <math.h>

#include "findings.h"

/* Part of a run: a step, or all of the counted time. */
struct part {
    const struct ssreport_run *run;
    const struct ssreport_step *step; /* NULL: all of the counted time */
    size_t number;                    /* number of the step, from 1 */
    double from, to;                  /* on the run's clock */
    struct ssreport_residency residency;
    double watts;
};

/* Sets the residency and the power of a part. */
static int measure(struct part *part) {
    const struct ssreport_run *run = part->run;
    double from = run->record.wall + part->from, to = run->record.wall + part->to;
    part->watts = ssreport_energy_between(&run->energy, from, to).watts;
    return ssreport_idle_between(&run->idle, from, to, &part->residency);
}

/* Adds a row for each state. */
static void add_part(const struct ssreport_report *report, const struct part *part) {
    struct table_sheet *sheet = ssreport_table(report, "idle-states");
    const struct ssreport_run *run = part->run;
    const struct ssreport_residency *residency = &part->residency;
    double load = part->step ? part->step->load.mean : run->figures.load_mean;
    for (size_t i = 0; i < run->idle.state_count; i++) {
        TABLE_ROW(sheet, CELL("record", run->record.name),
            CELL("step", part->step ? (double)part->number : NAN),
            CELL("half", part->step && part->step->half ? part->step->half : NAN),
            CELL("target", part->step ? part->step->target : NAN), CELL("load", load),
            CELL("seconds", residency->active.count), CELL("watts", part->watts),
            CELL("frequency_mhz", residency->frequency.mean),
            CELL("active", residency->active.mean),
            CELL("active_deviation", residency->active.deviation),
            CELL("state", run->idle.states[i]), CELL("share", residency->states[i].share),
            CELL("share_deviation", residency->states[i].share_deviation),
            CELL("residency", residency->states[i].residency),
            CELL("environment", ssreport_run_environment(run)), CELL("placement", run->placement),
            CELL("round", run->round > 0 ? run->round : NAN), CELL("set", run->set + 1));
    }
}

/* Returns the part of the time in which CPUs were in the last state, the deepest. */
static double deepest(const struct part *part) {
    return part->residency.states[part->run->idle.state_count - 1].residency;
}

/* Adds a sentence about the steps with the lowest and the highest load. */
static void add_finding(
    struct ssreport_report *report, const struct part *least, const struct part *most) {
    const struct ssreport_run *run = least->run;
    const struct ssreport_run *foreground = ssreport_report_beside(report, run, "foreground");
    char power[80] = "";
    if (run->idle.state_count == 0 || !(isfinite(deepest(least)) && isfinite(deepest(most))) ||
        !(most->step->load.mean > least->step->load.mean))
        return;
    if (isfinite(least->watts) && isfinite(most->watts))
        snprintf(power, sizeof power, ", and the power %.1f and %.1f W", least->watts, most->watts);
    struct table_sheet *sheet = ssreport_findings_add(report, "idle",
        "%s%.120s%s%.60s: at loads of %.0f and %.0f %%, CPUs were in %s for %.1f and %.1f %% of "
        "the time%s.",
        run->set > 0 ? "Second set: " : "", ssreport_record_title(&run->record),
        run->placement ? ", " : "", run->placement ? run->placement : "",
        100 * least->step->load.mean, 100 * most->step->load.mean,
        run->idle.states[run->idle.state_count - 1], 100 * deepest(least), 100 * deepest(most),
        power);
    TABLE_CELLS(sheet, CELL("scope", "pair"), CELL("environment", ssreport_run_environment(run)),
        CELL("placement", run->placement),
        CELL("foreground", foreground ? foreground->workload : run->workload),
        CELL("background", foreground ? run->workload : ""),
        CELL("percent", 100 * (deepest(most) - deepest(least))), CELL("set", run->set + 1));
}

static int add_steps(struct ssreport_report *report, const struct ssreport_run *run) {
    struct part least = {0}, most = {0};
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        struct part part = {
            .run = run, .step = step, .number = i + 1, .from = step->from, .to = step->to};
        if (measure(&part) < 0)
            return -1;
        add_part(report, &part);
        if (!least.run || step->load.mean < least.step->load.mean)
            least = part;
        if (!most.run || step->load.mean > most.step->load.mean)
            most = part;
    }
    if (run->steps.count > 1)
        add_finding(report, &least, &most);
    return 0;
}

/* Returns whether the background of this run has the same samples. */
static bool is_counted_elsewhere(
    const struct ssreport_report *report, const struct ssreport_run *run) {
    return ssreport_is_word(run->role, "foreground") &&
           ssreport_report_beside(report, run, "background");
}

int ssreport_idle_fill(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        struct part all = {.run = run,
            .from = run->record.counted_from,
            .to = ssreport_record_counted_to(&run->record)};
        if (run->idle.count == 0 || is_counted_elsewhere(report, run))
            continue;
        if (measure(&all) < 0)
            return -1;
        add_part(report, &all);
        if (add_steps(report, run) < 0)
            return -1;
    }
    return 0;
}
