/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Draws two pictures of a workload: the throughput of all methods, and deviations from the
 * baseline.
 */

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "methods.h"
#include "run_order.h"

struct drawing {
    FILE *script;
    const struct ssreport_methods *methods;
    bool deviations; /* draw deviations instead of throughputs */
};

static double value_of(const struct drawing *drawing, const struct ssreport_method_point *point) {
    return drawing->deviations ? ssreport_methods_deviation(drawing->methods, point)
                               : point->step->throughput;
}

static bool begins_method(const struct drawing *drawing, size_t i) {
    const struct ssreport_method_point *points = drawing->methods->points;
    return i == 0 || !ssreport_methods_is_one(points[i - 1].run, points[i].run);
}

/*
 * Returns whether a method that is drawn begins at this point. Deviations of the baseline are 0,
 * and not drawn.
 */
static bool is_drawn(const struct drawing *drawing, size_t i) {
    return begins_method(drawing, i) &&
           !(drawing->deviations &&
               ssreport_methods_is_baseline(drawing->methods, drawing->methods->points[i].run));
}

static void write_points(const struct drawing *drawing, size_t first) {
    const struct ssreport_methods *methods = drawing->methods;
    fprintf(drawing->script, "$m%zu << END\n", first);
    for (size_t i = first; i < methods->count && ssreport_methods_is_one(methods->points[i].run,
                                                     methods->points[first].run);
         i++) {
        double value = value_of(drawing, &methods->points[i]);
        if (isfinite(value))
            fprintf(
                drawing->script, "%.9g %.9g\n", 100 * methods->points[i].step->load.mean, value);
    }
    fputs("END\n", drawing->script);
}

static void write_axis(const struct drawing *drawing) {
    const struct ssreport_methods *methods = drawing->methods;
    double least = 1, most = 0;
    for (size_t i = 0; i < methods->count; i++) {
        least = fmin(least, methods->points[i].step->load.mean);
        most = fmax(most, methods->points[i].step->load.mean);
    }
    plot_axis_percent(drawing->script, 'x', "load observed, %", least, most);
}

/* Writes the points of invalid or disturbed runs, which get rings. Returns false without any. */
static bool write_doubtful(const struct drawing *drawing) {
    const struct ssreport_methods *methods = drawing->methods;
    size_t count = 0;
    for (size_t i = 0; i < methods->count; i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        double value = value_of(drawing, point);
        if (!(ssreport_others_disturb(point->run->others) || ssreport_run_is_invalid(point->run)) ||
            !isfinite(value) ||
            (drawing->deviations && ssreport_methods_is_baseline(drawing->methods, point->run)))
            continue;
        if (count++ == 0)
            fputs("$doubtful << END\n", drawing->script);
        fprintf(drawing->script, "%.9g %.9g\n", 100 * point->step->load.mean, value);
    }
    if (count > 0)
        fputs("END\n", drawing->script);
    return count > 0;
}

static void write_methods(const struct drawing *drawing) {
    const struct ssreport_methods *methods = drawing->methods;
    FILE *script = drawing->script;
    size_t style = 0;
    plot_begin_on_page(script);
    write_axis(drawing);
    fputs("set key maxcols 3\n", script);
    if (drawing->deviations) {
        plot_axis(script, 'y', "deviation from the baseline, %", PLOT_AROUND_ZERO);
        plot_line_at(script, 'y', 0);
    } else {
        plot_axis(script, 'y', "throughput, /s", PLOT_FROM_ZERO);
    }
    fputs("$baseline << END\n", script);
    for (size_t i = 0; i < methods->knots && !drawing->deviations; i++)
        fprintf(script, "%.9g %.9g\n", 100 * methods->knot[i].load, methods->knot[i].throughput);
    fputs("END\n", script);
    for (size_t i = 0; i < methods->count; i++) {
        if (is_drawn(drawing, i))
            write_points(drawing, i);
    }
    bool doubtful = write_doubtful(drawing);
    fputs("plot ", script);
    if (doubtful)
        fputs("$doubtful using 1:2 with " PLOT_RINGS " title \"invalid or disturbed\", ", script);
    if (methods->knots > 1 && !drawing->deviations)
        fputs("$baseline using 1:2 with lines lw 1.5 lc rgb \"" PLOT_AXIS "\" title \"baseline\", ",
            script);
    for (size_t i = 0; i < methods->count; i++) {
        char name[100];
        /* A method has the same color and mark in both pictures. */
        style += i > 0 && begins_method(drawing, i);
        if (!is_drawn(drawing, i))
            continue;
        ssreport_methods_name(name, sizeof name, methods->points[i].run);
        fprintf(script, "$m%zu using 1:2 with points pt %d ps 0.7 lw 1.3 lc rgb \"%s\" title ", i,
            plot_series_mark(style), plot_series_color(style));
        plot_quote(script, name, 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

static void print_picture(
    struct ssreport_page *page, const struct drawing *drawing, const char *caption) {
    struct drawing of = *drawing;
    of.script = ssreport_page_script(page);
    if (!of.script)
        return;
    write_methods(&of);
    ssreport_page_figure(page, of.script, true, caption);
}

static bool has_deviations(const struct drawing *drawing) {
    for (size_t i = 0; i < drawing->methods->count; i++) {
        const struct ssreport_method_point *point = &drawing->methods->points[i];
        if (!ssreport_methods_is_baseline(drawing->methods, point->run) &&
            isfinite(ssreport_methods_deviation(drawing->methods, point)))
            return true;
    }
    return false;
}

static void print_group(struct ssreport_page *page, const struct ssreport_run *run,
    const struct ssreport_methods *methods, bool names_cpus) {
    struct drawing drawing = {.methods = methods};
    char group[240], caption[300], cpus[40] = "";
    if (names_cpus)
        snprintf(cpus, sizeof cpus, ", %.4g CPU%s", run->record.load_cpus,
            run->record.load_cpus == 1 ? "" : "s");
    snprintf(group, sizeof group, "%.100s, environment %.60s%s%s", run->workload,
        ssreport_run_environment(run), cpus, run->set == 0 ? "" : ", second set");
    snprintf(caption, sizeof caption, "%s: throughput by method", group);
    print_picture(page, &drawing, caption);
    drawing.deviations = true;
    snprintf(caption, sizeof caption, "%s: deviation from the baseline", group);
    if (has_deviations(&drawing))
        print_picture(page, &drawing, caption);
}

void ssreport_methods_print(struct ssreport_page *page, const struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_methods_group(report);
    const struct ssreport_run *runs = report->runs;
    bool differ = false;
    for (size_t group = 1; group < groups.count; group++)
        differ |= ssreport_run_compare(
                      &runs[groups.first[0]], &runs[groups.first[group]], SSREPORT_BY_CPUS) != 0;
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t group = 0; group < groups.count; group++) {
        struct ssreport_methods methods;
        if (ssreport_methods_of(&methods, report, &groups, group) == 0 && methods.count > 0)
            print_group(page, &runs[groups.first[group]], &methods, differ);
        ssreport_methods_free(&methods);
    }
    fputs("</div>\n", page->stream);
}
