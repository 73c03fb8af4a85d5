/* SPDX-License-Identifier: Apache-2.0 */
#include "calibration_document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "origin.h"

static void print_result(
    struct ss_json *json, const struct ssprofile_calibration_document *calibration) {
    const struct ssprofile_test *found = calibration->found;
    ss_json_open(json, NULL, '{');
    ss_json_text(json, "throttle", calibration->throttle);
    ss_json_text(json, "method", calibration->method);
    ss_json_number(json, "setting", found->setting);
    ss_json_number(json, "low", calibration->low);
    ss_json_number(json, "high", calibration->high);
    ss_json_number(json, "tests", (double)calibration->test_count);
    ss_json_number(json, "benchmarks", calibration->benchmarks);
    ss_json_number(json, "repetitions", found->repetitions);
    ss_json_number(json, "most_to_least_first", calibration->tests[0].most_to_least);
    ss_json_number(json, "most_to_least", found->most_to_least);
    ss_json_close(json, '}');
}

static void print_test(struct ss_json *json, const struct ssprofile_test *test) {
    ss_json_open(json, NULL, '{');
    ss_json_number(json, "setting", test->setting);
    ss_json_number(json, "log_ratio_mean", test->log_ratio_mean);
    ss_json_number(json, "half_width", test->half_width);
    ss_json_number(json, "time_ratio_mean", test->time_ratio_mean);
    ss_json_number(json, "cost", test->cost);
    ss_json_number(json, "repetitions", test->repetitions);
    ss_json_number(json, "least", test->least);
    ss_json_number(json, "most", test->most);
    ss_json_number(json, "most_to_least", test->most_to_least);
    ss_json_number(json, "scatter_percent", test->scatter_percent);
    ss_json_close(json, '}');
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
    if (calibration->found)
        print_result(&json, calibration);
    ss_json_close(&json, ']');

    ss_json_open(&json, "calibration", '[');
    for (size_t i = 0; i < calibration->test_count; i++)
        print_test(&json, &calibration->tests[i]);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

int ssprofile_calibration_write(const struct ssprofile_calibration_document *calibration,
    const char *folder, struct ss_error *error) {
    struct ss_whole_file file;
    SS_OWNED(close) int made = ss_walk_folder_path(folder, O_PATH | O_CREAT, error);
    if (made < 0)
        return ss_error_wrap(error, "%s", folder);
    SS_OWNED(free) char *path = ss_words_format(error, "%s/calibrate.json", folder);
    if (!path || ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    print_document(file.stream, calibration);
    return ss_whole_file_end(&file, path, error);
}
