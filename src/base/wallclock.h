/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WALLCLOCK_H
#define SHOWSTOPPER_BASE_WALLCLOCK_H

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

/* Writes a point in time as RFC 3339 in UTC with milliseconds. */
SS_WRITES(1, 2) void ss_wallclock_print(char *buffer, size_t size, int64_t at);

#endif
