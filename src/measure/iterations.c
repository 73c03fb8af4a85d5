/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/iterations.h"

#include <math.h>
#include <stdlib.h>

void ss_iterations_pause(struct ss_iterations *iterations, ss_time begin, ss_time length) {
    /* Both saturate at "not yet". */
    iterations->from = ss_time_add(iterations->from, length);
    iterations->throughput.from = ss_time_add(iterations->throughput.from, length);
    struct ss_pause *pauses =
        reallocarray(iterations->pauses, iterations->pause_count + 1, sizeof *pauses);
    if (!pauses)
        return;
    iterations->pauses = pauses;
    pauses[iterations->pause_count++] = (struct ss_pause){.begin = begin, .length = length};
}

/* The same time on a clock that stood still in the pauses and is right now. */
static ss_time move_up(const struct ss_iterations *iterations, ss_time time) {
    ss_time moved = time;
    for (size_t i = iterations->pause_count; i-- > 0;) {
        const struct ss_pause *pause = &iterations->pauses[i];
        ss_time passed = ss_time_since(time, pause->begin);
        moved = ss_time_add(moved, ss_time_since(pause->length, passed));
    }
    return moved;
}

int ss_iterations_keep_apart(
    struct ss_iterations *iterations, uint32_t instances, uint32_t line_count) {
    iterations->shares = calloc(instances, sizeof *iterations->shares);
    iterations->line_of = calloc(instances, sizeof *iterations->line_of);
    iterations->line_lengths = calloc(line_count, sizeof *iterations->line_lengths);
    if (!iterations->shares || !iterations->line_of || !iterations->line_lengths)
        return -1;
    iterations->line_count = line_count;
    return 0;
}

void ss_iterations_free(struct ss_iterations *iterations) {
    ss_throughput_free(&iterations->throughput);
    ss_lengths_free(&iterations->lengths);
    for (uint32_t i = 0; i < iterations->line_count; i++)
        ss_lengths_free(&iterations->line_lengths[i]);
    free(iterations->line_lengths);
    free(iterations->line_of);
    free(iterations->shares);
    iterations->line_lengths = NULL;
    iterations->line_of = NULL;
    iterations->shares = NULL;
    iterations->line_count = 0;
    free(iterations->pauses);
    iterations->pauses = NULL;
    iterations->pause_count = 0;
}

void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end) {
    iterations->seen++;
    if (start > end)
        start = end;
    if (iterations->tell)
        iterations->tell(iterations->context, instance, start, end);
    start = move_up(iterations, start);
    end = move_up(iterations, end);
    ss_throughput_add(&iterations->throughput, start, end);
    ss_time from = start > iterations->from ? start : iterations->from;
    ss_time to = end < iterations->to ? end : iterations->to;
    if (iterations->from == SS_TIME_NEVER || to < from)
        return;
    /* One that took no time at all lies wholly where it ended. */
    double part = end == start ? 1 : (double)(to - from) / (double)(end - start);
    struct ss_iteration_share *share = iterations->shares ? &iterations->shares[instance] : NULL;
    iterations->parts += part;
    if (share)
        share->parts += part;
    if (end > iterations->to || end < iterations->from)
        return;
    iterations->ended++;
    ss_lengths_add(&iterations->lengths, end - start);
    if (!share)
        return;
    share->ended++;
    share->seconds += ss_time_seconds(end - start);
    ss_lengths_add(&iterations->line_lengths[iterations->line_of[instance]], end - start);
}

double ss_iterations_per_second(const struct ss_iterations *iterations, ss_time now) {
    ss_time to = now < iterations->to ? now : iterations->to;
    if (iterations->from == SS_TIME_NEVER || to <= iterations->from)
        return NAN;
    return iterations->parts / ss_time_seconds(to - iterations->from);
}
