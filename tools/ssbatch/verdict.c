/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "json_document.h"

static bool has_pattern(char *const *words) {
    for (; *words; words++) {
        if (strcmp(*words, "--iteration") == 0 || strncmp(*words, "--iteration=", 12) == 0)
            return true;
    }
    return false;
}

int ssbatch_check_record(const char *record, char *const *words, struct ss_error *error) {
    char path[4400];
    struct stat status;
    snprintf(path, sizeof path, "%s/summary.json", record);
    if (stat(path, &status) < 0)
        return 0;
    struct json_object *summary = document_read(record, "summary.json", "", error);
    if (!summary)
        return -1;
    double samples = document_number(summary, "samples");
    double iterations = document_number(summary, "iterations");
    double bound = document_number(summary, "iterations_per_second_bound");
    json_object_put(summary);
    if (samples == 0)
        return ss_error_fail(error, "nothing was counted: the run has no sample");
    if (iterations == 0 && !(bound > 0) && has_pattern(words))
        return ss_error_fail(error, "no line of output matched --iteration");
    return 0;
}
