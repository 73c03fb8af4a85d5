/* SPDX-License-Identifier: Apache-2.0 */
#include "published_plots.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "group_by.h"
#include "overlay.h"
#include "run_order.h"
#include "shaded_tables.h"

/* The bars of a target or program fill this part of the distance to the next one. */
#define FILLED 0.8

/* Height of a picture, with room for the names of all methods above the bars. */
#define HEIGHT 380

static const struct {
    const char *column, *published, *axis, *what;
} plots[] = {
    [SSREPORT_LOAD] = {"load_mean", "error_mean_percent_published", "load, %", NULL},
    [SSREPORT_MEAN_ERROR] = {"error_mean_percent", "error_mean_percent_published", "mean error, %",
        "mean error"},
    [SSREPORT_SQUARED_ERROR] = {"error_mse_e4", "error_mse_e4_published", "MSE, %\u00b2",
        "mean squared error (MSE)"},
};

/* One picture: the rows of a workload, or of a target, in series of one method each. */
struct drawing {
    const struct table_sheet *sheet;
    struct stats_groups pictures, methods;
    size_t row; /* any row of the picture */
    enum ssreport_error_plot plot;
};

static void free_drawing(struct drawing *drawing) {
    ss_owned_groups(&drawing->pictures);
    ss_owned_groups(&drawing->methods);
}

static double number_at(const struct drawing *drawing, size_t row, const char *name) {
    return table_cell_at(drawing->sheet, row, name)->number;
}

static bool belongs(const struct drawing *drawing, size_t row) {
    return drawing->pictures.group[row] == drawing->pictures.group[drawing->row];
}

/* Orders rows along the axis: by program in a picture of one target, otherwise by target. */
static int compare(const struct drawing *drawing, size_t left, size_t right) {
    double one = number_at(drawing, left, "target"), other = number_at(drawing, right, "target");
    return drawing->plot == SSREPORT_LOAD
               ? strcmp(table_cell_at(drawing->sheet, left, "workload")->text,
                     table_cell_at(drawing->sheet, right, "workload")->text)
               : (one > other) - (one < other);
}

/* Returns the number of lower targets or programs in the picture, which is the position. */
static size_t index_of(const struct drawing *drawing, size_t row) {
    size_t index = 0;
    for (size_t i = 0; i < drawing->pictures.items; i++) {
        bool is_new = belongs(drawing, i) && compare(drawing, i, row) < 0;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = !belongs(drawing, j) || compare(drawing, i, j) != 0;
        index += is_new;
    }
    return index;
}

/* Returns a value of the picture. Loads are published as errors: target minus load. */
static double value_at(const struct drawing *drawing, size_t row, bool published) {
    double value = number_at(
        drawing, row, published ? plots[drawing->plot].published : plots[drawing->plot].column);
    if (drawing->plot != SSREPORT_LOAD)
        return value;
    return published ? 100 * number_at(drawing, row, "target") - value : 100 * value;
}

/* Returns whether a value can be drawn; a logarithmic axis has no 0. */
static bool is_drawn(const struct drawing *drawing, double value) {
    return isfinite(value) && (drawing->plot != SSREPORT_SQUARED_ERROR || value > 0);
}

/* Returns the range of all values, measured and published; NaN without measured values. */
static struct ssreport_range find_range(const struct drawing *drawing) {
    struct ssreport_range range = {NAN, NAN};
    bool is_measured = false;
    for (size_t i = 0; i < drawing->pictures.items; i++) {
        const double values[] = {value_at(drawing, i, false), value_at(drawing, i, true)};
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

/* Returns the name of a program without its suite. */
static const char *name_of(const char *workload) {
    const char *slash = strrchr(workload, '/');
    return slash ? slash + 1 : workload;
}

static void write_axes(FILE *script, const struct drawing *drawing, struct ssreport_range range) {
    const char *name = plots[drawing->plot].axis;
    size_t count = 0;
    if (drawing->plot == SSREPORT_SQUARED_ERROR)
        plot_axis_logarithmic(script, 'y', name, range.least / 2, 2 * range.most);
    else if (drawing->plot == SSREPORT_MEAN_ERROR)
        plot_axis(script, 'y', name, PLOT_AROUND_ZERO);
    else
        plot_axis_between(script, 'y', name, 0, 100);
    if (drawing->plot == SSREPORT_LOAD)
        plot_line_at(script, 'y', 100 * number_at(drawing, drawing->row, "target"));
    else
        fputs("set xlabel \"target, %\"\n", script);
    fputs("set key outside top center horizontal samplen 1\nset xtics (", script);
    for (size_t i = 0; i < drawing->pictures.items; i++) {
        if (!belongs(drawing, i))
            continue;
        size_t index = index_of(drawing, i);
        fputs(count > 0 ? ", " : "", script);
        if (drawing->plot == SSREPORT_LOAD)
            plot_quote(script, name_of(table_cell_at(drawing->sheet, i, "workload")->text), 14);
        else
            fprintf(script, "\"%.4g\"", 100 * number_at(drawing, i, "target"));
        fprintf(script, " %zu", index);
        count = index + 1 > count ? index + 1 : count;
    }
    fprintf(script, ") scale 0\nset xrange [-0.6:%.9g]\n", (double)count - 0.4);
}

/* Writes the data blocks of a method: $mN with its bars, and $pN with published values. */
static void write_method(FILE *script, const struct drawing *drawing, size_t method, double shift) {
    const struct stats_groups *methods = &drawing->methods;
    for (int published = 0; published < 2; published++) {
        fprintf(script, "$%c%zu << END\n", published ? 'p' : 'm', method);
        for (size_t i = methods->first[method]; i < methods->items; i = methods->next[i]) {
            double value = value_at(drawing, i, published);
            if (is_drawn(drawing, value))
                fprintf(script, "%.6g %.6g\n", (double)index_of(drawing, i) + shift, value);
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

/* Groups the rows of a picture: those of a target for the load, otherwise those of a workload. */
static struct stats_groups group_pictures(
    const struct table_sheet *sheet, enum ssreport_error_plot plot) {
    const char *const columns[] = {"set", plot == SSREPORT_LOAD ? "target" : "workload", NULL};
    return ssreport_group_rows(sheet, columns, NULL);
}

bool ssreport_error_plots_write(
    FILE *script, const struct table_sheet *sheet, size_t row, enum ssreport_error_plot plot) {
    const char *const method[] = {
        "set", plot == SSREPORT_LOAD ? "target" : "workload", "method", "tau_seconds", NULL};
    struct drawing drawing = {.sheet = sheet,
        .pictures = group_pictures(sheet, plot),
        .methods = ssreport_group_rows(sheet, method, NULL),
        .row = row,
        .plot = plot};
    bool known = drawing.pictures.first && drawing.methods.first;
    struct ssreport_range range = known ? find_range(&drawing) : (struct ssreport_range){NAN, NAN};
    if (isfinite(range.least)) {
        plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, HEIGHT);
        write_axes(script, &drawing, range);
        write_bars(script, &drawing);
    }
    free_drawing(&drawing);
    return isfinite(range.least);
}

static void print_picture(struct ssreport_page *page, const struct table_sheet *sheet, size_t row,
    enum ssreport_error_plot plot) {
    FILE *script = ssreport_page_script(page);
    char caption[200];
    const char *set = table_cell_at(sheet, row, "set")->number > 1 ? ", second set" : "";
    if (!script)
        return;
    if (plot == SSREPORT_LOAD)
        snprintf(caption, sizeof caption, "Load by program and method at %.4g %% (dashed)%s",
            100 * table_cell_at(sheet, row, "target")->number, set);
    else
        snprintf(caption, sizeof caption, "%.100s: %s by target and method%s",
            table_cell_at(sheet, row, "workload")->text, plots[plot].what, set);
    ssreport_page_figure(
        page, script, ssreport_error_plots_write(script, sheet, row, plot), caption);
}

void ssreport_error_plots_print(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "constant-load");
    fputs("<div class=\"plots\">\n", page->stream);
    for (int plot = SSREPORT_LOAD; plot <= SSREPORT_SQUARED_ERROR; plot++) {
        SS_OWNED(groups)
        struct stats_groups pictures = group_pictures(sheet, (enum ssreport_error_plot)plot);
        for (size_t i = 0; i < pictures.count; i++)
            print_picture(page, sheet, pictures.first[i], (enum ssreport_error_plot)plot);
    }
    fputs("</div>\n", page->stream);
}

/* Properties in which the runs of one picture agree. */
#define OF_REPLAY                                                                                  \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |   \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_ROUND | SSREPORT_BY_TRACE)
#define OF_LOAD                                                                                    \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_FAMILY |     \
        SSREPORT_BY_TARGET | SSREPORT_BY_ROUND)

static unsigned common_to(const char *experiment) {
    return ssreport_is_word(experiment, "replay") ? OF_REPLAY : OF_LOAD;
}

static bool is_beside(const struct ssreport_run *run, const struct ssreport_run *first) {
    return run->record.sample_count > 0 &&
           ssreport_run_compare(run, first, common_to(first->experiment)) == 0;
}

static void write_run_name(char name[64], const struct ssreport_run *run) {
    if (run->speed > 0)
        snprintf(name, 64, "speed %.4g", run->speed);
    else if (run->tau > 0)
        snprintf(name, 64, "%.40s, %.4g ms", run->method ? run->method : "-", 1000 * run->tau);
    else
        snprintf(name, 64, "%.60s", run->method ? run->method : "-");
}

bool ssreport_overlay_plots_write(
    FILE *script, const struct ssreport_report *report, const struct ssreport_run *first) {
    struct ssreport_overlay overlay = {
        .time = common_to(first->experiment) == OF_REPLAY ? "time of the trace" : "time"};
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        char *name = is_beside(run, first) ? ssreport_overlay_add(&overlay, run, run, NULL) : NULL;
        if (name)
            write_run_name(name, run);
    }
    return ssreport_overlay_write(script, &overlay);
}

static bool is_of(const struct ssreport_run *run, const void *experiment) {
    return ssreport_is_word(run->experiment, experiment) && run->record.sample_count > 0;
}

static void print_overlay(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    FILE *script = ssreport_page_script(page);
    char caption[300], which[100], round[32] = "";
    if (!script)
        return;
    if (run->round > 1)
        snprintf(round, sizeof round, ", round %.0f", run->round);
    if (common_to(run->experiment) == OF_REPLAY)
        snprintf(which, sizeof which, "%.60s at all speeds", run->method ? run->method : "-");
    else
        snprintf(which, sizeof which, "all methods at %.4g %%", 100 * run->target);
    snprintf(caption, sizeof caption, "%.100s: %s%s%s", run->workload ? run->workload : "-", which,
        round, run->set > 0 ? ", second set" : "");
    ssreport_page_figure(page, script, ssreport_overlay_plots_write(script, report, run), caption);
}

void ssreport_overlay_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report, const char *experiment) {
    SS_OWNED(groups)
    struct stats_groups pictures =
        ssreport_runs_group(report, common_to(experiment), is_of, experiment);
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t i = 0; i < pictures.count && !page->without.status; i++)
        print_overlay(page, report, &report->runs[pictures.first[i]]);
    fputs("</div>\n", page->stream);
}
