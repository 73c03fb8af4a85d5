/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_GENERATOR_CONTROL_H
#define SSACTUATE_GENERATOR_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* The control socket of ssrequest, as a client. */

/*
 * Tells ssrequest its URLs, separated by blanks. Returns 0, -ENOENT if no ssrequest listens at the
 * socket, or another negative errno; `answer` is then the reason that it gave, or empty.
 */
SS_MUST_USE SS_NONNULL() SS_WRITES(3, 4) int ssactuate_generator_tell(
    const char *path, const char *urls, char *answer, size_t size);

/*
 * Returns how many requests to this URL are unfinished: 0 if no ssrequest listens, or if its run is
 * over; a negative errno if it does not say.
 */
SS_MUST_USE SS_NONNULL() int64_t ssactuate_generator_unfinished(const char *path, const char *url);

/*
 * Finds the number of unfinished requests to this URL in the answer to `status`, which is one line.
 * Returns a negative errno if the answer does not say.
 */
SS_MUST_USE SS_NONNULL() int64_t
    ssactuate_generator_find_unfinished(const char *answer, const char *url);

#endif
