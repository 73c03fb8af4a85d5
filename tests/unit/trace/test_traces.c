/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the examples in traces/ match their first lines. */
#include <dirent.h>
#include <math.h>
#include <string.h>

#include "trace/file.h"
#include "unit.h"

#define FOLDER PROJECT_SOURCE_DIR "/traces"
#define MINUTE (60 * SS_SECOND)
#define HOUR   (60 * MINUTE)

static void assert_load(double load, double expected) {
    if (!(fabs(load - expected) <= 1e-12))
        fail_msg("%.17g, not %.17g", load, expected);
}

/*
 * Checks that the trace ends at the load with which it begins, so that repeating it makes no step.
 */
static void assert_closed(const struct ss_trace_records *records, ss_time length) {
    assert_int_equal(records->items[0].time, 0);
    assert_int_equal(records->items[records->count - 1].time, length);
    assert_load(records->items[records->count - 1].load, records->items[0].load);
}

/* Checks these loads in percent, each held for `hold` in two records, from record `first` on. */
static void assert_steps(const struct ss_trace_records *records, size_t first, ss_time begin,
    ss_time hold, const int *percents, size_t count) {
    assert_int_equal(records->count, first + 2 * count);
    for (size_t i = 0; i < count; i++) {
        const struct ss_trace_record *step = &records->items[first + 2 * i];
        assert_int_equal(step[0].time, begin + i * hold);
        assert_int_equal(step[1].time, begin + (i + 1) * hold);
        assert_load(step[0].load, percents[i] / 100.0);
        assert_load(step[1].load, percents[i] / 100.0);
        assert_false(step[0].free || step[1].free);
    }
}

static void check_saw(const struct ss_trace_records *records) {
    static const int percents[] = {10, 60, 10, 90, 40, 90, 10};
    assert_int_equal(records->count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(records->items[i].time, i * 20 * SS_SECOND);
        assert_load(records->items[i].load, percents[i] / 100.0);
        assert_false(records->items[i].free);
    }
    assert_closed(records, 2 * MINUTE);
}

static void check_steps(const struct ss_trace_records *records) {
    static const int percents[] = {10, 60, 10};
    assert_steps(records, 0, 0, 10 * SS_SECOND, percents, 3);
}

static void check_nine_steps(const struct ss_trace_records *records) {
    int percents[9], seen[10] = {0}, turns = 0;
    assert_int_equal(records->count, 18);
    for (size_t i = 0; i < 9; i++) {
        percents[i] = (int)lround(records->items[2 * i].load * 100);
        assert_that(percents[i] % 10, ==, 0);
        assert_that(percents[i], >=, 10);
        assert_that(percents[i], <=, 90);
        assert_int_equal(seen[percents[i] / 10]++, 0);
        turns += i > 1 && (percents[i] > percents[i - 1]) != (percents[i - 1] > percents[i - 2]);
    }
    assert_that(turns, >=, 4);
    assert_steps(records, 0, 0, 180 * SS_SECOND, percents, 9);
    assert_int_equal(records->items[17].time, 1620 * SS_SECOND);
}

/* Unlike the trace of nine steps, this trace has no jump. */
static void check_nine_means(const struct ss_trace_records *records) {
    assert_int_equal(records->count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(records->items[i].time, i * 180 * SS_SECOND);
        if (i > 0)
            assert_that(fabs(records->items[i].load - records->items[i - 1].load), <=, 0.18001);
    }
    assert_load(records->items[9].load, records->items[8].load);
}

static void check_sine(const struct ss_trace_records *records) {
    assert_int_equal(records->count, 121);
    for (size_t i = 0; i <= 120; i++) {
        const struct ss_trace_record *record = &records->items[i];
        assert_int_equal(record->time, i * 5 * SS_SECOND);
        assert_that(
            fabs(record->load - 0.5 - 0.4 * sin(2 * M_PI * (double)i / 120)), <=, 0.00005001);
        assert_false(record->free);
    }
    assert_load(records->items[30].load, 0.9);
    assert_load(records->items[90].load, 0.1);
    assert_closed(records, 10 * MINUTE);
}

static void check_staircase(const struct ss_trace_records *records) {
    int percents[38];
    for (int i = 0; i < 19; i++)
        percents[i] = percents[37 - i] = 95 - 5 * i;
    assert_int_equal(records->items[0].time, 0);
    assert_true(records->items[0].free);
    assert_steps(records, 1, MINUTE, 3 * MINUTE, percents, 38);
    assert_int_equal(records->items[76].time, 115 * MINUTE);
}

static double load_at(const struct ss_trace_records *records, double hour) {
    return records->items[lround(hour * 4)].load;
}

static void check_day(const struct ss_trace_records *records) {
    assert_int_equal(records->count, 97);
    for (size_t i = 0; i < 97; i++) {
        const struct ss_trace_record *record = &records->items[i];
        assert_int_equal(record->time, i * 15 * MINUTE);
        assert_true(i == 0 || fabs(record->load - record[-1].load) < 0.06);
        assert_true(i == 16 || record->load > 0.12);
        assert_true(i == 80 || record->load < 0.86);
        assert_false(record->free);
        /* The load at half past twelve is below the load of the two hours around it. */
        assert_true(i < 42 || i > 58 || i == 50 || record->load > load_at(records, 12.5));
    }
    assert_load(load_at(records, 4), 0.12);
    assert_load(load_at(records, 20), 0.86);
    for (double hour = 6; hour < 11; hour++)
        assert_that(load_at(records, hour + 1), >, load_at(records, hour));
    assert_closed(records, 24 * HOUR);
}

/* Four records per burst: base, up, down, base again. */
static void check_bursts(const struct ss_trace_records *records) {
    const struct ss_trace_record *items = records->items;
    ss_time all = 0, shortest = MINUTE, longest = 0;
    double least = 1, largest = 0;
    assert_int_equal(records->count, 1 + 15 * 4 + 1);
    for (size_t i = 1; i < 61; i += 4) {
        ss_time length = items[i + 2].time - items[i + 1].time;
        assert_that(items[i].time, >, items[i - 1].time);
        assert_int_equal(items[i + 1].time, items[i].time);
        assert_int_equal(items[i + 3].time, items[i + 2].time);
        assert_load(items[i].load, 0.15);
        assert_load(items[i + 2].load, items[i + 1].load);
        assert_load(items[i + 3].load, 0.15);
        all += length;
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
        least = fmin(least, items[i + 1].load);
        largest = fmax(largest, items[i + 1].load);
    }
    assert_int_equal(shortest, 200 * SS_MILLISECOND);
    assert_int_equal(longest, 3 * SS_SECOND);
    assert_int_equal(all, 13850 * SS_MILLISECOND);
    assert_load(least, 0.6);
    assert_load(largest, 1);
    assert_load(items[0].load, 0.15);
    assert_closed(records, MINUTE);
}

static const struct example {
    const char *name;
    void (*check)(const struct ss_trace_records *records);
} examples[] = {
    {"bursts.txt", check_bursts},
    {"day.txt", check_day},
    {"nine-means.txt", check_nine_means},
    {"nine-steps.txt", check_nine_steps},
    {"saw.txt", check_saw},
    {"sine.txt", check_sine},
    {"staircase.txt", check_staircase},
    {"steps.txt", check_steps},
};

#define EXAMPLES (sizeof examples / sizeof *examples)

static void make_path(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", FOLDER, name);
    print_message("%s\n", path);
}

TEST(example_traces_match_their_comments) {
    for (size_t i = 0; i < EXAMPLES; i++) {
        char path[1024];
        struct ss_trace_records records;
        struct ss_error error = {0};
        make_path(path, sizeof path, examples[i].name);
        assert_succeeds(ss_trace_load(path, &records, &error), error);
        examples[i].check(&records);
        ss_trace_records_free(&records);
    }
}

TEST(example_traces_begin_with_a_comment) {
    for (size_t i = 0; i < EXAMPLES; i++) {
        char path[1024], line[1024];
        make_path(path, sizeof path, examples[i].name);
        FILE *stream = fopen(path, "r");
        assert_non_null(stream);
        assert_non_null(fgets(line, sizeof line, stream));
        assert_memory_equal(line, "# ", 2);
        assert_that(strlen(line), >, 40);
        fclose(stream);
    }
}

TEST(every_example_trace_has_a_test) {
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        size_t i = 0;
        while (i < EXAMPLES && strcmp(examples[i].name, entry->d_name) != 0)
            i++;
        if (i == EXAMPLES)
            fail_msg("traces/%s: add a check of what its first lines say", entry->d_name);
        files++;
    }
    closedir(folder);
    assert_int_equal(files, EXAMPLES);
}

UNIT_RUN
