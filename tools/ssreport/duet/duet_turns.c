/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_turns.h"

#include <math.h>

#include "sequential.h"

double duet_turn_throughput(const struct ssreport_record *record, double from, double to) {
    double seconds = 0;
    size_t count = 0;
    for (size_t i = 0; i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (iteration->start < from || iteration->end > to)
            continue;
        seconds += iteration->end - iteration->start;
        count++;
    }
    return seconds > 0 ? (double)count / seconds : NAN;
}

/*
 * Compares two records. `late` is the start of their clocks in seconds, on the clock of the turns.
 */
static size_t compare(const struct duet_turns *turns,
    const struct ssreport_record *const records[2], double late, double *differences) {
    double figures[DUET_TURNS_MAX];
    for (size_t i = 0; i < turns->count; i++) {
        double from = turns->begin + (double)i * turns->length - late;
        figures[i] = duet_turn_throughput(records[i % 2], from + DUET_SWITCH, from + turns->length);
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
