/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STAMP_H
#define SSTRACE_STAMP_H

/*
 * Converts times, as monitoring tools write them, to ns since 1970 UTC, exactly and independently
 * of locale and time zone. Each function parses all `length` bytes of `text`, which need not be
 * NUL-terminated. Returns false if the text is not a time in the expected form, or is outside of
 * the years 1678 to 2261, which 64 bits can represent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* The expected form of a time, for messages. */
#define SSTRACE_STAMP_EXPECTED "YYYY-MM-DD HH:MM:SS, HH:MM:SS or seconds since 1970"

/* The state of one series of times. If zeroed, numbers are seconds, and no time was read yet. */
struct sstrace_clock {
    int64_t unit;    /* unit of numbers in ns; 0 for a second */
    bool lacks_date; /* the time that was read last has no date */

    /* Private, for times of day that pass midnight: */
    int64_t day;    /* time of the last midnight, ns */
    int64_t before; /* previous time, ns since that midnight */
};

/*
 * Returns the length of the unit s, ms, us, ns, min or h, or of its English name, in ns; 0 if
 * unknown.
 */
SS_NONNULL() int64_t sstrace_stamp_unit(const char *name);

/* Parses a decimal number, which may be negative or have an exponent, and rounds it to ns. */
SS_READS(1, 2)
bool sstrace_stamp_number(const char *text, size_t length, int64_t unit, int64_t *ns);

/*
 * Parses YYYY-MM-DD or YYYY/MM/DD; then, after a blank or T, HH:MM[:SS[.fff]]; then Z, UTC, GMT,
 * +hh:mm, +hhmm, +hh, or nothing. The name of any other zone is ignored: such times count as UTC,
 * and so do times without a zone, because only differences matter.
 */
SS_READS(1, 2) bool sstrace_stamp_date(const char *text, size_t length, int64_t *ns);

/* Parses HH:MM:SS[.fff], optionally followed by AM or PM, into ns since midnight. */
SS_READS(1, 2) bool sstrace_stamp_time_of_day(const char *text, size_t length, int64_t *ns);

/*
 * Parses any of these forms. Times of day count from the midnight before the first one; a time that
 * goes back by more than 12 hours belongs to the next day.
 */
SS_READS(2, 3)
bool sstrace_stamp_read(struct sstrace_clock *clock, const char *text, size_t length, int64_t *ns);

#endif
