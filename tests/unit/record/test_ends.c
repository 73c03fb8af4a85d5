/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <signal.h>

#include "record/ends.h"
#include "unit.h"

static void assert_described(int status, const char *expected) {
    char text[SS_END_TEXT_SIZE];
    ss_end_describe(text, status);
    assert_string_equal(text, expected);
}

TEST(exit_statuses_are_described_as_in_a_shell) {
    assert_described(7 << 8, "exit status 7");
    assert_described(0, "exit status 0");
    assert_described(SIGSEGV, "killed by SIGSEGV");
    assert_described(SIGABRT | 0x80, "killed by SIGABRT (core dumped)");
    assert_described(SIGKILL, "killed by SIGKILL");
    assert_described(SIGRTMIN + 3, "killed by SIGRTMIN+3");
    assert_described(SIGSTKFLT, "killed by signal 16");
}

TEST(end_times_before_control_are_printed_as_such) {
    char text[SS_END_TEXT_SIZE];
    ss_end_print_time(text, 3.256);
    assert_string_equal(text, "after 3.26 s");
    ss_end_print_time(text, -1.5);
    assert_string_equal(text, "1.50 s before control began");
    ss_end_print_time(text, NAN);
    assert_string_equal(text, "before control began");
}

TEST(ends_are_sorted_by_time) {
    static const double times[] = {5, 1, NAN, 3, 3, -2, 4};
    static const uint32_t expected[] = {2, 5, 1, 3, 4, 6, 0};
    struct ss_ends ends = {0};
    for (uint32_t i = 0; i < 7; i++)
        ss_ends_add(&ends, &(struct ss_end){.instance = i, .seconds = times[i], .status = i % 2});
    assert_int_equal(ends.count, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(ends.items[i].instance, expected[i]);
    assert_int_equal(ss_ends_failed(&ends), 3);
    ss_ends_free(&ends);
    assert_int_equal(ends.count, 0);
}

UNIT_RUN
