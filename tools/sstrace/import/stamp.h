/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STAMP_H
#define SSTRACE_STAMP_H

/*
 * Points in time as monitoring writes them, as ns since 1970 UTC. All is exact to the nanosecond
 * and nothing depends on the locale or the time zone of this machine. Each function takes the whole
 * of `text`, `length` bytes that need no final 0, without blanks around it; false: it is no
 * such time, or lies outside what 64 bits of nanoseconds hold (the years 1678 to 2261).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* The expected form of a time, for messages. */
#define SSTRACE_STAMP_EXPECTED "YYYY-MM-DD HH:MM:SS, HH:MM:SS or seconds since 1970"

/* Zeroed: bare numbers are seconds, and no time was read yet. One for each series of times. */
struct sstrace_clock {
    int64_t unit; /* ns: what 1 of a bare number is; 0: a second */

    /* The rest is its own: times of day pass midnight. */
    int64_t day;    /* ns of the midnight before */
    int64_t before; /* ns since that midnight of the time that was read last */
};

/* ns of 1 of that unit: s, ms, us, ns. 0: there is no such unit. */
SS_NONNULL()
int64_t sstrace_stamp_unit(const char *name);

/* A decimal, also with an exponent; negative ones are times before the zero. Rounded to the ns. */
SS_READS(1, 2)
bool sstrace_stamp_number(const char *text, size_t length, int64_t unit, int64_t *ns);

/*
 * YYYY-MM-DD, also with / for -; then, after a blank or T, HH:MM[:SS[.fff]]; then Z, UTC, GMT,
 * +hh:mm, +hhmm, +hh, or nothing. The name of another zone is allowed, too, but says nothing: such
 * times, like those without a zone, are taken as if they were UTC, for only their distance counts.
 */
SS_READS(1, 2) bool sstrace_stamp_date(const char *text, size_t length, int64_t *ns);

/* HH:MM:SS[.fff], also followed by AM or PM: ns since midnight. */
SS_READS(1, 2) bool sstrace_stamp_day(const char *text, size_t length, int64_t *ns);

/*
 * Any of them. Times of day count from the midnight before the first of them: one that goes back
 * by more than 12 hours belongs to the next day.
 */
SS_READS(2, 3)
bool sstrace_stamp_read(struct sstrace_clock *clock, const char *text, size_t length, int64_t *ns);

#endif
