/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <math.h>
#include <stdlib.h>

#include <showstopper/random.h>
#include <showstopper/trace.h>

#include "base/grow.h"
#include "base/number.h"
#include "trace/file.h"
#include "trace/record.h"

#define SEGMENTS_MAX   10000000
#define RATE_MAX       1000000000
#define RAMP_PIECE_MIN (100 * SS_MILLISECOND)
#define RAMP_STEP      0.01 /* fraction of the full rate */

/* Makes room for `count` more segments. */
static int reserve(struct request_profile *profile, size_t count, struct ss_error *error) {
    if (count > SEGMENTS_MAX - profile->count)
        return ss_error_fail(error, "too many segments in the profile (at most %d)", SEGMENTS_MAX);
    if (!SS_GROW(profile->segments, profile->count + count, profile->room))
        return ss_error_memory(error);
    return 0;
}

static void add(struct request_profile *profile, ss_time end, double rate) {
    ss_time begin = request_profile_length(profile);
    if (end > begin)
        profile->segments[profile->count++] = (struct request_segment){begin, end, rate};
}

static int check_rate(double rate, const char *name, struct ss_error *error) {
    if (rate > 0 && rate <= RATE_MAX)
        return 0;
    if (rate > 0)
        return ss_error_fail(
            error, "the %s is too high (at most %d requests per second)", name, RATE_MAX);
    return ss_error_fail(
        error, "the %s is 0, so nothing would be sent: use requests per second, such as 50", name);
}

int request_profile_constant(
    struct request_profile *profile, double rate, ss_time duration, struct ss_error *error) {
    if (check_rate(rate, "rate", error) != 0)
        return -1;
    if (duration == 0)
        return ss_error_fail(error, "the duration is 0: choose a longer one");
    if (reserve(profile, 1, error) != 0)
        return -1;
    add(profile, duration, rate);
    return 0;
}

int request_profile_step(struct request_profile *profile, double max, double step, ss_time hold,
    struct ss_error *error) {
    if (check_rate(max, "maximum", error) != 0 || check_rate(step, "step", error) != 0)
        return -1;
    if (hold == 0)
        return ss_error_fail(error, "each step would last 0 s: choose a longer time");
    if (step >= max) {
        char number[SS_NUMBER_PLAIN_SIZE];
        ss_number_put_plain(number, max);
        return ss_error_fail(error,
            "the only step below %.40s requests per second is 0: choose a step smaller than that",
            number);
    }

    /* A multiple that equals the maximum except for rounding is not below it. */
    double levels = ceil(max / step * (1 - 1e-12));
    if (levels > SEGMENTS_MAX)
        return ss_error_fail(error, "too many segments in the profile (at most %d)", SEGMENTS_MAX);
    if ((double)hold * levels >= (double)SS_TIME_NEVER)
        return ss_error_fail(error, "the profile is longer than 584 years: choose a shorter one");

    if (reserve(profile, (size_t)levels, error) != 0)
        return -1;
    for (uint64_t i = 0; i < (uint64_t)levels; i++)
        add(profile, (i + 1) * hold, (double)i * step);
    return 0;
}

/* The change of the rate between two records of a trace. */
struct ramp {
    ss_time begin, end;
    double first, last; /* rates */
};

static uint64_t ramp_pieces(const struct ramp *ramp, double full) {
    double pieces = fmin(ceil(fabs(ramp->last - ramp->first) / (RAMP_STEP * full)),
        (double)(ramp->end - ramp->begin) / (double)RAMP_PIECE_MIN);
    return pieces > 1 ? (uint64_t)pieces : 1;
}

/*
 * Approximates a ramp by pieces of constant rate. Each has the rate in its middle, so the number of
 * requests stays the same.
 */
static int add_ramp(struct request_profile *profile, const struct ramp *ramp, double full,
    ss_time until, struct ss_error *error) {
    uint64_t pieces = ramp_pieces(ramp, full);
    if (reserve(profile, pieces, error) != 0)
        return -1;

    double length = (double)(ramp->end - ramp->begin);
    for (uint64_t i = 1; i <= pieces && request_profile_length(profile) < until; i++) {
        double part = ((double)i - 0.5) / (double)pieces;
        ss_time end = i == pieces
                          ? ramp->end
                          : ramp->begin + ss_time_from_double(length * (double)i / (double)pieces);
        /* The profile may end within a piece. */
        add(profile, end < until ? end : until, ramp->first + (ramp->last - ramp->first) * part);
    }
    return 0;
}

static int add_records(struct request_profile *profile, const struct ss_trace_records *records,
    double rate, ss_time until, struct ss_error *error) {
    const struct ss_trace_record *items = records->items;
    double first = items[0].free ? 0 : items[0].load * rate;
    struct ramp before = {0, items[0].time, first, first};

    if (add_ramp(profile, &before, rate, until, error) != 0)
        return -1;

    for (size_t i = 0; i < records->count; i++) {
        bool last = i + 1 == records->count;
        if (items[i].time >= until)
            break;

        struct ramp ramp = {items[i].time, last ? until : items[i + 1].time, 0, 0};
        if (!items[i].free) {
            ramp.first = items[i].load * rate;
            ramp.last = last || items[i + 1].free ? ramp.first : items[i + 1].load * rate;
        }

        if (add_ramp(profile, &ramp, rate, until, error) != 0)
            return -1;
    }
    return 0;
}

int request_profile_trace(struct request_profile *profile, const char *path, double rate,
    ss_time duration, struct ss_error *error) {
    if (check_rate(rate, "rate", error) != 0)
        return -1;
    if (duration == 0)
        return ss_error_fail(error, "the duration is 0: choose a longer one");

    struct ss_trace_records records = {0};
    if (ss_trace_load(path, &records, error) != 0)
        return -1;

    ss_time until = duration == SS_TIME_NEVER ? records.items[records.count - 1].time : duration;
    int result = until == 0
                     ? ss_error_fail(error, "the trace in %s has length 0: choose a duration", path)
                     : add_records(profile, &records, rate, until, error);

    ss_trace_records_free(&records);
    return result;
}

ss_time request_profile_length(const struct request_profile *profile) {
    return profile->count > 0 ? profile->segments[profile->count - 1].end : 0;
}

void request_profile_free(struct request_profile *profile) {
    free(profile->segments);
    *profile = (struct request_profile){0};
}

/* Draws the gap before the next request, as a number of expected requests. */
static double draw_gap(enum request_arrival arrival, uint64_t *random) {
    return arrival == REQUEST_POISSON ? ss_random_exponential(ss_random_next(random)) : 1;
}

void request_schedule_begin(struct request_schedule *schedule,
    const struct request_profile *profile, enum request_arrival arrival, uint64_t seed) {
    *schedule = (struct request_schedule){
        .profile = profile,
        .arrival = arrival,
        .rate = -1,
        .cursor.random = ss_random_hash(seed), /* hashed: see ss_random() */
    };
    if (arrival == REQUEST_POISSON)
        schedule->cursor.need = draw_gap(arrival, &schedule->cursor.random);
}

static double rate_of(const struct request_schedule *schedule, size_t segment) {
    return schedule->rate >= 0 ? schedule->rate : schedule->profile->segments[segment].rate;
}

/* Advances to `to` in this segment. The next request is due at `to` or later. */
static void go_to(
    const struct request_schedule *schedule, struct request_cursor *cursor, ss_time to) {
    double expected =
        rate_of(schedule, cursor->segment) * ss_time_seconds(ss_time_since(to, cursor->from));
    cursor->need = fmax(cursor->need - expected, 0);
    cursor->from = to;
}

/*
 * Advances to the next moment. Computes it from the start of the segment, not from the last moment,
 * so that rounding errors do not add up. A moment that rounds to the end of the segment belongs to
 * the next segment.
 */
static ss_time step_gaps(const struct request_schedule *schedule, struct request_cursor *cursor) {
    const struct request_profile *profile = schedule->profile;

    for (; cursor->segment < profile->count; cursor->segment++) {
        double rate = rate_of(schedule, cursor->segment);
        ss_time end = profile->segments[cursor->segment].end;
        ss_time wait =
            rate > 0 ? ss_time_from_double(cursor->need * 1e9 / rate + 0.5) : SS_TIME_NEVER;
        ss_time due = ss_time_add(cursor->from, wait);

        if (due < end) {
            cursor->need += draw_gap(schedule->arrival, &cursor->random);
            return due;
        }
        go_to(schedule, cursor, end);
    }
    return SS_TIME_NEVER;
}

/* Returns the expected number of requests until `to`, and advances the cursor's segment. */
static double expected_until(
    const struct request_schedule *schedule, struct request_cursor *cursor, ss_time to) {
    const struct request_profile *profile = schedule->profile;
    double expected = 0;

    while (cursor->segment < profile->count && cursor->from < to) {
        ss_time end = profile->segments[cursor->segment].end;
        ss_time part = end < to ? end : to;
        expected += rate_of(schedule, cursor->segment) * ss_time_seconds(part - cursor->from);
        cursor->from = part;
        if (part == end)
            cursor->segment++;
    }

    return expected;
}

static ss_time step_burst(const struct request_schedule *schedule, struct request_cursor *cursor) {
    while (cursor->burst == 0 && cursor->segment < schedule->profile->count) {
        cursor->burst_due = cursor->from;
        double expected =
            cursor->rest + expected_until(schedule, cursor, ss_time_add(cursor->from, SS_SECOND));
        double whole = floor(expected + 1e-9); /* tolerates rounding errors: 10 * 0.1 counts as 1 */
        cursor->burst = (uint64_t)whole;
        cursor->rest = expected - whole;
    }

    if (cursor->burst == 0)
        return SS_TIME_NEVER;

    cursor->burst--;
    return cursor->burst_due;
}

ss_time request_schedule_peek(struct request_schedule *schedule) {
    if (!schedule->has_ahead) {
        schedule->ahead = schedule->cursor;
        schedule->ahead_due = schedule->arrival == REQUEST_CONCURRENT
                                  ? step_burst(schedule, &schedule->ahead)
                                  : step_gaps(schedule, &schedule->ahead);
        schedule->has_ahead = true;
    }
    return schedule->ahead_due;
}

bool request_schedule_next(struct request_schedule *schedule, ss_time *due) {
    *due = request_schedule_peek(schedule);
    if (*due == SS_TIME_NEVER)
        return false;
    schedule->cursor = schedule->ahead;
    schedule->has_ahead = false;
    return true;
}

void request_schedule_set_rate(struct request_schedule *schedule, ss_time now, double rate) {
    struct request_cursor *cursor = &schedule->cursor;
    const struct request_profile *profile = schedule->profile;

    if (schedule->arrival == REQUEST_CONCURRENT) {
        /*
         * The change takes effect at the next second: the current one keeps its number of requests,
         * even if that is 0.
         */
        ss_time second = now - now % SS_SECOND + SS_SECOND;
        if (cursor->burst == 0 && second > cursor->from)
            cursor->rest += expected_until(schedule, cursor, second);
    } else {
        while (cursor->segment < profile->count && profile->segments[cursor->segment].end <= now) {
            go_to(schedule, cursor, profile->segments[cursor->segment].end);
            cursor->segment++;
        }
        if (cursor->segment < profile->count && cursor->from < now)
            go_to(schedule, cursor, now);
    }

    schedule->rate = rate;
    schedule->has_ahead = false;
}
