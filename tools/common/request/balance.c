/* SPDX-License-Identifier: Apache-2.0 */
#include "balance.h"

uint32_t request_balance_choose(
    enum request_balance balance, const uint64_t *unfinished, uint32_t count, uint32_t last) {
    uint32_t chosen = (last + 1) % count;
    if (balance == REQUEST_ROUND_ROBIN)
        return chosen;
    for (uint32_t i = 2; i <= count; i++) {
        uint32_t next = (last + i) % count;
        if (unfinished[next] < unfinished[chosen])
            chosen = next;
    }
    return chosen;
}
