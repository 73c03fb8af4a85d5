/* SPDX-License-Identifier: Apache-2.0 */
#include "shuffle.h"

#include <showstopper/random.h>

void ssprofile_shuffle(size_t *order, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(ss_random(seed, i) * (double)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}
