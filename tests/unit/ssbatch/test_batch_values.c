/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "option_value.h"
#include "text.h"

struct row {
    const char *type, *text;
    const char *expected; /* the line that is printed, or a part of the message */
};

static void check(const struct row *row, bool is_valid) {
    const struct ssbatch_option_value value = {
        .type = row->type, .text = row->text, .option = "name", .program = "test"};
    struct ss_error error = {0};
    int status = ssbatch_option_value_print(text_begin(), &value, &error);
    char *line = text_end();
    line[strcspn(line, "\n")] = '\0';
    if ((status == 0) != is_valid)
        fail_msg("%s '%s': %s", row->type, row->text, error.message);
    if (is_valid)
        assert_string_equal(line, row->expected);
    else if (strncmp(error.message, "--name: ", 8) != 0 || !strstr(error.message, row->expected))
        fail_msg("%s '%s': %s", row->type, row->text, error.message);
}

TEST(values_are_printed_in_the_form_of_plans) {
    static const struct row rows[] = {
        {"time", "3M", "180"},
        {"time", "0", "0"},
        {"time", "1500m", "1.5"},
        {"time", "0.25", "0.25"},
        {"length", "0.25", "0.25"},
        {"duration", "90min", "5400"},
        {"round", "0.1s", "100m"},
        {"rounds", "107m,0.1s,,1M", "107m,100m,1M"},

        {"load", "25", "25"},
        {"load", "0", "0"},
        {"load", "1", "100"},
        {"load", "1/3", "33.3333333333333"},
        {"load", "0.29", "29"}, /* 28.999999999999996 in binary */
        {"load", "12.345%", "12.345"},
        {"load", "99.50", "99.5"},
        {"loads", "25%,1/2,0.75,100", "25,50,75,100"},

        {"count", "07", "7"},
        {"whole", "0", "0"},
        {"percent", "5%", "5"},
        {"percent", "0.5", "0.5"},

        /* Both sets, their sizes, and the first shared CPU. */
        {"sets", "0-3/4-7", "0-3 4-7 4 4 -"},
        {"sets", "0,2,2/1-2", "0,2,2 1-2 2 2 2"},

        /* Levels in percent, and the number of steps. */
        {"stairs", "95%:5%:5%", "95:5:5 38"},
        {"stairs", "0.9:1/10:20", "90:10:20 10"},
        {"stairs", "90:10:1", "90:10:1 162"},
        {"stairs", "40:40:40", "40:40:40 2"},

        {"span", "0.25", "0.25 s"},
        {"span", "59.4", "59.4 s"},
        {"span", "361", "6 min 01 s"},
        {"span", "2h", "2 h 00 min"},
        {"span", "7442.6", "2 h 04 min"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], true);
}

TEST(invalid_values_are_refused) {
    static const struct row rows[] = {
        {"length", "0", "'0' is not a time above 0"},
        {"duration", "0s", "'0s' is not a time above 0"},
        {"rounds", "0.5m", "at least 1m"},
        {"rounds", "2h", "at most 1h"},
        {"round", "9m,5m", "unknown unit, 'm,5m'"},
        {"rounds", ",", "a value is required"},

        {"loads", "50,0", "'0' is not a load above 0"},
        {"load", "150%", "'150%' is not a load"},

        {"count", "00", "'00' is too small"},
        {"whole", "1.5", "'1.5' is not a whole number"},
        {"percent", "5%%", "'5%%' is not a valid number"},
        {"percent", "", "'' is not a valid number"},

        {"cpus", "8191", "CPU 8191 is not available"},
        {"sets", "0-3", "'0-3' is not two lists"},
        {"sets", "0/1/2", "'0/1/2' is not two lists"},
        {"sets", "0\n/1", "'0 /1' is not two lists"},

        {"stairs", "95:5", "'95:5' is not HIGH:LOW:STEP"},
        {"stairs", "95:5:", "'95:5:' is not HIGH:LOW:STEP"},
        {"stairs", ":5:5", "':5:5' is not HIGH:LOW:STEP"},
        {"stairs", "95:5:5:5", "'95:5:5:5' is not HIGH:LOW:STEP"},
        {"stairs", "", "'' is not HIGH:LOW:STEP"},
        {"stairs", "5%:95%:5%", "must go down"},
        {"stairs", "95:5:0", "must go down"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], false);
}

UNIT_RUN
