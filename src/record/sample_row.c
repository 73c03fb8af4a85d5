/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/wallclock.h"

/* The columns, in the order of the heading. */
static const struct column {
    const char *name;
    enum { TIME, ELAPSED, CPU, NUMBER, FLAG } kind;
    unsigned only_with; /* bits of the column's option; 0 if always present */
    size_t offset;
} columns_known[] = {
    {"time", TIME, 0, 0},
    {"elapsed_seconds", ELAPSED, 0, offsetof(struct ss_load_sample, elapsed)},
    {"target", NUMBER, 0, offsetof(struct ss_load_sample, target)},
    {"load", NUMBER, 0, offsetof(struct ss_load_sample, load)},
    {"error", NUMBER, 0, offsetof(struct ss_load_sample, error)},
    {"load_ticks", NUMBER, 0, offsetof(struct ss_load_sample, load_ticks)},
    {"cpu", CPU, SS_SAMPLE_COLUMN_CPU, 0},
    {"user", NUMBER, 0, offsetof(struct ss_load_sample, user)},
    {"system", NUMBER, 0, offsetof(struct ss_load_sample, system)},
    {"irq", NUMBER, 0, offsetof(struct ss_load_sample, irq)},
    {"steal", NUMBER, 0, offsetof(struct ss_load_sample, steal)},
    {"iowait", NUMBER, 0, offsetof(struct ss_load_sample, iowait)},
    {"idle", NUMBER, 0, offsetof(struct ss_load_sample, idle)},
    {"pressure", NUMBER, 0, offsetof(struct ss_load_sample, pressure)},
    {"duty", NUMBER, SS_SAMPLE_COLUMNS_RUN, offsetof(struct ss_load_sample, duty)},
    {"counted", FLAG, SS_SAMPLE_COLUMNS_RUN, offsetof(struct ss_load_sample, counted)},
    {"capacity_cpus", NUMBER, 0, offsetof(struct ss_load_sample, capacity)},
};

#define COLUMNS (sizeof columns_known / sizeof *columns_known)

/* Returns the first selected column after `column`, or of all if that is NULL; NULL at the end. */
static const struct column *next_column(const struct column *column, unsigned columns) {
    column = column ? column + 1 : columns_known;
    while (column < columns_known + COLUMNS && (column->only_with & columns) != column->only_with)
        column++;
    return column < columns_known + COLUMNS ? column : NULL;
}

/* Prints one value. `quote` surrounds texts, `unknown` replaces unknown values. */
static char *print_value(char *at, const struct column *column, const struct ss_load_sample *sample,
    const char *quote, const char *unknown) {
    if (column->kind == TIME) {
        at = stpcpy(at, quote);
        ss_wallclock_print(at, 40, sample->time);
        return stpcpy(at + strlen(at), quote);
    }
    if (column->kind == CPU) {
        if (sample->cpu == SS_LOAD_ALL_CPUS)
            return stpcpy(stpcpy(stpcpy(at, quote), "all"), quote);
        return at + snprintf(at, 16, "%" PRId32, sample->cpu);
    }

    const char *field = (const char *)sample + column->offset;
    if (column->kind == FLAG)
        return stpcpy(at, *(const bool *)field ? "1" : "0");

    double value = *(const double *)field;
    return isfinite(value) ? ss_number_put_fixed(at, value, 6) : stpcpy(at, unknown);
}

size_t ss_sample_row_heading(char line[SS_SAMPLE_ROW_SIZE], unsigned columns) {
    char *at = line;
    for (const struct column *column = NULL; (column = next_column(column, columns));)
        at = stpcpy(stpcpy(at, at > line ? "," : ""), column->name);
    return (size_t)(stpcpy(at, "\n") - line);
}

size_t ss_sample_row_csv(
    char line[SS_SAMPLE_ROW_SIZE], const struct ss_load_sample *sample, unsigned columns) {
    char *at = line;
    for (const struct column *column = NULL; (column = next_column(column, columns));)
        at = print_value(stpcpy(at, at > line ? "," : ""), column, sample, "", "");
    return (size_t)(stpcpy(at, "\n") - line);
}

size_t ss_sample_row_json(
    char line[SS_SAMPLE_ROW_SIZE], const struct ss_load_sample *sample, unsigned columns) {
    char *at = line;
    for (const struct column *column = NULL; (column = next_column(column, columns));) {
        at = stpcpy(stpcpy(at, at > line ? ", \"" : "{\""), column->name);
        at = print_value(stpcpy(at, "\": "), column, sample, "\"", "null");
    }
    return (size_t)(stpcpy(at, "}\n") - line);
}
