/* SPDX-License-Identifier: Apache-2.0 */
#include "power_settings.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "html_page.h"
#include "run_order.h"
#include "shaded_tables.h"

/* Runs that agree in these properties are in one picture, which compares placements. */
#define ONE_LOAD                                                                                   \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |   \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_TARGET)

/* Fewer settings need no picture. */
#define SETTINGS_MIN 3

#define NAMES_HEIGHT 60 /* additional height, for the names of settings below the axis */

/* Rows with the same values in these columns are in one picture. */
#define LOAD "set", "environment", "workload", "variant", "method", "load"

/* Power that feeds two runs cannot be assigned to the setting of one of them. */
static bool has_power(const struct ssreport_run *run, const void *context) {
    (void)context;
    return run->energy.count > 0 && !run->energy.shared && run->placement && run->target > 0 &&
           run->steps.count > 0;
}

/* Returns the mean power of a run. */
static double mean_watts(const struct ssreport_run *run) {
    const struct ssreport_steps *steps = &run->steps;
    double from = run->record.wall + steps->items[0].from;
    double to = run->record.wall + steps->items[steps->count - 1].to;
    return ssreport_energy_between(&run->energy, from, to).watts;
}

static int add_setting(
    struct ssreport_report *report, const struct stats_groups *settings, size_t setting) {
    const struct ssreport_run *run = &report->runs[settings->first[setting]];
    SS_OWNED(free) double *watts = calloc(settings->items, sizeof *watts);
    size_t runs = 0;
    if (!watts)
        return -1;
    for (size_t i = settings->first[setting]; i < settings->items; i = settings->next[i]) {
        watts[runs] = mean_watts(&report->runs[i]);
        runs += isfinite(watts[runs]);
    }
    if (runs > 0)
        TABLE_ROW(ssreport_table(report, "power-settings"), CELL("set", run->set + 1),
            CELL("environment", ssreport_run_environment(run)), CELL("workload", run->workload),
            CELL("variant", run->variant), CELL("method", run->method), CELL("load", run->target),
            CELL("placement", run->placement), CELL("runs", runs),
            CELL("least", ssreport_quantile_of(watts, runs, 0)),
            CELL("lower_quartile", ssreport_quantile_of(watts, runs, 0.25)),
            CELL("median", ssreport_quantile_of(watts, runs, 0.5)),
            CELL("upper_quartile", ssreport_quantile_of(watts, runs, 0.75)),
            CELL("most", ssreport_quantile_of(watts, runs, 1)));
    return 0;
}

int ssreport_power_settings_fill(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups loads = ssreport_runs_group(report, ONE_LOAD, has_power, NULL);
    SS_OWNED(groups)
    struct stats_groups settings =
        ssreport_runs_group(report, ONE_LOAD | SSREPORT_BY_PLACEMENT, has_power, NULL);
    SS_OWNED(free) size_t *counts = calloc(loads.count + 1, sizeof *counts);
    if (!loads.first || !settings.first || !counts)
        return -1;
    for (size_t i = 0; i < settings.count; i++)
        counts[loads.group[settings.first[i]]]++;
    for (size_t load = 0; load < loads.count; load++) {
        for (size_t i = 0; counts[load] >= SETTINGS_MIN && i < settings.count; i++) {
            if (loads.group[settings.first[i]] == load && add_setting(report, &settings, i) < 0)
                return -1;
        }
    }
    return 0;
}

static struct stats_groups group_loads(const struct table_sheet *sheet) {
    static const char *const columns[] = {LOAD, NULL};
    return ssreport_group_rows(sheet, columns, NULL);
}

static double number_of(const struct table_sheet *sheet, size_t row, const char *column) {
    return table_cell_at(sheet, row, column)->number;
}

void ssreport_power_settings_plot(FILE *script, const struct table_sheet *sheet, size_t picture) {
    SS_OWNED(groups) struct stats_groups loads = group_loads(sheet);
    double least = INFINITY, most = 0;
    int count = 0;
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, PLOT_HEIGHT + NAMES_HEIGHT);
    fputs("$boxes << END\n", script);
    for (size_t i = loads.first[picture]; i < loads.items; i = loads.next[i]) {
        fprintf(script, "%d %.6g %.6g %.6g %.6g %.6g\n", ++count, number_of(sheet, i, "least"),
            number_of(sheet, i, "lower_quartile"), number_of(sheet, i, "median"),
            number_of(sheet, i, "upper_quartile"), number_of(sheet, i, "most"));
        least = fmin(least, number_of(sheet, i, "least"));
        most = fmax(most, number_of(sheet, i, "most"));
    }
    fputs("END\n", script);
    double room = fmax(0.05 * (most - least), 0.01 * most);
    plot_axis_between(script, 'y', "power, W", floor(fmax(least - room, 0)), most + room);
    fprintf(script, "set xrange [0.4:%d.6]\nset xtics rotate by -30 scale 0 (", count);
    count = 0;
    for (size_t i = loads.first[picture]; i < loads.items; i = loads.next[i]) {
        fputs(count > 0 ? ", " : "", script);
        plot_quote(script, table_cell_at(sheet, i, "placement")->text, 24);
        fprintf(script, " %d", ++count);
    }
    fputs(")\nset boxwidth 0.5\nunset key\n"
          "plot $boxes using 1:3:2:6:5 with candlesticks whiskerbars 0.5 " PLOT_HALF
          " lw 1.3 lc rgb \"" PLOT_BLUE
          "\", $boxes using 1:4:4:4:4 with candlesticks lw 2.2 lc rgb \"" PLOT_BLUE "\"\n",
        script);
}

void ssreport_power_settings_print(
    struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "power-settings");
    SS_OWNED(groups) struct stats_groups loads = group_loads(sheet);
    page_sheet(page->stream, sheet);
    for (size_t picture = 0; picture < loads.count && !page->without.status; picture++) {
        size_t row = loads.first[picture];
        const char *variant = table_cell_at(sheet, row, "variant")->text;
        FILE *script = ssreport_page_script(page);
        char caption[300];
        if (!script)
            break;
        if (picture == 0)
            fputs("<p>Mean power of the runs by setting: quartiles, least and most</p>\n"
                  "<div class=\"plots\">\n",
                page->stream);
        snprintf(caption, sizeof caption, "%.80s at %.3g %% of the machine%s%.100s",
            table_cell_at(sheet, row, "workload")->text, 100 * number_of(sheet, row, "load"),
            *variant ? ", " : "", variant);
        ssreport_power_settings_plot(script, sheet, picture);
        ssreport_page_figure(page, script, true, caption);
    }
    if (loads.count > 0)
        fputs("</div>\n", page->stream);
}
