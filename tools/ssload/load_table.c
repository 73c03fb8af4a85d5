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

// clang-format off
#define VALUE(member) offsetof(struct ss_load_sample, member)

const struct ssload_column ssload_columns[SSLOAD_COLUMNS] = {
    [SSLOAD_TARGET] = {"target", "target", "Target at the end of the latest sample", VALUE(target), SSLOAD_FIXED},
    [SSLOAD_LOAD] = {"load", "load", "CPU load of the latest sample", VALUE(load), SSLOAD_FIXED},
    [SSLOAD_ERROR] = {"error", "error", "Target minus load of the latest sample", VALUE(error), SSLOAD_FIXED},
    [SSLOAD_TICKS] = {"load_ticks", "ticks", "CPU load by ticks", VALUE(load_ticks), 8},
    [SSLOAD_USER] = {"user", "user", "User time by ticks", VALUE(user), 7},
    [SSLOAD_SYSTEM] = {"system", "system", "System time by ticks", VALUE(system), 6},
    [SSLOAD_IRQ] = {"irq", "irq", "Interrupts by ticks", VALUE(irq), 2},
    [SSLOAD_STEAL] = {"steal", "steal", "Time that the hypervisor took by ticks", VALUE(steal), 4},
    [SSLOAD_IOWAIT] = {"iowait", "iowait", "Idle time with pending I/O by ticks", VALUE(iowait), 5},
    [SSLOAD_IDLE] = {"idle", "idle", "Idle time by ticks", VALUE(idle), 1},
    [SSLOAD_PRESSURE] = {"pressure", "press", "Part of the last 10 seconds in which a task waited for a CPU", VALUE(pressure), 3},
};
// clang-format on

double ssload_column_value(
    const struct ssload_column *column, const struct ss_load_sample *sample) {
    return *(const double *)(const void *)((const char *)sample + column->offset);
}

static bool is_known(const struct ssload_table *table, int column) {
    switch (column) {
    case SSLOAD_TARGET:
    case SSLOAD_ERROR:
        return table->target;
    case SSLOAD_PRESSURE:
        return table->pressure;
    case SSLOAD_TICKS:
    case SSLOAD_IRQ:
    case SSLOAD_STEAL:
    case SSLOAD_IOWAIT:
        return !table->group;
    default:
        return true;
    }
}

void ssload_table_open(struct ssload_table *table, FILE *stream, ss_time interval) {
    table->stream = stream;
    table->unicode = ss_screen_is_unicode();
    table->decimals = interval % (100 * SS_MILLISECOND) == 0 ? 1 : 3;
    if (interval % SS_SECOND == 0)
        table->decimals = 0;
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
    for (int rank = SSLOAD_FIXED; rank > 0; rank--) {
        for (int i = 0; i < SSLOAD_COLUMNS; i++) {
            bool fits = width - NUMBER_WIDTH - GAP - DRAWING_MIN >= 0 || rank == SSLOAD_FIXED;
            if (ssload_columns[i].rank != rank || !is_known(table, i) || !fits)
                continue;
            table->shown |= 1u << i;
            width -= NUMBER_WIDTH;
        }
    }
    width -= GAP;
    table->drawing_width = width < DRAWING_MAX ? width : DRAWING_MAX;
    if (width < DRAWING_MIN / 2)
        table->drawing_width = 0;
}

static void print_heading(struct ssload_table *table) {
    fprintf(table->stream, "%-*s", table->time_width, "percent");
    if (table->per_cpu)
        fprintf(table->stream, "%*s", CPU_WIDTH, "cpu");
    for (int i = 0; i < SSLOAD_COLUMNS; i++) {
        if (table->shown & 1u << i)
            fprintf(table->stream, "%*s", NUMBER_WIDTH, ssload_columns[i].heading);
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
        int here = eighths - i * 8;
        if (here < 0)
            here = 0;
        const char *glyph = bar[here < 8 ? here : 8];
        if (i == mark)
            glyph = table->unicode ? "│" : "|";
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
    for (int i = 0; i < SSLOAD_COLUMNS; i++) {
        double value = ssload_column_value(&ssload_columns[i], sample);
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
