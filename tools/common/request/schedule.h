/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_SCHEDULE_H
#define REQUEST_SCHEDULE_H

/* When requests are due. There is no clock: times count from the start of the first segment. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

struct request_segment {
    ss_time begin, end;
    double rate; /* requests per second */
};

/* Consecutive segments of constant rate. Zeroed: no segments. */
struct request_profile {
    struct request_segment *segments;
    size_t count, room;
};

SS_MUST_USE SS_NONNULL(1) int request_profile_constant(
    struct request_profile *profile, double rate, ss_time duration, struct ss_error *error);

/* Adds the rates 0, `step`, 2 `step` and so on below `max`, each for `hold`. */
SS_MUST_USE SS_NONNULL(1) int request_profile_step(
    struct request_profile *profile, double max, double step, ss_time hold, struct ss_error *error);

/*
 * Adds the loads of a trace, text or compiled, multiplied by `rate`. A ramp becomes segments whose
 * rates differ by at most a hundredth of `rate`, unless they would be shorter than 100 ms, with the
 * same number of requests. A `free` section has no requests. If `duration` is SS_TIME_NEVER, the
 * profile ends with the trace; otherwise the trace is cut off there, or its last load is held until
 * then.
 */
SS_MUST_USE SS_NONNULL(1, 2) int request_profile_trace(struct request_profile *profile,
    const char *path, double rate, ss_time duration, struct ss_error *error);

SS_NONNULL() ss_time request_profile_length(const struct request_profile *profile);
SS_NONNULL() void request_profile_free(struct request_profile *profile);

/* In the order of the choices of --arrival. */
enum request_arrival {
    REQUEST_CONCURRENT, /* all requests of a second at its start; seconds count from the start of
                             the profile */
    REQUEST_EVEN,       /* at equal intervals, the first at once */
    REQUEST_POISSON,    /* at exponentially distributed intervals */
};

struct request_cursor {
    uint64_t random; /* state of the random number generator */
    size_t segment;
    ss_time from;   /* position in this segment; REQUEST_CONCURRENT: start of the next second */
    double need;    /* gap from `from` to the next request, as a number of expected requests */
    double rest;    /* REQUEST_CONCURRENT: fraction of a request from previous seconds */
    uint64_t burst; /* REQUEST_CONCURRENT: number of requests still due at `burst_due` */
    ss_time burst_due;
};

/* Call request_schedule_begin() first. The same seed gives the same moments. */
struct request_schedule {
    const struct request_profile *profile;
    enum request_arrival arrival;
    double rate; /* rate set by request_schedule_set_rate(); negative: the profile's rate */
    struct request_cursor cursor; /* position after the last moment that was taken */
    struct request_cursor ahead;  /* with `has_ahead`: position after the next moment */
    ss_time ahead_due; /* with `has_ahead`: the next moment; SS_TIME_NEVER if none is left */
    bool has_ahead;
};

SS_NONNULL()
void request_schedule_begin(struct request_schedule *schedule,
    const struct request_profile *profile, enum request_arrival arrival, uint64_t seed);

/* Sets the next moment, which is never before the last one. Returns false if none is left. */
SS_NONNULL() bool request_schedule_next(struct request_schedule *schedule, ss_time *due);

/*
 * Returns the moment that request_schedule_next() will take, unless request_schedule_set_rate() is
 * called before; SS_TIME_NEVER if none is left.
 */
SS_NONNULL() ss_time request_schedule_peek(struct request_schedule *schedule);

/*
 * Sets the rate from `now` to the end of the profile; REQUEST_CONCURRENT: from the next second.
 * Moments that were already taken remain valid. Take all moments before `now` first.
 */
SS_NONNULL()
void request_schedule_set_rate(struct request_schedule *schedule, ss_time now, double rate);

#endif
