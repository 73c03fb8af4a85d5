/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_AIM_H
#define SSREQUEST_AIM_H

/* Where requests go: what URLs say, and the addresses of their hosts. */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct ssrequest_target {
    struct Curl_URL *url; /* as libcurl has read it: with each request that would cost a tenth */
    char *socket;         /* NULL: TCP */
    bool tls;
    uint32_t origin; /* which of those that the transport has had connections to; it sets it */
    char *lost;      /* why its host has no address; NULL: it has one */
};

/* A set of targets. Zeroed: none. */
struct ssrequest_aim {
    struct ssrequest_target *targets;
    uint32_t count;
    struct curl_slist *addresses; /* of all hosts, as libcurl gets them */
};

/*
 * Looks names up, so it may take many seconds; any thread may call it once libcurl is initialized.
 * With `socket` all requests go to this Unix socket; NULL: each to where its URL says. A host that
 * has no address is no failure: its target is `lost`.
 */
SS_MUST_USE SS_NONNULL(1, 4) int ssrequest_aim_make(const char *const *urls, uint32_t count,
    const char *socket, struct ssrequest_aim *aim, struct ss_error *error);
SS_NONNULL()
void ssrequest_aim_free(struct ssrequest_aim *aim);

#endif
