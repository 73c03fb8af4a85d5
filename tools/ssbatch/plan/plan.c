/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"

static const char *const kind_names[SSBATCH_KINDS] = {"once", "before", "beside", "main", "after"};

const char *ssbatch_kind_name(enum ssbatch_kind kind) {
    return kind_names[kind];
}

const char *ssbatch_columns_get(const struct ssbatch_columns *columns, const char *key) {
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].key, key) == 0)
            return columns->items[i].value;
    }
    return NULL;
}

bool ssbatch_lines_have(const struct ssbatch_lines *lines, enum ssbatch_kind kind) {
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->items[i].kind == kind)
            return true;
    }
    return false;
}

const struct ssbatch_line *ssbatch_lines_find(const struct ssbatch_lines *lines, const char *role) {
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->items[i].role && strcmp(lines->items[i].role, role) == 0)
            return &lines->items[i];
    }
    return NULL;
}

void ssbatch_print_words(FILE *stream, char *const *words) {
    for (; *words; words++) {
        fputc(' ', stream);
        ss_words_quote(stream, *words);
    }
}

static int compare_name(const void *name, const void *run) {
    return strcmp(name, (*(struct ssbatch_run *const *)run)->name);
}

struct ssbatch_run *ssbatch_plan_find(const struct ssbatch_plan *plan, const char *name) {
    if (plan->run_count == 0)
        return NULL;
    struct ssbatch_run **found =
        bsearch(name, plan->by_name, plan->run_count, sizeof *plan->by_name, compare_name);
    return found ? *found : NULL;
}

static void free_lines(struct ssbatch_lines *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        struct ssbatch_line *line = &lines->items[i];
        if (line->regex)
            regfree(line->regex);
        free(line->regex);
        free(line->columns.items);
    }
    free(lines->items);
}

void ssbatch_plan_free(struct ssbatch_plan *plan) {
    free_lines(&plan->study);
    for (size_t i = 0; i < plan->run_count; i++) {
        free(plan->runs[i].needs);
        free(plan->runs[i].columns.items);
        free_lines(&plan->runs[i].lines);
    }
    for (size_t i = 0; i < plan->block_count; i++)
        free(plan->blocks[i]);

    free(plan->runs);
    free(plan->by_name);
    free(plan->blocks);
    *plan = (struct ssbatch_plan){0};
}

/* Quotes only the value: KEY='a b' is easier to read than 'KEY=a b', and equivalent in a shell. */
static void print_pair(FILE *stream, const char *key, const char *value) {
    fprintf(stream, " %s=", key);
    ss_words_quote(stream, value);
}

static void print_columns(FILE *stream, const struct ssbatch_columns *columns) {
    for (size_t i = 0; i < columns->count; i++)
        print_pair(stream, columns->items[i].key, columns->items[i].value);
}

bool ssbatch_line_accepts(const struct ssbatch_line *line, int status) {
    unsigned number = (unsigned)status & 255;
    return line->has_ok ? line->ok[number / 64] >> number % 64 & 1 : number == 0;
}

void ssbatch_line_print_statuses(const struct ssbatch_line *line, FILE *stream) {
    const char *separator = "";
    for (int status = 0; status < 256; status++) {
        if (!ssbatch_line_accepts(line, status))
            continue;
        fprintf(stream, "%s%d", separator, status);
        separator = ",";
    }
}

static void print_line(
    FILE *stream, const struct ssbatch_line *line, const struct ssbatch_columns *columns) {
    fputs(kind_names[line->kind], stream);
    if (line->role)
        fprintf(stream, " %s", line->role);
    if (line->pattern)
        print_pair(stream, line->kind == SSBATCH_ONCE ? "match" : "ready", line->pattern);
    if (line->ready_file)
        print_pair(stream, "ready-file", line->ready_file);
    if (line->has_ok) {
        fputs(" ok=", stream);
        ssbatch_line_print_statuses(line, stream);
    }

    print_columns(stream, columns);
    fputs(" --", stream);
    ssbatch_print_words(stream, line->words);
    fputc('\n', stream);
}

void ssbatch_plan_print_line(FILE *stream, const struct ssbatch_line *line) {
    print_line(stream, line, &line->columns);
}

void ssbatch_plan_print_study(FILE *stream, const struct ssbatch_plan *plan) {
    for (size_t i = 0; i < plan->study.count; i++)
        ssbatch_plan_print_line(stream, &plan->study.items[i]);
}

static void print_time(FILE *stream, const char *word, ss_time time) {
    char text[SS_UNITS_TEXT_SIZE];
    ss_units_print_time(text, sizeof text, time);
    fprintf(stream, " %s %s", word, text);
}

void ssbatch_plan_print_run(FILE *stream, const struct ssbatch_run *run) {
    fprintf(stream, "%s %s", run->reason ? "skip" : "run", run->name);
    if (run->reason)
        print_pair(stream, "reason", run->reason);
    else
        print_time(stream, "takes", run->takes);

    if (run->limit)
        print_time(stream, "limit", run->limit);
    if (run->keep)
        fputs(" keep", stream);
    for (size_t i = 0; i < run->need_count; i++)
        fprintf(stream, "%s%s", i == 0 ? " needs=" : ",", run->needs[i]);
    print_columns(stream, &run->columns);
    fputc('\n', stream);

    for (size_t i = 0; i < run->lines.count; i++) {
        fputs("  ", stream);
        ssbatch_plan_print_line(stream, &run->lines.items[i]);
    }
}

/* Returns the column whose key comes next after `key` in sorted order, or NULL. */
static const struct ssbatch_column *next_column(
    const struct ssbatch_columns *columns, const char *key) {
    const struct ssbatch_column *next = NULL;
    for (size_t i = 0; i < columns->count; i++) {
        const struct ssbatch_column *column = &columns->items[i];
        if (strcmp(column->key, key) > 0 && (!next || strcmp(column->key, next->key) < 0))
            next = column;
    }
    return next;
}

static void print_sorted(FILE *stream, const struct ssbatch_columns *columns) {
    const struct ssbatch_column *column = next_column(columns, "");
    for (; column; column = next_column(columns, column->key))
        print_pair(stream, column->key, column->value);
}

static void print_identity_line(FILE *stream, const struct ssbatch_line *line) {
    static const struct ssbatch_columns no_columns;
    print_line(stream, line, &no_columns);
    fputs("  columns", stream);
    print_sorted(stream, &line->columns);
    fputc('\n', stream);
}

bool ssbatch_run_needs(const struct ssbatch_run *run, const char *name) {
    for (size_t i = 0; i < run->need_count; i++) {
        if (strcmp(run->needs[i], name) == 0)
            return true;
    }
    return false;
}

static bool line_mentions(const struct ssbatch_line *line, const char *placeholder) {
    if (line->ready_file && strstr(line->ready_file, placeholder))
        return true;
    for (char **word = line->words; *word; word++) {
        if (strstr(*word, placeholder))
            return true;
    }
    return false;
}

static bool uses_value(const struct ssbatch_run *run, const char *value) {
    char placeholder[SSBATCH_ROLE_MAX + 3];
    snprintf(placeholder, sizeof placeholder, "{%s}", value);
    if (ssbatch_run_needs(run, value))
        return true;
    for (size_t i = 0; i < run->lines.count; i++) {
        if (line_mentions(&run->lines.items[i], placeholder))
            return true;
    }
    return false;
}

void ssbatch_plan_print_identity(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run) {
    fprintf(stream, "run %s", run->name);
    if (run->reason)
        print_pair(stream, "reason", run->reason);
    print_sorted(stream, &run->columns);
    fputc('\n', stream);

    for (size_t i = 0; i < run->lines.count; i++)
        print_identity_line(stream, &run->lines.items[i]);

    for (size_t i = 0; i < plan->study.count; i++) {
        const struct ssbatch_line *line = &plan->study.items[i];
        if (line->kind == SSBATCH_ONCE && uses_value(run, line->role))
            print_identity_line(stream, line);
    }
}
