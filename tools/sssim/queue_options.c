/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_options.h"

#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"

/* Where neither --duration nor --requests says when sending ends. */
#define DURATION_DEFAULT (10 * SS_SECOND)

#define AT(member) .offset = offsetof(struct queue_options, member)

// clang-format off
const struct ss_argument queue_rows[] = {
    {0, "PROFILE", {"profile", SS_OPTION_CHOICE, AT(profile), .choices = "constant step trace",
                    .help = "how many requests are due: --rate a second for --duration; 0, --step, "
                            "2 times --step and so on below --max, each for --hold; or the loads of "
                            "--trace times --rate; without it, what the options that are given "
                            "belong to"},
                    .heading = "Requests:"},
    {'r', "RATE", {"rate", SS_OPTION_NUMBER, AT(rate), .help = "requests per second"}},
    {'d', "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "1u", .max = "36500d",
                 .sensible = "500m",
                 .help = "for how long requests are sent; without it and --requests, 10s, or as long "
                         "as the trace is"}},
    {0, "N", {"requests", SS_OPTION_COUNT, AT(requests), .min = "1",
              .help = "end with this request"}},
    {0, "RATE", {"max", SS_OPTION_NUMBER, AT(max), .help = "of the steps"}},
    {0, "RATE", {"step", SS_OPTION_NUMBER, AT(step), .help = "of the steps"}},
    {0, "TIME", {"hold", SS_OPTION_TIME, AT(hold), .min = "1m", .max = "36500d", .sensible = "500m",
                 .help = "of the steps"}},
    {0, "FILE", {"trace", SS_OPTION_TEXT, AT(trace), .help = "a trace, text or compiled"}},
    {0, "WORD", {"arrival", SS_OPTION_CHOICE, AT(arrival), .initial = "even",
                 .choices = "concurrent even poisson",
                 .help = "when requests are due: all of a second at its begin, in equal distances, "
                         "or with exponential gaps"}},
    {0, "N", {"closed", SS_OPTION_COUNT, AT(closed), .min = "1", .max = "1000000",
              .help = "a closed loop: so many clients that each send after their answer"}},
    {0, "N", {"cap", SS_OPTION_COUNT, AT(cap), .initial = "200", .min = "1", .max = "1000000",
              .help = "the most requests that are unfinished at a time"}},
    {0, "WORD", {"when-full", SS_OPTION_CHOICE, AT(when_full), .initial = "delay",
                 .choices = "delay drop",
                 .help = "what becomes of a request that is due while there are so many: it waits, "
                         "or it is not sent"}},
    {'t', "TIME", {"timeout", SS_OPTION_TIME, AT(timeout), .initial = "10s", .max = "36500d",
                 .help = "clients give a request up so long after it was sent; 0: never"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(settle), .initial = "0", .max = "36500d",
                 .sensible = "500m", .help = "leave this much time at the start out of the figures"}},
    {0, "N", {"seed", SS_OPTION_COUNT, AT(seed), .initial = "1",
              .help = "the seed of the random numbers; the same one gives the same output"}},
    {0, "TIME", {"work", SS_OPTION_TIME, AT(work), .initial = "10m", .min = "1u", .max = "1h",
                 .help = "CPU time of a request on a server of speed 1"},
                 .heading = "\nService:"},
    {0, "WORD", {"spread", SS_OPTION_CHOICE, AT(spread), .initial = "constant",
                 .choices = "constant exponential",
                 .help = "that of each request, or the mean of an exponential distribution"}},
    {0, "N", {"workers", SS_OPTION_COUNT, AT(workers), .initial = "1", .min = "1", .max = "4096",
              .help = "workers of each server, each on a CPU of its own"}},
    {0, "N", {"servers", SS_OPTION_COUNT, AT(servers), .min = "1", .max = "64",
              .help = "servers, each with a queue; without it, as many as --speeds has, or one"}},
    {0, "LIST", {"speeds", SS_OPTION_TEXT, AT(speeds),
                 .help = "the speed of each server: 1,1,0.5; without it, all have speed 1"}},
    {0, "WORD", {"balance", SS_OPTION_CHOICE, AT(balance), .initial = "round-robin",
                 .choices = "round-robin least-connections",
                 .help = "which server gets the next request: each in turn, or one with the fewest "
                         "unfinished ones"}},
    {0, "WORD", {"given-up", SS_OPTION_CHOICE, AT(given_up), .initial = "serve",
                 .choices = "serve skip",
                 .help = "what the service does with a request whose client has given it up: its "
                         "work, or nothing if that has not begun"}},
    {0, "DUTY", {"duty", SS_OPTION_LOAD, AT(duty), .initial = "100%",
                 .help = "the part of each round in which a server runs; it is stopped for the "
                         "rest"}},
    {0, "TIME", {"tau", SS_OPTION_TIME, AT(tau), .initial = "107m", .min = "2m", .max = "1h",
                 .help = "the mean length of a round"}},
    {0, NULL, {"json", AT(json), .help = "print the figures as JSON"}, .heading = "\nOutput:"},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

/* ---- what belongs together ---- */

struct given {
    const char *name;
    bool is_given;
};

static int refuse_given(
    const struct given *given, size_t count, const char *where, struct ss_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (given[i].is_given)
            return ss_error_fail(error, "--%s: %s", given[i].name, where);
    }
    return 0;
}

#define REFUSE(where, ...)                                                                         \
    refuse_given((const struct given[]){__VA_ARGS__},                                              \
        sizeof((const struct given[]){__VA_ARGS__}) / sizeof(struct given), where, error)

static int check_closed(const struct queue_options *options, struct ss_error *error) {
    return REFUSE("the clients of --closed send after their answers: leave one of the two away",
        {"profile", options->profile >= 0}, {"rate", !isnan(options->rate)},
        {"max", !isnan(options->max)}, {"step", !isnan(options->step)},
        {"hold", options->hold != SS_TIME_NEVER}, {"trace", options->trace != NULL});
}

static int check_rate(const struct queue_options *options, struct ss_error *error) {
    if (isnan(options->rate))
        return ss_error_fail(error, "no rate is given: --rate 50 sends 50 requests a second");
    if (!(options->rate > 0))
        return ss_error_fail(error, "--rate: %g is no rate: give more than 0", options->rate);
    return 0;
}

static int check_steps(const struct queue_options *options, struct ss_error *error) {
    if (isnan(options->max) || isnan(options->step) || options->hold == SS_TIME_NEVER)
        return ss_error_fail(error,
            "--profile step wants --max, --step and --hold, such as --max 140 --step 5 --hold 2s");
    if (!(options->max > 0) || !(options->step > 0))
        return ss_error_fail(error, "--max and --step: give more than 0");
    return REFUSE("the steps themselves say it: leave it away", {"rate", !isnan(options->rate)},
        {"duration", options->duration != SS_TIME_NEVER});
}

static int check_no_steps(const struct queue_options *options, struct ss_error *error) {
    return REFUSE("it belongs to --profile step", {"max", !isnan(options->max)},
        {"step", !isnan(options->step)}, {"hold", options->hold != SS_TIME_NEVER});
}

static int find_shape(const struct queue_options *options) {
    bool steps = !isnan(options->max) || !isnan(options->step) || options->hold != SS_TIME_NEVER;
    if (options->profile >= 0)
        return options->profile;
    return options->trace ? SSREQUEST_TRACE : steps ? SSREQUEST_STEP : SSREQUEST_CONSTANT;
}

static int check_profile(struct queue_options *options, struct ss_error *error) {
    options->profile = find_shape(options);
    if (options->profile == SSREQUEST_TRACE && !options->trace)
        return ss_error_fail(error, "--profile trace: no trace is given: --trace FILE");
    if (options->profile != SSREQUEST_TRACE && options->trace)
        return ss_error_fail(error, "--trace: it belongs to --profile trace");
    if (options->profile > SSREQUEST_CONSTANT && options->settle > 0)
        return ss_error_fail(error,
            "--settle: what changes all the time never settles: it belongs to --profile constant");
    if (options->profile == SSREQUEST_STEP)
        return check_steps(options, error);
    return check_no_steps(options, error) < 0 ? -1 : check_rate(options, error);
}

static int parse_speed(
    struct queue_options *options, const char *word, size_t number, struct ss_error *error) {
    if (number == SSREQUEST_TARGETS_MOST)
        return ss_error_fail(
            error, "--speeds: there are %d servers at most", SSREQUEST_TARGETS_MOST);
    if (ss_units_number(word, &options->speed[number], error) < 0)
        return ss_error_wrap(error, "--speeds");
    if (!(options->speed[number] >= 1e-6 && options->speed[number] <= 1e6))
        return ss_error_fail(
            error, "--speeds: '%s' lies beyond 0.000001 and 1000000", ss_words_show(word).text);
    return 0;
}

static int parse_speeds(struct queue_options *options, struct ss_error *error) {
    size_t count;
    if (!options->speeds)
        return 0;
    SS_OWNED(free) char **words = ss_words_split_list(options->speeds, &count, error);
    if (!words)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (parse_speed(options, words[i], i, error) < 0)
            return -1;
    }
    if (options->servers > 0 && options->servers != count)
        return ss_error_fail(error, "--speeds: %zu speeds for %llu servers", count,
            (unsigned long long)options->servers);
    options->servers = count;
    return 0;
}

static int check(struct queue_options *options, struct ss_error *error) {
    if (options->closed > 0 ? check_closed(options, error) < 0 : check_profile(options, error) < 0)
        return -1;
    if (!(options->duty > 0))
        return ss_error_fail(error, "--duty: at 0 no request is ever answered");
    return parse_speeds(options, error);
}

int queue_options_parse(struct queue_options *options, char **argv, struct ss_error *error) {
    *options = (struct queue_options){
        .profile = -1,
        .rate = NAN,
        .max = NAN,
        .step = NAN,
        .duration = SS_TIME_NEVER,
        .hold = SS_TIME_NEVER,
    };
    if (ss_arguments_parse(queue_rows, options, &options->store, argv, NULL, error) < 0)
        return -1;
    if (options->help || options->version)
        return 0;
    return check(options, error);
}

void queue_options_close(struct queue_options *options) {
    ssrequest_profile_free(&options->shape);
    ss_option_store_free(&options->store);
}

/* ---- what is to be run ---- */

/* Long enough for --requests under every kind of arrival: their number in it has a standard
 * deviation of its root at most. */
static ss_time find_duration(const struct queue_options *options) {
    double count = (double)options->requests;
    if (options->duration != SS_TIME_NEVER)
        return options->duration;
    if (options->requests == 0)
        return DURATION_DEFAULT;
    return ss_time_add(
        SS_SECOND, ss_time_from_double((count + 10 * sqrt(count) + 10) / options->rate * 1e9));
}

static int make_profile(struct queue_options *options, struct ss_error *error) {
    struct ssrequest_profile *shape = &options->shape;
    switch (options->profile) {
    case SSREQUEST_STEP:
        return ssrequest_profile_step(shape, options->max, options->step, options->hold, error);
    case SSREQUEST_TRACE:
        return ssrequest_profile_trace(
            shape, options->trace, options->rate, options->duration, error);
    default:
        return ssrequest_profile_constant(shape, options->rate, find_duration(options), error);
    }
}

static ss_time find_end_of_closed(const struct queue_options *options) {
    if (options->duration == SS_TIME_NEVER && options->requests == 0)
        return DURATION_DEFAULT;
    return options->duration;
}

int queue_options_resolve(
    struct queue_options *options, struct queue_run_options *run, struct ss_error *error) {
    *run = (struct queue_run_options){
        .arrival = (enum ssrequest_arrival)options->arrival,
        .rules =
            {
                .cap = options->closed > options->cap ? options->closed : options->cap,
                .when_full = (enum ssrequest_when_full)options->when_full,
                .closed = options->closed,
                .most = options->requests,
                .balance = (enum ssrequest_balance)options->balance,
            },
        .timeout = options->timeout ? options->timeout : SS_TIME_NEVER,
        .settle = options->settle,
        .seed = options->seed,
        .service =
            {
                .servers = options->servers ? (uint32_t)options->servers : 1,
                .workers = (uint32_t)options->workers,
                .speeds = options->speeds ? options->speed : NULL,
                .work = options->work,
                .spread = options->spread,
                .given_up = options->given_up,
                .seed = options->seed,
            },
        .duty = options->duty,
        .tau = options->tau,
    };
    if (options->closed == 0) {
        if (make_profile(options, error) < 0)
            return -1;
        run->profile = &options->shape;
    }
    run->rules.end =
        options->closed ? find_end_of_closed(options) : ssrequest_profile_length(&options->shape);
    if (options->settle < run->rules.end)
        return 0;
    return ss_error_fail(
        error, "--settle leaves nothing to be counted: it must be shorter than the run");
}
