/* SPDX-License-Identifier: Apache-2.0 */
#include "calibration_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "origin.h"

struct column {
    const char *name;
    size_t offset;
};

#define TEST(member)                                                                               \
    { #member, offsetof(struct ssprofile_test, member) }
#define CALIBRATED(member)                                                                         \
    { #member, offsetof(struct ssprofile_calibrated, member) }

static const struct column tests[] = {TEST(setting), TEST(log_ratio_mean), TEST(half_width),
    TEST(time_ratio_mean), TEST(cost), TEST(repetitions), TEST(least), TEST(most),
    TEST(most_to_least), TEST(scatter_percent), {NULL, 0}};

static const struct column calibrated[] = {CALIBRATED(setting), CALIBRATED(low), CALIBRATED(high),
    CALIBRATED(tests), CALIBRATED(benchmarks), CALIBRATED(repetitions),
    CALIBRATED(most_to_least_first), CALIBRATED(most_to_least), {NULL, 0}};

static void print_members(struct ss_json *json, const struct column *columns, const void *row) {
    for (; columns->name; columns++) {
        double number;
        memcpy(&number, (const char *)row + columns->offset, sizeof number);
        ss_json_number(json, columns->name, number);
    }
}

static void print_document(FILE *stream, const struct ssprofile_calibration_document *calibration) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSPROFILE_SCHEMA);
    ss_json_text(&json, "ssprofile", ss_version());
    ss_json_text(&json, "title", "Calibration");
    ss_json_text(&json, "base", calibration->base);
    ss_json_open(&json, "findings", '[');
    for (size_t i = 0; i < calibration->finding_count; i++)
        ss_json_text(&json, NULL, calibration->findings[i]);
    ss_json_close(&json, ']');

    ss_json_open(&json, "calibrated", '[');
    if (calibration->found) {
        ss_json_open(&json, NULL, '{');
        ss_json_text(&json, "throttle", calibration->throttle);
        ss_json_text(&json, "method", calibration->method);
        print_members(&json, calibrated, &calibration->result);
        ss_json_close(&json, '}');
    }
    ss_json_close(&json, ']');

    ss_json_open(&json, "calibration", '[');
    for (size_t i = 0; i < calibration->test_count; i++) {
        ss_json_open(&json, NULL, '{');
        print_members(&json, tests, &calibration->tests[i]);
        ss_json_close(&json, '}');
    }
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

int ssprofile_calibration_write(const struct ssprofile_calibration_document *calibration,
    const char *folder, struct ss_error *error) {
    SS_OWNED(free) char *path = NULL;
    struct ss_whole_file file;
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return ss_error_fail(error, "%s: %s", folder, strerror(errno));
    if (asprintf(&path, "%s/calibrate.json", folder) < 0) {
        path = NULL;
        return ss_error_memory(error);
    }
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    print_document(file.stream, calibration);
    return ss_whole_file_end(&file, path, error);
}
