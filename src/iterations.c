/* SPDX-License-Identifier: Apache-2.0 */
#include "iterations.h"

#include <math.h>

void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end) {
    iterations->seen++;
    if (start > end)
        start = end;
    if (iterations->tell)
        iterations->tell(iterations->context, instance, start, end);
    ss_throughput_add(&iterations->throughput, start, end);
    ss_time from = start > iterations->from ? start : iterations->from;
    ss_time to = end < iterations->to ? end : iterations->to;
    if (iterations->from == SS_TIME_NEVER || to < from)
        return;
    /* One that took no time at all lies wholly where it ended. */
    iterations->parts += end == start ? 1 : (double)(to - from) / (double)(end - start);
    if (end <= iterations->to && end >= iterations->from)
        iterations->ended++;
}

double ss_iterations_per_second(const struct ss_iterations *iterations, ss_time now) {
    ss_time to = now < iterations->to ? now : iterations->to;
    if (iterations->from == SS_TIME_NEVER || to <= iterations->from)
        return NAN;
    return iterations->parts / ss_time_seconds(to - iterations->from);
}
