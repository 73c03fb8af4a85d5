/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_WATCH_H
#define SSANTAGONIST_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

struct watch_options {
    const char *victim;    /* a URL, a log, or a command; see watch_kind() */
    const char *iteration; /* pattern of lines that end an iteration; NULL if not given */
    double rate;           /* requests per second */
    int lower;             /* smaller figures are better */
    const char *output;    /* path of the table of slots */
    uint64_t slots;
    ss_time slot;     /* length of a slot */
    int64_t start_at; /* start of the first slot, nanoseconds since 1970 */
    double usual;     /* the figure without throttles; NaN: do not check for a loss */
};

enum watch_kind { WATCH_URL, WATCH_LOG, WATCH_COMMAND };

/* Distinguishes the kinds of victims. An existing file is a log if `iteration` is not NULL. */
SS_NONNULL(1) enum watch_kind watch_kind(const char *victim, const char *iteration);

/*
 * Measures the victim slot by slot until the last slot has ended. Fails with WATCH_LOSS if the
 * victim lost too much in two slots.
 */
SS_MUST_USE SS_NONNULL() int watch_victim(
    const struct watch_options *options, struct ss_error *error);

/* The exit status if the victim lost too much. */
#define WATCH_LOSS 4

#endif
