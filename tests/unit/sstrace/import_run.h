/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_IMPORT_RUN_H
#define SHOWSTOPPER_TESTS_IMPORT_RUN_H

/*
 * Runs an importer of sstrace on texts and on files of tests/data/import/ and keeps the records.
 * Follows the order of the program: opens the importer, imports all files, ends and closes it.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"
#include "unit.h"

#define IMPORT_DATA PROJECT_SOURCE_DIR "/tests/data/import/"

/* Short enough for a compound literal: &(import_options){.select = "a"}. */
typedef struct sstrace_import_options import_options;

struct import_run {
    int result; /* 0 or -1 */
    struct ss_error error;
    struct ss_trace_records records;

    /* Numbers of samples by outcome; `series` counts the series that the input names. */
    uint64_t used, gaps, late, bad;
    size_t series;
};

static inline void import_free(struct import_run *run) {
    ss_trace_records_free(&run->records);
}

/* Returns an open, already unlinked file with these bytes. */
static inline int import_bytes(const char *text, size_t size) {
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    int descriptor = dup(fileno(file));
    assert_that(descriptor, >=, 0);
    fclose(file);
    assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
    return descriptor;
}

static inline int import_one(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples, bool last) {
    int result = format->import(format, input, samples);
    if (result == 0)
        result = sstrace_samples_end_file(samples, input);
    if (result == 0 && last)
        result = sstrace_samples_end(samples, input);
    return result;
}

static inline void import_count(struct import_run *run, const struct sstrace_samples *samples) {
    run->used = samples->used;
    run->gaps = samples->gaps;
    run->late = samples->late;
    run->bad = samples->bad;
    run->series = samples->names.count;
}

/*
 * Imports `count` files, by path, one after the other. `options` may be NULL. A refusal leaves no
 * records.
 */
static inline struct import_run import_paths(const struct sstrace_format *format,
    const import_options *options, const char *const *paths, size_t count) {
    static const import_options none;
    struct import_run run = {0};
    struct ss_trace_collector collector = ss_trace_collect(&run.records);
    struct sstrace_samples samples;
    sstrace_samples_open(&samples, options ? options : &none, &collector.sink);
    samples.takes_unit = format->takes & SSTRACE_TAKES_UNIT;
    for (size_t i = 0; i < count && run.result == 0; i++) {
        struct text_input input;
        run.result = text_input_open(&input, paths[i], &run.error);
        if (run.result == 0)
            run.result = import_one(format, &input, &samples, i + 1 == count);
        if (text_input_close(&input) != 0)
            run.result = -1;
    }
    import_count(&run, &samples);
    sstrace_samples_close(&samples);
    if (run.result != 0)
        ss_trace_records_free(&run.records);
    return run;
}

/* Imports two texts, one after the other, from files in /tmp. */
static inline struct import_run import_pair(const struct sstrace_format *format,
    const import_options *options, const char *first, const char *second) {
    const char *const texts[2] = {first, second};
    char paths[2][64];
    for (size_t i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/showstopper-import-XXXXXX");
        FILE *stream = fdopen(mkstemp(paths[i]), "w");
        assert_non_null(stream);
        fputs(texts[i], stream);
        assert_int_equal(fclose(stream), 0);
    }
    const char *const names[2] = {paths[0], paths[1]};
    struct import_run run = import_paths(format, options, names, 2);
    unlink(paths[0]);
    unlink(paths[1]);
    return run;
}

/* Imports a file of tests/data/import/; messages show its full path. */
static inline struct import_run import_file(
    const struct sstrace_format *format, const import_options *options, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", IMPORT_DATA, name);
    const char *const paths[] = {path};
    return import_paths(format, options, paths, 1);
}

/* Imports bytes; messages call the input `name`. */
static inline struct import_run import_named(const struct sstrace_format *format,
    const import_options *options, const char *name, const char *text, size_t size) {
    static const import_options none;
    struct import_run run = {0};
    struct ss_trace_collector collector = ss_trace_collect(&run.records);
    struct sstrace_samples samples;
    struct text_input input;
    sstrace_samples_open(&samples, options ? options : &none, &collector.sink);
    samples.takes_unit = format->takes & SSTRACE_TAKES_UNIT;
    run.result = text_input_open_descriptor(&input, import_bytes(text, size), name, &run.error);
    if (run.result == 0)
        run.result = import_one(format, &input, &samples, true);
    text_input_close(&input);
    import_count(&run, &samples);
    sstrace_samples_close(&samples);
    if (run.result != 0)
        ss_trace_records_free(&run.records);
    return run;
}

/* Imports a text; messages call it "in". */
static inline struct import_run import_text(
    const struct sstrace_format *format, const import_options *options, const char *text) {
    return import_named(format, options, "in", text, strlen(text));
}

static inline void assert_imported(const struct import_run *run) {
    if (run->result != 0)
        fail_msg("refused: %s", run->error.message);
}

/* Fails unless the import ended with status 2 and a one-line message that contains `part`. */
static inline void assert_not_imported(struct import_run *run, const char *part) {
    if (run->result == 0)
        fail_msg("accepted, but should be refused: %s", part);
    if (!strstr(run->error.message, part) || strpbrk(run->error.message, "\r\n"))
        fail_msg("message without '%s': %s", part, run->error.message);
    assert_int_equal(run->error.status, SS_ERROR_FAILED);
    import_free(run);
}

/* Checks one record: its time in seconds and its load in percent. */
static inline void assert_imported_record(
    const struct import_run *run, size_t index, double seconds, double percent) {
    if (index >= run->records.count)
        fail_msg("no record %zu, only %zu records", index, run->records.count);
    const struct ss_trace_record *record = &run->records.items[index];
    double time = (double)record->time / 1e9;
    if (fabs(time - seconds) > 1e-6 || fabs(record->load * 100 - percent) > 1e-6 || record->free)
        fail_msg("record %zu is %.9g s %.9g %%, not %.9g s %.9g %%", index, time,
            record->load * 100, seconds, percent);
}

/*
 * Checks all records: `count` loads in percent, each held from one time to the next, so `seconds`
 * has one element more. Frees the run.
 */
static inline void assert_steps(
    struct import_run *run, const double *seconds, const double *percents, size_t count) {
    assert_imported(run);
    for (size_t i = 0; i < count; i++) {
        assert_imported_record(run, 2 * i, seconds[i], percents[i]);
        assert_imported_record(run, 2 * i + 1, seconds[i + 1], percents[i]);
    }
    assert_int_equal(run->records.count, 2 * count);
    import_free(run);
}

/* Like assert_steps(), with steps of equal length. */
static inline void assert_levels(
    struct import_run *run, double length, const double *percents, size_t count) {
    double seconds[64];
    assert_that(count, <, sizeof seconds / sizeof *seconds);
    for (size_t i = 0; i <= count; i++)
        seconds[i] = length * (double)i;
    assert_steps(run, seconds, percents, count);
}

/* The last two arguments of assert_levels(): the loads and their number. */
#define LEVELS(...)                                                                                \
    ((const double[]){__VA_ARGS__}), sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

#endif
