/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LOOKUP_H
#define SSREQUEST_LOOKUP_H

/*
 * Names that are looked up during the run, one at a time. A name server may take many
 * seconds to answer, and no request could be sent meanwhile, so a thread waits for it.
 */

#include <showstopper/contract.h>

#include "targets.h"

/* Called in the thread: ssrequest_aim_make() or the like, and the function that frees its aim. */
struct ssrequest_lookup_means {
    int (*make)(const char *const *urls, uint32_t count, const char *socket,
        struct ssrequest_aim *aim, struct ss_error *error);
    void (*discard)(struct ssrequest_aim *aim);
};

struct ssrequest_lookup;

/* `socket` is passed to make(). */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_lookup_open(struct ssrequest_lookup **lookup,
    const struct ssrequest_lookup_means *means, const char *socket, struct ss_error *error);

/* Does not wait. A lookup under way continues, and its thread discards the result. */
void ssrequest_lookup_close(struct ssrequest_lookup *lookup);

/* Refused while a lookup is under way or its result has not been taken. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_lookup_begin(struct ssrequest_lookup *lookup,
    const char *const *urls, uint32_t count, struct ss_error *error);

/* It can be read from when there is a result to take. */
SS_NONNULL()
int ssrequest_lookup_descriptor(const struct ssrequest_lookup *lookup);

/* What make() has returned. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_lookup_take(
    struct ssrequest_lookup *lookup, struct ssrequest_aim *aim, struct ss_error *error);

/* The URLs of the last lookup that was begun, until the next one is. */
SS_NONNULL()
char *const *ssrequest_lookup_urls(const struct ssrequest_lookup *lookup);

#endif
