/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/words.h"
#include "run_document.h"
#include "text_stream.h"

bool ssbatch_is_listed(const char *list, const char *name) {
    return list && ss_words_has(list, ',', name);
}

int ssbatch_given_plan_read(struct ssbatch_plan *plan, const char *path, struct ss_error *error) {
    if (!path || strcmp(path, "-") == 0)
        return ssbatch_plan_read(plan, stdin, "standard input", error);
    *plan = (struct ssbatch_plan){0};
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    return file ? ssbatch_plan_read(plan, file, path, error) : ss_paths_fail(path, error);
}

int ssbatch_kept_plan_read(
    struct ssbatch_plan *plan, const struct ssbatch_study *study, struct ss_error *error) {
    struct ss_error why = {0};
    *plan = (struct ssbatch_plan){0};
    SS_OWNED(fclose) FILE *file = ssbatch_study_open_file(study, "plan", &why);
    if (!file)
        return why.status ? ss_error_fail(error, "%s", why.message) : 0;
    return ssbatch_plan_read(plan, file, ssbatch_study_path(study, ".study/plan").text, error);
}

static int check_redo(const struct ssbatch_plan *kept, const struct ssbatch_plan *plan,
    const char *only, const char *redo, struct ss_error *error) {
    SS_OWNED(free) char **names = ss_words_split_list(redo, NULL, error);
    for (char **name = names; name && *name; name++) {
        if (!ssbatch_plan_find(kept, *name) && !ssbatch_plan_find(plan, *name))
            return ss_error_fail(
                error, "--redo: the study has no run '%s': see --list", ss_words_show(*name).text);
        if (!ssbatch_plan_find(plan, *name) || (only && !ssbatch_is_listed(only, *name)))
            return ss_error_fail(error,
                "--redo: %s is not among the runs of this call: add it to %s, or remove it from "
                "--redo",
                *name, only ? "--only" : "the plan");
    }
    return names ? 0 : -1;
}

/* Returns the line as text; free() it. */
static char *print_line(const struct ssbatch_line *line, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    ssbatch_plan_print_line(text.stream, line);
    return ss_text_close(&text, error);
}

static int is_same_line(
    const struct ssbatch_line *one, const struct ssbatch_line *other, struct ss_error *error) {
    SS_OWNED(free) char *text = print_line(one, error);
    SS_OWNED(free) char *text2 = print_line(other, error);
    return text && text2 ? strcmp(text, text2) == 0 : -1;
}

/* Returns the `once` line of the study that sets this value, or NULL. */
static const struct ssbatch_line *find_value(const struct ssbatch_plan *plan, const char *name) {
    const struct ssbatch_line *line = ssbatch_lines_find(&plan->study, name);
    return line && line->kind == SSBATCH_ONCE ? line : NULL;
}

/* Returns the index of the first line from `index` on that is not a value, or the line count. */
static size_t next_command(const struct ssbatch_plan *plan, size_t index) {
    while (index < plan->study.count && plan->study.items[index].kind == SSBATCH_ONCE)
        index++;
    return index;
}

/*
 * Returns whether the plan changes no line of the study. Values may be added or left out: they
 * concern only runs that use them.
 */
static int keeps_lines(
    const struct ssbatch_plan *kept, const struct ssbatch_plan *plan, struct ss_error *error) {
    size_t next = 0;
    for (size_t i = 0; i < plan->study.count; i++) {
        const struct ssbatch_line *line = &plan->study.items[i], *before;
        if (line->kind == SSBATCH_ONCE) {
            before = find_value(kept, line->role);
            if (!before)
                continue;
        } else {
            next = next_command(kept, next);
            if (next == kept->study.count)
                return 0;
            before = &kept->study.items[next++];
        }

        int same = is_same_line(before, line, error);
        if (same <= 0)
            return same;
    }

    return next_command(kept, next) == kept->study.count;
}

/* Sets `done` to a kept run that is done and not listed in `redo`, or to NULL. */
static int find_done(const struct ssbatch_study *study, const struct ssbatch_plan *kept,
    const char *redo, const struct ssbatch_run **done, struct ss_error *error) {
    *done = NULL;
    for (size_t i = 0; i < kept->run_count && !*done; i++) {
        if (ssbatch_is_listed(redo, kept->runs[i].name))
            continue;

        int status = ssbatch_run_status(study, kept->runs[i].name, error);
        if (status < 0)
            return -1;
        if (status == SSBATCH_DONE)
            *done = &kept->runs[i];
    }
    return 0;
}

/* Which lines above the first run the study continues with. */
enum choice {
    SAME_LINES,
    KEPT_LINES, /* the kept lines, and the values that the plan adds */
    NEW_LINES,  /* those of the plan, because no run depends on the kept ones */
};

/* Returns the choice, or -1 with the error set if the plan must not change the lines. */
static int choose_lines(const struct ssbatch_study *study, const struct ssbatch_plan *kept,
    const struct ssbatch_plan *plan, const char *redo, struct ss_error *error) {
    const struct ssbatch_run *other = NULL, *done = NULL; /* `other`: a kept run not in the plan */
    int same = kept->study.count == plan->study.count;
    for (size_t i = 0; same > 0 && i < plan->study.count; i++)
        same = is_same_line(&kept->study.items[i], &plan->study.items[i], error);
    if (same != 0)
        return same < 0 ? -1 : SAME_LINES;

    for (size_t i = 0; i < kept->run_count && !other; i++) {
        if (!ssbatch_plan_find(plan, kept->runs[i].name))
            other = &kept->runs[i];
    }
    if (!other && find_done(study, kept, redo, &done, error) < 0)
        return -1;
    if (!other && !done)
        return NEW_LINES;
    if (other && plan->study.count == 0)
        return KEPT_LINES; /* the plan has only further runs */
    int keeps = keeps_lines(kept, plan, error);
    if (keeps != 0)
        return keeps < 0 ? -1 : KEPT_LINES;
    if (other)
        return ss_error_fail(error,
            "the lines above the first run differ from those with which run %s of this study was "
            "planned: leave them unchanged, or use another study",
            other->name);
    return ss_error_fail(error,
        "the lines above the first run differ from those with which run %s of this study was "
        "carried out: leave them unchanged, use another study, or repeat all runs that are done "
        "(ssbatch --redo)",
        done->name);
}

/* Returns whether a word has the placeholder {NAME}; `{{` stands for a brace. */
static bool has_placeholder(const char *word, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strchr(word, '{'); at; at = strchr(at, '{')) {
        if (at[1] != '{' && strncmp(at + 1, name, length) == 0 && at[1 + length] == '}')
            return true;
        at += at[1] == '{' ? 2 : 1;
    }
    return false;
}

static int check_after(
    const struct ssbatch_plan *plan, const struct ssbatch_line *line, struct ss_error *error) {
    for (size_t i = 0; i < plan->study.count; i++) {
        const struct ssbatch_line *once = &plan->study.items[i];
        for (char **word = line->words; once->kind == SSBATCH_ONCE && *word; word++) {
            if (has_placeholder(*word, once->role))
                return ss_error_fail(error,
                    "line %u of the plan: an `after` above the first run cannot use {%s}, because "
                    "it "
                    "may run before that value is found: put the `after` below the runs that use "
                    "{%s}",
                    line->number, once->role, once->role);
        }
    }
    return 0;
}

static int check_plan(const struct ssbatch_study *study, const struct ssbatch_plan *kept,
    const struct ssbatch_plan *plan, const char *only, const char *redo, struct ss_error *error) {
    if (redo && check_redo(kept, plan, only, redo, error) < 0)
        return -1;
    int choice = choose_lines(study, kept, plan, redo, error);
    if (choice < 0)
        return -1;

    /*
     * The first call would have to prepare an `after` with a value before the value is found. A
     * study that has its values already continues with the lines that it has.
     */
    for (size_t i = 0; choice == NEW_LINES && i < plan->study.count; i++) {
        const struct ssbatch_line *line = &plan->study.items[i];
        if (line->kind == SSBATCH_AFTER && check_after(plan, line, error) < 0)
            return -1;
    }

    for (size_t i = 0; i < plan->run_count; i++) {
        if (ssbatch_study_check_place(study, plan->runs[i].name, error) < 0)
            return -1;
    }
    return 0;
}

int ssbatch_check_runs(const struct ssbatch_study *study, const struct ssbatch_plan *plan,
    const char *only, const char *redo, struct ss_error *error) {
    struct ssbatch_plan kept;
    int status = ssbatch_kept_plan_read(&kept, study, error);
    if (status == 0)
        status = check_plan(study, &kept, plan, only, redo, error);
    ssbatch_plan_free(&kept);
    return status;
}

struct merging {
    const struct ssbatch_study *study;
    const struct ssbatch_plan *kept, *plan;
    const char *redo;
    FILE *stream;
};

/* Chooses a kept run or its replacement. Marks a replacement that is not allowed as refused. */
static int choose_run(const struct merging *merging, const struct ssbatch_run *kept,
    const struct ssbatch_run **chosen, struct ss_error *error) {
    struct ssbatch_run *after = ssbatch_plan_find(merging->plan, kept->name);
    char identity[SSBATCH_SHA256_TEXT_SIZE] = "", identity2[SSBATCH_SHA256_TEXT_SIZE] = "";
    int status = SSBATCH_PENDING;

    if (after && (ssbatch_identity(merging->kept, kept, identity, error) < 0 ||
                     ssbatch_identity(merging->plan, after, identity2, error) < 0))
        return -1;

    if (strcmp(identity, identity2) != 0 && !ssbatch_is_listed(merging->redo, kept->name))
        status = ssbatch_run_status(merging->study, kept->name, error);
    if (status < 0)
        return -1;

    *chosen = after ? after : kept;
    if (status == SSBATCH_DONE) {
        after->refused = true;
        *chosen = kept;
    }
    return 0;
}

/* Returns the index in `chosen` of the run of this name, or -1. */
static ptrdiff_t index_of(const struct merging *merging, const char *name) {
    const struct ssbatch_run *kept = ssbatch_plan_find(merging->kept, name);
    const struct ssbatch_run *added = ssbatch_plan_find(merging->plan, name);
    if (kept)
        return kept - merging->kept->runs;
    return added ? (ptrdiff_t)merging->kept->run_count + (added - merging->plan->runs) : -1;
}

/* Prints a run, after those that it needs: the new plan may have them in another order. */
static void print_with_needs(
    const struct merging *merging, const struct ssbatch_run **chosen, size_t index) {
    const struct ssbatch_run *run = chosen[index];
    if (!run)
        return;
    chosen[index] = NULL;
    for (size_t i = 0; i < run->need_count; i++) {
        ptrdiff_t needed = index_of(merging, run->needs[i]);
        if (needed >= 0)
            print_with_needs(merging, chosen, (size_t)needed);
    }
    ssbatch_plan_print_run(merging->stream, run);
}

static int print_merged(const struct merging *merging, int choice, struct ss_error *error) {
    const struct ssbatch_plan *kept = merging->kept, *plan = merging->plan;
    size_t kept_count = kept->run_count, count = kept_count + plan->run_count;
    SS_OWNED(free) const struct ssbatch_run **chosen = calloc(count, sizeof *chosen);
    if (!chosen)
        return ss_error_memory(error);
    fputs("plan 1\n", merging->stream);
    ssbatch_plan_print_study(merging->stream, choice == KEPT_LINES ? kept : plan);
    for (size_t i = 0; choice == KEPT_LINES && i < plan->study.count; i++) {
        const struct ssbatch_line *line = &plan->study.items[i];
        if (line->kind == SSBATCH_ONCE && !find_value(kept, line->role))
            ssbatch_plan_print_line(merging->stream, line);
    }

    for (size_t i = 0; i < kept_count; i++) {
        if (choose_run(merging, &kept->runs[i], &chosen[i], error) < 0)
            return -1;
    }
    for (size_t i = 0; i < plan->run_count; i++) {
        if (!ssbatch_plan_find(kept, plan->runs[i].name))
            chosen[kept_count + i] = &plan->runs[i];
    }
    for (size_t i = 0; i < count; i++)
        print_with_needs(merging, chosen, i);
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

static int write_merged(const struct ssbatch_study *study, const struct ssbatch_plan *kept,
    const struct ssbatch_plan *plan, const char *redo, struct ss_error *error) {
    struct ss_text merged;
    int choice = choose_lines(study, kept, plan, redo, error);
    if (choice < 0 || ss_text_open(&merged, error) < 0)
        return -1;

    const struct merging merging = {study, kept, plan, redo, merged.stream};
    int status = print_merged(&merging, choice, error);
    SS_OWNED(free) char *text = ss_text_close(&merged, error);
    if (status < 0 || !text || check_merged(text, error) < 0)
        return -1;

    /* The commands that found the values, or what runs next to them, may have changed. */
    if (choice == NEW_LINES && ssbatch_disk_unlink(study->state, "values",
                                   ssbatch_study_path(study, ".study/values").text, error) < 0)
        return -1;
    return ssbatch_disk_write(
        study->state, "plan", ssbatch_study_path(study, ".study/plan").text, text, error);
}

int ssbatch_merge(const struct ssbatch_study *study, struct ssbatch_plan *plan, const char *redo,
    struct ss_error *error) {
    struct ssbatch_plan kept;
    int status = ssbatch_kept_plan_read(&kept, study, error);
    if (status == 0)
        status = write_merged(study, &kept, plan, redo, error);
    ssbatch_plan_free(&kept);
    return status;
}

int ssbatch_decide(const struct ssbatch_study *study, const struct ssbatch_plan *plan,
    const struct ssbatch_run *run, const char *redo, struct ssbatch_programs *programs,
    struct ss_error *why, struct ss_error *error) {
    char identity[SSBATCH_SHA256_TEXT_SIZE];
    struct ss_error failure = {0};
    struct json_object *document = ssbatch_run_document_read(study, run->name, &failure);
    enum ssbatch_status status = ssbatch_run_document_status(document);
    int fate = SSBATCH_CARRY_OUT;
    if (failure.status)
        return ss_error_set(error, failure.status, "%s", failure.message);

    if ((status == SSBATCH_DONE || status == SSBATCH_SKIPPED) &&
        !ssbatch_is_listed(redo, run->name)) {
        if (ssbatch_identity(plan, run, identity, error) < 0)
            fate = -1;
        else if (ssbatch_run_document_compare(document, identity, run, programs, why) == 0)
            fate = SSBATCH_KEEP;
        else if (status == SSBATCH_DONE)
            fate = SSBATCH_REFUSE;
    }
    json_object_put(document);
    return fate;
}
