/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/words.h"
#include "batch_options.h"
#include "merge.h"
#include "order.h"
#include "progress.h"

struct missing {
    const char *run;
    size_t count;
};

static void report_missing(void *context, const struct ssbatch_line *line) {
    struct missing *missing = context;
    missing->count++;
    printf("%s: cannot find the program '%s'\n", missing->run, ss_words_show(line->words[0]).text);
}

struct preview {
    const struct ssbatch_options *options;
    const struct ssbatch_study *study; /* NULL: it does not exist yet */
    struct ssbatch_plan plan;
    const struct ssbatch_run **runs; /* in the order in which they would be carried out */
    size_t count;
    struct ssbatch_programs programs;
    struct missing missing;
    ss_time left;
    size_t refused;
};

static int print_run(
    struct preview *preview, const struct ssbatch_run *run, struct ss_error *error) {
    struct ss_error why = {0};
    int fate = SSBATCH_CARRY_OUT;
    if (preview->study)
        fate = ssbatch_decide(preview->study, &preview->plan, run, preview->options->redo,
            &preview->programs, &why, error);
    if (fate < 0)
        return -1;

    printf("%s: ", run->name);
    if (run->reason && fate != SSBATCH_REFUSE)
        printf("skipped: %s", run->reason);
    else
        ssbatch_span_print(stdout, run->takes);
    if (fate == SSBATCH_REFUSE)
        printf(", refused: already done, but %s", why.message);
    else if (fate == SSBATCH_KEEP && !run->reason)
        printf(", done");
    putchar('\n');

    preview->refused += fate == SSBATCH_REFUSE;
    if (fate == SSBATCH_CARRY_OUT && !run->reason)
        preview->left += run->takes;
    preview->missing.run = run->name;
    ssbatch_programs_missing(&run->lines, report_missing, &preview->missing);
    return 0;
}

static int print_preview(struct preview *preview, struct ss_error *error) {
    preview->runs = calloc(preview->plan.run_count + 1, sizeof *preview->runs);
    if (!preview->runs)
        return ss_error_memory(error);
    if (ssbatch_choose_runs(preview->options, &preview->plan, &preview->plan, preview->runs,
            &preview->count, error) < 0)
        return -1;

    ssbatch_programs_missing(&preview->plan.study, report_missing, &preview->missing);
    for (size_t i = 0; i < preview->count; i++) {
        if (print_run(preview, preview->runs[i], error) < 0)
            return -1;
    }

    fputs("to come: ", stdout);
    ssbatch_span_print(stdout, preview->left);
    putchar('\n');
    return 0;
}

static int read_plan(
    struct preview *preview, const struct ssbatch_study *study, struct ss_error *error) {
    const struct ssbatch_options *options = preview->options;
    struct ssbatch_plan *plan = &preview->plan;
    int status = options->only ? ssbatch_kept_plan_read(plan, study, error)
                               : ssbatch_given_plan_read(plan, options->plan, error);
    if (status < 0)
        return -1;
    return ssbatch_check_runs(study, plan, options->only, options->redo, error);
}

int ssbatch_dry_run(const struct ssbatch_options *options, int *status, struct ss_error *error) {
    struct ssbatch_study study;
    struct ss_error ignored = {0};
    struct preview preview = {.options = options, .missing = {.run = "the study"}};
    int result = 0;

    int opened = ssbatch_study_open(&study, options->study, SSBATCH_STUDY_READ, NULL, &ignored);
    if (opened == 0)
        preview.study = &study;
    if ((options->only && !preview.study) || opened == -1) {
        ssbatch_study_close(&study);
        return ss_error_fail(error, "%s", ignored.message);
    }

    if (read_plan(&preview, &study, error) < 0 || print_preview(&preview, error) < 0)
        result = -1;
    if (preview.missing.count > 0 || preview.refused > 0)
        *status = 1;

    ssbatch_programs_free(&preview.programs);
    ssbatch_plan_free(&preview.plan);
    ssbatch_study_close(&study);
    free(preview.runs);
    return result;
}
