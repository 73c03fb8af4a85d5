/* SPDX-License-Identifier: Apache-2.0 */

#include "base/cpus.h"
#include "unit.h"

static void assert_list(const char *text, uint32_t count, const char *printed) {
    struct ss_cpus cpus;
    struct ss_error error = {0};
    memset(&cpus, 0xff, sizeof cpus);
    assert_succeeds(ss_cpus_parse(text, &cpus, &error), error);
    assert_int_equal(ss_cpus_count(&cpus), count);
    char buffer[256];
    ss_cpus_print(buffer, sizeof buffer, &cpus);
    assert_string_equal(buffer, printed);
}

static void assert_refused(const char *text, const char *part) {
    struct ss_cpus cpus = {0};
    struct ss_error error = {0};
    ss_cpus_add(&cpus, 5);
    assert_fails(ss_cpus_parse(text, &cpus, &error), error, part);
    assert_true(ss_cpus_has(&cpus, 5));
    assert_that(ss_cpus_count(&cpus), ==, 1);
}

TEST(added_cpus_are_in_the_set) {
    struct ss_cpus cpus = {0};
    assert_int_equal(ss_cpus_count(&cpus), 0);
    assert_int_equal(ss_cpus_last(&cpus), 0);
    ss_cpus_add(&cpus, 0);
    assert_int_equal(ss_cpus_last(&cpus), 0);
    ss_cpus_add(&cpus, 64);
    assert_int_equal(ss_cpus_last(&cpus), 64);
    ss_cpus_add(&cpus, 64);
    ss_cpus_add(&cpus, SS_CPUS_MAX - 1);
    assert_int_equal(ss_cpus_last(&cpus), SS_CPUS_MAX - 1);
    ss_cpus_add(&cpus, SS_CPUS_MAX);
    ss_cpus_add(&cpus, UINT32_MAX);
    assert_int_equal(ss_cpus_count(&cpus), 3);
    assert_true(ss_cpus_has(&cpus, 0) && ss_cpus_has(&cpus, 64));
    assert_true(ss_cpus_has(&cpus, SS_CPUS_MAX - 1));
    assert_false(ss_cpus_has(&cpus, 1));
    assert_false(ss_cpus_has(&cpus, SS_CPUS_MAX));
    assert_false(ss_cpus_has(&cpus, UINT32_MAX));
}

TEST(cpu_lists_are_parsed_and_printed) {
    assert_list("0", 1, "0");
    assert_list("0-3", 4, "0-3");
    assert_list("0-3,8,10-14:2", 8, "0-3,8,10,12,14");
    assert_list("0-1\n", 2, "0-1");
    assert_list("8,0,1", 3, "0-1,8");
    assert_list("1-4,3-6,3", 6, "1-6");
    assert_list("5-5", 1, "5");
    assert_list("0-7:3", 3, "0,3,6");
    assert_list("0-7:99999999999", 1, "0");
    assert_list("0-8191", 8192, "0-8191");
    assert_list("8191", 1, "8191");
    assert_list("007", 1, "7");
}

TEST(invalid_cpu_lists_are_refused) {
    static const char *const texts[] = {"", "\n", ",", "0,", ",0", "0,,1", "0-", "-1", "0--1", "a",
        "0-3:", "0:2", "0 1", " 0", "0\n\n", "0-3/2", "0x1", "all"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused(texts[i], "is not a list of CPUs: use numbers and ranges, such as 0-3");
}

TEST(invalid_cpu_ranges_are_refused) {
    assert_refused("3-1", "descending range");
    assert_refused("0-3:0", "step of 0");
    assert_refused("8192", "above 8191");
    assert_refused("0-8192", "above 8191");
    assert_refused("4294967296", "above 8191");
    assert_refused("99999999999999999999999", "above 8191");
}

TEST(short_buffer_truncates_a_cpu_list_between_numbers) {
    static const char *const texts[] = {
        "", "", "", "", "...", "...", "...", "...", "0-3,...", "0-3,...", "0-3,8,100"};
    struct ss_cpus cpus;
    assert_int_equal(ss_cpus_parse("0-3,8,100", &cpus, NULL), 0);
    char buffer[16];
    for (size_t size = 1; size < sizeof texts / sizeof *texts; size++) {
        memset(buffer, 'x', sizeof buffer);
        ss_cpus_print(buffer, size, &cpus);
        assert_string_equal(buffer, texts[size]);
        assert_int_equal(buffer[size], 'x');
    }
    buffer[0] = 'x';
    ss_cpus_print(buffer, 0, &cpus);
    assert_int_equal(buffer[0], 'x');
}

TEST(longest_cpu_list_fits) {
    struct ss_cpus cpus = {0}, again;
    static char buffer[SS_CPUS_TEXT_SIZE];
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        if (cpu % 3 < 2)
            ss_cpus_add(&cpus, cpu);
    }
    ss_cpus_print(buffer, sizeof buffer, &cpus);
    assert_int_equal(ss_cpus_parse(buffer, &again, NULL), 0);
    assert_memory_equal(&again, &cpus, sizeof cpus);
}

TEST(cpu_missing_from_the_other_set_is_found) {
    static const struct {
        const char *cpus, *allowed;
        uint32_t first;
    } cases[] = {
        {"0-3", "0-3", SS_CPUS_MAX},
        {"1,3", "0-8191", SS_CPUS_MAX},
        {"0-3", "1-3", 0},
        {"0-3", "0-1", 2},
        {"63,64", "0-63", 64},
        {"5,8191", "0-8190", 8191},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_cpus cpus, allowed;
        assert_int_equal(ss_cpus_parse(cases[i].cpus, &cpus, NULL), 0);
        assert_int_equal(ss_cpus_parse(cases[i].allowed, &allowed, NULL), 0);
        assert_int_equal(ss_cpus_first_outside(&cpus, &allowed), cases[i].first);
    }
}

TEST(cpu_sets_are_intersected) {
    struct ss_cpus cpus, other;
    assert_int_equal(ss_cpus_parse("0-5,100,8191", &cpus, NULL), 0);
    assert_int_equal(ss_cpus_parse("1,4-200", &other, NULL), 0);
    ss_cpus_intersect(&cpus, &other);
    char text[64];
    ss_cpus_print(text, sizeof text, &cpus);
    assert_string_equal(text, "1,4-5,100");
}

UNIT_RUN
