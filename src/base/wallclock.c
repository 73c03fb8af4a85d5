/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wallclock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/words.h"

#define SECOND INT64_C(1000000000)

enum result {
    PARSED,
    UNKNOWN_FORM,
    INVALID_DATE,
    INVALID_TIME_OF_DAY,
    SKIPPED,      /* the clocks skip it when they are put forward */
    OUT_OF_RANGE, /* does not fit in 64 bits of nanoseconds */
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool read_char(const char **at, char c) {
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool read_digits(const char **at, int digits, int *value) {
    *value = 0;
    for (int i = 0; i < digits; i++, ++*at) {
        if (!is_digit(**at))
            return false;
        *value = *value * 10 + (**at - '0');
    }
    return true;
}

/* Reads the decimals of a second, if any, as nanoseconds. Ignores digits after the ninth. */
static bool read_fraction(const char **at, int64_t *nanoseconds) {
    *nanoseconds = 0;
    if (!read_char(at, '.'))
        return true;
    if (!is_digit(**at))
        return false;
    for (int64_t unit = SECOND / 10; is_digit(**at); ++*at, unit /= 10)
        *nanoseconds += unit * (**at - '0');
    return true;
}

static enum result to_nanoseconds(time_t seconds, int64_t nanoseconds, int64_t *at) {
    bool overflow = __builtin_mul_overflow((int64_t)seconds, SECOND, at) ||
                    __builtin_add_overflow(*at, nanoseconds, at);
    return overflow ? OUT_OF_RANGE : PARSED;
}

/* Reads HH:MM, HH:MM:SS or HH:MM:SS.fraction. */
static bool read_clock(const char **at, struct tm *tm, int64_t *nanoseconds) {
    *nanoseconds = 0;
    if (!read_digits(at, 2, &tm->tm_hour) || !read_char(at, ':') ||
        !read_digits(at, 2, &tm->tm_min))
        return false;
    if (!read_char(at, ':'))
        return true;
    return read_digits(at, 2, &tm->tm_sec) && read_fraction(at, nanoseconds);
}

/*
 * Returns whether the time of day is valid. Second 60, a leap second, is the first second of the
 * next minute.
 */
static bool clock_exists(const struct tm *tm) {
    return tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 60;
}

/*
 * Converts local time to seconds since 1970. Returns false for a time that the clocks skip when
 * they are put forward, or that mktime() cannot represent. `dst` selects one of the two times when
 * the clocks are put back; -1: either.
 */
static bool from_local(const struct tm *local, int dst, time_t *seconds) {
    struct tm tm = *local;
    int second = tm.tm_sec;
    tm.tm_sec = 0;
    tm.tm_isdst = dst;
    errno = 0;
    *seconds = mktime(&tm);
    if (*seconds == (time_t)-1 && errno == EOVERFLOW)
        return false;

    *seconds += second;
    return tm.tm_hour == local->tm_hour && tm.tm_min == local->tm_min;
}

/* Reads Z, +HH:MM or -HH:MM, in seconds east. Sets `is_absent` if there is no offset. */
static bool read_offset(const char **at, int *east, bool *is_absent) {
    *east = 0;
    *is_absent = !**at;
    if (*is_absent || read_char(at, 'Z') || read_char(at, 'z'))
        return true;

    int sign = **at == '-' ? -1 : 1;
    int hours, minutes;
    if (!read_char(at, '+') && !read_char(at, '-'))
        return false;
    if (!read_digits(at, 2, &hours) || !read_char(at, ':') || !read_digits(at, 2, &minutes))
        return false;

    *east = sign * (hours * 3600 + minutes * 60);
    return hours <= 23 && minutes <= 59;
}

static enum result read_date_time(const char *text, int64_t *at) {
    struct tm tm = {0};
    int64_t nanoseconds;
    int east;
    bool local;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mon) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mday))
        return UNKNOWN_FORM;
    if (!read_char(&text, 'T') && !read_char(&text, 't') && !read_char(&text, ' '))
        return UNKNOWN_FORM;
    if (!read_clock(&text, &tm, &nanoseconds) || !read_offset(&text, &east, &local) || *text)
        return UNKNOWN_FORM;

    tm.tm_year -= 1900;
    tm.tm_mon--;
    struct tm day = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = tm.tm_mday};
    timegm(&day); /* normalizes a day that does not exist, such as February 30 */
    if (day.tm_mon != tm.tm_mon || day.tm_mday != tm.tm_mday)
        return INVALID_DATE;
    if (!clock_exists(&tm))
        return INVALID_TIME_OF_DAY;

    time_t seconds;
    if (!local)
        seconds = timegm(&tm) - east;
    else if (!from_local(&tm, -1, &seconds))
        return SKIPPED;
    return to_nanoseconds(seconds, nanoseconds, at);
}

static time_t floor_seconds(int64_t nanoseconds) {
    return (time_t)(nanoseconds / SECOND - (nanoseconds % SECOND < 0));
}

/*
 * Finds the next time after `now` at which the clock shows `clock` on this day, which may happen
 * twice. Returns false if there is none.
 */
static bool find_on_day(const struct tm *clock, int64_t nanoseconds, int64_t now, int64_t *at) {
    bool found = false;
    for (int dst = 0; dst <= 1; dst++) {
        time_t seconds;
        int64_t candidate;
        if (!from_local(clock, dst, &seconds) ||
            to_nanoseconds(seconds, nanoseconds, &candidate) != PARSED || candidate <= now)
            continue;

        if (!found || candidate < *at)
            *at = candidate;
        found = true;
    }
    return found;
}

static enum result read_time_of_day(const char *text, int64_t now, int64_t *at) {
    struct tm clock = {0};
    int64_t nanoseconds;
    if (!read_clock(&text, &clock, &nanoseconds) || *text)
        return UNKNOWN_FORM;
    if (!clock_exists(&clock))
        return INVALID_TIME_OF_DAY;

    tzset();
    time_t today = floor_seconds(now);
    struct tm day;
    localtime_r(&today, &day);

    /* Look three days ahead: the clocks may skip this time of day tomorrow, or the whole day. */
    for (int ahead = 0; ahead <= 3; ahead++) {
        clock.tm_year = day.tm_year;
        clock.tm_mon = day.tm_mon;
        clock.tm_mday = day.tm_mday + ahead;
        if (find_on_day(&clock, nanoseconds, now, at))
            return PARSED;
    }
    return OUT_OF_RANGE;
}

static enum result read_epoch(const char *text, int64_t *at) {
    int64_t seconds = 0, nanoseconds;
    bool overflow = false;
    if (!is_digit(*text))
        return UNKNOWN_FORM;
    for (; is_digit(*text); text++)
        overflow = overflow || __builtin_mul_overflow(seconds, 10, &seconds) ||
                   __builtin_add_overflow(seconds, *text - '0', &seconds);
    if (!read_fraction(&text, &nanoseconds) || *text)
        return UNKNOWN_FORM;
    return overflow ? OUT_OF_RANGE : to_nanoseconds((time_t)seconds, nanoseconds, at);
}

int ss_wallclock_parse(const char *text, int64_t now, int64_t *at, struct ss_error *error) {
    static const char *const faults[] = {
        [UNKNOWN_FORM] = "is not a point in time: use 2026-11-20T08:00:00Z, 08:00, 08:00:30 or "
                         "@1795161600 (seconds since 1970)",
        [INVALID_DATE] = "does not exist: there is no such day in the calendar",
        [INVALID_TIME_OF_DAY] = "does not exist: use a time of day from 00:00 to 23:59:59",
        [SKIPPED] = "does not exist: the clocks skip it when they go forward; use a later time",
        [OUT_OF_RANGE] = "is too far away: use a time between the years 1678 and 2262",
    };
    int64_t found = 0;
    enum result result;

    if (*text == '@')
        result = read_epoch(text + 1, &found);
    else if (is_digit(text[0]) && is_digit(text[1]) && text[2] == ':')
        result = read_time_of_day(text, now, &found);
    else
        result = read_date_time(text, &found);

    if (result != PARSED)
        return ss_error_fail(error, "'%s' %s", ss_words_show(text).text, faults[result]);
    *at = found;
    return 0;
}

void ss_wallclock_print(char *buffer, size_t size, int64_t at) {
    time_t seconds = floor_seconds(at);
    int milliseconds = (int)((at % SECOND + (at % SECOND < 0 ? SECOND : 0)) / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    snprintf(buffer, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
        tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, milliseconds);
}
