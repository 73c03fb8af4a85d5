/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_TURNS_H
#define SSREPORT_DUET_TURNS_H

/* Two processes that run in turn: one runs while the other is stopped. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "record.h"
#include "record_warnings.h"

/* Seconds at the start of each turn that do not count: the other process may still run then. */
#define DUET_SWITCH 0.5

/* Maximum number of turns of a pair of processes. */
#define DUET_TURNS_MAX 10000

/* Instead of a number of differences: memory is exhausted. */
#define DUET_NO_MEMORY SIZE_MAX

/* A run, or a turn, with fewer answers has no percentile. */
#define DUET_ANSWERS_MIN 200

/* A run, or a turn, in which a smaller part of the requests succeeded has no figure. */
#define DUET_SUCCESS_MIN 0.99

/* Times in seconds since the first request. */
struct duet_request {
    double due, finished;
    bool success;
};

/*
 * The requests to a service that runs in every other turn, from a file of ssrequest --each. Zeroed:
 * no requests.
 */
struct duet_requests {
    struct duet_request *items; /* in the order in which they are due */
    size_t count, room;
    double *answers; /* when the requests that succeeded were answered, in order */
    size_t answered;
    double late; /* seconds from the start of the clock of the turns to the first request */
};

/*
 * Reads the file next to a record; its name is that of the record and ".each.csv". Invalid rows are
 * left out and noted.
 */
SS_MUST_USE SS_NONNULL() int duet_requests_read(struct duet_requests *requests, const char *record,
    struct ssreport_notes *notes, struct ss_error *error);

SS_NONNULL()
void duet_requests_free(struct duet_requests *requests);

/* A part of a turn. Requests count if they are due before `last`, and answers until `to`. */
struct duet_part {
    double from, last, to;
};

/*
 * Returns a figure of this part of a turn: mean, p50, p95 or p99 of the response times, in seconds,
 * or the throughput, in answers per second. NaN if requests are too few or too many have failed.
 */
SS_NONNULL()
double duet_requests_figure(
    const struct duet_requests *requests, const char *figure, const struct duet_part *part);

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
