/* SPDX-License-Identifier: Apache-2.0 */
#include "rate_options.h"

#include <math.h>

#define CAP_DEFAULT 200

/* An option, the shapes (or CLOSED) to which it applies, and those that require it, as bits. */
struct belonging {
    const char *name;
    bool given;
    unsigned to, needed_by;
};

#define CONSTANT (1U << REQUEST_CONSTANT)
#define STEP     (1U << REQUEST_STEP)
#define TRACE    (1U << REQUEST_TRACE)
#define CLOSED   (TRACE << 1)

struct request_given request_given_nothing(void) {
    return (struct request_given){
        .shape = -1,
        .rate = NAN,
        .max = NAN,
        .step = NAN,
        .duration = SS_TIME_NEVER,
        .hold = SS_TIME_NEVER,
    };
}

static unsigned way_of(const struct request_given *given) {
    return given->closed ? CLOSED : 1U << given->shape;
}

static const char *name_of(unsigned way) {
    return way == CONSTANT ? "--profile constant"
           : way == STEP   ? "--profile step"
           : way == TRACE  ? "--profile trace"
                           : "--closed";
}

int request_given_refuse(
    const struct request_given *given, const char *name, struct ss_error *error) {
    return ss_error_fail(
        error, "--%s has no meaning with %s: leave out --%s", name, name_of(way_of(given)), name);
}

static int check(const struct request_given *given, bool has_shape, struct ss_error *error) {
    const struct belonging all[] = {
        {"rate", !isnan(given->rate), CONSTANT | TRACE,
            given->finds_rate ? TRACE : CONSTANT | TRACE},
        {"duration", given->duration != SS_TIME_NEVER, CONSTANT | TRACE | CLOSED, 0},
        {"max", !isnan(given->max), STEP, STEP},
        {"step", !isnan(given->step), STEP, STEP},
        {"hold", given->hold != SS_TIME_NEVER, STEP, STEP},
        {"trace", given->trace, TRACE, TRACE},
        {"profile", has_shape, CONSTANT | STEP | TRACE, 0},
        {"cap", given->cap > 0, CONSTANT | STEP | TRACE, 0},
    };
    unsigned way = way_of(given);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].given && !(all[i].to & way))
            return request_given_refuse(given, all[i].name, error);
        if (!all[i].given && (all[i].needed_by & way))
            return ss_error_fail(error, "%s requires --%s: see --help", name_of(way), all[i].name);
    }
    return 0;
}

static int guess_shape(const struct request_given *given) {
    if (given->trace)
        return REQUEST_TRACE;
    bool steps = !isnan(given->max) || !isnan(given->step) || given->hold != SS_TIME_NEVER;
    return steps ? REQUEST_STEP : REQUEST_CONSTANT;
}

int request_given_settle(struct request_given *given, struct ss_error *error) {
    bool has_shape = given->shape >= 0;
    if (!has_shape)
        given->shape = guess_shape(given);
    if (check(given, has_shape, error) < 0)
        return -1;
    if (given->cap == 0)
        given->cap = given->closed ? given->closed : CAP_DEFAULT;
    return 0;
}

int request_given_profile(
    const struct request_given *given, struct request_profile *profile, struct ss_error *error) {
    *profile = (struct request_profile){0};
    if (given->closed)
        return 0;
    switch ((enum request_shape)given->shape) {
    case REQUEST_STEP:
        return request_profile_step(profile, given->max, given->step, given->hold, error);
    case REQUEST_TRACE:
        return request_profile_trace(profile, given->trace, given->rate, given->duration, error);
    default:
        return request_profile_constant(profile, given->rate, given->duration, error);
    }
}
