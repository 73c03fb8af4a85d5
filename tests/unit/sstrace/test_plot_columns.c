/* SPDX-License-Identifier: Apache-2.0 */

#include "plot_columns.h"

static void assert_column(
    const struct sstrace_columns *columns, size_t index, double min, double mean, double max) {
    const struct sstrace_column *column = &columns->items[index];
    assert_near(column->controlled + column->free, 1, 1e-12);
    assert_near(column->min, min, 1e-12);
    assert_near(sstrace_column_mean(column), mean, 1e-12);
    assert_near(column->max, max, 1e-12);
}

TEST(plot_columns_integrate_lines_exactly) {
    OWNED_COLUMNS columns = make("0 0\n8s 80%\n16s 0\n", 16 * SS_SECOND, 3);
    assert_column(&columns, 0, 0, 0.8 / 3, 1.6 / 3);
    /* This column rises from 8/15 to 8/10 and falls back to 8/15: its mean is 2/3. */
    assert_column(&columns, 1, 1.6 / 3, 2.0 / 3, 0.8);
    assert_column(&columns, 2, 0, 0.8 / 3, 1.6 / 3);
}

TEST(plot_columns_keep_steps_vertical) {
    OWNED_COLUMNS columns =
        make("0 10%\n5s 10%\n5s 1\n5s 90%\n12s 90%\n12s 50%\n20s 50%\n", 20 * SS_SECOND, 4);
    assert_column(&columns, 0, 0.1, 0.1, 0.1);
    assert_column(&columns, 1, 0.9, 0.9, 0.9);
    assert_column(&columns, 2, 0.5, (0.9 * 2 + 0.5 * 3) / 5, 0.9);
    assert_column(&columns, 3, 0.5, 0.5, 0.5);
}

TEST(plot_columns_count_free_time_separately) {
    OWNED_COLUMNS columns =
        make("0 20%\n4s 60%\n10s free\n12s free\n22s 30%\n30s 30%\n", 30 * SS_SECOND, 3);
    assert_column(&columns, 0, 0.2, (0.4 * 4 + 0.6 * 6) / 10, 0.6);
    assert_near(columns.items[0].free, 0, 1e-12);
    assert_near(columns.items[1].free, 1, 1e-12);
    assert_near(columns.items[1].controlled, 0, 1e-12);
    assert_near(columns.items[2].free, 0.2, 1e-12);
    assert_column(&columns, 2, 0.3, 0.3, 0.3);
}

TEST(plot_keeps_the_load_before_a_free_section) {
    OWNED_COLUMNS columns = begin(20 * SS_SECOND, 2);
    add(&columns, 0, 0.8);
    struct ss_trace_record record = {.time = 10 * SS_SECOND, .load = 0, .free = true};
    assert_int_equal(columns.sink.take(&columns.sink, &record, NULL), 0);
    add(&columns, 20 * SS_SECOND, 0);
    end(&columns);
    assert_column(&columns, 0, 0.8, 0.8, 0.8);
    assert_near(columns.items[1].free, 1, 1e-12);
}

TEST(plot_holds_the_first_and_last_load) {
    OWNED_COLUMNS columns = make("10s 20%\n20s 60%\n", 40 * SS_SECOND, 4);
    assert_column(&columns, 0, 0.2, 0.2, 0.2);
    assert_column(&columns, 1, 0.2, 0.4, 0.6);
    assert_column(&columns, 2, 0.6, 0.6, 0.6);
    assert_column(&columns, 3, 0.6, 0.6, 0.6);
    OWNED_COLUMNS other = make("10s free\n20s 60%\n30s free\n", 40 * SS_SECOND, 4);
    assert_near(other.items[0].free, 1, 1e-12);
    assert_near(other.items[1].free, 1, 1e-12);
    assert_column(&other, 2, 0.6, 0.6, 0.6);
    assert_near(other.items[3].free, 1, 1e-12);
}

TEST(plot_of_a_zero_length_trace_shows_its_last_record) {
    OWNED_COLUMNS columns = make("0 30%\n0 70%\n", 0, 5);
    for (size_t i = 0; i < 5; i++)
        assert_column(&columns, i, 0.7, 0.7, 0.7);
    OWNED_COLUMNS other = make("0 free\n", 0, 5);
    assert_near(other.items[4].free, 1, 1e-12);
    assert_near(other.items[4].controlled, 0, 1e-12);
}

TEST(plot_columns_may_be_shorter_than_a_nanosecond) {
    OWNED_COLUMNS columns = make("0 0\n20n 1\n", 20, 75);
    for (size_t i = 0; i < 75; i++) {
        double from = (double)i / 75;
        assert_column(&columns, i, from, from + 0.5 / 75, from + 1.0 / 75);
    }
}

TEST(plot_of_500_years_is_exact_to_the_nanosecond) {
    ss_time length = 182500 * DAY;
    OWNED_COLUMNS columns = begin(length, 999);
    add(&columns, 0, 0);
    add(&columns, length - 5, 0);
    add(&columns, length - 5, 0.5);
    add(&columns, length - 4, 0.5);
    add(&columns, length - 4, 0);
    add(&columns, length, 0);
    end(&columns);
    double area = 0;
    for (size_t i = 0; i < 999; i++) {
        assert_near(columns.items[i].controlled, 1, 1e-12);
        area += columns.items[i].area;
    }
    assert_near(area * (double)length / 999, 0.5, 1e-12);
    assert_that(columns.items[998].max, ==, 0.5);
    assert_that(columns.items[997].max, ==, 0);
}

UNIT_RUN
