/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_BALANCE_H
#define SSREQUEST_BALANCE_H

#include <stdint.h>

#include <showstopper/contract.h>

/* The ways to balance, in the order of the option's choices. */
enum ssrequest_balance {
    SSREQUEST_ROUND_ROBIN,
    SSREQUEST_LEAST_CONNECTIONS, /* the fewest unfinished requests; equal targets take turns */
};

/* Chooses the target of the next request out of `count`; `last` got the previous one. */
SS_NONNULL()
uint32_t ssrequest_balance_choose(
    enum ssrequest_balance balance, const uint64_t *unfinished, uint32_t count, uint32_t last);

#endif
