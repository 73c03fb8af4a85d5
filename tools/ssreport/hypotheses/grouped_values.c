/* SPDX-License-Identifier: Apache-2.0 */
#include "grouped_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/words.h"
#include "csv.h"

void grouped_values_free(struct grouped_values *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        struct grouped_group *group = &groups->groups[i];
        for (size_t j = 0; j < group->run_count; j++)
            free(group->runs[j].name);
        free(group->runs);
        free(group->name);
        free(group->values);
    }
    free(groups->groups);
    *groups = (struct grouped_values){0};
}

/* Returns a new group, or NULL with the error set. */
static struct grouped_group *add_group(
    struct grouped_values *groups, const char *name, struct ss_error *error) {
    char *copy = strdup(name);
    if (!copy || !SS_GROW(groups->groups, groups->count + 1, groups->room)) {
        free(copy);
        ss_error_memory(error);
        return NULL;
    }
    struct grouped_group *group = &groups->groups[groups->count++];
    *group = (struct grouped_group){.name = copy};
    return group;
}

static struct grouped_group *find_group(const struct grouped_values *groups, const char *name) {
    for (size_t i = 0; i < groups->count; i++) {
        if (strcmp(groups->groups[i].name, name) == 0)
            return &groups->groups[i];
    }
    return NULL;
}

static int compare_numbers(const void *left, const void *right) {
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

static int add_value(struct grouped_group *group, double value, struct ss_error *error) {
    if (!SS_GROW(group->values, group->count + 1, group->room))
        return ss_error_memory(error);
    group->values[group->count++] = value;
    return 0;
}

/*
 * Returns NULL if absent. Searches backward, because the rows of a run usually follow each other.
 */
static struct grouped_run *find_run(const struct grouped_group *group, const char *name) {
    for (size_t i = group->run_count; i-- > 0;) {
        if (strcmp(group->runs[i].name, name) == 0)
            return &group->runs[i];
    }
    return NULL;
}

static int add_to_run(
    struct grouped_group *group, const char *name, double value, struct ss_error *error) {
    struct grouped_run *run = find_run(group, name);
    if (!run) {
        char *copy = strdup(name);
        if (!copy || !SS_GROW(group->runs, group->run_count + 1, group->run_room)) {
            free(copy);
            return ss_error_memory(error);
        }
        run = &group->runs[group->run_count++];
        *run = (struct grouped_run){.name = copy};
    }
    run->sum += value;
    run->count++;
    return 0;
}

/* Adds the mean of each run as a value of the group. */
static int use_means(struct grouped_group *group, struct ss_error *error) {
    for (size_t i = 0; i < group->run_count; i++) {
        if (add_value(group, group->runs[i].sum / (double)group->runs[i].count, error) < 0)
            return -1;
    }
    return 0;
}

/* Indexes of the fields in a row; 0 if the column was not requested. */
struct places {
    size_t group, run;
};

/* Copies a field, or `missing` if its column was not requested. */
static int copy_field(
    const struct csv_reader *reader, size_t place, const char *missing, char name[SSTRACE_NAME]) {
    if (place > 0)
        return sstrace_field_name(&reader->fields[place], reader->input, name);
    snprintf(name, SSTRACE_NAME, "%s", missing);
    return 0;
}

static int take_row(
    struct grouped_values *groups, const struct csv_reader *reader, const struct places *places) {
    struct sstrace_input *input = reader->input;
    char name[SSTRACE_NAME], run[SSTRACE_NAME];
    double value;
    if (!sstrace_field_number(&reader->fields[0], false, &value))
        return sstrace_input_blame(
            input, reader->fields[0].column, "invalid number in column '%s'", reader->columns[0]);
    if (copy_field(reader, places->group, reader->columns[0], name) < 0 ||
        copy_field(reader, places->run, "-", run) < 0)
        return -1;
    if (isnan(value) || !*name || !*run) {
        groups->skipped++;
        return 0;
    }
    struct grouped_group *group = find_group(groups, name);
    if (!group && groups->count == GROUPED_MAX)
        return sstrace_input_blame(input, reader->fields[places->group].column,
            "the column '%s' has more than %d groups", reader->columns[places->group], GROUPED_MAX);
    if (!group && groups->count == 0)
        groups->origin = value;
    if (!group && !(group = add_group(groups, name, input->error)))
        return -1;
    if (places->run > 0)
        return add_to_run(group, run, value - groups->origin, input->error);
    return add_value(group, value - groups->origin, input->error);
}

static int read_rows(
    struct grouped_values *groups, struct csv_reader *reader, const struct places *places) {
    enum csv_line line;
    while ((line = csv_next(reader)) != CSV_END) {
        if (line == CSV_BAD || (line == CSV_ROW && take_row(groups, reader, places) < 0))
            return -1;
    }
    return 0;
}

/* Fails with the reader's message, and with the status of an invalid command. */
static int fail_as_command(struct ss_error *error, const struct ss_error *reading) {
    return ss_error_fail(error, "%s", reading->message);
}

int grouped_values_read(struct grouped_values *groups, const char *path,
    const struct grouped_columns *columns, struct ss_error *error) {
    const struct places places = {columns->group ? 1 : 0, columns->run ? 1 + !!columns->group : 0};
    const char *const names[] = {columns->value, columns->group ? columns->group : columns->run,
        columns->group ? columns->run : NULL, NULL};
    struct sstrace_input input;
    struct csv_reader reader;
    struct ss_error reading = {0}, closing = {0};
    if (sstrace_input_open(&input, path, &reading) < 0)
        return fail_as_command(error, &reading);
    int result = csv_begin_any(&reader, &input, names, 0);
    if (result == 0)
        result = read_rows(groups, &reader, &places);
    input.error = &closing;
    if (sstrace_input_close(&input) < 0 && result == 0)
        return fail_as_command(error, &closing);
    if (result < 0)
        return fail_as_command(error, &reading);
    for (size_t i = 0; i < groups->count; i++) {
        struct grouped_group *group = &groups->groups[i];
        if (use_means(group, error) < 0)
            return -1;
        qsort(group->values, group->count, sizeof *group->values, compare_numbers);
        group->sample = stats_sample_of(group->values, group->count);
    }
    return 0;
}

/* Squares of larger numbers would overflow. */
#define LARGEST 1e150

static int refuse(const char *text, const char *why, struct ss_error *error) {
    return ss_error_fail(error, "'%s' is not [NAME=]MEAN,SD,N: %s", ss_words_show(text).text, why);
}

/* Parses "MEAN,SD,N". */
static int parse_sample(
    struct stats_sample *sample, const char *text, const char *figures, struct ss_error *error) {
    double numbers[3] = {0};
    size_t count = 0;
    struct ss_words_part part;
    for (const char *at = figures; ss_words_next(&at, ',', &part); count++) {
        struct sstrace_field field = {.text = part.text, .length = part.length};
        if (count == 3)
            return refuse(text, "there are more than three numbers", error);
        if (!ssreport_csv_number(&field, &numbers[count]))
            return refuse(text, "one of the numbers is invalid", error);
    }
    if (count < 3)
        return refuse(text, "there are fewer than three numbers", error);
    if (!(numbers[1] > 0))
        return refuse(text, "the standard deviation must be positive", error);
    if (fabs(numbers[0]) > LARGEST || numbers[1] > LARGEST)
        return refuse(text, "numbers beyond 1e150 cannot be compared", error);
    if (!(numbers[2] >= 2) || numbers[2] > 1e15 || numbers[2] != floor(numbers[2]))
        return refuse(text, "the number of values must be an integer from 2 to 1e15", error);
    *sample = (struct stats_sample){
        .count = (size_t)numbers[2], .mean = numbers[0], .variance = numbers[1] * numbers[1]};
    return 0;
}

int grouped_values_add(struct grouped_values *groups, const char *text, struct ss_error *error) {
    const char *equals = strrchr(text, '=');
    char name[SSTRACE_NAME];
    struct stats_sample sample;
    if (parse_sample(&sample, text, equals ? equals + 1 : text, error) < 0)
        return -1;
    if (equals)
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    else
        snprintf(name, sizeof name, "%zu", groups->count + 1);
    if (find_group(groups, name))
        return ss_error_fail(error, "two groups are named '%s'", ss_words_show(name).text);
    if (groups->count == GROUPED_MAX)
        return ss_error_fail(error, "too many groups (at most %d)", GROUPED_MAX);
    struct grouped_group *group = add_group(groups, name, error);
    if (!group)
        return -1;
    if (groups->count == 1)
        groups->origin = sample.mean;
    group->count = sample.count;
    group->sample = sample;
    group->sample.mean -= groups->origin;
    return 0;
}
