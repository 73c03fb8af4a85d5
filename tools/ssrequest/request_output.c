/* SPDX-License-Identifier: Apache-2.0 */
#include "request_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "control.h"
#include "folder.h"
#include "listener.h"
#include "live_status.h"
#include "lookup.h"
#include "per_target.h"
#include "result_document.h"
#include "service_loop.h"
#include "summary.h"

struct ssrequest_output {
    struct ssrequest_run *run;
    struct request_rows *rows;
    struct ssrequest_listener *listener;
    struct ssrequest_lookup *lookup;   /* for `urls` commands */
    struct ssrequest_service *service; /* NULL unless the load of the service sets the rate */
    struct request_held_load held;     /* valid after the run, if `service` is set */
    struct request_tally other_tally;  /* swapped with the run's while requests do not count */
    bool ever_counted, counting; /* whether requests have ever counted, and whether they do now */
    size_t interval_count;       /* number of control intervals that are in the rows */
    struct ssrequest_status status;
    double override_rate; /* rate set by a command or by control; negative if the profile applies */
    const char **targets; /* all targets of the run; owned */
    size_t target_count, target_room;
    struct request_per_target per_target;
    uint32_t current_count; /* number of current targets: the last ones in `targets` */
};

static int set_rate(struct ssrequest_output *output, double rate, struct ss_error *error) {
    if (output->run->options->given.closed)
        return ss_error_fail(
            error, "rate: a closed loop has no rate: clients send after each answer");
    if (output->service)
        return ss_error_fail(error, "rate: cannot set the rate of a run with --load");

    ss_time now = ssrequest_loop_now(output->run->loop);
    request_generator_set_rate(output->run->generator, now, rate);
    request_rows_set_rate(output->rows, now, rate);
    output->override_rate = rate;
    return 0;
}

static int add_targets(
    struct ssrequest_output *output, char *const *urls, size_t count, struct ss_error *error) {
    if (!SS_GROW(output->targets, output->target_count + count, output->target_room))
        return ss_error_memory(error);

    for (size_t i = 0; i < count; i++) {
        const char *copy = strdup(urls[i]);
        if (!copy)
            return ss_error_memory(error);
        output->targets[output->target_count++] = copy;
        if (request_per_target_add(&output->per_target, copy, error) < 0)
            return -1;
    }
    return 0;
}

static int retarget(
    struct ssrequest_output *output, struct ssrequest_targets *targets, struct ss_error *error) {
    uint32_t count = targets->count, before[REQUEST_TARGETS_MAX];
    char *const *urls = ssrequest_lookup_urls(output->lookup);

    request_control_match((const char *const *)urls, count,
        output->targets + output->target_count - output->current_count, output->current_count,
        before);
    if (add_targets(output, urls, count, error) < 0) {
        ssrequest_targets_free(targets);
        return -1;
    }

    output->current_count = count;
    ssrequest_http_retarget(output->run->http, targets);
    request_generator_retarget(output->run->generator, before, count);
    return 0;
}

static void on_found(void *context) {
    struct ssrequest_output *output = context;
    struct ssrequest_targets targets;
    struct ss_error error = {0};

    int result = ssrequest_lookup_take(output->lookup, &targets, &error);
    if (result == 0)
        result = retarget(output, &targets, &error);
    ssrequest_listener_answer(output->listener, result, error.message);
}

/* Returns the rate at this time; NaN in a closed loop. */
static double rate_at(const struct ssrequest_output *output, ss_time now) {
    if (output->run->options->given.closed)
        return NAN;
    if (output->override_rate >= 0)
        return output->override_rate;
    return request_mean_rate(&output->run->profile, now, now + SS_MICROSECOND);
}

static int describe_targets(const struct ssrequest_output *output,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error) {
    SS_OWNED(free) uint64_t *unfinished = calloc(output->target_count + 1, sizeof *unfinished);
    if (!unfinished)
        return ss_error_memory(error);

    request_generator_count_unfinished(output->run->generator, unfinished, output->target_count);
    const struct request_control_targets targets = {
        output->targets, unfinished, output->target_count, output->current_count};
    request_control_describe_targets(answer, SSREQUEST_ANSWER_ROOM, &targets);
    return 0;
}

static int execute(void *context, const struct request_control *control,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error) {
    struct ssrequest_output *output = context;
    ss_time now = ssrequest_loop_now(output->run->loop);

    switch (control->command) {
    case REQUEST_CONTROL_RATE:
        return set_rate(output, control->rate, error);
    case REQUEST_CONTROL_URLS:
        if (output->run->options->messages.origin_count > 0)
            return ss_error_fail(error, "urls: cannot change the URLs of --requests-file");
        if (output->service)
            return ss_error_fail(error, "urls: cannot change the URLs of a run with --load");
        if (ssrequest_lookup_begin(output->lookup, (const char *const *)control->urls,
                (uint32_t)control->url_count, error) < 0)
            return -1;
        return SSREQUEST_ANSWER_LATER;
    case REQUEST_CONTROL_STOP:
        ssrequest_loop_stop(output->run->loop);
        return 0;
    default:
        request_control_describe(
            answer, SSREQUEST_ANSWER_ROOM, &output->run->tally, rate_at(output, now), now);
        return describe_targets(output, answer, error);
    }
}

static void send_one(void *context, struct request_in_flight *one) {
    struct ssrequest_output *output = context;
    ssrequest_http_send(output->run->http, one);
    request_rows_record_sent(output->rows, one);
}

static void observe(void *context, const struct request_in_flight *one, enum request_fate fate,
    const struct request_ended *ended) {
    struct ssrequest_output *output = context;

    request_rows_observe(output->rows, one, fate, ended);
    if (output->service)
        service_control_observe(ssrequest_service_control(output->service), one, fate, ended);
    if (output->counting || !output->ever_counted)
        request_per_target_count(&output->per_target, one, fate, ended);
}

/* Starts or stops counting: requests of searches and of --settle appear in the rows only. */
static void toggle_counting(struct ssrequest_output *output, ss_time now) {
    struct ssrequest_run *run = output->run;

    output->counting = !output->counting;
    if (output->ever_counted) {
        request_rows_exchange(output->rows, &run->tally, &output->other_tally, now);
    } else {
        request_rows_clear(output->rows, &run->tally);
        request_per_target_clear(&output->per_target);
        output->ever_counted = true;
    }

    if (output->counting)
        ssrequest_loop_resume_usage(run->loop);
    else
        ssrequest_loop_pause_usage(run->loop);
}

/* Adds the load of the last control interval to the rows, unless it was added before. */
static void add_load(struct ssrequest_output *output) {
    const struct service_control *control = ssrequest_service_control(output->service);
    const struct service_interval *last = service_figures_last(&control->figures);
    if (control->figures.count == output->interval_count)
        return;

    output->interval_count = control->figures.count;
    request_rows_add_load(
        output->rows, last->seconds, last->target, last->used / last->seconds / last->cpus);
}

static ss_time on_step(void *context, ss_time now) {
    struct ssrequest_output *output = context;
    const struct service_control *control = ssrequest_service_control(output->service);
    bool stepped;
    if (output->run->stats.stopped != SS_TIME_NEVER)
        return SS_TIME_NEVER;

    ss_time next = ssrequest_service_step(output->service, now, &stepped);
    if (output->counting != ssrequest_service_is_counting(output->service))
        toggle_counting(output, now);

    if (!stepped)
        return next;

    output->override_rate = control->action.rate;
    request_rows_set_rate(output->rows, now, output->override_rate);
    add_load(output);
    return next;
}

static void on_begin(void *context, int64_t epoch) {
    struct ssrequest_output *output = context;
    request_rows_begin(output->rows, (double)epoch / 1e9);
    if (output->service)
        ssrequest_service_begin(output->service);
}

static void on_second(void *context, ss_time end) {
    struct ssrequest_output *output = context;
    const struct ssrequest_options *options = output->run->options;

    request_rows_advance(output->rows, end);

    const struct ssrequest_status_values values = {
        .total = output->service ? SS_TIME_NEVER : output->run->rules.end,
        .clients = options->given.closed,
        .cap = options->given.cap,
        .second = request_rows_last(output->rows),
        .tally = &output->run->tally,
    };

    if (values.second)
        ssrequest_status_draw(&output->status, &values);
}

static void on_ready(void *context) {
    struct ssrequest_output *output = context;
    ssrequest_listener_serve(output->listener);
}

struct ssrequest_hooks ssrequest_output_hooks(struct ssrequest_output *output) {
    return (struct ssrequest_hooks){
        .begin = on_begin,
        .period_end = on_second,
        .step = output->service ? on_step : NULL,
        .descriptor = output->listener ? ssrequest_listener_descriptor(output->listener) : -1,
        .ready = on_ready,
        .context = output,
    };
}

static int open_control(struct ssrequest_output *output, struct ss_error *error) {
    const struct ssrequest_options *options = output->run->options;
    if (ssrequest_lookup_open(&output->lookup, options->socket, error) < 0 ||
        ssrequest_listener_open(&output->listener, options->control, execute, output, error) < 0)
        return -1;
    return ssrequest_listener_watch(
        output->listener, ssrequest_lookup_descriptor(output->lookup), on_found, error);
}

static int open_generator(struct ssrequest_output *output, struct ss_error *error) {
    struct ssrequest_run *run = output->run;
    const struct request_transport transport = {send_one, output};
    struct request_schedule *schedule = run->options->given.closed ? NULL : &run->schedule;
    if (request_generator_open(
            &run->generator, &run->rules, schedule, &transport, &run->tally, error) < 0)
        return -1;
    request_generator_set_observer(run->generator, observe, output);
    return 0;
}

int ssrequest_output_open(struct ssrequest_run *run, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    struct ssrequest_output *output = run->output = calloc(1, sizeof *output);
    if (!output)
        return ss_error_memory(error);

    output->run = run;
    output->override_rate = -1;
    if (add_targets(output, (char *const *)options->urls, options->url_count, error) < 0 ||
        request_rows_open(
            &output->rows, &run->tally, options->given.closed ? NULL : &run->profile, error) < 0)
        return -1;
    output->current_count = options->url_count;

    if (options->each && request_rows_open_each(output->rows, options->each,
                             ssrequest_loop_signal_descriptor(run->loop), error) < 0)
        return ss_error_wrap(error, "--each");
    if (options->control && open_control(output, error) < 0)
        return -1;

    if (service_is_held(&options->service) &&
        (request_tally_open(&output->other_tally, options->given.timeout, error) < 0 ||
            ssrequest_service_open(&output->service, run, error) < 0))
        return -1;
    if (output->service)
        request_rows_add_load_columns(output->rows);

    if (open_generator(output, error) < 0)
        return -1;
    if (options->record &&
        (run->record = request_folder_create(options->record, output->rows, error)) < 0)
        return -1;

    ssrequest_status_open(&output->status, options->quiet);
    return 0;
}

void ssrequest_output_close(struct ssrequest_output *output) {
    if (!output)
        return;

    ssrequest_status_close(&output->status);
    request_rows_close(output->rows, NULL);
    ssrequest_listener_close(output->listener);
    ssrequest_lookup_close(output->lookup);
    ssrequest_service_close(output->service);
    request_tally_close(&output->other_tally);
    request_per_target_close(&output->per_target);

    for (size_t i = 0; i < output->target_count; i++)
        free((char *)output->targets[i]);
    free(output->targets);
    free(output);
}

static struct request_result result_of(struct ssrequest_run *run) {
    const struct ssrequest_options *options = run->options;
    struct ssrequest_output *output = run->output;
    const struct ssrequest_loop_stats *stats = &run->stats;

    ss_time end = run->rules.end, counting = 0;
    if (output->service) {
        counting = ssrequest_service_describe(output->service, &output->held);
        end = ssrequest_service_end_time(output->service);
    }

    ss_time sending_time = stats->stopped < end ? stats->stopped : end;
    if (output->ever_counted && !output->counting) /* the run ended early, in another search */
        request_rows_exchange(output->rows, &run->tally, &output->other_tally, sending_time);

    ss_time excluded = ss_time_add(counting, run->tally.left_out);

    return (struct request_result){
        .program = "ssrequest",
        .messages = &options->messages,
        .targets = output->targets,
        .target_count = output->target_count,
        .rules = run->rules,
        .profile = options->given.closed || output->service ? NULL : &run->profile,
        .held = output->service ? &output->held : NULL,
        .given = options->given,
        .rate_changed = output->override_rate >= 0 && !output->service,
        .begin = (double)stats->begin / 1e9,
        .sending_time = ss_time_since(sending_time, excluded),
        .stopped = (sending_time < end && (end != SS_TIME_NEVER || output->service)) ||
                   (output->service && ssrequest_service_failure(output->service)),
        .took = ss_time_since(stats->length, excluded),
        .counted_from = counting,
        .left_out = run->tally.left_out,
        .own_cpu_seconds = stats->own_cpu,
        .own_wait_seconds = stats->own_wait,
        .clock_moved_ms = (double)stats->clock_set_by / 1e6,
        .suspended_seconds = fmax((double)stats->suspended / 1e9, 0),
        .connections = (double)stats->connections,
        .tally = &run->tally,
        .per_target = &output->per_target,
    };
}

/* Prefixes an error with the option, unless an earlier output failed: the first error wins. */
static int wrap_first(struct ss_error *error, int err, const char *option) {
    return err < 0 ? -1 : ss_error_wrap(error, "%s", option);
}

/*
 * Writes all requested forms of the result. A negative `err` means that lines were lost: the
 * record then stays incomplete.
 */
static int write_results(const struct ssrequest_run *run, const struct request_result *result,
    int err, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    bool complete = err == 0;

    if (!options->quiet && !(options->json && strcmp(options->json, "-") == 0))
        request_summary_print(stdout, result);
    if (options->json && request_document_write(options->json, result, error) < 0)
        err = wrap_first(error, err, "--json");
    if (run->record >= 0 && complete &&
        request_folder_finish(run->record, options->record, result, error) < 0)
        err = wrap_first(error, err, "--record");

    return err;
}

/*
 * Returns whether all requests succeeded, and the load was held until the planned end. A run in
 * which no request was due tested nothing, and is not a success.
 */
static bool is_success(const struct ssrequest_output *output, const struct request_result *result) {
    uint64_t due = result->tally->intended;
    if (due == 0 || result->tally->outcomes[REQUEST_SUCCESS] < due)
        return false;
    return !output->service || (!result->stopped && ssrequest_service_was_held(output->service));
}

int ssrequest_output_finish(struct ssrequest_run *run, bool *success, struct ss_error *error) {
    struct ssrequest_output *output = run->output;
    const struct request_result result = result_of(run);
    int err = 0;
    *success = is_success(output, &result);

    const char *failure = output->service ? ssrequest_service_failure(output->service) : NULL;
    ssrequest_status_close(&output->status);
    if (failure)
        fprintf(stderr, "ssrequest: warning: ended early: %s\n", failure);

    request_rows_finish(output->rows, run->stats.length);
    if (request_rows_close(output->rows, error) < 0)
        err = -1;
    output->rows = NULL;

    return write_results(run, &result, err, error);
}

int ssrequest_output_write_capacity(const struct ssrequest_run *run,
    const struct request_capacity *capacity, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    const struct ssrequest_loop_stats *stats = &run->stats;
    struct request_segment trial = {.end = options->given.duration, .rate = NAN};
    const struct request_profile profile = {.segments = &trial, .count = 1};

    struct request_result result = {
        .program = "ssrequest",
        .messages = &options->messages,
        .targets = options->urls,
        .target_count = options->url_count,
        .rules = ssrequest_options_rules(options, &profile),
        .profile = &profile,
        .given = options->given,
        .begin = (double)stats->begin / 1e9,
        .sending_time = stats->length,
        .took = stats->length,
        .capacity = capacity,
        .criterion = options->capacity,
    };

    result.given.rate = NAN;
    return write_results(run, &result, 0, error);
}
