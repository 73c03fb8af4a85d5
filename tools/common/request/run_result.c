/* SPDX-License-Identifier: Apache-2.0 */
#include "run_result.h"

#include <math.h>

/*
 * Returns the first stretch that ends after `moment`, by binary search: a trace may have a stretch
 * for each second of a day.
 */
static size_t first_ending_after(const struct request_profile *profile, ss_time moment) {
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

double request_mean_rate(const struct request_profile *profile, ss_time from, ss_time to) {
    double mean = 0; /* starting at 0 makes the result exact within one stretch */
    for (size_t i = first_ending_after(profile, from); i < profile->count; i++) {
        const struct request_stretch *stretch = &profile->stretches[i];
        if (stretch->begin >= to || to <= from)
            break;
        ss_time begin = stretch->begin > from ? stretch->begin : from;
        ss_time end = stretch->end < to ? stretch->end : to;
        mean += stretch->rate * ((double)(end - begin) / (double)(to - from));
    }
    return mean;
}

double request_success_ratio(const struct request_tally *tally) {
    return tally->intended ? (double)tally->outcomes[REQUEST_SUCCESS] / (double)tally->intended
                           : NAN;
}

bool request_is_saturated(const struct request_account *account) {
    const struct request_tally *tally = account->tally;
    return account->rules.closed > 0 || tally->refused > 0 || tally->waiting > 0 ||
           ss_histogram_quantile(&tally->lateness, 0.99) > REQUEST_LATE;
}

double request_generator_busy(const struct request_account *account) {
    double waited = account->own_wait_seconds > 0 ? account->own_wait_seconds : 0;
    return (account->own_cpu_seconds + waited) / ss_time_seconds(account->took);
}

bool request_generator_is_limit(const struct request_account *account) {
    return request_generator_busy(account) > REQUEST_BUSY && request_is_saturated(account);
}

double request_throughput(const struct request_account *account) {
    return account->took
               ? (double)account->tally->outcomes[REQUEST_SUCCESS] / ss_time_seconds(account->took)
               : NAN;
}
