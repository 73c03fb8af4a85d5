/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "capacity_trial.h"
#include "run_result.h"
#include "show.h"
#include "wait.h"

#define RATE_START 10
#define RATE_MAX   1e6
#define PRECISION  0.02
#define REPEATS    5

/* The search fails after this many single requests to a target have failed in a row. */
#define PROBES_MAX 20

/* Pauses between single requests: each doubles the previous one, up to a maximum; 7 s in all. */
#define PROBE_PAUSE     (10 * SS_MILLISECOND)
#define PROBE_PAUSE_MAX (SS_SECOND / 2)

struct finder {
    struct request_capacity *capacity;
    struct ssrequest_run *run; /* its tally and generator are those of the current trial */
    struct request_trial_watch watch;
    FILE *lines;
    struct ssrequest_loop_stats last; /* stats of the last schedule */
    uint32_t probe_target;            /* target of single requests, see await_target() */
    uint64_t probe_number;            /* number of a request to this target in --requests-file */
};

static void send_one(void *context, struct request_in_flight *one) {
    const struct finder *finder = context;
    ssrequest_http_send(finder->run->http, one);
}

static void send_probe(void *context, struct request_in_flight *one) {
    const struct finder *finder = context;
    one->target = finder->probe_target;
    one->number = finder->probe_number;
    send_one(context, one);
}

static void extend(struct ssrequest_loop_stats *stats, const struct ssrequest_loop_stats *trial) {
    if (stats->begin == 0)
        stats->begin = trial->begin;
    stats->end = trial->end;
    stats->length = (ss_time)(stats->end - stats->begin);
    if (trial->stopped != SS_TIME_NEVER)
        stats->stopped = stats->length;
}

static void on_period(void *context, ss_time end) {
    struct finder *finder = context;
    if (request_trial_step(&finder->watch))
        request_generator_end(finder->run->generator, end);
}

/* `hooks` is NULL unless the schedule is a trial. */
static int run_schedule(struct finder *finder, struct request_schedule *schedule,
    const struct request_transport *transport, const struct ssrequest_hooks *hooks,
    struct ss_error *error) {
    const struct request_rules rules =
        ssrequest_options_rules(finder->run->options, schedule->profile);
    request_tally_begin(&finder->run->tally);
    if (request_generator_open(
            &finder->run->generator, &rules, schedule, transport, &finder->run->tally, error) < 0)
        return -1;
    if (hooks)
        request_generator_set_observer(
            finder->run->generator, request_trial_observe, &finder->watch);

    int why = ssrequest_loop_run(
        finder->run->loop, finder->run->generator, finder->run->http, hooks, &finder->last);
    request_generator_close(finder->run->generator);
    finder->run->generator = NULL;
    extend(&finder->run->stats, &finder->last);

    return why < 0 ? ss_error_fail(error, "cannot wait for a descriptor: %s", strerror(-why)) : 0;
}

static int run_trial(struct finder *finder, double rate, struct ss_error *error) {
    const struct ssrequest_options *options = finder->run->options;
    const struct ssrequest_hooks hooks = {
        .period_end = on_period,
        .period = options->given.duration / REQUEST_TRIAL_STAGE,
        .descriptor = -1,
        .context = finder,
    };
    finder->watch = (struct request_trial_watch){
        .criterion = &options->criterion, .tally = &finder->run->tally, .period = hooks.period};

    const struct request_transport transport = {send_one, finder};
    struct request_profile profile = {0};
    struct request_schedule schedule;
    if (request_profile_constant(&profile, rate, hooks.period * REQUEST_TRIAL_PERIODS, error) < 0)
        return -1;

    /* Use a different seed for each trial: with the same times, trials would not be independent. */
    request_schedule_begin(&schedule, &profile, (enum request_arrival)options->given.arrival,
        options->given.seed + finder->capacity->trial_count);
    int result = run_schedule(finder, &schedule, &transport, &hooks, error);
    request_profile_free(&profile);
    return result;
}

static bool is_stopped(const struct finder *finder) {
    return finder->run->stats.stopped != SS_TIME_NEVER;
}

static int probe_once(struct finder *finder, struct ss_error *error) {
    const struct request_transport transport = {send_probe, finder};
    struct request_profile profile = {0};
    struct request_schedule schedule;
    if (request_profile_constant(&profile, 1000, SS_MILLISECOND, error) < 0)
        return -1;

    request_schedule_begin(&schedule, &profile, REQUEST_EVEN, 0);
    int result = run_schedule(finder, &schedule, &transport, NULL, error);
    request_profile_free(&profile);
    return result;
}

static int refuse_service(const char *url, struct ss_error *error) {
    SS_OWNED(free) char *shown = request_show_url(url);
    return ss_error_fail(error,
        "the service did not recover from a trial: %d requests sent one at a time failed (%s); "
        "check the service, or start at a lower --rate",
        PROBES_MAX, shown ? shown : "the URL");
}

/*
 * Sends single requests until one succeeds; fails after PROBES_MAX. The service may still be
 * working on requests that timed out, which would slow down the next trial. A success is taken as a
 * sign that it has finished them.
 */
static int await_target(struct finder *finder, uint32_t target, struct ss_error *error) {
    const struct request_messages *messages = &finder->run->options->messages;
    finder->probe_target = target;
    finder->probe_number = 0;
    while (messages->origin_count > 0 && messages->order[finder->probe_number] != target)
        finder->probe_number++;

    for (int i = 0; i < PROBES_MAX && !is_stopped(finder); i++) {
        int result = probe_once(finder, error);
        if (result < 0 || finder->run->tally.outcomes[REQUEST_SUCCESS] > 0)
            return result;
        /* A signal during the pause ends the search, as it does in the loop. */
        if (i + 1 < PROBES_MAX && !is_stopped(finder) &&
            ssrequest_pause(ssrequest_earlier(PROBE_PAUSE << i, PROBE_PAUSE_MAX)) > 0)
            finder->run->stats.stopped = finder->run->stats.length;
    }
    return is_stopped(finder) ? 0 : refuse_service(finder->run->options->urls[target], error);
}

static const char *describe(const struct request_trial *trial) {
    if (trial->held)
        return trial->steady ? "held" : "held, but not stationary";
    if (trial->resource_failures > 0)
        return "failed: the generator lacked resources";
    return request_trial_is_limited(trial) ? "failed: the generator was the limit" : "failed";
}

static void print_trial(const struct finder *finder, const struct request_trial *trial) {
    const struct request_tally *tally = &finder->run->tally;
    if (!finder->lines)
        return;

    if (finder->capacity->trial_count == 1)
        fprintf(finder->lines, "%12s %12s %12s\n", "requests/s", "when due", "succeeded");

    fprintf(finder->lines, "%12s %12s %12s  %s\n", request_show_number(trial->rate).text,
        request_show_time(trial->seconds).text,
        request_show_share(tally->outcomes[REQUEST_SUCCESS], tally->intended).text,
        describe(trial));
    fflush(finder->lines);
}

/* Records how busy this process was during the trial, and whether it was the limit. */
static void add_generator(const struct finder *finder, struct request_trial *trial) {
    const struct ssrequest_loop_stats *stats = &finder->last;
    const struct request_result result = {
        .took = stats->length,
        .own_cpu_seconds = stats->own_cpu,
        .own_wait_seconds = stats->own_wait,
        .tally = &finder->run->tally,
    };

    trial->took = ss_time_seconds(stats->length);
    trial->own_cpu = stats->own_cpu;
    trial->own_wait = stats->own_wait;
    trial->resource_failures = finder->run->tally.outcomes[REQUEST_RESOURCES];
    trial->generator_is_limit = request_generator_is_limit(&result);
}

static int try_rate(struct finder *finder, double rate, struct ss_error *error) {
    if (run_trial(finder, rate, error) < 0)
        return -1;
    /* Ignore a trial that was interrupted. */
    if (is_stopped(finder))
        return 0;

    struct request_trial trial = {
        .rate = rate,
        .seconds = request_criterion_figure(&finder->run->options->criterion, &finder->run->tally),
        .success_ratio = request_success_ratio(&finder->run->tally),
        .held = request_criterion_holds(&finder->run->options->criterion, &finder->run->tally),
        .steady = finder->watch.is_steady,
        .measured = request_trial_measured(&finder->watch),
    };
    add_generator(finder, &trial);
    request_capacity_add(finder->capacity, &trial);
    print_trial(finder, &trial);

    if (request_tally_failed(&finder->run->tally) == 0)
        return 0;
    for (uint32_t i = 0; i < finder->run->options->url_count; i++) {
        if (await_target(finder, i, error) < 0)
            return -1;
    }
    return 0;
}

int ssrequest_capacity_run(struct request_capacity *capacity, struct ssrequest_run *run,
    FILE *lines, struct ss_error *error) {
    const struct request_rate_options *given = &run->options->given;
    const struct request_search search = {
        isnan(given->rate) ? RATE_START : given->rate, RATE_MAX, PRECISION, REPEATS};
    struct finder finder = {.capacity = capacity, .run = run, .lines = lines};

    run->stats = (struct ssrequest_loop_stats){.stopped = SS_TIME_NEVER};
    if (request_tally_open(&run->tally, given->timeout, error) < 0)
        return -1;
    request_capacity_begin(capacity, &search);

    double rate;
    while (!is_stopped(&finder) && request_capacity_next(capacity, &rate)) {
        if (try_rate(&finder, rate, error) < 0)
            return -1;
    }
    return 0;
}
