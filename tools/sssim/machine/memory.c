/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <math.h>

#include "work.h"

static struct memory_pace find_pace(const struct memory *memory, int number) {
    const struct memory_side *side = &memory->sides[number];
    const struct memory_side *other = &memory->sides[1 - number];
    double share = side->share;
    if (memory->rate <= 0)
        return (struct memory_pace){.ran = share, .served = share};
    double outside = other->share * other->asked;
    double traffic = share * side->asked + outside;
    double served = traffic > memory->rate ? memory->rate / traffic : 1;
    double busy = served * served * share / memory->rate; /* utilization per access per second */
    return (struct memory_pace){
        .ran = share,
        .served = share * served,
        .lost = busy * (side->beside * side->asked + outside),
        .back = busy * side->beside,
    };
}

static bool is_same(const struct memory_pace *left, const struct memory_pace *right) {
    return left->ran == right->ran && left->served == right->served && left->lost == right->lost &&
           left->back == right->back;
}

void memory_follow(
    struct memory *memory, int number, double asked, double share, double beside, ss_time now) {
    struct memory_side *changed = &memory->sides[number];
    if (changed->asked == asked && changed->share == share && changed->beside == beside)
        return;
    changed->asked = asked;
    changed->share = share;
    changed->beside = beside;
    for (int i = 0; i < MEMORY_SIDES; i++) {
        struct memory_side *side = &memory->sides[i];
        struct memory_pace pace = find_pace(memory, i);
        if (!side->work || is_same(&pace, &side->pace))
            continue;
        work_mark(side->work, now);
        side->pace = pace;
    }
}

double memory_work(const struct memory_use *use, const struct memory_pace *sums) {
    if (use->accesses <= 0)
        return sums->ran;
    return sums->served - use->waiting * (sums->lost - use->accesses * sums->back);
}

double memory_interference(const struct memory_pair *pair) {
    const struct memory_use *use = &pair->foreground;
    double own = use->accesses * pair->foreground_threads;
    double others = pair->background_accesses * pair->background_cpus;
    if (pair->rate <= 0 || use->accesses <= 0)
        return 0;
    if (own + others > pair->rate)
        return NAN;
    double alone = 1 - use->waiting * (own - use->accesses) / pair->rate;
    return 100 * use->waiting * others / pair->rate / alone;
}
