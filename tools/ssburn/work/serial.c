/* SPDX-License-Identifier: Apache-2.0 */
#include "burn.h"

int burn_serial(struct burn *burn, struct ss_error *error) {
    struct work_hand hand;
    work_begin(&hand, &burn->memory, 0);
    int more;
    do {
        work_do(&hand, burn->work);
        more = tally_count(&burn->tally, error);
    } while (more > 0);
    return more;
}
