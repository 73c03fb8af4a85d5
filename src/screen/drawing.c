/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARGIN          5 /* "100%" and the axis */
#define WIDTH_MIN       5
#define LINE_WIDTH_MIN  6  /* the width of the shortest line of values */
#define PLOT_WIDTH_MIN  20 /* windows narrower than this get no plot */
#define AXIS_HEIGHT_MIN 12 /* windows with fewer rows get no axis */
#define PLOT_HEIGHT_MIN 5  /* windows with fewer rows get no plot */
#define COLUMNS_MAX     (2 * SS_PROGRESS_HISTORY)
#define ROWS_MAX        (SS_PROGRESS_ROWS - 2)

/* If the load covers the target, every third column shows the mark, so that both remain visible. */
#define MARK_EVERY 3

void ss_progress_remember(struct ss_progress_history *history, double target, double load) {
    size_t at = history->count++ % SS_PROGRESS_HISTORY;
    history->targets[at] = target;
    history->loads[at] = load;
}

enum style {
    STYLE_PLAIN,
    STYLE_LOAD,
    STYLE_FREE, /* uncontrolled load */
    STYLE_TARGET,
    STYLE_TARGET_IN_LOAD,
};

static const char *const styles[] = {
    [STYLE_PLAIN] = "\033[0m",
    [STYLE_LOAD] = "\033[0;32m",
    [STYLE_FREE] = "\033[0;2m",
    [STYLE_TARGET] = "\033[0;35m",
    [STYLE_TARGET_IN_LOAD] = "\033[0;35;42m",
};

/* The characters for the plot. */
struct glyphs {
    const char *bars[9];  /* by height, in eighths of a row */
    const char *marks[5]; /* by height, from the lower edge of a row to its upper edge */
    const char *upright, *tick, *corner, *line;
};

static const struct glyphs block_glyphs = {
    .bars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    .marks = {"⎽", "⎼", "─", "⎻", "⎺"},
    .upright = "│",
    .tick = "┤",
    .corner = "└",
    .line = "─",
};

static const struct glyphs ascii_glyphs = {
    .bars = {" ", "_", "_", "_", "=", "=", "=", "#", "#"},
    .marks = {"-", "-", "-", "-", "-"},
    .upright = "|",
    .tick = "+",
    .corner = "+",
    .line = "-",
};

struct text {
    char *bytes;
    size_t size;
    size_t length;
    int left; /* columns left in the current row */
    bool color;
    enum style style;
    const struct glyphs *glyphs;
};

static void append_text(struct text *text, const char *bytes) {
    size_t length = strlen(bytes);
    if (length >= text->size - text->length)
        return;
    memcpy(text->bytes + text->length, bytes, length + 1);
    text->length += length;
}

static void set_style(struct text *text, enum style style) {
    if (text->color && text->style != style)
        append_text(text, styles[style]);
    text->style = style;
}

/* Writes one character, one column wide. */
static void put_letter(struct text *text, const char *letter, enum style style) {
    if (text->left <= 0)
        return;
    text->left--;
    /* A blank looks the same in all styles except the one with a background. */
    if (*letter != ' ' || text->style == STYLE_TARGET_IN_LOAD)
        set_style(text, style);
    append_text(text, letter);
}

static void put_ascii(struct text *text, const char *ascii) {
    for (; *ascii; ascii++)
        put_letter(text, (const char[]){*ascii, '\0'}, STYLE_PLAIN);
}

/*
 * Forms of the line of values, from the longest to the shortest. %c: clock, %t: target, %l: load,
 * %e: error, %d: duty, %i: iterations, %p: a percent sign. The part after the bar is omitted if no
 * iterations are counted.
 */
static const char *const lines[] = {
    "%c  target %t %p  load %l %p  error %e %p  duty %d %p|  %i iterations/s",
    "%c  target %t %p  load %l %p  error %e %p  duty %d %p|  %i it/s",
    "%c  target %t%p  load %l%p  error %e%p  duty %d%p|  %i it/s",
    "%c  target %t%p  load %l%p  error %e%p  duty %d%p|  %i/s",
    "%c  target %t%p  load %l%p  error %e%p|  %i/s",
    "%c  target %t%p  load %l%p  error %e%p",
    "%c  load %l of %t%p  %e%p",
    "load %l of %t%p  %e%p",
    "load %l of %t%p",
    "load %l%p",
    "%l%p",
};

/* Precision of the clock. */
enum precision { TENTHS, SECONDS, MINUTES };

/* Rounds down, except for a value that is below a whole number only by a rounding error. */
static double round_down(double value) {
    return floor(value + 1e-6);
}

static void print_seconds(char *to, size_t size, double seconds, enum precision precision) {
    double whole = round_down(seconds);
    if (precision == TENTHS)
        snprintf(to, size, "%.1f", round_down(10 * seconds) / 10);
    else if (precision == SECONDS)
        snprintf(to, size, "%.0f", whole);
    else if (whole < 3600)
        snprintf(to, size, "%.0f:%02.0f", floor(whole / 60), fmod(whole, 60));
    else
        snprintf(to, size, "%.0f:%02.0f:%02.0f", floor(whole / 3600), floor(fmod(whole, 3600) / 60),
            fmod(whole, 60));
}

/* Runs of less than 10 s whose length is not a whole number of seconds are shown in tenths. */
static enum precision choose_precision(double longest, bool open) {
    if (longest >= 600)
        return MINUTES;
    return !open && longest < 10 && longest > floor(longest) ? TENTHS : SECONDS;
}

/* Prints the clock. If the end is known, the width stays the same for the whole run. */
static void print_clock(char *to, size_t size, const struct ss_progress_values *values) {
    char elapsed[32];
    char total[32];
    bool open = isnan(values->total);
    enum precision precision = choose_precision(open ? values->elapsed : values->total, open);
    const char *unit = precision == MINUTES ? "" : " s";

    if (values->elapsed < 0 || isnan(values->elapsed)) {
        snprintf(to, size, "warm-up");
        return;
    }

    print_seconds(elapsed, sizeof elapsed, values->elapsed, precision);
    if (open) {
        snprintf(to, size, "%s%s", elapsed, unit);
        return;
    }
    print_seconds(total, sizeof total, values->total, precision);
    snprintf(to, size, "%*s/%s%s", (int)strlen(total), elapsed, total, unit);
}

static void print_percent(char *to, size_t size, double value) {
    if (isnan(value))
        snprintf(to, size, "%5s", "-");
    else
        snprintf(to, size, "%5.1f", 100 * value);
}

static void print_field(
    char *to, size_t size, char field, const struct ss_progress_values *values) {
    switch (field) {
    case 'c':
        print_clock(to, size, values);
        break;
    case 't':
        print_percent(to, size, values->target);
        break;
    case 'l':
        print_percent(to, size, values->load);
        break;
    case 'd':
        print_percent(to, size, values->duty);
        break;
    case 'e':
        snprintf(to, size, "%6s", "-");
        if (!isnan(values->error))
            snprintf(to, size, "%+6.2f", values->error);
        break;
    case 'i':
        snprintf(to, size, "%6s", "-");
        if (!isnan(values->iterations))
            snprintf(to, size, "%6.*f", values->iterations < 999.995 ? 2 : 0, values->iterations);
        break;
    default:
        snprintf(to, size, "%%");
    }
}

void ss_progress_print_values(
    char *buffer, size_t size, const struct ss_progress_values *values, int width) {
    size_t max = width < 0 ? 0 : (size_t)width;
    char remarks[96] = "";
    size_t remarked = 0;
    if (values->ended > 0)
        remarked = (size_t)snprintf(remarks, sizeof remarks, "  %" PRIu32 " of %" PRIu32 " ended",
            values->ended, values->instances);
    if (values->others > 0)
        snprintf(remarks + remarked, sizeof remarks - remarked, "  others use %.0f %%",
            100 * values->others);
    /* Omit the remarks if they leave no room for the shortest line. */
    if (strlen(remarks) + LINE_WIDTH_MIN > max)
        *remarks = '\0';

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[512] = "";
        size_t length = 0;
        for (const char *at = lines[i]; *at && length < 256; at++) {
            char field[128] = {*at, '\0'};
            if (*at == '|' && !values->has_iterations)
                break;
            if (*at == '|')
                continue;
            if (*at == '%')
                print_field(field, sizeof field, *++at, values);
            length += (size_t)snprintf(line + length, sizeof line - length, "%s", field);
        }

        if (length + strlen(remarks) <= max) {
            snprintf(buffer, size, "%s%s", line, remarks);
            return;
        }
        snprintf(buffer, size, "%.*s", (int)max, line);
    }
}

/* How samples map to columns: several samples share a column, or one sample has several columns. */
struct scale {
    int columns;
    int samples; /* samples per column */
    int repeats; /* columns per sample */
};

static struct scale choose_scale(int width) {
    struct scale scale = {.samples = 1, .repeats = 1};
    while (scale.samples < SS_PROGRESS_HISTORY &&
           (SS_PROGRESS_HISTORY % scale.samples || SS_PROGRESS_HISTORY / scale.samples > width))
        scale.samples++;
    scale.columns = SS_PROGRESS_HISTORY / scale.samples;
    if (width >= COLUMNS_MAX) {
        scale.repeats = 2;
        scale.columns = COLUMNS_MAX;
    }
    return scale;
}

struct column {
    double load; /* NaN: nothing to draw */
    double target;
    bool marked; /* the mark is drawn over the bar */
};

/*
 * Computes the means of the samples of one column. Samples are grouped by their index, not by their
 * position on the screen: otherwise the plot would change its shape as it moves to the left.
 */
static struct column compute_column(
    const struct ss_progress_history *history, struct scale scale, int from_right) {
    struct column column = {.load = NAN, .target = NAN};
    uint64_t samples = (uint64_t)scale.samples;
    uint64_t back = (uint64_t)(from_right / scale.repeats);
    if (history->count == 0 || back > (history->count - 1) / samples)
        return column;

    uint64_t number = (history->count - 1) / samples - back;
    double loads = 0;
    double targets = 0;
    int load_count = 0;
    int target_count = 0;
    for (uint64_t i = number * samples; i < (number + 1) * samples && i < history->count; i++) {
        double load = history->loads[i % SS_PROGRESS_HISTORY];
        double target = history->targets[i % SS_PROGRESS_HISTORY];
        if (!isnan(load)) {
            loads += load;
            load_count++;
        }
        if (!isnan(target)) {
            targets += target;
            target_count++;
        }
    }

    column.load = load_count ? loads / load_count : NAN;
    column.target = target_count ? targets / target_count : NAN;
    column.marked = number % MARK_EVERY == 0;
    return column;
}

/* Returns how far `value` fills this row, in eighths; negative if it does not reach the row. */
static double reach(double value, int row, int rows) {
    return (fmin(fmax(value, 0), 1) * rows - row) * 8;
}

/* Writes one cell of the plot. `row` counts from the bottom. */
static void put_cell(struct text *text, const struct column *column, int row, int rows) {
    const struct glyphs *glyphs = text->glyphs;
    int filled = 0;
    if (column->load > 0) {
        double height = fmin(fmax(reach(column->load, row, rows), 0), 8);
        filled = (int)lround(height);
        if (row == 0 && filled == 0)
            filled = 1; /* a small load is still visible */
    }

    double mark = isnan(column->target) ? -1 : reach(column->target, row, rows);
    bool here = mark >= 0 && (mark < 8 || (mark == 8 && row == rows - 1));
    if (here && (filled == 0 || column->marked))
        put_letter(text, glyphs->marks[mark < 8 ? (int)(mark * 5 / 8) : 4],
            filled == 8 ? STYLE_TARGET_IN_LOAD : STYLE_TARGET);
    else
        put_letter(text, glyphs->bars[filled], isnan(column->target) ? STYLE_FREE : STYLE_LOAD);
}

static void put_row(struct text *text, const struct ss_progress_history *history,
    struct scale scale, int row, int rows) {
    const char *percent = "    ";
    bool top = row == rows - 1;
    bool middle = rows % 2 == 0 && row + 1 == rows / 2;
    if (top)
        percent = "100%";
    else if (middle)
        percent = " 50%";

    put_ascii(text, percent);
    put_letter(text, top || middle ? text->glyphs->tick : text->glyphs->upright, STYLE_PLAIN);
    for (int i = 0; i < scale.columns; i++) {
        struct column column = compute_column(history, scale, scale.columns - 1 - i);
        put_cell(text, &column, row, rows);
    }
    set_style(text, STYLE_PLAIN);
}

static void put_line(struct text *text, int columns) {
    for (int i = 0; i < columns; i++)
        put_letter(text, text->glyphs->line, STYLE_PLAIN);
}

static void put_axis(struct text *text, int columns) {
    static const char *const labels[] = {"60 s ago", "30 s", "now"};
    put_ascii(text, "  0%");
    put_letter(text, text->glyphs->corner, STYLE_PLAIN);
    if (columns < 30) {
        put_ascii(text, "60 s");
        put_line(text, columns - 4);
        return;
    }

    int half = columns / 2 - 2; /* where the middle label begins */
    put_ascii(text, labels[0]);
    put_line(text, half - (int)strlen(labels[0]));
    put_ascii(text, labels[1]);
    put_line(text, columns - half - (int)strlen(labels[1]) - (int)strlen(labels[2]));
    put_ascii(text, labels[2]);
}

static void start_row(struct text *text, int width) {
    append_text(text, "\n");
    text->left = width;
}

int ss_progress_draw(char *buffer, size_t size, const struct ss_progress_picture *picture) {
    struct text text = {
        .bytes = buffer,
        .size = size,
        .left = picture->width,
        .color = picture->color,
        .glyphs = picture->unicode ? &block_glyphs : &ascii_glyphs,
    };
    char values[512];
    *buffer = '\0';
    if (picture->height < 2 || picture->width < WIDTH_MIN)
        return 0;

    ss_progress_print_values(values, sizeof values, &picture->values, picture->width);
    put_ascii(&text, values);
    if (picture->width < PLOT_WIDTH_MIN || picture->height < PLOT_HEIGHT_MIN)
        return 1;

    bool has_axis = picture->height >= AXIS_HEIGHT_MIN;
    int rows = (picture->height - 4) / 4;
    if (rows < 1)
        rows = 1;
    if (rows > ROWS_MAX)
        rows = ROWS_MAX;
    if (rows == 3)
        rows = 2; /* 50 % must be on a boundary between rows */

    struct scale scale = choose_scale(picture->width - MARGIN);
    for (int row = rows - 1; row >= 0; row--) {
        start_row(&text, picture->width);
        put_row(&text, picture->history, scale, row, rows);
    }

    if (has_axis) {
        start_row(&text, picture->width);
        put_axis(&text, scale.columns);
    }
    return 1 + rows + has_axis;
}
