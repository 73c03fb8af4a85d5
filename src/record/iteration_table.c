/* SPDX-License-Identifier: Apache-2.0 */
#include "record/iteration_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Size limit of a row: three numbers of up to 20 digits, one with seven more characters, and the
 * bucket.
 */
#define ROW_SIZE (80 + SS_HISTOGRAM_BUCKET_SIZE)

static int open_histograms(struct ss_histogram *histograms, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (ss_histogram_open(&histograms[i], SS_HISTOGRAM_FINE) < 0)
            return -1;
    }
    return 0;
}

int ss_iteration_table_open(struct ss_iteration_table *table, uint32_t commands) {
    *table = (struct ss_iteration_table){.commands = commands,
        .second = calloc(commands, sizeof *table->second),
        .whole = calloc(commands, sizeof *table->whole)};
    if (!table->second || !table->whole || open_histograms(table->second, commands) < 0 ||
        open_histograms(table->whole, commands) < 0) {
        ss_iteration_table_close(table);
        return -1;
    }
    return 0;
}

void ss_iteration_table_close(struct ss_iteration_table *table) {
    for (uint32_t i = 0; table->second && table->whole && i < table->commands; i++) {
        ss_histogram_close(&table->second[i]);
        ss_histogram_close(&table->whole[i]);
    }
    free(table->second);
    free(table->whole);
    *table = (struct ss_iteration_table){0};
}

/* Writes a row per used bucket. Rows of the whole run have no `end`. */
static void write_rows(const struct ss_histogram *histograms, uint32_t commands,
    struct ss_lines *lines, uint64_t end, bool is_whole) {
    for (uint32_t command = 0; command < commands; command++) {
        const struct ss_histogram *histogram = &histograms[command];
        for (unsigned i = 0; ss_histogram_next(histogram, &i); i++) {
            char *to = ss_lines_begin(lines, ROW_SIZE);
            if (!is_whole)
                to += sprintf(to, "%llu.000000", (unsigned long long)end);
            to += sprintf(to, ",%u,", command);
            to = ss_histogram_put_bucket(to, i, histogram->bits);
            to += sprintf(to, ",%llu\n", (unsigned long long)histogram->counts[i]);
            ss_lines_end(lines, to);
        }
    }
}

/* Writes the current second and begins the next. */
static void write_second(struct ss_iteration_table *table, struct ss_lines *lines) {
    write_rows(table->second, table->commands, lines, table->seconds + 1, false);
    for (uint32_t i = 0; i < table->commands; i++) {
        ss_histogram_merge(&table->whole[i], &table->second[i]);
        ss_histogram_clear(&table->second[i]);
    }
}

void ss_iteration_table_advance(
    struct ss_iteration_table *table, struct ss_lines *lines, ss_time elapsed) {
    if (table->commands == 0 || elapsed < (table->seconds + 1) * SS_SECOND)
        return;
    write_second(table, lines);
    table->seconds = elapsed / SS_SECOND;
}

void ss_iteration_table_add(struct ss_iteration_table *table, struct ss_lines *lines,
    const struct ss_iteration *iteration, ss_time elapsed) {
    ss_iteration_table_advance(table, lines, elapsed);
    if (iteration->line < table->commands)
        ss_histogram_add(&table->second[iteration->line], iteration->length);
}

void ss_iteration_table_finish(struct ss_iteration_table *table, struct ss_lines *lines) {
    write_second(table, lines);
    write_rows(table->whole, table->commands, lines, 0, true);
}
