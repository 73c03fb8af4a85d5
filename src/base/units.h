/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_UNITS_H
#define SHOWSTOPPER_BASE_UNITS_H

#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * The only parser of quantities, for every option, module and trace. Each function requires that
 * the whole text is valid; otherwise it fails with what was expected and status 125. No function
 * depends on the locale. Decimals are rounded once, to the nearest double or nanosecond. A fraction
 * is the quotient of two doubles.
 */

/*
 * Parses a time: 20s, 107ms (or 107m), 2min (or 2M), 1.5h, 1/3s, 30sec, 0. The result is never
 * SS_TIME_NEVER.
 */
SS_NONNULL(1, 2) int ss_units_time(const char *text, ss_time *value, struct ss_error *error);

/* Returns the length of a unit of time, such as m (a millisecond), ms or minutes; 0 if unknown. */
SS_NONNULL() ss_time ss_units_length(const char *name);

/* A warning about a valid time, or "". */
struct ss_units_warning {
    char text[128];
};

/*
 * Parses a time that makes no sense below `sensible`. A shorter time in `m` was probably meant in
 * minutes: accepts it, but sets `warning`. If `sensible` is at least 100 ms, a number without a
 * unit is in seconds.
 */
SS_NONNULL(4)
int ss_units_time_sensible(const char *text, ss_time sensible, ss_time *value,
    struct ss_units_warning *warning, struct ss_error *error);

/*
 * Parses a load from 0 to 1: 6/10, 0.6 or 60%. Also parses a number of CPUs, such as 0.5cpu or
 * 2cpus, and divides it by `cpus`, the CPUs that make a load of 1; refuses it if `cpus` is 0.
 */
SS_NONNULL(1, 3)
int ss_units_load(const char *text, double cpus, double *value, struct ss_error *error);

/*
 * Parses a load as ss_units_load() does, but a number from 2 to 100 without a unit is percent. Do
 * not use it for lists and files: in "1:50", 1 would mean 100 %.
 */
SS_NONNULL(1, 3)
int ss_units_load_option(const char *text, double cpus, double *value, struct ss_error *error);

/* Parses exactly `count` loads separated by `separator`: "95%:5%:5%". */
SS_NONNULL(1, 4)
int ss_units_loads(const char *text, char separator, double cpus, double *values, size_t count,
    struct ss_error *error);

/* Parses a whole number that is not negative. */
SS_NONNULL(1, 2) int ss_units_count(const char *text, uint64_t *value, struct ss_error *error);

/* Parses a decimal or a fraction that is not negative. */
SS_NONNULL(1, 2) int ss_units_number(const char *text, double *value, struct ss_error *error);

/* Parses a percentage: 5 and 5% are 5. */
SS_NONNULL(1, 2) int ss_units_percent(const char *text, double *value, struct ss_error *error);

/*
 * Writes a time so that this parser reads it back exactly, as a whole number of the largest
 * possible unit: "107m" (milliseconds), "1500u". SS_TIME_NEVER becomes "never", which the parser
 * refuses.
 */
SS_WRITES(1, 2) void ss_units_print_time(char *buffer, size_t size, ss_time value);

/* Size limit of the output of ss_units_show_time(), with the final 0. */
#define SS_UNITS_TEXT_SIZE 40

/* Writes a time for people, without loss: "4.999941 s", "107 ms", "90 min", "0 s". */
SS_NONNULL() void ss_units_show_time(char text[SS_UNITS_TEXT_SIZE], ss_time value);

#endif
