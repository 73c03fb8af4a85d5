/* SPDX-License-Identifier: Apache-2.0 */
#include "power_fits.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/owned.h"
#include "parabola.h"
#include "run_order.h"

/* Runs that agree in these properties have one fit. */
#define ONE_FIT                                                                                    \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_WORKLOAD | SSREPORT_BY_PLACEMENT |    \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_CPUS | SSREPORT_BY_COMMAND)

/*
 * A step with at most this part of the CPUs busy counts as idle, and with at most this part idle as
 * full load.
 */
#define AT_END 0.02

/* A curvature with a p-value below this is certain. */
#define CURVED 0.05

/* Busy CPUs and power in the steps of a group of runs. */
struct points {
    double *busy, *watts;
    size_t count, busy_room, watts_room;
};

struct power_fit {
    const struct ssreport_run *run; /* the first of the group */
    double cpus;
    struct ssreport_fit line;
    struct stats_parabola parabola;
    struct stats_parabola best; /* the line, unless curvature is certain */
    double proportionality;
    const char *proportionality_of;
};

static void free_points(struct points *points) {
    free(points->busy);
    free(points->watts);
}

static int add_point(struct points *points, double busy, double watts) {
    if (!SS_GROW(points->busy, points->count + 1, points->busy_room) ||
        !SS_GROW(points->watts, points->count + 1, points->watts_room))
        return -1;
    points->busy[points->count] = busy;
    points->watts[points->count++] = watts;
    return 0;
}

/* Power that feeds two runs cannot be assigned to the CPUs of one of them. */
static bool has_power(const struct ssreport_run *run, const void *context) {
    (void)context;
    return run->energy.count > 0 && !run->energy.shared && run->record.load_cpus > 0;
}

static int add_steps(struct points *points, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        struct ssreport_cost cost = ssreport_energy_between(
            &run->energy, run->record.wall + step->from, run->record.wall + step->to);
        if (isfinite(cost.watts) && isfinite(step->load.mean) &&
            add_point(points, step->load.mean * run->record.load_cpus, cost.watts) < 0)
            return -1;
    }
    return 0;
}

/* Returns the mean power of the points between two numbers of busy CPUs; NaN without points. */
static double mean_between(const struct points *points, double low, double high) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (points->busy[i] >= low && points->busy[i] <= high) {
            sum += points->watts[i];
            count++;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

/*
 * Finds how proportional power is to the number of busy CPUs: 1 minus the greatest distance from
 * the straight line between idle and full load, relative to the range. Uses the steps if idle and
 * full load were measured, otherwise the fit.
 */
static void find_proportionality(struct power_fit *fit, const struct points *points) {
    double idle = mean_between(points, 0, AT_END * fit->cpus), most = 0;
    double full = mean_between(points, (1 - AT_END) * fit->cpus, fit->cpus);
    fit->proportionality_of = "steps";
    for (size_t i = 0; i < points->count; i++) {
        double chord = idle + (full - idle) * points->busy[i] / fit->cpus;
        most = fmax(most, fabs(points->watts[i] - chord));
    }
    if (isnan(idle + full)) {
        most = stats_parabola_sag(&fit->best, fit->cpus);
        idle = stats_parabola_at(&fit->best, 0);
        full = stats_parabola_at(&fit->best, fit->cpus);
        fit->proportionality_of = isnan(full) ? "" : "fit";
    }
    fit->proportionality = full > idle ? 1 - most / (full - idle) : NAN;
}

/* Rounding errors alone may make curvature look significant. */
static bool is_curved(const struct power_fit *fit) {
    double range = fabs(fit->parabola.linear) * fit->cpus;
    return fit->parabola.square_p < CURVED &&
           stats_parabola_sag(&fit->parabola, fit->cpus) > 1e-9 * range;
}

static struct power_fit fit_points(const struct ssreport_run *run, const struct points *points) {
    struct power_fit fit = {.run = run,
        .cpus = run->record.cpu_count,
        .line = ssreport_fit_line(points->busy, points->watts, points->count),
        .parabola = stats_parabola_fit(points->busy, points->watts, points->count)};
    fit.best = is_curved(&fit) ? fit.parabola : stats_parabola_of_line(&fit.line);
    find_proportionality(&fit, points);
    return fit;
}

static void name_run(struct table_sheet *sheet, const struct ssreport_run *run) {
    TABLE_CELLS(sheet, CELL("set", run->set + 1),
        CELL("environment", ssreport_run_environment(run)), CELL("workload", run->workload),
        CELL("variant", run->variant), CELL("placement", run->placement),
        CELL("method", run->method));
    if (!run->workload)
        TABLE_CELLS(sheet, CELL("command", run->record.command),
            CELL("instances", run->record.instance_count));
}

static void add_fit(struct table_sheet *sheet, const struct power_fit *fit) {
    table_add_row(sheet);
    name_run(sheet, fit->run);
    TABLE_CELLS(sheet, CELL("cpus", fit->cpus), CELL("steps", fit->line.count),
        CELL("line_constant", fit->line.intercept), CELL("line_slope", fit->line.slope),
        CELL("line_r_squared", fit->line.r_squared), CELL("constant", fit->parabola.constant),
        CELL("slope", fit->parabola.linear), CELL("square", fit->parabola.square),
        CELL("r_squared", fit->parabola.r_squared), CELL("square_p", fit->parabola.square_p),
        CELL("best", isnan(fit->best.linear) ? ""
                     : fit->best.square != 0 ? "quadratic"
                                             : "linear"),
        CELL("proportionality", fit->proportionality),
        CELL("proportionality_of", fit->proportionality_of));
}

static int fit_group(struct power_fit *fit, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group) {
    struct points points = {0};
    int result = 0;
    for (size_t i = groups->first[group]; i < groups->items && result == 0; i = groups->next[i])
        result = add_steps(&points, &report->runs[i]);
    *fit = fit_points(&report->runs[groups->first[group]], &points);
    free_points(&points);
    return result;
}

int ssreport_power_fits_fill(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_runs_group(report, ONE_FIT, has_power, NULL);
    if (!groups.first)
        return -1;
    for (size_t i = 0; i < groups.count; i++) {
        struct power_fit fit;
        if (fit_group(&fit, report, &groups, i) < 0)
            return -1;
        if (fit.line.count > 0 && !ssreport_fit_missing(&fit.line))
            add_fit(ssreport_table(report, "power-fits"), &fit);
    }
    return 0;
}
