/* SPDX-License-Identifier: Apache-2.0 */
#include "load_table.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "screen/window.h"

#define NUMBER_WIDTH 7 /* a space and 100.00 */
#define CPU_WIDTH    5
#define DRAWING_MIN  20
#define DRAWING_MAX  100
#define GAP          2 /* blanks before the drawing */

/* The columns in order. In a narrow window, columns of the lowest rank are omitted first. */
enum { TARGET, LOAD, ERROR, TICKS, USER, SYSTEM, IRQ, STEAL, IOWAIT, IDLE, PRESSURE, COLUMNS };

static const struct column {
    const char *name;
    size_t offset;
    int rank;
    bool fixed; /* shown even without room */
} columns[COLUMNS] = {
    [TARGET] = {"target", offsetof(struct ss_load_sample, target), 0, true},
    [LOAD] = {"load", offsetof(struct ss_load_sample, load), 0, true},
    [ERROR] = {"error", offsetof(struct ss_load_sample, error), 0, true},
    [TICKS] = {"ticks", offsetof(struct ss_load_sample, load_ticks), 8, false},
    [USER] = {"user", offsetof(struct ss_load_sample, user), 7, false},
    [SYSTEM] = {"system", offsetof(struct ss_load_sample, system), 6, false},
    [IRQ] = {"irq", offsetof(struct ss_load_sample, irq), 2, false},
    [STEAL] = {"steal", offsetof(struct ss_load_sample, steal), 4, false},
    [IOWAIT] = {"iowait", offsetof(struct ss_load_sample, iowait), 5, false},
    [IDLE] = {"idle", offsetof(struct ss_load_sample, idle), 1, false},
    [PRESSURE] = {"press", offsetof(struct ss_load_sample, pressure), 3, false},
};

#define RANKS 8

static bool is_known(const struct ssload_table *table, int column) {
    switch (column) {
    case TARGET:
    case ERROR:
        return table->target;
    case PRESSURE:
        return table->pressure;
    case TICKS:
    case IRQ:
    case STEAL:
    case IOWAIT:
        return !table->group;
    default:
        return true;
    }
}

void ssload_table_open(struct ssload_table *table, FILE *stream, ss_time interval) {
    table->stream = stream;
    table->unicode = ss_screen_is_unicode();
    table->decimals = interval % SS_SECOND == 0                ? 0
                      : interval % (100 * SS_MILLISECOND) == 0 ? 1
                                                               : 3;
    table->time_width = 8 + (table->decimals ? table->decimals + 1 : 0);
}

/*
 * Chooses the columns that fit. Called for each heading, because the size of the window may have
 * changed.
 */
static void fit(struct ssload_table *table) {
    int width, height;
    ss_screen_size(fileno(table->stream), &width, &height);
    table->screen = isatty(fileno(table->stream)) ? height : 0;
    width -= table->time_width + (table->per_cpu ? CPU_WIDTH : 0);
    table->shown = 0;
    for (int rank = RANKS + 1; rank >= 0; rank--) {
        for (int i = 0; i < COLUMNS; i++) {
            bool turn = columns[i].fixed ? rank == RANKS + 1 : columns[i].rank == rank;
            int left = width - NUMBER_WIDTH - GAP - DRAWING_MIN;
            if (!turn || !is_known(table, i) || (left < 0 && !columns[i].fixed))
                continue;
            table->shown |= 1u << i;
            width -= NUMBER_WIDTH;
        }
    }
    width -= GAP;
    table->drawing_width = width < DRAWING_MIN / 2 ? 0 : width < DRAWING_MAX ? width : DRAWING_MAX;
}

static void print_heading(struct ssload_table *table) {
    fprintf(table->stream, "%-*s", table->time_width, "percent");
    if (table->per_cpu)
        fprintf(table->stream, "%*s", CPU_WIDTH, "cpu");
    for (int i = 0; i < COLUMNS; i++) {
        if (table->shown & 1u << i)
            fprintf(table->stream, "%*s", NUMBER_WIDTH, columns[i].name);
    }
    int half = table->drawing_width / 2;
    if (half > 0)
        fprintf(table->stream, "%*s0%*s%*s", GAP, "", half, "50", table->drawing_width - half - 1,
            "100");
    fputc('\n', table->stream);
}

/* Draws a bar as long as the load, in eighths of a character, and a stroke at the target. */
static void draw(const struct ssload_table *table, const struct ss_load_sample *sample) {
    static const char *const blocks[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    static const char *const letters[] = {" ", " ", " ", " ", "#", "#", "#", "#", "#"};
    const char *const *bar = table->unicode ? blocks : letters;
    int width = table->drawing_width;
    int mark = isnan(sample->target) ? -1 : (int)(sample->target * width);
    int eighths = (int)lround(sample->load * width * 8), blanks = 0;
    if (mark == width)
        mark--;
    fprintf(table->stream, "%*s", GAP, "");
    for (int i = 0; i < width && (i * 8 < eighths || i <= mark); i++) {
        int here = eighths - i * 8 < 0 ? 0 : eighths - i * 8 > 8 ? 8 : eighths - i * 8;
        const char *glyph = i == mark ? (table->unicode ? "│" : "|") : bar[here];
        if (*glyph == ' ') {
            blanks++;
            continue;
        }
        fprintf(table->stream, "%*s%s", blanks, "", glyph);
        blanks = 0;
    }
}

static void print_row(
    const struct ssload_table *table, const char *label, const struct ss_load_sample *sample) {
    fprintf(table->stream, "%-*s", table->time_width, label);
    if (table->per_cpu && sample->cpu == SS_LOAD_ALL_CPUS)
        fprintf(table->stream, "%*s", CPU_WIDTH, "all");
    else if (table->per_cpu)
        fprintf(table->stream, "%*d", CPU_WIDTH, (int)sample->cpu);
    for (int i = 0; i < COLUMNS; i++) {
        double value = *(const double *)((const char *)sample + columns[i].offset);
        if (!(table->shown & 1u << i))
            continue;
        if (isnan(value))
            fprintf(table->stream, "%*s", NUMBER_WIDTH, "-");
        else
            fprintf(table->stream, "%*.2f", NUMBER_WIDTH, fabs(value) < 5e-5 ? 0 : 100 * value);
    }
    if (table->drawing_width > 0 && !isnan(sample->load))
        draw(table, sample);
    fputc('\n', table->stream);
}

void ssload_table_print(struct ssload_table *table, const struct ss_load_sample *sample) {
    bool whole = !table->per_cpu || sample->cpu == SS_LOAD_ALL_CPUS;
    if (table->lines == 0 || (table->screen > 2 && whole && table->lines >= table->screen - 1)) {
        fit(table);
        print_heading(table);
        table->lines = 1;
    }
    time_t seconds = (time_t)(sample->time / (int64_t)SS_SECOND);
    int milliseconds = (int)(sample->time % (int64_t)SS_SECOND / (int64_t)SS_MILLISECOND);
    char label[40];
    struct tm local;
    localtime_r(&seconds, &local);
    size_t length = strftime(label, sizeof label, "%H:%M:%S", &local);
    if (table->decimals)
        snprintf(label + length, sizeof label - length, ".%0*d", table->decimals,
            table->decimals == 1 ? milliseconds / 100 : milliseconds);
    print_row(table, label, sample);
    table->lines++;
}

void ssload_table_print_average(
    struct ssload_table *table, const struct ss_load_sample *sample, bool first) {
    if (first)
        fputc('\n', table->stream);
    print_row(table, "Average", sample);
}
