/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a simulated service whose load is held by the rate of its requests. */

#include <math.h>
#include <string.h>

#include "queue_run.h"
#include "tree.h"
#include "unit.h"

#define MS   SS_MILLISECOND
#define US   SS_MICROSECOND
#define CPUS 2

/* Options that each case may change. */
static struct service_options held;

/* Returns options for a service with enough workers for 2 CPUs. */
static struct queue_run_options make(ss_time work) {
    return (struct queue_run_options){
        .arrival = REQUEST_EVEN,
        .rules = {.cap = 200, .end = SERVICE_SENDING_MAX},
        .timeout = 1000 * SS_SECOND,
        .seed = 1,
        .settle = 5 * SS_SECOND,
        .service = {.servers = 1, .workers = 64, .cpus = CPUS, .work = work, .seed = 1},
        .duty = 1,
        .tau = 107 * MS,
        .held = &held,
        .held_for = 60 * SS_SECOND,
    };
}

/* The result of the last run. */
static struct request_tally tally;
static struct queue_run_result last_end;

static struct request_held_load hold(struct queue_run_options *options) {
    struct ss_error error = {0};
    struct request_profile profile = {0};
    assert_succeeds(request_profile_constant(&profile, 1, SERVICE_SENDING_MAX, &error), error);
    options->profile = &profile;
    request_tally_close(&tally);
    assert_succeeds(request_tally_open(&tally, options->timeout, &error), error);
    assert_succeeds(queue_run(options, &tally, &last_end, &error), error);
    request_profile_free(&profile);
    return last_end.held;
}

/* Returns the mean squared error of the load in windows of 500 ms that shot noise causes. */
static double shot_noise(double load, ss_time work, bool poisson, bool exponential) {
    return 1e4 * load * ss_time_seconds(work) * (poisson + exponential) / (0.5 * CPUS);
}

static int set_up(void **state) {
    (void)state;
    held = (struct service_options){
        .load = "50%",
        .feedback = "own",
        .rate_control = SS_CONTROL_FOR_RATE,
        .rate_max = INFINITY,
        .episodes = 1,
    };
    return 0;
}

/* A service that uses the CPU time of its requests LATE steps after the answers. */
#define LATE (2 * SS_SECOND / SS_RATE_INTERVAL)

static struct {
    struct service_control control;
    struct ss_counters counters;
    uint64_t due[LATE]; /* CPU time to be used, by step */
} slow;

static int tear_down(void **state) {
    (void)state;
    service_control_close(&slow.control);
    return 0;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(load_is_held_whatever_a_request_costs) {
    static const ss_time works[] = {200 * US, MS, 5 * MS, 20 * MS, 50 * MS};
    static const char *const loads[] = {"25%", "50%", "75%"};
    for (int i = 0; i < 15; i++) {
        held.load = loads[i % 3];
        struct queue_run_options options = make(works[i / 3]);
        struct request_held_load result = hold(&options);
        double target = 0.25 * (i % 3 + 1), rate = target * CPUS / ss_time_seconds(works[i / 3]);
        assert_near(result.target_mean, target, 1e-9);
        assert_near(result.error_mean_percent, 0, 0.1);
        assert_that(result.error_mse_e4, <=, 0.1);
        assert_that(result.settled_seconds, <=, 3);
        assert_near(result.rate / rate, 1, 0.01);
        assert_near(result.cost / ss_time_seconds(works[i / 3]), 1, 1e-3);
        assert_near(result.seconds, 55, 0.11);
        assert_int_equal(result.limited_seconds, 0);
    }
}

CASE(random_requests_scatter_the_load_as_much_as_at_a_constant_rate) {
    static const ss_time works[] = {200 * US, MS, 5 * MS};
    for (int i = 0; i < 9; i++) {
        struct queue_run_options options = make(works[i / 3]);
        bool poisson = i % 3 != 1, exponential = i % 3 != 0;
        options.held_for = 120 * SS_SECOND;
        options.arrival = poisson ? REQUEST_POISSON : REQUEST_EVEN;
        options.service.spread = exponential ? QUEUE_EXPONENTIAL : QUEUE_CONSTANT;
        struct request_held_load result = hold(&options);
        double expected = shot_noise(0.5, works[i / 3], poisson, exponential);
        assert_near(result.error_mean_percent, 0, 0.1 + 2 * sqrt(expected / 2 * 10 / 115 / 115));
        assert_that(result.error_mse_e4, >, 0.7 * expected);
        assert_that(result.error_mse_e4, <, 1.3 * expected);
    }
}

/* The cost doubles, or half of the work is done a second after the answer. */
CASE(changing_and_late_costs_barely_move_the_load) {
    static const char *const loads[] = {"25%", "50%", "75%"};
    for (int i = 0; i < 6; i++) {
        bool late = i >= 3;
        held.load = loads[i % 3];
        struct queue_run_options options = make(late ? MS : 2500 * US);
        if (late) {
            options.settle = 0;
            options.service.late = 0.5;
            options.service.late_by = SS_SECOND;
        } else {
            options.service.change = 2;
            options.service.change_from = 20 * SS_SECOND;
            options.service.change_over = 5 * SS_SECOND;
        }
        struct request_held_load result = hold(&options);
        assert_that(result.overshoot_percent, <=, 10);
        assert_that(result.overshoot_percent, >, late ? 0 : 2);
        assert_near(result.error_mean_percent, 0, 0.2);
    }
}

static int read_slow(void *context, struct ss_counters *counters) {
    (void)context;
    *counters = slow.counters;
    return 0;
}

static void open_slow(void) {
    struct ss_error error = {0};
    memset(&slow, 0, sizeof slow);
    slow.counters = (struct ss_counters){.set = 1, .capacity = CPUS, .cpus = CPUS, .ran = true};
    assert_succeeds(service_control_open(&slow.control, &held, CPUS, &error), error);
    assert_succeeds(
        service_control_plan(&slow.control, 10000 * SS_SECOND, 5 * SS_SECOND, &error), error);
    service_control_begin(&slow.control, (struct ss_counters_source){read_slow, NULL}, 0);
}

/* Takes a step of control. Single requests end after 20 ms. Each uses `work`. */
static int step_slow(uint64_t step, ss_time work, struct ss_error *error) {
    ss_time now = step * SS_RATE_INTERVAL;
    const struct request_ended ended = {.outcome = REQUEST_SUCCESS};
    slow.counters.time = now;
    slow.counters.used += slow.due[step % LATE];
    if (service_control_step(&slow.control, now, 0, error) < 0)
        return -1;
    assert_that(slow.control.action.deadline, ==, now + SS_RATE_INTERVAL);
    double count = slow.control.action.single ? 5 : slow.control.action.rate / 10;
    for (int i = 0; i < (int)count; i++)
        service_control_observe(&slow.control, NULL, REQUEST_ENDED, &ended);
    slow.due[step % LATE] = (uint64_t)count * work;
    return 0;
}

CASE(search_waits_until_cpu_time_is_used) {
    struct ss_error error = {0};
    held.load = "25%";
    open_slow();
    for (uint64_t step = 0; step < 45; step++)
        assert_succeeds(step_slow(step, 5 * MS, &error), error);
    /* A second of silence, 2 s of single requests, and another second of silence. */
    assert_that(slow.control.begin, ==, 4000 * MS);
    assert_that(slow.control.rate.rate, >, 50);
}

CASE(requests_that_use_no_cpu_time_end_the_run) {
    struct ss_error error = {0};
    uint64_t step = 0;
    held.load = "25%";
    open_slow();
    while (step < 1000 && step_slow(step, 0, &error) == 0)
        step++;
    assert_that(step, ==, 120);
    assert_says(error.message, "500 requests did not raise the load");
}

/* The group may use one of the machine's two CPUs, and later both. */
CASE(figures_follow_the_limit_of_a_group) {
    struct request_held_load result;
    struct ss_error error = {0};
    const uint64_t changed = 300, steps = 1000;
    held.feedback = "cgroup";
    open_slow();
    for (uint64_t step = 0; step < steps; step++) {
        slow.counters.capacity = step < changed ? 1 : 2;
        assert_succeeds(step_slow(step, 5 * MS, &error), error);
    }
    service_control_describe(&slow.control, steps * SS_RATE_INTERVAL, &result);
    double before = ss_time_seconds(changed * SS_RATE_INTERVAL - slow.control.begin) - 5;
    assert_near(result.cpus, 2 - before / result.seconds, 0.01);
    assert_near(result.cost, 0.005, 0.0001);
    assert_near(result.target_mean, 0.5, 1e-9);
    assert_near(result.load_mean, 0.5, 0.05);
    assert_near(result.rate, 0.5 * result.cpus / result.cost, 1);
}

CASE(background_bounds_and_durations_are_respected) {
    static const struct {
        const char *load;
        double background, rate_max;
        ss_time held_for;
        double load_mean, within, limited;
    } rows[] = {
        {"25%", 0.2, INFINITY, 60 * SS_SECOND, 0.25, 25e-6, 0},
        /* Requests get at least a tenth of the target, minus what the account E takes back. */
        {"25%", 0.6, INFINITY, 60 * SS_SECOND, 0.3125, 0.005, 0},
        {"50%", 0, 20, 60 * SS_SECOND, 0.05, 0.001, 55},
        {"25%", 0, INFINITY, SS_TIME_NEVER, 0.25, 0.001, 0}, /* a minute by default */
        {"50%", 0, INFINITY, 44 * SS_SECOND, 0.5, 0.001, 0}, /* too short for an interval */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        bool is_short = rows[i].held_for < 60 * SS_SECOND;
        held.load = rows[i].load;
        held.rate_max = rows[i].rate_max;
        struct queue_run_options options = make(5 * MS);
        options.held_for = rows[i].held_for;
        options.service.background = rows[i].background;
        struct request_held_load result = hold(&options);
        assert_near(result.background, rows[i].background, 1e-6);
        assert_near(result.load_mean, rows[i].load_mean, rows[i].within);
        assert_that(result.limited_seconds, >=, rows[i].limited);
        assert_near(result.seconds, is_short ? 39 : 55, 0.11);
        assert_int_equal(isnan(result.rate_low), is_short);
    }
}

/* One worker uses at most one of two CPUs. */
CASE(requests_do_not_pile_up_at_a_load_out_of_reach) {
    static const ss_time works[] = {MS, 5 * MS, 50 * MS};
    for (int i = 0; i < 3; i++) {
        held.load = "75%";
        struct queue_run_options options = make(works[i]);
        options.service.workers = 1;
        struct request_held_load result = hold(&options);
        double pending = ss_histogram_quantile(&tally.successes[REQUEST_INTENDED], 1);
        assert_near(result.load_mean, 0.5, 0.005);
        assert_that(pending, <=, fmax(2.5, 33 * ss_time_seconds(works[i])));
        assert_that(result.limited_seconds, >=, 50);
    }
}

static struct request_held_load follow(const char *trace, double background) {
    tree_new();
    held.load_trace = tree_write("trace", trace);
    struct queue_run_options options = make(5 * MS);
    options.held_for = SS_TIME_NEVER;
    options.service.background = background;
    return hold(&options);
}

CASE(load_follows_a_trace) {
    struct request_held_load result =
        follow("0 20%\n20s 20%\n20s 60%\n40s 60%\n40s 20%\n60s 20%\n", 0.1);
    assert_near(result.seconds, 55, 0.11);
    assert_that(result.overshoot_percent, <=, 5);
    assert_near(result.error_mean_percent, 0, 0.3);
    assert_that(result.error_mse_e4, <=, 2);
}

/* The cost of a request is remembered while none ends. */
CASE(load_rises_after_two_hours_without_requests) {
    struct request_held_load result = follow("0 20%\n20s 20%\n20s 0\n2h 0\n2h 20%\n121M 20%\n", 0);
    assert_near(result.load_mean / result.target_mean, 1, 0.02);
    assert_that(result.overshoot_percent, <=, 10);
}

CASE(interval_of_the_rate_contains_the_true_rate) {
    int inside = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct queue_run_options options = make(5 * MS);
        options.arrival = REQUEST_POISSON;
        options.service.spread = QUEUE_EXPONENTIAL;
        options.seed = options.service.seed = seed;
        struct request_held_load result = hold(&options);
        inside += result.rate_low <= 200 && 200 <= result.rate_high;
        assert_that(result.rate_high - result.rate_low, <, 20);
    }
    assert_that(inside, >=, 88);
    assert_that(inside, <=, 99);
}

/* Returns in how many of 50 runs, which differ by 6 %, the interval contains the mean rate. */
static int cover(uint64_t episodes, double per_episode) {
    int inside = 0;
    held.episodes = episodes;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct queue_run_options options = make(50 * MS);
        options.service.between_runs = 0.06;
        options.service.per_episode = per_episode;
        options.seed = options.service.seed = seed;
        struct request_held_load result = hold(&options);
        assert_that(result.episodes, ==, episodes > 0 ? episodes : 6);
        inside += result.rate_low <= 20.1 && 20.1 <= result.rate_high;
    }
    return inside;
}

CASE(interval_of_episodes_covers_what_differs_between_them) {
    assert_that(cover(0, 1), >=, 43);
    assert_that(cover(0, 0.5), <=, 40);
    assert_that(cover(1, 1), <=, 20);
}

CASE(each_episode_begins_with_a_search_and_settles) {
    held.episodes = 6;
    struct queue_run_options options = make(20 * MS);
    struct request_held_load result = hold(&options);
    assert_that(result.episodes, ==, 6);
    assert_near(result.seconds, 30, 0.7);
    for (uint32_t i = 0; i < result.episodes; i++)
        assert_near(result.episode_rates[i], 50, 0.5);
    /* The requests of searches, and of the first 5 s of control, do not count. */
    assert_near((double)tally.intended, 50 * 30, 40);
    assert_near(ss_time_seconds(last_end.left_out), 5 * (2.6 + 5), 1.5);
    assert_near(last_end.meter.seconds, 30, 0.7);
    assert_near(last_end.meter.busy_seconds / last_end.meter.seconds / CPUS, 0.5, 0.01);
}

static uint32_t plan(uint64_t episodes, ss_time duration, ss_time settle) {
    struct service_control control;
    struct ss_error error = {0};
    held.episodes = episodes;
    assert_succeeds(service_control_open(&control, &held, CPUS, &error), error);
    int err = service_control_plan(&control, duration, settle, &error);
    uint32_t planned = err < 0 ? 0 : control.episodes;
    service_control_close(&control);
    return planned;
}

CASE(episodes_are_at_least_ten_seconds_and_twice_settle_long) {
    assert_that(plan(0, SS_TIME_NEVER, 5 * SS_SECOND), ==, 6);
    assert_that(plan(0, 3600 * SS_SECOND, 5 * SS_SECOND), ==, 6);
    assert_that(plan(0, 59 * SS_SECOND, 5 * SS_SECOND), ==, 5);
    assert_that(plan(0, 60 * SS_SECOND, 10 * SS_SECOND), ==, 3);
    /* Two episodes say too little about their scatter, unless they are requested. */
    assert_that(plan(0, 29 * SS_SECOND, 5 * SS_SECOND), ==, 1);
    assert_that(plan(2, 29 * SS_SECOND, 5 * SS_SECOND), ==, 2);
    assert_that(plan(3, 29 * SS_SECOND, 5 * SS_SECOND), ==, 0);
    assert_that(plan(1, 2 * SS_SECOND, 1 * SS_SECOND), ==, 1);
    assert_that(plan(0, 5 * SS_SECOND, 5 * SS_SECOND), ==, 0);
}

/* Takes a step with up to `room` answers. Returns how many requests are pending. */
static uint64_t answer_up_to(uint64_t step, uint64_t pending, uint64_t room) {
    const struct request_ended ended = {.outcome = REQUEST_SUCCESS};
    struct ss_error error = {0};
    slow.counters.time = step * SS_RATE_INTERVAL;
    assert_succeeds(
        service_control_step(&slow.control, slow.counters.time, pending, &error), error);
    pending += slow.control.action.single ? 5 : (uint64_t)(slow.control.action.rate / 10 + 0.5);
    uint64_t answers = pending < room ? pending : room;
    for (uint64_t i = 0; i < answers; i++)
        service_control_observe(&slow.control, NULL, REQUEST_ENDED, &ended);
    slow.counters.used += answers * 5 * MS;
    return pending - answers;
}

static uint64_t answer_until(uint64_t *step, uint64_t end, uint64_t pending, uint64_t room) {
    for (; *step < end; (*step)++)
        pending = answer_up_to(*step, pending, room);
    return pending;
}

/* The next episode waits for the last answers of the previous one. */
CASE(episodes_do_not_overlap) {
    const struct service_control *control = &slow.control;
    struct ss_error error = {0};
    uint64_t step = 0;
    held.episodes = 2;
    open_slow();
    slow.control.length = 10 * SS_SECOND;
    for (uint64_t pending = 0; !control->draining; step++)
        pending = answer_up_to(step, pending, 1000);
    assert_false(control->counting);
    assert_near(control->action.rate, 0, 1e-9);
    slow.counters.time = step * SS_RATE_INTERVAL;
    assert_succeeds(service_control_step(&slow.control, slow.counters.time, 1, &error), error);
    assert_that(control->episode, ==, 0);
    answer_up_to(step + 1, 0, 1000);
    assert_that(control->episode, ==, 1);
    assert_that(control->rate.stage, ==, SS_RATE_SILENT);
    assert_that(control->begin, ==, SS_TIME_NEVER);
    assert_false(control->over);
    for (step += 2; !control->over; step++)
        answer_up_to(step, 0, 1000);
    assert_true(control->counting);
}

/* In each phase, the service can answer `room` requests per step, until step `end`. */
CASE(rate_follows_the_answers_of_the_service) {
    static const struct {
        const char *trace;                 /* NULL for 50 % */
        uint64_t pending_min, pending_max; /* at the end */
        struct {
            uint64_t end, room;
            double rate, within;
        } phases[5];
    } rows[] = {
        /* The best answers of the first overload do not count in the second. */
        {NULL, 0, 500,
            {{100, 1000, 200, 5}, {250, 10, 90, 10}, {300, 1000, 200, 10}, {500, 1000, 200, 5},
                {700, 4, 25, 25}}},
        /* Requests that are still pending need time. */
        {NULL, 201, 1000, {{100, 1000, 200, 5}, {160, 10, 90, 1e-9}, {260, 9, 90, 1e-9}}},
        /* A stall does not limit the rate of a service that has recovered. */
        {NULL, 0, 1000, {{100, 1000, 200, 5}, {150, 0, 45, 45}, {180, 1000, 200, 10}}},
        /* The best answers of an overload limit the rate. */
        {NULL, 0, 1000, {{100, 1000, 200, 5}, {141, 12, 108, 1e-9}, {160, 6, 108, 1e-9}}},
        /* No request is sent in a free section. */
        {"0 50%\n10s free\n20s 50%\n40s 50%\n", 0, 0,
            {{100, 1000, 200, 5}, {200, 1000, 0, 1e-9}, {300, 1000, 200, 5}}},
    };
    const struct ss_rate *rate = &slow.control.rate;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        uint64_t step = 0, pending = 0;
        tree_new();
        held.load_trace = rows[i].trace ? tree_write("trace", rows[i].trace) : NULL;
        open_slow();
        for (size_t j = 0; j < 5 && rows[i].phases[j].end > 0; j++) {
            pending = answer_until(&step, rows[i].phases[j].end, pending, rows[i].phases[j].room);
            assert_near(rate->rate, rows[i].phases[j].rate, rows[i].phases[j].within);
            if (rows[i].phases[j].room < 1000)
                assert_that(rate->limited_since, !=, SS_TIME_NEVER);
            if (rows[i].phases[j].rate == 200) {
                assert_that(rate->limited_since, ==, SS_TIME_NEVER);
                assert_true(isinf(rate->ceiling));
            }
        }
        assert_in_range(pending, rows[i].pending_min, rows[i].pending_max);
        service_control_close(&slow.control);
    }
}

/* At 50 %, the bound of the rate leaves a part of the target's CPU time unused. */
CASE(step_of_the_target_begins_a_new_account) {
    const struct ss_rate *rate = &slow.control.rate;
    uint64_t step = 0;
    tree_new();
    held.load_trace = tree_write("trace", "0 50%\n20s 50%\n20s 25%\n40s 25%\n");
    held.rate_max = 150;
    open_slow();
    answer_until(&step, 200, 0, 1000);
    assert_near(rate->rate, 150, 1e-9);
    while (step < 400 && rate->rate > 149)
        answer_until(&step, step + 1, 0, 1000);
    assert_near(rate->rate, 100, 0.5);
    service_control_close(&slow.control);
}

/* The CPU time of another set of processes begins at another value. */
CASE(change_of_the_processes_does_not_change_the_rate) {
    uint64_t step = 0;
    open_slow();
    answer_until(&step, 100, 0, 1000);
    slow.counters.set++;
    slow.counters.used += 1000 * SS_SECOND;
    for (; step < 200; step++) {
        answer_up_to(step, 0, 1000);
        assert_near(slow.control.rate.rate, 200, 5);
    }
}

CASE(caller_that_was_away_does_not_catch_up) {
    struct ss_error error = {0};
    uint64_t step = 0;
    open_slow();
    uint64_t pending = answer_until(&step, 100, 0, 1000);
    slow.counters.time = 20 * SS_SECOND;
    assert_succeeds(service_control_step(&slow.control, 20 * SS_SECOND, pending, &error), error);
    assert_that(slow.control.action.deadline, ==, 20 * SS_SECOND + SS_RATE_INTERVAL);
}

/* Adds intervals of 100 ms with 10 answers of this cost each, in seconds. */
static void add_intervals(struct service_figures *figures, int count, double cost, double target) {
    for (int i = 0; i < count; i++) {
        const struct service_interval *last = service_figures_last(figures);
        const struct service_interval interval = {.end = (last ? last->end : 0) + 100 * MS,
            .seconds = 0.1,
            .cpus = CPUS,
            .used = 10 * cost,
            .target = target,
            .answers = 10};
        assert_int_equal(service_figures_add(figures, &interval), 0);
    }
}

static struct request_held_load finish(struct service_figures *figures, ss_time settle) {
    struct request_held_load result = {.cpus = CPUS};
    service_figures_finish(figures, settle, &result);
    service_figures_free(figures);
    return result;
}

TEST(intervals_from_settle_on_count) {
    struct service_figures figures = {0};
    add_intervals(&figures, 50, 20e-3, 0.5);
    add_intervals(&figures, 550, 10e-3, 0.5);
    struct request_held_load result = finish(&figures, 5 * SS_SECOND);
    assert_near(result.seconds, 55, 1e-9);
    assert_near(result.cost, 10e-3, 1e-9);
    assert_near(result.rate, 100, 1e-9);
    assert_near(result.settled_seconds, 5, 1e-9);
    assert_near(result.overshoot_percent, 0, 1e-9);
    /* The target is unknown in a `free` section, which has no error and settles nothing. */
    add_intervals(&figures, 300, 10e-3, 0.5);
    add_intervals(&figures, 300, 30e-3, NAN);
    result = finish(&figures, 0);
    assert_near(result.target_mean, 0.5, 1e-9);
    assert_near(result.load_mean, 0.5, 1e-9);
    assert_near(result.error_mse_e4, 0, 1e-9);
    assert_near(result.settled_seconds, 0, 1e-9);
    add_intervals(&figures, 100, 20e-3, 0.5);
    add_intervals(&figures, 300, 20e-3, NAN);
    add_intervals(&figures, 100, 10e-3, 0.5);
    assert_near(finish(&figures, 0).settled_seconds, 40, 1e-9);
}

TEST(change_of_the_cost_is_reported_if_it_is_large) {
    static const struct {
        int before, last;
        double factor, change;
    } rows[] = {
        {300, 100, 1.1, 0.1}, {300, 100, 0.9, -0.1}, {300, 100, 1.01, 0}, {99, 100, 1.1, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct service_figures figures = {0};
        add_intervals(&figures, rows[i].before, 10e-3, 0.5);
        add_intervals(&figures, rows[i].last, 10e-3 * rows[i].factor, 0.5);
        double change = finish(&figures, 0).cost_change;
        if (isnan(rows[i].change))
            assert_true(isnan(change));
        else
            assert_near(change, rows[i].change, 1e-9);
    }
}

/*
 * Ten batches of 2 s cost a tenth more than the mean, and ten less. The 97.5 % quantile of
 * Student's t with 19 degrees of freedom is 2.0930.
 */
TEST(interval_follows_from_batches) {
    static const char blocks[] = "+-++-+---++-+-+--+-+";
    struct service_figures figures = {0};
    for (const char *block = blocks; *block; block++)
        add_intervals(&figures, 20, *block == '+' ? 11e-3 : 9e-3, 0.5);
    struct request_held_load result = finish(&figures, 0);
    double deviation = sqrt(20 * 20.0 * 20.0 * 20.0 / 19) / 40;
    assert_false(result.correlated);
    assert_near(result.rate_high - 100, 2.0930 * deviation, 0.005);
    assert_near(result.rate_low - 100, -2.0930 * deviation, 0.005);
    /* A cost that alternates within 2 s is the same in each batch. */
    for (int i = 0; i < 40; i++)
        add_intervals(&figures, 10, i % 2 ? 11e-3 : 9e-3, 0.5);
    result = finish(&figures, 0);
    assert_near(result.rate_low, 100, 1e-9);
    assert_near(result.rate_high, 100, 1e-9);
}

/* Adds six episodes of 10 s at these rates, or one of a minute. */
static void add_episodes(struct service_figures *figures, const double *rates, bool one) {
    for (size_t i = 0; i < 6; i++) {
        add_intervals(figures, 100, 1 / rates[i], 0.5);
        for (size_t j = 100 * i; j < figures->count; j++) {
            figures->intervals[j].episode = one ? 0 : (uint32_t)i;
            figures->intervals[j].end = (j - (one ? 0 : 100 * i) + 1) * 100 * MS;
        }
    }
}

TEST(interval_follows_from_the_scatter_between_episodes) {
    static const double rates[] = {98, 103, 97, 101, 100, 101};
    struct service_figures figures = {0};
    double squares = 0;
    for (size_t i = 0; i < 6; i++)
        squares += (rates[i] - 100) * (rates[i] - 100);
    add_episodes(&figures, rates, false);
    struct request_held_load result = finish(&figures, 0);
    assert_that(result.episodes, ==, 6);
    assert_near(result.episode_rates[1], 103, 0.05);
    /* The 97.5 % quantile of Student's t with 5 degrees of freedom is 2.5706. */
    double half = 2.5706 * sqrt(squares / 5 / 6);
    assert_near(result.rate_high - result.rate, half, 0.01);
    assert_near(result.rate - result.rate_low, half, 0.01);
    assert_false(result.correlated);
}

/* The cost changes within episodes only. */
TEST(interval_of_episodes_is_never_narrower_than_that_of_batches) {
    static const double rates[] = {100, 100, 100, 100, 100, 100};
    struct request_held_load result[2];
    for (int i = 0; i < 2; i++) {
        struct service_figures figures = {0};
        add_episodes(&figures, rates, i);
        for (size_t j = 0; j < figures.count; j++)
            figures.intervals[j].used *= j / 20 % 5 == 0 ? 1.4 : 0.9;
        result[i] = finish(&figures, 0);
        assert_that(result[i].episodes, ==, i ? 1 : 6);
    }
    assert_that(result[1].rate_high - result[1].rate_low, >, 2);
    assert_near(result[0].rate_low, result[1].rate_low, 1e-9);
    assert_near(result[0].rate_high, result[1].rate_high, 1e-9);
}

/* An episode that ends before the load is reached has not settled. */
TEST(load_settles_in_each_episode) {
    static const double rates[] = {100, 100, 100, 100, 100, 50};
    struct service_figures figures = {0};
    add_episodes(&figures, rates, false);
    struct request_held_load result = finish(&figures, 0);
    assert_true(isnan(result.settled_seconds));
    add_episodes(&figures, rates, false);
    for (size_t i = 300; i < 320; i++)
        figures.intervals[i].used *= 2;
    figures.count = 500;
    assert_near(finish(&figures, 0).settled_seconds, 2, 1e-9);
    add_episodes(&figures, rates, false);
    figures.count = 500;
    assert_near(finish(&figures, 5 * SS_SECOND).seconds, 25, 1e-9);
}

/* The cost alternates between two values; the slower it does, the wider is the interval. */
TEST(interval_is_wider_if_batches_are_correlated) {
    double widths[2];
    for (int i = 0; i < 2; i++) {
        struct service_figures figures = {0};
        for (int j = 0; j < (i ? 8 : 64); j++)
            add_intervals(&figures, i ? 160 : 20, j % 2 ? 11e-3 : 10e-3, 0.5);
        struct request_held_load result = finish(&figures, 0);
        assert_int_equal(result.correlated, i);
        widths[i] = result.rate_high - result.rate_low;
    }
    assert_that(widths[1], >, 1.3 * widths[0]);
}

/* Blocks of 2 s. Their cost is high or low at random, 8 % higher in the last 10 s than before. */
TEST(change_of_a_noisy_cost_is_not_reported) {
    static const char blocks[] = "+-++-+---++-+-+--++-+-++--+--++-+-+--+-+++--";
    struct service_figures figures = {0};
    for (const char *block = blocks; *block; block++)
        add_intervals(&figures, 20, *block == '+' ? 12e-3 : 8e-3, 0.5);
    assert_near(finish(&figures, 0).cost_change, 0, 1e-9);
}

TEST(ended_requests_and_failures_are_counted) {
    struct service_control control = {0};
    static const struct {
        enum request_fate fate;
        enum request_outcome outcome;
    } rows[] = {{REQUEST_ENDED, REQUEST_SUCCESS}, {REQUEST_ENDED, REQUEST_STATUS},
        {REQUEST_ENDED, REQUEST_TIMEOUT}, {REQUEST_REFUSED, REQUEST_SUCCESS},
        {REQUEST_NEVER_SENT, REQUEST_SUCCESS}, {REQUEST_UNFINISHED, REQUEST_SUCCESS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct request_ended ended = {.outcome = rows[i].outcome};
        service_control_observe(&control, NULL, rows[i].fate, &ended);
    }
    assert_that(control.ended, ==, 3);
    assert_that(control.failures, ==, 2);
}

static void refuse(const char *part) {
    struct service_control control;
    struct ss_error error = {0};
    assert_fails(service_control_open(&control, &held, CPUS, &error), error, part);
    service_control_close(&control);
}

CASE(options_that_do_not_fit_a_rate_are_refused) {
    held.rate_control = "deadbeat";
    refuse("control/served");
    held.rate_control = "served";
    held.feedback = "own,cpus=1";
    refuse("--cpus");
    held.feedback = "own";
    held.load = "150%";
    refuse("150%");
}

UNIT_RUN
