/* SPDX-License-Identifier: Apache-2.0 */
#include "rate_options.h"

#include <math.h>

#define CAP_DEFAULT 200

/* An option, and bit masks of the shapes that accept it and of those that require it. */
struct shape_option {
    const char *name;
    bool is_given;
    unsigned accepted_by, needed_by;
};

#define CONSTANT (1U << REQUEST_CONSTANT)
#define STEP     (1U << REQUEST_STEP)
#define TRACE    (1U << REQUEST_TRACE)

struct request_rate_options request_rate_unset(void) {
    return (struct request_rate_options){
        .shape = -1,
        .rate = NAN,
        .max = NAN,
        .step = NAN,
        .duration = SS_TIME_NEVER,
        .hold = SS_TIME_NEVER,
    };
}

const char *request_shape_name(enum request_shape shape) {
    static const char *const names[] = {"constant", "step", "trace"};
    return names[shape];
}

const char *request_arrival_name(enum request_arrival arrival) {
    static const char *const names[] = {"concurrent", "even", "poisson"};
    return names[arrival];
}

const char *request_when_full_name(enum request_when_full when_full) {
    static const char *const names[] = {"delay", "drop"};
    return names[when_full];
}

const char *request_balance_name(enum request_balance balance) {
    static const char *const names[] = {"round-robin", "least-connections"};
    return names[balance];
}

static int check(
    const struct request_rate_options *given, bool finds_rate, struct ss_error *error) {
    const struct shape_option all[] = {
        {"rate", !isnan(given->rate), CONSTANT | TRACE, finds_rate ? TRACE : CONSTANT | TRACE},
        {"duration", given->duration != SS_TIME_NEVER, CONSTANT | TRACE, 0},
        {"max", !isnan(given->max), STEP, STEP},
        {"step", !isnan(given->step), STEP, STEP},
        {"hold", given->hold != SS_TIME_NEVER, STEP, STEP},
        {"trace", given->trace, TRACE, TRACE},
    };
    const char *shape = request_shape_name((enum request_shape)given->shape);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].is_given && !(all[i].accepted_by & 1U << given->shape))
            return ss_error_fail(error, "--%s has no effect with --profile %s: leave out --%s",
                all[i].name, shape, all[i].name);
        if (!all[i].is_given && (all[i].needed_by & 1U << given->shape))
            return ss_error_fail(
                error, "--profile %s requires --%s: add --%s", shape, all[i].name, all[i].name);
    }

    return 0;
}

static int guess_shape(const struct request_rate_options *given) {
    if (given->trace)
        return REQUEST_TRACE;
    bool steps = !isnan(given->max) || !isnan(given->step) || given->hold != SS_TIME_NEVER;
    return steps ? REQUEST_STEP : REQUEST_CONSTANT;
}

int request_rate_complete(
    struct request_rate_options *given, bool finds_rate, struct ss_error *error) {
    if (given->shape < 0)
        given->shape = guess_shape(given);
    if (given->cap == 0)
        given->cap = given->closed ? given->closed : CAP_DEFAULT;
    return given->closed ? 0 : check(given, finds_rate, error);
}

int request_rate_profile(const struct request_rate_options *given, struct request_profile *profile,
    struct ss_error *error) {
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

struct request_rules request_rate_rules(
    const struct request_rate_options *given, const struct request_profile *profile) {
    return (struct request_rules){
        .cap = given->cap,
        .when_full = (enum request_when_full)given->when_full,
        .clients = given->closed,
        .end = given->closed ? given->duration : request_profile_length(profile),
        .balance = (enum request_balance)given->balance,
    };
}
