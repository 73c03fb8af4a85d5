/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "base/units.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_time(const char *text, ss_time expected) {
    struct ss_error error = {0};
    ss_time value = 1;
    assert_succeeds(ss_units_time(text, &value, &error), error);
    if (value != expected)
        fail_msg("'%s' is %llu, not %llu", text, (unsigned long long)value,
            (unsigned long long)expected);
}

typedef int (*read_double)(const char *, double *, struct ss_error *);

/* Checks that the text is refused with a message containing `part`; the value does not change. */
static void assert_refused(read_double read, const char *text, const char *part) {
    struct ss_error error = {0};
    double value = 77;
    assert_fails(read(text, &value, &error), error, part);
    assert_that(value, ==, 77);
}

static void assert_double(read_double read, const char *text, double expected) {
    struct ss_error error = {0};
    double value = -1;
    assert_succeeds(read(text, &value, &error), error);
    if (value != expected)
        fail_msg("'%s' is %.17g, not %.17g", text, value, expected);
}

/* More texts, also invalid ones, are in units.tsv. */
TEST(times_are_whole_nanoseconds) {
    static const struct {
        const char *text;
        ss_time value;
    } cases[] = {
        {"0.000000001s", 1},
        {"0.00000000150000000000000000000000000000000000s", 2},
        {"0.00000000149999999999999999999s", 1},
        {"18446744073.709551614s", SS_TIME_NEVER - 1},
        {"9007199254740993n", UINT64_C(9007199254740993)},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_time(cases[i].text, cases[i].value);
}

static void assert_doubt(const char *text, const char *expected) {
    struct ss_units_warning doubt = {"unset"};
    ss_time value, same;
    assert_int_equal(ss_units_time_sensible(text, 500 * SS_MILLISECOND, &value, &doubt, NULL), 0);
    assert_int_equal(ss_units_time(text, &same, NULL), 0);
    assert_that(value, ==, same);
    assert_string_equal(doubt.text, expected);
}

TEST(milliseconds_that_look_like_minutes_cause_a_warning) {
    assert_doubt("3m", "3m is 3 milliseconds; use 3min for minutes");
    assert_doubt("1m", "1m is 1 millisecond; use 1min for minutes");
    assert_doubt("1.5m", "1.5m is 1.5 milliseconds; use 1.5min for minutes");
    assert_doubt("499m", "499m is 499 milliseconds; use 499min for minutes");
    static const char *const sound[] = {"500m", "0", "0m", "3ms", "3msec", "3u", "0.003s", "3M"};
    for (size_t i = 0; i < COUNT(sound); i++)
        assert_doubt(sound[i], "");
}

TEST(long_times_without_a_unit_are_seconds) {
    struct ss_units_warning doubt;
    struct ss_error error = {0};
    ss_time time;
    assert_int_equal(ss_units_time_sensible("20", SS_SECOND, &time, &doubt, NULL), 0);
    assert_that(time, ==, 20 * SS_SECOND);
    assert_fails(ss_units_time_sensible("soon", SS_SECOND, &time, &doubt, &error), error,
        "such as 20s or 20min");
}

static int read_part(const char *text, double *value, struct ss_error *error) {
    return ss_units_load(text, 0, value, error);
}

static int read_of_two(const char *text, double *value, struct ss_error *error) {
    return ss_units_load(text, 2, value, error);
}

static int read_of_half(const char *text, double *value, struct ss_error *error) {
    return ss_units_load(text, 0.5, value, error);
}

/* Only options take 60 for 60 %. */
TEST(bare_percentages_are_refused_outside_options) {
    assert_refused(read_part, "60", "between 0 and 1; use 60% for percent");
    assert_refused(read_part, "101", "between 0 and 1 (60%, 0.6 or 6/10)");
    assert_double(read_part, "100%", 1);
    assert_double(read_part, "1", 1);
    assert_double(read_part, "33.3%", 0.333);
}

TEST(loads_may_be_given_in_cpus) {
    assert_double(read_of_two, "0.5cpu", 0.25);
    assert_double(read_of_two, "1.5cpus", 0.75);
    assert_double(read_of_two, "1cpu", 0.5);
    assert_double(read_of_two, "2cpu", 1);
    assert_double(read_of_two, "0cpu", 0);
    assert_double(read_of_two, "1/3cpu", 1.0 / 3 / 2);
    assert_double(read_of_two, "60%", 0.6);
    assert_double(read_of_half, "0.1cpu", 0.1 / 0.5);
    assert_refused(read_of_two, "2.1cpu",
        "'2.1cpu' is too large: a load of 100 % is 2 CPUs here: use at most 2cpu");
    assert_refused(read_of_half, "1cpu", "a load of 100 % is 0.5 CPUs here");
    assert_refused(read_part, "0.5cpu",
        "'0.5cpu' is a number of CPUs, which cannot be converted to a load here: "
        "use 60%, 0.6 or 6/10");
    static const char *const texts[] = {"cpu", "1 cpu", "1CPU", "1cpu%", "50%cpu", "1cpuss"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_refused(read_of_two, texts[i], "is not a load");
}

TEST(value_errors_stay_on_one_line) {
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_refused(ss_units_number, "5\n\rx", "white space");
    assert_refused(ss_units_number, text, "xxx...' is not a number");
}

/* Options print whole units; people read exact decimals, and a blank before the unit. */
TEST(printed_times_are_read_back) {
    static const struct {
        ss_time value;
        const char *printed, *shown;
    } cases[] = {
        {0, "0", "0 s"},
        {1, "1n", "1 ns"},
        {1500, "1500n", "1.5 us"},
        {1500000, "1500u", "1.5 ms"},
        {1000001, "1000001n", "1.000001 ms"},
        {107 * SS_MILLISECOND, "107m", "107 ms"},
        {SS_SECOND, "1s", "1 s"},
        {4999941 * SS_MICROSECOND, "4999941u", "4.999941 s"},
        {60 * SS_SECOND, "1M", "1 min"},
        {80 * SS_SECOND, "80s", "80 s"},
        {90 * SS_SECOND + 10 * SS_MILLISECOND, "90010m", "90.01 s"},
        {114 * 60 * SS_SECOND, "114M", "114 min"},
        {7200 * SS_SECOND, "2h", "2 h"},
        {86400 * SS_SECOND, "1d", "1 d"},
        {SS_TIME_NEVER - 1, "18446744073709551614n", "18446744073.709551614 s"},
    };
    char text[SS_UNITS_TEXT_SIZE];
    for (size_t i = 0; i < COUNT(cases); i++) {
        ss_units_print_time(text, sizeof text, cases[i].value);
        assert_string_equal(text, cases[i].printed);
        assert_time(text, cases[i].value);
        ss_units_show_time(text, cases[i].value);
        assert_string_equal(text, cases[i].shown);
        char *blank = strchr(text, ' ');
        memmove(blank, blank + 1, strlen(blank));
        assert_time(text, cases[i].value);
    }
    ss_units_print_time(text, sizeof text, SS_TIME_NEVER);
    assert_string_equal(text, "never");
    ss_units_show_time(text, SS_TIME_NEVER);
    assert_string_equal(text, "never");
}

TEST(locale_does_not_affect_numbers) {
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "cs_CZ.UTF-8"};
    for (size_t i = 0; i < COUNT(locales); i++) {
        if (setlocale(LC_ALL, locales[i]))
            break;
    }
    assert_time("0.107s", 107 * SS_MILLISECOND);
    assert_double(read_part, "0.6", 0.6);
    setlocale(LC_ALL, "C");
}

static int read_seconds(const char *text, double *value, struct ss_error *error) {
    ss_time time = 0;
    int status = ss_units_time(text, &time, error);
    *value = ss_time_seconds(time);
    return status;
}

static int read_count(const char *text, double *value, struct ss_error *error) {
    uint64_t count = 0;
    int status = ss_units_count(text, &count, error);
    *value = (double)count;
    return status;
}

static int read_load_option(const char *text, double *value, struct ss_error *error) {
    return ss_units_load_option(text, 0, value, error);
}

static read_double find_reader(const char *kind) {
    static const struct {
        const char *kind;
        read_double read;
    } readers[] = {{"time", read_seconds}, {"load", read_load_option}, {"count", read_count},
        {"number", ss_units_number}, {"percent", ss_units_percent}};
    for (size_t i = 0; i < COUNT(readers); i++) {
        if (strcmp(readers[i].kind, kind) == 0)
            return readers[i].read;
    }
    fail_msg("unknown kind '%s'", kind);
    return NULL;
}

/* The file is also read by a test of the Python package. */
TEST(values_agree_with_the_python_package) {
    char line[400];
    size_t lines = 0;
    FILE *stream = fopen(TEST_SOURCE_DIR "/data/units.tsv", "re");
    assert_non_null(stream);
    for (; fgets(line, sizeof line, stream); lines++) {
        struct ss_error error = {0};
        double value;
        char *rest = line, *kind = strsep(&rest, "\t"), *text = strsep(&rest, "\t");
        if (*line == '#')
            continue;
        rest[strcspn(rest, "\n")] = '\0';
        if (find_reader(kind)(text, &value, &error) < 0)
            assert_string_equal(error.message, rest + strlen("error: "));
        else if (value != strtod(rest, NULL))
            fail_msg("%s '%s' is %.17g, not %s", kind, text, value, rest);
    }
    fclose(stream);
    assert_that(lines, >, 50);
}

UNIT_RUN
