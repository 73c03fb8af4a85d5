/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "programs.h"
#include "run_document.h"

bool ssbatch_is_listed(const char *list, const char *name) {
    return list && ss_words_has(list, ',', name);
}

int ssbatch_given_plan_read(struct ssbatch_plan *plan, const char *path, struct ss_error *error) {
    if (!path || strcmp(path, "-") == 0)
        return ssbatch_plan_read(plan, stdin, "standard input", error);
    *plan = (struct ssbatch_plan){0};
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return ssbatch_plan_read(plan, file, path, error);
}

int ssbatch_kept_plan_read(
    struct ssbatch_plan *plan, const struct ssbatch_study *study, struct ss_error *error) {
    char path[SSBATCH_PATH];
    *plan = (struct ssbatch_plan){0};
    ssbatch_study_file(study, "plan", path);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return ssbatch_plan_read(plan, file, path, error);
}

static int check_redo(const struct ssbatch_plan *kept, const struct ssbatch_plan *plan,
    const char *redo, struct ss_error *error) {
    SS_OWNED(free) char **names = ss_words_split_list(redo, NULL, error);
    for (char **name = names; name && *name; name++) {
        if (!ssbatch_plan_find(kept, *name) && !ssbatch_plan_find(plan, *name))
            return ss_error_fail(
                error, "--redo: the study has no run '%s': see --list", ss_words_show(*name).text);
    }
    return names ? 0 : -1;
}

int ssbatch_check_runs(const struct ssbatch_study *study, const struct ssbatch_plan *plan,
    const char *redo, struct ss_error *error) {
    struct ssbatch_plan kept;
    int status = ssbatch_kept_plan_read(&kept, study, error);
    if (status == 0 && redo)
        status = check_redo(&kept, plan, redo, error);
    for (size_t i = 0; status == 0 && i < plan->run_count; i++)
        status = ssbatch_study_check_place(study, plan->runs[i].name, error);
    ssbatch_plan_free(&kept);
    return status;
}

static char *print_study(const struct ssbatch_plan *plan) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    ssbatch_plan_print_study(stream, plan);
    if (fclose(stream) != EOF)
        return text;
    free(text);
    return NULL;
}

static const struct ssbatch_run *find_other(
    const struct ssbatch_plan *kept, const struct ssbatch_plan *plan) {
    for (size_t i = 0; i < kept->run_count; i++) {
        if (!ssbatch_plan_find(plan, kept->runs[i].name))
            return &kept->runs[i];
    }
    return NULL;
}

/* Returns the plan that has the study's lines; NULL with the error set. */
static const struct ssbatch_plan *choose_study(
    const struct ssbatch_plan *kept, const struct ssbatch_plan *plan, struct ss_error *error) {
    SS_OWNED(free) char *before = print_study(kept);
    SS_OWNED(free) char *after = print_study(plan);
    const struct ssbatch_run *other = find_other(kept, plan);
    if (!before || !after) {
        ss_error_memory(error);
        return NULL;
    }
    if (!other || !*before || strcmp(before, after) == 0)
        return plan;
    if (!*after)
        return kept;
    ss_error_fail(error,
        "the lines above the first run differ from those with which run %s of this study was "
        "planned: leave them unchanged, or use another study",
        other->name);
    return NULL;
}

static int is_other(const struct ssbatch_plan *kept, const struct ssbatch_run *before,
    const struct ssbatch_plan *plan, const struct ssbatch_run *after, struct ss_error *error) {
    char identity[SSBATCH_SHA256_TEXT], identity2[SSBATCH_SHA256_TEXT];
    if (ssbatch_identity(kept, before, identity, error) < 0 ||
        ssbatch_identity(plan, after, identity2, error) < 0)
        return -1;
    return strcmp(identity, identity2) != 0;
}

static int is_done(const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct json_object *document = ssbatch_run_document_read(study, name, error);
    enum ssbatch_status status = ssbatch_run_document_status(document);
    json_object_put(document);
    return error->status ? -1 : status == SSBATCH_DONE;
}

static int refuse(struct ssbatch_refusals *refusals, const char *name, struct ss_error *error) {
    if (!SS_GROW(refusals->names, refusals->count + 1, refusals->room))
        return ss_error_memory(error);
    refusals->names[refusals->count] = strdup(name);
    return refusals->names[refusals->count++] ? 0 : ss_error_memory(error);
}

struct merging {
    const struct ssbatch_study *study;
    const struct ssbatch_plan *kept, *plan;
    const char *redo;
    struct ssbatch_refusals *refusals;
    FILE *stream;
};

/* Prints the kept run or the run that replaces it. */
static int merge_run(
    const struct merging *merging, const struct ssbatch_run *kept, struct ss_error *error) {
    const struct ssbatch_run *after = ssbatch_plan_find(merging->plan, kept->name);
    int other = after ? is_other(merging->kept, kept, merging->plan, after, error) : 0;
    int done = other > 0 && !ssbatch_is_listed(merging->redo, kept->name)
                   ? is_done(merging->study, kept->name, error)
                   : 0;
    if (other < 0 || done < 0 || (done && refuse(merging->refusals, kept->name, error) < 0))
        return -1;
    ssbatch_plan_print_run(merging->stream, after && !done ? after : kept);
    return 0;
}

static int print_merged(const struct merging *merging, struct ss_error *error) {
    const struct ssbatch_plan *study = choose_study(merging->kept, merging->plan, error);
    if (!study)
        return -1;
    fputs("plan 1\n", merging->stream);
    ssbatch_plan_print_study(merging->stream, study);
    for (size_t i = 0; i < merging->kept->run_count; i++) {
        if (merge_run(merging, &merging->kept->runs[i], error) < 0)
            return -1;
    }
    for (size_t i = 0; i < merging->plan->run_count; i++) {
        if (!ssbatch_plan_find(merging->kept, merging->plan->runs[i].name))
            ssbatch_plan_print_run(merging->stream, &merging->plan->runs[i]);
    }
    return 0;
}

/* Checks the merged plan: a run may need one that the new plan no longer has. */
static int check_merged(const char *text, struct ss_error *error) {
    struct ssbatch_plan plan;
    SS_OWNED(fclose) FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    if (!stream)
        return ss_error_memory(error);
    int status = ssbatch_plan_read(&plan, stream, "the plan with the runs that are kept", error);
    ssbatch_plan_free(&plan);
    return status;
}

int ssbatch_merge(const struct ssbatch_study *study, const struct ssbatch_plan *plan,
    const char *redo, struct ssbatch_refusals *refusals, struct ss_error *error) {
    struct ssbatch_plan kept;
    char path[SSBATCH_PATH];
    char *text = NULL;
    size_t size;
    int status = ssbatch_kept_plan_read(&kept, study, error);
    FILE *stream = open_memstream(&text, &size);
    const struct merging merging = {study, &kept, plan, redo, refusals, stream};
    ssbatch_study_file(study, "plan", path);
    if (!stream)
        status = ss_error_memory(error);
    if (status == 0)
        status = print_merged(&merging, error);
    if (stream && fclose(stream) == EOF)
        status = ss_error_memory(error);
    if (status == 0)
        status = check_merged(text, error);
    if (status == 0)
        status = ssbatch_disk_write(study->disk, path, text, error);
    free(text);
    ssbatch_plan_free(&kept);
    return status;
}

void ssbatch_refusals_free(struct ssbatch_refusals *refusals) {
    for (size_t i = 0; i < refusals->count; i++)
        free(refusals->names[i]);
    free(refusals->names);
    *refusals = (struct ssbatch_refusals){0};
}
