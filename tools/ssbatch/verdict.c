/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "json_document.h"

/*
 * Instances may print this many lines each before the first iteration ends. If they print more in
 * the counted time and none matches, the pattern is wrong; if they print fewer, the iteration takes
 * longer than the run.
 */
#define HEADINGS 2

static const char *value_of(char *const *word, const char *option) {
    size_t length = strlen(option);
    if (strncmp(*word, option, length) != 0)
        return NULL;
    if ((*word)[length] == '=')
        return *word + length + 1;
    return (*word)[length] ? NULL : word[1];
}

/* Returns whether a command of showstopper follows a load that changes. */
static bool follows_trace(char *const *words) {
    for (; *words && strcmp(*words, "--") != 0; words++) {
        const char *trace = value_of(words, "--trace");
        if (!trace)
            trace = value_of(words, "-t");
        if (trace)
            return strcmp(trace, "constant") != 0;
    }
    return false;
}

/* Describes why the run was shorter than planned; "" if it was not. */
static const char *describe_early_end(const struct json_object *summary) {
    const char *by = document_text(summary, "ended_by");
    return by && strcmp(by, "workloads") == 0
               ? "the command ended by itself; --repeat starts it again"
               : "";
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
    double instances = document_number(summary, "instances");
    double unmatched = document_number(summary, "lines_unmatched");
    const char *early = describe_early_end(summary);
    json_object_put(summary);
    if (samples == 0)
        return ss_error_fail(
            error, "nothing was counted: %s", *early ? early : "the run has no sample");
    if (*early && follows_trace(words))
        return ss_error_fail(error, "the trace was not followed to its end: %s", early);
    if (unmatched > HEADINGS * instances)
        return ss_error_fail(
            error, "no line of output matched --iteration, of %.0f lines", unmatched);
    return 0;
}
