/* SPDX-License-Identifier: Apache-2.0 */

/* Two pictures of a workload: the throughput of all methods, and their deviations from the
 * baseline. */

#include <math.h>

#include "gnuplot.h"
#include "methods.h"
#include "picture.h"
#include "run_plots.h"

/* Methods differ in their marks, too, for readers who cannot tell the colors apart. */
static const struct {
    const char *color;
    int mark;
} styles[] = {{"#1f5f9f", 7}, {"#d9541e", 5}, {"#2e7d32", 9}, {"#7b3fa0", 11}, {"#b8860b", 13},
    {"#00838f", 6}, {"#c2185b", 4}, {"#5d4037", 8}, {"#455a64", 10}, {"#827717", 12}};

#define STYLES (sizeof styles / sizeof *styles)

struct drawing {
    FILE *script;
    const struct ssreport_methods *methods;
    bool deviations; /* instead of throughput */
};

static double value_of(const struct drawing *drawing, const struct ssreport_method_point *point) {
    return drawing->deviations ? ssreport_methods_deviation(drawing->methods, point)
                               : point->step->throughput;
}

static bool is_baseline(const struct drawing *drawing, const struct ssreport_run *run) {
    return drawing->methods->baseline && ssreport_methods_is_one(run, drawing->methods->baseline);
}

/* Whether a method's points begin here, and whether these are drawn: not those at 0. */
static bool begins_method(const struct drawing *drawing, size_t i) {
    const struct ssreport_method_point *points = drawing->methods->points;
    return i == 0 || !ssreport_methods_is_one(points[i - 1].run, points[i].run);
}

static bool is_drawn(const struct drawing *drawing, size_t i) {
    return begins_method(drawing, i) &&
           !(drawing->deviations && is_baseline(drawing, drawing->methods->points[i].run));
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
    ssreport_plots_percent_axis(drawing->script, least, most);
}

/* Writes the points that others disturbed, for rings around them; false if no point is. */
static bool write_disturbed(const struct drawing *drawing) {
    const struct ssreport_methods *methods = drawing->methods;
    size_t count = 0;
    for (size_t i = 0; i < methods->count; i++) {
        const struct ssreport_method_point *point = &methods->points[i];
        double value = value_of(drawing, point);
        if (!ssreport_others_disturb(point->run->others) || !isfinite(value) ||
            (drawing->deviations && is_baseline(drawing, point->run)))
            continue;
        if (count++ == 0)
            fputs("$disturbed << END\n", drawing->script);
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
    ssreport_plots_frame(script, "load observed, %",
        drawing->deviations ? "deviation from the baseline, %" : "throughput, /s");
    write_axis(drawing);
    fprintf(script, "set yrange [%s]\nset key maxcols 3\n", drawing->deviations ? "*:*" : "0:*");
    if (drawing->deviations)
        fputs("set arrow from graph 0, first 0 to graph 1, first 0 nohead lc rgb \"#8a8a8a\"\n",
            script);
    fputs("$baseline << END\n", script);
    for (size_t i = 0; i < methods->knots && !drawing->deviations; i++)
        fprintf(script, "%.9g %.9g\n", 100 * methods->knot[i].load, methods->knot[i].throughput);
    fputs("END\n", script);
    for (size_t i = 0; i < methods->count; i++) {
        if (is_drawn(drawing, i))
            write_points(drawing, i);
    }
    bool disturbed = write_disturbed(drawing);
    fputs("plot ", script);
    if (disturbed)
        fputs("$disturbed using 1:2 with points pt 6 ps 1.7 lw 1.6 lc rgb \"#222222\" title "
              "\"disturbed by others\", ",
            script);
    if (methods->knots > 1 && !drawing->deviations)
        fputs("$baseline using 1:2 with lines lw 1.5 lc rgb \"#8a8a8a\" title \"baseline\", ",
            script);
    for (size_t i = 0; i < methods->count; i++) {
        char name[100];
        /* A method looks the same in both pictures. */
        style += i > 0 && begins_method(drawing, i);
        if (!is_drawn(drawing, i))
            continue;
        ssreport_methods_name(name, sizeof name, methods->points[i].run);
        fprintf(script, "$m%zu using 1:2 with points pt %d ps 0.7 lw 1.3 lc rgb \"%s\" title ", i,
            styles[style % STYLES].mark, styles[style % STYLES].color);
        sstrace_gnuplot_quote(script, name, 40);
        fputs(", ", script);
    }
    fputs("NaN notitle\n", script);
}

static void print_picture(FILE *page, const struct drawing *drawing, const char *caption,
    unsigned *number, struct ss_error *without) {
    struct drawing of = *drawing;
    of.script = without->status ? NULL : tmpfile();
    if (!of.script)
        return;
    write_methods(&of);
    fputs("<figure><figcaption>", page);
    ssreport_html_text(page, caption);
    fputs("</figcaption>\n", page);
    ssreport_picture(page, of.script, ++*number, caption, without);
    fputs("</figure>\n", page);
    fclose(of.script);
}

static bool has_deviations(const struct drawing *drawing) {
    for (size_t i = 0; i < drawing->methods->count; i++) {
        const struct ssreport_method_point *point = &drawing->methods->points[i];
        if (!is_baseline(drawing, point->run) &&
            isfinite(ssreport_methods_deviation(drawing->methods, point)))
            return true;
    }
    return false;
}

static void print_group(FILE *page, const struct ssreport_run *run,
    const struct ssreport_methods *methods, unsigned *number, struct ss_error *without) {
    struct drawing drawing = {.methods = methods};
    char caption[300];
    const char *environment = ssreport_run_environment(run);
    snprintf(caption, sizeof caption, "%.100s, environment %.60s%s: throughput by method",
        run->workload, environment, run->set == 0 ? "" : ", second set");
    print_picture(page, &drawing, caption, number, without);
    drawing.deviations = true;
    snprintf(caption, sizeof caption, "%.100s, environment %.60s%s: deviation from the baseline",
        run->workload, environment, run->set == 0 ? "" : ", second set");
    if (has_deviations(&drawing))
        print_picture(page, &drawing, caption, number, without);
}

void ssreport_methods_print(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    fputs("<div class=\"plots\">\n", page);
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_methods methods;
        if (!ssreport_methods_is_first(report, i))
            continue;
        if (ssreport_methods_of(&methods, report, &report->runs[i]) == 0 && methods.count > 0)
            print_group(page, &report->runs[i], &methods, number, without);
        ssreport_methods_free(&methods);
    }
    fputs("</div>\n", page);
}
