/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_TALLY_H
#define SSREQUEST_TALLY_H

/*
 * The outcomes of requests, in figures. Always:
 *
 *     intended = sent + refused + waiting
 *     sent = succeeded + failed, of every cause + unfinished
 */

#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "base/histogram.h"

/* How a request ended. */
enum ssrequest_outcome {
    SSREQUEST_SUCCESS,
    SSREQUEST_TIMEOUT,     /* no whole answer within the limit */
    SSREQUEST_UNREACHABLE, /* no such host or socket, no way there */
    SSREQUEST_CONNECTION_REFUSED,
    SSREQUEST_RESET,     /* the connection was reset or closed before an answer began */
    SSREQUEST_CUT,       /* it ended within an answer */
    SSREQUEST_GARBLED,   /* what came is not HTTP */
    SSREQUEST_STATUS,    /* an answer of status 400 or above */
    SSREQUEST_TLS,       /* no secure connection: certificate, protocol */
    SSREQUEST_RESOURCES, /* this side has no more descriptors, ports or memory */
    SSREQUEST_OTHER,
    SSREQUEST_OUTCOMES,
};

/* "success", "timeout", ... as reports, JSON and columns name it. */
const char *ssrequest_outcome_name(enum ssrequest_outcome outcome);

/* Times from a request's moments. */
enum ssrequest_origin {
    SSREQUEST_INTENDED, /* from the moment at which it was due */
    SSREQUEST_ACTUAL,   /* from the moment at which it was sent */
    SSREQUEST_ORIGINS,
};

/* A request that ended. Moments count from the begin of the run. */
struct ssrequest_ended {
    ss_time due, sent, finished;
    enum ssrequest_outcome outcome;
    uint64_t bytes;  /* of the answer, headers and body */
    unsigned status; /* of the answer, as 404; 0: it did not come whole, or has none */
};

/* Statuses are below this. */
#define SSREQUEST_STATUSES 1000

struct ssrequest_tally {
    uint64_t intended, sent, refused, waiting, unfinished; /* waiting, unfinished: now */
    uint64_t outcomes[SSREQUEST_OUTCOMES];
    uint64_t statuses[SSREQUEST_STATUSES]; /* how many whole answers of each */
    uint64_t bytes;
    uint64_t unfinished_most;
    ss_time first_failure, last_failure; /* when they ended; SS_TIME_NEVER, 0: none failed */
    ss_time timeout; /* the limit: as long as that at least a timeout has taken */
    struct ss_histogram successes[SSREQUEST_ORIGINS];
    /* Failures as long as they took, those that never ended or were never sent as long as they had
     * waited; those refused at the cap have no length, those never sent none from the actual
     * moment. */
    struct ss_histogram all[SSREQUEST_ORIGINS];
    struct ss_histogram lateness; /* from due to sent, of all that were sent */
};

int ssrequest_tally_open(struct ssrequest_tally *tally, ss_time timeout, struct ss_error *error);
void ssrequest_tally_close(struct ssrequest_tally *tally);

/* Keeps what waits or is unfinished; it counts as intended and sent still, so that the sums hold.
 */
void ssrequest_tally_clear(struct ssrequest_tally *tally);

void ssrequest_tally_due(struct ssrequest_tally *tally);    /* one more waits */
void ssrequest_tally_refuse(struct ssrequest_tally *tally); /* a waiting one is not sent: the cap */
void ssrequest_tally_send(struct ssrequest_tally *tally, ss_time due, ss_time sent);
void ssrequest_tally_end(struct ssrequest_tally *tally, const struct ssrequest_ended *ended);

/* At the end of the run: one that still waits (`sent` is SS_TIME_NEVER) or is unfinished. */
void ssrequest_tally_abandon(struct ssrequest_tally *tally, ss_time due, ss_time sent, ss_time now);

uint64_t ssrequest_tally_failed(const struct ssrequest_tally *tally);

#endif
