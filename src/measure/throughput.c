/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/throughput.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Ten years of intervals: a broken clock must not exhaust memory. */
#define INTERVALS_MAX ((size_t)52596000)

static bool make_room(struct ss_throughput *throughput, size_t count) {
    if (count <= throughput->count)
        return true;
    if (count > INTERVALS_MAX)
        return false;
    if (!SS_GROW(throughput->parts, count, throughput->room))
        return false;
    memset(throughput->parts + throughput->count, 0,
        (count - throughput->count) * sizeof *throughput->parts);
    throughput->count = count;
    return true;
}

void ss_throughput_add(struct ss_throughput *throughput, ss_time start, ss_time end) {
    if (throughput->from == SS_TIME_NEVER || end < throughput->from)
        return;

    if (start > end)
        start = end;
    double length = (double)(end - start);
    ss_time at = start > throughput->from ? start : throughput->from;
    if (!make_room(throughput, (end - throughput->from) / SS_THROUGHPUT_INTERVAL + 1))
        return;
    if (start == end) {
        /* An iteration that took no time counts where it ended. */
        throughput->parts[(end - throughput->from) / SS_THROUGHPUT_INTERVAL] += 1;
        return;
    }

    while (at < end) {
        size_t interval = (at - throughput->from) / SS_THROUGHPUT_INTERVAL;
        ss_time edge = throughput->from + (interval + 1) * SS_THROUGHPUT_INTERVAL;
        ss_time to = edge < end ? edge : end;
        throughput->parts[interval] += (double)(to - at) / length;
        at = to;
    }
}

size_t ss_throughput_count(const struct ss_throughput *throughput, ss_time to) {
    if (throughput->from == SS_TIME_NEVER)
        return 0;
    return ss_time_since(to, throughput->from) / SS_THROUGHPUT_INTERVAL;
}

double ss_throughput_rate(const struct ss_throughput *throughput, size_t interval) {
    double parts = interval < throughput->count ? throughput->parts[interval] : 0;
    return parts / ss_time_seconds(SS_THROUGHPUT_INTERVAL);
}

void ss_throughput_free(struct ss_throughput *throughput) {
    free(throughput->parts);
    *throughput = (struct ss_throughput){.from = SS_TIME_NEVER};
}
