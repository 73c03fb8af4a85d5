/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_STATISTICS_H
#define SHOWSTOPPER_TESTS_REPORT_STATISTICS_H

/* Reads the tables of data/statistics, which were computed by other programs. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define DATA_LINE_MAX 512

static inline FILE *open_data(const char *name) {
    char path[512];
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/data/statistics/%s", name);
    FILE *stream = fopen(path, "r");
    if (!stream)
        fail_msg("%s is missing", path);
    return stream;
}

/* Reads a line of `count` fields; returns false at the end of the file. */
static inline bool read_fields(
    FILE *stream, char line[DATA_LINE_MAX], char **fields, size_t count) {
    if (!fgets(line, DATA_LINE_MAX, stream))
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < count; i++)
        fields[i] = strsep(&line, ",");
    assert_non_null(fields[count - 1]);
    return true;
}

#endif
