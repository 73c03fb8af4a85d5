/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_TARGETS_H
#define SSREQUEST_TARGETS_H

/* The targets of requests: parsed URLs, and the addresses of their hosts. */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "service_listeners.h"

struct ssrequest_target {
    /* Parsed once: parsing it for each request would cost a tenth of the maximum rate. */
    struct Curl_URL *url;
    bool tls;
    uint32_t origin;    /* number of its scheme, host and port; set by the transport */
    char *lookup_error; /* why its host has no address; NULL if it has one */
};

/* Empty if zeroed. */
struct ssrequest_targets {
    struct ssrequest_target *list;
    uint32_t count;
    const char *socket;           /* path of a Unix socket, owned by the caller; NULL for TCP */
    struct curl_slist *addresses; /* addresses of all hosts, for CURLOPT_RESOLVE */
};

/*
 * Parses URLs and looks up their hosts, which may take many seconds; any thread may call this once
 * libcurl is initialized. With `socket`, all requests go to this Unix socket, and no host is looked
 * up. Does not fail if a host has no address: the target then has a `lookup_error`.
 */
SS_MUST_USE SS_NONNULL(1, 4) int ssrequest_targets_make(const char *const *urls, uint32_t count,
    const char *socket, struct ssrequest_targets *targets, struct ss_error *error);
SS_NONNULL() void ssrequest_targets_free(struct ssrequest_targets *targets);

#define SSREQUEST_ADDRESSES_MAX 16

/*
 * Looks up the addresses of a target, which may take many seconds. Sets them, with its port, and
 * returns their number.
 */
SS_NONNULL()
size_t ssrequest_target_addresses(const struct ssrequest_target *target,
    struct service_address addresses[SSREQUEST_ADDRESSES_MAX]);

#endif
