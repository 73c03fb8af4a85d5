/* SPDX-License-Identifier: Apache-2.0 */
#include "run_result.h"

#include <math.h>

/*
 * Returns the first segment that ends after `moment`, by binary search: a trace may have a segment
 * for each second of a day.
 */
static size_t first_ending_after(const struct request_profile *profile, ss_time moment) {
    size_t low = 0, high = profile->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (profile->segments[middle].end > moment)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double request_mean_rate(const struct request_profile *profile, ss_time from, ss_time to) {
    double mean = 0; /* exact within one segment, whose weight is 1 */
    for (size_t i = first_ending_after(profile, from); i < profile->count; i++) {
        const struct request_segment *segment = &profile->segments[i];
        if (segment->begin >= to || to <= from)
            break;

        ss_time begin = segment->begin > from ? segment->begin : from;
        ss_time end = segment->end < to ? segment->end : to;
        mean += segment->rate * ((double)(end - begin) / (double)(to - from));
    }
    return mean;
}

double request_success_ratio(const struct request_tally *tally) {
    return tally->intended ? (double)tally->outcomes[REQUEST_SUCCESS] / (double)tally->intended
                           : NAN;
}

bool request_is_saturated(const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    return result->rules.clients > 0 || tally->refused > 0 || tally->waiting > 0 ||
           ss_histogram_quantile(&tally->lateness, 0.99) > REQUEST_LATE_SECONDS;
}

double request_generator_utilization(const struct request_result *result) {
    double waited = result->own_wait_seconds > 0 ? result->own_wait_seconds : 0;
    return (result->own_cpu_seconds + waited) / ss_time_seconds(result->took);
}

bool request_generator_is_limit(const struct request_result *result) {
    return request_generator_utilization(result) > REQUEST_BUSY_MAX && request_is_saturated(result);
}

double request_throughput(const struct request_result *result) {
    return result->took
               ? (double)result->tally->outcomes[REQUEST_SUCCESS] / ss_time_seconds(result->took)
               : NAN;
}

/*
 * Sets the mean response time of each window. For a window in which no request ended, uses that of
 * the previous window, or of the first window with requests.
 */
static void set_means(double *sums, const double *counts, size_t windows) {
    double mean = NAN;
    for (size_t i = 0; i < windows && isnan(mean); i++)
        mean = counts[i] > 0 ? sums[i] / counts[i] : NAN;
    for (size_t i = 0; i < windows; i++) {
        mean = counts[i] > 0 ? sums[i] / counts[i] : mean;
        sums[i] = mean;
    }
}

/* Looks for changes of the mean response time and, in a closed loop, of the throughput. */
static void judge_changes(const struct request_result *result, struct ss_evidence *evidence) {
    const struct request_tally *tally = result->tally;
    double sums[SS_STATIONARITY_MAX], counts[SS_STATIONARITY_MAX];

    /* Response times should not change if the load on the service is constant. */
    bool is_steady = !result->rate_changed && !(result->held && result->held->follows) &&
                     (result->rules.clients > 0 || result->given.shape == REQUEST_CONSTANT);

    /* Ignore the time after sending: fewer and fewer requests end, and lost ones very late. */
    ss_time end = ss_time_add(result->counted_from, result->sending_time);
    size_t windows = ss_stationarity_windows((double)tally->outcomes[REQUEST_SUCCESS]);
    if (windows == 0 || !is_steady)
        return;

    ss_windows_split(&tally->ended_seconds, end, windows, sums);
    ss_windows_split(&tally->ended_count, end, windows, counts);
    set_means(sums, counts, windows);
    evidence->response = ss_stationarity_find(sums, windows);
    evidence->figures[SS_CHECK_RESPONSE] = 100 * ss_stationarity_change(&evidence->response);

    /* In an open loop, the throughput only reflects the rate at which requests arrive. */
    if (result->rules.clients == 0)
        return;
    evidence->throughput = ss_stationarity_find(counts, windows);
    evidence->figures[SS_CHECK_THROUGHPUT] = 100 * ss_stationarity_change(&evidence->throughput);
}

/*
 * Returns the 99th percentile of the lateness as a percentage of the median response time; NaN if
 * requests wait by design: in a closed loop, and after the limit of unfinished requests was
 * reached.
 */
static double find_lateness(const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    bool full = tally->unfinished_max >= result->rules.cap;
    if (result->rules.clients > 0 || full)
        return NAN;
    return 100 * ss_histogram_quantile(&tally->lateness, 0.99) /
           ss_histogram_quantile(&tally->successes[REQUEST_ACTUAL], 0.5);
}

struct ss_verdict request_verdict(const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    uint64_t successes = tally->outcomes[REQUEST_SUCCESS], failures = request_tally_failed(tally);
    struct ss_evidence evidence;

    ss_evidence_clear(&evidence);
    judge_changes(result, &evidence);
    evidence.figures[SS_CHECK_LATE_REQUESTS] = find_lateness(result);
    evidence.figures[SS_CHECK_CLOCK] = result->clock_moved_ms;
    evidence.figures[SS_CHECK_SUSPENDED] = result->suspended_seconds;
    evidence.figures[SS_CHECK_FAILED_REQUESTS] =
        100 * (double)failures / (double)(successes + failures);
    evidence.figures[SS_CHECK_UNANSWERED_REQUESTS] =
        100 * (double)(tally->refused + tally->waiting + tally->unfinished) /
        (double)tally->intended;

    if (result->held) {
        evidence.figures[SS_CHECK_MEAN_ERROR] = result->held->error_mean_percent;
        evidence.figures[SS_CHECK_BACKGROUND] = 100 * result->held->background / result->held->cpus;
        evidence.figures[SS_CHECK_COST] = 100 * result->held->cost_change;
    }

    evidence.figures[SS_CHECK_INTERRUPTED] = result->stopped;
    evidence.interruption = SS_STOPPED_EARLY;
    evidence.figures[SS_CHECK_SUCCESSES] = (double)successes;
    return ss_verdict_reach(&evidence);
}
