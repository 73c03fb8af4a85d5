/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MODULES_FEEDBACK_ESTIMATE_H
#define SHOWSTOPPER_MODULES_FEEDBACK_ESTIMATE_H

/*
 * The load estimate that all executors share, for modules that measure the load as the growth of
 * one counter. When a sample is due, the first executor to arrive takes it and blends it into the
 * published estimate:
 *
 *     L = (1 - w) L_prev + w * sample
 *     w = 1 - period / (period + elapsed)
 *
 * so that a sample as long as the period weighs as much as all earlier ones together.
 */

#include <math.h>

#include <showstopper/feedback.h>
#include <showstopper/shared.h>

/* The option that these modules share, for a struct config with a field `period`. */
#define ESTIMATE_OPTION_PERIOD                                                                     \
    SS_OPTION("period", TIME, period, .initial = "333ms", .min = "1ms",                            \
        .help = "the memory of the estimate: a sample of this length weighs as much as all "       \
                "earlier ones together")

/* One reading, as the module interprets it. */
struct estimate_reading {
    const struct ss_counters *counters;
    uint64_t count;  /* CPU time in nanoseconds; a sample in which it falls is not blended in */
    uint64_t total;  /* idle plus busy time as counted; 0: use the elapsed time */
    bool idle;       /* `count` is idle time, otherwise busy time */
    bool bounded;    /* `count` grows by at most `capacity` seconds per second */
    ss_time spacing; /* shortest time from one sample to the next */
};

/*
 * The last sample, and the load that it was blended into. The load may be slightly outside [0, 1]:
 * the counters move in steps, and limiting each sample would bias loads near 0 and near 1.
 * Published as is: every member is a word.
 */
struct estimate {
    ss_time time; /* time of the sample */
    uint64_t set;
    double capacity;
    double cpus;
    ss_time quota_period;
    uint64_t throttled; /* nanoseconds */
    ss_time grain;
    uint64_t count;
    uint64_t total;
    double used; /* CPU time since some point in the past, in nanoseconds */
    double load;
    uint64_t known; /* 1: `load` is valid */
    uint64_t ran;   /* 1: busy time was counted, not idle time */
    uint64_t taken; /* 1: the other fields are valid */
};

#define ESTIMATE_WORDS (sizeof(struct estimate) / sizeof(uint64_t))

_Static_assert(ESTIMATE_WORDS <= SS_NOTICE_WORDS, "the estimate must fit in a notice");

/* The memory that all executors share. */
struct estimate_run {
    struct ss_notice notice;
    ss_claim claim;
};

/* An executor whose claim is older than this is dead, or too late to wait for. */
#define ESTIMATE_CLAIM_EXPIRES (10 * SS_MILLISECOND)

/*
 * Returns the latest published estimate, or the executor's own copy if writers overtake this reader
 * or a stalled writer has overwritten the latest notice.
 */
static inline const struct estimate *estimate_latest(const struct ss_self *self) {
    struct estimate_run *run = self->run;
    ss_notice_read(&run->notice, self->own, ESTIMATE_WORDS);
    return self->own;
}

static inline bool estimate_is_current(
    const struct estimate *estimate, const struct ss_moment *moment) {
    return estimate->taken && estimate->time >= moment->since;
}

/* Counters are updated at ticks, so samples closer than this add little. */
#define ESTIMATE_TICK (4 * SS_MILLISECOND)

/* Scales a spacing for the default window to the run's; never shortens it to less than a tick. */
static inline ss_time estimate_scale(const struct ss_self *self, ss_time spacing) {
    ss_time scaled = ss_time_from_double((double)spacing * ss_self_window_scale(self));
    ss_time min = spacing < ESTIMATE_TICK ? spacing : ESTIMATE_TICK;
    return scaled > min ? scaled : min;
}

/* Returns the spacing of samples in the published tool, scaled to the run's window. */
static inline ss_time estimate_spacing(const struct ss_self *self) {
    return estimate_scale(self, 160 * SS_MILLISECOND / self->cpus);
}

/* Returns whether a sample is due and this executor must take it. */
static inline bool estimate_wants_sample_after(
    const struct ss_self *self, const struct ss_moment *moment, ss_time spacing) {
    struct estimate_run *run = self->run;
    const struct estimate *last = estimate_latest(self);
    if (estimate_is_current(last, moment) && ss_time_since(moment->now, last->time) < spacing)
        return false;
    return ss_claim_take(&run->claim, moment->now, ESTIMATE_CLAIM_EXPIRES);
}

static inline bool estimate_wants_sample(
    const struct ss_self *self, const struct ss_moment *moment) {
    return estimate_wants_sample_after(self, moment, estimate_spacing(self));
}

/*
 * Returns the nanoseconds from one reading to the next: by the clock, or as the idle and busy time
 * counted, divided by the number of CPUs.
 */
static inline double estimate_elapsed(
    const struct estimate *last, const struct estimate_reading *reading) {
    if (reading->total)
        return ((double)reading->total - (double)last->total) / reading->counters->capacity;
    return (double)(reading->counters->time - last->time);
}

/*
 * Computes the load from one reading to the next. Returns false if the two cannot be compared: CPUs
 * came or went, or the counter fell or grew too fast. The kernel counts in ticks of up to 10 ms,
 * and one tick may be credited late at either end.
 */
static inline bool estimate_compare(
    const struct estimate *last, const struct estimate_reading *reading, double *load) {
    const struct ss_counters *counters = reading->counters;

    if (counters->set != last->set || !(counters->capacity > 0) || reading->count < last->count)
        return false;

    double elapsed = estimate_elapsed(last, reading);
    if (!(elapsed > 0))
        return false;

    double counted = (double)(reading->count - last->count) / counters->capacity;
    const double slack = 2 * 10e6 + 1e6;
    double clock = (double)(counters->time - last->time);
    if (reading->bounded && fmax(counted, elapsed) > clock + slack)
        return false;

    double worked = reading->idle ? elapsed - counted : counted;
    *load = worked / elapsed;
    return true;
}

/*
 * Returns the new estimate. Converts the last load to the present capacity, because the limit of a
 * group may have changed. If it has not, the ratio is exactly 1: feedback would amplify a rounding
 * error.
 */
static inline double estimate_blend(
    const struct estimate *last, double load, double capacity, double elapsed, ss_time period) {
    double weight = 1 - (double)period / ((double)period + elapsed);
    double before = last->load * (last->capacity / capacity);
    return (1 - weight) * before + weight * load;
}

/* Returns the estimate after a reading that is later than `last`. */
static inline struct estimate estimate_advance(const struct estimate *last,
    const struct ss_moment *moment, const struct estimate_reading *reading, ss_time period) {
    const struct ss_counters *counters = reading->counters;

    struct estimate next = {
        .time = counters->time,
        .set = counters->set,
        .capacity = counters->capacity,
        .cpus = counters->cpus,
        .quota_period = counters->period,
        .throttled = counters->throttled,
        .grain = counters->grain,
        .count = reading->count,
        .total = reading->total,
        .used = reading->idle ? counters->capacity * (double)counters->time - (double)reading->count
                              : (double)reading->count,
        .ran = !reading->idle,
        .taken = true,
    };
    if (!estimate_is_current(last, moment))
        return next;

    double load;
    if (!estimate_compare(last, reading, &load)) {
        next.load = last->load;
        next.known = last->known;
        return next;
    }

    double elapsed = estimate_elapsed(last, reading);
    next.load =
        last->known ? estimate_blend(last, load, counters->capacity, elapsed, period) : load;
    next.known = true;

    return next;
}

/*
 * Returns whether another executor has sampled meanwhile, so that this reading predates the
 * estimate, or follows it so closely that a single tick between the two would dominate the result.
 */
static inline bool estimate_is_overtaken(const struct estimate *last,
    const struct ss_moment *moment, const struct estimate_reading *reading) {
    if (!last->taken || reading->counters->time > last->time + reading->spacing / 2)
        return false;
    return reading->counters->time <= last->time || estimate_is_current(last, moment);
}

/* Blends in the reading that estimate_wants_sample() requested, and releases the claim. */
static inline void estimate_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct estimate_reading *reading, ss_time period) {
    struct estimate_run *run = self->run;
    const struct estimate *last = estimate_latest(self);
    if (!estimate_is_overtaken(last, moment, reading)) {
        struct estimate next = estimate_advance(last, moment, reading, period);
        ss_notice_publish(&run->notice, &next, ESTIMATE_WORDS);
        *(struct estimate *)self->own = next;
    }
    ss_claim_release(&run->claim);
}

static inline bool estimate_get(
    const struct ss_self *self, const struct ss_moment *moment, double *load) {
    const struct estimate *last = estimate_latest(self);
    if (!last->known || !estimate_is_current(last, moment))
        return false;
    *load = fmin(fmax(last->load, 0), 1);
    return true;
}

static inline void estimate_account(const struct ss_self *self, struct ss_account *account) {
    const struct estimate *last = estimate_latest(self);
    *account = (struct ss_account){
        .time = last->time,
        .series = last->set,
        .used = last->used,
        .capacity = last->taken ? last->capacity : 0,
        .cpus = last->cpus,
        .period = last->quota_period,
        .throttled = last->throttled,
        .grain = last->grain,
    };
}

#endif
