/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_RUN_RESULT_H
#define REQUEST_RUN_RESULT_H

/* The result of a run, real or simulated. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

#include "capacity.h"
#include "generator.h"
#include "messages.h"
#include "per_target.h"
#include "rate_options.h"
#include "verdict/verdict.h"

/*
 * A simulated machine under the service. Values are NaN if they were not simulated, and means also
 * if all requests were sent at once.
 */
struct request_machine {
    double active;             /* mean fraction of the CPUs that are busy, 0 to 1 */
    double idle;               /* fraction of the time in which no CPU is busy */
    double watts;              /* mean power */
    double joules_per_success; /* NaN without successes */
    double speed;              /* factor of each server's speed */
    double contention[2];      /* a and b of --contention */
};

#define REQUEST_EPISODES_MAX 100

/* A service whose load was held by adjusting the rate. Loads are from 0 to 1; NaN if unknown. */
struct request_held_load {
    const char *target; /* as given: a load, or the trace of a load */
    bool follows;       /* `target` is a trace */
    double cpus;        /* CPUs that make a load of 1 */
    double seconds;     /* counted time, to which the following figures refer */
    double target_mean, load_mean;
    double error_mean_percent, error_mse_e4;    /* target minus load, in windows of 500 ms */
    double overshoot_percent;                   /* the largest load minus target of these windows */
    double settled_seconds;                     /* since control began, of the slowest episode; see
                                                   struct ss_settling */
    double cost;                                /* CPU time of a request, seconds */
    double rate;                                /* requests per second at the mean target */
    double rate_low, rate_high;                 /* 95 % confidence interval of `rate` */
    uint32_t episodes;                          /* parts of the run, each with a search */
    double episode_rates[REQUEST_EPISODES_MAX]; /* like `rate` */
    bool correlated;    /* the interval is too narrow: its batches are correlated */
    double cost_change; /* of the last 10 s, relative to the 10 s before; 0 if it may be noise */
    double background;  /* CPUs that the service used before the first request */
    char dominant_process[96]; /* process that did most of the work; empty if none did */
    double limited_seconds;    /* how long a bound of the rate kept the load below the target at the
                                  end of each episode; sum over the episodes */
};

/* Requests count as late if they are sent more than this after they were due. */
#define REQUEST_LATE_SECONDS 1e-3 /* seconds */

/* The generator limits the rate if it runs or waits for a CPU for more of the time than this. */
#define REQUEST_BUSY_MAX 0.9

struct request_result {
    const char *program;                     /* such as "ssrequest" */
    const char *const *targets;              /* targets as given */
    size_t target_count;                     /* 0 in a simulation */
    const struct request_messages *messages; /* NULL in a simulation */

    /*
     * How requests were sent. With `rules.clients` or `held` the profile is NULL, and members that
     * depend on it are unused.
     */
    struct request_rules rules;
    const struct request_profile *profile;
    struct request_rate_options given;
    /* NULL unless the load of the service determined the rate. */
    const struct request_held_load *held;
    bool rate_changed; /* the rate was changed during the run */

    /* Results: */
    double begin;         /* seconds since 1970, UTC; NaN in virtual time */
    ss_time sending_time; /* time in which requests were due */
    bool stopped; /* sending was stopped, by a signal or a command, before its planned end */
    ss_time took; /* time until the last request ended or was abandoned; at least `sending_time` */
    ss_time counted_from;     /* when counting began, since the run began */
    ss_time left_out;         /* time between the episodes, excluded from all figures */
    double own_cpu_seconds;   /* CPU time of the generator; NaN if unknown */
    double own_wait_seconds;  /* time ready to run without a CPU; NaN if unknown */
    double connections;       /* number of connections opened; NaN in a simulation */
    double clock_moved_ms;    /* milliseconds by which the wall clock was set during the run; NaN in
                                 virtual time */
    double suspended_seconds; /* seconds for which the machine was suspended; NaN in virtual time */
    const struct request_tally *tally;
    const struct request_per_target *per_target; /* NULL in a simulation */
    const struct request_machine *machine;       /* NULL unless simulated */

    /*
     * The search for a capacity, which replaces the tally; NULL without a search. `profile` then
     * describes one trial, and `given.rate` is NaN.
     */
    const struct request_capacity *capacity;
    const char *criterion; /* the requirement, as given by --capacity */
};

/* Returns the mean rate of the profile between two times; 0 after its end. */
SS_MUST_USE SS_NONNULL() double request_mean_rate(
    const struct request_profile *profile, ss_time from, ss_time to);

/* Returns the fraction of due requests, including refused ones, that succeeded; NaN without any. */
SS_NONNULL() double request_success_ratio(const struct request_tally *tally);

/*
 * Returns whether the rate was limited: always in a closed loop, otherwise if requests were late,
 * dropped, or never sent.
 */
SS_NONNULL() bool request_is_saturated(const struct request_result *result);

/*
 * Returns the fraction of `took` in which the generator ran or waited for a CPU; NaN if its CPU
 * time is unknown.
 */
SS_NONNULL() double request_generator_utilization(const struct request_result *result);

/* Returns whether the generator, not the service, limited the rate. */
SS_NONNULL() bool request_generator_is_limit(const struct request_result *result);

/* Returns successes per second of `took`; NaN if `took` is 0. */
SS_NONNULL() double request_throughput(const struct request_result *result);

/* Judges a run other than a search for a capacity. */
SS_NONNULL() struct ss_verdict request_verdict(const struct request_result *result);

#endif
