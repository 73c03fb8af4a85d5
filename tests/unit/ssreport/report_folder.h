/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_FOLDER_H
#define SHOWSTOPPER_TESTS_REPORT_FOLDER_H

/* Temporary folders with complete or damaged records. */

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char folder_path[64];

static int folder_remove(
    const char *path, const struct stat *status, int flag, struct FTW *position) {
    (void)status;
    (void)flag;
    (void)position;
    return remove(path);
}

static inline void folder_close(void) {
    if (*folder_path)
        nftw(folder_path, folder_remove, 8, FTW_DEPTH | FTW_PHYS);
    *folder_path = '\0';
}

/* Creates an empty folder that is removed when the test program exits. */
static inline void folder_open(void) {
    static bool registered;
    if (!registered)
        atexit(folder_close);
    registered = true;
    folder_close();
    strcpy(folder_path, "/tmp/ssreport-test-XXXXXX");
    assert_non_null(mkdtemp(folder_path));
}

/* Returns the path of a file in the folder; valid for the next seven calls. */
static inline const char *folder_file(const char *name) {
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder_path, name);
    return path;
}

/* Writes a file, and creates missing parent folders. */
static inline void folder_write(const char *name, const char *text) {
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        char folder[64];
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
        mkdir(folder_file(folder), 0777);
    }
    FILE *stream = fopen(folder_file(name), "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

/* Replaces the first `from` in a file by `to`. */
static inline void folder_change(const char *name, const char *from, const char *to) {
    static char text[65536];
    FILE *stream = fopen(folder_file(name), "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    char *at = strstr(text, from);
    assert_non_null(at);
    stream = fopen(folder_file(name), "w");
    fprintf(stream, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(stream);
}

/* Writes a complete record: 30 s from 10:00, target 50 %, load 48 %, one iteration per second. */
static inline void folder_write_record(const char *name) {
    char path[64], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/plan.json", name);
    folder_write(path, "{\"version\": \"" FOLDER_VERSION "\", \"command\": [\"a\", \"<b>\"], "
                       "\"instances\": 2, \"cpu_count\": 4}");
    snprintf(path, sizeof path, "%s/events.jsonl", name);
    folder_write(path, "{\"time\":\"\",\"elapsed_seconds\":0.000000,\"event\":\"counting\"}\n");
    snprintf(path, sizeof path, "%s/summary.json", name);
    folder_write(path,
        "{\"ended_by\": \"duration\", \"iterations\": 30, \"error_mean_percent\": 2, "
        "\"wake_lateness_us\": {\"p99\": 70}, \"warnings\": []}");
    FILE *stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,target,load,error,load_ticks,duty\n", stream);
    for (int i = 1; i <= 60; i++)
        fprintf(stream, "2026-11-20T10:00:%02d.%d00Z,%.6f,0.500000,0.480000,0.020000,0.48,0.6\n",
            i / 2, i % 2 * 5, i * 0.5);
    fclose(stream);
    snprintf(path, sizeof path, "%s/samples.csv", name);
    folder_write(path, text);
    free(text);
    snprintf(path, sizeof path, "%s/decisions.csv", name);
    folder_write(path, "time,elapsed_seconds,executor,state,planned_seconds,real_seconds\n"
                       "x,0,0,running,9,9\nx,9,0,stopped,21,21\n"
                       "x,0,1,stopped,15,15\nx,15,1,running,15,15\n");
    stream = open_memstream(&text, &size);
    fputs("instance,start,end\n", stream);
    for (int i = 0; i < 30; i++)
        fprintf(stream, "%02d,%d.000000,%d.000000\n", i % 2, i, i + 1);
    fclose(stream);
    snprintf(path, sizeof path, "%s/iterations.csv", name);
    folder_write(path, text);
    free(text);
}

/*
 * Like folder_write_record(), with these targets in tenths of the machine for 10 s each, and then
 * 50 %.
 */
static inline void folder_write_steps(const char *name, int first, int second) {
    char path[64], from[64], to[64];
    folder_write_record(name);
    snprintf(path, sizeof path, "%s/samples.csv", name);
    for (int i = 1; i <= 40; i++) {
        snprintf(from, sizeof from, "Z,%.6f,0.500000", i * 0.5);
        snprintf(to, sizeof to, "Z,%.6f,0.%d00000", i * 0.5, i <= 20 ? first : second);
        folder_change(path, from, to);
    }
}

/* Like folder_write_record(), with targets of 30, 40 and 50 % for 10 s each. */
static inline void folder_write_stairs(const char *name) {
    folder_write_steps(name, 3, 4);
}

#endif
