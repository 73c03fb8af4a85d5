/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the examples in traces/ match their first lines. */
#include <dirent.h>
#include <math.h>
#include <string.h>

#include "trace/file.h"
#include "unit.h"

#define FOLDER PROJECT_SOURCE_DIR "/traces"
#define MINUTE (60 * SS_SECOND)

static const struct example {
    const char *name;
    size_t records;
    ss_time length;
    double least, largest;
    bool is_closed; /* ends at its first load, so that repeating it makes no step */
} examples[] = {
    {"bursts.txt", 62, MINUTE, 0.15, 1, true},
    {"day.txt", 97, 24 * 60 * MINUTE, 0.12, 0.86, true},
    {"nine-means.txt", 10, 27 * MINUTE, 0.3, 0.66, false},
    {"nine-steps.txt", 18, 27 * MINUTE, 0.1, 0.9, false},
    {"saw.txt", 7, 2 * MINUTE, 0.1, 0.9, true},
    {"sine.txt", 121, 10 * MINUTE, 0.1, 0.9, true},
    {"staircase.txt", 77, 115 * MINUTE, 0.05, 0.95, false},
    {"steps.txt", 6, MINUTE / 2, 0.1, 0.6, true},
};

#define EXAMPLES (sizeof examples / sizeof *examples)

static void check(const struct example *example, const struct ss_trace_records *records) {
    const struct ss_trace_record *items = records->items;
    double least = 1, largest = 0;
    size_t last = records->count - 1;
    for (size_t i = 0; i <= last; i++) {
        if (items[i].free)
            continue;
        least = fmin(least, items[i].load);
        largest = fmax(largest, items[i].load);
    }
    assert_int_equal(records->count, example->records);
    assert_int_equal(items[0].time, 0);
    assert_that(items[last].time, ==, example->length);
    assert_near(least, example->least, 1e-12);
    assert_near(largest, example->largest, 1e-12);
    assert_int_equal(fabs(items[last].load - items[0].load) < 1e-12, example->is_closed);
}

TEST(example_traces_match_their_comments) {
    for (size_t i = 0; i < EXAMPLES; i++) {
        char path[1024];
        struct ss_trace_records records;
        struct ss_error error = {0};
        snprintf(path, sizeof path, "%s/%s", FOLDER, examples[i].name);
        print_message("%s\n", path);
        assert_succeeds(ss_trace_load(path, &records, &error), error);
        check(&examples[i], &records);
        ss_trace_records_free(&records);
        FILE *stream = fopen(path, "r");
        assert_non_null(stream);
        assert_int_equal(fgetc(stream), '#');
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
