/* SPDX-License-Identifier: Apache-2.0 */
#include "workload_checks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/units.h"
#include "workload.h"

/* A number without a unit is in seconds. */
static double seconds_of(const char *text) {
    ss_time time;
    return ss_units_time(text, &time, NULL) == 0 ? ss_time_seconds(time) : strtod(text, NULL);
}

static void check_counting(FILE *stream, const struct ssbatch_workload_checks *checks,
    const struct ssbatch_workload *workload) {
    bool only_ends_count = workload->typed && !workload->values[SSBATCH_ITERATION] &&
                           !workload->values[SSBATCH_REPEAT];
    if (checks->warn_uncounted && only_ends_count) /* the command may never end */
        fprintf(stderr,
            "%s: each end of the command is an iteration; --iteration counts lines of its output\n",
            workload->name);
    if (ssbatch_workload_is_counted(workload))
        fprintf(stream, "%s\n", workload->name);
    else if (checks->warn_uncounted)
        fprintf(stderr,
            "Warning: %s has no throughput: use --iteration or --repeat to count its iterations\n",
            workload->name);
}

int ssbatch_workloads_check(FILE *stream, const struct ssbatch_workload_checks *checks,
    char *const *names, struct ss_error *error) {
    for (; *names; names++) {
        const struct ssbatch_workload *workload =
            ssbatch_catalogue_find(checks->catalogue, *names, NULL);
        if (!workload)
            return ss_error_fail(
                error, "--%s: %s: no such workload: see --list-workloads", checks->option, *names);
        if (ssbatch_workload_check(workload, "", checks->even_if_missing, error) < 0)
            return ss_error_wrap(error, "--%s", checks->option);
        const char *unfit = ssbatch_workload_unfit(workload);
        const char *time = workload->values[SSBATCH_WARMUP];
        if (unfit)
            fprintf(stderr, "Warning: %s is unfit: %s\n", workload->name, unfit);
        if (time && checks->warmup && seconds_of(time) > seconds_of(checks->warmup))
            fprintf(stderr, "Warning: %s takes %s%s to warm up, longer than --warmup\n",
                workload->name, time, isalpha((unsigned char)time[strlen(time) - 1]) ? "" : "s");
        check_counting(stream, checks, workload);
    }
    return 0;
}

/* Returns the stand-in for a program; NULL if absent. */
static const char *find_stand_in(
    const struct ssbatch_catalogue *catalogue, const char *program, char *const *stand_ins) {
    for (; *stand_ins; stand_ins++) {
        const struct ssbatch_workload *workload =
            ssbatch_catalogue_find(catalogue, *stand_ins, NULL);
        const char *published = workload ? workload->values[SSBATCH_PUBLISHED] : NULL;
        if (published && strcmp(published, program) == 0)
            return workload->name;
    }
    return NULL;
}

int ssbatch_workloads_represent(FILE *stream, const struct ssbatch_catalogue *catalogue,
    char *const *names, char *const *stand_ins, struct ss_error *error) {
    for (; *names; names++) {
        SS_OWNED(free) char *lacks = NULL;
        const struct ssbatch_workload *workload = ssbatch_catalogue_find(catalogue, *names, error);
        if (!workload || ssbatch_workload_find_lacks(workload, &lacks, error) < 0)
            return -1;
        const char *stand_in = lacks ? find_stand_in(catalogue, *names, stand_ins) : *names;
        if (stand_in)
            fprintf(stream, "%s\n", stand_in);
        if (lacks && stand_in)
            fprintf(stderr, "%s cannot run here: %s; %s represents it\n", *names, lacks, stand_in);
        else if (lacks)
            fprintf(stderr, "%s is left out, because it cannot run here: %s\n", *names, lacks);
    }
    return 0;
}
