/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <string.h>

#define HISTOGRAMS (2 * REQUEST_ORIGINS + 1)

static struct ss_histogram *histogram_of(struct request_tally *tally, unsigned i) {
    if (i < REQUEST_ORIGINS)
        return &tally->successes[i];
    return i < 2 * REQUEST_ORIGINS ? &tally->all[i - REQUEST_ORIGINS] : &tally->lateness;
}

const char *request_outcome_name(enum request_outcome outcome) {
    static const char *const names[REQUEST_OUTCOMES] = {
        [REQUEST_SUCCESS] = "success",
        [REQUEST_TIMEOUT] = "timeout",
        [REQUEST_UNREACHABLE] = "unreachable",
        [REQUEST_CONNECTION_REFUSED] = "connection_refused",
        [REQUEST_RESET] = "reset",
        [REQUEST_CUT] = "cut",
        [REQUEST_GARBLED] = "garbled",
        [REQUEST_STATUS] = "status",
        [REQUEST_TLS] = "tls",
        [REQUEST_RESOURCES] = "resources",
        [REQUEST_OTHER] = "other",
    };

    return names[outcome];
}

static void clear_windows(struct request_tally *tally) {
    memset(&tally->ended_count, 0, sizeof tally->ended_count);
    memset(&tally->ended_seconds, 0, sizeof tally->ended_seconds);
    tally->ended_count.from = tally->ended_seconds.from = SS_TIME_NEVER;
}

int request_tally_open(struct request_tally *tally, ss_time timeout, struct ss_error *error) {
    memset(tally, 0, sizeof *tally);
    tally->timeout = timeout;
    tally->paused_at = SS_TIME_NEVER;
    tally->first_failure = SS_TIME_NEVER;
    clear_windows(tally);

    for (unsigned i = 0; i < HISTOGRAMS; i++) {
        if (ss_histogram_open(histogram_of(tally, i), SS_HISTOGRAM_FINE) < 0) {
            request_tally_close(tally);
            return ss_error_memory(error);
        }
    }
    return 0;
}

void request_tally_close(struct request_tally *tally) {
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        ss_histogram_close(histogram_of(tally, i));
}

void request_tally_clear(struct request_tally *tally) {
    tally->refused = 0;
    tally->sent = tally->unfinished;
    tally->intended = tally->sent + tally->waiting;
    memset(tally->outcomes, 0, sizeof tally->outcomes);
    memset(tally->statuses, 0, sizeof tally->statuses);
    tally->first_failure = SS_TIME_NEVER;
    tally->last_failure = 0;
    tally->bytes = 0;
    tally->unfinished_max = tally->unfinished;
    clear_windows(tally);

    for (unsigned i = 0; i < HISTOGRAMS; i++)
        ss_histogram_clear(histogram_of(tally, i));
}

void request_tally_exchange(struct request_tally *tally, struct request_tally *other, ss_time now) {
    uint64_t unfinished = tally->unfinished, waiting = tally->waiting;
    struct request_tally before = *tally;
    before.sent -= unfinished;
    before.intended -= unfinished + waiting;
    before.unfinished = before.waiting = 0;
    before.paused_at = now;

    *tally = *other;
    tally->sent += unfinished;
    tally->intended += unfinished + waiting;
    tally->unfinished = unfinished;
    tally->waiting = waiting;
    if (tally->unfinished_max < unfinished)
        tally->unfinished_max = unfinished;
    if (tally->paused_at != SS_TIME_NEVER)
        tally->left_out = ss_time_add(tally->left_out, ss_time_since(now, tally->paused_at));
    *other = before;
}

void request_tally_begin(struct request_tally *tally) {
    tally->waiting = tally->unfinished = 0;
    request_tally_clear(tally);
}

void request_tally_due(struct request_tally *tally) {
    tally->intended++;
    tally->waiting++;
}

void request_tally_refuse(struct request_tally *tally) {
    tally->waiting--;
    tally->refused++;
}

void request_tally_send(struct request_tally *tally, ss_time due, ss_time sent) {
    tally->waiting--;
    tally->sent++;
    tally->unfinished++;
    if (tally->unfinished > tally->unfinished_max)
        tally->unfinished_max = tally->unfinished;
    ss_histogram_add(&tally->lateness, ss_time_since(sent, due));
}

void request_tally_end(struct request_tally *tally, const struct request_ended *ended) {
    bool succeeded = ended->outcome == REQUEST_SUCCESS;
    ss_time finished = ended->finished, counted = ss_time_since(finished, tally->left_out);

    tally->unfinished--;
    tally->outcomes[ended->outcome]++;
    tally->bytes += ended->bytes;
    if (ended->status > 0 && ended->status < REQUEST_STATUSES)
        tally->statuses[ended->status]++;
    if (!succeeded && counted < tally->first_failure)
        tally->first_failure = counted;
    if (!succeeded && counted > tally->last_failure)
        tally->last_failure = counted;

    if (ended->outcome == REQUEST_TIMEOUT) {
        ss_time limit = ss_time_add(ended->sent, tally->timeout);
        finished = finished < limit ? limit : finished;
    }
    ss_time lengths[REQUEST_ORIGINS] = {
        [REQUEST_INTENDED] = ss_time_since(finished, ended->due),
        [REQUEST_ACTUAL] = ss_time_since(finished, ended->sent),
    };
    for (unsigned i = 0; i < REQUEST_ORIGINS; i++) {
        ss_histogram_add(&tally->all[i], lengths[i]);
        if (succeeded)
            ss_histogram_add(&tally->successes[i], lengths[i]);
    }

    if (!succeeded)
        return;
    /* The windows begin with the first success. */
    if (tally->ended_count.from == SS_TIME_NEVER)
        tally->ended_count.from = tally->ended_seconds.from = counted;
    ss_windows_add(&tally->ended_count, counted, counted, 1);
    ss_windows_add(
        &tally->ended_seconds, counted, counted, ss_time_seconds(lengths[REQUEST_INTENDED]));
}

void request_tally_abandon(struct request_tally *tally, ss_time due, ss_time sent, ss_time now) {
    ss_histogram_add(&tally->all[REQUEST_INTENDED], ss_time_since(now, due));
    if (sent != SS_TIME_NEVER)
        ss_histogram_add(&tally->all[REQUEST_ACTUAL], ss_time_since(now, sent));
}

uint64_t request_tally_failed(const struct request_tally *tally) {
    uint64_t failed = 0;
    for (unsigned i = 0; i < REQUEST_OUTCOMES; i++)
        failed += i == REQUEST_SUCCESS ? 0 : tally->outcomes[i];
    return failed;
}
