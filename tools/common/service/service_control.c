/* SPDX-License-Identifier: Apache-2.0 */
#include "service_control.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "measure/load.h"

/* Loads a module given as NAME[,OPTIONS]. */
static int load_named(
    struct ss_module_set *set, enum ss_kind kind, const char *text, struct ss_error *error) {
    const char *comma = strchr(text, ',');
    SS_OWNED(free)
    char *name = strndup(text, comma ? (size_t)(comma - text) : strlen(text));
    if (!name)
        return ss_error_memory(error);
    return ss_module_set_load(set, kind, name, comma ? comma + 1 : NULL, error);
}

/* Refuses cpus= of a feedback: for every feedback, --cpus says how many CPUs make a load of 1. */
static int check_cpus(const struct service_control *control, struct ss_error *error) {
    if (control->source.cpus == 0)
        return 0;
    return ss_error_fail(error, "feedback/%s: cpus has no effect: use --cpus",
        control->set.modules[SS_KIND_FEEDBACK].head->name);
}

/* Loads a trace whose end also ends the run, unless loop= is given. */
static int load_trace(struct ss_module_set *set, const char *text, struct ss_error *error) {
    SS_OWNED(free) char *options = NULL;
    if (asprintf(&options, "%s%s", text, strstr(text, ",loop=") ? "" : ",loop=no") < 0)
        return ss_error_memory(error);
    return ss_module_set_load(set, SS_KIND_TRACE, "file", options, error);
}

static int load_target(struct service_control *control, const struct service_options *options,
    struct ss_error *error) {
    if (options->load_trace)
        return load_trace(&control->set, options->load_trace, error);
    return ss_module_set_load(&control->set, SS_KIND_TRACE, SS_TRACE_DEFAULT, options->load, error);
}

/* Replaces the board, so that the modules begin with empty memory. */
static int open_board(struct service_control *control, struct ss_error *error) {
    free(control->board);
    control->board = ss_board_allocate(1, ss_module_set_memory(&control->set), false);
    return control->board ? 0 : ss_error_memory(error);
}

int service_control_open(struct service_control *control, const struct service_options *options,
    double cpus, struct ss_error *error) {
    struct ss_module_set *set = &control->set;
    *control = (struct service_control){.options = options,
        .set = {
            .output = SS_OUTPUT_RATE,
            .load_cpus = cpus,
            .instances = 1,
            .cpus = (uint32_t)ceil(cpus),
            .window = SS_WINDOW_DEFAULT,
        }};

    /* Space and dithering do not affect a rate. */
    if (load_named(set, SS_KIND_FEEDBACK, options->feedback, error) < 0 ||
        ss_module_set_prepare_feedback(set, &control->source, error) < 0 ||
        check_cpus(control, error) < 0 || load_target(control, options, error) < 0 ||
        load_named(set, SS_KIND_CONTROL, options->rate_control, error) < 0 ||
        ss_module_set_load(set, SS_KIND_SPACE, "null", NULL, error) < 0 ||
        ss_module_set_load(set, SS_KIND_DITHERING, "null", NULL, error) < 0 ||
        ss_module_set_prepare(set, error) < 0)
        return -1;
    return open_board(control, error);
}

void service_control_close(struct service_control *control) {
    if (control->set.instances > 0)
        ss_module_set_release(&control->set);
    service_figures_free(&control->figures);
    free(control->board);
    *control = (struct service_control){0};
}

static ss_time find_duration(const struct service_control *control, ss_time requested) {
    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(&control->set, NULL, 1, selves);
    ss_time length = control->set.modules[SS_KIND_TRACE].table.trace.length(&selves[SS_KIND_TRACE]);

    if (requested == SS_TIME_NEVER && length == SS_TIME_NEVER)
        return SERVICE_DURATION_DEFAULT;
    return requested < length ? requested : length;
}

int service_control_plan(
    struct service_control *control, ss_time requested, ss_time settle, struct ss_error *error) {
    const struct service_options *options = control->options;
    ss_time duration = find_duration(control, requested);
    ss_time shortest =
        settle > SERVICE_EPISODE_LENGTH_MIN / 2 ? 2 * settle : SERVICE_EPISODE_LENGTH_MIN;
    uint64_t room = duration / shortest, chosen = options->episodes;

    if (settle >= duration)
        return ss_error_fail(error, "--settle leaves no time to count: use a shorter time");
    if (chosen > 1 && chosen > room)
        return ss_error_fail(error,
            "--episodes: %llu episodes of at least %.4g s, and twice --settle, need a longer "
            "--duration: use at least %.4gs",
            (unsigned long long)chosen, ss_time_seconds(SERVICE_EPISODE_LENGTH_MIN),
            ss_time_seconds(shortest) * (double)chosen);

    if (chosen == 0)
        chosen = room < SERVICE_EPISODES_DEFAULT ? room : SERVICE_EPISODES_DEFAULT;
    if (options->load_trace || (options->episodes == 0 && chosen < SERVICE_EPISODES_MIN))
        chosen = 1;

    control->episodes = (uint32_t)chosen;
    control->settle = settle;
    control->length = duration / chosen;
    return 0;
}

static int read_latest(void *context, struct ss_counters *counters) {
    const struct service_control *control = context;
    *counters = control->latest;
    return 0;
}

/* Begins a search for the rate. */
static void begin_search(struct service_control *control, ss_time now) {
    struct ss_pipeline pipeline;
    struct ss_counters_source latest = {read_latest, control};
    ss_pipeline_open(&pipeline, &control->set, control->board, 0, latest);
    ss_rate_open(&control->rate, &pipeline, control->options->rate_max, now);
    control->begin = SS_TIME_NEVER;
}

void service_control_begin(
    struct service_control *control, struct ss_counters_source counters, ss_time now) {
    begin_search(control, now);
    control->counters = counters;
    control->background = NAN;
}

void service_control_observe(void *context, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    struct service_control *control = context;
    (void)one;
    if (fate != REQUEST_ENDED)
        return;
    control->ended++;
    control->failures += ended->outcome != REQUEST_SUCCESS;
}

/*
 * Returns how many CPUs made a load of 1 between two readings, as ss_load_between() does: the limit
 * of a group may have changed.
 */
static double find_cpus(const struct service_control *control, const struct ss_counters *from) {
    if (control->source.source == SS_SOURCE_SENSOR)
        return control->set.load_cpus;
    return (from->capacity + control->latest.capacity) / 2;
}

/* Adds the time since the previous step, in which the rate was controlled, to the statistics. */
static int add_interval(
    struct service_control *control, const struct ss_load *load, double target, ss_time now) {
    double cpus = find_cpus(control, &control->before);
    const struct service_interval interval = {
        .episode = control->episode,
        .end = ss_time_since(now, control->begin),
        .seconds = load->seconds,
        .cpus = cpus,
        .used = load->load * cpus * load->seconds,
        .target = target,
        .answers = control->ended - control->ended_at_step,
    };

    return service_figures_add(&control->figures, &interval);
}

/* Evaluates the time since the previous step. */
static int evaluate_interval(struct service_control *control, ss_time now) {
    enum ss_source source = control->source.source;
    struct ss_load load;
    int result = 0;

    if (control->action.deadline == 0) /* the first step */
        control->first = control->before = control->latest;

    if (control->episode == 0 && control->rate.stage == SS_RATE_SILENT &&
        ss_load_between(source, &control->first, &control->latest, &load))
        control->background = load.load * find_cpus(control, &control->first);

    if (control->begin != SS_TIME_NEVER && !control->draining &&
        ss_load_between(source, &control->before, &control->latest, &load))
        result = add_interval(control, &load, control->rate.target, now);

    control->before = control->latest;
    control->ended_at_step = control->ended;
    return result;
}

static ss_time current_limited_time(const struct service_control *control, ss_time now) {
    return ss_time_since(now, control->rate.limited_since);
}

/* Begins the next episode, which keeps no state of earlier ones. */
static int begin_episode(struct service_control *control, ss_time now, struct ss_error *error) {
    if (open_board(control, error) < 0)
        return -1;
    control->draining = false;
    control->episode++;
    control->ended_at_begin = control->ended;
    begin_search(control, now);
    return 0;
}

/* Sends nothing until the next decision. */
static void pause_sending(struct service_control *control, ss_time now) {
    control->draining = true;
    control->counting = false;
    control->action = (struct ss_rate_action){.deadline = ss_time_add(now, SS_RATE_INTERVAL)};
}

/* Begins counting after --settle, and ends an episode after its length. */
static void advance_episode(struct service_control *control, ss_time now) {
    ss_time controlled = ss_time_since(now, control->begin);
    control->counting = controlled >= control->settle;

    if (controlled < control->length)
        return;
    control->over = control->episode + 1 == control->episodes;
    if (control->over)
        return;

    control->limited_time = ss_time_add(control->limited_time, current_limited_time(control, now));
    pause_sending(control, now);
}

static int decide(
    struct service_control *control, ss_time now, uint64_t pending, struct ss_error *error) {
    uint64_t ended = control->ended - control->ended_at_begin;
    const struct ss_rate_counts counts = {.due = ended + pending, .ended = ended};

    control->action = ss_rate_step(&control->rate, now, &counts);
    if (control->action.failure)
        return ss_error_fail(error, "%s",
            control->action.failure == SS_FAILURE_COUNTERS ? "cannot measure the load any longer"
                                                           : "a module returned NaN");

    if (control->begin != SS_TIME_NEVER || control->rate.stage != SS_RATE_CONTROL)
        return 0;

    control->begin = now;
    if (control->rate.target > 0 && control->action.rate <= 0)
        return ss_error_fail(error,
            "%llu request%s did not raise the load: it may be the load of another service",
            (unsigned long long)ended, ended == 1 ? "" : "s");
    return 0;
}

int service_control_step(
    struct service_control *control, ss_time now, uint64_t pending, struct ss_error *error) {
    int why = control->counters.read(control->counters.context, &control->latest);
    if (why == -ESRCH)
        return ss_error_fail(error, "the service has ended");
    if (why < 0)
        return ss_error_fail(error, "cannot read the load of the service: %s", strerror(-why));

    if (evaluate_interval(control, now) < 0)
        return ss_error_memory(error);

    if (control->draining && pending > 0) {
        pause_sending(control, now);
        return 0;
    }
    if (control->draining && begin_episode(control, now, error) < 0)
        return -1;

    if (decide(control, now, pending, error) < 0)
        return -1;
    if (control->begin != SS_TIME_NEVER)
        advance_episode(control, now);
    return 0;
}

void service_control_describe(
    struct service_control *control, ss_time now, struct request_held_load *held) {
    const struct service_options *options = control->options;
    ss_time limited = control->draining ? 0 : current_limited_time(control, now);
    *held = (struct request_held_load){
        .target = options->load_trace ? options->load_trace : options->load,
        .follows = options->load_trace,
        .cpus = control->set.load_cpus,
        .background = control->background,
        .limited_seconds = ss_time_seconds(ss_time_add(control->limited_time, limited)),
    };

    service_figures_finish(&control->figures, control->settle, held);
}
