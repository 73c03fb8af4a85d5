/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <string.h>

#define HISTOGRAMS (2 * SSREQUEST_ORIGINS + 1)

static struct ss_histogram *histogram_of(struct ssrequest_tally *tally, unsigned i) {
    if (i < SSREQUEST_ORIGINS)
        return &tally->successes[i];
    return i < 2 * SSREQUEST_ORIGINS ? &tally->all[i - SSREQUEST_ORIGINS] : &tally->lateness;
}

const char *ssrequest_outcome_name(enum ssrequest_outcome outcome) {
    static const char *const names[SSREQUEST_OUTCOMES] = {
        [SSREQUEST_SUCCESS] = "success",
        [SSREQUEST_TIMEOUT] = "timeout",
        [SSREQUEST_UNREACHABLE] = "unreachable",
        [SSREQUEST_CONNECTION_REFUSED] = "connection_refused",
        [SSREQUEST_RESET] = "reset",
        [SSREQUEST_CUT] = "cut",
        [SSREQUEST_GARBLED] = "garbled",
        [SSREQUEST_STATUS] = "status",
        [SSREQUEST_TLS] = "tls",
        [SSREQUEST_RESOURCES] = "resources",
        [SSREQUEST_OTHER] = "other",
    };
    return names[outcome];
}

static void clear_windows(struct ssrequest_tally *tally) {
    memset(&tally->ended_count, 0, sizeof tally->ended_count);
    memset(&tally->ended_seconds, 0, sizeof tally->ended_seconds);
    tally->ended_count.from = tally->ended_seconds.from = SS_TIME_NEVER;
}

/* Adds a success to the windows, which begin with the first success. */
static void add_to_windows(struct ssrequest_tally *tally, ss_time finished, ss_time length) {
    if (tally->ended_count.from == SS_TIME_NEVER)
        tally->ended_count.from = tally->ended_seconds.from = finished;
    ss_windows_add(&tally->ended_count, finished, finished, 1);
    ss_windows_add(&tally->ended_seconds, finished, finished, ss_time_seconds(length));
}

int ssrequest_tally_open(struct ssrequest_tally *tally, ss_time timeout, struct ss_error *error) {
    memset(tally, 0, sizeof *tally);
    tally->timeout = timeout;
    tally->first_failure = SS_TIME_NEVER;
    clear_windows(tally);
    for (unsigned i = 0; i < HISTOGRAMS; i++) {
        if (ss_histogram_open(histogram_of(tally, i), SS_HISTOGRAM_FINE) < 0) {
            ssrequest_tally_close(tally);
            return ss_error_memory(error);
        }
    }
    return 0;
}

void ssrequest_tally_close(struct ssrequest_tally *tally) {
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        ss_histogram_close(histogram_of(tally, i));
}

void ssrequest_tally_clear(struct ssrequest_tally *tally) {
    tally->refused = 0;
    tally->sent = tally->unfinished;
    tally->intended = tally->sent + tally->waiting;
    memset(tally->outcomes, 0, sizeof tally->outcomes);
    memset(tally->statuses, 0, sizeof tally->statuses);
    tally->first_failure = SS_TIME_NEVER;
    tally->last_failure = 0;
    tally->bytes = 0;
    tally->unfinished_most = tally->unfinished;
    clear_windows(tally);
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        ss_histogram_clear(histogram_of(tally, i));
}

void ssrequest_tally_begin(struct ssrequest_tally *tally) {
    tally->waiting = tally->unfinished = 0;
    ssrequest_tally_clear(tally);
}

void ssrequest_tally_due(struct ssrequest_tally *tally) {
    tally->intended++;
    tally->waiting++;
}

void ssrequest_tally_refuse(struct ssrequest_tally *tally) {
    tally->waiting--;
    tally->refused++;
}

void ssrequest_tally_send(struct ssrequest_tally *tally, ss_time due, ss_time sent) {
    tally->waiting--;
    tally->sent++;
    tally->unfinished++;
    if (tally->unfinished > tally->unfinished_most)
        tally->unfinished_most = tally->unfinished;
    ss_histogram_add(&tally->lateness, ss_time_since(sent, due));
}

static void note_failure(struct ssrequest_tally *tally, ss_time moment) {
    if (moment < tally->first_failure)
        tally->first_failure = moment;
    if (moment > tally->last_failure)
        tally->last_failure = moment;
}

void ssrequest_tally_end(struct ssrequest_tally *tally, const struct ssrequest_ended *ended) {
    tally->unfinished--;
    tally->outcomes[ended->outcome]++;
    tally->bytes += ended->bytes;
    if (ended->status > 0 && ended->status < SSREQUEST_STATUSES)
        tally->statuses[ended->status]++;
    if (ended->outcome != SSREQUEST_SUCCESS)
        note_failure(tally, ended->finished);
    ss_time finished = ended->finished;
    if (ended->outcome == SSREQUEST_TIMEOUT) {
        ss_time limit = ss_time_add(ended->sent, tally->timeout);
        finished = finished < limit ? limit : finished;
    }
    ss_time lengths[SSREQUEST_ORIGINS] = {
        [SSREQUEST_INTENDED] = ss_time_since(finished, ended->due),
        [SSREQUEST_ACTUAL] = ss_time_since(finished, ended->sent),
    };
    if (ended->outcome == SSREQUEST_SUCCESS)
        add_to_windows(tally, finished, lengths[SSREQUEST_INTENDED]);
    for (unsigned i = 0; i < SSREQUEST_ORIGINS; i++) {
        ss_histogram_add(&tally->all[i], lengths[i]);
        if (ended->outcome == SSREQUEST_SUCCESS)
            ss_histogram_add(&tally->successes[i], lengths[i]);
    }
}

void ssrequest_tally_abandon(
    struct ssrequest_tally *tally, ss_time due, ss_time sent, ss_time now) {
    ss_histogram_add(&tally->all[SSREQUEST_INTENDED], ss_time_since(now, due));
    if (sent != SS_TIME_NEVER)
        ss_histogram_add(&tally->all[SSREQUEST_ACTUAL], ss_time_since(now, sent));
}

uint64_t ssrequest_tally_failed(const struct ssrequest_tally *tally) {
    uint64_t failed = 0;
    for (unsigned i = 0; i < SSREQUEST_OUTCOMES; i++)
        failed += i == SSREQUEST_SUCCESS ? 0 : tally->outcomes[i];
    return failed;
}
