/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal_plot.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "base/wide.h"
#include "screen/window.h"

#define ROWS_MAX      20
#define ROWS_RESERVED 4  /* rows for axis, times and legend, and for the prompt that follows */
#define LEGEND_WIDTH  35 /* minimum width for a legend in words */
#define MARGIN        5  /* width of "100%" and the axis */

static void add_to_column(
    struct sstrace_column *column, double share, double from, double to, bool free) {
    if (free) {
        column->free += share;
        return;
    }

    if (column->controlled == 0)
        column->min = column->max = from;
    column->min = fmin(column->min, fmin(from, to));
    column->max = fmax(column->max, fmax(from, to));
    column->controlled += share;
    column->area += share * (from + to) / 2;
}

static struct ss_wide smaller(struct ss_wide left, struct ss_wide right) {
    return ss_wide_compare(left, right) < 0 ? left : right;
}

static double difference(struct ss_wide end, struct ss_wide begin) {
    return ss_wide_double(ss_wide_subtract(end, begin));
}

/*
 * Adds a straight line between two records. Does not change the column that begins at the line's
 * end. Multiplies times by the number of columns, so that the edges of columns are not rounded.
 */
static void add_line(struct sstrace_columns *columns, const struct ss_trace_record *from,
    const struct ss_trace_record *to) {
    struct ss_wide length = ss_wide(columns->length);
    struct ss_wide begin = ss_wide_times(ss_wide(from->time), columns->count);
    struct ss_wide end = ss_wide_times(ss_wide(to->time), columns->count);
    while (columns->current < columns->count &&
           ss_wide_compare(ss_wide_times(length, columns->current + 1), begin) <= 0)
        columns->current++;

    double rise = to->load - from->load, all = difference(end, begin);
    struct ss_wide left = begin;
    for (size_t i = columns->current; i < columns->count && ss_wide_compare(left, end) < 0; i++) {
        struct ss_wide right = smaller(ss_wide_times(length, i + 1), end);
        bool last = ss_wide_compare(right, end) == 0;
        double at_left = from->load + rise * (difference(left, begin) / all);
        double at_right = last ? to->load : from->load + rise * (difference(right, begin) / all);
        add_to_column(&columns->items[i], difference(right, left) / (double)columns->length,
            at_left, at_right, from->free);
        left = right;
    }
}

static void add_held(
    struct sstrace_columns *columns, struct ss_trace_record record, ss_time from, ss_time to) {
    record.time = from;
    struct ss_trace_record end = record;
    end.time = to;
    add_line(columns, &record, &end);
}

static int take(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    (void)error;
    struct sstrace_columns *columns = (struct sstrace_columns *)sink;
    const struct ss_trace_record *last = &columns->last;

    if (!columns->any)
        add_held(columns, *record, 0, record->time);
    else if (record->free)
        add_held(columns, *last, last->time, record->time);
    else
        add_line(columns, last, record);

    columns->last = *record;
    columns->any = true;
    return 0;
}

static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)error;
    struct sstrace_columns *columns = (struct sstrace_columns *)sink;
    const struct ss_trace_record *last = &columns->last;
    if (!columns->any)
        return 0;

    if (columns->length > last->time)
        add_held(columns, *last, last->time, columns->length);
    for (size_t i = 0; columns->length == 0 && i < columns->count; i++)
        add_to_column(&columns->items[i], 1, last->load, last->load, last->free);
    return 0;
}

int sstrace_columns_open(
    struct sstrace_columns *columns, ss_time length, size_t count, struct ss_error *error) {
    if (count > SSTRACE_COLUMNS_MAX)
        count = SSTRACE_COLUMNS_MAX;
    *columns = (struct sstrace_columns){
        .sink = {.take = take, .end = end}, .length = length, .count = count};
    columns->items = calloc(count, sizeof *columns->items);
    if (!columns->items)
        return ss_error_memory(error);
    return 0;
}

void sstrace_columns_close(struct sstrace_columns *columns) {
    free(columns->items);
    *columns = (struct sstrace_columns){0};
}

/* Clamps the mean, because rounding may move it out of the range that is drawn. */
double sstrace_column_mean(const struct sstrace_column *column) {
    return fmin(fmax(column->area / column->controlled, column->min), column->max);
}

void sstrace_plot_fit(size_t *columns, int *rows) {
    int width, height;
    ss_screen_size(STDOUT_FILENO, &width, &height);
    width = width < SSTRACE_COLUMNS_MAX ? width : SSTRACE_COLUMNS_MAX;

    *columns = width > MARGIN ? (size_t)(width - MARGIN) : 1;
    *rows = height - ROWS_RESERVED < ROWS_MAX ? height - ROWS_RESERVED : ROWS_MAX;

    /* Round down, so that all quarters, or at least the half, fall on the edge of a row. */
    *rows -= *rows >= 8 ? *rows % 4 : *rows % 2;
    if (*rows < 2)
        *rows = 2;
}

#define MINUTE (60 * SS_SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* The steps between marks of the time axis, in ascending order. */
static const struct {
    ss_time unit;
    unsigned times[9];
} steps[] = {
    {1, {1, 2, 5, 10, 20, 50, 100, 200, 500}},
    {SS_MICROSECOND, {1, 2, 5, 10, 20, 50, 100, 200, 500}},
    {SS_MILLISECOND, {1, 2, 5, 10, 20, 50, 100, 200, 500}},
    {SS_SECOND, {1, 2, 5, 10, 20, 30}},
    {MINUTE, {1, 2, 5, 10, 20, 30}},
    {HOUR, {1, 2, 3, 6, 12}},
    {DAY, {1, 2, 5, 10, 20, 50, 100, 200, 500}},
    {1000 * DAY, {1, 2, 5, 10, 20, 50, 100, 200}},
};

/*
 * Returns the next longer step between marks: the shortest one after 0, and 0 after the longest.
 */
static ss_time step_after(ss_time step) {
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (size_t j = 0; j < 9 && steps[i].times[j] > 0; j++) {
            if (steps[i].unit * steps[i].times[j] > step)
                return steps[i].unit * steps[i].times[j];
        }
    }
    return 0;
}

/* The characters of a drawing, in UTF-8 or in ASCII. */
struct glyphs {
    const char *bars[9]; /* in eighths of a row */
    const char *range, *free, *upright, *mark, *corner, *line, *tick;
};

static const struct glyphs blocks = {
    .bars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    .range = "░",
    .free = "╱",
    .upright = "│",
    .mark = "┤",
    .corner = "└",
    .line = "─",
    .tick = "┴",
};

static const struct glyphs letters = {
    .bars = {" ", "_", "_", "_", "=", "=", "=", "#", "#"},
    .range = ":",
    .free = "/",
    .upright = "|",
    .mark = "+",
    .corner = "+",
    .line = "-",
    .tick = "+",
};

static int eighths(double load, int rows) {
    int height = (int)lround(load * rows * 8);
    return height == 0 && load > 0 ? 1 : height; /* a small load must be visible */
}

/*
 * Chooses the character for a row, counted from below. A `free` section appears in every column
 * that it touches.
 */
static const char *choose_glyph(
    const struct glyphs *glyphs, const struct sstrace_column *column, int row, int rows) {
    if (column->free > 0 && (column->free >= column->controlled || row == rows - 1))
        return glyphs->free;
    if (column->controlled > 0) {
        int height = eighths(sstrace_column_mean(column), rows) - row * 8;
        if (height > 0)
            return glyphs->bars[height < 8 ? height : 8];
        if (column->max * rows - row >= 0.5)
            return glyphs->range;
    }
    return column->free > 0 ? glyphs->free : " ";
}

/*
 * Returns the percentage to print at an edge, or -1 to print nothing. 100% is in the highest row,
 * 0% on the axis.
 */
static int percent_at(int edge, int rows) {
    int parts = rows % 2 == 0 ? 2 : 1;
    if (rows >= 8 && rows % 4 == 0)
        parts = 4;
    return edge % (rows / parts) == 0 ? edge * 100 / rows : -1;
}

/* The characters used so far, for the legend. */
struct used {
    bool range, free;
};

static void print_row(FILE *stream, const struct sstrace_columns *columns,
    const struct glyphs *glyphs, int row, int rows, struct used *used) {
    int percent = percent_at(row + 1, rows);
    if (percent >= 0)
        fprintf(stream, "%3d%%%s", percent, glyphs->mark);
    else
        fprintf(stream, "%*s%s", MARGIN - 1, "", glyphs->upright);

    int blanks = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const char *glyph = choose_glyph(glyphs, &columns->items[i], row, rows);
        used->range |= glyph == glyphs->range;
        used->free |= glyph == glyphs->free;
        blanks++;
        if (*glyph == ' ')
            continue;
        fprintf(stream, "%*s%s", blanks - 1, "", glyph);
        blanks = 0;
    }
    fputc('\n', stream);
}

struct axis {
    char labels[MARGIN + SSTRACE_COLUMNS_MAX + 1];
    bool ticks[SSTRACE_COLUMNS_MAX];
};

static size_t column_at(const struct sstrace_columns *columns, ss_time time) {
    if (columns->length == 0)
        return 0;
    struct ss_wide scaled = ss_wide_times(ss_wide(time), columns->count);
    size_t at = (size_t)ss_wide_divide(scaled, ss_wide(columns->length), NULL).low;
    return at < columns->count ? at : columns->count - 1;
}

/*
 * Writes the label of a tick on an axis with ticks every `step`. All labels use the unit of the
 * step; 0 has no unit.
 */
static void label_tick(char label[SS_UNITS_TEXT_SIZE], ss_time value, ss_time step) {
    static const char *const units[] = {"d", "h", "min", "s", "ms", "us", "ns"};
    size_t i = 0;
    while (step % ss_units_length(units[i]) != 0)
        i++;
    if (value == 0)
        strcpy(label, "0");
    else
        snprintf(label, SS_UNITS_TEXT_SIZE, "%llu%s",
            (unsigned long long)(value / ss_units_length(units[i])), units[i]);
}

/* Lays out the labels. Returns false if they would be too close to each other. */
static bool lay_axis(struct axis *axis, const struct sstrace_columns *columns, ss_time step) {
    size_t max = columns->count / 8 + 1 < 10 ? columns->count / 8 + 1 : 10;
    if (step > 0 && columns->length / step > max)
        return false;

    size_t width = MARGIN + columns->count, used = 0;
    memset(axis->labels, ' ', width);
    memset(axis->ticks, 0, sizeof axis->ticks);

    for (ss_time time = 0; time <= columns->length; time += step) {
        char label[SS_UNITS_TEXT_SIZE];
        label_tick(label, time, step);
        size_t length = strlen(label), column = column_at(columns, time);
        size_t from = MARGIN + column - (length - 1) / 2;
        if (length > width)
            return false;

        bool last = from + length > width;
        if (last)
            from = width - length;
        bool close = used > 0 && from < used + 2;
        if (close && last)
            break; /* omit this label: with a longer step there would be even fewer */
        if (close)
            return false;

        memcpy(axis->labels + from, label, length);
        axis->ticks[column] = true;
        used = from + length;
        if (step == 0 || columns->length - time < step)
            break;
    }

    axis->labels[used] = '\0';
    return true;
}

static void print_axis(
    FILE *stream, const struct sstrace_columns *columns, const struct glyphs *glyphs) {
    struct axis axis;
    ss_time step = step_after(0);
    while (!lay_axis(&axis, columns, step))
        step = step_after(step);

    fprintf(stream, "  0%%%s", glyphs->corner);
    for (size_t i = 0; i < columns->count; i++)
        fputs(axis.ticks[i] ? glyphs->tick : glyphs->line, stream);
    fprintf(stream, "\n%s\n", axis.labels);
}

void sstrace_plot_print(
    FILE *stream, const struct sstrace_columns *columns, int rows, bool unicode) {
    const struct glyphs *glyphs = unicode ? &blocks : &letters;
    struct used used = {0};
    for (int row = rows - 1; row >= 0; row--)
        print_row(stream, columns, glyphs, row, rows, &used);
    print_axis(stream, columns, glyphs);

    if (used.range || used.free)
        fprintf(stream, "%*s", MARGIN, "");
    if (used.range)
        fprintf(stream, "%s %s%s", glyphs->range,
            columns->count < LEGEND_WIDTH ? "max" : "up to the largest load",
            used.free ? "  " : "\n");
    if (used.free)
        fprintf(stream, "%s free\n", glyphs->free);
}
