/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "option_value.h"
#include "unit.h"

static int print_value(const char *type, const char *text, char **line, struct ss_error *error) {
    const struct ssbatch_option_value value = {
        .type = type, .text = text, .option = "name", .program = "test"};
    size_t size;
    FILE *stream = open_memstream(line, &size);
    assert_non_null(stream);
    int status = ssbatch_option_value_print(stream, &value, error);
    assert_int_equal(fclose(stream), 0);
    return status;
}

static void assert_becomes(const char *type, const char *text, const char *expected) {
    struct ss_error error = {0};
    char *line = NULL;
    if (print_value(type, text, &line, &error) < 0)
        fail_msg("%s '%s': %s", type, text, error.message);
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, expected);
    free(line);
}

static void assert_refused(const char *type, const char *text, const char *message) {
    struct ss_error error = {0};
    char *line = NULL;
    if (print_value(type, text, &line, &error) == 0)
        fail_msg("%s '%s' was accepted", type, text);
    free(line);
    assert_string_equal(error.message, message);
}

static void times_are_printed_in_seconds(void **state) {
    assert_becomes("time", "3M", "180");
    assert_becomes("time", "0", "0");
    assert_becomes("time", "1500m", "1.5");
    assert_becomes("time", "0.25", "0.25");
    assert_becomes("duration", "90min", "5400");
    assert_becomes("rounds", "107m,0.1s,,1M", "107m,100m,1M");
    assert_refused("length", "0", "--name: '0' is not a time above 0");
    assert_refused("duration", "0s", "--name: '0s' is not a time above 0");
    assert_refused("rounds", "0.5m", "--name: '0.5m' is too small: use at least 1m");
    assert_refused("rounds", "2h", "--name: '2h' is too large: use at most 1h");
    assert_becomes("round", "0.1s", "100m");
    assert_refused("round", "9m,5m",
        "--name: '9m,5m' has an unknown unit, 'm,5m': units are n, u, m "
        "(milliseconds), s, M (minutes), h and d, or ns, us, ms and min");
    assert_refused("rounds", ",", "--name: a value is required: see --help");
}

static void loads_are_printed_in_percent(void **state) {
    assert_becomes("load", "25", "25");
    assert_becomes("load", "1", "100");
    assert_becomes("load", "1/3", "33.3333333333333");
    assert_becomes("load", "0.29", "29"); /* 28.999999999999996 in binary */
    assert_becomes("load", "12.345%", "12.345");
    assert_becomes("load", "99.50", "99.5");
    assert_becomes("loads", "25%,1/2,0.75,100", "25,50,75,100");
    assert_refused("loads", "50,0", "--name: '0' is not a load above 0");
    assert_refused("load", "150%", "--name: '150%' is not a load: it must be between 0 and 100%");
}

static void numbers_are_parsed_and_invalid_ones_refused(void **state) {
    assert_becomes("count", "07", "7");
    assert_becomes("whole", "0", "0");
    assert_becomes("percent", "5%", "5");
    assert_becomes("percent", "0.5", "0.5");
    assert_refused("count", "00", "--name: '00' is too small: use at least 1");
    assert_refused("whole", "1.5", "--name: '1.5' is not a whole number: write one such as 180");
    assert_refused("percent", "5%%", "--name: '5%%' is not a valid number: write one such as 180");
    assert_refused("percent", "", "--name: '' is not a valid number: write one such as 180");
}

static void sets_have_their_sizes_and_the_first_shared_cpu(void **state) {
    assert_becomes("sets", "0-3/4-7", "0-3 4-7 4 4 -");
    assert_becomes("sets", "0,2,2/1-2", "0,2,2 1-2 2 2 2");
    assert_refused(
        "sets", "0-3", "--name: '0-3' is not two lists of CPUs: write them as in 0-3/4-7");
    assert_refused(
        "sets", "0/1/2", "--name: '0/1/2' is not two lists of CPUs: write them as in 0-3/4-7");
    assert_refused(
        "sets", "0\n/1", "--name: '0 /1' is not two lists of CPUs: write them as in 0-3/4-7");
}

static void stairs_are_levels_in_percent_and_a_number_of_steps(void **state) {
    assert_becomes("stairs", "95%:5%:5%", "95:5:5 38");
    assert_becomes("stairs", "0.9:1/10:20", "90:10:20 10");
    assert_becomes("stairs", "90:10:1", "90:10:1 162");
    assert_becomes("stairs", "40:40:40", "40:40:40 2");
    static const char *const malformed[] = {"95:5", "95:5:", ":5:5", "95:5:5:5", ""};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        char message[128];
        snprintf(message, sizeof message,
            "--name: '%s' is not HIGH:LOW:STEP: write three loads, as in 95%%:5%%:5%%",
            malformed[i]);
        assert_refused("stairs", malformed[i], message);
    }
    assert_refused(
        "stairs", "5%:95%:5%", "--name: '5%:95%:5%': levels must go down by a step above 0");
    assert_refused("stairs", "95:5:0", "--name: '95:5:0': levels must go down by a step above 0");
}

static void spans_are_rounded_for_display(void **state) {
    assert_becomes("span", "0.25", "0.25 s");
    assert_becomes("span", "59.4", "59.4 s");
    assert_becomes("span", "361", "6 min 01 s");
    assert_becomes("span", "2h", "2 h 00 min");
    assert_becomes("span", "7442.6", "2 h 04 min");
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(times_are_printed_in_seconds),
    cmocka_unit_test(loads_are_printed_in_percent),
    cmocka_unit_test(numbers_are_parsed_and_invalid_ones_refused),
    cmocka_unit_test(sets_have_their_sizes_and_the_first_shared_cpu),
    cmocka_unit_test(spans_are_rounded_for_display),
    cmocka_unit_test(stairs_are_levels_in_percent_and_a_number_of_steps))
