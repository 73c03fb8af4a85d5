/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "batch.h"
#include "merge.h"
#include "option_value.h"
#include "run_document.h"

struct missing {
    const char *run;
    size_t count;
};

static void report_missing(void *context, const struct ssbatch_line *line) {
    struct missing *missing = context;
    missing->count++;
    printf("%s: the program '%s' is missing\n", missing->run, ss_words_show(line->words[0]).text);
}

static void print_dry_run(const struct ssbatch_run *run, bool done) {
    printf("%s: ", run->name);
    if (run->reason)
        printf("skipped: %s", run->reason);
    else
        ssbatch_span_print(stdout, run->takes);
    puts(done ? ", done" : "");
}

int ssbatch_dry_run(const struct ssbatch_options *options, int *status, struct ss_error *error) {
    struct ssbatch_plan plan;
    struct ssbatch_study study;
    struct ss_error ignored = {0};
    struct missing missing = {.run = "the study"};
    ss_time left = 0;
    bool exists =
        ssbatch_study_open(&study, options->study, &ssbatch_disk_real, false, &ignored) == 0;
    if (options->only && !exists)
        return ss_error_fail(error, "%s", ignored.message);
    int result = options->only ? ssbatch_kept_plan_read(&plan, &study, error)
                               : ssbatch_given_plan_read(&plan, options->plan, error);
    if (result == 0)
        ssbatch_programs_missing(&plan.study, report_missing, &missing);
    for (size_t i = 0; result == 0 && i < plan.run_count; i++) {
        const struct ssbatch_run *run = &plan.runs[i];
        if (options->only && !ssbatch_is_listed(options->only, run->name))
            continue;
        struct json_object *document =
            exists ? ssbatch_run_document_read(&study, run->name, error) : NULL;
        bool done = ssbatch_run_document_status(document) == SSBATCH_DONE &&
                    !ssbatch_is_listed(options->redo, run->name);
        json_object_put(document);
        result = error->status ? -1 : 0;
        print_dry_run(run, done);
        left += done || run->reason ? 0 : run->takes;
        missing.run = run->name;
        ssbatch_programs_missing(&run->lines, report_missing, &missing);
    }
    if (result == 0) {
        fputs("to come: ", stdout);
        ssbatch_span_print(stdout, left);
        putchar('\n');
    }
    if (missing.count > 0)
        *status = 1;
    ssbatch_plan_free(&plan);
    return result;
}
