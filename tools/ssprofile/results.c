/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "ssreport/csv.h"
#include "table.h"

enum column { MACHINE, LIMITS, BENCHMARK, LOWER, CLASS, REPETITION, RESULT, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result"};

/* A file is read into this. */
struct reader {
    struct ssprofile_results *results;
    struct sstrace_input *input;
    size_t places[COLUMNS]; /* where each column stands, from 0 */
    size_t width;           /* fields of the heading */
    bool without_memory;
};

struct row {
    char text[COLUMNS][SSTRACE_NAME];
    bool lower;
    double result;
};

/* ---- what is kept ---- */

static void *grow(
    struct reader *reader, void **items, size_t count, size_t *capacity, size_t size) {
    if (ssreport_csv_make_room(items, count, capacity, size)) {
        void *item = (char *)*items + count * size;
        memset(item, 0, size);
        return item;
    }
    reader->without_memory = true;
    return NULL;
}

static char *copy(struct reader *reader, const char *text) {
    char *copied = strdup(text);
    reader->without_memory |= !copied;
    return copied;
}

static struct ssprofile_profile *take_profile(struct reader *reader, const struct row *row) {
    struct ssprofile_results *results = reader->results;
    for (size_t i = 0; i < results->count; i++) {
        struct ssprofile_profile *profile = &results->profiles[i];
        if (strcmp(profile->machine, row->text[MACHINE]) == 0 &&
            strcmp(profile->limits, row->text[LIMITS]) == 0)
            return profile;
    }
    struct ssprofile_profile *profile = grow(
        reader, (void **)&results->profiles, results->count, &results->capacity, sizeof *profile);
    if (!profile)
        return NULL;
    results->count++;
    profile->machine = copy(reader, row->text[MACHINE]);
    profile->limits = copy(reader, row->text[LIMITS]);
    return reader->without_memory ? NULL : profile;
}

#define WARN(reader, format, ...)                                                                  \
    ssprofile_warn(&(reader)->results->warnings, "%s:%llu: " format, (reader)->input->name,        \
        (unsigned long long)(reader)->input->line, __VA_ARGS__)

static struct ssprofile_benchmark *take_benchmark(
    struct reader *reader, struct ssprofile_profile *profile, const struct row *row) {
    const struct ssprofile_benchmark *other = NULL;
    for (size_t i = 0; i < profile->count; i++) {
        struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        if (strcmp(benchmark->name, row->text[BENCHMARK]) != 0)
            continue;
        if (strcmp(benchmark->class, row->text[CLASS]) == 0)
            return benchmark;
        other = benchmark;
    }
    if (other)
        WARN(reader, "%s is in the classes %s (line %llu) and %s: taken for two benchmarks",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(other->class).text,
            (unsigned long long)other->line, ss_words_show(row->text[CLASS]).text);
    struct ssprofile_benchmark *benchmark = grow(reader, (void **)&profile->benchmarks,
        profile->count, &profile->capacity, sizeof *benchmark);
    if (!benchmark)
        return NULL;
    profile->count++;
    benchmark->name = copy(reader, row->text[BENCHMARK]);
    benchmark->class = copy(reader, row->text[CLASS]);
    benchmark->lower = row->lower;
    benchmark->line = reader->input->line;
    return reader->without_memory ? NULL : benchmark;
}

static void add_repetition(
    struct reader *reader, struct ssprofile_benchmark *benchmark, const struct row *row) {
    const char *label = row->text[REPETITION];
    if (strncasecmp(label, "rep-", 4) == 0 && label[4])
        label += 4;
    for (size_t i = 0; i < benchmark->count; i++) {
        if (strcmp(benchmark->repetitions[i].label, label) != 0)
            continue;
        WARN(reader, "repetition %s of %s is there already, in line %llu: left out",
            ss_words_show(label).text, ss_words_show(benchmark->name).text,
            (unsigned long long)benchmark->repetitions[i].line);
        return;
    }
    struct ssprofile_repetition *repetition = grow(reader, (void **)&benchmark->repetitions,
        benchmark->count, &benchmark->capacity, sizeof *repetition);
    if (!repetition)
        return;
    repetition->label = copy(reader, label);
    repetition->result = row->result;
    repetition->line = reader->input->line;
    benchmark->count += repetition->label != NULL;
}

static void keep(struct reader *reader, const struct row *row) {
    struct ssprofile_profile *profile = take_profile(reader, row);
    struct ssprofile_benchmark *benchmark = profile ? take_benchmark(reader, profile, row) : NULL;
    if (!benchmark)
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

/* ---- what a row says ---- */

static bool is_boolean(const char *text, bool *value) {
    *value = strcasecmp(text, "true") == 0;
    return *value || strcasecmp(text, "false") == 0;
}

/* True: the row makes sense; otherwise a warning says what does not. */
static bool check_row(struct reader *reader, struct row *row, const struct sstrace_field *result) {
    for (int i = 0; i < COLUMNS; i++) {
        if (!*row->text[i]) {
            WARN(reader, "the row lacks its %s: left out", column_names[i]);
            return false;
        }
    }
    if (!is_boolean(row->text[LOWER], &row->lower)) {
        WARN(reader, "lower_is_better is '%s', neither true nor false: the row is left out",
            ss_words_show(row->text[LOWER]).text);
        return false;
    }
    if (!ssreport_csv_number(result, &row->result)) {
        WARN(reader, "the result of %s is '%s', no number: the row is left out",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(row->text[RESULT]).text);
        return false;
    }
    if (!(row->result > 0)) {
        WARN(reader, "the result of %s is %s: no ratio can be made of it: the row is left out",
            ss_words_show(row->text[BENCHMARK]).text, ss_words_show(row->text[RESULT]).text);
        return false;
    }
    return true;
}

/* 1: all fields of the line are in the row; 0: what is wrong has been said. */
static int split_row(struct reader *reader, struct row *row, struct sstrace_field *result) {
    struct sstrace_walk walk;
    struct sstrace_field field;
    size_t count = 0;
    int more;
    sstrace_walk_begin(&walk, reader->input, ',');
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        for (int i = 0; i < COLUMNS; i++) {
            if (reader->places[i] != count)
                continue;
            if (sstrace_field_name(&field, reader->input, row->text[i]) < 0)
                return -1;
            if (i == RESULT)
                *result = field;
        }
        count++;
    }
    if (more < 0)
        return -1;
    if (count == reader->width)
        return 1;
    WARN(reader, "the row has %zu field%s, where %zu are expected%s: left out", count,
        count == 1 ? "" : "s", reader->width, count < reader->width ? " (one is lacking)" : "");
    return 0;
}

static void take_row(struct reader *reader) {
    struct row row;
    struct sstrace_field result;
    if (!sstrace_table_is_row(reader->input))
        return;
    /* A last line without its end may lack digits, and look whole. */
    if (feof(reader->input->stream)) {
        WARN(reader, "%s", "the last line has no end, so it may be cut: left out");
        return;
    }
    memset(&row, 0, sizeof row);
    int whole = split_row(reader, &row, &result);
    if (whole > 0 && check_row(reader, &row, &result))
        keep(reader, &row);
}

/* ---- a file ---- */

static int read_heading(struct reader *reader) {
    struct sstrace_input *input = reader->input;
    struct sstrace_walk walk;
    struct sstrace_field field;
    int more = sstrace_table_read_row(input);
    if (more < 0)
        return -1;
    if (more == 0)
        return ss_error_fail(input->error, "%s is empty", input->name);
    /* Some spreadsheets begin a file with a mark of its encoding. */
    if (strncmp(input->text, "\xef\xbb\xbf", 3) == 0) {
        memmove(input->text, input->text + 3, input->length - 2);
        input->length -= 3;
    }
    for (int i = 0; i < COLUMNS; i++)
        reader->places[i] = SIZE_MAX;
    sstrace_walk_begin(&walk, input, ',');
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        for (int i = 0; i < COLUMNS; i++) {
            if (reader->places[i] == SIZE_MAX && sstrace_field_is(&field, column_names[i]))
                reader->places[i] = reader->width;
        }
        reader->width++;
    }
    if (more < 0)
        return -1;
    for (int i = 0; i < COLUMNS; i++) {
        if (reader->places[i] == SIZE_MAX)
            return sstrace_input_blame(
                input, 1, "there is no column '%s': is this a table of results?", column_names[i]);
    }
    return 0;
}

static int read_rows(struct reader *reader) {
    struct sstrace_input *input = reader->input;
    while (!reader->without_memory) {
        uint64_t before = input->line;
        int more = sstrace_input_read_line(input);
        if (more == 0)
            return 0;
        if (more > 0)
            take_row(reader);
        /* What the input says begins with file, line and column. */
        if (input->error->status) {
            ssprofile_warn(
                &reader->results->warnings, "%s: the row is left out", input->error->message);
            *input->error = (struct ss_error){0};
        }
        if (more < 0 && (input->line == before || ferror(input->stream)))
            return ss_error_fail(input->error, "%s cannot be read to its end", input->name);
    }
    return ss_error_memory(input->error);
}

static int read_input(
    struct ssprofile_results *results, struct sstrace_input *input, struct ss_error *error) {
    struct reader reader = {.results = results, .input = input};
    int result = read_heading(&reader);
    if (result == 0)
        result = read_rows(&reader);
    if (result == 0 && results->warnings.failed)
        result = ss_error_memory(error);
    if (result == 0 && results->count == 0)
        result = ss_error_fail(error, "%s has no result that can be used%s%s", input->name,
            results->warnings.count > 0 ? ": " : "",
            results->warnings.count > 0 ? results->warnings.items[0] : "");
    return result;
}

int ssprofile_results_read_descriptor(
    struct ssprofile_results *results, int descriptor, const char *name, struct ss_error *error) {
    struct sstrace_input input = {.descriptor = -1};
    *results = (struct ssprofile_results){0};
    int result = sstrace_input_open_descriptor(&input, descriptor, name, error);
    if (result == 0)
        result = read_input(results, &input, error);
    /* Whatever unpacks a packed file may fail, too. */
    struct ss_error closing = {0};
    input.error = &closing;
    if (sstrace_input_close(&input) < 0 && result == 0)
        result = ss_error_fail(error, "%s", closing.message);
    return result;
}

int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error) {
    *results = (struct ssprofile_results){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return ssprofile_results_read_descriptor(results, descriptor, path, error);
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
}

void ssprofile_results_free(struct ssprofile_results *results) {
    for (size_t i = 0; i < results->count; i++)
        free_profile(&results->profiles[i]);
    free(results->profiles);
    ssprofile_warnings_free(&results->warnings);
    *results = (struct ssprofile_results){0};
}

/* ---- one of them ---- */

static bool exists(const char *path, bool *folder) {
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    *folder = S_ISDIR(status.st_mode);
    return true;
}

/* MACHINE or MACHINE:LIMITS. */
static int split_names(struct ssprofile_choice *choice, const char *names, struct ss_error *error) {
    const char *colon = strrchr(names, ':');
    size_t length = colon ? (size_t)(colon - names) : strlen(names);
    if (length == 0 || length >= sizeof choice->machine ||
        (colon && (!colon[1] || strlen(colon + 1) >= sizeof choice->limits)))
        return ss_error_fail(error,
            "'%s' names no machine: write FILE:MACHINE or "
            "FILE:MACHINE:LIMITS",
            ss_words_show(names).text);
    snprintf(choice->machine, sizeof choice->machine, "%.*s", (int)length, names);
    snprintf(choice->limits, sizeof choice->limits, "%s", colon ? colon + 1 : "");
    return 0;
}

int ssprofile_choose(struct ssprofile_choice *choice, const char *text, struct ss_error *error) {
    bool folder = false;
    size_t length = strlen(text);
    *choice = (struct ssprofile_choice){0};
    if (length > 4000)
        return ss_error_fail(error, "%s: the path is too long", ss_words_show(text).text);
    strcpy(choice->path, text);
    while (!exists(choice->path, &folder)) {
        char *colon = strrchr(choice->path, ':');
        if (!colon || colon == choice->path)
            return ss_error_fail(error, "%s: %s", ss_words_show(text).text, strerror(ENOENT));
        *colon = '\0';
    }
    length = strlen(choice->path);
    int result = text[length] ? split_names(choice, text + length + 1, error) : 0;
    if (folder)
        strcat(choice->path, "/results.csv");
    return result;
}

/* "a:without, a:quota-40, ...": for messages. */
static void name_profiles(
    char *text, size_t size, const struct ssprofile_results *results, const char *machine) {
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < results->count && used < size; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        if (*machine && strcmp(machine, profile->machine) != 0)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s", used > 0 ? ", " : "",
            profile->machine, profile->limits);
    }
}

const struct ssprofile_profile *ssprofile_results_find(const struct ssprofile_results *results,
    const struct ssprofile_choice *choice, struct ss_error *error) {
    const struct ssprofile_profile *found = NULL, *plain = NULL;
    size_t count = 0;
    char names[600];
    for (size_t i = 0; i < results->count; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        if ((*choice->machine && strcmp(choice->machine, profile->machine) != 0) ||
            (*choice->limits && strcmp(choice->limits, profile->limits) != 0))
            continue;
        found = profile;
        count++;
        if (strcmp(profile->limits, SSPROFILE_WITHOUT) == 0)
            plain = profile;
    }
    if (count == 1)
        return found;
    if (count > 1 && *choice->machine && plain)
        return plain;
    name_profiles(names, sizeof names, results, count > 0 ? choice->machine : "");
    if (count == 0)
        ss_error_fail(error, "%s has no machine %s%s%s: there are %s", choice->path,
            choice->machine, *choice->limits ? ":" : "", choice->limits, names);
    else
        ss_error_fail(error, "%s has several machines: add one of them behind a colon: %s",
            choice->path, names);
    return NULL;
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
