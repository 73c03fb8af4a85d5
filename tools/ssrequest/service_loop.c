/* SPDX-License-Identifier: Apache-2.0 */
#include "service_loop.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "run/sensor.h"
#include "service_usage.h"
#include "service_work.h"

/*
 * A run ends if at least FAILURES_MIN requests, and more than this fraction of all, have failed in
 * the current window. A new window begins after each FAILURES_WINDOW.
 */
#define FAILURE_RATIO_MAX 0.01
#define FAILURES_WINDOW   (10 * SS_SECOND)
#define FAILURES_MIN      10

/* A target that has been missed for this long counts as out of reach. */
#define LIMITED_MIN (5 * SS_SECOND)

struct ssrequest_service {
    struct ssrequest_run *run;
    struct service_control control;
    struct service_work search_work, control_work;
    uint64_t used; /* nanoseconds of CPU time of the service when single requests began */
    struct service_usage *usage; /* NULL if the load comes from `reader` or `sensor` */
    struct ss_counter_reader reader;
    struct ss_sensor sensor;     /* the --feedback command; pid 0 if absent */
    ss_time counting_since;      /* when requests began to count; SS_TIME_NEVER if they have not */
    ss_time ended;               /* when control ended; SS_TIME_NEVER if it has not */
    bool was_limited;            /* the target was out of reach for LIMITED_MIN */
    struct ss_error error;       /* why control ended early */
    uint64_t failures, requests; /* counts at the time `window_begin` */
    ss_time window_begin;
    uint64_t failures_before; /* count at the last step */
};

/* Adds the service of one URL; all URLs must belong to the same service. */
static int add_service(struct service *service, const struct service_selector *selector,
    const struct service_address *addresses, size_t count, struct ss_error *error) {
    struct service found = {0};
    int result = service_find(&found, selector, addresses, count, NULL, error);
    bool is_first = service->roots.count == 0 && !*service->group;
    if (result == 0 && !is_first && !service_is_same(service, &found))
        result = ss_error_fail(error,
            "--load: the URLs belong to several services: use the URLs of one, or --of machine");

    if (result < 0 || !is_first) {
        service_free(&found);
        return result;
    }
    *service = found;
    return 0;
}

int ssrequest_service_find(
    struct ssrequest_run *run, const struct ssrequest_targets *targets, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    struct service_address addresses[SSREQUEST_ADDRESSES_MAX];
    struct service_selector selector;

    if (!service_measures_own(&options->service))
        return 0;
    if (service_selector_parse(&selector, options->of, error) < 0)
        return ss_error_wrap(error, "--of");
    if (selector.kind != SERVICE_OF_URL)
        return add_service(&run->service, &selector, NULL, 0, error);

    if (targets->socket) {
        if (service_address_of_path(addresses, targets->socket, error) < 0)
            return -1;
        return add_service(&run->service, &selector, addresses, 1, error);
    }

    for (uint32_t i = 0; i < targets->count; i++) {
        size_t count = ssrequest_target_addresses(&targets->list[i], addresses);
        if (add_service(&run->service, &selector, addresses, count, error) < 0)
            return -1;
    }
    return 0;
}

static int read_sensor(struct ssrequest_service *service, struct ss_counters *counters) {
    ss_time now = ss_platform_now();
    struct ss_error *error = &service->error;
    if (ss_sensor_read(&service->sensor, now, error) < 0 ||
        ss_sensor_check(&service->sensor, now, error) < 0)
        return -EIO;

    *counters = (struct ss_counters){.time = now, .value = service->sensor.value};
    return 0;
}

/* Counts our own CPU time as idle, and removes the idle time of CPUs beyond --cpus. */
static void exclude_own(const struct ssrequest_service *service, struct ss_counters *counters) {
    double cpus = service->control.set.load_cpus;
    ss_time own = ss_platform_process_cpu_time(getpid());
    counters->used -= own;
    counters->idle += own - (uint64_t)((counters->capacity - cpus) * (double)counters->time);
    counters->capacity = cpus;
}

static int read_counters(void *context, struct ss_counters *counters) {
    struct ssrequest_service *service = context;
    if (service->usage)
        return service_usage_read(service->usage, counters);
    if (service->sensor.pid > 0)
        return read_sensor(service, counters);

    int why = ss_platform_counters_read(&service->reader, counters);
    if (why == 0 && service->reader.source != SS_SOURCE_CGROUP)
        exclude_own(service, counters);
    return why;
}

/* The command gets the signal mask and scheduling of our caller, not our own. */
static int open_sensor(struct ssrequest_service *service, struct ss_error *error) {
    struct ss_signals signals = {.caller_mask = service->run->options->mask};
    const struct ss_sensor_caller caller = {
        &signals, service->run->options->scheduling, "ssrequest"};
    return ss_sensor_start(
        &service->sensor, service->control.source.argument, &caller, ss_platform_now(), error);
}

static int open_source(struct ssrequest_service *service, struct ss_error *error) {
    const struct ssrequest_options *options = service->run->options;
    struct ss_source_request *source = &service->control.source;
    double cpus = service->control.set.load_cpus, all = ss_cpus_count(&options->measured);

    if (source->source == SS_SOURCE_SENSOR)
        return open_sensor(service, error);
    if (cpus > all)
        return ss_error_fail(
            error, "--cpus: use at most %g, the number of CPUs of this machine", all);

    if (source->source == SS_SOURCE_OWN) {
        service->usage = service_usage_open(&service->run->service, cpus, all, NULL, error);
        return service->usage ? 0 : -1;
    }

    if (ss_platform_counters_open(&service->reader, source, &options->measured, NULL, error) < 0)
        return -1;
    source->source = service->reader.source;
    return 0;
}

int ssrequest_service_open(
    struct ssrequest_service **opened, struct ssrequest_run *run, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    struct ssrequest_service *service = *opened = calloc(1, sizeof *service);
    if (!service)
        return ss_error_memory(error);
    double all = ss_cpus_count(&options->measured);

    service->run = run;
    service->counting_since = service->ended = SS_TIME_NEVER;
    if (service_control_open(&service->control, &options->service,
            options->cpus > 0 ? options->cpus : all, error) < 0 ||
        open_source(service, error) < 0)
        return -1;

    return service_control_plan(&service->control, options->held_for, options->settle, error);
}

void ssrequest_service_begin(struct ssrequest_service *service) {
    struct ss_counters_source counters = {read_counters, service};
    service_control_begin(&service->control, counters, ss_platform_now());
    if (service->usage)
        service_work_sample(&service->search_work, ss_platform_now());
}

void ssrequest_service_close(struct ssrequest_service *service) {
    if (!service)
        return;

    service_usage_close(service->usage);
    service_work_free(&service->search_work);
    service_work_free(&service->control_work);
    if (service->sensor.pid > 0 && !ss_sensor_end(&service->sensor))
        fprintf(stderr, "ssrequest: warning: the --feedback command did not exit\n");

    ss_platform_counters_close(&service->reader);
    service_control_close(&service->control);
    free(service);
}

struct service_control *ssrequest_service_control(struct ssrequest_service *service) {
    return &service->control;
}

static void end_sending(struct ssrequest_service *service, ss_time now) {
    if (service->control_work.sample_count == 1)
        service_work_sample(&service->control_work, ss_platform_now());
    service->ended = now;
    request_generator_end(service->run->generator, now);
}

/* Fails if too many requests fail: a failure costs less CPU time, so the load cannot be held. */
static int check_failures(struct ssrequest_service *service, ss_time now) {
    const struct service_control *control = &service->control;
    if (ss_time_since(now, service->window_begin) >= FAILURES_WINDOW) {
        service->window_begin = now;
        service->failures = control->failures;
        service->requests = control->ended;
    }

    double failures = (double)(control->failures - service->failures);
    double requests = (double)(control->ended - service->requests);
    if (failures < FAILURES_MIN || failures <= FAILURE_RATIO_MAX * requests)
        return 0;

    return ss_error_fail(&service->error,
        "cannot hold the load: %.0f of the last %.0f requests failed (a failure costs less CPU "
        "time than an answer)",
        failures, requests);
}

static void check_limit(struct ssrequest_service *service) {
    const struct service_control *control = &service->control;
    ss_time since = control->rate.limited_since;
    if (service->was_limited || ss_time_since(ss_platform_now(), since) < LIMITED_MIN)
        return;

    service->was_limited = true;
    if (service->run->options->quiet)
        return;
    fprintf(stderr,
        "ssrequest: warning: the service does not reach a load of %.4g %%: its load is %.1f %%, "
        "and it cannot answer more requests\n",
        100 * control->rate.target, 100 * control->rate.load);
}

/* Looks for other busy processes in the stages before control, and warns once it begins. */
static void check_others(struct ssrequest_service *service, enum ss_rate_stage before) {
    const struct service_control *control = &service->control;
    char names[512];

    if (!service->usage || control->rate.stage == before || service->search_work.sample_count == 3)
        return;
    if (before == SS_RATE_SINGLE) /* not yet: work after the last answer counts, too */
        return;

    service_work_sample(&service->search_work, ss_platform_now());
    if (before == SS_RATE_SILENT)
        service->used = control->latest.used;
    if (service->search_work.sample_count < 3)
        return;

    double seconds = ss_time_seconds(
        service->search_work.sample_times[2] - service->search_work.sample_times[1]);
    double used =
        (double)(control->latest.used - service->used) / 1e9 - control->background * seconds;

    if (service_work_describe_others(
            &service->search_work, &service->run->service, used, names, sizeof names) &&
        !service->run->options->quiet)
        fprintf(stderr,
            "ssrequest: warning: other processes started to use CPU time when the requests began: "
            "%s; if they belong to the service, use --of group:PATH or --of machine\n",
            names);
}

static int step_control(struct ssrequest_service *service, ss_time now) {
    struct service_control *control = &service->control;
    const struct ssrequest_run *run = service->run;
    ss_time clock = ss_platform_now();
    uint64_t pending = run->tally.unfinished + run->tally.waiting;
    enum ss_rate_stage stage = control->rate.stage;
    uint32_t episode = control->episode;

    if (service_control_step(control, clock, pending, &service->error) < 0 ||
        check_failures(service, now) < 0)
        return -1;
    if (control->episode != episode && ssrequest_http_renew(run->http, &service->error) < 0)
        return -1;

    request_generator_set_rate(run->generator, now, control->action.rate);
    if (control->action.single && pending == 0)
        request_generator_add(run->generator, now);
    check_limit(service);
    check_others(service, stage);

    if (control->begin == SS_TIME_NEVER)
        return 0;
    if (service->usage && service->control_work.sample_count == 0)
        service_work_sample(&service->control_work, clock);
    if (service->counting_since == SS_TIME_NEVER && control->counting)
        service->counting_since = now;

    if (control->over)
        end_sending(service, now);
    return 0;
}

ss_time ssrequest_service_step(struct ssrequest_service *service, ss_time now, bool *stepped) {
    struct service_control *control = &service->control;
    ss_time clock = ss_platform_now();
    *stepped = false;

    if (service->ended != SS_TIME_NEVER)
        return SS_TIME_NEVER;
    if (clock < control->action.deadline) {
        /* Send the next single request; after a failure, wait for the deadline first. */
        if (control->action.single && control->failures == service->failures_before &&
            service->run->tally.unfinished == 0)
            request_generator_add(service->run->generator, now);
    } else if (step_control(service, now) < 0) {
        end_sending(service, now);
        return SS_TIME_NEVER;
    } else {
        *stepped = true;
    }

    service->failures_before = control->failures;
    return ss_time_add(now, ss_time_since(control->action.deadline, clock));
}

ss_time ssrequest_service_describe(
    struct ssrequest_service *service, struct request_held_load *held) {
    service_control_describe(&service->control, ss_platform_now(), held);
    if (service->control_work.sample_count < 2 ||
        !service_work_describe_uneven(&service->control_work, &service->run->service,
            held->dominant_process, sizeof held->dominant_process))
        held->dominant_process[0] = '\0';
    return service->counting_since == SS_TIME_NEVER ? 0 : service->counting_since;
}

bool ssrequest_service_is_counting(const struct ssrequest_service *service) {
    return service->control.counting;
}

bool ssrequest_service_was_held(const struct ssrequest_service *service) {
    return service->counting_since != SS_TIME_NEVER && !service->was_limited;
}

ss_time ssrequest_service_end_time(const struct ssrequest_service *service) {
    return service->ended;
}

const char *ssrequest_service_failure(const struct ssrequest_service *service) {
    return service->error.status ? service->error.message : NULL;
}
