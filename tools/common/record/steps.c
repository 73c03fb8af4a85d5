/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "measure/figures.h"

/* Targets in a record have six decimals. */
#define SAME_TARGET 1e-6

/* Targets of two runs that differ by less than this are the same level. */
#define SAME_LEVEL 1e-4

#define EDGE_MAX    30.0 /* seconds */
#define EDGE_PART   (1 / 6.0)
#define SAMPLES_MIN 3    /* minimum length of a step, including the edges */
#define SLACK       0.02 /* tolerated lateness of a sample, seconds */
#define STAIRS_MIN  3    /* minimum number of steps in a staircase */
#define TWICE       1.5

static int add_stretch(
    struct ssreport_steps *steps, const struct ssreport_sample *sample, size_t first) {
    /* A step may be split in two. */
    if (!SS_GROW(steps->items, steps->count + 2, steps->capacity))
        return -1;
    steps->items[steps->count++] = (struct ssreport_step){
        .begin = sample->begin, .end = sample->end, .first = first, .target = sample->target};
    return 0;
}

/*
 * Finds stretches of equal target. A sample records only its last target; the excluded edges
 * contain samples with several.
 */
static int find_stretches(struct ssreport_steps *steps, const struct ssreport_record *record) {
    bool open = false;
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        struct ssreport_step *last = open ? &steps->items[steps->count - 1] : NULL;
        open = sample->counted;
        if (!sample->counted)
            continue;
        if (last && fabs(sample->target - last->target) <= SAME_TARGET)
            last->end = sample->end;
        else if (add_stretch(steps, sample, i) < 0)
            return -1;
    }
    return 0;
}

/* Returns the direction from the previous step to step `i`: 1 is up, -1 is down. */
static int direction(const struct ssreport_steps *steps, size_t i) {
    return steps->items[i].target > steps->items[i - 1].target ? 1 : -1;
}

/*
 * Returns the number of turns. Sets `turn` to the last step before the first turn or, without
 * turns, to the last step.
 */
static size_t count_turns(const struct ssreport_steps *steps, size_t *turn) {
    size_t turns = 0;
    *turn = steps->count - 1;
    for (size_t i = 2; i < steps->count; i++) {
        if (direction(steps, i) == direction(steps, i - 1))
            continue;
        if (turns++ == 0)
            *turn = i - 1;
    }
    return turns;
}

static double median_length(const struct ssreport_steps *steps, size_t but) {
    double *lengths = calloc(steps->count, sizeof *lengths);
    size_t used = 0;
    for (size_t i = 0; lengths && i < steps->count; i++) {
        if (i != but)
            lengths[used++] = steps->items[i].end - steps->items[i].begin;
    }
    double median = lengths ? ssreport_median_of(lengths, used) : NAN;
    free(lengths);
    return median;
}

static void set_halves(struct ssreport_steps *steps) {
    size_t turn;
    if (steps->count < STAIRS_MIN || count_turns(steps, &turn) > 1)
        return;
    struct ssreport_step *turning = &steps->items[turn];
    bool turns = turn + 1 < steps->count;
    double length = turning->end - turning->begin;
    bool twice = turns && length > TWICE * median_length(steps, turn);
    for (size_t i = 0; i < steps->count; i++)
        steps->items[i].half = i <= turn ? 1 : 2;
    if (!twice)
        return;
    memmove(turning + 1, turning, (steps->count - turn) * sizeof *turning);
    steps->count++;
    turning[0].end = turning[1].begin = turning->begin + length / 2;
    turning[1].half = 2;
}

static bool is_one_level(const struct ssreport_step *left, const struct ssreport_step *right) {
    return left->half == right->half && fabs(left->target - right->target) < SAME_LEVEL;
}

const char *ssreport_steps_direction(const struct ssreport_steps *steps, int half) {
    const struct ssreport_step *first = NULL, *last = NULL;
    for (size_t i = 0; half > 0 && i < steps->count; i++) {
        if (steps->items[i].half != half)
            continue;
        first = first ? first : &steps->items[i];
        last = &steps->items[i];
    }
    if (!first || first->target == last->target)
        return "";
    return first->target > last->target ? "down" : "up";
}

size_t ssreport_steps_occurrence(const struct ssreport_steps *steps, size_t at) {
    size_t count = 1;
    for (size_t i = 0; i < at; i++)
        count += is_one_level(&steps->items[i], &steps->items[at]);
    return count;
}

const struct ssreport_step *ssreport_steps_counterpart(
    const struct ssreport_steps *steps, size_t at, const struct ssreport_steps *of) {
    size_t occurrence = ssreport_steps_occurrence(steps, at);
    for (size_t i = 0; i < of->count; i++) {
        if (is_one_level(&of->items[i], &steps->items[at]) && --occurrence == 0)
            return &of->items[i];
    }
    return NULL;
}

/* Ten years of default intervals. A wrong clock must not exhaust memory. */
#define INTERVALS_MAX 52596000.0

/*
 * The last interval may be too short by this many seconds, because `from` and `to` are rounded to
 * six decimals.
 */
#define SHORT 2e-6

int ssreport_rates_open(struct ssreport_rates *rates, double from, double to, double interval) {
    double count = floor((to - from + SHORT) / interval);
    *rates = (struct ssreport_rates){.from = from, .interval = interval};
    if (!(count > 0))
        return 0;
    if (count > INTERVALS_MAX)
        return -1;
    rates->parts = calloc((size_t)count, sizeof *rates->parts);
    rates->lengths = calloc((size_t)count, sizeof *rates->lengths);
    rates->overlaps = calloc((size_t)count, sizeof *rates->overlaps);
    if (!rates->parts || !rates->lengths || !rates->overlaps) {
        ssreport_rates_close(rates);
        return -1;
    }
    rates->count = (size_t)count;
    return 0;
}

void ssreport_rates_add(struct ssreport_rates *rates, double start, double end) {
    double last = (double)rates->count;
    double first_at = floor((start - rates->from) / rates->interval);
    double end_at = (end - rates->from) / rates->interval;
    if (!(end_at >= 0) || !(first_at < last))
        return;
    if (!(end > start)) {
        /* An iteration without a duration counts in the interval in which it ended. */
        if (end_at < last) {
            rates->parts[(size_t)end_at] += 1;
            rates->overlaps[(size_t)end_at]++;
        }
        return;
    }
    for (size_t i = (size_t)fmax(first_at, 0); i < rates->count; i++) {
        double begin = fmax(start, rates->from + (double)i * rates->interval);
        double until = fmin(end, rates->from + (double)(i + 1) * rates->interval);
        if (begin >= end)
            return;
        if (until <= begin)
            continue;
        rates->parts[i] += (until - begin) / (end - start);
        rates->lengths[i] += end - start;
        rates->overlaps[i]++;
    }
}

void ssreport_rates_divide(struct ssreport_rates *rates) {
    for (size_t i = 0; i < rates->count; i++) {
        rates->parts[i] /= rates->interval;
        rates->lengths[i] /= (double)rates->overlaps[i];
    }
}

void ssreport_rates_close(struct ssreport_rates *rates) {
    free(rates->parts);
    free(rates->lengths);
    free(rates->overlaps);
    *rates = (struct ssreport_rates){0};
}

int ssreport_steps_rates(struct ssreport_rates *rates, const struct ssreport_record *record,
    double from, double to, double interval) {
    *rates = (struct ssreport_rates){0};
    if (!record->has_iterations)
        return 0;
    if (ssreport_rates_open(rates, from, to, interval) < 0)
        return -1;
    for (size_t i = 0; i < record->iteration_count; i++)
        ssreport_rates_add(rates, record->iterations[i].start, record->iterations[i].end);
    ssreport_rates_divide(rates);
    return 0;
}

/* Returns the rate of the first interval; NaN if no iteration counts in it. */
static double throughput_of(const struct ssreport_rates *rates) {
    return rates->count && rates->parts[0] > 0 ? rates->parts[0] : NAN;
}

double ssreport_steps_throughput(const struct ssreport_record *record, double from, double to) {
    struct ssreport_rates rates;
    if (!(to > from) || ssreport_steps_rates(&rates, record, from, to, to - from) < 0)
        return NAN;
    double throughput = throughput_of(&rates);
    ssreport_rates_close(&rates);
    return throughput;
}

static double bound_of(const struct ssreport_record *record, double throughput, double seconds) {
    bool is_none = record->has_iterations && seconds > 0 && isnan(throughput);
    return is_none ? record->instance_count / seconds : NAN;
}

double ssreport_steps_bound(const struct ssreport_record *record, double from, double to) {
    return bound_of(record, ssreport_steps_throughput(record, from, to), to - from);
}

/* The iterations of a step: in its whole counted time, and in intervals of it. */
struct step_rates {
    struct ssreport_rates whole, intervals;
};

/* Without counted iterations there are no intervals. */
static int open_rates(struct step_rates *rates, const struct ssreport_step *step,
    const struct ssreport_record *record, const struct ssreport_settings *settings) {
    double from = step->from, to = step->to;
    if (ssreport_rates_open(&rates->whole, from, to, to - from) < 0)
        return -1;
    return record->has_iterations
               ? ssreport_rates_open(&rates->intervals, from, to, settings->interval)
               : 0;
}

/* Returns the first step that ends at or after a time. */
static size_t find_step(const struct ssreport_steps *steps, double time) {
    return ssreport_find_from(
        steps->items, steps->count, sizeof *steps->items, offsetof(struct ssreport_step, to), time);
}

/* Adds each iteration to the steps that it overlaps. Steps are in order of time. */
static void add_iterations(struct step_rates *rates, const struct ssreport_steps *steps,
    const struct ssreport_record *record) {
    for (size_t i = 0; i < record->iteration_count; i++) {
        double start = record->iterations[i].start, end = record->iterations[i].end;
        size_t j = find_step(steps, start);
        for (; j < steps->count && steps->items[j].from <= end; j++) {
            ssreport_rates_add(&rates[j].whole, start, end);
            ssreport_rates_add(&rates[j].intervals, start, end);
        }
    }
}

static void set_rates(struct ssreport_step *step, struct step_rates *rates,
    const struct ssreport_record *record, const struct ssreport_settings *settings) {
    double seconds = step->to - step->from;
    ssreport_rates_divide(&rates->whole);
    ssreport_rates_divide(&rates->intervals);
    step->is_exceeded = rates->whole.count > 0 && rates->whole.lengths[0] > seconds;
    step->throughput = record->has_iterations ? throughput_of(&rates->whole) : NAN;
    step->throughput_bound = bound_of(record, step->throughput, seconds);
    step->rates =
        ssreport_mean_of(rates->intervals.parts, rates->intervals.count, settings->confidence);
}

/* Sets the rates of all steps in one pass over the iterations: long runs have many of both. */
static int find_rates(struct ssreport_steps *steps, const struct ssreport_record *record,
    const struct ssreport_settings *settings) {
    struct step_rates *rates = calloc(steps->count + 1, sizeof *rates);
    int status = rates ? 0 : -1;
    for (size_t i = 0; status == 0 && i < steps->count; i++)
        status = open_rates(&rates[i], &steps->items[i], record, settings);
    if (status == 0)
        add_iterations(rates, steps, record);
    for (size_t i = 0; rates && i < steps->count; i++) {
        if (status == 0)
            set_rates(&steps->items[i], &rates[i], record, settings);
        ssreport_rates_close(&rates[i].whole);
        ssreport_rates_close(&rates[i].intervals);
    }
    free(rates);
    return status;
}

/*
 * Computes the figures of a step's samples. Returns false if the step is too short. `loads` has
 * room for all samples.
 */
static bool look_at_samples(struct ssreport_step *step, const struct ssreport_record *record,
    const struct ssreport_settings *settings, double *loads) {
    double length = step->end - step->begin;
    double edge = settings->edge < 0 ? fmin(EDGE_MAX, length * EDGE_PART) : settings->edge;
    struct ss_figures figures = {0};
    step->from = step->to = NAN;
    size_t used = 0, all = 0;
    for (size_t i = step->first; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        if (sample->begin >= step->end - SLACK)
            break;
        all += sample->begin >= step->begin - SLACK;
        if (sample->begin < step->begin + edge - SLACK || sample->end > step->end - edge + SLACK)
            continue;
        if (used == 0)
            step->from = sample->begin;
        step->to = sample->end;
        loads[used++] = sample->load;
        ss_figures_add(&figures, step->target, sample->load);
    }
    step->load = ssreport_mean_of(loads, used, settings->confidence);
    /* Control makes up differences, so that samples are not independent. */
    struct ssreport_interval interval = ssreport_mean_interval(step->load.mean,
        ssreport_series_sureness(loads, NULL, used, step->load.mean), settings->confidence);
    step->load.low = interval.low;
    step->load.high = interval.high;
    step->error_mean_percent = ss_figures_error_mean_percent(&figures);
    step->error_mse_e4 = ss_figures_error_mse_e4(&figures);
    ss_figures_free(&figures);
    return all >= SAMPLES_MIN && used > 0;
}

int ssreport_steps_find(struct ssreport_steps *steps, const struct ssreport_record *record,
    const struct ssreport_settings *settings) {
    *steps = (struct ssreport_steps){0};
    double *loads = calloc(record->sample_count + 1, sizeof *loads);
    if (!loads || find_stretches(steps, record) < 0) {
        free(loads);
        return -1;
    }
    set_halves(steps);
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; i++) {
        struct ssreport_step step = steps->items[i];
        if (!look_at_samples(&step, record, settings, loads))
            continue;
        steps->items[kept++] = step;
    }
    steps->too_short = steps->count - kept;
    steps->count = kept;
    free(loads);
    return find_rates(steps, record, settings);
}

void ssreport_steps_free(struct ssreport_steps *steps) {
    free(steps->items);
    *steps = (struct ssreport_steps){0};
}
