/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Judges simulated runs with and without a known fault by the verdict of the product. usage()
 * describes the options.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <showstopper/random.h>

#include "chance.h"
#include "generator.h"
#include "measure/conditions.h"
#include "record/judge.h"
#include "run_result.h"
#include "trial.h"

#define CPUS     2
#define SECONDS  240
#define WINDOW   (SECONDS * SS_SECOND / SS_STATIONARITY_MAX) /* of constant noise */
#define TAU      (100 * SS_MILLISECOND)
#define CLEAN    1000
#define EACH     20
#define STRENGTH 2 /* factor by which faults exceed the limit that makes a run doubtful */

/* Limits of fractions of runs. */
#define FLAGGED_MAX 0.01
#define MISSED_MAX  0.01
#define NAIVE_MIN   0.02

/* Requests of a simulated service. */
#define RATE     100
#define RESPONSE (5 * SS_MILLISECOND)
#define CAP      4096

enum fault {
    NONE,
    SHORT_OF_TARGET,
    BURSTS,
    OFF_TARGET,
    LATE_WAKE_UPS,
    LOST_SAMPLES,
    STEAL,
    OTHERS,
    FREQUENCY,
    STEP,
    DRIFT,
    WARM_UP,
    COMPETITOR,
    FEW_ITERATIONS,
    NO_ITERATION,
    NO_SAMPLE,
    FAILED_INSTANCE,
    ENDED_EARLY,
    FULL_DISK,
    SIGNAL,
    ERROR,
    CLOCK,
    SUSPENDED,
    RUN_FAULTS,
    REQUESTS = RUN_FAULTS, /* requests without a fault */
    SLOWER_SERVICE,
    DEGRADING_SERVICE,
    SLOWER_CLIENTS,
    LATE_REQUESTS,
    STOPPED_GENERATOR,
    FAILED_REQUESTS,
    UNFINISHED,
    CUT_SHORT,
    FEW_SUCCESSES,
    NO_SUCCESS,
    FAULTS,
};

struct kind {
    const char *name;
    enum ss_check_name check; /* the check that must find it */
    enum ss_finding finding;  /* the result must be at least this bad */
};

static const struct kind kinds[FAULTS] = {
    [SHORT_OF_TARGET] = {"too little CPU time for the target", SS_CHECK_MEAN_ERROR, SS_DOUBTFUL},
    [BURSTS] = {"bursts of other programs above the target", SS_CHECK_MEAN_SQUARED_ERROR,
        SS_DOUBTFUL},
    [OFF_TARGET] = {"a fifth of the samples off target", SS_CHECK_SAMPLES_OFF, SS_DOUBTFUL},
    [LATE_WAKE_UPS] = {"late wake-ups", SS_CHECK_LATE_WAKE_UPS, SS_DOUBTFUL},
    [LOST_SAMPLES] = {"lost samples", SS_CHECK_SAMPLES_LOST, SS_DOUBTFUL},
    [STEAL] = {"steal", SS_CHECK_STEAL, SS_DOUBTFUL},
    [OTHERS] = {"load of other programs", SS_CHECK_OTHERS, SS_DOUBTFUL},
    [FREQUENCY] = {"falling frequency", SS_CHECK_FREQUENCY, SS_DOUBTFUL},
    [STEP] = {"a step of the speed", SS_CHECK_THROUGHPUT, SS_DOUBTFUL},
    [DRIFT] = {"a drift of the speed", SS_CHECK_THROUGHPUT, SS_DOUBTFUL},
    [WARM_UP] = {"a cold start", SS_CHECK_THROUGHPUT, SS_DOUBTFUL},
    [COMPETITOR] = {"a competitor that preempts, for a while", SS_CHECK_THROUGHPUT, SS_DOUBTFUL},
    [FEW_ITERATIONS] = {"few iterations", SS_CHECK_ITERATIONS, SS_DOUBTFUL},
    [NO_ITERATION] = {"no iteration", SS_CHECK_ITERATIONS, SS_INVALID},
    [NO_SAMPLE] = {"no sample", SS_CHECK_SAMPLES, SS_INVALID},
    [FAILED_INSTANCE] = {"a failed instance", SS_CHECK_FAILED_INSTANCES, SS_DOUBTFUL},
    [ENDED_EARLY] = {"an instance that ends early", SS_CHECK_ENDED_EARLY, SS_DOUBTFUL},
    [FULL_DISK] = {"a full disk", SS_CHECK_LINES_LOST, SS_DOUBTFUL},
    [SIGNAL] = {"a run cut short", SS_CHECK_INTERRUPTED, SS_DOUBTFUL},
    [ERROR] = {"a run that fails", SS_CHECK_INTERRUPTED, SS_INVALID},
    [CLOCK] = {"a clock that is set", SS_CHECK_CLOCK, SS_DOUBTFUL},
    [SUSPENDED] = {"a suspended machine", SS_CHECK_SUSPENDED, SS_DOUBTFUL},
    [SLOWER_SERVICE] = {"a step of the response times", SS_CHECK_RESPONSE, SS_DOUBTFUL},
    [DEGRADING_SERVICE] = {"a service that degrades", SS_CHECK_RESPONSE, SS_DOUBTFUL},
    [SLOWER_CLIENTS] = {"a step of a closed loop's throughput", SS_CHECK_THROUGHPUT, SS_DOUBTFUL},
    [LATE_REQUESTS] = {"late requests", SS_CHECK_LATE_REQUESTS, SS_DOUBTFUL},
    [STOPPED_GENERATOR] = {"a generator that is stopped", SS_CHECK_LATE_REQUESTS, SS_INVALID},
    [FAILED_REQUESTS] = {"failed requests", SS_CHECK_FAILED_REQUESTS, SS_DOUBTFUL},
    [UNFINISHED] = {"a service that stops answering", SS_CHECK_UNANSWERED_REQUESTS, SS_DOUBTFUL},
    [CUT_SHORT] = {"requests cut short", SS_CHECK_INTERRUPTED, SS_DOUBTFUL},
    [FEW_SUCCESSES] = {"few successes", SS_CHECK_SUCCESSES, SS_DOUBTFUL},
    [NO_SUCCESS] = {"no success", SS_CHECK_SUCCESSES, SS_INVALID},
};

/* The verdict of a simulated run, and whether a naive test finds a change. */
struct judged {
    struct ss_verdict verdict;
    bool naive;
};

/* A run with its random parameters. */
struct scene {
    enum fault fault;
    uint64_t seed, random;
    double deviation, correlation; /* of the speed, between windows */
    double at;                     /* time of a step, as a fraction of the run */
    double sign;
};

static void fail(const char *message) {
    fprintf(stderr, "verdict: %s\n", message);
    exit(2);
}

static double draw(struct scene *scene, double low, double high) {
    return low + (high - low) * ss_random_next(&scene->random);
}

static bool is_clean(enum fault fault) {
    return fault == NONE || fault == REQUESTS;
}

/* Runs with a fault have little noise: much noise would hide a change of twice the limit. */
static struct scene make_scene(enum fault fault, uint64_t seed) {
    struct scene scene = {.fault = fault, .seed = seed, .random = ss_random_hash(seed)};
    scene.deviation = is_clean(fault) ? draw(&scene, 0.002, 0.05) : draw(&scene, 0.002, 0.005);
    scene.correlation = draw(&scene, 0, 0.5);
    scene.at = draw(&scene, 0.2, 0.8);
    scene.sign = draw(&scene, -1, 1) < 0 ? -1 : 1;
    return scene;
}

static double limit_of(enum ss_check_name check) {
    return ss_checks[check].doubtful;
}

/* Returns the factor by which an iteration or a response is longer, at this fraction of the run. */
static double slowness_at(const struct scene *scene, double part) {
    double size = STRENGTH * limit_of(SS_CHECK_THROUGHPUT) / 100 * scene->sign;
    switch (scene->fault) {
    case STEP:
    case SLOWER_SERVICE:
    case SLOWER_CLIENTS:
        return part > scene->at ? 1 + size : 1;
    case DRIFT:
    case DEGRADING_SERVICE:
        return 1 + size * part;
    case WARM_UP:
        return 1 + fabs(size) * exp(-12 * part);
    default:
        return 1;
    }
}

/*
 * Returns whether a t-test, which treats values as independent, finds a difference between the
 * halves.
 */
static bool differ_by_t(const double *values, size_t count) {
    double sums[2] = {0}, squares = 0, half = (double)count / 2;
    for (size_t i = 0; i < count; i++)
        sums[i >= count / 2] += values[i];
    for (size_t i = 0; i < count; i++)
        squares += pow(values[i] - sums[i >= count / 2] / half, 2);
    double error = sqrt(squares / (2 * half - 2) * 2 / half);
    return fabs(sums[1] - sums[0]) / half > 1.97 * error;
}

/* Root of a machine whose CPUs have a frequency. */
static char root[] = "/tmp/verdict-XXXXXX";

static void make_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (mkdir(path, 0700) < 0)
        fail("cannot create a temporary folder");
}

static void make_root(void) {
    if (!mkdtemp(root))
        fail("cannot create a temporary folder");
    make_folder("devices");
    make_folder("devices/system");
    make_folder("devices/system/cpu");
    make_folder("devices/system/cpu/cpu0");
    make_folder("devices/system/cpu/cpu0/cpufreq");
}

static void remove_root(void) {
    static const char *const names[] = {"devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "devices/system/cpu/cpu0/cpufreq", "devices/system/cpu/cpu0", "devices/system/cpu",
        "devices/system", "devices", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        remove(path);
    }
}

static void set_frequency(double hertz) {
    char path[256];
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", root);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%.0f\n", hertz / 1000) < 0 || fclose(file) != 0)
        fail("cannot write a frequency");
}

static struct trial_options options_of(const struct scene *scene) {
    struct trial_options options = {
        .cpus = CPUS,
        .instances = CPUS,
        .width = 1,
        .modules = {"constant", "exact", "deadbeat", "even", "stagger"},
        .options = {[SS_KIND_TRACE] = "50%", [SS_KIND_DITHERING] = "tau=100m"},
        .window = SS_WINDOW_DEFAULT,
        .switch_cost = 42 * SS_MICROSECOND,
        .lateness = SS_TIME_NEVER,
        .seed = scene->seed,
        .work = {.iteration = 10 * SS_MILLISECOND,
            .noise = is_clean(scene->fault) ? 0.05 : 0.01,
            .speed = {.deviation = scene->deviation,
                .correlation = scene->correlation,
                .window = WINDOW,
                .seed = scene->seed}},
    };
    double error = STRENGTH * limit_of(SS_CHECK_MEAN_ERROR) / 100;
    switch (scene->fault) {
    case SHORT_OF_TARGET:
        options.background = CPUS * (0.5 + error);
        break;
    case BURSTS:
    case OFF_TARGET:
        options.options[SS_KIND_TRACE] = "20%";
        break;
    case LATE_WAKE_UPS:
        options.lateness = STRENGTH * TAU / 20;
        break;
    case STEAL: /* a fraction of the time of busy CPUs, which are half of all */
        options.steal = 2 * STRENGTH * limit_of(SS_CHECK_STEAL) / 100;
        break;
    case OTHERS:
        options.background = CPUS * STRENGTH * limit_of(SS_CHECK_OTHERS) / 100;
        break;
    case COMPETITOR:
        options.modules[SS_KIND_CONTROL] = "fixed";
        options.options[SS_KIND_TRACE] = "100%";
        break;
    case FEW_ITERATIONS: /* half of the required number */
        options.work.iteration =
            SECONDS * SS_SECOND * STRENGTH / (ss_time)limit_of(SS_CHECK_ITERATIONS);
        break;
    case NO_ITERATION:
        options.work.iteration = 2 * SECONDS * SS_SECOND;
        break;
    default:
        break;
    }
    return options;
}

/* Returns the CPUs that other programs use at this fraction of the run. */
static double crowd_of(const struct scene *scene, double part) {
    switch (scene->fault) {
    case BURSTS: /* in a quarter of the time, with twice the limit of the mean square */
        return fmod(part * 12, 1) < 0.25
                   ? CPUS * (0.2 + sqrt(4 * STRENGTH * limit_of(SS_CHECK_MEAN_SQUARED_ERROR)) / 100)
                   : 0;
    case OFF_TARGET:
        return fmod(part * 6, 1) < STRENGTH * limit_of(SS_CHECK_SAMPLES_OFF) / 100
                   ? CPUS * (0.2 + 1.4 * SS_OFF_TARGET)
                   : 0;
    case COMPETITOR:
        return part > scene->at ? CPUS * STRENGTH * limit_of(SS_CHECK_THROUGHPUT) / 100 : 0;
    default:
        return -1;
    }
}

/* Changes the machine according to the fault. */
static void change(struct trial *trial, const struct scene *scene, double part) {
    double crowd = crowd_of(scene, part);
    if (crowd >= 0)
        trial_set_background(trial, crowd, trial->now);
    if (scene->fault == FREQUENCY)
        set_frequency(2e9 * (1 - 1.5 * part * STRENGTH * limit_of(SS_CHECK_FREQUENCY) / 100));
    if (scene->fault == ENDED_EARLY && part == 0.5)
        trial_leave(trial, 0);
    if (scene->fault >= STEP && scene->fault <= WARM_UP)
        trial->work.options.iteration = ss_time_from_double(10e6 * slowness_at(scene, part));
}

/* Adds the faults that the master finds at the end of a run. */
static void spoil(struct ss_outcome *outcome, struct trial *trial, const struct scene *scene) {
    switch (scene->fault) {
    case LOST_SAMPLES:
        trial->monitor.lost_counted = (uint64_t)ceil(STRENGTH * limit_of(SS_CHECK_SAMPLES_LOST) /
                                                     100 * (double)trial->monitor.figures.count);
        break;
    case FAILED_INSTANCE:
        ss_ends_add(&outcome->ends, &(struct ss_end){.instance = 1, .status = 3 << 8});
        break;
    case ENDED_EARLY:
        ss_ends_add(&outcome->ends, &(struct ss_end){.instance = 0, .status = 0});
        break;
    case FULL_DISK:
        outcome->lines_lost = 1;
        break;
    case SIGNAL:
        outcome->ended_by = "signal";
        break;
    case ERROR:
        outcome->ended_by = "error";
        break;
    default:
        break;
    }
}

/*
 * Sets the monitor's steal time, which a real monitor reads for each CPU. The trial's meter reads
 * only the whole machine.
 */
static void take_steal(struct trial *trial) {
    struct ss_counters counters;
    machine_read_exactly(&trial->machine, trial->now, &counters);
    trial->monitor.steal_sum = ss_time_seconds(counters.steal) / CPUS;
    trial->monitor.steal_seconds = ss_time_seconds(trial->now - trial->start);
}

static bool changes_by_t(const struct ss_iterations *iterations) {
    double rates[SS_STATIONARITY_MAX];
    size_t windows = ss_stationarity_windows((double)iterations->ended);
    ss_windows_split(&iterations->parts_in_time, iterations->to, windows, rates);
    return windows > 0 && differ_by_t(rates, windows);
}

static struct judged judge(
    struct trial *trial, struct ss_conditions *conditions, const struct scene *scene) {
    struct ss_plan plan = {
        .set = trial->set, .instances = CPUS, .cpu_count = CPUS, .has_iteration = true};
    struct ss_usage usage = {.board = trial->board};
    struct ss_outcome outcome;
    struct judged judged;
    ss_outcome_open(&outcome);
    outcome.ended_by = "duration";
    trial->iterations.to = trial->now;
    spoil(&outcome, trial, scene);
    struct ss_outcome_input input = {
        .plan = &plan,
        .board = trial->board,
        .monitor = &trial->monitor,
        .usage = &usage,
        .own = trial->own_sum,
        .switches = trial->switches_sum,
        .instances_with_rounds = trial_count_switching(trial),
        .others = trial->options.background / CPUS,
        .end = trial->now,
    };
    take_steal(trial);
    if (scene->fault == CLOCK)
        conditions->begin.wall -=
            STRENGTH * (int64_t)(limit_of(SS_CHECK_CLOCK) * SS_MILLISECOND) * (int64_t)scene->sign;
    if (scene->fault == SUSPENDED) {
        int64_t length = STRENGTH * (int64_t)(limit_of(SS_CHECK_SUSPENDED) * SS_SECOND);
        conditions->begin.wall -= length;
        conditions->begin.boot -= length;
    }
    ss_conditions_end(conditions, trial->now, &outcome.evidence);
    ss_outcome_take(&outcome, &input);
    judged.naive = changes_by_t(&trial->iterations);
    ss_outcome_take_iterations(&outcome, &plan, &trial->iterations);
    ss_judge_run(&outcome, &plan);
    judged.verdict = outcome.verdict;
    ss_outcome_close(&outcome);
    return judged;
}

static struct judged carry_out(const struct scene *scene) {
    static struct trial trial; /* static because it is too large for the stack */
    static struct ss_conditions conditions;
    const struct ss_platform_roots roots = {.sys = root};
    struct trial_options options = options_of(scene);
    struct ss_error error = {0};
    struct ss_cpus cpus = {0};
    ss_cpus_add(&cpus, 0);
    set_frequency(2e9);
    if (trial_open(&trial, &options, &error) < 0)
        fail(error.message);
    ss_conditions_begin(&conditions, &cpus, &roots, trial.now);
    int steps = 4 * SECONDS;
    for (int i = 0; i < steps; i++) {
        change(&trial, scene, (double)i / steps);
        ss_conditions_sample(&conditions, trial.now);
        if (trial_advance(&trial, SS_SECOND / 4, &error) < 0)
            fail(error.message);
        if (scene->fault == NO_SAMPLE)
            break;
    }
    if (trial_finish(&trial, trial.now, &error) < 0)
        fail(error.message);
    struct judged judged = judge(&trial, &conditions, scene);
    trial_close(&trial);
    return judged;
}

/* A service that handles all requests in parallel. */
struct service {
    struct scene *scene;
    double normal; /* noise of the response times, in standard deviations */
    struct {
        struct request_in_flight *one; /* NULL: free */
        ss_time end;
    } slots[CAP];
};

static void serve(void *context, struct request_in_flight *one) {
    struct service *service = context;
    struct scene *scene = service->scene;
    double part = (double)one->sent / (double)(SECONDS * SS_SECOND);
    double memory = scene->correlation;
    service->normal =
        memory * service->normal + sqrt(1 - memory * memory) * chance_draw_normal(&scene->random);
    double took =
        (double)RESPONSE * slowness_at(scene, part) * exp(scene->deviation * service->normal);
    service->slots[one->slot].one = one;
    service->slots[one->slot].end = one->sent + ss_time_from_double(took);
    if (scene->fault == UNFINISHED &&
        part > 1 - STRENGTH * limit_of(SS_CHECK_UNANSWERED_REQUESTS) / 100)
        service->slots[one->slot].end = SS_TIME_NEVER;
}

/* Returns the slot whose request ends first; CAP if all are free. */
static size_t find_first(const struct service *service, size_t used) {
    size_t first = CAP;
    for (size_t i = 0; i < used; i++) {
        if (service->slots[i].one &&
            (first == CAP || service->slots[i].end < service->slots[first].end))
            first = i;
    }
    return first;
}

/* Returns the time at which the generator sends a request that is due at `due`. */
static ss_time wake_generator(struct scene *scene, ss_time due) {
    double limit = STRENGTH * limit_of(SS_CHECK_LATE_REQUESTS) / 100 * (double)RESPONSE;
    ss_time stop = (ss_time)(scene->at * SECONDS) * SS_SECOND;
    ss_time stopped = STRENGTH * SECONDS * SS_SECOND / 100; /* 1 % of requests may be late */
    if (scene->fault == LATE_REQUESTS && draw(scene, 0, 1) < STRENGTH * 0.01)
        return ss_time_add(due, ss_time_from_double(limit));
    if (scene->fault == STOPPED_GENERATOR && due >= stop && due < stop + stopped)
        return stop + stopped;
    return due;
}

static enum request_outcome answer(struct scene *scene) {
    double part = STRENGTH * limit_of(SS_CHECK_FAILED_REQUESTS) / 100;
    bool fails =
        scene->fault == NO_SUCCESS || (scene->fault == FAILED_REQUESTS && draw(scene, 0, 1) < part);
    return fails ? REQUEST_STATUS : REQUEST_SUCCESS;
}

/* Sends all requests. Returns the end of the last one. */
static ss_time send_all(struct request_generator *generator, struct service *service, size_t used) {
    struct scene *scene = service->scene;
    ss_time now = 0, due = 0;
    while (!request_generator_is_over(generator)) {
        size_t first = find_first(service, used);
        ss_time end = first < CAP ? service->slots[first].end : SS_TIME_NEVER;
        if (scene->fault == CUT_SHORT && now >= SECONDS / 2 * SS_SECOND)
            request_generator_stop(generator, now);
        if (end == SS_TIME_NEVER && due == SS_TIME_NEVER)
            break;
        now = end < due ? end : due;
        if (end <= due) {
            struct request_in_flight *one = service->slots[first].one;
            service->slots[first].one = NULL;
            request_generator_finish_request(generator, one, answer(scene), 0, now);
        } else {
            request_generator_advance(generator, now);
        }
        due = request_generator_deadline(generator);
        if (due != SS_TIME_NEVER && due > now)
            due = wake_generator(scene, due);
    }
    if (scene->fault == UNFINISHED)
        request_generator_abandon(generator, now);
    return now;
}

static bool responses_change_by_t(const struct request_tally *tally, ss_time end) {
    double sums[SS_STATIONARITY_MAX], counts[SS_STATIONARITY_MAX];
    size_t windows = ss_stationarity_windows((double)tally->outcomes[REQUEST_SUCCESS]);
    ss_windows_split(&tally->ended_seconds, end, windows, sums);
    ss_windows_split(&tally->ended_count, end, windows, counts);
    for (size_t i = 0; i < windows; i++)
        sums[i] /= counts[i];
    return windows > 0 && differ_by_t(sums, windows);
}

static struct judged send_requests(struct scene *scene) {
    static struct service service;
    struct request_profile profile = {0};
    struct request_schedule schedule;
    struct request_tally tally;
    struct request_generator *generator;
    struct ss_error error = {0};
    bool closed = scene->fault == SLOWER_CLIENTS;
    double rate =
        scene->fault == FEW_SUCCESSES ? limit_of(SS_CHECK_SUCCESSES) / STRENGTH / SECONDS : RATE;
    struct request_rules rules = {
        .cap = closed ? 1 : CAP, .clients = closed, .end = SECONDS * SS_SECOND, .targets = 1};
    struct request_transport transport = {serve, &service};
    service = (struct service){.scene = scene};
    if (request_profile_constant(&profile, rate, SECONDS * SS_SECOND, &error) < 0 ||
        request_tally_open(&tally, SS_TIME_NEVER, &error) < 0)
        fail(error.message);
    request_schedule_begin(&schedule, &profile, REQUEST_EVEN, scene->seed);
    if (request_generator_open(
            &generator, &rules, closed ? NULL : &schedule, &transport, &tally, &error) < 0)
        fail(error.message);
    ss_time end = send_all(generator, &service, closed ? 1 : CAP);
    bool cut = scene->fault == CUT_SHORT;
    struct request_result result = {
        .rules = rules,
        .profile = closed ? NULL : &profile,
        .given.shape = REQUEST_CONSTANT,
        .sending_time = (cut ? SECONDS / 2 : SECONDS) * SS_SECOND,
        .stopped = cut,
        .took = end > SECONDS * SS_SECOND || cut ? end : SECONDS * SS_SECOND,
        .clock_moved_ms = NAN,
        .suspended_seconds = NAN,
        .tally = &tally,
    };
    struct judged judged = {request_verdict(&result), responses_change_by_t(&tally, result.took)};
    request_generator_close(generator);
    request_tally_close(&tally);
    request_profile_free(&profile);
    return judged;
}

static struct judged simulate(enum fault fault, uint64_t seed) {
    struct scene scene = make_scene(fault, seed);
    return fault >= REQUESTS ? send_requests(&scene) : carry_out(&scene);
}

/*
 * Prints how many runs without a fault were flagged. Returns whether few were, while a t-test flags
 * too many.
 */
static bool print_clean(int runs, uint64_t seed) {
    int flagged = 0, naive = 0, checks[SS_CHECKS] = {0};
    for (int i = 0; i < runs; i++) {
        struct judged judged = simulate(i % 2 ? REQUESTS : NONE, seed + (uint64_t)i);
        flagged += judged.verdict.finding > SS_PASSED;
        naive += judged.naive;
        for (int check = 0; check < SS_CHECKS; check++)
            checks[check] += judged.verdict.findings[check] > SS_PASSED;
    }
    printf("%d runs and requests without fault: %d flagged (bar: %g %%); by a t-test of the halves "
           "%d\n",
        runs, flagged, 100 * FLAGGED_MAX, naive);
    for (int check = 0; check < SS_CHECKS; check++) {
        if (checks[check] > 0)
            printf("  %s: %d\n", ss_checks[check].name, checks[check]);
    }
    return flagged <= FLAGGED_MAX * runs && naive >= NAIVE_MIN * runs;
}

/* Prints how many faults of each kind were missed. Returns whether few were. */
static bool print_faults(int each, uint64_t seed) {
    int missed = 0, all = 0;
    printf("\n| %-43s | %-20s | %12s | %6s | %6s |\n|-|-|-|-|-|\n", "fault", "check", "mean figure",
        "runs", "missed");
    for (enum fault fault = NONE + 1; fault < FAULTS; fault++) {
        const struct kind *kind = &kinds[fault];
        int before = missed;
        double sum = 0;
        for (int i = 0; kind->name && i < each; i++) {
            struct judged judged = simulate(fault, seed + (uint64_t)(1000 * (int)fault + i));
            missed += judged.verdict.findings[kind->check] < kind->finding;
            sum += fabs(judged.verdict.evidence.figures[kind->check]);
            all++;
        }
        if (kind->name)
            printf("| %-43s | %-20s | %12.3g | %6d | %6d |\n", kind->name,
                ss_checks[kind->check].key, sum / each, each, missed - before);
    }
    printf("%d faults: %d without the right flag (bar: %g %%)\n", all, missed, 100 * MISSED_MAX);
    return missed <= MISSED_MAX * all;
}

static void usage(FILE *file) {
    fputs("Usage: verdict-bench [CLEAN [EACH [SEED]]]\n"
          "Judges CLEAN simulated runs without a fault (default 1000; every second one sends "
          "requests),\n"
          "and EACH (default 20) of each kind of fault, which exceeds its limit by a factor of 2.\n"
          "Exits with status 1 if more than 1 % of the first are flagged, if more than 1 % of the "
          "faults "
          "lack\n"
          "the right flag, or if a t-test of the halves flags fewer than 2 % of the runs without "
          "a fault.\n",
        file);
}

int main(int argc, char **argv) {
    int clean = argc > 1 ? atoi(argv[1]) : CLEAN, each = argc > 2 ? atoi(argv[2]) : EACH;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc > 4 || clean < 1 || each < 1) {
        usage(stderr);
        return 2;
    }
    make_root();
    bool holds = print_clean(clean, seed);
    holds &= print_faults(each, seed + 1000000);
    remove_root();
    return !holds;
}
