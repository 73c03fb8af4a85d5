/* SPDX-License-Identifier: Apache-2.0 */
#include "run_result.h"

#include <math.h>

const char *ssrequest_shape_name(enum ssrequest_shape shape) {
    static const char *const names[] = {"constant", "step", "trace"};
    return names[shape];
}

const char *ssrequest_arrival_name(enum ssrequest_arrival arrival) {
    static const char *const names[] = {"concurrent", "even", "poisson"};
    return names[arrival];
}

const char *ssrequest_when_full_name(enum ssrequest_when_full when_full) {
    static const char *const names[] = {"delay", "drop"};
    return names[when_full];
}

const char *ssrequest_balance_name(enum ssrequest_balance balance) {
    static const char *const names[] = {"round-robin", "least-connections"};
    return names[balance];
}

/*
 * Returns the first stretch that ends after `moment`, by binary search: a trace may have a stretch
 * for each second of a day.
 */
static size_t first_ending_after(const struct ssrequest_profile *profile, ss_time moment) {
    size_t low = 0, high = profile->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (profile->stretches[middle].end > moment)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double ssrequest_mean_rate(const struct ssrequest_profile *profile, ss_time from, ss_time to) {
    double mean = 0; /* starting at 0 makes the result exact within one stretch */
    for (size_t i = first_ending_after(profile, from); i < profile->count; i++) {
        const struct ssrequest_stretch *stretch = &profile->stretches[i];
        if (stretch->begin >= to || to <= from)
            break;
        ss_time begin = stretch->begin > from ? stretch->begin : from;
        ss_time end = stretch->end < to ? stretch->end : to;
        mean += stretch->rate * ((double)(end - begin) / (double)(to - from));
    }
    return mean;
}

double ssrequest_success_ratio(const struct ssrequest_tally *tally) {
    return tally->intended ? (double)tally->outcomes[SSREQUEST_SUCCESS] / (double)tally->intended
                           : NAN;
}

bool ssrequest_is_saturated(const struct ssrequest_account *account) {
    const struct ssrequest_tally *tally = account->tally;
    return account->rules.closed > 0 || tally->refused > 0 || tally->waiting > 0 ||
           ss_histogram_quantile(&tally->lateness, 0.99) > SSREQUEST_LATE;
}

double ssrequest_generator_busy(const struct ssrequest_account *account) {
    double waited = account->own_wait_seconds > 0 ? account->own_wait_seconds : 0;
    return (account->own_cpu_seconds + waited) / ss_time_seconds(account->took);
}

bool ssrequest_generator_is_limit(const struct ssrequest_account *account) {
    return ssrequest_generator_busy(account) > SSREQUEST_BUSY && ssrequest_is_saturated(account);
}

double ssrequest_throughput(const struct ssrequest_account *account) {
    return account->took ? (double)account->tally->outcomes[SSREQUEST_SUCCESS] /
                               ss_time_seconds(account->took)
                         : NAN;
}
