/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MODULES_DITHERING_LIMITS_H
#define SHOWSTOPPER_MODULES_DITHERING_LIMITS_H

/*
 * Lower bounds of rounds and states. A switch costs the executor CPU time, which the instances
 * lose: with rounds of 10 us, two executors used all of two CPUs.
 */

#include <math.h>
#include <stdio.h>

#include <showstopper/dithering.h>

/* Nanoseconds of CPU time per switch; stopping and continuing serial instances took 37 to 44 us. */
#define SWITCH_COST 42e3

/* The fraction of the measured CPUs that all executors together may use to switch. */
#define SWITCH_FRACTION_MAX 0.25

/* A shorter state would end before the executor that began it could sleep and wake up again. */
#define STATE_MIN (100 * SS_MICROSECOND)

/* The option `min` for a struct config that has this field. */
#define LIMITS_OPTION_MIN                                                                          \
    SS_OPTION("min", TIME, min, .initial = "1ms", .min = "1us",                                    \
        .help =                                                                                    \
            "the shortest state that is enforced, at least 100us; shorter ones are added to a "    \
            "later one")

/* Prints a short time, in nanoseconds, as users write it: 500ns, 340us, 1.68ms. */
static inline const char *limits_print(char text[32], double length) {
    if (length < 1e3)
        snprintf(text, 32, "%gns", length);
    else if (length < 1e6)
        snprintf(text, 32, "%gus", length / 1e3);
    else
        snprintf(text, 32, "%gms", length / 1e6);
    return text;
}

/* Checks that `length`, in which every executor switches `switches` times, is long enough. */
static inline int limits_check_round(const struct ss_self *self, const char *option, ss_time length,
    int switches, struct ss_error *error) {
    double cost = switches * SWITCH_COST * self->instances;
    double min = ceil(cost / (SWITCH_FRACTION_MAX * self->cpus) / 1e4) * 1e4;
    if ((double)length * SWITCH_FRACTION_MAX * self->cpus >= cost)
        return 0;
    char given[32], least[32];
    return ss_error_fail(error,
        "%s=%s is too short: Showstopper itself would need %.0f %% of the CPUs to stop and "
        "continue %u instance%s, at %g us each time; use at least %s=%s",
        option, limits_print(given, (double)length), 100 * cost / ((double)length * self->cpus),
        self->instances, self->instances == 1 ? "" : "s", SWITCH_COST / 1e3, option,
        limits_print(least, min));
}

static inline int limits_check_state(const char *option, ss_time length, struct ss_error *error) {
    if (length >= STATE_MIN)
        return 0;
    char given[32], least[32];
    return ss_error_fail(error,
        "%s=%s is too short: stopping or continuing an instance takes %g us, and wake-ups are "
        "about as late; use at least %s=%s",
        option, limits_print(given, (double)length), SWITCH_COST / 1e3, option,
        limits_print(least, STATE_MIN));
}

#endif
