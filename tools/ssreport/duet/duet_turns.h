/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_TURNS_H
#define SSREPORT_DUET_TURNS_H

/* Two processes that run in turn: one runs while the other is stopped. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

#include "duet_requests.h"
#include "record.h"

/* Seconds at the start of each turn that do not count: the other process may still run then. */
#define DUET_SWITCH 0.5

/* Maximum number of turns of a pair of processes. */
#define DUET_TURNS_MAX 10000

/* Instead of a number of differences: memory is exhausted. */
#define DUET_NO_MEMORY SIZE_MAX

struct duet_turns {
    double begin;  /* start of the first turn, in seconds since control began */
    double length; /* seconds */
    size_t count;  /* 0: processes do not take turns */
};

/*
 * Returns the iterations per second of an instance, from the iterations that began and ended
 * between two times; NaN without any. The iterations must be sorted by their starts.
 */
SS_NONNULL()
double duet_turn_throughput(
    const struct ssreport_iteration *sorted, size_t count, double from, double to);

/*
 * Compares two processes by the throughput in their turns; `first` has the first turn. Writes the
 * differences of the logarithms, `second` minus `first`, to `differences`, which must have room for
 * a third of the turns. Returns their number, or DUET_NO_MEMORY.
 */
SS_NONNULL()
size_t duet_turns_compare(const struct duet_turns *turns, const struct ssreport_record *first,
    const struct ssreport_record *second, double *differences);

/*
 * Like duet_turns_compare(), but compares the throughput of the background: in the turns of the
 * second process with that in the turns of `first`.
 */
SS_NONNULL()
size_t duet_turns_compare_beside(const struct duet_turns *turns,
    const struct ssreport_record *first, const struct ssreport_record *beside, double *differences);

/*
 * Like duet_turns_compare(), but compares a figure of the requests to two services: see
 * duet_requests_figure(). Requests in the last sixth of a turn, at least DUET_SWITCH, do not count,
 * because they may be answered only after it.
 */
SS_NONNULL()
size_t duet_turns_compare_services(const struct duet_turns *turns,
    const struct duet_requests requests[2], const char *figure, double *differences);

#endif
