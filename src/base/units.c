/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/wide.h"
#include "base/words.h"

/*
 * Limits that keep all arithmetic below within 128 bits. A whole number of nanoseconds never needs
 * more digits: the longest such number in days has 22. A larger whole part is refused; further
 * decimals are ignored.
 */
#define MANTISSA_LIMIT ss_wide_times(ss_wide(10000000000000), 10000000000) /* 10^23 */
#define DECIMALS_LIMIT 30

/* An exact number, at least 0. */
struct quotient {
    struct ss_wide numerator;   /* below 10^24 */
    struct ss_wide denominator; /* 1 to 10^30 */
};

enum reading {
    READ_OK,
    READ_NOTHING, /* the text is not a number */
    READ_DIVIDES_BY_ZERO,
    READ_TOO_LARGE,
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static struct ss_wide append_digit(struct ss_wide value, char digit) {
    return ss_wide_add(ss_wide_times(value, 10), ss_wide((uint64_t)(digit - '0')));
}

static bool is_zero(struct ss_wide value) {
    return !value.high && !value.low;
}

static bool is_long(struct ss_wide value) {
    return ss_wide_compare(value, MANTISSA_LIMIT) >= 0;
}

static enum reading read_whole(const char **at, struct ss_wide *value) {
    *value = ss_wide(0);
    for (; is_digit(**at); ++*at) {
        if (is_long(*value))
            return READ_TOO_LARGE;
        *value = append_digit(*value, **at);
    }
    return READ_OK;
}

/*
 * Reads the digits after the decimal point, at `at`. Skips decimals that are too small to matter.
 */
static void read_decimals(const char **at, struct quotient *number) {
    for (int decimals = 0; is_digit(**at); ++*at) {
        if (decimals == DECIMALS_LIMIT || is_long(number->numerator))
            continue;
        number->numerator = append_digit(number->numerator, **at);
        number->denominator = ss_wide_times(number->denominator, 10);
        decimals++;
    }
}

static enum reading read_number(const char **at, struct quotient *number) {
    const char *begin = *at;
    number->denominator = ss_wide(1);
    enum reading reading = read_whole(at, &number->numerator);
    if (reading != READ_OK)
        return reading;

    if (**at == '.' && (*at != begin || is_digit((*at)[1]))) {
        ++*at;
        read_decimals(at, number);
        return READ_OK;
    }

    if (*at == begin)
        return READ_NOTHING;
    if (**at != '/' || !is_digit((*at)[1]))
        return READ_OK;

    ++*at;
    reading = read_whole(at, &number->denominator);
    if (reading == READ_OK && is_zero(number->denominator))
        return READ_DIVIDES_BY_ZERO;
    return reading;
}

static bool is_exact_double(struct ss_wide value) {
    return !value.high && value.low <= UINT64_C(1) << 53;
}

/*
 * Returns the nearest double, by long division to more bits than a double has, plus one bit for the
 * remainder.
 */
static double divide(const struct quotient *number) {
    if (is_exact_double(number->numerator) && is_exact_double(number->denominator))
        return (double)number->numerator.low / (double)number->denominator.low;

    struct ss_wide rest, denominator = number->denominator;
    struct ss_wide quotient = ss_wide_divide(number->numerator, denominator, &rest);
    int exponent = 0;
    while (!is_zero(rest) && ss_wide_compare(quotient, ss_wide(UINT64_C(1) << 56)) < 0) {
        rest = ss_wide_times(rest, 2);
        bool fits = ss_wide_compare(rest, denominator) >= 0;
        if (fits)
            rest = ss_wide_subtract(rest, denominator);
        quotient = ss_wide_add(ss_wide_times(quotient, 2), ss_wide(fits));
        exponent--;
    }

    quotient.low |= !is_zero(rest);
    return ldexp(ss_wide_double(quotient), exponent);
}

struct unit {
    const char *name;
    ss_time length;
};

/*
 * Units from the longest to the shortest: first the names that are printed, then other accepted
 * names.
 */
static const struct unit units[] = {
    {"d", 86400 * SS_SECOND},
    {"h", 3600 * SS_SECOND},
    {"M", 60 * SS_SECOND},
    {"s", SS_SECOND},
    {"m", SS_MILLISECOND},
    {"u", SS_MICROSECOND},
    {"n", 1},
    {"min", 60 * SS_SECOND},
    {"ms", SS_MILLISECOND},
    {"us", SS_MICROSECOND},
    {"ns", 1},
    {"day", 86400 * SS_SECOND},
    {"days", 86400 * SS_SECOND},
    {"hr", 3600 * SS_SECOND},
    {"hour", 3600 * SS_SECOND},
    {"hours", 3600 * SS_SECOND},
    {"mins", 60 * SS_SECOND},
    {"minute", 60 * SS_SECOND},
    {"minutes", 60 * SS_SECOND},
    {"sec", SS_SECOND},
    {"secs", SS_SECOND},
    {"second", SS_SECOND},
    {"seconds", SS_SECOND},
    {"msec", SS_MILLISECOND},
    {"millisecond", SS_MILLISECOND},
    {"milliseconds", SS_MILLISECOND},
    {"usec", SS_MICROSECOND},
    {"nsec", 1},
};

#define UNITS         (sizeof units / sizeof *units)
#define UNITS_PRINTED 7
#define UNITS_LISTED  "ns, us, ms, s, min, h and d"

static const struct unit *find_unit(const char *name) {
    for (size_t i = 0; i < UNITS; i++) {
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    }
    return NULL;
}

ss_time ss_units_length(const char *name) {
    const struct unit *unit = find_unit(name);
    return unit ? unit->length : 0;
}

/* Returns why `text` is not a quantity of any kind, or NULL. */
static const char *common_fault(const char *text, enum reading reading) {
    if (text[0] && text[strcspn(text, " \t\r\n\v\f")])
        return "contains white space: remove it";
    if (text[0] == '-')
        return "is negative: use 0 or more";
    if (reading == READ_DIVIDES_BY_ZERO)
        return "divides by zero: use a fraction such as 1/3";
    if (reading == READ_TOO_LARGE)
        return "is too large";
    return NULL;
}

/* Reports an invalid time. Suggests milliseconds only if `milliseconds`. */
static int time_error(const char *text, enum reading reading, const char *rest, bool milliseconds,
    struct ss_error *error) {
    struct ss_words_shown shown = ss_words_show(text);
    char proposed[sizeof shown.text + 24] = "";
    const char *fault = common_fault(text, reading);
    if (fault)
        return ss_error_fail(error, "'%s' %s", shown.text, fault);

    if (milliseconds)
        snprintf(proposed, sizeof proposed, ", %sms", reading == READ_NOTHING ? "20" : shown.text);

    if (reading == READ_NOTHING)
        return ss_error_fail(error,
            "'%s' is not a time: use a number and a unit, such as 20s%s or 20min", shown.text,
            proposed);
    if (!*rest)
        return ss_error_fail(error, "'%s' has no unit: use %ss%s or %smin", shown.text, shown.text,
            proposed, shown.text);
    return ss_error_fail(error, "'%s' has an unknown unit, '%s': units are %s", shown.text,
        ss_words_show(rest).text, UNITS_LISTED);
}

/*
 * Reads a time into `*value`, and points `*name` to its unit. A number without a unit is refused if
 * `milliseconds`, and in seconds otherwise.
 */
static int read_time(const char *text, bool milliseconds, ss_time *value, const char **name,
    struct ss_error *error) {
    struct quotient number;
    const char *at = text;
    enum reading reading = read_number(&at, &number);
    const struct unit *unit = reading == READ_OK ? find_unit(*at || milliseconds ? at : "s") : NULL;
    *name = at;
    if (reading == READ_OK && !*at && is_zero(number.numerator)) {
        *value = 0;
        return 0;
    }
    if (!unit)
        return time_error(text, reading, at, milliseconds, error);

    struct ss_wide half = ss_wide_divide(number.denominator, ss_wide(2), NULL);
    struct ss_wide product = ss_wide_times(number.numerator, unit->length);
    struct ss_wide nanoseconds =
        ss_wide_divide(ss_wide_add(product, half), number.denominator, NULL);
    if (ss_wide_compare(nanoseconds, ss_wide(SS_TIME_NEVER)) >= 0)
        return ss_error_fail(error, "the time '%s' is too long: use at most 213503d (584 years)",
            ss_words_show(text).text);

    *value = nanoseconds.low;
    return 0;
}

int ss_units_time(const char *text, ss_time *value, struct ss_error *error) {
    const char *unit;
    return read_time(text, true, value, &unit, error);
}

/* Options whose shortest sensible time is below this are often given in milliseconds. */
#define SHORTEST_IN_SECONDS (100 * SS_MILLISECOND)

int ss_units_time_sensible(const char *text, ss_time sensible, ss_time *value,
    struct ss_units_doubt *doubt, struct ss_error *error) {
    const char *unit;
    doubt->text[0] = '\0';
    if (read_time(text, sensible < SHORTEST_IN_SECONDS, value, &unit, error) < 0)
        return -1;
    if (*value == 0 || *value >= sensible || strcmp(unit, "m") != 0)
        return 0;

    int digits = (int)(unit - text);
    bool one = digits == 1 && *text == '1';
    snprintf(doubt->text, sizeof doubt->text,
        "%.*sm is %.*s millisecond%s; use %.*smin for minutes", digits, text, digits, text,
        one ? "" : "s", digits, text);
    return 0;
}

/* Divides a number of CPUs by `cpus`, which make a load of 1; 0 if unknown. */
static int divide_cpus(const char *text, const struct quotient *number, double cpus, double *value,
    struct ss_error *error) {
    struct ss_words_shown shown = ss_words_show(text);
    if (!(cpus > 0))
        return ss_error_fail(error,
            "'%s' is a number of CPUs, which cannot be converted to a load here: use 60%%, 0.6 or "
            "6/10",
            shown.text);

    double load = divide(number) / cpus;
    if (load > 1)
        return ss_error_fail(error,
            "'%s' is too large: a load of 100 %% is %g CPU%s here: use at most %gcpu", shown.text,
            cpus, cpus == 1 ? "" : "s", cpus);

    *value = load;
    return 0;
}

int ss_units_load(const char *text, double cpus, double *value, struct ss_error *error) {
    struct quotient number;
    const char *at = text;
    enum reading reading = read_number(&at, &number);
    if (reading == READ_OK && (strcmp(at, "cpu") == 0 || strcmp(at, "cpus") == 0))
        return divide_cpus(text, &number, cpus, value, error);
    if (reading == READ_OK && *at == '%') {
        at++;
        number.denominator = ss_wide_times(number.denominator, 100);
    }
    if (reading == READ_OK && !*at && ss_wide_compare(number.numerator, number.denominator) <= 0) {
        *value = divide(&number);
        return 0;
    }

    struct ss_words_shown shown = ss_words_show(text);
    bool percent = *at == '\0' && at > text && at[-1] == '%';

    if (reading == READ_OK && percent)
        return ss_error_fail(
            error, "'%s' is not a load: it must be between 0 and 100%%", shown.text);
    if (reading == READ_OK && !*at &&
        ss_wide_compare(number.numerator, ss_wide_times(number.denominator, 2)) >= 0 &&
        ss_wide_compare(number.numerator, ss_wide_times(number.denominator, 100)) <= 0)
        return ss_error_fail(error,
            "'%s' is not a load: it must be between 0 and 1; use %s%% for percent", shown.text,
            shown.text);
    return ss_error_fail(
        error, "'%s' is not a load: it must be between 0 and 1 (60%%, 0.6 or 6/10)", shown.text);
}

int ss_units_load_option(const char *text, double cpus, double *value, struct ss_error *error) {
    struct quotient number;
    const char *at = text;
    if (read_number(&at, &number) != READ_OK || *at ||
        ss_wide_compare(number.numerator, ss_wide_times(number.denominator, 2)) < 0 ||
        ss_wide_compare(number.numerator, ss_wide_times(number.denominator, 100)) > 0)
        return ss_units_load(text, cpus, value, error);
    number.denominator = ss_wide_times(number.denominator, 100);
    *value = divide(&number);
    return 0;
}

int ss_units_loads(const char *text, char separator, double cpus, double *values, size_t count,
    struct ss_error *error) {
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        char load[64];
        struct ss_words_part part;
        if (!ss_words_next(&at, separator, &part) || (i + 1 == count) != !at ||
            part.length >= sizeof load)
            return ss_error_fail(error, "expected %zu loads separated by '%c'", count, separator);

        *(char *)mempcpy(load, part.text, part.length) = '\0';
        if (ss_units_load(load, cpus, &values[i], error) < 0)
            return -1;
    }
    return 0;
}

int ss_units_count(const char *text, uint64_t *value, struct ss_error *error) {
    struct ss_wide number;
    const char *at = text;
    enum reading reading = read_whole(&at, &number);
    if (*text && !*at && reading == READ_OK && !number.high) {
        *value = number.low;
        return 0;
    }
    struct ss_words_shown shown = ss_words_show(text);
    if (text[strspn(text, "0123456789")] || !*text)
        return ss_error_fail(error, "'%s' is not a whole number: use digits only", shown.text);
    return ss_error_fail(error, "'%s' is too large: use at most 18446744073709551615", shown.text);
}

int ss_units_number(const char *text, double *value, struct ss_error *error) {
    struct quotient number;
    const char *at = text;
    enum reading reading = read_number(&at, &number);
    if (reading == READ_OK && !*at) {
        *value = divide(&number);
        return 0;
    }
    const char *fault = common_fault(text, reading);
    if (!fault)
        fault = "is not a number: use a decimal or a fraction, such as 1.5 or 1/3";
    return ss_error_fail(error, "'%s' %s", ss_words_show(text).text, fault);
}

int ss_units_percent(const char *text, double *value, struct ss_error *error) {
    struct quotient number;
    const char *at = text;
    if (read_number(&at, &number) != READ_OK || strcmp(at, "%") != 0)
        return ss_units_number(text, value, error);
    *value = divide(&number);
    return 0;
}

/* Returns the index of the largest unit that divides `value` (not 0) without remainder. */
static size_t whole_unit(ss_time value) {
    size_t i = 0;
    while (i < UNITS_PRINTED - 1 && value % units[i].length != 0)
        i++;
    return i;
}

void ss_units_print_time(char *buffer, size_t size, ss_time value) {
    if (value == 0 || value == SS_TIME_NEVER) {
        snprintf(buffer, size, "%s", value == 0 ? "0" : "never");
        return;
    }
    const struct unit *unit = &units[whole_unit(value)];
    snprintf(buffer, size, "%llu%s", (unsigned long long)(value / unit->length), unit->name);
}

/* Names for people, in the order of the printed units. */
static const char *const shown[UNITS_PRINTED] = {"d", "h", "min", "s", "ms", "us", "ns"};

/*
 * Index of "s" in `shown`. Longer times that are not a whole number of a larger unit are shown in
 * seconds with decimals.
 */
#define SECONDS 3

void ss_units_show_time(char text[SS_UNITS_SHOWN], ss_time value) {
    if (value == 0 || value == SS_TIME_NEVER) {
        snprintf(text, SS_UNITS_SHOWN, "%s", value == 0 ? "0 s" : "never");
        return;
    }

    size_t i = whole_unit(value);
    if (i > SECONDS)
        i = SECONDS;
    while (value < units[i].length)
        i++;

    int length =
        snprintf(text, SS_UNITS_SHOWN, "%llu", (unsigned long long)(value / units[i].length));
    ss_time rest = value % units[i].length;
    if (rest > 0)
        length += snprintf(text + length, SS_UNITS_SHOWN - (size_t)length, ".");
    for (ss_time part = units[i].length / 10; rest > 0; rest %= part, part /= 10)
        length += snprintf(text + length, SS_UNITS_SHOWN - (size_t)length, "%llu",
            (unsigned long long)(rest / part));

    snprintf(text + length, SS_UNITS_SHOWN - (size_t)length, " %s", shown[i]);
}
