/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_WATCH_H
#define SSANTAGONIST_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "codes.h"
#include "suspects.h"

struct watch_options {
    const char *victim;    /* a URL, a log, or a command; see watch_kind() */
    const char *iteration; /* pattern of lines that end an iteration; NULL if not given */
    double rate;           /* requests per second */
    int lower_is_better;   /* smaller figures are better */
    double quantile;       /* of the response times of a slot, 0 to 1; NaN for their mean */
    const char *folder;    /* for the results */
    uint64_t slots;
    ss_time slot;     /* length of a slot */
    double settle;    /* fraction of each slot, at its beginning, that is skipped */
    int64_t start_at; /* start of the first slot, nanoseconds since 1970 */

    /* Codes of the suspects, whose rows are the slots of the watch. Empty: losses are ignored. */
    struct codes codes;
    uint64_t loss_blocks;      /* successive blocks that must each show a loss */
    struct suspects throttles; /* the processes that throttle the suspects */
};

enum watch_kind { WATCH_URL, WATCH_LOG, WATCH_COMMAND };

/* Distinguishes the kinds of victims. An existing file is a log if `iteration` is not NULL. */
SS_NONNULL(1) enum watch_kind watch_kind(const char *victim, const char *iteration);

/*
 * Measures the victim slot by slot until the last slot has ended. If the victim loses too much
 * while a suspect is stopped, ends the throttle of this suspect, and writes to aside.csv from which
 * row on the suspect was not throttled. Ends early when no suspect is throttled any longer.
 */
SS_MUST_USE SS_NONNULL() int watch_victim(
    const struct watch_options *options, struct ss_error *error);

#endif
