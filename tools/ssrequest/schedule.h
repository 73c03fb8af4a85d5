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

/* Stretches of constant rate, one behind the other. Zeroed: none. */
struct ssrequest_profile {
    struct ssrequest_stretch *stretches;
    size_t count;
};

int ssrequest_profile_constant(
    struct ssrequest_profile *profile, double rate, ss_time duration, struct ss_error *error);

/* 0, `step`, twice `step` and so on, as long as it is below `max`; each is held for `hold`. */
int ssrequest_profile_step(struct ssrequest_profile *profile, double max, double step, ss_time hold,
    struct ss_error *error);

/* The loads of a trace, text or compiled, times `rate`. `duration` SS_TIME_NEVER: all of it. */
int ssrequest_profile_trace(struct ssrequest_profile *profile, const char *path, double rate,
    ss_time duration, struct ss_error *error);

ss_time ssrequest_profile_length(const struct ssrequest_profile *profile);
void ssrequest_profile_free(struct ssrequest_profile *profile);

/* ---- when in a second ---- */

/* In the order of the option's choices. */
enum ssrequest_arrival {
    SSREQUEST_CONCURRENT, /* all of a second at its begin */
    SSREQUEST_EVEN,       /* in equal distances */
    SSREQUEST_POISSON,    /* with exponential gaps */
};

/* Zeroed but for begin(): not usable. The same seed gives the same moments. */
struct ssrequest_schedule {
    const struct ssrequest_profile *profile;
    enum ssrequest_arrival arrival;
    uint64_t random; /* state */
    size_t stretch;  /* where it is */
    ss_time from;    /* how far it is in this stretch */
    double owed;     /* of a request: what the time before `from` has gathered */
    uint64_t burst;  /* SSREQUEST_CONCURRENT: how many are still due at `from` */
    double rate;     /* what turn() has said; negative: the profile's */
};

void ssrequest_schedule_begin(struct ssrequest_schedule *schedule,
    const struct ssrequest_profile *profile, enum ssrequest_arrival arrival, uint64_t seed);

/* The next moment, not before the last one. False: there are no more. */
bool ssrequest_schedule_next(struct ssrequest_schedule *schedule, ss_time *due);

/* From `now` on the rate is this, up to the profile's end; a moment that next() gave stays. */
void ssrequest_schedule_turn(struct ssrequest_schedule *schedule, ss_time now, double rate);

#endif
