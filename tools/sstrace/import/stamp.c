/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "base/wide.h"
#include "fields.h"

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

/* Above 2^123, a larger divisor would change nothing: any number rounds to 0 ns. */
#define DIVISOR_HIGH (UINT64_C(1) << 59)

/* The part of the text that has not been read. */
struct rest {
    const char *at, *end;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool take(struct rest *rest, const char *any) {
    if (rest->at == rest->end || !*rest->at || !strchr(any, *rest->at))
        return false;
    rest->at++;
    return true;
}

static bool take_digits(struct rest *rest, int min, int max, int *value) {
    int count = 0;
    for (*value = 0; count < max && rest->at < rest->end && is_digit(*rest->at); count++)
        *value = *value * 10 + (*rest->at++ - '0');
    return count >= min && !(rest->at < rest->end && is_digit(*rest->at));
}

int64_t sstrace_stamp_unit(const char *name) {
    bool symbol = strlen(name) > 1 || strcmp(name, "s") == 0 || strcmp(name, "h") == 0;
    return symbol ? (int64_t)ss_units_length(name) : 0;
}

bool sstrace_stamp_number(const char *text, size_t length, int64_t unit, int64_t *ns) {
    struct text_decimal decimal;
    if (!text_decimal_parse(text, length, ".,", &decimal))
        return false;
    for (; decimal.power < 0 && unit % 10 == 0; unit /= 10)
        decimal.power++;

    struct ss_wide value = ss_wide_times(ss_wide(decimal.digits), (uint64_t)unit);
    struct ss_wide under = ss_wide(1);
    for (; decimal.power > 0 && !value.high; decimal.power--)
        value = ss_wide_times(value, 10);
    for (; decimal.power < 0 && under.high < DIVISOR_HIGH; decimal.power++)
        under = ss_wide_times(under, 10);
    if (under.low > 1 || under.high)
        value = ss_wide_divide(
            ss_wide_add(value, ss_wide_divide(under, ss_wide(2), NULL)), under, NULL);

    if (value.high || value.low > INT64_MAX)
        return false;
    *ns = decimal.negative ? -(int64_t)value.low : (int64_t)value.low;
    return true;
}

/* Counts years from March, so that a leap day is the last day of a year. */
static int64_t days_since_1970(int year, int month, int day) {
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/*
 * Counts the days from 1970-01-01 to a day of the Gregorian calendar. Returns false if the day
 * does not exist. Eight times as fast as timegm(), which would make importing a table of dates a
 * tenth slower.
 */
static bool find_day(int year, int month, int day, int64_t *number) {
    if (month < 1 || month > 12 || day < 1)
        return false;
    *number = days_since_1970(year, month, day);
    return day <= 28 || *number < days_since_1970(year + month / 12, month % 12 + 1, 1);
}

static bool take_date(struct rest *rest, int64_t *ns) {
    int year, month, day;
    int64_t number;
    if (!take_digits(rest, 4, 4, &year) || !take(rest, "-/"))
        return false;
    const char mark[2] = {rest->at[-1], '\0'};
    if (!take_digits(rest, 1, 2, &month) || !take(rest, mark) || !take_digits(rest, 1, 2, &day) ||
        year < 1678 || year > 2261 || !find_day(year, month, day, &number))
        return false;
    *ns = number * DAY;
    return true;
}

/*
 * Parses HH:MM, HH:MM:SS or HH:MM:SS.fff. A leap second becomes the first second of the next
 * minute.
 */
static bool take_day_time(struct rest *rest, bool needs_seconds, int64_t *ns) {
    int hours, minutes, seconds = 0;
    if (!take_digits(rest, 1, 2, &hours) || !take(rest, ":") ||
        !take_digits(rest, 2, 2, &minutes) || hours > 23 || minutes > 59)
        return false;

    bool has_seconds = take(rest, ":");
    if (has_seconds ? !take_digits(rest, 2, 2, &seconds) || seconds > 60 : needs_seconds)
        return false;

    *ns = hours * HOUR + (minutes * 60 + seconds) * SECOND;
    const char *mark = rest->at;
    if (!has_seconds || !take(rest, ".,"))
        return true;

    while (rest->at < rest->end && is_digit(*rest->at))
        rest->at++;
    int64_t part;
    if (!sstrace_stamp_number(mark, (size_t)(rest->at - mark), SECOND, &part))
        return false;

    *ns += part;
    return true;
}

/* Parses +hh:mm, +hhmm or +hh, the offset from UTC. */
static bool take_offset(struct rest *rest, int64_t *ns) {
    int hours, minutes = 0;
    bool west = rest->at[-1] == '-';

    if (rest->end - rest->at == 4 && rest->at[2] != ':') {
        if (!take_digits(rest, 4, 4, &minutes))
            return false;
        hours = minutes / 100;
        minutes %= 100;
    } else if (!take_digits(rest, 2, 2, &hours) ||
               (take(rest, ":") && !take_digits(rest, 2, 2, &minutes))) {
        return false;
    }

    if (hours > 15 || minutes > 59)
        return false;
    *ns = (hours * HOUR + minutes * 60 * SECOND) * (west ? -1 : 1);
    return true;
}

/* Parses the zone, which must be the rest of the text. */
static bool take_zone(struct rest *rest, int64_t *ns) {
    *ns = 0;
    while (take(rest, " ")) {
    }
    if (rest->at < rest->end && take(rest, "+-"))
        return take_offset(rest, ns) && rest->at == rest->end;
    while (rest->at < rest->end && isalpha((unsigned char)*rest->at))
        rest->at++;
    return rest->at == rest->end;
}

bool sstrace_stamp_date(const char *text, size_t length, int64_t *ns) {
    struct rest rest = {text, text + length};
    int64_t date, time, offset;
    if (!take_date(&rest, &date))
        return false;

    if (rest.at == rest.end) {
        *ns = date;
        return true;
    }

    if (!take(&rest, " T") || !take_day_time(&rest, false, &time) || !take_zone(&rest, &offset))
        return false;
    *ns = date + time - offset;
    return true;
}

bool sstrace_stamp_time_of_day(const char *text, size_t length, int64_t *ns) {
    struct rest rest = {text, text + length};
    if (!take_day_time(&rest, true, ns))
        return false;
    while (take(&rest, " ")) {
    }

    size_t left = (size_t)(rest.end - rest.at);
    if (left == 0)
        return true;

    bool morning = left == 2 && strncasecmp(rest.at, "AM", 2) == 0;
    bool evening = left == 2 && strncasecmp(rest.at, "PM", 2) == 0;
    bool twelve = *ns >= 12 * HOUR;
    if ((!morning && !evening) || *ns < HOUR || *ns >= 13 * HOUR)
        return false;

    if (evening && !twelve)
        *ns += 12 * HOUR;
    if (morning && twelve)
        *ns -= 12 * HOUR;
    return true;
}

bool sstrace_stamp_read(struct sstrace_clock *clock, const char *text, size_t length, int64_t *ns) {
    int64_t time;
    clock->lacks_date = false;

    if (sstrace_stamp_number(text, length, clock->unit ? clock->unit : SECOND, ns) ||
        sstrace_stamp_date(text, length, ns))
        return true;

    if (!sstrace_stamp_time_of_day(text, length, &time))
        return false;
    if (time < clock->before - 12 * HOUR && __builtin_add_overflow(clock->day, DAY, &clock->day))
        return false;

    clock->lacks_date = true;
    clock->before = time;
    *ns = clock->day + time;
    return true;
}
