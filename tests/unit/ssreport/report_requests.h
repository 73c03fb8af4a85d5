/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_REQUESTS_H
#define SHOWSTOPPER_TESTS_REPORT_REQUESTS_H

/* Synthetic records of requests at several rates, with power and load. */

#include "report_manifest.h"

/* Time at which records begin, in seconds since 1970. */
#define TEN 1795168800.0

#define STEP 4 /* seconds of each rate */

/* One rate: mean response times, requests lost each second, power and load. */
struct at_rate {
    int rate, lost;
    double intended, actual, watts, load;
};

static inline void write_line(FILE *stream, int second, const struct at_rate *at) {
    int completed = at->rate - at->lost;
    fprintf(stream, "%.6f,%d.000000,%d,%d,%d,0,0,0,%d,%d,%d,1000,0.001", TEN + second, second,
        at->rate, at->rate, at->rate, completed, at->lost, at->lost);
    for (int origin = 0; origin < 2; origin++) {
        double time = origin == 0 ? at->intended : at->actual;
        if (completed > 0)
            fprintf(stream, ",%g,%g,%g,%g,%g", time, time, 1.5 * time, 3 * time, 4 * time);
        else
            fputs(",,,,,", stream);
    }
    fputc('\n', stream);
}

/* Writes a record that holds each rate for STEP seconds, with power and load. */
static inline void write_record(const char *name, const struct at_rate *rates, int count) {
    static const char *const files[] = {"requests.csv", "energy.csv", "beside.csv"};
    static const char *const headings[] = {
        "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
        "timeouts,bytes,lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,"
        "intended_p95_seconds,intended_p99_seconds,intended_most_seconds,actual_mean_seconds,"
        "actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,actual_most_seconds\n",
        "time,elapsed_seconds,watts\n", "time,load\n"};
    for (int file = 0; file < 3; file++) {
        char path[64], *text;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        fputs(headings[file], stream);
        for (int i = 0; i < STEP * count; i++) {
            const struct at_rate *at = &rates[i / STEP];
            if (file == 0)
                write_line(stream, i + 1, at);
            else if (file == 1)
                fprintf(stream, "2026-11-20T10:00:%02d.000Z,%d,%g\n", i + 1, i + 1,
                    at->watts + (i % 2 ? 3 : -3));
            else
                fprintf(stream, "2026-11-20T10:00:%02d.000Z,%g\n", i + 1, at->load);
        }
        fclose(stream);
        snprintf(path, sizeof path, "%s/%s", name, files[file]);
        folder_write(path, text);
        free(text);
    }
}

__attribute__((unused)) static const struct at_rate high[] = {{0, 0, 0, 0, 120, 0},
    {10, 0, 0.1, 0.1, 150, 0.3}, {20, 0, 0.4, 0.2, 180, 0.6}, {30, 0, 1.6, 0.3, 200, 0.99}};
__attribute__((unused)) static const struct at_rate low[] = {{0, 0, 0, 0, 120, 0},
    {10, 0, 0.4, 0.3, 140, 0.5}, {20, 0, 1.6, 0.4, 150, 0.98}, {30, 0, 9, 0.9, 160, 1}};

static inline double number(
    const struct ssreport_report *report, const char *table, size_t row, const char *column) {
    return table_cell_at(ssreport_table(report, table), row, column)->number;
}

/* Writes a run of a study with this record of requests. */
static inline void write_run(const char *name, const char *columns, const struct at_rate *rates) {
    char path[100], *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream,
        "{\"schema\": 1, \"status\": \"done\", \"columns\": {\"experiment\": \"tradeoffs\", "
        "\"workload\": \"serve\", %s}, \"commands\": [{\"record\": \"requests\", \"role\": "
        "\"requests\"}]}",
        columns);
    fclose(stream);
    snprintf(path, sizeof path, "%s/requests", name);
    write_record(path, rates, 4);
    snprintf(path, sizeof path, "%s/run.json", name);
    folder_write(path, text);
    free(text);
}

#endif
