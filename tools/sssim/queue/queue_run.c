/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "trial.h"

/*
 * Sleepers, in the order in which they wake if they are due at the same time: a response exactly at
 * the timeout is in time, and requests that end make room for those that are due.
 */
#define EXECUTORS     0
#define SETTLE        1 /* set unless control decides when requests count */
#define RATE          2
#define WORKERS_FIRST 3

#define NO_SLOT UINT32_MAX

/* Makes the phase of stops independent of arrival times, which have the same seed. */
#define PHASE_SALT UINT64_C(0x7068617365)

/* The sampling interval of the trial's monitor, which is long because the samples are not used. */
#define INTERVAL (3600 * SS_SECOND)

/* A request in progress. The requests are linked in order of sending. */
struct flight {
    struct request_in_flight *one;
    uint32_t before, after; /* slots of the neighbors in that order */
};

struct run {
    const struct queue_run_options *options;
    struct sleepers sleepers;
    struct queue_service service;
    struct trial *trial; /* its executors stop and continue the servers; NULL if they always run */
    ss_time trial_begin; /* the trial's time at which requests begin */
    struct request_schedule schedule;
    struct request_generator *generator;
    struct request_tally *tally;
    struct flight *flights; /* requests by slot */
    uint32_t oldest, newest;
    uint64_t begun;                 /* number of requests sent or refused */
    struct service_control control; /* with options->held */
    struct request_tally other;     /* counts requests between episodes */
    struct queue_meter kept;        /* the meter as of the end of an episode */
    bool counts;                    /* requests of the held service count now */
    bool lacks_memory;
    struct queue_run_result result;
};

static uint32_t timeout_sleeper(const struct run *run) {
    return WORKERS_FIRST + queue_service_sleepers(&run->options->service);
}

static uint32_t generator_sleeper(const struct run *run) {
    return timeout_sleeper(run) + 1;
}

static void set_timeout(struct run *run) {
    ss_time due = SS_TIME_NEVER;
    if (run->oldest != NO_SLOT)
        due = ss_time_add(run->flights[run->oldest].one->sent, run->options->timeout);
    sleepers_set(&run->sleepers, timeout_sleeper(run), due);
}

static void link_flight(struct run *run, struct request_in_flight *one) {
    run->flights[one->slot] = (struct flight){one, run->newest, NO_SLOT};
    if (run->newest == NO_SLOT)
        run->oldest = one->slot;
    else
        run->flights[run->newest].after = one->slot;
    run->newest = one->slot;
    set_timeout(run);
}

static void unlink_flight(struct run *run, uint32_t slot) {
    const struct flight *flight = &run->flights[slot];
    if (flight->before == NO_SLOT)
        run->oldest = flight->after;
    else
        run->flights[flight->before].after = flight->after;
    if (flight->after == NO_SLOT)
        run->newest = flight->before;
    else
        run->flights[flight->after].before = flight->before;
    set_timeout(run);
}

static void observe(void *context, const struct request_in_flight *one, enum request_fate fate,
    const struct request_ended *ended) {
    struct run *run = context;
    service_control_observe(&run->control, one, fate, ended);
    if (fate == REQUEST_REFUSED)
        run->begun = one->number + 1;
}

/* The generator's transport: sends a request to the service. */
static void send(void *context, struct request_in_flight *one) {
    struct run *run = context;
    run->begun = one->number + 1;
    link_flight(run, one);
    if (queue_service_take(&run->service, one->target, one->slot, one->number, one->sent) < 0)
        run->lacks_memory = true;
}

static void finish(struct run *run, uint32_t slot, enum request_outcome outcome, ss_time now) {
    unlink_flight(run, slot);
    request_generator_finish_request(run->generator, run->flights[slot].one, outcome, 0, now);
    if (run->control.action.single)
        request_generator_add(run->generator, now);
    sleepers_set(&run->sleepers, generator_sleeper(run), now);
}

/* Stops or continues servers as the executors decide. */
static void follow_executors(struct run *run, ss_time now) {
    for (uint32_t i = 0; i < run->options->service.servers; i++)
        queue_service_set_running(
            &run->service, i, run->trial->steppers[i].state == SS_STATE_RUNNING, now);
    sleepers_set(
        &run->sleepers, EXECUTORS, ss_time_since(trial_next(run->trial), run->trial_begin));
}

static void settle(struct run *run, ss_time now) {
    run->result.settled = now;
    request_tally_clear(run->tally);
    queue_meter_clear(&run->result.meter);
    sleepers_set(&run->sleepers, SETTLE, SS_TIME_NEVER);
}

/* Excludes the time between the episodes of a held service from the results. */
static void switch_counting(struct run *run, ss_time now) {
    bool first = run->control.episode == 0, counts = run->control.counting;
    if (counts == run->counts)
        return;

    run->counts = counts;
    if (first && counts) {
        settle(run, now);
        return;
    }

    request_tally_exchange(run->tally, &run->other, now);
    if (counts) {
        run->result.meter = run->kept;
        run->result.meter.since = now;
    } else {
        run->kept = run->result.meter;
    }
}

static void generate(struct run *run, ss_time now) {
    uint64_t max = run->options->rules.max;
    request_generator_advance(run->generator, now);
    if (max > 0 && run->begun >= max && now < run->result.sending)
        run->result.sending = now;
    /* request_generator_deadline() returns 0 if more waiting requests can be sent at once. */
    ss_time next = request_generator_deadline(run->generator);
    sleepers_set(&run->sleepers, generator_sleeper(run), next < now ? now : next);
}

/* Reads the counters of the service for the feedback module. */
static int read_counters(void *context, struct ss_counters *counters) {
    struct run *run = context;
    const struct queue_service_options *options = &run->options->service;
    double cpus = queue_service_cpus(options);
    ss_time now = run->service.since;

    *counters = (struct ss_counters){
        .time = now,
        .set = 1,
        .capacity = cpus,
        .cpus = cpus,
        .idle = (uint64_t)(cpus * (double)now - run->service.used),
        .used = (uint64_t)run->service.used,
        .ran = true,
    };
    return 0;
}

/* Ends sending when control has lasted for the requested time. */
static void end_sending(struct run *run, ss_time now) {
    request_generator_end(run->generator, now);
    run->result.sending = now;
    sleepers_set(&run->sleepers, RATE, SS_TIME_NEVER);
}

static int control_rate(struct run *run, ss_time now, struct ss_error *error) {
    struct service_control *control = &run->control;
    const struct request_tally *tally = run->tally;
    uint32_t episode = control->episode;

    queue_service_used(&run->service, now);
    if (service_control_step(control, now, tally->unfinished + tally->waiting, error) < 0)
        return -1;

    request_generator_set_rate(run->generator, now, control->action.rate);
    if (control->action.single && tally->unfinished == 0)
        request_generator_add(run->generator, now);

    sleepers_set(&run->sleepers, RATE, control->action.deadline);
    sleepers_set(&run->sleepers, generator_sleeper(run), now);
    switch_counting(run, now);

    if (control->episode != episode)
        queue_service_renew(&run->service);
    if (control->over)
        end_sending(run, now);
    return 0;
}

static int wake(struct run *run, uint32_t sleeper, ss_time now, struct ss_error *error) {
    uint32_t slot;
    if (sleeper == EXECUTORS) {
        if (trial_wake(run->trial, error) < 0)
            return -1;
        follow_executors(run, now);
    } else if (sleeper == SETTLE)
        settle(run, now);
    else if (sleeper == RATE)
        return control_rate(run, now, error);
    else if (sleeper == generator_sleeper(run))
        generate(run, now);
    else if (sleeper == timeout_sleeper(run)) {
        slot = run->oldest;
        queue_service_give_up(&run->service, slot);
        finish(run, slot, REQUEST_TIMEOUT, now);
    } else if (queue_service_wake(&run->service, sleeper, &slot, now))
        finish(run, slot, REQUEST_SUCCESS, now);
    return run->lacks_memory ? ss_error_memory(error) : 0;
}

static int run_events(struct run *run, struct ss_error *error) {
    while (!request_generator_is_over(run->generator)) {
        uint32_t sleeper = sleepers_first(&run->sleepers);
        ss_time now = run->sleepers.due[sleeper];
        if (now == SS_TIME_NEVER)
            return ss_error_fail(error, "some requests would never end: use --timeout");
        queue_meter_advance(&run->result.meter, queue_service_busy(&run->service),
            now < run->result.sending ? now : run->result.sending);
        if (wake(run, sleeper, now, error) < 0)
            return -1;
        run->result.end = now;
    }

    if (run->result.sending != SS_TIME_NEVER)
        queue_meter_advance(
            &run->result.meter, queue_service_busy(&run->service), run->result.sending);

    /* Include the idle time after the last request. */
    if (run->result.end < run->result.sending)
        run->result.end = run->result.sending;

    if (!run->options->held && run->options->settle >= run->result.sending &&
        run->options->settle > 0)
        return ss_error_fail(
            error, "--settle leaves no request to count: all requests were sent before it ended");
    return 0;
}

/*
 * Opens a trial with one instance for each server and a fixed duty. Skips to a phase that depends
 * on the seed, after at least one round: executors start at random points within their first round,
 * so that round differs from later ones.
 */
static int open_trial(struct run *run, struct ss_error *error) {
    const struct queue_run_options *options = run->options;
    char duty[32], tau[32];
    snprintf(duty, sizeof duty, "%.15f", options->duty);
    snprintf(tau, sizeof tau, "tau=%" PRIu64 "n", options->tau);
    const struct trial_options trial = {
        .cpus = options->service.servers,
        .instances = options->service.servers,
        .width = 1,
        .modules = {"constant", "realtime", "fixed", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = duty, [SS_KIND_DITHERING] = tau},
        .window = SS_WINDOW_DEFAULT,
        .interval = INTERVAL,
        .seed = options->seed,
    };
    struct trial *opened = calloc(1, sizeof *opened);
    if (!opened)
        return ss_error_memory(error);
    if (trial_open(opened, &trial, error) < 0) {
        free(opened);
        return -1;
    }
    run->trial = opened;

    double phase = 1 + ss_random(options->seed + PHASE_SALT, 0);
    if (trial_advance(opened, ss_time_from_double(phase * (double)options->tau), error) < 0)
        return -1;
    run->trial_begin = opened->now;
    follow_executors(run, 0);
    return 0;
}

static int open_service(struct run *run, struct ss_error *error) {
    const struct queue_run_options *options = run->options;
    uint64_t slots = options->rules.cap;
    run->flights = calloc(slots, sizeof *run->flights);
    if (!run->flights)
        return ss_error_memory(error);
    if (sleepers_open(&run->sleepers, generator_sleeper(run) + 1, error) < 0 ||
        queue_service_open(
            &run->service, &options->service, &run->sleepers, WORKERS_FIRST, slots, error) < 0)
        return -1;
    return options->duty < 1 ? open_trial(run, error) : 0;
}

static int open_control(struct run *run, struct ss_error *error) {
    const struct service_options *held = run->options->held;
    struct ss_counters_source counters = {read_counters, run};

    if (!held)
        return 0;

    if (service_control_open(
            &run->control, held, queue_service_cpus(&run->options->service), error) < 0)
        return -1;
    if (service_control_plan(&run->control, run->options->held_for, run->options->settle, error) <
            0 ||
        request_tally_open(&run->other, run->options->timeout, error) < 0)
        return -1;

    service_control_begin(&run->control, counters, 0);
    return 0;
}

static int open_generator(struct run *run, struct ss_error *error) {
    const struct queue_run_options *options = run->options;
    struct request_rules rules = options->rules;
    struct request_transport transport = {.send = send, .context = run};

    rules.targets = options->service.servers;
    if (options->profile)
        request_schedule_begin(&run->schedule, options->profile, options->arrival, options->seed);
    if (options->held)
        request_schedule_set_rate(&run->schedule, 0, 0);

    if (request_generator_open(&run->generator, &rules, options->profile ? &run->schedule : NULL,
            &transport, run->tally, error) < 0)
        return -1;
    request_generator_set_observer(run->generator, observe, run);

    sleepers_set(&run->sleepers, generator_sleeper(run), 0);
    if (options->held)
        sleepers_set(&run->sleepers, RATE, 0);
    else if (options->settle > 0)
        sleepers_set(&run->sleepers, SETTLE, options->settle);
    return 0;
}

static int simulate(struct run *run, struct ss_error *error) {
    if (open_service(run, error) < 0 || open_control(run, error) < 0 ||
        open_generator(run, error) < 0)
        return -1;
    return run_events(run, error);
}

int queue_run(const struct queue_run_options *options, struct request_tally *tally,
    struct queue_run_result *result, struct ss_error *error) {
    struct run run = {.options = options,
        .tally = tally,
        .oldest = NO_SLOT,
        .newest = NO_SLOT,
        .result = {.sending = options->rules.end,
            .meter = {.power = options->power,
                .relative_frequency =
                    options->relative_frequency > 0 ? options->relative_frequency : 1}}};

    int status = simulate(&run, error);
    run.result.wasted = run.service.wasted;
    if (options->held)
        service_control_describe(&run.control, run.result.sending, &run.result.held);
    run.result.left_out = tally->left_out;
    *result = run.result;

    service_control_close(&run.control);
    request_tally_close(&run.other);
    if (run.generator)
        request_generator_close(run.generator);
    if (run.trial)
        trial_close(run.trial);
    free(run.trial);
    queue_service_close(&run.service);
    sleepers_close(&run.sleepers);
    free(run.flights);
    return status;
}
