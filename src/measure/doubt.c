/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/doubt.h"

#include <math.h>
#include <stdio.h>

/* With less idle time than this, instances have to wait for a CPU. */
#define IDLE_MIN 0.05

/* A quota limits the instances if it is used up in this fraction of its periods. */
#define THROTTLED_MIN 0.5

/*
 * Minimum CPU use of stopped instances that counts as an escape; less is due to the delay of a
 * stop.
 */
#define ESCAPED_MIN 0.02

/* Minimum CPU use of Showstopper itself that matters. */
#define OWN_MIN 0.02

enum ss_doubt_cause ss_doubt_cause(const struct ss_doubt *doubt) {
    if (doubt->kind == SS_DOUBT_ABOVE && doubt->only_instances)
        return SS_DOUBT_ESCAPED;

    /* Comparisons with an unknown use are false. */
    if (doubt->kind == SS_DOUBT_ABOVE &&
        doubt->own_use > fmax(fmax(doubt->others_use, doubt->instances_use), OWN_MIN))
        return SS_DOUBT_OWN;
    if (doubt->kind == SS_DOUBT_ABOVE)
        return doubt->instances_use > fmax(doubt->others_use, ESCAPED_MIN) ? SS_DOUBT_ESCAPED
                                                                           : SS_DOUBT_OTHERS;
    if (doubt->quota_cpus > 0 && doubt->throttled >= THROTTLED_MIN)
        return SS_DOUBT_QUOTA;
    if (doubt->running < doubt->instances - 0.5)
        return SS_DOUBT_ENDED;
    if (doubt->open_loop)
        return SS_DOUBT_OPEN_LOOP;
    if (doubt->idle < IDLE_MIN)
        return doubt->own_use > fmax(doubt->others_use, OWN_MIN) ? SS_DOUBT_OWN : SS_DOUBT_BUSY;

    return SS_DOUBT_FEW;
}

/* Prints "the instances, always running, used 40 % of the CPUs, other processes 58 %". */
static void print_use(char *buffer, size_t size, const struct ss_doubt *doubt, const char *who) {
    if (isnan(doubt->instances_use) || isnan(doubt->others_use))
        snprintf(buffer, size, "%s were always running", who);
    else
        snprintf(buffer, size,
            "%s, always running, used %.0f %% of the CPUs, other processes %.0f %%", who,
            100 * doubt->instances_use, 100 * doubt->others_use);
}

static void print_below(char *buffer, size_t size, const struct ss_doubt *doubt) {
    char use[128], why[160] = "";
    unsigned ended = (unsigned)lround(doubt->instances - doubt->running);
    enum ss_doubt_cause cause = ss_doubt_cause(doubt);

    print_use(use, sizeof use, doubt, cause == SS_DOUBT_ENDED ? "the rest" : "the instances");
    switch (cause) {
    case SS_DOUBT_QUOTA:
        snprintf(why, sizeof why,
            "a CPU quota limits their control group to %.3g of %u CPUs: raise it",
            doubt->quota_cpus, doubt->cpus);
        break;
    case SS_DOUBT_ENDED:
        snprintf(why, sizeof why, "%u of %u instances had ended", ended, doubt->instances);
        break;
    case SS_DOUBT_OPEN_LOOP:
        snprintf(
            why, sizeof why, "the control module '%s' does not follow the load", doubt->open_loop);
        break;
    case SS_DOUBT_OWN:
        snprintf(why, sizeof why,
            "Showstopper itself used %.0f %%: use a longer round (-D) to reduce it",
            100 * doubt->own_use);
        break;
    case SS_DOUBT_BUSY:
        snprintf(why, sizeof why, "no CPU was idle");
        break;
    case SS_DOUBT_FEW:
    case SS_DOUBT_OTHERS:
    case SS_DOUBT_ESCAPED:
        snprintf(why, sizeof why,
            doubt->attached ? "attach more programs, or lower the target" : "run more instances");
    }

    snprintf(buffer, size, "the target could not be reached in %.0f %% of the samples: %s; %s",
        100 * doubt->fraction, use, why);
}

static void print_above(char *buffer, size_t size, const struct ss_doubt *doubt) {
    char use[96] = "";
    enum ss_doubt_cause cause = ss_doubt_cause(doubt);

    if (doubt->only_instances) {
        snprintf(buffer, size,
            "the load was above the target in %.0f %% of the samples although the instances were "
            "stopped: some of their processes cannot be stopped",
            100 * doubt->fraction);
        return;
    }
    if (cause == SS_DOUBT_ESCAPED || cause == SS_DOUBT_OWN) {
        bool own = cause == SS_DOUBT_OWN;
        snprintf(buffer, size,
            "the load was above the target in %.0f %% of the samples although the instances were "
            "stopped: %s used %.0f %% of the CPUs, other processes %.0f %%%s",
            100 * doubt->fraction,
            own ? "Showstopper itself" : "processes of the instances that cannot be stopped",
            100 * (own ? doubt->own_use : doubt->instances_use), 100 * doubt->others_use,
            own ? "; use a longer round (-D) to reduce it" : "");
        return;
    }

    if (!isnan(doubt->instances_use) && !isnan(doubt->others_use))
        snprintf(use, sizeof use, " and used %.0f %% of the CPUs, other processes %.0f %%",
            100 * doubt->instances_use, 100 * doubt->others_use);

    snprintf(buffer, size,
        "other processes took more than the target in %.0f %% of the samples: the instances stayed "
        "stopped%s",
        100 * doubt->fraction, use);
}

void ss_doubt_print(char *buffer, size_t size, const struct ss_doubt *doubt) {
    if (doubt->kind == SS_DOUBT_ABOVE)
        print_above(buffer, size, doubt);
    else
        print_below(buffer, size, doubt);
}
