/* SPDX-License-Identifier: Apache-2.0 */
#include "error_plots.h"

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "group_by.h"
#include "shaded_tables.h"

/* The bars of a target fill this part of the distance to the next target. */
#define FILLED 0.8

/* Height of a picture, with room for the names of all methods above the bars. */
#define HEIGHT 380

static const struct {
    const char *column, *published, *axis, *what;
} plots[] = {
    [SSREPORT_MEAN_ERROR] = {"error_mean_percent", "error_mean_percent_published", "mean error, %",
        "mean error"},
    [SSREPORT_SQUARED_ERROR] = {"error_mse_e4", "error_mse_e4_published", "MSE, %\u00b2",
        "mean squared error (MSE)"},
};

/* One picture: the rows of a workload, in series of one method each. */
struct drawing {
    const struct table_sheet *sheet;
    struct stats_groups workloads, methods;
    size_t row; /* any row of the workload */
    enum ssreport_error_plot plot;
};

static void free_drawing(struct drawing *drawing) {
    ss_owned_groups(&drawing->workloads);
    ss_owned_groups(&drawing->methods);
}

static double number_at(const struct drawing *drawing, size_t row, const char *name) {
    return table_cell_at(drawing->sheet, row, name)->number;
}

static bool belongs(const struct drawing *drawing, size_t row) {
    return drawing->workloads.group[row] == drawing->workloads.group[drawing->row];
}

/* Returns the number of lower targets of the workload, which is the position on the axis. */
static size_t target_index(const struct drawing *drawing, size_t row) {
    double target = number_at(drawing, row, "target");
    size_t index = 0;
    for (size_t i = 0; i < drawing->workloads.items; i++) {
        double other = number_at(drawing, i, "target");
        bool is_new = belongs(drawing, i) && other < target;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = !belongs(drawing, j) || number_at(drawing, j, "target") != other;
        index += is_new;
    }
    return index;
}

/* Returns whether a value can be drawn; a logarithmic axis has no 0. */
static bool is_drawn(const struct drawing *drawing, double value) {
    return isfinite(value) && (drawing->plot == SSREPORT_MEAN_ERROR || value > 0);
}

/* Returns the range of all values, measured and published; NaN without measured values. */
static struct ssreport_range find_range(const struct drawing *drawing) {
    struct ssreport_range range = {NAN, NAN};
    bool is_measured = false;
    for (size_t i = 0; i < drawing->workloads.items; i++) {
        const double values[] = {number_at(drawing, i, plots[drawing->plot].column),
            number_at(drawing, i, plots[drawing->plot].published)};
        for (size_t j = 0; belongs(drawing, i) && j < 2; j++) {
            if (!is_drawn(drawing, values[j]))
                continue;
            is_measured |= j == 0;
            range.least = fmin(range.least, values[j]);
            range.most = fmax(range.most, values[j]);
        }
    }
    return is_measured ? range : (struct ssreport_range){NAN, NAN};
}

static void write_axes(FILE *script, const struct drawing *drawing, struct ssreport_range range) {
    const char *name = plots[drawing->plot].axis;
    size_t targets = 0;
    if (drawing->plot == SSREPORT_SQUARED_ERROR)
        plot_axis_logarithmic(script, 'y', name, range.least / 2, 2 * range.most);
    else
        plot_axis(script, 'y', name, PLOT_AROUND_ZERO);
    fputs("set xlabel \"target, %\"\nset key outside top center horizontal samplen 1\nset xtics (",
        script);
    for (size_t i = 0; i < drawing->workloads.items; i++) {
        if (!belongs(drawing, i))
            continue;
        size_t index = target_index(drawing, i);
        fprintf(script, "%s\"%.4g\" %zu", targets > 0 ? ", " : "",
            100 * number_at(drawing, i, "target"), index);
        targets = index + 1 > targets ? index + 1 : targets;
    }
    fprintf(script, ") scale 0\nset xrange [-0.6:%.9g]\n", (double)targets - 0.4);
}

/* Writes the data blocks of a method: $mN with its bars, and $pN with published values. */
static void write_method(FILE *script, const struct drawing *drawing, size_t method, double shift) {
    const struct stats_groups *methods = &drawing->methods;
    for (int published = 0; published < 2; published++) {
        const char *column =
            published ? plots[drawing->plot].published : plots[drawing->plot].column;
        fprintf(script, "$%c%zu << END\n", published ? 'p' : 'm', method);
        for (size_t i = methods->first[method]; i < methods->items; i = methods->next[i]) {
            double value = number_at(drawing, i, column);
            if (is_drawn(drawing, value))
                fprintf(script, "%.6g %.6g\n", (double)target_index(drawing, i) + shift, value);
        }
        fputs("NaN NaN\nEND\n", script);
    }
}

static void write_name(FILE *script, const struct drawing *drawing, size_t row) {
    char name[100], tau[32] = "";
    double seconds = number_at(drawing, row, "tau_seconds");
    if (isfinite(seconds))
        snprintf(tau, sizeof tau, ", %.4g ms", 1000 * seconds);
    snprintf(name, sizeof name, "%.60s%s", table_cell_at(drawing->sheet, row, "method")->text, tau);
    plot_quote(script, name, 40);
}

static void write_bars(FILE *script, const struct drawing *drawing) {
    const struct stats_groups *methods = &drawing->methods;
    size_t count = 0, bar = 0;
    for (size_t i = 0; i < methods->count; i++)
        count += belongs(drawing, methods->first[i]);
    double width = FILLED / (double)count;
    for (size_t i = 0; i < methods->count; i++) {
        if (belongs(drawing, methods->first[i]))
            write_method(script, drawing, i, ((double)bar++ - (double)(count - 1) / 2) * width);
    }
    fprintf(script, "set boxwidth %.6g\nplot ", 0.9 * width);
    bar = 0;
    for (size_t i = 0; i < methods->count; i++) {
        if (!belongs(drawing, methods->first[i]))
            continue;
        fprintf(script, "$m%zu using 1:2 with boxes " PLOT_HALF " lc rgb \"%s\" title ", i,
            plot_series_color(bar++));
        write_name(script, drawing, methods->first[i]);
        fprintf(script,
            ", $p%zu using 1:2 with points pt 6 ps 0.7 lw 1.4 lc rgb \"" PLOT_INK "\" notitle, ",
            i);
    }
    fputs(
        "NaN with points pt 6 ps 0.7 lw 1.4 lc rgb \"" PLOT_INK "\" title \"published\"\n", script);
}

bool ssreport_error_plots_write(
    FILE *script, const struct table_sheet *sheet, size_t row, enum ssreport_error_plot plot) {
    static const char *const workload[] = {"set", "workload", NULL};
    static const char *const method[] = {"set", "workload", "method", "tau_seconds", NULL};
    struct drawing drawing = {.sheet = sheet,
        .workloads = ssreport_group_rows(sheet, workload, NULL),
        .methods = ssreport_group_rows(sheet, method, NULL),
        .row = row,
        .plot = plot};
    bool known = drawing.workloads.first && drawing.methods.first;
    struct ssreport_range range = known ? find_range(&drawing) : (struct ssreport_range){NAN, NAN};
    if (isfinite(range.least)) {
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, HEIGHT);
        write_axes(script, &drawing, range);
        write_bars(script, &drawing);
    }
    free_drawing(&drawing);
    return isfinite(range.least);
}

void ssreport_error_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    static const char *const workload[] = {"set", "workload", NULL};
    const struct table_sheet *sheet = ssreport_table(report, "constant-load");
    SS_OWNED(groups)
    struct stats_groups workloads = ssreport_group_rows(sheet, workload, NULL);
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t i = 0; i < workloads.count && !page->without.status; i++) {
        for (int plot = SSREPORT_MEAN_ERROR; plot <= SSREPORT_SQUARED_ERROR; plot++) {
            size_t row = workloads.first[i];
            FILE *script = ssreport_page_script(page);
            char caption[200];
            if (!script)
                break;
            snprintf(caption, sizeof caption, "%.100s: %s by target and method%s",
                table_cell_at(sheet, row, "workload")->text, plots[plot].what,
                table_cell_at(sheet, row, "set")->number > 1 ? ", second set" : "");
            bool drawn =
                ssreport_error_plots_write(script, sheet, row, (enum ssreport_error_plot)plot);
            ssreport_page_figure(page, script, drawn, caption);
        }
    }
    fputs("</div>\n", page->stream);
}
