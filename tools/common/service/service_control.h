/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_CONTROL_H
#define SERVICE_SERVICE_CONTROL_H

/* Controls the load of a service by the rate of its requests; shared by ssrequest and sssim. */

#include <string.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "generator.h"
#include "loop/module_set.h"
#include "loop/rate.h"
#include "service_figures.h"

/* Strings are NULL if not given. */
struct service_options {
    const char *load;         /* the target */
    const char *load_trace;   /* FILE[,OPTIONS], as for the module trace/file */
    const char *feedback;     /* NAME[,OPTIONS] */
    const char *rate_control; /* NAME[,OPTIONS] */
    double rate_max;          /* requests per second; infinity: no bound */
    uint64_t episodes;        /* 0: the default, see SERVICE_EPISODES_DEFAULT */
};

// clang-format off
/* The rows for a structure with the member `service`. Options that set a rate exclude these. */
#define SERVICE_ARGUMENTS(config)                                                                   \
    {'l', "LOAD", {"load", SS_OPTION_TEXT, .offset = offsetof(config, service.load),                \
        .help = "find the rate at which the service has this load, and hold it: 50%, 0.5, 1cpu"},   \
        .heading = "Load:", .excludes = SERVICE_EXCLUDES " load-trace"},                            \
    {0, "FILE", {"load-trace", SS_OPTION_TEXT, .offset = offsetof(config, service.load_trace),      \
        .help = "make the load of the service follow this trace: FILE[,OPTIONS], such as "          \
                "day.txt,scale=1/720; see module trace/file"},                                      \
        .excludes = SERVICE_EXCLUDES},                                                              \
    {0, "N", {"episodes", SS_OPTION_COUNT_AT(config, service.episodes), .min = "1", .max = "100",   \
        .help = "divide --duration into this many episodes, each with new connections and its own " \
                "search for the rate; their scatter gives the confidence interval of the rate; "    \
                "default: 6, or fewer so that each lasts at least 10 s and twice --settle"},        \
        .needs = "load"},                                                                           \
    {0, "NAME", {"feedback", SS_OPTION_TEXT, .offset = offsetof(config, service.feedback),          \
        .help = "module that measures the load: NAME[,OPTIONS]; default: own, or exact with --of machine"},                 \
        .needs = SERVICE_NEEDS},                                                                    \
    {0, "NAME", {"rate-control", SS_OPTION_TEXT, .offset = offsetof(config, service.rate_control),  \
        .initial = SS_CONTROL_FOR_RATE, .help = "module that decides the rate: NAME[,OPTIONS]"},    \
        .needs = SERVICE_NEEDS},                                                                    \
    {0, "NUMBER", {"rate-max", SS_OPTION_NUMBER, .offset = offsetof(config, service.rate_max),      \
        .initial = "1000000", .min = "0.001", .max = "1000000",                                     \
        .help = "send at most this many requests per second"}, .needs = SERVICE_NEEDS}
// clang-format on

#define SERVICE_NEEDS    "load load-trace"
#define SERVICE_EXCLUDES "closed profile rate max step hold trace when-full"

/* Defaults of --duration, unless the trace has an end, and of --settle. */
#define SERVICE_DURATION_DEFAULT (60 * SS_SECOND)
#define SERVICE_SETTLE_DEFAULT   (5 * SS_SECOND)

/*
 * The default number of episodes, and the minimum length of each. If fewer than
 * SERVICE_EPISODES_MIN fit, the default is one: so few do not show how much the rate scatters.
 */
#define SERVICE_EPISODES_DEFAULT   6
#define SERVICE_EPISODES_MIN       3
#define SERVICE_EPISODE_LENGTH_MIN (10 * SS_SECOND)

/* End of the generator's schedule: far beyond any run, because control ends the run. */
#define SERVICE_SENDING_MAX (UINT64_C(36500) * 86400 * SS_SECOND)

static inline bool service_is_held(const struct service_options *options) {
    return options->load || options->load_trace;
}

/* Returns whether the feedback measures the CPU time of the service's processes. */
static inline bool service_measures_own(const struct service_options *options) {
    return strncmp(options->feedback, "own", 3) == 0 && strchr(",", options->feedback[3]);
}

/* A run of control. Zeroed: closed. */
struct service_control {
    struct ss_module_set set;
    struct ss_source_request source; /* what the feedback measures */
    struct ss_board *board;
    struct ss_counters_source counters;
    const struct service_options *options;
    struct ss_rate rate;
    struct ss_rate_action action; /* latest action */
    ss_time begin; /* when control of the rate began in this episode; SS_TIME_NEVER: not yet */
    ss_time settle, length;     /* uncounted and total time of control in each episode */
    uint32_t episodes, episode; /* number of episodes, and the current one, from 0 */
    uint64_t ended;             /* requests that ended in any way */
    uint64_t ended_at_step;     /* value of `ended` at the previous step */
    uint64_t ended_at_begin;    /* value of `ended` when this episode began */
    ss_time limited_time;       /* total of earlier episodes; see struct request_held_load */
    bool counting;              /* requests count: the rate is controlled, and --settle is over */
    bool draining;              /* waiting for the last answers of an episode */
    bool over;                  /* the last episode is complete */
    uint64_t failures;          /* number of `ended` requests without success */
    struct service_figures figures;
    struct ss_counters first, before, latest; /* readings: the first one and the two latest ones */
    double background; /* CPUs that the service uses without requests; NaN until known */
};

/* Loads the modules; `cpus` CPUs make a load of 1. Close the control even on failure. */
SS_MUST_USE SS_NONNULL() int service_control_open(struct service_control *control,
    const struct service_options *options, double cpus, struct ss_error *error);

SS_NONNULL()
void service_control_close(struct service_control *control);

/*
 * Sets how long to control the rate, and in how many episodes: as long as requested, but not beyond
 * the end of the trace. `requested` is SS_TIME_NEVER if no duration is given. The first `settle` of
 * each episode is not counted.
 */
SS_MUST_USE SS_NONNULL() int service_control_plan(
    struct service_control *control, ss_time requested, ss_time settle, struct ss_error *error);

/* Begins control at `now`. Call service_control_step() from then on. */
SS_NONNULL()
void service_control_begin(
    struct service_control *control, struct ss_counters_source counters, ss_time now);

/* Counts a request that has ended. An observer of the generator; `context` is the control. */
request_observer service_control_observe;

/*
 * Sets `action`, `counting`, `episode` and `over` at `now`. `pending` is the number of requests
 * that wait to be sent or have no answer yet. Call this at the deadline of the previous action.
 * When `episode` changes, the next request needs a new connection.
 */
SS_MUST_USE SS_NONNULL() int service_control_step(
    struct service_control *control, ss_time now, uint64_t pending, struct ss_error *error);

/* Fills in the results of a run that ends at `now`. Call this once: it discards some intervals. */
SS_NONNULL()
void service_control_describe(
    struct service_control *control, ss_time now, struct request_held_load *held);

#endif
