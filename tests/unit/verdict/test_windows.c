/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "unit.h"
#include "verdict/windows.h"

static struct ss_windows windows;

static void open_at(double second) {
    windows = (struct ss_windows){.from = (ss_time)(second * 1e9)};
}

static void add(double start, double end, double amount) {
    ss_windows_add(&windows, (ss_time)(start * 1e9), (ss_time)(end * 1e9), amount);
}

static void assert_split(double to, size_t count, const double *expected) {
    double amounts[16];
    ss_windows_split(&windows, (ss_time)(to * 1e9), count, amounts);
    for (size_t i = 0; i < count; i++) {
        if (fabs(amounts[i] - expected[i]) > 1e-3 * expected[i])
            fail_msg("window %zu: %g, not %g", i, amounts[i], expected[i]);
    }
}

TEST(amounts_are_spread_over_their_time) {
    open_at(10);
    add(10, 12, 4);
    add(13, 14, 1);
    assert_split(14, 4, (double[]){2, 2, 0, 1});
    /* The part before the first cell is left out. */
    open_at(10);
    add(8, 12, 4);
    add(8, 9.5, 7);
    assert_split(12, 2, (double[]){1, 1});
    /* An amount without a length counts at once. */
    open_at(0);
    add(1.5, 1.5, 3);
    assert_split(2, 2, (double[]){0, 3});
}

TEST(nothing_is_added_before_counting) {
    windows = (struct ss_windows){.from = SS_TIME_NEVER};
    add(1, 2, 3);
    assert_split(2, 2, (double[]){0, 0});
}

TEST(wider_cells_keep_the_amounts_in_their_windows) {
    open_at(0);
    for (int second = 0; second < 3600; second++)
        add(second, second + 1, second < 1800 ? 1 : 2);
    assert_split(3600, 4, (double[]){900, 900, 1800, 1800});
}

/* Only half of the third cell has passed. */
TEST(partial_cell_is_divided_evenly) {
    open_at(0);
    add(0, 0.0025, 5);
    assert_split(0.0025, 10, (double[]){.5, .5, .5, .5, .5, .5, .5, .5, .5, .5});
}

/* Cells are 2 ms wide, and the cell at the cut also contains the next millisecond. */
TEST(later_amounts_are_left_out) {
    open_at(0);
    for (int i = 0; i < 3000; i++)
        add(i * 1e-3, (i + 1) * 1e-3, 1);
    assert_split(1.001, 7, (double[]){143, 143, 143, 143, 143, 143, 143});
    assert_split(2.999, 1, (double[]){2999});
    assert_split(3, 1, (double[]){3000});
}

TEST(ten_years_fit) {
    open_at(0);
    add(0, 1, 1);
    add(3.2e8 - 1, 3.2e8, 1);
    assert_split(3.2e8, 2, (double[]){1, 1});
}

UNIT_RUN
