/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <showstopper/letter.h>

#include "base/grow.h"
#include "base/input_file.h"
#include "base/owned.h"
#include "base/words.h"
#include "csv.h"

enum column { MACHINE, LIMITS, BENCHMARK, LOWER, CLASS, REPETITION, RESULT, COLUMNS };

static const char *const column_names[COLUMNS + 1] = {
    "machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result", NULL};

struct reader {
    struct ssprofile_results *results;
    struct csv_reader csv;
    bool measured; /* ssprofile measure may be writing the last line */
};

struct row {
    char text[COLUMNS][TEXT_NAME_SIZE];
    bool lower_is_better;
    double result;
};

#define REFUSE(reader, format, ...)                                                                \
    ss_error_fail((reader)->csv.input->error, "%s:%llu: " format, (reader)->csv.input->name,       \
        (unsigned long long)(reader)->csv.input->line, __VA_ARGS__)

static struct ssprofile_benchmark *append_benchmark(
    struct ssprofile_profile *profile, const struct ssprofile_benchmark *key) {
    if (!SS_GROW(profile->benchmarks, profile->count + 1, profile->capacity))
        return NULL;

    struct ssprofile_benchmark *benchmark = &profile->benchmarks[profile->count++];
    *benchmark = (struct ssprofile_benchmark){.name = strdup(key->name),
        .class = strdup(key->class),
        .lower_is_better = key->lower_is_better};
    return benchmark->name && benchmark->class ? benchmark : NULL;
}

static bool append_repetition(
    struct ssprofile_benchmark *benchmark, const char *label, double result) {
    if (!SS_GROW(benchmark->repetitions, benchmark->count + 1, benchmark->capacity))
        return false;
    struct ssprofile_repetition *repetition = &benchmark->repetitions[benchmark->count++];
    *repetition = (struct ssprofile_repetition){strdup(label), result};
    return repetition->label != NULL;
}

const struct ssprofile_profile *ssprofile_results_profile(
    const struct ssprofile_results *results, const char *machine, const char *limits) {
    for (size_t i = results->count; i-- > 0;) { /* backward: rows of a profile are often adjacent */
        const struct ssprofile_profile *profile = &results->profiles[i];
        if (strcmp(profile->machine, machine) == 0 && strcmp(profile->limits, limits) == 0)
            return profile;
    }
    return NULL;
}

/* Finds or adds the profile of a row. Returns NULL if memory is exhausted. */
static struct ssprofile_profile *find_or_add_profile(
    struct ssprofile_results *results, const struct row *row) {
    const struct ssprofile_profile *found =
        ssprofile_results_profile(results, row->text[MACHINE], row->text[LIMITS]);
    if (found)
        return (struct ssprofile_profile *)found;

    if (!SS_GROW(results->profiles, results->count + 1, results->capacity))
        return NULL;

    struct ssprofile_profile *profile = &results->profiles[results->count++];
    *profile = (struct ssprofile_profile){
        .machine = strdup(row->text[MACHINE]), .limits = strdup(row->text[LIMITS])};
    return profile->machine && profile->limits ? profile : NULL;
}

/* Finds or adds a benchmark. Returns NULL if memory is exhausted. */
static struct ssprofile_benchmark *find_or_add_benchmark(
    struct ssprofile_profile *profile, const struct ssprofile_benchmark *key) {
    const struct ssprofile_benchmark *found =
        ssprofile_profile_find(profile, key->name, key->class);
    return found ? (struct ssprofile_benchmark *)found : append_benchmark(profile, key);
}

/* Normalizes labels: "rep-01" and "1.0" become "1". */
static void normalize_label(char *label) {
    if (strncasecmp(label, "rep-", 4) == 0 && label[4])
        memmove(label, label + 4, strlen(label + 4) + 1);
    size_t digits = strspn(label, "0123456789");
    const char *rest = label + digits;
    if (digits == 0 || rest[*rest == '.' ? 1 + strspn(rest + 1, "0") : 0])
        return;

    size_t zeros = strspn(label, "0");
    zeros -= zeros == digits;
    label[digits] = '\0';
    memmove(label, label + zeros, digits - zeros + 1);
}

static int add_row(struct reader *reader, struct row *row) {
    const char *label = row->text[REPETITION];
    const struct ssprofile_benchmark key = {.name = row->text[BENCHMARK],
        .class = row->text[CLASS],
        .lower_is_better = row->lower_is_better};

    struct ssprofile_profile *profile = find_or_add_profile(reader->results, row);
    struct ssprofile_benchmark *benchmark = profile ? find_or_add_benchmark(profile, &key) : NULL;
    if (!benchmark)
        return ss_error_memory(reader->csv.input->error);
    if (benchmark->lower_is_better != row->lower_is_better)
        return REFUSE(reader, "lower_is_better of %s differs from that in an earlier row",
            ss_words_show(benchmark->name).text);

    normalize_label(row->text[REPETITION]);
    for (size_t i = benchmark->count; i-- > 0;) {
        if (strcmp(benchmark->repetitions[i].label, label) != 0)
            continue;
        return benchmark->repetitions[i].result == row->result
                   ? 0
                   : REFUSE(reader, "repetition %s of %s already has another result",
                         ss_words_show(label).text, ss_words_show(benchmark->name).text);
    }

    return append_repetition(benchmark, label, row->result)
               ? 0
               : ss_error_memory(reader->csv.input->error);
}

static bool parse_boolean(const char *text, bool *value) {
    *value = strcasecmp(text, "true") == 0;
    return *value || strcasecmp(text, "false") == 0;
}

static int read_row(struct reader *reader) {
    struct row row;
    struct text_field *fields = reader->csv.fields;

    for (int i = 0; i < COLUMNS; i++) {
        csv_trim(&fields[i]);
        if (text_field_name(&fields[i], reader->csv.input, row.text[i]) < 0)
            return -1;
        if (ss_letter_has_controls(row.text[i]))
            return REFUSE(reader, "the %s contains a control character", column_names[i]);
        if (!*row.text[i])
            return REFUSE(reader, "the %s is missing", column_names[i]);
    }

    if (!parse_boolean(row.text[LOWER], &row.lower_is_better))
        return REFUSE(reader, "invalid lower_is_better '%s': use true or false",
            ss_words_show(row.text[LOWER]).text);

    if (!csv_number(&fields[RESULT], &row.result) || !(row.result > 0))
        return REFUSE(reader, "the result of %s is '%s', not a number above 0",
            ss_words_show(row.text[BENCHMARK]).text, ss_words_show(row.text[RESULT]).text);

    return add_row(reader, &row);
}

static int read_rows(struct reader *reader) {
    int more;
    while ((more = csv_next(&reader->csv)) != 0) {
        /* A last line without a newline is still being written, or its writer was killed. */
        if (reader->measured && reader->csv.unended) {
            *reader->csv.input->error = (struct ss_error){0};
            return 0;
        }
        if (more < 0 || read_row(reader) < 0)
            return -1;
    }
    return 0;
}

static int read_input(struct reader *reader, struct text_input *input) {
    if (csv_begin(&reader->csv, input, column_names, ',') < 0 || read_rows(reader) < 0)
        return -1;
    return reader->results->count > 0 ? 0
                                      : ss_error_fail(input->error, "%s has no rows", input->name);
}

/* Returns whether ssprofile measure made the table: there is a profile.json next to it. */
static bool is_measured(const char *path) {
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    SS_OWNED(free) char *profile = ss_words_format(NULL, "%.*sprofile.json", length, path);
    return profile && ss_input_exists(AT_FDCWD, profile);
}

int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error) {
    struct reader reader = {.results = results, .measured = is_measured(path)};
    struct text_input input = {.descriptor = -1};
    *results = (struct ssprofile_results){0};
    if (text_input_open(&input, path, error) < 0)
        return -1;

    int result = read_input(&reader, &input);
    /* Closing also reports that the input could not be unpacked. */
    struct ss_error closing = {0};
    input.error = &closing;
    if (text_input_close(&input) < 0 && result == 0)
        result = ss_error_fail(error, "%s", closing.message);
    return result;
}

static void free_profile(struct ssprofile_profile *profile) {
    for (size_t i = 0; i < profile->count; i++) {
        struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        for (size_t j = 0; j < benchmark->count; j++)
            free(benchmark->repetitions[j].label);
        free(benchmark->repetitions);
        free(benchmark->name);
        free(benchmark->class);
    }
    free(profile->benchmarks);
    free(profile->machine);
    free(profile->limits);
    *profile = (struct ssprofile_profile){0};
}

void ssprofile_results_free(struct ssprofile_results *results) {
    for (size_t i = 0; i < results->count; i++)
        free_profile(&results->profiles[i]);
    free(results->profiles);
    *results = (struct ssprofile_results){0};
}

const char *ssprofile_name_fault(const char *name) {
    size_t length = strlen(name);
    if (length == 0)
        return "is empty";
    if (length >= TEXT_NAME_SIZE)
        return "is longer than 511 bytes";
    if (ss_letter_has_controls(name))
        return "contains a control character";
    if (*name == ' ' || name[length - 1] == ' ')
        return "begins or ends with a blank";
    return *name == '#' ? "begins with #, which would make its row a comment" : NULL;
}

const struct ssprofile_benchmark *ssprofile_profile_find(
    const struct ssprofile_profile *profile, const char *name, const char *class) {
    for (size_t i = 0; i < profile->count; i++) {
        const struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        if (strcmp(benchmark->name, name) == 0 && strcmp(benchmark->class, class) == 0)
            return benchmark;
    }
    return NULL;
}
