/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_TALLY_H
#define REQUEST_TALLY_H

/*
 * Counts and times of requests by outcome. These equations always hold:
 *
 *     intended = sent + refused + waiting
 *     sent = succeeded + failed + unfinished
 */

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "base/histogram.h"
#include "verdict/windows.h"

enum request_outcome {
    REQUEST_SUCCESS,
    REQUEST_TIMEOUT,     /* no complete answer within the limit */
    REQUEST_UNREACHABLE, /* no such host or socket, or no route */
    REQUEST_CONNECTION_REFUSED,
    REQUEST_RESET,     /* the connection was reset or closed before an answer began */
    REQUEST_CUT,       /* the connection ended within an answer */
    REQUEST_GARBLED,   /* the answer is not HTTP */
    REQUEST_STATUS,    /* an answer of status 400 or above */
    REQUEST_TLS,       /* no secure connection */
    REQUEST_RESOURCES, /* the client lacks descriptors, ports or memory */
    REQUEST_OTHER,
    REQUEST_OUTCOMES,
};

/* Returns the name in reports, JSON and columns, such as "timeout". */
const char *request_outcome_name(enum request_outcome outcome);

/* Response times are measured from this moment. */
enum request_origin {
    REQUEST_INTENDED, /* when the request was due */
    REQUEST_ACTUAL,   /* when the request was sent */
    REQUEST_ORIGINS,
};

/* A request that ended. Moments are times since the run began. */
struct request_ended {
    ss_time due, sent, finished;
    enum request_outcome outcome;
    uint64_t bytes;  /* size of the answer, headers and body */
    unsigned status; /* status of a complete answer, such as 404; 0 otherwise */
};

/* All status codes are below this. */
#define REQUEST_STATUSES 1000

struct request_tally {
    uint64_t intended, sent, refused;
    uint64_t waiting, unfinished; /* current numbers */
    uint64_t outcomes[REQUEST_OUTCOMES];
    uint64_t statuses[REQUEST_STATUSES]; /* complete answers by status */
    uint64_t bytes;
    uint64_t unfinished_max;
    ss_time first_failure, last_failure; /* times at which the first and the last failed request
                                            ended; SS_TIME_NEVER and 0 if none */
    ss_time left_out;  /* time that was not counted, see request_tally_exchange(); the windows and
                          the two times above exclude it */
    ss_time paused_at; /* when counting last stopped; SS_TIME_NEVER if it never did */
    ss_time timeout;   /* value of --timeout; timeouts count as at least this long */
    struct ss_histogram successes[REQUEST_ORIGINS];
    /*
     * Response times of all requests except refused ones. Unfinished and unsent requests count with
     * the time until the end of the run; unsent ones only from REQUEST_INTENDED.
     */
    struct ss_histogram all[REQUEST_ORIGINS];
    struct ss_histogram lateness; /* time from due to sent, of all sent requests */

    /* Number of successes, and sum of their times from due to end, by the window of their end. */
    struct ss_windows ended_count, ended_seconds;
};

SS_MUST_USE SS_NONNULL(1) int request_tally_open(
    struct request_tally *tally, ss_time timeout, struct ss_error *error);
SS_NONNULL() void request_tally_close(struct request_tally *tally);

/*
 * Resets everything except waiting and unfinished requests, which still count as intended and sent,
 * so that the equations hold.
 */
SS_NONNULL() void request_tally_clear(struct request_tally *tally);

/*
 * Swaps the contents of both tallies at `now`: `tally` continues with the counts of `other`.
 * Waiting and unfinished requests stay in `tally`.
 */
SS_NONNULL()
void request_tally_exchange(struct request_tally *tally, struct request_tally *other, ss_time now);

/* Like request_tally_clear(), but resets waiting and unfinished requests, too, for another run. */
SS_NONNULL() void request_tally_begin(struct request_tally *tally);

/* Counts a request that becomes due and waits. */
SS_NONNULL() void request_tally_due(struct request_tally *tally);

/* Counts a waiting request that is dropped at the cap. */
SS_NONNULL() void request_tally_refuse(struct request_tally *tally);

SS_NONNULL() void request_tally_send(struct request_tally *tally, ss_time due, ss_time sent);
SS_NONNULL() void request_tally_end(struct request_tally *tally, const struct request_ended *ended);

/*
 * Adds a request that waits (`sent` is SS_TIME_NEVER) or is unfinished at the end of the run to
 * `all`. Call this for each such request.
 */
SS_NONNULL()
void request_tally_abandon(struct request_tally *tally, ss_time due, ss_time sent, ss_time now);

SS_NONNULL() uint64_t request_tally_failed(const struct request_tally *tally);

#endif
