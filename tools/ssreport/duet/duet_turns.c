/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "sequential.h"

/* Returns the first iteration that does not start before a time. */
static size_t find_start(const struct ssreport_iteration *sorted, size_t count, double time) {
    return ssreport_find_from(
        sorted, count, sizeof *sorted, offsetof(struct ssreport_iteration, start), time);
}

double duet_turn_throughput(
    const struct ssreport_iteration *sorted, size_t count, double from, double to) {
    double seconds = 0;
    size_t ended = 0;
    for (size_t i = find_start(sorted, count, from); i < count && sorted[i].start <= to; i++) {
        if (sorted[i].end > to)
            continue;
        seconds += sorted[i].end - sorted[i].start;
        ended++;
    }
    return seconds > 0 ? (double)ended / seconds : NAN;
}

static int compare_starts(const void *left, const void *right) {
    const struct ssreport_iteration *one = left, *other = right;
    return (one->start > other->start) - (one->start < other->start);
}

/* Returns the iterations of a record by their starts; NULL if memory is exhausted. */
static struct ssreport_iteration *sort_iterations(const struct ssreport_record *record) {
    size_t count = record->iteration_count;
    struct ssreport_iteration *sorted = calloc(count + 1, sizeof *sorted);
    if (sorted && count > 0) {
        memcpy(sorted, record->iterations, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_starts);
    }
    return sorted;
}

/*
 * Compares two records. `late` is the start of their clocks in seconds, on the clock of the turns.
 */
static size_t compare(const struct duet_turns *turns,
    const struct ssreport_record *const records[2], double late, double *differences) {
    double figures[DUET_TURNS_MAX];
    SS_OWNED(free) struct ssreport_iteration *first = sort_iterations(records[0]);
    SS_OWNED(free) struct ssreport_iteration *second = sort_iterations(records[1]);
    if (!first || !second)
        return DUET_NO_MEMORY;
    for (size_t i = 0; i < turns->count; i++) {
        double from = turns->begin + (double)i * turns->length - late;
        figures[i] = duet_turn_throughput(i % 2 == 0 ? first : second,
            records[i % 2]->iteration_count, from + DUET_SWITCH, from + turns->length);
    }
    return stats_turn_differences(figures, turns->count, differences);
}

size_t duet_turns_compare(const struct duet_turns *turns, const struct ssreport_record *first,
    const struct ssreport_record *second, double *differences) {
    return compare(turns, (const struct ssreport_record *[]){first, second}, 0, differences);
}

size_t duet_turns_compare_beside(const struct duet_turns *turns,
    const struct ssreport_record *first, const struct ssreport_record *beside,
    double *differences) {
    return compare(turns, (const struct ssreport_record *[]){beside, beside},
        beside->wall - first->wall, differences);
}

/* Part of a turn whose requests do not count. */
#define TAIL (1.0 / 6)

size_t duet_turns_compare_services(const struct duet_turns *turns,
    const struct duet_requests requests[2], const char *figure, double *differences) {
    double figures[DUET_TURNS_MAX];
    for (size_t i = 0; i < turns->count; i++) {
        double begin = turns->begin + (double)i * turns->length - requests[i % 2].late;
        double end = begin + turns->length;
        figures[i] = duet_requests_figure(&requests[i % 2], figure,
            &(struct duet_part){.from = begin + DUET_SWITCH,
                .last = end - fmax(DUET_SWITCH, TAIL * turns->length),
                .to = end});
    }
    return stats_turn_differences(figures, turns->count, differences);
}
