/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define DIGITS "0123456789"

/* More digits of a whole number are refused, and further decimals are ignored. */
#define WHOLE_DIGITS_MAX 24
#define DECIMALS_MAX     30

/* A span of digits in a text. */
struct digits {
    const char *text;
    int count;
};

/* A decimal or a fraction, at least 0, as it is written. */
struct number {
    struct digits whole, decimals;
    struct digits denominator; /* of a fraction; no digits in a decimal */
};

enum reading {
    READ_OK,
    READ_NOTHING, /* the text is not a number */
    READ_DIVIDES_BY_ZERO,
    READ_TOO_LARGE,
};

/* Returns the digits at `text` without leading zeros. Moves `*at` past them. */
static struct digits read_digits(const char *text, const char **at) {
    *at = text + strspn(text, DIGITS);
    text += strspn(text, "0");
    return (struct digits){text, *at > text ? (int)(*at - text) : 0};
}

static enum reading read_number(const char **at, struct number *number) {
    const char *begin = *at;

    *number = (struct number){.whole = read_digits(begin, at)};
    if (number->whole.count > WHOLE_DIGITS_MAX)
        return READ_TOO_LARGE;
    if (**at == '.' && (*at > begin || strspn(*at + 1, DIGITS) > 0)) {
        number->decimals.text = *at + 1;
        number->decimals.count = (int)strspn(*at + 1, DIGITS);
        *at += 1 + number->decimals.count;
        return READ_OK;
    }
    if (*at == begin)
        return READ_NOTHING;
    if (**at != '/' || strspn(*at + 1, DIGITS) == 0)
        return READ_OK;

    number->denominator = read_digits(*at + 1, at);
    if (number->denominator.count > WHOLE_DIGITS_MAX)
        return READ_TOO_LARGE;
    return number->denominator.count > 0 ? READ_OK : READ_DIVIDES_BY_ZERO;
}

/*
 * Returns the number divided by 10^shift. strtod() gets an exponent instead of a decimal point: it
 * then rounds to the nearest double, and the locale does not matter.
 */
static double value_of(const struct number *number, int shift) {
    char text[WHOLE_DIGITS_MAX + DECIMALS_MAX + 16];
    int decimals = number->decimals.count < DECIMALS_MAX ? number->decimals.count : DECIMALS_MAX;
    bool divides = number->denominator.count > 0;

    snprintf(text, sizeof text, "0%.*s%.*se%d", number->whole.count, number->whole.text, decimals,
        decimals > 0 ? number->decimals.text : "", divides ? 0 : -decimals - shift);
    double numerator = strtod(text, NULL);
    if (!divides)
        return numerator;

    snprintf(
        text, sizeof text, "%.*se%d", number->denominator.count, number->denominator.text, shift);
    return numerator / strtod(text, NULL);
}

struct unit {
    const char *name;
    ss_time length;
};

/* First the units that are printed, from the longest to the shortest, then other accepted names. */
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

/* Bits after the binary point in multiply_decimals(). Ten days in nanoseconds fit into the rest. */
#define FRACTION_BITS 13

/* Returns `length`, at most a day, times the decimals, to the nearest nanosecond. */
static ss_time multiply_decimals(const struct digits *decimals, ss_time length) {
    uint64_t product = 0;
    for (int i = decimals->count; i-- > 0;)
        product = ((uint64_t)(decimals->text[i] - '0') * (length << FRACTION_BITS) + product) / 10;
    return (product + (1 << FRACTION_BITS) / 2) >> FRACTION_BITS;
}

static uint64_t whole_of(const struct digits *digits) {
    return digits->count > 0 ? strtoull(digits->text, NULL, 10) : 0;
}

/* Returns `length` times the number, to the nearest nanosecond; SS_TIME_NEVER if it is too long. */
static ss_time multiply(const struct number *number, ss_time length) {
    errno = 0;
    uint64_t numerator = whole_of(&number->whole);
    uint64_t denominator = number->denominator.count > 0 ? whole_of(&number->denominator) : 1;
    if (errno)
        return ss_time_from_double(value_of(number, 0) * (double)length + 0.5);
    if (numerator / denominator > SS_TIME_NEVER / length)
        return SS_TIME_NEVER;

    /* Doubles are exact enough for a part of one unit, but not for 584 years. */
    ss_time part = multiply_decimals(&number->decimals, length);
    if (denominator > 1)
        part = ss_time_from_double(
            (double)(numerator % denominator) / (double)denominator * (double)length + 0.5);
    return ss_time_add(numerator / denominator * length, part);
}

/*
 * Reads a time into `*value`, and points `*name` to its unit. A number without a unit is refused if
 * `milliseconds`, and in seconds otherwise.
 */
static int read_time(const char *text, bool milliseconds, ss_time *value, const char **name,
    struct ss_error *error) {
    struct number number;
    const char *at = text;
    enum reading reading = read_number(&at, &number);
    const struct unit *unit = reading == READ_OK ? find_unit(*at || milliseconds ? at : "s") : NULL;

    *name = at;
    if (reading == READ_OK && !*at && value_of(&number, 0) == 0) {
        *value = 0;
        return 0;
    }
    if (!unit)
        return time_error(text, reading, at, milliseconds, error);

    ss_time time = multiply(&number, unit->length);
    if (time == SS_TIME_NEVER)
        return ss_error_fail(error, "the time '%s' is too long: use at most 213503d (584 years)",
            ss_words_show(text).text);
    *value = time;
    return 0;
}

int ss_units_time(const char *text, ss_time *value, struct ss_error *error) {
    const char *unit;
    return read_time(text, true, value, &unit, error);
}

/* Options whose shortest sensible time is below this are often given in milliseconds. */
#define SHORTEST_IN_SECONDS (100 * SS_MILLISECOND)

int ss_units_time_sensible(const char *text, ss_time sensible, ss_time *value,
    struct ss_units_warning *warning, struct ss_error *error) {
    const char *unit;
    warning->text[0] = '\0';
    if (read_time(text, sensible < SHORTEST_IN_SECONDS, value, &unit, error) < 0)
        return -1;
    if (*value == 0 || *value >= sensible || strcmp(unit, "m") != 0)
        return 0;

    int digits = (int)(unit - text);
    bool one = digits == 1 && *text == '1';
    snprintf(warning->text, sizeof warning->text,
        "%.*sm is %.*s millisecond%s; use %.*smin for minutes", digits, text, digits, text,
        one ? "" : "s", digits, text);
    return 0;
}

/* Converts a number of CPUs to a load. `cpus` is what makes a load of 1, or 0 if unknown. */
static int divide_cpus(
    const char *text, double number, double cpus, double *value, struct ss_error *error) {
    struct ss_words_shown shown = ss_words_show(text);
    if (!(cpus > 0))
        return ss_error_fail(error,
            "'%s' is a number of CPUs, which cannot be converted to a load here: use 60%%, 0.6 or "
            "6/10",
            shown.text);

    double load = number / cpus;
    if (load > 1)
        return ss_error_fail(error,
            "'%s' is too large: a load of 100 %% is %g CPU%s here: use at most %gcpu", shown.text,
            cpus, cpus == 1 ? "" : "s", cpus);

    *value = load;
    return 0;
}

/* Reads a load. If it `may_be_bare`, a number from 2 to 100 without a unit is in percent. */
static int read_load(
    const char *text, double cpus, bool may_be_bare, double *value, struct ss_error *error) {
    struct number number;
    const char *at = text;
    bool is_number = read_number(&at, &number) == READ_OK;
    if (is_number && (strcmp(at, "cpu") == 0 || strcmp(at, "cpus") == 0))
        return divide_cpus(text, value_of(&number, 0), cpus, value, error);

    bool percent = strcmp(at, "%") == 0;
    double load = is_number && (percent || !*at) ? value_of(&number, percent ? 2 : 0) : NAN;
    bool is_bare = !percent && load >= 2 && load <= 100;
    if (is_bare && may_be_bare)
        load = value_of(&number, 2);
    if (load <= 1) {
        *value = load;
        return 0;
    }

    struct ss_words_shown shown = ss_words_show(text);
    if (percent && is_number)
        return ss_error_fail(
            error, "'%s' is not a load: it must be between 0 and 100%%", shown.text);
    if (is_bare)
        return ss_error_fail(error,
            "'%s' is not a load: it must be between 0 and 1; use %s%% for percent", shown.text,
            shown.text);
    return ss_error_fail(
        error, "'%s' is not a load: it must be between 0 and 1 (60%%, 0.6 or 6/10)", shown.text);
}

int ss_units_load(const char *text, double cpus, double *value, struct ss_error *error) {
    return read_load(text, cpus, false, value, error);
}

int ss_units_load_option(const char *text, double cpus, double *value, struct ss_error *error) {
    return read_load(text, cpus, true, value, error);
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
    struct ss_words_shown shown = ss_words_show(text);
    if (text[strspn(text, DIGITS)] || !*text)
        return ss_error_fail(error, "'%s' is not a whole number: use digits only", shown.text);

    errno = 0;
    unsigned long long number = strtoull(text, NULL, 10);
    if (errno)
        return ss_error_fail(
            error, "'%s' is too large: use at most 18446744073709551615", shown.text);

    *value = number;
    return 0;
}

int ss_units_number(const char *text, double *value, struct ss_error *error) {
    struct number number;
    const char *at = text;
    enum reading reading = read_number(&at, &number);
    if (reading == READ_OK && !*at) {
        *value = value_of(&number, 0);
        return 0;
    }

    const char *fault = common_fault(text, reading);
    if (!fault)
        fault = "is not a number: use a decimal or a fraction, such as 1.5 or 1/3";
    return ss_error_fail(error, "'%s' %s", ss_words_show(text).text, fault);
}

int ss_units_percent(const char *text, double *value, struct ss_error *error) {
    struct number number;
    const char *at = text;
    if (read_number(&at, &number) != READ_OK || strcmp(at, "%") != 0)
        return ss_units_number(text, value, error);
    *value = value_of(&number, 0);
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
 * Index of "s" in `shown`. Times above 1 s that are not a whole number of seconds are shown in
 * seconds with decimals.
 */
#define SECONDS 3

void ss_units_show_time(char text[SS_UNITS_TEXT_SIZE], ss_time value) {
    if (value == 0 || value == SS_TIME_NEVER) {
        snprintf(text, SS_UNITS_TEXT_SIZE, "%s", value == 0 ? "0 s" : "never");
        return;
    }

    size_t i = whole_unit(value);
    if (i > SECONDS)
        i = SECONDS;
    while (value < units[i].length)
        i++;

    int length =
        snprintf(text, SS_UNITS_TEXT_SIZE, "%llu", (unsigned long long)(value / units[i].length));
    ss_time rest = value % units[i].length;
    if (rest > 0)
        length += snprintf(text + length, SS_UNITS_TEXT_SIZE - (size_t)length, ".");
    for (ss_time part = units[i].length / 10; rest > 0; rest %= part, part /= 10)
        length += snprintf(text + length, SS_UNITS_TEXT_SIZE - (size_t)length, "%llu",
            (unsigned long long)(rest / part));

    snprintf(text + length, SS_UNITS_TEXT_SIZE - (size_t)length, " %s", shown[i]);
}
