/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WALLCLOCK_H
#define SHOWSTOPPER_BASE_WALLCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

/*
 * Parses points in time as people write them: RFC 3339 (2026-11-20T08:00:00Z, with fractions and
 * offsets; local time if there is no offset), HH:MM or HH:MM:SS (local time, the next one after
 * `now`; fractions of seconds are allowed), or @EPOCH (seconds, with fractions). `now` and `at` are
 * nanoseconds since 1970, UTC.
 */
SS_NONNULL(1, 3)
int ss_wallclock_parse(const char *text, int64_t now, int64_t *at, struct ss_error *error);

/*
 * Computes the number of a day from 1970-01-01 in the Gregorian calendar. Returns false if the day
 * does not exist. Eight times as fast as timegm(), which would make importing a table of dates a
 * tenth slower.
 */
SS_NONNULL() bool ss_wallclock_day(int year, int month, int day, int64_t *number);

/* Writes a point in time as RFC 3339 in UTC with milliseconds. */
SS_WRITES(1, 2) void ss_wallclock_print(char *buffer, size_t size, int64_t at);

#endif
