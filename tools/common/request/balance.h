/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_BALANCE_H
#define REQUEST_BALANCE_H

#include <stdint.h>

#include <showstopper/contract.h>

/* In the order of the choices of --balance. */
enum request_balance {
    REQUEST_ROUND_ROBIN,
    REQUEST_LEAST_CONNECTIONS, /* the fewest unfinished requests; equal targets take turns */
};

/*
 * Chooses the target of the next request, from 0 to `count` - 1; `last` is the target of the
 * previous request.
 */
SS_NONNULL()
uint32_t request_balance_choose(
    enum request_balance balance, const uint64_t *unfinished, uint32_t count, uint32_t last);

#endif
