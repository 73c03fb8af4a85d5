/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_CALIBRATION_DOCUMENT_H
#define SSPROFILE_CALIBRATION_DOCUMENT_H

/* Writes the result of a calibration as a JSON document, calibrate.json. */

#include <stddef.h>

#include <showstopper/error.h>

#include "setting_search.h"

#define SSPROFILE_FINDING  700 /* size limit of a sentence */
#define SSPROFILE_FINDINGS 8

/* A tested setting. */
struct ssprofile_test {
    double setting;   /* 0 to 1 */
    double frequency; /* Hz, if the throttle is one */
    double log_ratio_mean, half_width;
    double time_ratio_mean, cost;
    double repetitions;
    double least, most, most_to_least;
    double scatter_percent;
};

struct ssprofile_calibration_document {
    const char *base, *throttle, *method;
    struct ssprofile_test tests[SSPROFILE_TESTS];
    size_t test_count;
    const struct ssprofile_test *found; /* the test with the result; NULL without a result */
    double low, high;                   /* interval of its setting; NaN if unknown */
    double benchmarks;
    char findings[SSPROFILE_FINDINGS][SSPROFILE_FINDING];
    size_t finding_count;
};

/* Makes the folder if it does not exist. */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_calibration_write(
    const struct ssprofile_calibration_document *calibration, const char *folder,
    struct ss_error *error);

#endif
