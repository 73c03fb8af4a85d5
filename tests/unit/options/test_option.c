/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "options/values.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct config {
    ss_time length;
    double part;
    uint64_t copies;
    double gain;
    int mode;
    const char *path;
};

#define AT(member) .offset = offsetof(struct config, member)

/* One option of every type, without bounds; the main option is a text. */
static const struct ss_option all[] = {
    {.name = "path", .type = SS_OPTION_TEXT, AT(path), .help = "a file"},
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .initial = "20s", .help = "how long"},
    {.name = "part", .type = SS_OPTION_LOAD, AT(part), .initial = "60%", .help = "how much"},
    {.name = "copies", .type = SS_OPTION_COUNT, AT(copies), .initial = "3", .help = "how many"},
    {.name = "gain", .type = SS_OPTION_NUMBER, AT(gain), .initial = "1/4", .help = "how steep"},
    {.name = "mode",
        .type = SS_OPTION_CHOICE,
        AT(mode),
        .initial = "off",
        .choices = "on off on-off",
        .help = "which"},
    SS_OPTION_END};

static const struct ss_option bounded[] = {
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .min = "10m", .max = "1M"},
    {.name = "part", .type = SS_OPTION_LOAD, AT(part), .min = "1/10", .max = "90%"},
    {.name = "copies", .type = SS_OPTION_COUNT, AT(copies), .min = "2", .max = "10"},
    {.name = "gain", .type = SS_OPTION_NUMBER, AT(gain), .min = "1/2", .max = "1.5"},
    {.name = "offset", .type = SS_OPTION_NUMBER, AT(gain), .max = "3"},
    {.name = "scale", .type = SS_OPTION_NUMBER, AT(gain), .min = "3"}, SS_OPTION_END};

static const struct ss_option needed[] = {
    {.name = "path", .type = SS_OPTION_TEXT, AT(path), .help = "a file to read", .required = 1},
    {.name = "copies",
        .type = SS_OPTION_COUNT,
        AT(copies),
        .initial = "7",
        .help = "how many of them",
        .required = 1},
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .help = "how long"}, SS_OPTION_END};

static const struct ss_option scaled[] = {
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .initial = "107m", .scales = 1},
    SS_OPTION_END};

static const struct ss_option doubtful[] = {
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .min = "2m", .sensible = "500m"},
    {.name = "gain", .type = SS_OPTION_PERCENT, AT(gain), .max = "150"}, SS_OPTION_END};

static struct config config;
static struct ss_option_store store;

static void parse(const struct ss_option *rows, const char *text) {
    struct ss_error error = {0};
    ss_option_store_free(&store);
    config = (struct config){0};
    assert_succeeds(ss_option_parse_string(rows, text, &config, &store, &error), error);
    assert_int_equal(error.status, 0);
}

/* Checks that the text is refused with a one-line message containing these words. */
static void refuse(const struct ss_option *rows, const char *text, const char *words) {
    struct ss_error error = {0};
    ss_option_store_free(&store);
    config = (struct config){0};
    assert_fails(ss_option_parse_string(rows, text, &config, &store, &error), error, words);
}

TEST(option_defaults_are_filled_in) {
    parse(all, NULL);
    assert_null(config.path);
    assert_that(config.length, ==, 20 * SS_SECOND);
    assert_that(config.part, ==, 0.6);
    assert_int_equal(config.copies, 3);
    assert_that(config.gain, ==, 0.25);
    assert_int_equal(config.mode, 1);
}

TEST(only_the_default_scales_with_the_window) {
    struct ss_error error = {0};
    parse(scaled, NULL);
    assert_int_equal(config.length, 107 * SS_MILLISECOND);
    store.scale = 0.2;
    assert_int_equal(ss_option_parse_string(scaled, NULL, &config, &store, &error), 0);
    assert_int_equal(config.length, 21400 * SS_MICROSECOND);
    assert_int_equal(ss_option_parse_string(scaled, "107m", &config, &store, &error), 0);
    assert_int_equal(config.length, 107 * SS_MILLISECOND);
    assert_int_equal(ss_option_parse_string(all, NULL, &config, &store, &error), 0);
    assert_int_equal(config.length, 20 * SS_SECOND);
}

TEST(every_option_type_is_parsed) {
    parse(all, "path=a.trace,length=107m,part=3/5,copies=12,gain=2.5,mode=on-off");
    assert_string_equal(config.path, "a.trace");
    assert_that(config.length, ==, 107 * SS_MILLISECOND);
    assert_that(config.part, ==, 0.6);
    assert_int_equal(config.copies, 12);
    assert_that(config.gain, ==, 2.5);
    assert_int_equal(config.mode, 2);
}

TEST(missing_options_keep_their_defaults) {
    parse(all, "copies=1");
    assert_int_equal(config.copies, 1);
    assert_that(config.length, ==, 20 * SS_SECOND);
    /* The last value wins. */
    parse(all, "copies=1,copies=2");
    assert_int_equal(config.copies, 2);
}

TEST(main_option_may_omit_its_name) {
    parse(all, "a.trace");
    assert_string_equal(config.path, "a.trace");
    parse(all, "a.trace,copies=5");
    assert_string_equal(config.path, "a.trace");
    assert_int_equal(config.copies, 5);
    parse(all, "copies=5,path=b.trace");
    assert_string_equal(config.path, "b.trace");
    parse(all, "");
    assert_string_equal(config.path, "");
    parse(bounded, "103m");
    assert_that(config.length, ==, 103 * SS_MILLISECOND);
}

TEST(backslashes_escape_commas_and_themselves) {
    parse(all, "a\\,b,copies=5");
    assert_string_equal(config.path, "a,b");
    assert_int_equal(config.copies, 5);
    parse(all, "a\\\\,copies=5");
    assert_string_equal(config.path, "a\\");
    assert_int_equal(config.copies, 5);
    parse(all, "C:\\new\\");
    assert_string_equal(config.path, "C:\\new\\");
    parse(all, "copies=4,path=\\,\\\\\\,");
    assert_string_equal(config.path, ",\\,");
}

TEST(equals_signs_belong_to_paths_and_commands) {
    parse(all, "/run/a=b/c.trace");
    assert_string_equal(config.path, "/run/a=b/c.trace");
    parse(all, "sensor --unit=W A=1");
    assert_string_equal(config.path, "sensor --unit=W A=1");
    parse(all, "=x");
    assert_string_equal(config.path, "=x");
    parse(all, "A=1 sensor");
    assert_string_equal(config.path, "A=1 sensor");
    parse(all, "path=mode=on");
    assert_string_equal(config.path, "mode=on");
}

TEST(option_bounds_are_inclusive) {
    parse(bounded, "10m,part=0.1,copies=2,gain=0.5");
    assert_that(config.length, ==, 10 * SS_MILLISECOND);
    assert_that(config.part, ==, 0.1);
    assert_int_equal(config.copies, 2);
    assert_that(config.gain, ==, 0.5);
    parse(bounded, "60s,part=9/10,copies=10,gain=3/2");
    assert_that(config.length, ==, 60 * SS_SECOND);
    assert_that(config.part, ==, 0.9);
    assert_int_equal(config.copies, 10);
    assert_that(config.gain, ==, 1.5);
}

TEST(option_may_have_a_single_bound) {
    parse(bounded, "offset=0");
    parse(bounded, "offset=3");
    refuse(bounded, "offset=3.1", "at most 3");
    parse(bounded, "scale=1000000");
    parse(bounded, "scale=3");
    refuse(bounded, "scale=2.9", "at least 3");
}

TEST(option_choices_must_be_whole_words) {
    parse(all, "mode=on");
    assert_int_equal(config.mode, 0);
    parse(all, "mode=off");
    assert_int_equal(config.mode, 1);
    static const char *const wrong[] = {"mode=o", "mode=", "mode=on-", "mode=ON", "mode=on off",
        "mode= on", "mode=off2", "mode=on-off-on"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        refuse(all, wrong[i], "is not one of: on off on-off");
    refuse(all, "mode=maybe", "mode: 'maybe' is not one of");
    /* The list must not be read beyond its end. */
    static const struct ss_option last[] = {
        {.name = "mode", .type = SS_OPTION_CHOICE, AT(mode), .choices = "on off\0maybe"},
        SS_OPTION_END};
    parse(last, "off");
    refuse(last, "maybe", "'maybe' is not one of: on off");
}

TEST(invalid_options_are_refused) {
    static const struct ss_option none[] = {SS_OPTION_END};
    static const struct {
        const struct ss_option *rows;
        const char *text, *words;
    } cases[] = {
        {all, "a.trace,b.trace", "'b.trace' has no name"},
        {all, "copies=5,a.trace", "'a.trace' has no name"},
        {all, "a.trace,b.trace", "use name=value"},
        {all, "a.trace,", "'' has no name"},
        {all, "a.trace,,copies=5", "'' has no name"},
        {bounded, "", "length: '' is not a time"},
        {all, "copies=", "copies: '' is not a whole number"},
        {all, "copeis=5",
            "unknown option 'copeis': did you mean 'copies'? Available: path, length, part, "
            "copies, gain, mode"},
        {all, "a.trace,zzzzzz=5", "unknown option 'zzzzzz'; available: path, length"},
        {all, "cop=5", "did you mean 'copies'?"},
        {all, "copie=5", "unknown option 'copie'"},
        {all, "copiess=5", "unknown option 'copiess'"},
        {bounded, "9999999n", "length: '9999999n' is too small: use at least 10m"},
        {bounded, "60000000001n", "length: '60000000001n' is too large: use at most 1M"},
        {bounded, "part=9%", "part: '9%' is too small: use at least 1/10"},
        {bounded, "part=0.91", "part: '0.91' is too large: use at most 90%"},
        {bounded, "copies=1", "copies: '1' is too small: use at least 2"},
        {bounded, "copies=11", "copies: '11' is too large: use at most 10"},
        {bounded, "gain=0.499", "gain: '0.499' is too small: use at least 1/2"},
        {bounded, "gain=1.501", "gain: '1.501' is too large: use at most 1.5"},
        {all, "length=20", "length: '20' has no unit"},
        {all, "part=1.5", "part: '1.5' is not a load"},
        {all, "copies=1.5", "copies: '1.5' is not a whole number"},
        {all, "gain=x", "gain: 'x' is not a number"},
        {all, "mode=on\noff", "is not one of"},
        {all, "a.trace,b\nc", "has no name"},
        {NULL, "a\nb", "this module has no options"},
        {NULL, "x", "this module has no options: leave out 'x'"},
        {none, "x=1", "this module has no options"},
        {none, "", "this module has no options"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(cases[i].rows, cases[i].text, cases[i].words);
    parse(NULL, NULL);
    parse(none, NULL);
}

TEST(required_options_must_be_given) {
    refuse(needed, NULL, "path is missing: a file to read");
    refuse(needed, "length=1s,copies=1", "path is missing");
    /* A default does not satisfy `required`. */
    refuse(needed, "x", "copies is missing: how many of them");
    refuse(needed, "path=x", "copies is missing");
    parse(needed, "x,copies=1");
    parse(needed, "copies=1,path=x");
    parse(needed, "copies=1,path=");
}

TEST(option_texts_live_as_long_as_the_store) {
    char text[] = "a.trace,copies=2";
    parse(all, text);
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(config.path, "a.trace");
    assert_int_equal(store.count, 1);
    const char *kept = ss_option_store_add(&store, "b");
    assert_string_equal(kept, "b");
    assert_string_equal(config.path, "a.trace");
    ss_option_store_free(&store);
    assert_int_equal(store.count, 0);
}

TEST(single_option_can_be_set) {
    struct ss_error error = {0};
    config = (struct config){.copies = 9};
    assert_int_equal(ss_option_set(&all[1], "3s", &config, &store, &error), 0);
    assert_that(config.length, ==, 3 * SS_SECOND);
    assert_int_equal(config.copies, 9);
    assert_int_equal(ss_option_set(&all[1], "3", &config, &store, &error), -1);
    assert_memory_equal(error.message, "length: '3' has no unit", 23);
}

TEST(improbable_option_values_cause_a_warning) {
    parse(doubtful, "3m");
    assert_that(config.length, ==, 3 * SS_MILLISECOND);
    assert_int_equal(store.warning_count, 1);
    assert_string_equal(store.warnings[0], "length: 3m is 3 milliseconds; use 3min for minutes");
    ss_option_store_label(&store, 0, "trace/file");
    assert_string_equal(
        store.warnings[0], "trace/file: length: 3m is 3 milliseconds; use 3min for minutes");
    parse(doubtful, "3m,length=3m");
    assert_int_equal(store.warning_count, 1);
    parse(doubtful, "500m");
    assert_int_equal(store.warning_count, 0);
    /* The message for a refused value includes the hint, too. */
    refuse(doubtful, "1m",
        "'1m' is too small: use at least 2m; 1m is 1 millisecond; use 1min for minutes");
    parse(doubtful, "20");
    assert_that(config.length, ==, 20 * SS_SECOND);
}

TEST(percentages_of_options_are_parsed) {
    parse(doubtful, "gain=5%");
    assert_that(config.gain, ==, 5);
    parse(doubtful, "gain=5");
    assert_that(config.gain, ==, 5);
    refuse(doubtful, "gain=151%", "too large: use at most 150");
}

UNIT_RUN
