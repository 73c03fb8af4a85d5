/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity_trial.h"

#include <math.h>

#define BATCHES     REQUEST_BATCHES_MAX
#define BATCHES_MIN 16

/* Batches that differ by at most this, relative to the largest one, count as equal. */
#define BATCH_DIFFERENCE_MAX 0.1

/* If the mean number of requests in the service is below this, there is no queue. */
#define QUEUE_MIN 0.5

#define RISE_FACTOR 1.25

/* One-sided 5 % quantile of the normal distribution. */
#define NORMAL_QUANTILE 1.645

static void merge(struct request_batches *batches) {
    for (int i = 0; i < BATCHES; i++)
        batches->sums[i] = i < BATCHES / 2 ? batches->sums[2 * i] + batches->sums[2 * i + 1] : 0;
    batches->size *= 2;
}

void request_batches_add(struct request_batches *batches, double seconds) {
    if (batches->size == 0)
        batches->size = 1;
    if (batches->count == BATCHES * batches->size)
        merge(batches);
    batches->sums[batches->count++ / batches->size] += seconds;
    batches->total += seconds;
}

/* Returns the number of complete batches. */
static int count_batches(const struct request_batches *batches) {
    return batches->size ? (int)(batches->count / batches->size) : 0;
}

bool request_values_are_uncorrelated(const double *values, int count) {
    double mean = 0, squares = 0, steps = 0;
    for (int i = 0; i < count; i++)
        mean += values[i] / count;

    for (int i = 0; i < count; i++) {
        double off = values[i] - mean;
        double step = i > 0 ? values[i] - values[i - 1] : 0;
        squares += off * off;
        steps += step * step;
    }

    double ratio = steps / (2 * squares); /* about 1 without correlation, near 0 with a trend */
    double deviation = sqrt((count - 2.0) / (count * (double)count - 1));
    return ratio >= 1 - NORMAL_QUANTILE * deviation;
}

static bool are_alike(const struct request_batches *batches, int count) {
    double min = batches->sums[0], max = min;
    for (int i = 1; i < count; i++) {
        min = fmin(min, batches->sums[i]);
        max = fmax(max, batches->sums[i]);
    }
    return max - min <= BATCH_DIFFERENCE_MAX * max;
}

bool request_batches_are_steady(const struct request_batches *batches, double elapsed) {
    int count = count_batches(batches);
    if (count < BATCHES_MIN)
        return false;
    if (batches->total < QUEUE_MIN * elapsed || are_alike(batches, count))
        return true;
    return request_values_are_uncorrelated(batches->sums, count);
}

bool request_batches_rise(const struct request_batches *batches) {
    int half = count_batches(batches) / 2;
    double first = 0, second = 0;
    for (int i = 0; i < half; i++) {
        first += batches->sums[i];
        second += batches->sums[half + i];
    }
    return second > RISE_FACTOR * first;
}

/* A trial is abandoned if its statistic exceeds this many times the limit. */
#define HOPELESS_FACTOR 2

_Static_assert(REQUEST_TRIAL_PERIODS ==
                   REQUEST_TRIAL_WARMUP + REQUEST_TRIAL_STAGE * ((1 << REQUEST_TRIAL_STAGES) - 1),
    "each stage is twice as long as the one before");

void request_trial_observe(void *context, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    struct request_trial_watch *watch = context;
    (void)one;
    if (fate == REQUEST_ENDED)
        request_batches_add(
            &watch->batches, ss_time_seconds(ss_time_since(ended->finished, ended->due)));
}

double request_trial_measured(const struct request_trial_watch *watch) {
    return ss_time_seconds(watch->period * (watch->periods - watch->stage_begin));
}

static bool is_enough(struct request_trial_watch *watch) {
    const struct request_tally *tally = watch->tally;
    double figure = request_criterion_figure(watch->criterion, tally);
    double limit = ss_time_seconds(watch->criterion->limit);
    double ended = (double)(tally->sent - tally->unfinished + tally->refused);
    bool has_failed = (double)tally->outcomes[REQUEST_SUCCESS] < REQUEST_SUCCESS_RATIO_MIN * ended;

    watch->is_steady = request_batches_are_steady(&watch->batches, request_trial_measured(watch));
    return watch->is_steady || has_failed || figure > HOPELESS_FACTOR * limit ||
           (figure > limit && request_batches_rise(&watch->batches)) ||
           watch->stage == REQUEST_TRIAL_STAGES;
}

bool request_trial_step(struct request_trial_watch *watch) {
    unsigned stage = watch->stage;
    unsigned length = stage == 0 ? REQUEST_TRIAL_WARMUP : REQUEST_TRIAL_STAGE << (stage - 1);

    if (watch->is_over || ++watch->periods < watch->stage_begin + length)
        return false;

    watch->is_over = stage > 0 && is_enough(watch);
    if (watch->is_over)
        return true;

    watch->stage++;
    watch->stage_begin = watch->periods;
    watch->batches = (struct request_batches){0};
    request_tally_clear(watch->tally);
    return false;
}
