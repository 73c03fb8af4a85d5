/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "progress_values.h"
#include "screen/drawing.h"
#include "unit.h"

static struct ss_progress_history history;

static void fill(int count, double target, double load) {
    for (int i = 0; i < count; i++)
        ss_progress_remember(&history, target, load);
}

/* Fills the history with values of every kind for a full minute. */
static void fill_variously(void) {
    memset(&history, 0, sizeof history);
    for (int i = 0; i < 300; i++)
        ss_progress_remember(&history, i % 50 < 10 ? NAN : i % 10 / 9.0,
            i % 70 == 0   ? NAN
            : i % 13 == 0 ? 0
                          : i % 11 / 10.0);
}

static struct ss_progress_picture picture_of(int width, int height, bool unicode, bool color) {
    return (struct ss_progress_picture){.values = known,
        .history = &history,
        .width = width,
        .height = height,
        .unicode = unicode,
        .color = color};
}

/* Rows of the last drawing, from the top. */
static char text[SS_PROGRESS_TEXT_SIZE];
static char *rows[SS_PROGRESS_ROWS + 1];

static int draw(int width, int height, bool unicode, bool color) {
    struct ss_progress_picture picture = picture_of(width, height, unicode, color);
    int count = ss_progress_draw(text, sizeof text, &picture);
    int found = 0;
    memset(rows, 0, sizeof rows);
    char *rest = text;
    while (*text && rest && found <= SS_PROGRESS_ROWS)
        rows[found++] = strsep(&rest, "\n");
    assert_int_equal(found, count);
    return count;
}

/* Counts columns. Fails on an incomplete character or color change. */
static int columns_of(const char *row, bool unicode, bool color) {
    int columns = 0;
    while (*row) {
        unsigned char byte = (unsigned char)*row;
        if (byte == '\033') {
            assert_true(color);
            assert_that(row[1], ==, '[');
            row += 2 + strspn(row + 2, "0123456789;");
            assert_int_equal(*row++, 'm');
            continue;
        }
        assert_that(byte, >=, ' ');
        assert_true((byte < 0x80 || unicode));
        int length = byte < 0x80 ? 1 : 3; /* all drawn characters are in the basic plane */
        assert_true(length == 1 || byte >> 4 == 0xe);
        for (int i = 1; i < length; i++)
            assert_int_equal((unsigned char)row[i] >> 6, 2);
        row += length;
        columns++;
    }
    return columns;
}

TEST(screen_shows_the_number_of_ended_instances) {
    struct ss_progress_values values = known;
    char line[256];
    values.instances = 12;
    values.ended = 3;
    values.others = 0.613;
    values.has_iterations = false;
    ss_progress_print_values(line, sizeof line, &values, 200);
    assert_says(line, "duty  23.4 %  3 of 12 ended  others use 61 %");
    values.others = NAN;
    for (int width = 0; width < 200; width++) {
        ss_progress_print_values(line, sizeof line, &values, width);
        assert_that((int)strlen(line), <=, width);
        assert_true(width < 24 || strstr(line, "  3 of 12 ended"));
    }
    values.ended = 0;
    ss_progress_print_values(line, sizeof line, &values, 200);
    assert_null(strstr(line, "ended"));
    assert_null(strstr(line, "others"));
}

TEST(no_row_is_wider_than_the_window) {
    fill_variously();
    for (int width = 0; width <= 300; width++) {
        for (int height = 0; height <= 30; height++) {
            for (int way = 0; way < 4; way++) {
                int count = draw(width, height, way & 1, way & 2);
                assert_true(count == 0 || count < height);
                for (int i = 0; i < count; i++)
                    assert_that(columns_of(rows[i], way & 1, way & 2), <=, width);
            }
        }
    }
}

TEST(drawing_fills_the_window_width) {
    // clang-format off
    static const struct { int width, height, rows, columns; } cases[] = {
        {80, 24, 6, 65}, {65, 24, 6, 65}, {64, 24, 6, 45}, {124, 24, 6, 65},
        {125, 24, 6, 125}, {200, 24, 6, 125}, {40, 24, 6, 35}, {245, 24, 6, 245}, {20, 24, 6, 20},
        {19, 24, 1, 0}, {5, 24, 1, 0}, {4, 24, 0, 0}, {80, 19, 4, 65}, {80, 12, 4, 65},
        {80, 11, 2, 65}, {80, 5, 2, 65}, {80, 4, 1, 0}, {80, 2, 1, 0}, {80, 1, 0, 0},
        {100000, 100000, 6, 245},
    };
    // clang-format on
    fill_variously();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(draw(cases[i].width, cases[i].height, true, false), cases[i].rows);
        if (cases[i].rows > 1)
            assert_int_equal(columns_of(rows[1], true, false), cases[i].columns);
    }
    assert_int_equal(draw(20, 24, false, false), 6);
    assert_string_equal(rows[5], "  0%+60 s-----------");
    assert_int_equal(draw(40, 24, false, false), 6);
    assert_string_equal(rows[5], "  0%+60 s ago-----30 s----------now");
}

static const char *values_at(int width, const struct ss_progress_values *values) {
    static char line[256];
    ss_progress_print_values(line, sizeof line, values, width);
    return line;
}

TEST(values_are_shortened_in_a_narrow_window) {
    // clang-format off
    static const struct { int width; const char *line; } cases[] = {
        {88, "12/30 s  target  25.0 %  load  24.8 %  error  +0.21 %  duty  23.4 %    3.21 iterations/s"},
        {87, "12/30 s  target  25.0 %  load  24.8 %  error  +0.21 %  duty  23.4 %    3.21 it/s"},
        {80, "12/30 s  target  25.0 %  load  24.8 %  error  +0.21 %  duty  23.4 %    3.21 it/s"},
        {79, "12/30 s  target  25.0%  load  24.8%  error  +0.21%  duty  23.4%    3.21 it/s"},
        {75, "12/30 s  target  25.0%  load  24.8%  error  +0.21%  duty  23.4%    3.21/s"},
        {72, "12/30 s  target  25.0%  load  24.8%  error  +0.21%    3.21/s"},
        {59, "12/30 s  target  25.0%  load  24.8%  error  +0.21%"},
        {40, "12/30 s  load  24.8 of  25.0%   +0.21%"},
        {37, "load  24.8 of  25.0%   +0.21%"},
        {28, "load  24.8 of  25.0%"},
        {19, "load  24.8%"},
        {10, " 24.8%"},
        {5, " 24.8"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(values_at(cases[i].width, &known), cases[i].line);
    struct ss_progress_values without = known;
    without.has_iterations = false;
    assert_string_equal(values_at(80, &without),
        "12/30 s  target  25.0 %  load  24.8 %  error  +0.21 %  duty  23.4 %");
}

TEST(unknown_values_on_the_screen_are_dashes) {
    struct ss_progress_values none = {-1, NAN, NAN, NAN, NAN, NAN, NAN, true};
    assert_string_equal(values_at(100, &none), "warm-up  target     - %  load     - %  error      "
                                               "- %  duty     - %       - iterations/s");
    none.elapsed = NAN;
    assert_string_equal(values_at(10, &none), "    -%");
    memset(&history, 0, sizeof history);
    fill(3, NAN, NAN);
    assert_int_equal(draw(80, 24, true, false), 6);
    assert_null(strstr(rows[4], "▁"));
}

TEST(elapsed_time_keeps_its_width) {
    // clang-format off
    static const struct { double elapsed, total; const char *clock; } cases[] = {
        {0, 30, " 0/30 s"}, {29.99, 30, "29/30 s"}, {0, 599, "  0/599 s"}, {0, 600, " 0:00/10:00"},
        {599.9, 600, " 9:59/10:00"}, {3599, 3600, "  59:59/1:00:00"},
        {3661, 7325, "1:01:01/2:02:05"}, {7, NAN, "7 s"}, {601, NAN, "10:01"},
        {36000, NAN, "10:00:00"}, {-1, 30, "warm-up"}, {0.5, 0.6, "0.5/0.6 s"}, {2, 9.99, "2.0/9.9 s"}, {0.99, 3, "0/3 s"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_progress_values values = known;
        values.elapsed = cases[i].elapsed;
        values.total = cases[i].total;
        const char *line = values_at(100, &values);
        assert_memory_equal(line, cases[i].clock, strlen(cases[i].clock));
        assert_memory_equal(line + strlen(cases[i].clock), "  target", 8);
    }
}

/* Checks the end of each of the four rows, from the top. */
static void expect_ends(bool unicode, bool color, const char *const ends[4]) {
    assert_int_equal(draw(200, 24, unicode, color), 6);
    for (int i = 0; i < 4; i++) {
        size_t length = strlen(rows[i + 1]);
        assert_that(length, >=, strlen(ends[i]));
        assert_string_equal(rows[i + 1] + length - strlen(ends[i]), ends[i]);
    }
}

TEST(load_is_drawn_with_eighth_blocks) {
    memset(&history, 0, sizeof history);
    for (int i = 0; i <= 8; i++)
        fill(1, NAN, 0.5 + i / 32.0);
    expect_ends(true, false, (const char *[]){"         ", " ▁▂▃▄▅▆▇█", "█████████", "█████████"});
    expect_ends(false, false, (const char *[]){"         ", " ___===##", "#########", "#########"});
    fill(1, NAN, 0);
    fill(1, NAN, 0.001);
    fill(1, NAN, 1);
    fill(1, NAN, 7);
    expect_ends(true, false, (const char *[]){"   ██", "█  ██", "█  ██", "█ ▁██"});
}

/* Targets at five heights; the load is higher in every third column. */
TEST(target_and_load_are_both_visible) {
    static const double targets[] = {0, 0.06, 0.12, 0.18, 0.24, 0.25, 0.5, 0.99, 1, 2};
    memset(&history, 0, sizeof history);
    for (int i = 0; i < 10; i++)
        fill(1, targets[i], 0);
    expect_ends(
        true, false, (const char *[]){"       ⎺⎺⎺", "      ⎽   ", "     ⎽    ", "⎽⎼─⎻⎺     "});
    expect_ends(
        false, false, (const char *[]){"       ---", "      -   ", "     -    ", "-----     "});
    memset(&history, 0, sizeof history);
    fill(6, 0.375, 0.75);
    expect_ends(true, false, (const char *[]){"      ", "██████", "─██─██", "██████"});
    memset(&history, 0, sizeof history);
    fill(6, 0.375, 0.28);
    expect_ends(true, false, (const char *[]){"      ", "      ", "─▁▁─▁▁", "██████"});
    expect_ends(true, true,
        (const char *[]){"      ", "      ", "\033[0;35m─\033[0;32m▁▁\033[0m", "██████\033[0m"});
    memset(&history, 0, sizeof history);
    fill(1, 0.375, 0.75);
    expect_ends(true, true,
        (const char *[]){"", "\033[0;32m█\033[0m", "\033[0;35;42m─\033[0m", "\033[0;32m█\033[0m"});
    /* Time that is not controlled is dim. */
    memset(&history, 0, sizeof history);
    fill(2, NAN, 0.25);
    expect_ends(true, true, (const char *[]){"  ", "  ", "  ", "\033[0;2m██\033[0m"});
}

/* Two samples share a column. A drawn column moves left without changing. */
TEST(samples_are_grouped_into_columns_by_number) {
    static const char *const ends[] = {"▅█", "▅▅", "▅▅█", "▅▅▅", "▅▅▅█", "▅▅▅▅"};
    memset(&history, 0, sizeof history);
    fill(1, NAN, 0.2);
    expect_ends(true, false, (const char *[]){"  ", "  ", "  ", " ▆"});
    fill(1, NAN, 0.1);
    for (int i = 0; i < 6; i++) {
        fill(1, NAN, i % 2 ? 0.05 : 0.25);
        assert_int_equal(draw(80, 24, true, false), 6);
        const char *end = strstr(rows[4], "▅");
        assert_non_null(end);
        assert_string_equal(end, ends[i]);
    }
    /* In a wide window, each sample has a column; the newest is at the right. */
    memset(&history, 0, sizeof history);
    fill(1, NAN, 1);
    for (int i = 0; i <= 120; i++) {
        assert_int_equal(draw(125, 24, false, false), 6);
        assert_int_equal(strcspn(rows[4], "#"), i < 120 ? 124 - i : 125);
        fill(1, NAN, 0);
    }
}

UNIT_RUN
