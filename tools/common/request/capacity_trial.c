/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity_trial.h"

#include <math.h>

#define BATCHES     REQUEST_STEADY_BATCHES
#define BATCHES_MIN 16

/* Batches that differ by at most this, relative to the largest one, count as equal. */
#define ALIKE 0.1

/* If the mean number of requests in the service is below this, there is no queue. */
#define NO_QUEUE 0.5

#define RISE 1.25

/* One-sided 5 % quantile of the normal distribution. */
#define QUANTILE 1.645

static void merge(struct request_steady *steady) {
    for (int i = 0; i < BATCHES; i++)
        steady->sums[i] = i < BATCHES / 2 ? steady->sums[2 * i] + steady->sums[2 * i + 1] : 0;
    steady->size *= 2;
}

void request_steady_add(struct request_steady *steady, double seconds) {
    if (steady->size == 0)
        steady->size = 1;
    if (steady->count == BATCHES * steady->size)
        merge(steady);
    steady->sums[steady->count++ / steady->size] += seconds;
    steady->total += seconds;
}

/* Returns the number of complete batches. */
static int count_batches(const struct request_steady *steady) {
    return steady->size ? (int)(steady->count / steady->size) : 0;
}

bool request_steady_is_uncorrelated(const double *values, int count) {
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
    return ratio >= 1 - QUANTILE * deviation;
}

static bool are_alike(const struct request_steady *steady, int batches) {
    double min = steady->sums[0], max = min;
    for (int i = 1; i < batches; i++) {
        min = fmin(min, steady->sums[i]);
        max = fmax(max, steady->sums[i]);
    }
    return max - min <= ALIKE * max;
}

bool request_steady_is_reached(const struct request_steady *steady, double elapsed) {
    int batches = count_batches(steady);
    if (batches < BATCHES_MIN)
        return false;
    if (steady->total < NO_QUEUE * elapsed || are_alike(steady, batches))
        return true;
    return request_steady_is_uncorrelated(steady->sums, batches);
}

bool request_steady_rises(const struct request_steady *steady) {
    int half = count_batches(steady) / 2;
    double first = 0, second = 0;
    for (int i = 0; i < half; i++) {
        first += steady->sums[i];
        second += steady->sums[half + i];
    }
    return second > RISE * first;
}

/* A trial is abandoned if its statistic exceeds this many times the limit. */
#define HOPELESS 2

_Static_assert(REQUEST_TRIAL_PERIODS ==
                   REQUEST_TRIAL_WARMUP + REQUEST_TRIAL_STAGE * ((1 << REQUEST_TRIAL_STAGES) - 1),
    "each stage is twice as long as the one before");

void request_trial_observe(void *context, const struct request_one *one, enum request_fate fate,
    const struct request_ended *ended) {
    struct request_trial_watch *watch = context;
    (void)one;
    if (fate == REQUEST_ENDED)
        request_steady_add(
            &watch->steady, ss_time_seconds(ss_time_since(ended->finished, ended->due)));
}

double request_trial_measured(const struct request_trial_watch *watch) {
    return ss_time_seconds(watch->period * (watch->periods - watch->stage_begin));
}

static bool is_enough(struct request_trial_watch *watch) {
    const struct request_tally *tally = watch->tally;
    double figure = request_criterion_figure(watch->criterion, tally);
    double limit = ss_time_seconds(watch->criterion->limit);
    double ended = (double)(tally->sent - tally->unfinished + tally->refused);
    bool has_failed = (double)tally->outcomes[REQUEST_SUCCESS] < REQUEST_SUCCESSES_MIN * ended;

    watch->is_steady = request_steady_is_reached(&watch->steady, request_trial_measured(watch));
    return watch->is_steady || has_failed || figure > HOPELESS * limit ||
           (figure > limit && request_steady_rises(&watch->steady)) ||
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
    watch->steady = (struct request_steady){0};
    request_tally_clear(watch->tally);
    return false;
}
