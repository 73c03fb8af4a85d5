/* SPDX-License-Identifier: Apache-2.0 */
#include "run_progress.h"

#include <stdlib.h>

#include "unit.h"

static char *text;
static size_t size;
static struct progress progress;

static void begin(size_t runs) {
    progress = (struct progress){
        .stream = open_memstream(&text, &size), .runs = runs, .begin = 100 * SS_SECOND};
    assert_non_null(progress.stream);
}

static void expect_shown(const char *expected) {
    fflush(progress.stream);
    assert_string_equal(text, expected);
    fclose(progress.stream);
    free(text);
}

TEST(simulation_shows_progress_and_time_left_after_a_second) {
    static const struct {
        size_t runs, done;
        double part;
        ss_time after; /* in milliseconds */
        const char *shown;
    } cases[] = {
        {1, 0, 0.5, 999, ""},
        {1, 0, 0.25, 10000, "\r\033[Ksssim: 25 %, about 30 s left"},
        {4, 2, 0.5, 5000, "\r\033[Ksssim: run 3 of 4, 62 %, about 3 s left"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].runs);
        progress.done = cases[i].done;
        progress_note(&progress, cases[i].part, 100 * SS_SECOND + cases[i].after * SS_MILLISECOND);
        expect_shown(cases[i].shown);
    }
}

TEST(progress_line_is_drawn_at_most_four_times_a_second) {
    begin(1);
    for (unsigned i = 0; i <= 100; i++)
        progress_note(&progress, 0.5, 110 * SS_SECOND + i * 10 * SS_MILLISECOND);
    fflush(progress.stream);
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\r')); at++)
        lines++;
    assert_int_equal(lines, 5);
    fclose(progress.stream);
    free(text);
}

TEST(progress_line_is_removed_only_once) {
    begin(1);
    progress_clear(&progress);
    progress_note(&progress, 0, 110 * SS_SECOND);
    progress_clear(&progress);
    progress_clear(&progress);
    expect_shown("\r\033[Ksssim: 0 %\r\033[K");
}

UNIT_RUN
