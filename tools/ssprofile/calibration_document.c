/* SPDX-License-Identifier: Apache-2.0 */
#include "calibration_files.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
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

/* Returns a number with 12 digits, or `unknown`. */
static const char *digits_of(
    char text[32], const void *row, const struct column *column, const char *unknown) {
    double number;
    memcpy(&number, (const char *)row + column->offset, sizeof number);
    snprintf(text, 32, "%.12g", number);
    return isfinite(number) ? text : unknown;
}

static void print_heading(FILE *stream, const struct column *columns, const char *before) {
    fputs(before, stream);
    for (size_t i = 0; columns[i].name; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", columns[i].name);
    fputc('\n', stream);
}

static void print_row(FILE *stream, const struct column *columns, const void *row) {
    char text[32];
    for (size_t i = 0; columns[i].name; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", digits_of(text, row, &columns[i], ""));
    fputc('\n', stream);
}

static void print_members(struct ss_json *json, const struct column *columns, const void *row) {
    char text[32];
    for (; columns->name; columns++)
        ss_json_digits(json, columns->name, digits_of(text, row, columns, "null"));
}

static void print_result(FILE *stream, const struct ssprofile_calibration_files *files) {
    print_heading(stream, calibrated, "throttle,method,");
    fprintf(stream, "%s,%s,", files->throttle, files->method);
    print_row(stream, calibrated, &files->result);
}

static void print_tests(FILE *stream, const struct ssprofile_calibration_files *files) {
    print_heading(stream, tests, "");
    for (size_t i = 0; i < files->test_count; i++)
        print_row(stream, tests, &files->tests[i]);
}

static void print_document(FILE *stream, const struct ssprofile_calibration_files *files) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSPROFILE_SCHEMA);
    ss_json_text(&json, "ssprofile", ss_version());
    ss_json_text(&json, "title", "Calibration");
    ss_json_text(&json, "base", files->base);
    ss_json_open(&json, "findings", '[');
    for (size_t i = 0; i < files->finding_count; i++)
        ss_json_text(&json, NULL, files->findings[i]);
    ss_json_close(&json, ']');
    ss_json_open(&json, "calibrated", '[');
    if (files->found) {
        ss_json_open(&json, NULL, '{');
        ss_json_text(&json, "throttle", files->throttle);
        ss_json_text(&json, "method", files->method);
        print_members(&json, calibrated, &files->result);
        ss_json_close(&json, '}');
    }
    ss_json_close(&json, ']');
    ss_json_open(&json, "calibration", '[');
    for (size_t i = 0; i < files->test_count; i++) {
        ss_json_open(&json, NULL, '{');
        print_members(&json, tests, &files->tests[i]);
        ss_json_close(&json, '}');
    }
    ss_json_close(&json, ']');
    ss_json_open(&json, "warnings", '[');
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

/* Writes a file or, if it has no rows, removes that of an earlier call. */
static int write_file(const struct ssprofile_calibration_files *files, const char *folder,
    const char *name, void (*print)(FILE *, const struct ssprofile_calibration_files *),
    bool has_rows, struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    int result = has_rows ? ss_whole_file_open(&file, path) : unlink(path);
    if (result < 0 && (has_rows || errno != ENOENT))
        return ss_error_fail(error, "%s: %s", path, strerror(errno));
    if (!has_rows)
        return 0;
    print(file.stream, files);
    if (ss_whole_file_commit(&file) < 0)
        return ss_error_fail(error, "%s: %s", path, strerror(errno));
    return 0;
}

int ssprofile_calibration_write(
    const struct ssprofile_calibration_files *files, const char *folder, struct ss_error *error) {
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return ss_error_fail(error, "%s: %s", folder, strerror(errno));
    if (write_file(files, folder, "calibrated.csv", print_result, files->found, error) < 0 ||
        write_file(files, folder, "calibration.csv", print_tests, files->test_count > 0, error) < 0)
        return -1;
    return write_file(files, folder, "calibrate.json", print_document, true, error);
}
