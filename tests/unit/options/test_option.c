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
    parse(all, "path=a.trace,length=107m,part=3/5,copies=12,gain=2.5,mode=on-off,copies=2");
    assert_string_equal(config.path, "a.trace");
    assert_that(config.length, ==, 107 * SS_MILLISECOND);
    assert_that(config.part, ==, 0.6);
    assert_int_equal(config.copies, 2); /* the last value wins */
    assert_that(config.gain, ==, 2.5);
    assert_int_equal(config.mode, 2);
}

TEST(main_option_may_omit_its_name) {
    static const struct {
        const char *text, *path;
        uint64_t copies; /* 3 by default */
    } cases[] = {
        {"a.trace", "a.trace", 3},
        {"a.trace,copies=5", "a.trace", 5},
        {"copies=5,path=b.trace", "b.trace", 5},
        {"", "", 3},
        /* Backslashes escape commas and themselves. */
        {"a\\,b,copies=5", "a,b", 5},
        {"a\\\\,copies=5", "a\\", 5},
        {"C:\\new\\", "C:\\new\\", 3},
        {"copies=4,path=\\,\\\\\\,", ",\\,", 4},
        /* Paths and commands may contain equals signs. */
        {"/run/a=b/c.trace", "/run/a=b/c.trace", 3},
        {"sensor --unit=W A=1", "sensor --unit=W A=1", 3},
        {"=x", "=x", 3},
        {"A=1 sensor", "A=1 sensor", 3},
        {"path=mode=on", "mode=on", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        parse(all, cases[i].text);
        assert_string_equal(config.path, cases[i].path);
        assert_int_equal(config.copies, cases[i].copies);
    }
    parse(bounded, "103m");
    assert_that(config.length, ==, 103 * SS_MILLISECOND);
}

TEST(option_bounds_are_inclusive) {
    static const char *const texts[] = {"10m,part=0.1,copies=2,gain=0.5",
        "60s,part=9/10,copies=10,gain=3/2", "offset=0", "offset=3", "scale=1000000", "scale=3"};
    for (size_t i = 0; i < COUNT(texts); i++)
        parse(bounded, texts[i]);
}

TEST(option_choices_must_be_whole_words) {
    static const char *const wrong[] = {"mode=o", "mode=", "mode=on-", "mode=ON", "mode=on off",
        "mode= on", "mode=off2", "mode=on-off-on"};
    parse(all, "mode=on");
    assert_int_equal(config.mode, 0);
    for (size_t i = 0; i < COUNT(wrong); i++)
        refuse(all, wrong[i], "is not one of: on off on-off");
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
        {all, "a.trace,,copies=5", "'' has no name"},
        {bounded, "", "length: '' is not a time"},
        {all, "copies=", "copies: '' is not a whole number"},
        {all, "copeis=5",
            "unknown option 'copeis': did you mean 'copies'? Available: path, length, part, "
            "copies, gain, mode"},
        {all, "a.trace,zzzzzz=5", "unknown option 'zzzzzz'; available: path, length"},
        {all, "copiess=5", "unknown option 'copiess'"},
        {bounded, "offset=3.1", "use at most 3"},
        {bounded, "scale=2.9", "use at least 3"},
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
        {NULL, "a\nb", "this module has no options: leave out 'a?b'"},
        {none, "", "this module has no options"},
        {needed, NULL, "path is missing: a file to read"},
        {needed, "length=1s,copies=1", "path is missing"},
        /* A default does not satisfy `required`. */
        {needed, "x", "copies is missing: how many of them"},
        {doubtful, "gain=151%", "too large: use at most 150"},
        /* The message for a refused value includes the hint, too. */
        {doubtful, "1m",
            "'1m' is too small: use at least 2m; 1m is 1 millisecond; use 1min for minutes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(cases[i].rows, cases[i].text, cases[i].words);
    parse(NULL, NULL);
    parse(none, NULL);
    parse(needed, "x,copies=1");
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
    parse(doubtful, "20,gain=5%");
    assert_that(config.length, ==, 20 * SS_SECOND);
    assert_that(config.gain, ==, 5);
}

UNIT_RUN
