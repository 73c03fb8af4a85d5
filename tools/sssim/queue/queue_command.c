/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "options/arguments.h"
#include "program.h"
#include "quantity.h"
#include "queue_run.h"
#include "rate_options.h"
#include "result_document.h"
#include "summary.h"

struct queue_options {
    struct request_rate_options given; /* complete after request_rate_complete() */
    struct service_options service;
    struct queue_run_options run; /* complete after complete() */
    uint64_t requests;            /* 0 for no limit */
    uint64_t workers;
    uint64_t servers; /* 0 until check(): one for each speed, or 1 without speeds */
    const char *speeds;
    const char *frequency, *base;
    double beta;
    const char *contention; /* "servers:A,B", "workers:FILE" */
    const char *power_file;
    int json;
    int help;
    int version;
    struct ss_option_store store;

    double speed[REQUEST_TARGETS_MAX]; /* speeds as given, times `factor` */
    double factor;                     /* effect of frequency and contention on the speed */
    struct queue_contention fitted;    /* NaN without --contention */
    struct queue_power power;          /* no points without --power */
    struct request_profile shape;      /* the rate over time */
};

#define AT(member)       .offset = offsetof(struct queue_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct queue_options, member)

// clang-format off
static const struct ss_argument rows[] = {
    REQUEST_ARGUMENTS(struct queue_options),
    SERVICE_ARGUMENTS(struct queue_options),
    {0, "N", {"requests", COUNT_AT(requests), .min = "1",
              .help = "send at most this many requests"}},
    {'t', "TIME", {"timeout", SS_OPTION_TIME, AT(given.timeout), .initial = "10s", .max = "36500d",
                 .help = "clients give up on a request this long after sending it; 0: never"}},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(run.settle), .max = "36500d",
                 .sensible = "500ms", .help = "exclude this much time at the start, or at the start of control, from the statistics; default: 0, or 5s with a load"}},
    {0, "TIME", {"work", SS_OPTION_TIME, AT(run.service.work), .initial = "10ms", .min = "1us", .max = "1h",
                 .help = "CPU time of a request on a server of speed 1"},
                 .heading = "\nService:"},
    {0, "WORD", {"spread", SS_OPTION_CHOICE, AT(run.service.spread), .initial = "constant",
                 .choices = "constant exponential",
                 .help = "whether --work is the same for each request, or the mean of an exponential distribution"}},
    {0, "N", {"workers", COUNT_AT(workers), .initial = "1", .min = "1", .max = "4096",
              .help = "the number of workers of each server"}},
    {0, "CPUS", {"cpus", SS_OPTION_NUMBER, AT(run.service.cpus), .min = "0.01", .max = "4096",
                 .help = "the number of CPUs that all workers share; default: one for each worker"}},
    {0, "N", {"servers", COUNT_AT(servers), .min = "1", .max = "64",
              .help = "the number of servers, each with a queue; default: as many as --speeds lists, or one"}},
    {0, "CPUS", {"background", SS_OPTION_NUMBER, AT(run.service.background), .initial = "0", .min = "0", .max = "4096",
                 .help = "the number of CPUs that the service uses without requests"}},
    {0, "PART", {"late", SS_OPTION_LOAD, AT(run.service.late), .initial = "0",
                 .help = "the fraction of the work of a request that is done after its answer"}},
    {0, "TIME", {"late-by", SS_OPTION_TIME, AT(run.service.late_by), .initial = "1s", .max = "1h",
                 .help = "time between the answer and this work"}, .needs = "late"},
    {0, "FACTOR", {"work-change", SS_OPTION_NUMBER, AT(run.service.change), .initial = "1", .min = "0.01", .max = "100",
                   .help = "the work of later requests, relative to that of the first ones"}},
    {0, "TIME", {"change-from", SS_OPTION_TIME, AT(run.service.change_from), .initial = "10s", .max = "36500d",
                 .help = "when the work begins to change"}, .needs = "work-change"},
    {0, "TIME", {"change-over", SS_OPTION_TIME, AT(run.service.change_over), .initial = "5s", .min = "1ms", .max = "36500d",
                 .help = "how long the change takes"}, .needs = "work-change"},
    {0, "PART", {"between-runs", SS_OPTION_LOAD, AT(run.service.between_runs), .initial = "0",
                 .help = "the standard deviation of the work of a request from run to run (with --seed), as a fraction of --work"}},
    {0, "PART", {"per-episode", SS_OPTION_LOAD, AT(run.service.per_episode), .initial = "100%",
                 .help = "the fraction of the variance of --between-runs that also occurs between the episodes of a run"}, .needs = "between-runs"},
    {0, "LIST", {"speeds", SS_OPTION_TEXT, AT(speeds),
                 .help = "the speed of each server: 1,1,0.5; default: 1 for all"}},
    {0, "WORD", {"given-up", SS_OPTION_CHOICE, AT(run.service.given_up), .initial = "serve",
                 .choices = "serve skip",
                 .help = "what to do with a request whose client gave up: serve it, or skip it unless work on it has begun"}},
    {0, "DUTY", {"duty", SS_OPTION_LOAD, AT(run.duty), .initial = "100%",
                 .help = "the fraction of each round in which a server runs; it is stopped for the "
                         "rest"}},
    {0, "TIME", {"tau", SS_OPTION_TIME, AT(run.tau), .initial = "107ms", .min = "2ms", .max = "1h",
                 .help = "the mean length of a round"}},
    {0, "F", {"frequency", SS_OPTION_TEXT, AT(frequency),
              .help = "the frequency of the CPUs, such as 1.4GHz"}, .heading = "\nMachine:", .needs = "base"},
    {0, "F", {"base", SS_OPTION_TEXT, AT(base),
              .help = "the frequency at which --work and --power were measured"}, .needs = "frequency"},
    {0, "PART", {"beta", SS_OPTION_LOAD, AT(beta), .initial = "100%",
                 .help = "the fraction of the time of work, at the base frequency, that depends on the frequency"}, .needs = "frequency"},
    {0, "WHICH:AB", {"contention", SS_OPTION_TEXT, AT(contention),
              .help = "n servers, or n workers, each have the speed 1/(1 + a(n-1) + b n(n-1)): servers:A,B or workers:A,B, or the path of a file with capacities, to which a and b are fitted"}},
    {0, "FILE", {"power", SS_OPTION_TEXT, AT(power_file),
              .help = "a table of the power by the number of busy CPUs: CSV with columns busy and watts"}},
    {0, NULL, {"json", AT(json), .help = "print the figures as JSON"}, .heading = "\nOutput:"},
    SS_ARGUMENTS_HELP_AT(struct queue_options),
    SS_ARGUMENTS_END,
};
// clang-format on

static int parse_speed(
    struct queue_options *options, const char *word, size_t number, struct ss_error *error) {
    if (number == REQUEST_TARGETS_MAX)
        return ss_error_fail(error, "--speeds: too many servers (at most %d)", REQUEST_TARGETS_MAX);
    if (ss_units_number(word, &options->speed[number], error) < 0)
        return ss_error_wrap(error, "--speeds");
    if (!(options->speed[number] >= 1e-6 && options->speed[number] <= 1e6))
        return ss_error_fail(
            error, "--speeds: '%s' is not between 0.000001 and 1000000", ss_words_show(word).text);
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
        return ss_error_fail(error,
            "--speeds lists %zu, but --servers is %llu: use one speed for each server", count,
            (unsigned long long)options->servers);
    options->servers = count;
    return 0;
}

static int parse_frequency(
    const char *name, const char *text, double *hertz, struct ss_error *error) {
    uint64_t value = 0;
    if (quantity_parse(&quantity_frequency, text, &value, error) < 0)
        return ss_error_wrap(error, "--%s", name);
    *hertz = (double)value;
    return 0;
}

static int check_frequency(struct queue_options *options, struct ss_error *error) {
    double frequency = 0, base = 0;
    if (!options->frequency)
        return 0;
    if (parse_frequency("frequency", options->frequency, &frequency, error) < 0 ||
        parse_frequency("base", options->base, &base, error) < 0)
        return -1;

    options->run.relative_frequency = frequency / base;
    if (!(options->run.relative_frequency >= 0.1 && options->run.relative_frequency <= 2))
        return ss_error_fail(error, "--frequency must be between 0.1 and 2 times --base");
    options->factor *= queue_frequency_speed(frequency, base, options->beta);
    return 0;
}

/* Parses "A,B" into numbers that are not negative. Returns false if the text is anything else. */
static bool parse_ab(const char *text, struct queue_contention *contention) {
    double values[2];
    size_t count = 0;
    struct ss_words_part part;

    for (const char *at = text; ss_words_next(&at, ',', &part); count++) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)part.length, part.text);
        if (count == 2 || part.length >= sizeof word ||
            ss_units_number(word, &values[count], NULL) < 0)
            return false;
    }

    *contention = (struct queue_contention){values[0], values[count - 1]};
    return count == 2;
}

static int check_contention(struct queue_options *options, struct ss_error *error) {
    const char *text = options->contention;
    if (!text)
        return 0;

    bool workers = strncmp(text, "workers:", 8) == 0;
    if (!workers && strncmp(text, "servers:", 8) != 0)
        return ss_error_fail(error,
            "--contention: '%s' is not servers:A,B, workers:A,B, servers:FILE or workers:FILE",
            ss_words_show(text).text);

    if (!parse_ab(text + 8, &options->fitted) &&
        queue_contention_read(&options->fitted, text + 8, error) < 0)
        return ss_error_wrap(error, "--contention");
    options->factor *= queue_contention_speed(
        &options->fitted, (double)(workers ? options->workers : options->servers));
    return 0;
}

static int check_power(struct queue_options *options, struct ss_error *error) {
    uint64_t cpus = options->workers * options->servers;
    if (!options->power_file)
        return 0;
    if (queue_power_read(&options->power, options->power_file, error) < 0)
        return ss_error_wrap(error, "--power");

    double known = options->power.points[options->power.count - 1].busy;
    if ((double)cpus > known)
        return ss_error_fail(error,
            "--power: up to %llu workers may be busy, but the table ends at %g busy CPUs",
            (unsigned long long)cpus, known);
    return 0;
}

/* Applies frequency and contention to the speed of every server, and reads the table of power. */
static int check_machine(struct queue_options *options, struct ss_error *error) {
    if (check_frequency(options, error) < 0 || check_contention(options, error) < 0 ||
        check_power(options, error) < 0)
        return -1;
    for (uint64_t i = 0; i < options->servers; i++)
        options->speed[i] = (options->speeds ? options->speed[i] : 1) * options->factor;
    return 0;
}

static int check(struct queue_options *options, struct ss_error *error) {
    bool held = service_is_held(&options->service);
    if (request_rate_complete(&options->given, held, error) < 0)
        return -1;
    if (held && options->given.arrival == REQUEST_CONCURRENT)
        return ss_error_fail(error, "--load cannot be combined with --arrival concurrent, which "
                                    "changes the rate only once a second: use even or poisson");

    if (!options->service.feedback)
        options->service.feedback = "own";
    if (options->run.settle == SS_TIME_NEVER)
        options->run.settle = held ? SERVICE_SETTLE_DEFAULT : 0;

    if (options->run.settle > 0 && options->given.shape != REQUEST_CONSTANT)
        return ss_error_fail(
            error, "--settle requires --profile constant: a changing rate never settles");
    if (!(options->run.duty > 0))
        return ss_error_fail(error, "--duty must be above 0: a stopped server answers no requests");

    if (parse_speeds(options, error) < 0)
        return -1;
    if (options->servers == 0)
        options->servers = 1;
    return check_machine(options, error);
}

/*
 * Returns a duration that suffices for --requests under every kind of arrival: the number of
 * requests has a standard deviation of at most its square root.
 */
static ss_time find_duration(const struct queue_options *options) {
    double count = (double)options->requests;
    if (options->requests == 0)
        return REQUEST_DURATION_DEFAULT;
    if (options->given.closed)
        return SS_TIME_NEVER;
    return ss_time_add(SS_SECOND,
        ss_time_from_double((count + 10 * sqrt(count) + 10) / options->given.rate * 1e9));
}

/* Sets the members of the run that depend on several options. */
static int complete(struct queue_options *options, struct ss_error *error) {
    struct request_rate_options *given = &options->given;
    struct queue_run_options *run = &options->run;
    if (service_is_held(&options->service)) {
        run->held = &options->service;
        run->held_for = given->duration;
        /* Control sets the rate and the end. */
        given->duration = SERVICE_SENDING_MAX;
        given->rate = 1;
    } else if (given->duration == SS_TIME_NEVER && given->shape == REQUEST_CONSTANT) {
        given->duration = find_duration(options);
    }
    if (request_rate_profile(given, &options->shape, error) < 0)
        return -1;

    run->profile = given->closed ? NULL : &options->shape;
    run->rules = request_rate_rules(given, &options->shape);
    run->rules.max = options->requests;
    run->arrival = (enum request_arrival)given->arrival;
    run->seed = run->service.seed = given->seed;
    run->timeout = given->timeout ? given->timeout : SS_TIME_NEVER;
    run->service.servers = (uint32_t)options->servers;
    run->service.workers = (uint32_t)options->workers;
    run->service.speeds = options->speeds || options->factor != 1 ? options->speed : NULL;
    run->power = options->power.count > 0 ? &options->power : NULL;

    double cpus = queue_service_cpus(&run->service);
    if (run->service.background >= cpus)
        return ss_error_fail(
            error, "--background leaves no CPU time for requests: use less than %g", cpus);
    if (run->settle < run->rules.end)
        return 0;
    return ss_error_fail(
        error, "--settle leaves no time to count: use a time that is shorter than the run");
}

static void print_help(void) {
    printf("Usage: sssim queue [OPTION]...\n"
           "Sends requests to a simulated service, as ssrequest would, and prints the\n"
           "response times and the power of the machine.\n\n"
           "Times: 20s, 107ms, 2min, 1h. Duties: 60%%, 0.6 or 6/10.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\nExamples: how fast does a server answer if it is stopped for half of the time?\n"
           "Does it help to know which of two servers has less work?\n"
           "  sssim queue -r 10 --arrival poisson --work 500us --duty 50%% --requests 100000\n"
           "  sssim queue -r 150 --arrival poisson --spread exponential --servers 2 \\\n"
           "      --balance least-connections -d 10min\n");
}

/* Describes the run as if it had begun at the end of --settle. */
static struct request_result make_result(const struct queue_options *options,
    const struct queue_run_result *run_result, const struct request_tally *tally) {
    const struct queue_run_options *run = &options->run;
    return (struct request_result){
        .program = "sssim queue",
        .rules = run->rules,
        .profile = run->held ? NULL : run->profile,
        .held = run->held ? &run_result->held : NULL,
        .given = options->given,
        .begin = NAN,
        .sending_time =
            ss_time_since(run_result->sending, run_result->settled + run_result->left_out),
        .took = ss_time_since(run_result->end, run_result->settled + run_result->left_out),
        .counted_from = run_result->settled,
        .left_out = run_result->left_out,
        .own_cpu_seconds = NAN,
        .own_wait_seconds = NAN,
        .connections = NAN,
        .clock_moved_ms = NAN,
        .suspended_seconds = NAN,
        .tally = tally,
    };
}

static struct request_machine make_machine(const struct queue_options *options,
    const struct queue_run_result *run_result, const struct request_tally *tally) {
    const struct queue_run_options *run = &options->run;
    const struct queue_meter *meter = &run_result->meter;
    double successes = (double)tally->outcomes[REQUEST_SUCCESS];
    double cpus = queue_service_cpus(&run->service);

    /* Power is averaged over the time of sending, which is empty if requests are sent at once. */
    bool has_power = run->power && meter->seconds > 0;

    return (struct request_machine){
        .active = meter->busy_seconds / meter->seconds / cpus,
        .idle = meter->idle_seconds / meter->seconds,
        .watts = has_power ? meter->joules / meter->seconds : NAN,
        .joules_per_success = has_power && successes > 0 ? meter->joules / successes : NAN,
        .speed = options->factor,
        .contention = {options->fitted.a, options->fitted.b},
    };
}

static int run(struct queue_options *options, struct ss_error *error) {
    struct queue_run_result run_result;
    struct request_tally tally;
    if (complete(options, error) < 0 || request_tally_open(&tally, options->run.timeout, error) < 0)
        return -1;

    int status = queue_run(&options->run, &tally, &run_result, error);

    struct request_result result = make_result(options, &run_result, &tally);
    struct request_machine machine = make_machine(options, &run_result, &tally);
    result.machine = &machine;

    if (status == 0 && options->json)
        request_document_print(stdout, &result);
    else if (status == 0)
        request_summary_print(stdout, &result);
    request_tally_close(&tally);
    return status;
}

int queue_command(char **argv, struct ss_error *error) {
    struct queue_options options = {.given = request_rate_unset(),
        .run.relative_frequency = 1,
        .run.settle = SS_TIME_NEVER,
        .factor = 1,
        .fitted = {NAN, NAN}};

    int status = ss_arguments_parse(rows, &options, &options.store, argv, NULL, error);
    if (status == 0 && !ss_program_print_requested(
                           "sssim", &options.store, options.help, options.version, print_help))
        status = check(&options, error) < 0 ? -1 : run(&options, error);

    request_profile_free(&options.shape);
    queue_power_free(&options.power);
    ss_option_store_free(&options.store);
    return status;
}
