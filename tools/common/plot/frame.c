/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <math.h>

void plot_begin(FILE *script, enum plot_kind kind, unsigned width, unsigned height) {
    fputs("set encoding utf8\n", script);
    if (kind == PLOT_PNG)
        fprintf(script,
            "if (strstrt(GPVAL_TERMINALS, \" pngcairo \")) set terminal pngcairo noenhanced "
            "size %u,%u font \"Sans,11\"; else set terminal png noenhanced truecolor size %u,%u\n",
            width, height, width, height);
    else
        fprintf(script, "set terminal svg%s noenhanced size %u,%u font \"sans-serif,%d\"%s\n",
            kind == PLOT_ON_PAGE ? " dynamic" : "", width, height, PLOT_TEXT_SIZE,
            kind == PLOT_ON_PAGE ? "" : " background rgb \"" PLOT_PAPER_LIGHT "\"");
    fputs("set border 3 lc rgb \"" PLOT_AXIS "\"\n"
          "set tics out nomirror scale 0.5 textcolor rgb \"" PLOT_INK "\"\n"
          "set grid ytics lc rgb \"" PLOT_GRID "\" lt 1 lw 0.5\n"
          "set style fill solid 1 noborder\n"
          "set key tmargin right horizontal samplen 1.5 noenhanced\n",
        script);
}

void plot_begin_on_page(FILE *script) {
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, PLOT_HEIGHT);
}

void plot_axis(FILE *script, char axis, const char *name, enum plot_range range) {
    /*
     * Without these bounds, gnuplot would draw an axis from -1 to 1 if all values are 0, and around
     * a single point.
     */
    static const char *const ranges[] = {"0:0.001<*", "*<0:0<*", "*:*"};
    bool is_logarithmic = range == PLOT_LOGARITHMIC;
    fprintf(script, "set %clabel \"%s%s\"\nset %crange [%s]\n", axis, name,
        is_logarithmic ? " (logarithmic)" : "", axis, ranges[range]);
    if (is_logarithmic)
        fprintf(script, "set logscale %c\n", axis);
}

void plot_axis_between(FILE *script, char axis, const char *name, double from, double to) {
    fprintf(script, "set %clabel \"%s", axis, name);
    if (from > 0 || to < 0)
        fprintf(script, " (axis begins at %.6g)", from);
    fprintf(script, "\"\nset %crange [%.9g:%.9g]\n", axis, from, to);
}

double plot_time_unit(double end) {
    return end > 600 ? 60 : 1;
}

void plot_axis_time(FILE *script, const char *what, double end) {
    double unit = plot_time_unit(end);
    char name[80];
    snprintf(name, sizeof name, "%s in %s", what, unit > 1 ? "minutes" : "seconds");
    plot_axis_between(script, 'x', name, 0, end / unit);
}

/* Labels closer than this part of the axis would overlap. */
#define LABELS_APART 0.07

void plot_axis_logarithmic(FILE *script, char axis, const char *name, double from, double to) {
    static const double steps[] = {1, 2, 5, 1.5, 3, 4, 6, 7, 8};
    double labels[(size_t)(2 / LABELS_APART)];
    size_t count = 0;
    plot_axis(script, axis, name, PLOT_LOGARITHMIC);
    fprintf(script, "set %crange [%.8g:%.8g]\nset %ctics ()\n", axis, from, to, axis);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (double power = pow(10, floor(log10(from))); power <= to; power *= 10) {
            double at = steps[i] * power, apart = 1;
            for (size_t j = 0; j < count; j++)
                apart = fmin(apart, fabs(log(at / labels[j])) / log(to / from));
            if (at < from || at > to || apart < LABELS_APART)
                continue;
            fprintf(script, "set %ctics add (\"%.6g\" %.6g)\n", axis, at, at);
            labels[count++] = at;
        }
    }
}

void plot_axis_percent(FILE *script, char axis, const char *name, double least, double most) {
    double from = fmax(5 * floor(20 * least - 0.1), 0);
    double to = fmin(5 * ceil(20 * most + 0.1), 100);
    plot_axis_between(script, axis, name, from, to > from ? to : from + 5);
}

void plot_line_at(FILE *script, char axis, double at) {
    if (axis == 'x')
        fprintf(script, "set arrow from first %.9g, graph 0 to first %.9g, graph 1", at, at);
    else
        fprintf(script, "set arrow from graph 0, first %.9g to graph 1, first %.9g", at, at);
    fputs(" nohead lc rgb \"" PLOT_AXIS "\" lw 1.3 dt 2\n", script);
}
