/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_CONTROL_H
#define REQUEST_CONTROL_H

/* Commands for a run in progress. A command is one line, and so is its answer. */

#include <stddef.h>

#include <showstopper/contract.h>

#include "tally.h"

enum request_command {
    REQUEST_CONTROL_RATE,
    REQUEST_CONTROL_URLS,
    REQUEST_CONTROL_STOP,
    REQUEST_CONTROL_STATUS,
};

struct request_control {
    enum request_command command;
    double rate; /* requests per second: REQUEST_CONTROL_RATE */
    char **urls; /* REQUEST_CONTROL_URLS: 1 to REQUEST_TARGETS_MAX URLs, NULL-terminated */
    size_t url_count;
    char **words; /* memory that holds the URLs */
};

/* Parses a line, without its line feed. Does not check URLs. */
SS_MUST_USE SS_NONNULL(1, 2) int request_control_parse(
    struct request_control *control, const char *line, struct ss_error *error);
SS_NONNULL() void request_control_free(struct request_control *control);

/*
 * Finds the previous index of each new URL, for request_generator_retarget(). If a URL appears
 * several times, each appearance gets its own index.
 */
SS_NONNULL()
void request_control_match(const char *const *urls, uint32_t count, const char *const *before,
    uint32_t before_count, uint32_t *matches);

/* Writes the answer to `status`; `rate` is NaN in a closed loop. */
SS_NONNULL()
SS_WRITES(1, 2)
void request_control_describe(
    char *buffer, size_t size, const struct request_tally *tally, double rate, ss_time now);

/* All targets of a run, by label. The last `current` of them get requests. */
struct request_control_targets {
    const char *const *urls;
    const uint64_t *unfinished; /* requests */
    size_t count, current;
};

/*
 * Appends ` unfinished_of=NUMBER,URL` to the answer for each URL that gets requests or has
 * unfinished ones. If some do not fit, ends with ` left_out=NUMBER`.
 */
SS_NONNULL()
void request_control_describe_targets(
    char *buffer, size_t size, const struct request_control_targets *targets);

#endif
