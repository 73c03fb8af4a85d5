/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "benchmark_run.h"
#include "calibration_document.h"
#include "choice.h"
#include "commands.h"
#include "options/arguments.h"
#include "origin.h"
#include "quantity.h"
#include "ratios.h"
#include "setting_search.h"

#define REPETITIONS     3
#define REPETITIONS_MAX 64 /* maximum number at one setting */
#define BENCHMARKS_MAX  1024
#define COST_MATCHED                                                                               \
    1.01 /* below this cost, the search matches the base as well as the closed method does */

enum method { METHOD_SEARCH, METHOD_CLOSED };

struct request {
    const char *base, *battery, *only, *output, *root;
    int throttle, method;
    uint64_t cpu, repetitions;
    double spread; /* in percent; negative: not given */
    ss_time period, quantum;
    int idle_states, force, help;
};

#define AT(member)       .offset = offsetof(struct request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "BASE", {"base", SS_OPTION_TEXT, AT(base),
        .help = "the profile that this machine must match: a folder, or FILE:MACHINE[:LIMITS]"}},
    {0, "KIND", {"throttle", SS_OPTION_CHOICE, AT(throttle), .choices = SSPROFILE_THROTTLE_CHOICES,
        .initial = "duty", .help = "how to slow down this machine"}},
    {0, "METHOD", {"method", SS_OPTION_CHOICE, AT(method), .choices = "search closed",
        .initial = "closed", .help = "the published search, or the closed method"}},
    {0, "LIST", {"benchmarks", SS_OPTION_TEXT, AT(only), .initial = "all",
        .help = "calibrate only with these benchmarks: shell patterns, separated by commas"}},
    {0, "PERCENT", {"spread", SS_OPTION_PERCENT, AT(spread),
        .help = "leave out benchmarks of the base whose mean is more uncertain than this; default: 2%"}},
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery),
        .help = "the battery to run; default: the battery of the base's folder, or own"}},
    {0, "CPU", {"cpu", COUNT_AT(cpu), .max = "8191",
        .help = "calibrate on this CPU; default: the first one that may be used"}},
    {0, "N", {"repetitions", COUNT_AT(repetitions), .min = "1",
        .max = "64", .help = "run every benchmark this many times per setting; default: 3; the closed method takes at least 2, and more if needed"}},
    {0, "TIME", {"period", SS_OPTION_TIME, AT(period), .initial = "10m", .min = "1m", .max = "1s",
        .help = "the period of a quota"}},
    {0, "TIME", {"quantum", SS_OPTION_TIME, AT(quantum), .initial = "50m", .min = "2m", .max = "10s",
        .help = "the length of one run and one stop of duty and load"}},
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root),
        .help = "set the frequency of the machine whose /proc, /sys and /run are in DIR"}},
    {0, NULL, {"idle-states", AT(idle_states),
        .help = "leave idle states of CPUs as they are; by default CPUs are kept out of them, if " SSPROFILE_LATENCY " can be written"}},
    {0, NULL, {"force", AT(force),
        .help = "calibrate with another version of the benchmarks than that of the base"}},
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write the result and all tests to this folder, as calibrate.json"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_END,
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile calibrate --base BASE [OPTION]...\n"
           "Finds the throttle setting under which this machine is as fast as the base.\n\n");
    ss_arguments_print_help(stdout, rows);
}

struct calibration {
    const struct request *request;
    struct ssprofile_battery battery;
    struct ssprofile_choice choice; /* of the base */
    struct ssprofile_results base_results;
    const struct ssprofile_profile *base;
    struct ssprofile_runner runner;
    struct ssprofile_throttle throttle; /* the throttle, with another setting in each test */
    size_t chosen[BENCHMARKS_MAX];      /* indexes of tasks that the base also has */
    size_t count;
    struct ssprofile_calibration_document document;
    bool is_near; /* the result is the nearest test, but does not match the base */

    /* The current setting, and the results at it. */
    struct ssprofile_profile here;
    unsigned repetitions;
    struct ssprofile_match match; /* of this machine and the base */
};

static void say(struct calibration *calibration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct calibration *calibration, const char *format, ...) {
    struct ssprofile_calibration_document *document = &calibration->document;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(document->findings[document->finding_count++], SSPROFILE_FINDING, format, arguments);
    va_end(arguments);
}

static int begin_setting(struct calibration *calibration, double setting, struct ss_error *error) {
    struct ssprofile_throttle throttle = calibration->throttle;
    throttle.setting = setting;
    if (ssprofile_throttle_resolve(&throttle, calibration->runner.cpu, error) < 0)
        return -1;
    ssprofile_profile_free(&calibration->here);
    calibration->here =
        (struct ssprofile_profile){.machine = strdup("here"), .limits = strdup("throttled")};
    calibration->repetitions = 0;
    if (!calibration->here.machine || !calibration->here.limits)
        return ss_error_memory(error);
    return ssprofile_runner_use(&calibration->runner, &throttle, error);
}

/* Warns that a benchmark is left out, and why. */
SS_FORMAT(2, 3)
static void leave_out(const struct ssprofile_task *task, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "ssprofile: warning: %s is left out: ", task->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* Drops benchmarks that failed in their first run on this machine. */
static int leave_out_failed(
    struct calibration *calibration, const bool *failed, struct ss_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < calibration->count; i++) {
        if (!failed[i])
            calibration->chosen[kept++] = calibration->chosen[i];
    }
    calibration->count = kept;
    return kept > 0 ? 0 : ss_error_fail(error, "none of the benchmarks can run on this machine");
}

static int run_benchmarks(struct calibration *calibration, struct ss_error *error) {
    size_t order[BENCHMARKS_MAX];
    bool failed[BENCHMARKS_MAX] = {false}, any = false;
    bool is_first = ++calibration->repetitions == 1 && calibration->document.test_count == 0;
    ssprofile_shuffle(order, calibration->count, calibration->repetitions);
    for (size_t i = 0; i < calibration->count; i++) {
        size_t chosen = calibration->chosen[order[i]];
        const struct ssprofile_task *task = &calibration->battery.tasks[chosen];
        struct ssprofile_outcome outcome;
        struct ss_error why = {0};
        if (ssprofile_run(&calibration->runner, task, &outcome, &why) == 0) {
            struct ssprofile_benchmark benchmark = {
                .name = (char *)task->name, .class = (char *)task->class, .lower = task->lower};
            if (ssprofile_profile_add(&calibration->here, &benchmark, outcome.result) < 0)
                return ss_error_memory(error);
            continue;
        }
        if (!is_first || ssprofile_is_interrupted())
            return ss_error_fail(error, "%s", why.message);
        leave_out(task, "%s", why.message);
        failed[order[i]] = any = true;
    }
    return any ? leave_out_failed(calibration, failed, error) : 0;
}

static int run_repetitions(
    struct calibration *calibration, unsigned count, struct ss_error *error) {
    for (; count > 0; count--) {
        if (run_benchmarks(calibration, error) < 0)
            return -1;
    }
    return 0;
}

/* Compares all repetitions at this setting with the base. */
static int evaluate_setting(struct calibration *calibration, struct ss_error *error) {
    calibration->match = ssprofile_match_of(calibration->base, &calibration->here);
    return isfinite(calibration->match.time_mean) && isfinite(calibration->match.most)
               ? 0
               : ss_error_fail(error, "the ratio of a benchmark is not a finite number");
}

static void note_test(struct calibration *calibration) {
    const struct ssprofile_match *match = &calibration->match;
    struct ssprofile_calibration_document *document = &calibration->document;
    document->tests[document->test_count++] =
        (struct ssprofile_test){.setting = calibration->runner.throttle.setting,
            .frequency = calibration->runner.throttle.frequency,
            .log_ratio_mean = match->log_mean,
            .half_width = match->half,
            .time_ratio_mean = match->time_mean,
            .cost = ssprofile_search_cost(match->time_mean),
            .repetitions = calibration->repetitions,
            .least = match->least,
            .most = match->most,
            .most_to_least = match->most / match->least,
            .scatter_percent = 100 * match->scatter};
    fprintf(stderr, "%.2f%%: mean ln ratio %+.5f +- %.5f, ratio of times %.4f\n",
        100 * calibration->runner.throttle.setting, match->log_mean, match->half, match->time_mean);
}

struct bounds {
    double low, high;
};

/*
 * Returns the interval of the setting that matches the base, assuming that speed is proportional to
 * the setting within so small a range. NaN for the search, which has no interval, and if no tested
 * setting matches.
 */
static struct bounds bounds_of(
    const struct calibration *calibration, const struct ssprofile_test *test) {
    double mean = test->log_ratio_mean, half = test->half_width;
    if (calibration->request->method == METHOD_SEARCH || calibration->is_near)
        return (struct bounds){NAN, NAN};
    return (struct bounds){
        test->setting * exp(-mean - half), fmin(test->setting * exp(-mean + half), 1)};
}

static void say_setting(struct calibration *calibration, const struct ssprofile_test *test) {
    const struct request *request = calibration->request;
    bool searches = request->method == METHOD_SEARCH;
    char interval[100] = "";
    struct bounds bounds = bounds_of(calibration, test);
    if (searches)
        snprintf(interval, sizeof interval, " (cost %.4f)", test->cost);
    else if (!calibration->is_near)
        snprintf(interval, sizeof interval, " (%.2f%% to %.2f%% with 95%% confidence)",
            100 * bounds.low, 100 * bounds.high);
    say(calibration,
        "Throttled by %s, this machine is %s the base at a setting of %.2f%%%s, found by the %s "
        "(benchmarks: %zu, repetitions at this setting: %.0f).",
        ssprofile_throttle_kind_name(calibration->throttle.kind),
        calibration->is_near ? "nearest to" : "as fast as", 100 * test->setting, interval,
        searches ? "published search" : "closed method", calibration->count, test->repetitions);
    if (searches && calibration->is_near)
        say(calibration,
            "Its cost is %.3f: at no tested setting do benchmarks take as long as on the base.",
            test->cost);
}

static void keep_result(struct calibration *calibration, const struct ssprofile_test *test) {
    struct bounds bounds = bounds_of(calibration, test);
    say_setting(calibration, test);
    calibration->document.found = test;
    calibration->document.low = bounds.low;
    calibration->document.high = bounds.high;
    calibration->document.benchmarks = (double)calibration->count;
}

/* Reports the remaining distance if no interval of the closed method contains a ratio of 1. */
static void say_distance(struct calibration *calibration, const struct ssprofile_test *test) {
    double mean = test->log_ratio_mean, half = test->half_width;
    say(calibration,
        "The mean ratio at this setting is %.4f (%.4f to %.4f with 95%% confidence). No tested "
        "setting has an interval that contains 1, because the speed of this throttle jumps by more "
        "than that from one setting to the next; this setting is the nearest.",
        exp(mean), exp(mean - half), exp(mean + half));
}

static unsigned repetitions_of(const struct request *request) {
    return request->repetitions > 0 ? (unsigned)request->repetitions : REPETITIONS;
}

static int refuse_slower(double ratio, struct ss_error *error) {
    return ss_error_fail(error,
        "this machine is slower than the base (mean ratio %.4f): throttle the base instead", ratio);
}

/* Returns the row of a setting; the number of rows if absent. A frequency may be tested twice. */
static size_t find_test(const struct calibration *calibration, double setting) {
    const struct ssprofile_calibration_document *document = &calibration->document;
    size_t row = 0;
    while (row < document->test_count && document->tests[row].setting != setting)
        row++;
    return row;
}

static int run_search(struct calibration *calibration, struct ss_error *error) {
    const struct ssprofile_calibration_document *document = &calibration->document;
    struct ssprofile_search state;
    size_t found = 0; /* row of the best setting */
    ssprofile_search_begin(&state);
    for (int setting; (setting = ssprofile_search_next(&state)) != 0;) {
        if (begin_setting(calibration, setting / 10000.0, error) < 0)
            return -1;
        size_t row = find_test(calibration, calibration->runner.throttle.setting);
        if (row < document->test_count) {
            ssprofile_search_add_cost(&state, setting, document->tests[row].cost);
            continue;
        }
        if (run_repetitions(calibration, repetitions_of(calibration->request), error) < 0 ||
            evaluate_setting(calibration, error) < 0)
            return -1;
        note_test(calibration);
        double time_mean = calibration->match.time_mean;
        ssprofile_search_add_cost(&state, setting, ssprofile_search_cost(time_mean));
        if (setting == SSPROFILE_SETTING_MAX && time_mean > COST_MATCHED)
            return refuse_slower(1 / time_mean, error);
        if (state.best == setting)
            found = row;
    }
    printf("setting %.2f%% (cost %.5f, %zu tests)\n", 100 * document->tests[found].setting,
        state.best_cost, document->test_count);
    calibration->is_near = document->tests[found].cost > COST_MATCHED;
    keep_result(calibration, &document->tests[found]);
    return 0;
}

static int end_closed(struct calibration *calibration, const struct ssprofile_closed *state,
    enum ssprofile_verdict verdict, struct ss_error *error) {
    const struct ssprofile_calibration_document *document = &calibration->document;
    size_t tests = document->test_count;
    size_t row = verdict == SSPROFILE_NEAR ? state->nearest : tests - 1;
    if (verdict == SSPROFILE_SLOWER)
        return refuse_slower(exp(calibration->match.log_mean), error);
    if (verdict == SSPROFILE_REPEAT)
        return ss_error_fail(error,
            "%u repetitions leave an interval of +-%.2f%%, more than +-1%%: use an idle machine, "
            "measure the base with more repetitions, or choose other benchmarks",
            calibration->repetitions, 100 * calibration->match.half);
    if (verdict == SSPROFILE_FAILED)
        return ss_error_fail(
            error, "no setting from 1%% to 100%% made the ratios 1 in %zu tests", tests);
    const struct ssprofile_test *test = &document->tests[row];
    printf("setting %.2f%% (mean ln ratio %+.5f +- %.5f, %zu tests)\n", 100 * test->setting,
        test->log_ratio_mean, test->half_width, tests);
    calibration->is_near = verdict == SSPROFILE_NEAR;
    keep_result(calibration, test);
    if (calibration->is_near)
        say_distance(calibration, test);
    return 0;
}

/*
 * Returns whether the setting was tested: settings of a frequency are rounded to the available
 * ones, so two may become one.
 */
static bool was_tested(const struct ssprofile_closed *state) {
    for (size_t i = 0; i < state->count; i++) {
        if (state->settings[i] == state->setting)
            return true;
    }
    return false;
}

/*
 * Ends the search between two neighboring frequencies with the nearer one. Fails if this machine is
 * too fast even at the lowest one.
 */
static int end_between(
    struct calibration *calibration, const struct ssprofile_closed *state, struct ss_error *error) {
    struct ssprofile_levels levels;
    struct ss_error ignored = {0};
    double ratio = exp(state->logs[state->count - 1]);
    if (ratio > 1 &&
        ssprofile_levels_read(
            &levels, calibration->request->root, calibration->runner.cpu, &ignored) == 0 &&
        state->settings[state->count - 1] * levels.highest <= levels.lowest)
        return ss_error_fail(error,
            "at its lowest frequency, %g MHz, this machine is still %.4f times as fast as the "
            "base: throttle by duty instead",
            levels.lowest / 1e6, ratio);
    return end_closed(calibration, state, SSPROFILE_NEAR, error);
}

static int run_closed(struct calibration *calibration, struct ss_error *error) {
    struct ssprofile_closed state;
    enum ssprofile_verdict verdict;
    unsigned requested = repetitions_of(calibration->request),
             count = requested < 2 ? 2 : requested;
    ssprofile_closed_begin(&state, 0.01);
    do {
        if (begin_setting(calibration, state.setting, error) < 0)
            return -1;
        state.setting = calibration->runner.throttle.setting;
        if (was_tested(&state))
            return end_between(calibration, &state, error);
        unsigned more = count;
        do {
            if (run_repetitions(calibration, more, error) < 0 ||
                evaluate_setting(calibration, error) < 0)
                return -1;
            verdict = ssprofile_closed_add_ratio(
                &state, calibration->match.log_mean, calibration->match.half);
            more = calibration->repetitions;
        } while (verdict == SSPROFILE_REPEAT && 2 * more <= REPETITIONS_MAX);
        note_test(calibration);
    } while (verdict == SSPROFILE_TEST);
    return end_closed(calibration, &state, verdict, error);
}

static int choose_benchmarks(
    struct calibration *calibration, const char *base_path, struct ss_error *error) {
    /* Without --spread, unstable benchmarks are left out only in tables of ssprofile measure. */
    bool measured = ssprofile_origin_of(base_path).measured;
    const char *only = calibration->request->only;
    bool is_given = calibration->request->spread >= 0;
    double bound = is_given ? calibration->request->spread / 100 : SSPROFILE_SPREAD_MAX;
    const char *patterns = strcmp(only, "all") == 0 ? NULL : only;
    bool too_many = false;
    for (size_t i = 0; i < calibration->battery.count; i++) {
        const struct ssprofile_task *task = &calibration->battery.tasks[i];
        const struct ssprofile_benchmark *benchmark =
            ssprofile_profile_find(calibration->base, task->name, task->class);
        if (!ssprofile_is_chosen(patterns, task->name))
            continue;
        if (!benchmark)
            leave_out(task, "the base lacks it");
        else if (benchmark->lower != task->lower)
            leave_out(task, "the base and the battery disagree on lower_is_better");
        else if ((measured || is_given) && ssprofile_spread(benchmark) > bound)
            leave_out(task, "unstable on the base: " SSPROFILE_UNCERTAIN,
                100 * ssprofile_spread(benchmark), benchmark->count);
        else if (calibration->request->method == METHOD_CLOSED && benchmark->count < 2)
            leave_out(task, "the base has one repetition of it, and the closed method needs two");
        else if (calibration->count < BENCHMARKS_MAX)
            calibration->chosen[calibration->count++] = i;
        else
            too_many = true;
    }
    if (too_many)
        return ss_error_fail(error,
            "too many benchmarks (at most %d): choose some with --benchmarks", BENCHMARKS_MAX);
    return calibration->count > 0
               ? 0
               : ss_error_fail(error,
                     "the base has no benchmark to calibrate with, or no stable one: measure more "
                     "repetitions of it, or allow more uncertainty with --spread");
}

/* Reads the battery of the base's folder, or the one of --battery. */
static int read_battery(
    struct calibration *calibration, const char *base_path, struct ss_error *error) {
    const struct request *request = calibration->request;
    int beside = request->battery
                     ? 1
                     : ssprofile_battery_read_beside(&calibration->battery, base_path, error);
    if (beside <= 0)
        return beside;
    return ssprofile_battery_find(
        &calibration->battery, request->battery ? request->battery : "own", error);
}

/* Fails if the base ran different benchmarks: another program, compiler or flags. */
static int check_version(
    struct calibration *calibration, const char *base_path, struct ss_error *error) {
    struct ssprofile_origin base = ssprofile_origin_of(base_path);
    if (!calibration->battery.version || calibration->request->force)
        return 0;
    SS_OWNED(free)
    char *version = ssprofile_run_output(&calibration->runner, calibration->battery.version, error);
    if (!version)
        return ss_error_wrap(error, "the version command of the battery");

    version[strcspn(version, "\n")] = '\0';
    if (!*base.version || !*version || strcmp(base.version, version) == 0)
        return 0;
    return ss_error_fail(error,
        "this machine has '%s', but the base was measured with '%s': these are different "
        "benchmarks; --force compares them",
        ss_words_show(version).text, ss_words_show(base.version).text);
}

static int run_method(
    struct calibration *calibration, const char *base_path, struct ss_error *error) {
    if (check_version(calibration, base_path, error) < 0)
        return -1;
    return calibration->request->method == METHOD_SEARCH ? run_search(calibration, error)
                                                         : run_closed(calibration, error);
}

static int write_document(struct calibration *calibration, struct ss_error *error) {
    const struct request *request = calibration->request;
    SS_OWNED(free)
    char *base =
        ss_words_format(error, "%s:%s", calibration->base->machine, calibration->base->limits);
    if (!base)
        return -1;
    calibration->document.base = base;
    calibration->document.throttle = ssprofile_throttle_kind_name(calibration->throttle.kind);
    calibration->document.method = request->method == METHOD_SEARCH ? "search" : "closed";
    return ssprofile_calibration_write(&calibration->document, request->output, error);
}

/* Prints the command that runs an application under the setting. */
static void print_use(const struct calibration *calibration) {
    const struct request *request = calibration->request;
    double setting = calibration->document.found->setting;
    char period[32], quantum[32], frequency[32];
    ss_units_print_time(period, sizeof period, request->period);
    ss_units_print_time(quantum, sizeof quantum, request->quantum);
    switch (calibration->throttle.kind) {
    case SSPROFILE_DUTY:
        printf("use: ssactuate run duty=%.2f%%,tau=%s -- APPLICATION\n", 100 * setting, quantum);
        break;
    case SSPROFILE_LOAD:
        /* Without its CPUs, the load would count relative to all CPUs. */
        printf("use: showstopper -n 1 -p '' --cpus %u -l %.2f%% -f exact -d stagger -D %s -c "
               "deadbeat -- APPLICATION\n",
            (unsigned)calibration->runner.cpu, 100 * setting, quantum);
        break;
    case SSPROFILE_FREQUENCY:
        quantity_print(&quantity_frequency, frequency, sizeof frequency,
            (uint64_t)(calibration->document.found->frequency + 0.5));
        printf("use: ssactuate run frequency=%s -- APPLICATION\n", frequency);
        break;
    case SSPROFILE_QUOTA:
        printf("use: ssactuate run quota=%.2f%%,period=%s -- APPLICATION\n", 100 * setting, period);
        break;
    case SSPROFILE_NO_THROTTLE:
    case SSPROFILE_THROTTLES:
        break;
    }
}

static int find_base(struct calibration *calibration, struct ss_error *error) {
    struct ssprofile_choice *choice = &calibration->choice;
    if (ssprofile_choose(choice, calibration->request->base, error) < 0 ||
        ssprofile_results_read(&calibration->base_results, choice->path, error) < 0)
        return ss_error_wrap(error, "--base");
    calibration->base = ssprofile_choice_find(choice, &calibration->base_results, error);
    return calibration->base ? 0 : ss_error_wrap(error, "--base");
}

static int calibrate(struct calibration *calibration, struct ss_error *error) {
    const struct request *request = calibration->request;
    const char *path = calibration->choice.path;
    if (ssprofile_choose_cpu(request->cpu, &calibration->runner.cpu, error) < 0 ||
        read_battery(calibration, path, error) < 0 ||
        choose_benchmarks(calibration, path, error) < 0)
        return -1;

    calibration->throttle = (struct ssprofile_throttle){
        .kind = (enum ssprofile_throttle_kind)(SSPROFILE_DUTY + request->throttle),
        .setting = 1,
        .root = request->root,
        .period = request->period,
        .quantum = request->quantum};
    ssprofile_runner_open(&calibration->runner, request->idle_states);
    int result = run_method(calibration, path, error);
    ssprofile_runner_close(&calibration->runner);
    for (size_t i = 0; i < calibration->document.finding_count; i++) {
        fputs("- ", stdout);
        ss_option_print_wrapped(stdout, 2, calibration->document.findings[i]);
    }
    if (result == 0)
        print_use(calibration);
    else
        say(calibration, "No setting was found: %s.", error->message);
    struct ss_error later = {0};
    if (request->output && write_document(calibration, &later) < 0 && result == 0)
        result = ss_error_fail(error, "%s", later.message);
    return result;
}

int ssprofile_calibrate(char **argv, struct ss_error *error) {
    struct request request = {.cpu = SSPROFILE_ANY_CPU, .spread = -1};
    struct ss_option_store store = {0};
    SS_OWNED(free) struct calibration *calibration = calloc(1, sizeof *calibration);
    if (!calibration)
        return ss_error_memory(error);
    calibration->request = &request;
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && !request.base)
        result = ss_error_fail(error, "name the base with --base: see --help");
    else if (result == 0 && (result = find_base(calibration, error)) == 0)
        result = calibrate(calibration, error);
    free(calibration->choice.path);
    ssprofile_profile_free(&calibration->here);
    ssprofile_battery_free(&calibration->battery);
    ssprofile_results_free(&calibration->base_results);
    ss_option_store_free(&store);
    return result;
}
