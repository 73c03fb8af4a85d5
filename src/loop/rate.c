/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/rate.h"

#include <math.h>

/*
 * Before control, no request is sent for SILENCE. Then requests are sent one at a time, at least
 * for SINGLE, until SINGLE_ANSWERS of them have ended and control knows their CPU time; after
 * SINGLE_MAX it need not know that. Then none is sent for WAITING.
 */
#define SILENCE        SS_SECOND
#define SINGLE         (SS_SECOND / 2)
#define SINGLE_ANSWERS 3
#define SINGLE_MAX     (10 * SS_SECOND)
#define WAITING        SS_SECOND

/* Up to this many pending requests, or seconds' worth of answers, are not an overload. */
#define PENDING_MIN     32
#define PENDING_SECONDS 1.5

/* Overloaded: fewer than this fraction of the due requests were answered in RECENT intervals. */
#define ANSWERED 0.97
#define RECENT   20

#define INTERVALS_PER_SECOND ((uint64_t)(SS_SECOND / SS_RATE_INTERVAL))

/*
 * In an overload, the ceiling of the rate is CEILING_PART of the most answers per second. It grows
 * by CEILING_GROWTH per second once pending requests are below PENDING_LOW of the allowance, and is
 * removed once it exceeds the rate that control wants by the factor CEILING_ABOVE.
 */
#define CEILING_PART   0.9
#define CEILING_GROWTH 0.05
#define PENDING_LOW    0.25
#define CEILING_ABOVE  1.1

/* A caller that is later than this skips the intervals that it missed. */
#define AWAY SS_SECOND

void ss_rate_open(
    struct ss_rate *rate, const struct ss_pipeline *pipeline, double max, ss_time now) {
    *rate = (struct ss_rate){
        .pipeline = *pipeline,
        .max = max,
        .stage_ends = ss_time_add(now, SILENCE),
        .deadline = now,
        .rate = NAN,
        .target = NAN,
        .load = NAN,
        .ceiling = INFINITY,
        .limited_since = SS_TIME_NEVER,
    };
    rate->pipeline.since = now;
    atomic_store(&pipeline->board->control_start, SS_TIME_NEVER);
}

/* Returns the counts as of `ago` intervals before the latest one, or the oldest ones. */
static const struct ss_rate_counts *counts_before(const struct ss_rate *rate, uint64_t ago) {
    uint64_t last = rate->intervals - 1;
    if (ago > last)
        ago = last;
    return &rate->history[(last - ago) % SS_RATE_HISTORY];
}

static double answers_between(const struct ss_rate *rate, uint64_t from, uint64_t to) {
    return (double)(counts_before(rate, to)->ended - counts_before(rate, from)->ended);
}

/* Returns how many requests may be pending without an overload. */
static double find_allowance(const struct ss_rate *rate) {
    double most = 0;
    for (uint64_t to = 0; to + INTERVALS_PER_SECOND < SS_RATE_HISTORY; to++)
        most = fmax(most, answers_between(rate, to + INTERVALS_PER_SECOND, to));
    return fmax(PENDING_MIN, PENDING_SECONDS * most);
}

/* Bounds the rate of a service that answers fewer requests than it gets: they would pile up. */
static double limit_rate(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double wanted) {
    rate->history[rate->intervals++ % SS_RATE_HISTORY] = *counts;
    const struct ss_rate_counts *before = counts_before(rate, RECENT);
    double answers = (double)(counts->ended - before->ended);
    double per_second = answers * (double)INTERVALS_PER_SECOND / RECENT;
    double allowance = find_allowance(rate), pending = (double)(counts->due - counts->ended);
    bool overloaded =
        pending > allowance && answers < ANSWERED * (double)(counts->due - before->due);

    if (overloaded && !rate->overloaded)
        rate->best = 0;
    rate->overloaded = overloaded;
    rate->best = fmax(rate->best, per_second);
    if (overloaded)
        rate->ceiling = CEILING_PART * rate->best;
    else if (pending < PENDING_LOW * allowance)
        rate->ceiling *= exp(CEILING_GROWTH / (double)INTERVALS_PER_SECOND);
    if (rate->ceiling > CEILING_ABOVE * wanted)
        rate->ceiling = INFINITY;

    double bound = fmin(rate->ceiling, rate->max);
    if (wanted <= bound)
        rate->limited_since = SS_TIME_NEVER;
    else if (rate->limited_since == SS_TIME_NEVER)
        rate->limited_since = now;
    return fmin(wanted, bound);
}

/* Asks control for the rate that the target needs. Keeps the latest rate if control returns NaN. */
static enum ss_failure ask_control(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double *wanted) {
    struct ss_control_input input = {
        .moment = {.now = now, .since = rate->pipeline.since},
        .target = rate->target,
        .ended = counts->ended,
        .place = {.count = 1, .time = ss_board_trace_time(rate->pipeline.board, now)},
        .previous = rate->rate,
    };
    double output;
    enum ss_failure failure = ss_pipeline_compute_output(&rate->pipeline, &input, &output);

    rate->load = input.load;
    *wanted = isnan(output) ? fmax(rate->rate, 0) : fmax(output, 0);
    return failure;
}

/* Sets the target; NaN in a `free` section, in which no request is sent. */
static enum ss_failure find_target(struct ss_rate *rate, ss_time now) {
    struct ss_target target;
    ss_pipeline_target(rate->pipeline.set, &rate->pipeline.selves[SS_KIND_TRACE],
        rate->pipeline.board, now, &target);
    rate->target = target.free ? NAN : target.load;
    return isnan(target.load) && !target.free ? SS_FAILURE_NOT_A_NUMBER : SS_FAILURE_NONE;
}

static void enter_stage(struct ss_rate *rate, enum ss_rate_stage stage, ss_time ends) {
    rate->stage = stage;
    rate->stage_ends = ends;
}

/* Returns whether the single requests suffice. `wanted` is 0 until their CPU time is known. */
static bool know_enough(
    const struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double wanted) {
    bool known = wanted > 0 || !(rate->target > 0);
    return counts->ended >= SINGLE_ANSWERS &&
           (known || ss_time_since(now, rate->stage_ends) >= SINGLE_MAX - SINGLE);
}

/* Enters the next stage if it is due. */
static void advance_stage(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double wanted) {
    if (now < rate->stage_ends)
        return;
    switch (rate->stage) {
    case SS_RATE_SILENT:
        enter_stage(rate, SS_RATE_SINGLE, ss_time_add(now, SINGLE));
        break;
    case SS_RATE_SINGLE:
        if (know_enough(rate, now, counts, wanted))
            enter_stage(rate, SS_RATE_WAITING, ss_time_add(now, WAITING));
        break;
    case SS_RATE_WAITING:
        enter_stage(rate, SS_RATE_CONTROL, SS_TIME_NEVER);
        atomic_store(&rate->pipeline.board->control_start, now);
        break;
    case SS_RATE_CONTROL:
        break;
    }
}

static enum ss_failure decide_rate(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts) {
    double wanted = 0;
    enum ss_failure failure = find_target(rate, now);
    if (failure == SS_FAILURE_NONE && !isnan(rate->target))
        failure = ask_control(rate, now, counts, &wanted);
    advance_stage(rate, now, counts, wanted);
    if (rate->stage == SS_RATE_CONTROL)
        rate->rate = limit_rate(rate, now, counts, wanted);
    else if (rate->stage != SS_RATE_SILENT)
        rate->rate = 0;
    return failure;
}

struct ss_rate_action ss_rate_step(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts) {
    enum ss_failure failure = SS_FAILURE_NONE;

    if (now >= rate->deadline) {
        failure = decide_rate(rate, now, counts);
        bool away = ss_time_since(now, rate->deadline) > AWAY;
        rate->deadline = ss_time_add(away ? now : rate->deadline, SS_RATE_INTERVAL);
    }

    return (struct ss_rate_action){
        .rate = fmax(rate->rate, 0),
        .single = rate->stage == SS_RATE_SINGLE,
        .deadline = failure ? SS_TIME_NEVER : rate->deadline,
        .failure = failure,
    };
}
