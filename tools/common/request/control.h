/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_CONTROL_H
#define SSREQUEST_CONTROL_H

/* Commands to a run in progress: each is a line, answered by a line. */

#include <stddef.h>

#include "tally.h"

enum ssrequest_command {
    SSREQUEST_CONTROL_RATE,
    SSREQUEST_CONTROL_URLS,
    SSREQUEST_CONTROL_STOP,
    SSREQUEST_CONTROL_STATUS,
};

struct ssrequest_control {
    enum ssrequest_command command;
    double rate; /* requests per second: SSREQUEST_CONTROL_RATE */
    char **urls; /* SSREQUEST_CONTROL_URLS: at least 1, at most SSREQUEST_TARGETS_MAX; NULL behind
                    them */
    size_t url_count;
    char **words; /* the block that the URLs are in */
};

/* The line is without its line feed. Whether a URL can be used is not looked at. */
int ssrequest_control_parse(
    struct ssrequest_control *control, const char *line, struct ss_error *error);
void ssrequest_control_free(struct ssrequest_control *control);

/* Which of the URLs before each of the new ones is, if any: see ssrequest_generator_retarget(). One
 * that is there twice is each of them once. */
void ssrequest_control_match(const char *const *urls, uint32_t count, const char *const *before,
    uint32_t before_count, uint32_t *matches);

/* What `status` is answered; `rate` is NaN in a closed loop. */
void ssrequest_control_describe(
    char *buffer, size_t size, const struct ssrequest_tally *tally, double rate, ss_time now);

#endif
