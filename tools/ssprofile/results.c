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
#include "csv.h"
#include "fields.h"
#include "origin.h"

enum column { MACHINE, LIMITS, BENCHMARK, LOWER, CLASS, REPETITION, RESULT, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "machine", "limits", "benchmark", "lower_is_better", "class", "repetition", "result"};

#define LABELS_SEARCHED 16 /* more of them have an index */
#define DIGITS_MIN      6
#define DIGITS_ENOUGH   64
#define APART_AT_MAX    10 /* times, the repetitions of one benchmark */

/* A file is read into this. */
struct reader {
    struct ssprofile_results *results;
    struct sstrace_input *input;
    size_t places[COLUMNS]; /* where each column stands, from 0 */
    size_t width;           /* fields of the heading */
    bool interrupted;       /* a last line without its end is what is left of one */
    struct ssprofile_index profiles;
    struct ssprofile_index names; /* the first benchmark of each name, in its profile */
    bool without_memory;
};

struct row {
    char text[COLUMNS][SSTRACE_NAME];
    bool lower;
    double result;
};

/* ---- what is kept ---- */

/* Room for one more. Most lists are short, and there may be many. */
static void *grow(
    struct reader *reader, void **items, size_t count, size_t *capacity, size_t size) {
    if (count == *capacity) {
        size_t larger = count > 0 ? 2 * count : 2;
        void *moved = reallocarray(*items, larger, size);
        if (!moved) {
            reader->without_memory = true;
            return NULL;
        }
        *items = moved;
        *capacity = larger;
    }
    return memset((char *)*items + count * size, 0, size);
}

static char *copy(struct reader *reader, const char *text) {
    char *copied = strdup(text);
    reader->without_memory |= !copied;
    return copied;
}

/* What is looked for, and where. */
struct search {
    const struct ssprofile_results *results;
    const struct ssprofile_profile *profile;
    const struct ssprofile_benchmark *benchmark;
    const char *first, *second;
};

static bool is_profile(const void *context, size_t number) {
    const struct search *search = context;
    const struct ssprofile_profile *profile = &search->results->profiles[number];
    return strcmp(profile->machine, search->first) == 0 &&
           strcmp(profile->limits, search->second) == 0;
}

static bool is_benchmark(const void *context, size_t number) {
    const struct search *search = context;
    /* Whoever has taken benchmarks out of a profile has left its index. */
    if (number >= search->profile->count)
        return false;
    const struct ssprofile_benchmark *benchmark = &search->profile->benchmarks[number];
    return strcmp(benchmark->name, search->first) == 0 &&
           strcmp(benchmark->class, search->second) == 0;
}

static bool has_name(const void *context, size_t number) {
    const struct search *search = context;
    return number < search->profile->count &&
           strcmp(search->profile->benchmarks[number].name, search->first) == 0;
}

static bool has_label(const void *context, size_t number) {
    const struct search *search = context;
    return strcmp(search->benchmark->repetitions[number].label, search->first) == 0;
}

static uint64_t hash_of(const char *first, const char *second) {
    return ssprofile_hash(ssprofile_hash(SSPROFILE_HASH_BEGIN, first), second);
}

static void add_to_index(
    struct reader *reader, struct ssprofile_index *index, uint64_t hash, size_t number) {
    reader->without_memory |= !ssprofile_index_add(index, hash, number);
}

static struct ssprofile_profile *take_profile(struct reader *reader, const struct row *row) {
    struct ssprofile_results *results = reader->results;
    struct search search = {
        .results = results, .first = row->text[MACHINE], .second = row->text[LIMITS]};
    uint64_t hash = hash_of(search.first, search.second);
    size_t number = ssprofile_index_find(&reader->profiles, hash, is_profile, &search);
    if (number != SIZE_MAX)
        return &results->profiles[number];
    struct ssprofile_profile *profile = grow(
        reader, (void **)&results->profiles, results->count, &results->capacity, sizeof *profile);
    if (!profile)
        return NULL;
    add_to_index(reader, &reader->profiles, hash, results->count++);
    profile->machine = copy(reader, row->text[MACHINE]);
    profile->limits = copy(reader, row->text[LIMITS]);
    return reader->without_memory ? NULL : profile;
}

#define WARN_OF(reader, line, format, ...)                                                         \
    ssprofile_warn(&(reader)->results->warnings, "%s:%llu: " format, (reader)->input->name,        \
        (unsigned long long)(line), __VA_ARGS__)

#define WARN(reader, format, ...) WARN_OF(reader, (reader)->input->line, format, __VA_ARGS__)

static void warn_of_classes(
    struct reader *reader, const struct ssprofile_benchmark *other, const struct row *row) {
    WARN(reader, "%s is in the classes %s (line %llu) and %s: taken for two benchmarks",
        ss_words_show(row->text[BENCHMARK]).text, ss_words_show(other->class).text,
        (unsigned long long)other->line, ss_words_show(row->text[CLASS]).text);
}

static struct ssprofile_benchmark *take_benchmark(
    struct reader *reader, struct ssprofile_profile *profile, const struct row *row) {
    struct search search = {
        .profile = profile, .first = row->text[BENCHMARK], .second = row->text[CLASS]};
    uint64_t hash = hash_of(search.first, search.second);
    size_t number = ssprofile_index_find(&profile->index, hash, is_benchmark, &search);
    if (number != SIZE_MAX)
        return &profile->benchmarks[number];
    uint64_t name_hash = hash_of(profile->machine, profile->limits);
    name_hash = ssprofile_hash(name_hash, search.first);
    size_t other = ssprofile_index_find(&reader->names, name_hash, has_name, &search);
    if (other != SIZE_MAX)
        warn_of_classes(reader, &profile->benchmarks[other], row);
    else
        add_to_index(reader, &reader->names, name_hash, profile->count);
    struct ssprofile_benchmark *benchmark = grow(reader, (void **)&profile->benchmarks,
        profile->count, &profile->capacity, sizeof *benchmark);
    if (!benchmark)
        return NULL;
    add_to_index(reader, &profile->index, hash, profile->count++);
    benchmark->name = copy(reader, row->text[BENCHMARK]);
    benchmark->class = copy(reader, row->text[CLASS]);
    benchmark->lower = row->lower;
    benchmark->line = reader->input->line;
    return reader->without_memory ? NULL : benchmark;
}

/* "rep-01", "1" and "1.0" are one repetition. */
static void clean_label(char *label) {
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

static size_t find_label(const struct ssprofile_benchmark *benchmark, const char *label) {
    struct search search = {.benchmark = benchmark, .first = label};
    if (benchmark->count > LABELS_SEARCHED)
        return ssprofile_index_find(
            &benchmark->labels, ssprofile_hash(SSPROFILE_HASH_BEGIN, label), has_label, &search);
    for (size_t i = 0; i < benchmark->count; i++) {
        if (has_label(&search, i))
            return i;
    }
    return SIZE_MAX;
}

static void index_labels(struct reader *reader, struct ssprofile_benchmark *benchmark) {
    size_t from = benchmark->count == LABELS_SEARCHED + 1 ? 0 : benchmark->count - 1;
    for (size_t i = from; i < benchmark->count && benchmark->count > LABELS_SEARCHED; i++)
        add_to_index(reader, &benchmark->labels,
            ssprofile_hash(SSPROFILE_HASH_BEGIN, benchmark->repetitions[i].label), i);
}

static void warn_of_repetition(struct reader *reader, const struct ssprofile_benchmark *benchmark,
    const struct ssprofile_repetition *there, const struct row *row) {
    if (there->result == row->result && benchmark->lower == row->lower)
        WARN(reader, "the row is the same as in line %llu: left out",
            (unsigned long long)there->line);
    else
        WARN(reader,
            "repetition %s of %s is there already, in line %llu, with another result: "
            "left out",
            ss_words_show(there->label).text, ss_words_show(benchmark->name).text,
            (unsigned long long)there->line);
}

static void add_repetition(
    struct reader *reader, struct ssprofile_benchmark *benchmark, struct row *row) {
    clean_label(row->text[REPETITION]);
    size_t there = find_label(benchmark, row->text[REPETITION]);
    if (there != SIZE_MAX) {
        warn_of_repetition(reader, benchmark, &benchmark->repetitions[there], row);
        return;
    }
    struct ssprofile_repetition *repetition = grow(reader, (void **)&benchmark->repetitions,
        benchmark->count, &benchmark->capacity, sizeof *repetition);
    if (!repetition)
        return;
    repetition->label = copy(reader, row->text[REPETITION]);
    repetition->result = row->result;
    repetition->line = reader->input->line;
    if (!repetition->label)
        return;
    benchmark->count++;
    index_labels(reader, benchmark);
}

static void keep(struct reader *reader, struct row *row) {
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

/* Bytes that are no part of a name, and could do harm where it is printed. */
static bool is_garbled(const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    }
    return false;
}

/* True: the row makes sense; otherwise a warning says what does not. */
static bool check_row(struct reader *reader, struct row *row, const struct sstrace_field *result) {
    for (int i = 0; i < COLUMNS; i++) {
        if (is_garbled(row->text[i])) {
            WARN(reader, "a control character is in its %s: the row is left out", column_names[i]);
            return false;
        }
    }
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
        WARN(reader, "the result of %s is '%s', which is not a number: the row is left out",
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

/* Quotes keep blanks, which mean nothing here. */
static void trim(struct sstrace_field *field) {
    while (field->length > 0 && strchr(" \t\r", field->text[0])) {
        field->text++;
        field->column++;
        field->length--;
    }
    while (field->length > 0 && strchr(" \t\r", field->text[field->length - 1]))
        field->length--;
}

/* 1: all fields of the line are in the row; 0: what is wrong has been said. */
static int split_row(struct reader *reader, struct row *row, struct sstrace_field *result) {
    struct sstrace_walk walk;
    struct sstrace_field field;
    size_t count = 0;
    int more;
    sstrace_walk_begin(&walk, reader->input, ',');
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        trim(&field);
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

/*
 * A last line without its end may lack digits and look whole. Where ssprofile measure writes, that
 * is what it is. Others' tables often lack the end of a whole line, and only a field that is not
 * in quotes leaves a doubt.
 */
static bool is_whole(struct reader *reader, const struct row *row) {
    const char *end = reader->input->text + reader->input->length;
    while (end > reader->input->text && strchr(" \t\r", end[-1]))
        end--;
    if (reader->interrupted) {
        WARN(reader, "%s", "the last line has no end, so it may be cut: left out");
        return false;
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (reader->places[i] == reader->width - 1 && end > reader->input->text && end[-1] != '"')
            WARN(reader, "the last line has no end: kept, but its %s, '%s', may be cut",
                column_names[i], ss_words_show(row->text[i]).text);
    }
    return true;
}

static void take_row(struct reader *reader) {
    struct row row;
    struct sstrace_field result = {.text = ""};
    for (int i = 0; i < COLUMNS; i++)
        row.text[i][0] = '\0';
    int whole = split_row(reader, &row, &result);
    if (whole > 0 && check_row(reader, &row, &result) &&
        (!feof(reader->input->stream) || is_whole(reader, &row)))
        keep(reader, &row);
}

/* A row that begins with # is a comment, and may be meant as a row. */
static void look_at_comment(struct reader *reader) {
    size_t commas = 0;
    for (const char *at = reader->input->text; *at; at++)
        commas += *at == ',';
    if (commas + 1 == reader->width)
        WARN(reader, "a row that begins with # is a comment: '%s': left out",
            ss_words_show(reader->input->text).text);
}

/* ---- a file ---- */

/* Some spreadsheets begin a file with a mark of its encoding. */
static void drop_mark(struct sstrace_input *input) {
    if (strncmp(input->text, "\xef\xbb\xbf", 3) != 0)
        return;
    memmove(input->text, input->text + 3, input->length - 2);
    input->length -= 3;
}

struct heading {
    size_t places[COLUMNS];
    size_t width;
    int missing, twice; /* a column; COLUMNS: none */
};

static int split_heading(struct sstrace_input *input, struct heading *heading) {
    struct sstrace_walk walk;
    struct sstrace_field field;
    int more;
    *heading = (struct heading){.missing = COLUMNS, .twice = COLUMNS};
    for (int i = 0; i < COLUMNS; i++)
        heading->places[i] = SIZE_MAX;
    sstrace_walk_begin(&walk, input, ',');
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        trim(&field);
        for (int i = 0; i < COLUMNS; i++) {
            if (!sstrace_field_is(&field, column_names[i]))
                continue;
            if (heading->places[i] != SIZE_MAX)
                heading->twice = i;
            heading->places[i] = heading->width;
        }
        heading->width++;
    }
    for (int i = COLUMNS - 1; i >= 0; i--)
        heading->missing = heading->places[i] == SIZE_MAX ? i : heading->missing;
    return more;
}

static void take_heading(struct reader *reader, const struct heading *heading) {
    memcpy(reader->places, heading->places, sizeof reader->places);
    reader->width = heading->width;
}

static int read_heading(struct reader *reader) {
    struct sstrace_input *input = reader->input;
    struct heading heading;
    int more = sstrace_table_read_row(input);
    if (more < 0)
        return -1;
    if (more == 0)
        return ss_error_fail(input->error, "%s is empty", input->name);
    drop_mark(input);
    if (split_heading(input, &heading) < 0)
        return -1;
    if (heading.missing < COLUMNS && !strchr(input->text, ',') && strpbrk(input->text, ";\t"))
        return sstrace_input_blame(
            input, 1, "commas must part the columns: is this a table of results?");
    if (heading.missing < COLUMNS)
        return sstrace_input_blame(input, 1, "there is no column '%s': is this a table of results?",
            column_names[heading.missing]);
    if (heading.twice < COLUMNS)
        return sstrace_input_blame(input, 1, "the column '%s' is there twice: which one counts?",
            column_names[heading.twice]);
    take_heading(reader, &heading);
    return 0;
}

/* Files that were put together have a heading each, perhaps in another order. */
static bool is_heading(struct reader *reader) {
    struct heading heading;
    struct ss_error none = {0}, *error = reader->input->error;
    if (!strcasestr(reader->input->text, column_names[LOWER]))
        return false;
    reader->input->error = &none;
    int result = split_heading(reader->input, &heading);
    reader->input->error = error;
    if (result < 0 || heading.missing < COLUMNS || heading.twice < COLUMNS)
        return false;
    bool same = memcmp(heading.places, reader->places, sizeof heading.places) == 0;
    WARN(reader, "a heading once more%s: these are several tables put together",
        same ? "" : ", in another order");
    take_heading(reader, &heading);
    return true;
}

static void take_line(struct reader *reader) {
    drop_mark(reader->input);
    if (sstrace_table_is_row(reader->input)) {
        if (!is_heading(reader))
            take_row(reader);
    } else if (reader->input->length > 0) {
        look_at_comment(reader);
    }
}

static int read_rows(struct reader *reader) {
    struct sstrace_input *input = reader->input;
    while (!reader->without_memory) {
        uint64_t before = input->line;
        int more = sstrace_input_read_line(input);
        if (more == 0)
            return 0;
        if (more > 0)
            take_line(reader);
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

/* ---- what no single row shows ---- */

/* Significant digits of a number. */
static unsigned digits_of(double number) {
    char text[40];
    unsigned digits = 0, zeros = 0;
    snprintf(text, sizeof text, "%.14e", number);
    for (const char *at = text; *at && *at != 'e'; at++) {
        zeros = *at == '0' ? zeros + 1 : *at == '.' ? zeros : 0;
        digits += *at != '.';
    }
    return digits - zeros;
}

/* Digits in which the results of a benchmark could have differed from others; repetitions that are
   the same count once. */
static unsigned digits_in(const struct ssprofile_benchmark *benchmark) {
    unsigned digits = 0;
    for (size_t i = 0; i < benchmark->count && digits < DIGITS_ENOUGH; i++) {
        double result = benchmark->repetitions[i].result;
        if (i == 0 || result != benchmark->repetitions[i - 1].result)
            digits += digits_of(result);
    }
    return digits;
}

/*
 * Among so many benchmarks, in less than one of a thousand files two have as many digits in common
 * by chance. Of a few benchmarks the results may be alike in their first digits.
 */
static unsigned digits_by_chance(size_t benchmarks) {
    unsigned digits = (unsigned)lround(2 * log10((double)benchmarks)) + 3;
    return digits > DIGITS_MIN ? digits : DIGITS_MIN;
}

/* All benchmarks of a file, as they come to be compared. */
struct copies {
    const struct ssprofile_benchmark **benchmarks;
    const struct ssprofile_profile **profiles;
    size_t count;
    const struct ssprofile_benchmark *wanted;
};

static bool has_results(const void *context, size_t number) {
    const struct copies *copies = context;
    const struct ssprofile_benchmark *one = copies->wanted, *other = copies->benchmarks[number];
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        if (one->repetitions[i].result != other->repetitions[i].result)
            return false;
    }
    return true;
}

static uint64_t hash_results(const struct ssprofile_benchmark *benchmark) {
    char text[32];
    uint64_t hash = SSPROFILE_HASH_BEGIN;
    for (size_t i = 0; i < benchmark->count; i++) {
        snprintf(text, sizeof text, "%a", benchmark->repetitions[i].result);
        hash = ssprofile_hash(hash, text);
    }
    return hash;
}

static void warn_of_copy(struct reader *reader, const struct copies *copies, size_t number,
    const struct ssprofile_profile *profile) {
    const struct ssprofile_benchmark *one = copies->wanted, *other = copies->benchmarks[number];
    const struct ssprofile_profile *others = copies->profiles[number];
    if (profile == others)
        WARN_OF(reader, one->line,
            "%s of class %s has the same results as %s of class %s, in line %llu: both are kept, "
            "and one may be a copy",
            ss_words_show(one->name).text, ss_words_show(one->class).text,
            ss_words_show(other->name).text, ss_words_show(other->class).text,
            (unsigned long long)other->line);
    else
        WARN_OF(reader, one->line,
            "%s of %s:%s has the same results as %s of %s:%s, in line %llu: both are kept, and "
            "one may be a copy",
            ss_words_show(one->name).text, ss_words_show(profile->machine).text,
            ss_words_show(profile->limits).text, ss_words_show(other->name).text,
            ss_words_show(others->machine).text, ss_words_show(others->limits).text,
            (unsigned long long)other->line);
}

/*
 * Results are hardly the same in so many digits, unless somebody copied them. Within one profile
 * there are fewer to be the same as, so fewer digits tell; `only` is that profile, NULL all of
 * them.
 */
static bool look_for_copies(struct reader *reader, struct copies *copies,
    const struct ssprofile_profile *only, size_t benchmarks) {
    const struct ssprofile_results *results = reader->results;
    struct ssprofile_index index = {0};
    unsigned least = digits_by_chance(benchmarks);
    bool fits = true;
    copies->count = 0;
    for (size_t i = 0; fits && i < results->count; i++) {
        const struct ssprofile_profile *profile = only ? only : &results->profiles[i];
        for (size_t j = 0; fits && j < profile->count; j++) {
            copies->wanted = &profile->benchmarks[j];
            if (digits_in(copies->wanted) < least)
                continue;
            uint64_t hash = hash_results(copies->wanted);
            size_t number = ssprofile_index_find(&index, hash, has_results, copies);
            if (number != SIZE_MAX && (only || copies->profiles[number] != profile))
                warn_of_copy(reader, copies, number, profile);
            copies->benchmarks[copies->count] = copies->wanted;
            copies->profiles[copies->count] = profile;
            fits = number != SIZE_MAX || ssprofile_index_add(&index, hash, copies->count);
            copies->count++;
        }
        if (only)
            break;
    }
    ssprofile_index_free(&index);
    return fits;
}

static bool look_for_all_copies(struct reader *reader) {
    const struct ssprofile_results *results = reader->results;
    size_t benchmarks = 0;
    for (size_t i = 0; i < results->count; i++)
        benchmarks += results->profiles[i].count;
    SS_OWNED(free) const struct ssprofile_benchmark **all = calloc(benchmarks + 1, sizeof(void *));
    SS_OWNED(free) const struct ssprofile_profile **of = calloc(benchmarks + 1, sizeof(void *));
    struct copies copies = {.benchmarks = all, .profiles = of};
    bool fits = all && of;
    for (size_t i = 0; fits && i < results->count; i++)
        fits = look_for_copies(reader, &copies, &results->profiles[i], results->profiles[i].count);
    return fits && look_for_copies(reader, &copies, NULL, benchmarks);
}

/* A row of another unit, or with a mark lost, among good ones. */
static void look_for_outliers(struct reader *reader, const struct ssprofile_benchmark *benchmark) {
    const struct ssprofile_repetition *least = benchmark->repetitions, *most = least;
    for (size_t i = 0; i < benchmark->count; i++) {
        const struct ssprofile_repetition *one = &benchmark->repetitions[i];
        least = one->result < least->result ? one : least;
        most = one->result > most->result ? one : most;
    }
    if (most->result / least->result > APART_AT_MAX)
        WARN_OF(reader, most->line,
            "the result of %s is %.6g, and %.6g in line %llu: more than %d times apart; both are "
            "kept",
            ss_words_show(benchmark->name).text, most->result, least->result,
            (unsigned long long)least->line, APART_AT_MAX);
}

static bool look_at_all(struct reader *reader) {
    for (size_t i = 0; i < reader->results->count; i++) {
        for (size_t j = 0; j < reader->results->profiles[i].count; j++)
            look_for_outliers(reader, &reader->results->profiles[i].benchmarks[j]);
    }
    return look_for_all_copies(reader);
}

static int read_input(struct ssprofile_results *results, struct sstrace_input *input,
    bool interrupted, struct ss_error *error) {
    struct reader reader = {.results = results, .input = input, .interrupted = interrupted};
    int result = read_heading(&reader);
    if (result == 0)
        result = read_rows(&reader);
    if (result == 0 && (!look_at_all(&reader) || results->warnings.failed))
        result = ss_error_memory(error);
    ssprofile_index_free(&reader.profiles);
    ssprofile_index_free(&reader.names);
    if (result == 0 && results->count == 0)
        result = ss_error_fail(error, "%s has no result that can be used%s%s", input->name,
            results->warnings.count > 0 ? ": " : "",
            results->warnings.count > 0 ? results->warnings.items[0] : "");
    return result;
}

static int read_descriptor(struct ssprofile_results *results, int descriptor, const char *name,
    bool interrupted, struct ss_error *error) {
    struct sstrace_input input = {.descriptor = -1};
    *results = (struct ssprofile_results){0};
    int result = sstrace_input_open_descriptor(&input, descriptor, name, error);
    if (result == 0)
        result = read_input(results, &input, interrupted, error);
    /* Whatever unpacks a packed file may fail, too. */
    struct ss_error closing = {0};
    input.error = &closing;
    if (sstrace_input_close(&input) < 0 && result == 0)
        result = ss_error_fail(error, "%s", closing.message);
    return result;
}

int ssprofile_results_read_descriptor(
    struct ssprofile_results *results, int descriptor, const char *name, struct ss_error *error) {
    return read_descriptor(results, descriptor, name, false, error);
}

int ssprofile_results_read(
    struct ssprofile_results *results, const char *path, struct ss_error *error) {
    *results = (struct ssprofile_results){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return read_descriptor(results, descriptor, path, ssprofile_origin_of(path).measured, error);
}

static void free_profile(struct ssprofile_profile *profile) {
    for (size_t i = 0; i < profile->count; i++) {
        struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        for (size_t j = 0; j < benchmark->count; j++)
            free(benchmark->repetitions[j].label);
        free(benchmark->repetitions);
        ssprofile_index_free(&benchmark->labels);
        free(benchmark->name);
        free(benchmark->class);
    }
    free(profile->benchmarks);
    ssprofile_index_free(&profile->index);
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

const char *ssprofile_name_fault(const char *name) {
    size_t length = strlen(name);
    if (length == 0)
        return "is empty";
    if (length >= SSTRACE_NAME)
        return "is longer than 511 bytes";
    if (is_garbled(name))
        return "has a control character";
    if (*name == ' ' || name[length - 1] == ' ')
        return "begins or ends with a blank";
    return *name == '#' ? "begins with #, which makes a comment" : NULL;
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
    /* An address of IP version 6 may end so. */
    if (colon && !colon[1] && colon > names && colon[-1] == ':')
        colon = NULL;
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

/* Colons of the name of a machine cannot be told from the one before the limits. */
static bool fits(const struct ssprofile_choice *choice, const struct ssprofile_profile *profile,
    const char *name) {
    if (!*choice->machine)
        return !*choice->limits || strcmp(choice->limits, profile->limits) == 0;
    return strcmp(name, profile->machine) == 0;
}

const struct ssprofile_profile *ssprofile_results_find(const struct ssprofile_results *results,
    const struct ssprofile_choice *choice, struct ss_error *error) {
    const struct ssprofile_profile *found = NULL, *plain = NULL;
    size_t count = 0;
    char names[600], name[1100];
    snprintf(
        name, sizeof name, "%s%s%s", choice->machine, *choice->limits ? ":" : "", choice->limits);
    for (size_t i = 0; i < results->count; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        size_t length = strlen(profile->machine);
        if (*choice->machine && strncmp(name, profile->machine, length) == 0 &&
            name[length] == ':' && strcmp(name + length + 1, profile->limits) == 0)
            return profile;
        if (!fits(choice, profile, name))
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
    name_profiles(names, sizeof names, results, count > 0 ? name : "");
    if (count == 0)
        ss_error_fail(error, "%s has no machine %s: there are %s", choice->path, name, names);
    else
        ss_error_fail(error, "%s has several machines: add one of them behind a colon: %s",
            choice->path, names);
    return NULL;
}

const struct ssprofile_benchmark *ssprofile_profile_find(
    const struct ssprofile_profile *profile, const char *name, const char *class) {
    struct search search = {.profile = profile, .first = name, .second = class};
    if (profile->index.count == profile->count) {
        size_t number =
            ssprofile_index_find(&profile->index, hash_of(name, class), is_benchmark, &search);
        return number == SIZE_MAX ? NULL : &profile->benchmarks[number];
    }
    for (size_t i = 0; i < profile->count; i++) {
        if (is_benchmark(&search, i))
            return &profile->benchmarks[i];
    }
    return NULL;
}
