/* SPDX-License-Identifier: Apache-2.0 */
#include "request_verdict.h"

#include <math.h>

static uint64_t count_successes(const struct request_account *account) {
    return account->tally->outcomes[REQUEST_SUCCESS];
}

/* Returns whether the load on the service is constant, so that response times should not change. */
static bool is_steady(const struct request_account *account) {
    bool closed = account->rules.closed > 0;
    return !account->turned && (closed || account->given.shape == REQUEST_CONSTANT);
}

/*
 * Sets the mean response time of each window. For a window in which no request ended, uses that of
 * the previous window, or of the first window with requests.
 */
static void divide(double *sums, const double *counts, size_t windows) {
    double mean = NAN;
    for (size_t i = 0; i < windows && isnan(mean); i++)
        mean = counts[i] > 0 ? sums[i] / counts[i] : NAN;
    for (size_t i = 0; i < windows; i++) {
        mean = counts[i] > 0 ? sums[i] / counts[i] : mean;
        sums[i] = mean;
    }
}

/* Looks for changes of the mean response time and, in a closed loop, of the throughput. */
static void judge_changes(const struct request_account *account, struct ss_evidence *evidence) {
    const struct request_tally *tally = account->tally;
    double sums[SS_STATIONARITY_MAX], counts[SS_STATIONARITY_MAX];
    /* Once sending ends, less and less is in progress, and a lost request may end very late. */
    ss_time end = ss_time_add(account->skipped, account->asked);
    size_t windows = ss_stationarity_windows((double)count_successes(account));
    if (windows == 0 || !is_steady(account))
        return;
    ss_windows_split(&tally->ended_seconds, end, windows, sums);
    ss_windows_split(&tally->ended_count, end, windows, counts);
    divide(sums, counts, windows);
    evidence->response = ss_stationarity_find(sums, windows);
    evidence->figures[SS_CHECK_RESPONSE] = 100 * ss_stationarity_change(&evidence->response);
    /* In an open loop, the throughput only reflects the rate at which requests arrive. */
    if (account->rules.closed == 0)
        return;
    evidence->throughput = ss_stationarity_find(counts, windows);
    evidence->figures[SS_CHECK_THROUGHPUT] = 100 * ss_stationarity_change(&evidence->throughput);
}

/*
 * Returns the lateness of 99 % of the requests as a percentage of the median response time; NaN if
 * requests wait by design: in a closed loop, and after the limit of unfinished requests was
 * reached.
 */
static double find_lateness(const struct request_account *account) {
    const struct request_tally *tally = account->tally;
    bool full = tally->unfinished_most >= account->rules.cap;
    if (account->rules.closed > 0 || full)
        return NAN;
    return 100 * ss_histogram_quantile(&tally->lateness, 0.99) /
           ss_histogram_quantile(&tally->successes[REQUEST_ACTUAL], 0.5);
}

struct ss_verdict request_verdict(const struct request_account *account) {
    const struct request_tally *tally = account->tally;
    uint64_t successes = count_successes(account), failures = request_tally_failed(tally);
    struct ss_evidence evidence;
    ss_evidence_clear(&evidence);
    judge_changes(account, &evidence);
    evidence.figures[SS_CHECK_LATE_REQUESTS] = find_lateness(account);
    evidence.figures[SS_CHECK_CLOCK] = account->clock_moved;
    evidence.figures[SS_CHECK_SUSPENDED] = account->suspended;
    evidence.figures[SS_CHECK_FAILED_REQUESTS] =
        100 * (double)failures / (double)(successes + failures);
    evidence.figures[SS_CHECK_UNANSWERED_REQUESTS] =
        100 * (double)(tally->refused + tally->waiting + tally->unfinished) /
        (double)tally->intended;
    evidence.figures[SS_CHECK_INTERRUPTED] = account->stopped;
    evidence.interruption = SS_STOPPED_EARLY;
    evidence.figures[SS_CHECK_SUCCESSES] = (double)successes;
    return ss_verdict_reach(&evidence);
}
