/* SPDX-License-Identifier: Apache-2.0 */
#include "responses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "base/owned.h"
#include "csv.h"
#include "steps.h"

bool ssreport_responses_are_in(const char *path) {
    return ssreport_has_file(path, SSREPORT_RESPONSES_TABLE) ||
           ssreport_has_file(path, SSREPORT_RESPONSES_DOCUMENT) ||
           ssreport_responses_are_file(path);
}

void ssreport_responses_free(struct ssreport_responses *responses) {
    char *const texts[] = {responses->name, responses->path, responses->version, responses->arrival,
        responses->profile, responses->targets, responses->when_full, responses->causes,
        responses->capacity.demand, responses->experiment, responses->workload, responses->method,
        responses->group, responses->environment, responses->power_source, responses->knees,
        responses->balance, responses->knobs, responses->variant};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < responses->per_target_count; i++)
        free(responses->per_target[i].url);
    free(responses->per_target);
    ssreport_columns_free(&responses->columns);
    ssreport_verdict_free(&responses->verdict);
    free(responses->seconds);
    free(responses->buckets);
    free(responses->loads);
    ssreport_energy_free(&responses->energy);
    ssreport_idle_free(&responses->idle);
    *responses = (struct ssreport_responses){0};
}

/* Returns the part of a second's successes that took at most `time`. */
static double share_within(const struct ssreport_response *response, double time) {
    const double times[] = {0, response->p50, response->p95, response->p99, response->most};
    static const double shares[] = {0, 0.5, 0.95, 0.99, 1};
    size_t i = 0;
    while (i < 5 && times[i] <= time)
        i++;
    if (i == 0)
        return 0;
    if (i == 5)
        return 1;
    return shares[i - 1] +
           (shares[i] - shares[i - 1]) * (time - times[i - 1]) / (times[i] - times[i - 1]);
}

/* Returns the weight of a second; 0 if it lacks percentiles. */
static double weight_of(
    const struct ssreport_response_second *second, enum ssreport_origin origin) {
    const struct ssreport_response *response = &second->response[origin];
    return isfinite(response->mean + response->p50 + response->p95 + response->p99 + response->most)
               ? second->completed
               : 0;
}

static double estimate_quantile(const struct ssreport_response_second *seconds, size_t count,
    enum ssreport_origin origin, double share) {
    double low = 0, high = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = weight_of(&seconds[i], origin);
        all += weight;
        if (weight > 0)
            high = fmax(high, seconds[i].response[origin].most);
    }
    if (!(all > 0))
        return NAN;
    for (int round = 0; round < 60 && low < high; round++) {
        double middle = (low + high) / 2, within = 0;
        for (size_t i = 0; i < count; i++) {
            double weight = weight_of(&seconds[i], origin);
            if (weight > 0)
                within += weight * share_within(&seconds[i].response[origin], middle);
        }
        if (within >= share * all)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/*
 * Adds up the buckets of all seconds. Returns false if a second with successes has no buckets, or
 * if memory is exhausted.
 */
static bool merge_buckets(struct ss_histogram *all, const struct ssreport_response_second *seconds,
    size_t count, enum ssreport_origin origin) {
    unsigned bits = SS_HISTOGRAM_FINE;
    for (size_t i = 0; i < count; i++) {
        if (seconds[i].completed > 0 && seconds[i].bucket_count == 0)
            return false;
        if (seconds[i].bucket_count > 0 && seconds[i].bucket_bits < bits)
            bits = seconds[i].bucket_bits;
    }
    if (ss_histogram_open(all, bits) < 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < seconds[i].bucket_count; j++)
            ss_histogram_add_bucket(all, seconds[i].buckets[j].bucket, seconds[i].bucket_bits,
                seconds[i].buckets[j].counts[origin]);
    }
    return true;
}

static void set_percentiles(struct ssreport_response *response,
    const struct ssreport_response_second *seconds, size_t count, enum ssreport_origin origin) {
    struct {
        double share, *value;
    } const percentiles[] = {{0.5, &response->p50}, {0.95, &response->p95}, {0.99, &response->p99}};
    struct ss_histogram all = {0};
    response->estimated = !merge_buckets(&all, seconds, count, origin);
    ss_histogram_set_max(&all, ss_time_from_double(round(response->most * 1e9)));
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        *percentiles[i].value =
            response->estimated
                ? estimate_quantile(seconds, count, origin, percentiles[i].share)
                : fmin(ss_histogram_quantile(&all, percentiles[i].share), response->most);
    ss_histogram_close(&all);
}

/*
 * Returns the uncertainty of the mean. Requests that wait for each other are not independent, nor
 * are the seconds in which they end.
 */
static struct ssreport_sureness find_sureness(const struct ssreport_response_second *seconds,
    size_t count, enum ssreport_origin origin, double mean) {
    SS_OWNED(free) double *means = calloc(2 * count + 1, sizeof *means);
    size_t used = 0;
    if (!means)
        return (struct ssreport_sureness){NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        double weight = weight_of(&seconds[i], origin);
        if (!(weight > 0))
            continue;
        means[used] = seconds[i].response[origin].mean;
        means[count + used++] = weight;
    }
    return ssreport_series_sureness(means, means + count, used, mean);
}

struct ssreport_response ssreport_responses_of(
    const struct ssreport_response_second *seconds, size_t count, enum ssreport_origin origin) {
    double sum = 0, all = 0, most = NAN;
    if (count == 1 && weight_of(seconds, origin) > 0) {
        struct ssreport_response only = seconds->response[origin];
        only.mean_sureness = (struct ssreport_sureness){NAN, NAN};
        return only;
    }
    for (size_t i = 0; i < count; i++) {
        double weight = weight_of(&seconds[i], origin);
        if (!(weight > 0))
            continue;
        all += weight;
        sum += weight * seconds[i].response[origin].mean;
        most = fmax(most, seconds[i].response[origin].most);
    }
    struct ssreport_response response = {.mean = all > 0 ? sum / all : NAN,
        .p50 = NAN,
        .p95 = NAN,
        .p99 = NAN,
        .most = most,
        .mean_sureness = find_sureness(seconds, count, origin, sum / all)};
    if (all > 0)
        set_percentiles(&response, seconds, count, origin);
    return response;
}

struct ssreport_interval ssreport_response_mean_interval(
    const struct ssreport_response *response, double confidence) {
    struct ssreport_interval interval =
        ssreport_mean_interval(response->mean, response->mean_sureness, confidence);
    interval.low = interval.low < 0 ? 0 : interval.low;
    return interval;
}

static bool is_same_rate(double one, double other) {
    return isnan(one) ? isnan(other) : fabs(one - other) <= 1e-6 * fabs(one);
}

/*
 * Returns how many seconds to exclude at each end; 0 if none would remain, because stretches of
 * published runs have only two seconds.
 */
static size_t seconds_left_out(double edge, size_t count) {
    double length = edge == SSREPORT_EDGE_DEFAULT ? fmin((double)count / 6, 30) : edge;
    size_t whole = (size_t)fmin(floor(length + 1e-9), (double)count);
    return 2 * whole < count ? whole : 0;
}

/* Returns the number of seconds that begin before the end of the profile; all if it is unknown. */
static size_t count_planned(const struct ssreport_responses *responses) {
    size_t count = responses->count;
    while (responses->profile_length > 0 && count > 0 &&
           responses->seconds[count - 1].begin > responses->profile_length - 1e-6)
        count--;
    return count;
}

bool ssreport_responses_stretch(const struct ssreport_responses *responses, double edge,
    size_t *next, struct ssreport_stretch *stretch) {
    const struct ssreport_response_second *seconds = responses->seconds;
    size_t first = *next, last = first, count = count_planned(responses);
    if (first >= count)
        return false;
    while (last < count && is_same_rate(seconds[first].rate, seconds[last].rate))
        last++;
    *next = last;
    size_t left_out = seconds_left_out(edge, last - first);
    *stretch = (struct ssreport_stretch){.first = first + left_out,
        .count = last - first - 2 * left_out,
        .begin = seconds[first].begin,
        .end = seconds[last - 1].end,
        .rate = seconds[first].rate};
    const struct ssreport_response_second *counted = &seconds[stretch->first];
    stretch->from = counted->at - (counted->end - counted->begin);
    stretch->to = counted[stretch->count - 1].at;
    for (size_t i = 0; i < stretch->count; i++) {
        stretch->due += counted[i].due;
        stretch->sent += counted[i].sent;
        stretch->refused += counted[i].refused;
        stretch->completed += counted[i].completed;
        stretch->failed += counted[i].failed;
        stretch->timeouts += counted[i].timeouts;
        stretch->lateness_most = fmax(stretch->lateness_most, counted[i].lateness_most);
    }
    for (int origin = 0; origin < SSREPORT_ORIGINS; origin++)
        stretch->response[origin] =
            ssreport_responses_of(counted, stretch->count, (enum ssreport_origin)origin);
    return true;
}

double ssreport_responses_added_by_stops(double duty, double tau, double work) {
    double turns = fmax(ceil(work / (duty * tau)), 1);
    return (1 - duty) * (1 - duty) * tau * (turns - 0.5) + (1 - duty) * work;
}
