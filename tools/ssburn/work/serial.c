/* SPDX-License-Identifier: Apache-2.0 */
#include "burn.h"

int burn_serial(struct burn *burn, struct ss_error *error) {
    struct worker worker;
    work_begin(&worker, &burn->memory, 0);
    int more;
    do {
        work_do(&worker, burn->work);
        more = tally_count(&burn->tally, error);
    } while (more > 0);
    return more;
}
