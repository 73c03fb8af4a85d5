/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_GENERATOR_CONTROL_H
#define SSACTUATE_GENERATOR_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* A client of the control socket of ssrequest. */

/*
 * Sets the URLs of ssrequest, separated by blanks. Returns 0, -ENOENT if no ssrequest is listening
 * at the socket, or another negative errno; `answer` then has the reason given by ssrequest, or is
 * empty.
 */
SS_MUST_USE SS_NONNULL() SS_WRITES(3, 4) int ssactuate_generator_set_urls(
    const char *path, const char *urls, char *answer, size_t size);

/* Room for any answer to `status`. */
#define SSACTUATE_STATUS_SIZE 40000

/*
 * Asks for the status. Returns 0, -ENOENT if no ssrequest is listening at the socket, or another
 * negative errno, such as -EINTR after a signal or -EAGAIN after 2 s without an answer.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_generator_status(
    const char *path, char answer[SSACTUATE_STATUS_SIZE]);

/*
 * Finds the number of unfinished requests to this URL in the answer to `status`, a single line.
 * Returns 0 if the answer does not list the URL, or a negative errno if the answer is incomplete or
 * invalid.
 */
SS_MUST_USE SS_NONNULL() int64_t
    ssactuate_generator_find_unfinished(const char *answer, const char *url);

#endif
