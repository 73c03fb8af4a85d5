/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/rate.h"

#include <math.h>

/*
 * Before control, no request is sent for SILENT_TIME. Then requests are sent one at a time, at
 * least for SINGLE_TIME, until SINGLE_ANSWERS of them have ended and control knows their CPU time;
 * after SINGLE_MAX it need not know that. Then none is sent for WAITING_TIME.
 */
#define SILENT_TIME    SS_SECOND
#define SINGLE_TIME    (SS_SECOND / 2)
#define SINGLE_ANSWERS 3
#define SINGLE_MAX     (10 * SS_SECOND)
#define WAITING_TIME   SS_SECOND

/* Up to this many pending requests, or seconds' worth of answers, are not an overload. */
#define PENDING_MIN     32
#define PENDING_SECONDS 1.5

/* Overloaded: fewer than this fraction of the due requests were answered in RECENT_INTERVALS. */
#define ANSWERED_FRACTION 0.97
#define RECENT_INTERVALS  20

#define INTERVALS_PER_SECOND ((uint64_t)(SS_SECOND / SS_RATE_INTERVAL))

/*
 * In an overload, the ceiling of the rate is CEILING_FRACTION of the most answers per second. After
 * that, it is at least this fraction of the answers in the latest second. It grows by
 * CEILING_GROWTH per second once pending requests are below PENDING_LOW of the allowance, and is
 * removed once it exceeds the rate that control wants by the factor CEILING_ABOVE.
 */
#define CEILING_FRACTION 0.9
#define CEILING_GROWTH   0.05
#define PENDING_LOW      0.25
#define CEILING_ABOVE    1.1

/* A caller that is later than this skips the intervals that it missed. */
#define LATENESS_MAX SS_SECOND

void ss_rate_open(
    struct ss_rate *rate, const struct ss_pipeline *pipeline, double max, ss_time now) {
    *rate = (struct ss_rate){
        .pipeline = *pipeline,
        .max = max,
        .stage_ends = ss_time_add(now, SILENT_TIME),
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
static double compute_allowance(const struct ss_rate *rate) {
    double most = 0;
    for (uint64_t to = 0; to + INTERVALS_PER_SECOND < SS_RATE_HISTORY; to++)
        most = fmax(most, answers_between(rate, to + INTERVALS_PER_SECOND, to));
    return fmax(PENDING_MIN, PENDING_SECONDS * most);
}

/* Bounds the rate of a service that answers fewer requests than it gets: they would pile up. */
static double limit_rate(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double requested) {
    rate->history[rate->intervals++ % SS_RATE_HISTORY] = *counts;
    const struct ss_rate_counts *before = counts_before(rate, RECENT_INTERVALS);
    double answers = (double)(counts->ended - before->ended);
    double per_second = answers * (double)INTERVALS_PER_SECOND / RECENT_INTERVALS;
    double allowance = compute_allowance(rate), pending = (double)(counts->due - counts->ended);
    bool overloaded =
        pending > allowance && answers < ANSWERED_FRACTION * (double)(counts->due - before->due);

    if (overloaded && !rate->overloaded)
        rate->best = 0;
    rate->overloaded = overloaded;
    rate->best = fmax(rate->best, per_second);
    if (overloaded)
        rate->ceiling = CEILING_FRACTION * rate->best;
    else if (pending < PENDING_LOW * allowance)
        rate->ceiling *= exp(CEILING_GROWTH / (double)INTERVALS_PER_SECOND);
    /* A service that had only stalled then answers faster than it did during the overload. */
    if (!overloaded)
        rate->ceiling =
            fmax(rate->ceiling, CEILING_FRACTION * answers_between(rate, INTERVALS_PER_SECOND, 0));
    if (rate->ceiling > CEILING_ABOVE * requested)
        rate->ceiling = INFINITY;

    double bound = fmin(rate->ceiling, rate->max);
    if (requested <= bound)
        rate->limited_since = SS_TIME_NEVER;
    else if (rate->limited_since == SS_TIME_NEVER)
        rate->limited_since = now;
    return fmin(requested, bound);
}

/* Asks control for the rate that the target needs. Keeps the latest rate if control returns NaN. */
static enum ss_failure ask_control(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double *requested) {
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
    *requested = isnan(output) ? fmax(rate->rate, 0) : fmax(output, 0);
    return failure;
}

/* Sets the target; NaN in a `free` section, in which no request is sent. */
static enum ss_failure update_target(struct ss_rate *rate, ss_time now) {
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

/* Returns whether the single requests suffice. `requested` is 0 until their CPU time is known. */
static bool single_requests_suffice(const struct ss_rate *rate, ss_time now,
    const struct ss_rate_counts *counts, double requested) {
    bool known = requested > 0 || !(rate->target > 0);
    return counts->ended >= SINGLE_ANSWERS &&
           (known || ss_time_since(now, rate->stage_ends) >= SINGLE_MAX - SINGLE_TIME);
}

/* Enters the next stage if it is due. */
static void advance_stage(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts, double requested) {
    if (now < rate->stage_ends)
        return;
    switch (rate->stage) {
    case SS_RATE_SILENT:
        enter_stage(rate, SS_RATE_SINGLE, ss_time_add(now, SINGLE_TIME));
        break;
    case SS_RATE_SINGLE:
        if (single_requests_suffice(rate, now, counts, requested))
            enter_stage(rate, SS_RATE_WAITING, ss_time_add(now, WAITING_TIME));
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
    double requested = 0;
    enum ss_failure failure = update_target(rate, now);
    if (failure == SS_FAILURE_NONE && !isnan(rate->target))
        failure = ask_control(rate, now, counts, &requested);
    advance_stage(rate, now, counts, requested);
    if (rate->stage == SS_RATE_CONTROL)
        rate->rate = limit_rate(rate, now, counts, requested);
    else if (rate->stage != SS_RATE_SILENT)
        rate->rate = 0;
    return failure;
}

struct ss_rate_action ss_rate_step(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts) {
    enum ss_failure failure = SS_FAILURE_NONE;

    if (now >= rate->deadline) {
        failure = decide_rate(rate, now, counts);
        bool away = ss_time_since(now, rate->deadline) > LATENESS_MAX;
        rate->deadline = ss_time_add(away ? now : rate->deadline, SS_RATE_INTERVAL);
    }

    return (struct ss_rate_action){
        .rate = fmax(rate->rate, 0),
        .single = rate->stage == SS_RATE_SINGLE,
        .deadline = failure ? SS_TIME_NEVER : rate->deadline,
        .failure = failure,
    };
}
