/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_picture.h"

#include <errno.h>

#include "base/owned.h"
#include "base/words.h"
#include "frame.h"
#include "gnuplot.h"

#define WIDTH         1100
#define HEIGHT        440
#define TICKS_MAX     12
#define TITLE_LETTERS 110 /* maximum number of characters of the title */

/* Units of the time axis, for lengths up to `below`, chosen so that marks are at round numbers. */
static const struct unit {
    const char *name;
    ss_time length, below;
} units[] = {
    {"nanoseconds", 1, 3 * SS_MICROSECOND},
    {"microseconds", SS_MICROSECOND, 3 * SS_MILLISECOND},
    {"milliseconds", SS_MILLISECOND, 3 * SS_SECOND},
    {"seconds", SS_SECOND, 360 * SS_SECOND},
    {"minutes", 60 * SS_SECOND, 6 * 3600 * SS_SECOND},
    {"hours", 3600 * SS_SECOND, 3 * 86400 * SS_SECOND},
    {"days", 86400 * SS_SECOND, SS_TIME_NEVER},
};

static const struct unit *choose_unit(ss_time length) {
    const struct unit *unit = length == 0 ? &units[3] : units;
    while (unit->below != SS_TIME_NEVER && length >= unit->below)
        unit++;
    return unit;
}

static void write_frame(FILE *script, const char *kind, ss_time length, const char *title) {
    const struct unit *unit = choose_unit(length);
    ss_time step = sstrace_plot_step_after(0);
    while (step > 0 && length / step > TICKS_MAX)
        step = sstrace_plot_step_after(step);
    plot_begin(script, strcmp(kind, "svg") == 0 ? PLOT_SVG : PLOT_PNG, WIDTH, HEIGHT);
    if (title) {
        fputs("set title ", script);
        plot_quote(script, title, TITLE_LETTERS);
        fputs(" noenhanced\n", script);
    }
    fprintf(script,
        "set xlabel \"time in %s\"\nset xrange [0:%.17g]\nset xtics 0,%.17g\n"
        "set ylabel \"load\"\nset yrange [0:100]\nset ytics 0,25 format \"%%g %%%%\"\n"
        "set key bmargin center horizontal samplen 2 width -3\nset bmargin 6\n",
        unit->name, length > 0 ? (double)length / (double)unit->length : 1.0,
        length > 0 && step > 0 ? (double)step / (double)unit->length : 2.0);
}

static void write_point(FILE *script, double at, const struct sstrace_column *column) {
    fprintf(script, "%.17g %.6g %.6g %.6g\n", at, column->min * 100, column->largest * 100,
        sstrace_column_mean(column) * 100);
}

static bool is_drawn(const struct sstrace_columns *columns, size_t i) {
    return i < columns->count && columns->items[i].controlled > 0;
}

/* Writes a point in the middle of each column, and one at each end of a controlled section. */
static bool write_loads(FILE *script, const struct sstrace_columns *columns, double width) {
    bool any = false;
    fputs("$load << END\n", script);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sstrace_column *column = &columns->items[i];
        if (!is_drawn(columns, i))
            continue;
        any = true;
        if (i == 0 || !is_drawn(columns, i - 1))
            write_point(script, (double)i * width, column);
        write_point(script, ((double)i + 0.5) * width, column);
        if (is_drawn(columns, i + 1))
            continue;
        write_point(script, ((double)i + 1) * width, column);
        fputc('\n', script);
    }
    fputs("END\n", script);
    return any;
}

static bool write_stretches(FILE *script, const struct sstrace_columns *columns, double width) {
    bool any = false;
    fputs("$free << END\n", script);
    for (size_t i = 0; i < columns->count; i++) {
        size_t first = i;
        while (i < columns->count && columns->items[i].free > 0)
            i++;
        if (i == first)
            continue;
        any = true;
        fprintf(script, "%.17g 100 %.17g\n", (double)(first + i) / 2 * width,
            (double)(i - first) * width);
    }
    fputs("END\n", script);
    return any;
}

static void write_script(
    FILE *script, const char *kind, const struct sstrace_columns *columns, const char *title) {
    ss_time length = columns->length;
    double all = length > 0 ? (double)length / (double)choose_unit(length)->length : 1;
    write_frame(script, kind, length, title);
    bool free = write_stretches(script, columns, all / (double)columns->count);
    bool load = write_loads(script, columns, all / (double)columns->count);
    fputs("plot ", script);
    if (free)
        fprintf(script, "$free using 1:2:3 with boxes lc rgb \"" PLOT_GRID "\" title \"free\"%s",
            load ? ", " : "");
    if (load)
        fputs("$load using 1:2:3 with filledcurves " PLOT_SHADED " lc rgb \"" PLOT_BLUE
              "\" title \"minimum to maximum\", "
              "$load using 1:4 with lines lw 1.5 lc rgb \"" PLOT_BLUE "\" title \"mean\"",
            script);
    if (!free && !load)
        fputs("NaN notitle", script);
    fputc('\n', script);
}

int sstrace_plot_picture(FILE *stream, const char *kind, const struct sstrace_columns *columns,
    const char *title, struct ss_error *error) {
    if (strcmp(kind, "svg") != 0 && strcmp(kind, "png") != 0)
        return ss_error_fail(
            error, "unknown kind of picture '%s': use svg or png", ss_words_show(kind).text);
    SS_OWNED(fclose) FILE *script = tmpfile();
    if (!script)
        return ss_error_fail(
            error, "cannot create a temporary file for gnuplot: %s", strerror(errno));
    write_script(script, kind, columns, title);
    return plot_run(script, stream, error);
}
