/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/words.h"
#include "csv.h"
#include "origin.h"

enum column { MACHINE, LIMITS, BENCHMARK, LOWER, CLASS, REPETITION, RESULT, COLUMNS };

static const char *const column_names[COLUMNS + 1] = {
    "machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result", NULL};

/* Factor between repetitions of a benchmark above which results are suspicious. */
#define APART_MAX 10

/* The state of reading a file. */
struct reader {
    struct ssprofile_results *results;
    struct ssprofile_warnings warnings; /* "FILE:LINE: ..." */
    struct csv_reader csv;
    bool interrupted; /* the file was being written, so a last line without a newline is
                         incomplete */
    bool without_memory;
};

struct row {
    char text[COLUMNS][TEXT_NAME];
    bool lower;
    double result;
};

#define WARN_OF(reader, line, format, ...)                                                         \
    ssprofile_warn(&(reader)->warnings, "%s:%llu: " format, (reader)->csv.input->name,             \
        (unsigned long long)(line), __VA_ARGS__)

#define WARN(reader, format, ...) WARN_OF(reader, (reader)->csv.input->line, format, __VA_ARGS__)

static struct ssprofile_benchmark *append_benchmark(
    struct ssprofile_profile *profile, const struct ssprofile_benchmark *like) {
    if (!SS_GROW(profile->benchmarks, profile->count + 1, profile->capacity))
        return NULL;
    struct ssprofile_benchmark *benchmark = &profile->benchmarks[profile->count++];
    *benchmark = (struct ssprofile_benchmark){.name = strdup(like->name),
        .class = strdup(like->class),
        .lower = like->lower,
        .contradictory = like->contradictory,
        .line = like->line};
    return benchmark->name && benchmark->class ? benchmark : NULL;
}

static bool append_repetition(
    struct ssprofile_benchmark *benchmark, const char *label, double result, uint64_t line) {
    if (!SS_GROW(benchmark->repetitions, benchmark->count + 1, benchmark->capacity))
        return false;
    struct ssprofile_repetition *repetition = &benchmark->repetitions[benchmark->count++];
    *repetition = (struct ssprofile_repetition){strdup(label), result, line};
    return repetition->label != NULL;
}

/* Returns the profile of a row, which is added if it is new; NULL if memory is exhausted. */
static struct ssprofile_profile *find_profile(struct reader *reader, const struct row *row) {
    struct ssprofile_results *results = reader->results;
    for (size_t i = results->count; i-- > 0;) { /* rows of a profile often follow each other */
        struct ssprofile_profile *profile = &results->profiles[i];
        if (strcmp(profile->machine, row->text[MACHINE]) == 0 &&
            strcmp(profile->limits, row->text[LIMITS]) == 0)
            return profile;
    }

    if (!SS_GROW(results->profiles, results->count + 1, results->capacity))
        return NULL;
    struct ssprofile_profile *profile = &results->profiles[results->count++];
    *profile = (struct ssprofile_profile){
        .machine = strdup(row->text[MACHINE]), .limits = strdup(row->text[LIMITS])};
    return profile->machine && profile->limits ? profile : NULL;
}

/* Returns the benchmark of a row, which is added if it is new; NULL if memory is exhausted. */
static struct ssprofile_benchmark *find_benchmark(
    struct reader *reader, struct ssprofile_profile *profile, const struct row *row) {
    const struct ssprofile_benchmark *namesake = NULL;
    for (size_t i = profile->count; i-- > 0;) {
        struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        if (strcmp(benchmark->name, row->text[BENCHMARK]) != 0)
            continue;
        if (strcmp(benchmark->class, row->text[CLASS]) == 0)
            return benchmark;
        namesake = benchmark;
    }

    if (namesake)
        WARN(reader, "%s is in the classes %s (line %llu) and %s: counted as two benchmarks",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(namesake->class).text,
            (unsigned long long)namesake->line, ss_words_show(row->text[CLASS]).text);
    return append_benchmark(
        profile, &(struct ssprofile_benchmark){.name = (char *)row->text[BENCHMARK],
                     .class = (char *)row->text[CLASS],
                     .lower = row->lower,
                     .line = reader->csv.input->line});
}

static const struct ssprofile_repetition *find_repetition(
    const struct ssprofile_benchmark *benchmark, const char *label) {
    for (size_t i = benchmark->count; i-- > 0;) {
        if (strcmp(benchmark->repetitions[i].label, label) == 0)
            return &benchmark->repetitions[i];
    }
    return NULL;
}

/* Makes "rep-01", "1" and "1.0" the same label. */
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

static void add_repetition(
    struct reader *reader, struct ssprofile_benchmark *benchmark, struct row *row) {
    normalize_label(row->text[REPETITION]);
    const struct ssprofile_repetition *there = find_repetition(benchmark, row->text[REPETITION]);
    if (!there)
        reader->without_memory |= !append_repetition(
            benchmark, row->text[REPETITION], row->result, reader->csv.input->line);
    else if (there->result == row->result && benchmark->lower == row->lower)
        WARN(reader, "the row repeats line %llu and is left out", (unsigned long long)there->line);
    else
        WARN(reader,
            "repetition %s of %s already appears in line %llu with another result: the row is "
            "left out",
            ss_words_show(there->label).text, ss_words_show(benchmark->name).text,
            (unsigned long long)there->line);
}

static void keep_row(struct reader *reader, struct row *row) {
    struct ssprofile_profile *profile = find_profile(reader, row);
    struct ssprofile_benchmark *benchmark = profile ? find_benchmark(reader, profile, row) : NULL;
    reader->without_memory |= !benchmark;
    if (reader->without_memory)
        return;
    if (benchmark->lower != row->lower) {
        WARN(reader,
            "%s: lower_is_better is %s here and %s in line %llu: the benchmark is left out",
            ss_words_show(benchmark->name).text, row->lower ? "true" : "false",
            benchmark->lower ? "true" : "false", (unsigned long long)benchmark->line);
        benchmark->contradictory = true;
    }
    add_repetition(reader, benchmark, row);
}

static bool parse_boolean(const char *text, bool *value) {
    *value = strcasecmp(text, "true") == 0;
    return *value || strcasecmp(text, "false") == 0;
}

/* Returns whether a name has control characters, which could disturb a terminal. */
static bool has_control(const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    }
    return false;
}

/* Checks a row. If it is invalid, adds a warning and returns false. */
static bool check_row(struct reader *reader, struct row *row, const struct text_field *result) {
    const char *value = row->text[RESULT];
    for (int i = 0; i < COLUMNS; i++) {
        if (has_control(row->text[i])) {
            WARN(reader, "the %s contains a control character: the row is left out",
                column_names[i]);
            return false;
        }
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (!*row->text[i]) {
            WARN(reader, "the %s is missing: the row is left out", column_names[i]);
            return false;
        }
    }
    if (!parse_boolean(row->text[LOWER], &row->lower))
        WARN(reader, "lower_is_better is '%s', neither true nor false: the row is left out",
            ss_words_show(row->text[LOWER]).text);
    else if (!csv_number(result, &row->result))
        WARN(reader, "the result of %s is '%s', which is not a number: the row is left out",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(value).text);
    else if (!(row->result > 0))
        WARN(reader,
            "the result of %s is %s, from which no ratio can be computed: the row is left out",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(value).text);
    else
        return true;
    return false;
}

/*
 * Checks a last line without a newline, which may lack digits. If ssprofile measure was writing the
 * file, the row is incomplete. Other tables often lack the last newline; in them, only a last field
 * without quotes is in doubt. Returns false if the row is left out.
 */
static bool check_end(struct reader *reader, const struct row *row) {
    const struct text_input *input = reader->csv.input;
    const char *end = input->text + input->length;
    while (end > input->text && strchr(" \t\r", end[-1]))
        end--;
    if (reader->interrupted) {
        WARN(
            reader, "%s", "the last line has no newline and may be truncated: the row is left out");
        return false;
    }
    for (int i = 0; i < COLUMNS; i++) {
        const struct text_field *field = &reader->csv.fields[i];
        if (field->text + field->length == end)
            WARN(reader,
                "the last line has no newline: the row is kept, but its %s, '%s', may be truncated",
                column_names[i], ss_words_show(row->text[i]).text);
    }
    return true;
}

static void read_row(struct reader *reader) {
    struct row row;
    struct text_field *fields = reader->csv.fields;
    for (int i = 0; i < COLUMNS; i++) {
        csv_trim(&fields[i]);
        if (text_field_name(&fields[i], reader->csv.input, row.text[i]) < 0)
            return;
    }
    if (check_row(reader, &row, &fields[RESULT]) &&
        (!reader->csv.unended || check_end(reader, &row)))
        keep_row(reader, &row);
}

static int read_rows(struct reader *reader) {
    struct text_input *input = reader->csv.input;
    enum csv_line line;
    while (!reader->without_memory && (line = csv_next(&reader->csv)) != CSV_END) {
        if (line == CSV_ROW)
            read_row(reader);
        else if (line == CSV_HEADING)
            WARN(reader, "%s", "unexpected second heading: the file contains several tables");
        else if (line == CSV_COMMENT)
            WARN(reader,
                "the row '%s' begins with #, which makes it a comment: the row is left out",
                ss_words_show(input->text).text);
        /* The message of the input already begins with file, line and column. */
        if (input->error->status) {
            ssprofile_warn(&reader->warnings, "%s: the row is left out", input->error->message);
            *input->error = (struct ss_error){0};
        }
    }
    if (reader->csv.broken)
        return ss_error_fail(input->error, "%s cannot be read to the end", input->name);
    return reader->without_memory ? ss_error_memory(input->error) : 0;
}

/* Warns about results that appear to have another unit or lack the decimal point. */
static void warn_of_outliers(struct reader *reader, const struct ssprofile_benchmark *benchmark) {
    const struct ssprofile_repetition *least = benchmark->repetitions, *most = least;
    for (size_t i = 0; i < benchmark->count; i++) {
        const struct ssprofile_repetition *one = &benchmark->repetitions[i];
        least = one->result < least->result ? one : least;
        most = one->result > most->result ? one : most;
    }
    if (benchmark->count > 0 && most->result / least->result > APART_MAX)
        WARN_OF(reader, most->line,
            "the result of %s is %.6g here, but %.6g in line %llu, a factor of more than %d: both "
            "are kept",
            ss_words_show(benchmark->name).text, most->result, least->result,
            (unsigned long long)least->line, APART_MAX);
}

static int read_input(struct reader *reader, struct text_input *input, struct ss_error *error) {
    struct ssprofile_results *results = reader->results;
    if (csv_begin(&reader->csv, input, column_names, ',') < 0 || read_rows(reader) < 0)
        return -1;
    for (size_t i = 0; i < results->count; i++) {
        for (size_t j = 0; j < results->profiles[i].count; j++)
            warn_of_outliers(reader, &results->profiles[i].benchmarks[j]);
    }
    ssprofile_warnings_end(&reader->warnings);
    return results->count > 0 ? 0 : ss_error_fail(error, "%s has no usable result", input->name);
}

static int read_descriptor(
    struct reader *reader, int descriptor, const char *name, struct ss_error *error) {
    struct text_input input = {.descriptor = -1};
    *reader->results = (struct ssprofile_results){0};
    int result = text_input_open_descriptor(&input, descriptor, name, error);
    if (result == 0)
        result = read_input(reader, &input, error);
    /* Closing the input fails if unpacking it failed. */
    struct ss_error closing = {0};
    input.error = &closing;
    if (text_input_close(&input) < 0 && result == 0)
        result = ss_error_fail(error, "%s", closing.message);
    return result;
}

int ssprofile_results_read_descriptor(struct ssprofile_results *results, int descriptor,
    const char *name, FILE *warnings, struct ss_error *error) {
    struct reader reader = {.results = results, .warnings = {.stream = warnings}};
    return read_descriptor(&reader, descriptor, name, error);
}

int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, FILE *warnings, struct ss_error *error) {
    struct reader reader = {.results = results,
        .warnings = {.stream = warnings},
        .interrupted = ssprofile_origin_of(path).measured};
    *results = (struct ssprofile_results){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return read_descriptor(&reader, descriptor, path, error);
}

int ssprofile_profile_add(
    struct ssprofile_profile *profile, const struct ssprofile_benchmark *benchmark, double result) {
    char label[24];
    struct ssprofile_benchmark *to = (struct ssprofile_benchmark *)ssprofile_profile_find(
        profile, benchmark->name, benchmark->class);
    to = to ? to : append_benchmark(profile, benchmark);
    if (!to)
        return -1;
    snprintf(label, sizeof label, "%zu", to->count + 1);
    return append_repetition(to, label, result, 0) ? 0 : -1;
}

void ssprofile_profile_free(struct ssprofile_profile *profile) {
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
        ssprofile_profile_free(&results->profiles[i]);
    free(results->profiles);
    *results = (struct ssprofile_results){0};
}

const char *ssprofile_name_fault(const char *name) {
    size_t length = strlen(name);
    if (length == 0)
        return "is empty";
    if (length >= TEXT_NAME)
        return "is longer than 511 bytes";
    if (has_control(name))
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
