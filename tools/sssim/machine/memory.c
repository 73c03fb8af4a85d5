/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

struct memory_pace memory_pace(const struct memory *memory, int number) {
    const struct memory_side *side = &memory->sides[number];
    const struct memory_side *other = &memory->sides[1 - number];
    double share = side->share;
    if (memory->rate <= 0)
        return (struct memory_pace){.ran = share, .served = share};

    double outside = other->share * other->demanded;
    double traffic = share * side->demanded + outside;
    double served = traffic > memory->rate ? memory->rate / traffic : 1;
    double busy = served * served * share / memory->rate; /* utilization per access per second */

    return (struct memory_pace){
        .ran = share,
        .served = share * served,
        .lost = busy * (side->overlap * side->demanded + outside),
        .back = busy * side->overlap,
    };
}

double memory_work(const struct memory_use *use, const struct memory_pace *sums) {
    if (use->accesses <= 0)
        return sums->ran;
    return sums->served - use->waiting * (sums->lost - use->accesses * sums->back);
}
