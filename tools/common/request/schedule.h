/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_SCHEDULE_H
#define SSREQUEST_SCHEDULE_H

/* When requests are due. No clock: all times count from the first stretch's begin. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* ---- how many ---- */

struct ssrequest_stretch {
    ss_time begin, end;
    double rate; /* requests per second */
};

/* Consecutive stretches of constant rate. Zeroed: none. */
struct ssrequest_profile {
    struct ssrequest_stretch *stretches;
    size_t count, room;
};

int ssrequest_profile_constant(
    struct ssrequest_profile *profile, double rate, ss_time duration, struct ss_error *error);

/* 0, `step`, twice `step` and so on, as long as it is below `max`; each is held for `hold`. */
int ssrequest_profile_step(struct ssrequest_profile *profile, double max, double step, ss_time hold,
    struct ss_error *error);

/*
 * The loads of a trace, text or compiled, times `rate`. A ramp becomes stretches that differ by a
 * hundredth of `rate` but are not shorter than 100 ms; they ask for as many requests as the ramp. A
 * `free` stretch asks for none. `duration` SS_TIME_NEVER: all of it; after its end the last load
 * holds.
 */
int ssrequest_profile_trace(struct ssrequest_profile *profile, const char *path, double rate,
    ss_time duration, struct ss_error *error);

ss_time ssrequest_profile_length(const struct ssrequest_profile *profile);
void ssrequest_profile_free(struct ssrequest_profile *profile);

/* ---- when in a second ---- */

/* In the order of the option's choices. */
enum ssrequest_arrival {
    SSREQUEST_CONCURRENT, /* all of a second at its begin; seconds count from the first begin */
    SSREQUEST_EVEN,       /* in equal distances, the first at once */
    SSREQUEST_POISSON,    /* with exponential gaps */
};

/* How far a schedule is. */
struct ssrequest_cursor {
    uint64_t random; /* state */
    size_t stretch;
    ss_time from;   /* in this stretch; SSREQUEST_CONCURRENT: the next second's begin */
    double need;    /* how many are to be expected between `from` and the next one */
    double rest;    /* SSREQUEST_CONCURRENT: a part of a request, from the seconds before */
    uint64_t burst; /* SSREQUEST_CONCURRENT: how many are still due at `burst_due` */
    ss_time burst_due;
};

/* Zeroed but for begin(): not usable. The same seed gives the same moments. */
struct ssrequest_schedule {
    const struct ssrequest_profile *profile;
    enum ssrequest_arrival arrival;
    double rate;                    /* what turn() has said; negative: the profile's */
    struct ssrequest_cursor cursor; /* after the last moment that next() gave */
    struct ssrequest_cursor ahead;  /* with `known`: after the next one */
    ss_time ahead_due;              /* with `known`: the next one, SS_TIME_NEVER: no more */
    bool known;
};

void ssrequest_schedule_begin(struct ssrequest_schedule *schedule,
    const struct ssrequest_profile *profile, enum ssrequest_arrival arrival, uint64_t seed);

/* The next moment, not before the last one. False: there are no more. */
bool ssrequest_schedule_next(struct ssrequest_schedule *schedule, ss_time *due);

/* What next() will give, if turn() is not called before; SS_TIME_NEVER: no more. */
ss_time ssrequest_schedule_peek(struct ssrequest_schedule *schedule);

/*
 * From `now` on the rate is this, up to the profile's end; a moment that next() gave stays, and
 * all moments before `now` are to be taken first. SSREQUEST_CONCURRENT: from the next second on.
 */
void ssrequest_schedule_turn(struct ssrequest_schedule *schedule, ss_time now, double rate);

#endif
