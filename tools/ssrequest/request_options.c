/* SPDX-License-Identifier: Apache-2.0 */
#include "request_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/wallclock.h"
#include "platform/platform.h"

#define AT(member)       .offset = offsetof(struct ssrequest_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct ssrequest_options, member)

static ss_argument_taker take_url, take_header;

// clang-format off
static const struct ss_argument rows[] = {
    REQUEST_ARGUMENTS(struct ssrequest_options),
    SERVICE_ARGUMENTS(struct ssrequest_options),
    {0, "WHOSE", {"of", SS_OPTION_TEXT, AT(of),
        .help = "whose load: machine, group:PATH or pid:PID; default: the processes that serve the URLs"},
        .needs = SERVICE_NEEDS},
    {0, "N", {"cpus", SS_OPTION_NUMBER, AT(cpus), .initial = "0", .min = "0", .max = "65536",
        .help = "number of CPUs that make a load of 100 %; 0: all CPUs of the machine"},
        .needs = SERVICE_NEEDS},
    {0, "TIME", {"settle", SS_OPTION_TIME, AT(settle), .initial = "5s", .max = "36500d", .sensible = "500ms",
        .help = "exclude this time at the start of control from the results"},
        .needs = SERVICE_NEEDS},
    {'t', "TIME", {"timeout", SS_OPTION_TIME, AT(given.timeout), .initial = "10s", .min = "1ms",
        .max = "1h", .help = "fail a request that has no complete answer after this time"}},
    {0, "DEMAND", {"capacity", SS_OPTION_TEXT, AT(capacity),
        .help = "find the highest rate that keeps the response time within a limit, such as mean=1s or p95=2s; each trial lasts at least --duration; the first is at --rate, or 10 per second"},
        .excludes = "closed profile max step hold trace dry-run each control " SERVICE_NEEDS},
    {0, "TIME", {"start-at", SS_OPTION_TEXT, AT(start_at_text),
        .help = "first wait until this time: 08:00, 2026-11-20T08:00:00Z or @EPOCH"}},
    {0, NULL, {"dry-run", AT(dry_run), .help = "print when requests are due, in seconds, and send nothing"},
        .excludes = "closed wait-for start-at record each json control quiet " SERVICE_NEEDS},
    {'X', "METHOD", {"method", SS_OPTION_TEXT, AT(method),
        .help = "method of the requests; default: GET, or POST with --data"}, .heading = "Requests:"},
    {'H', "HEADER", {"header", SS_OPTION_TEXT,
        .help = "send this header, as in 'Authorization: Bearer x'; may be given several times"},
        .take = take_header},
    {0, "DATA", {"data", SS_OPTION_TEXT, AT(data),
        .help = "send this text as the body, or the content of a file: @FILE"}, .may_be_empty = true},
    {0, "FILE", {"requests-file", SS_OPTION_TEXT, AT(requests_file),
        .help = "send the requests of this file in turn: METHOD URL-or-PATH [@BODYFILE] on each line"},
        .excludes = "method data"},
    {0, "TIME", {"wait-for", SS_OPTION_TIME, AT(wait_for), .min = "1ms", .max = "1h",
        .help = "first wait up to this long until each URL accepts connections"},
        .heading = "Network:"},
    {0, "HOW", {"connections", SS_OPTION_CHOICE, AT(connections), .choices = "reuse fresh",
        .initial = "reuse", .help = "reuse connections, or open one per request"}},
    {0, NULL, {"http2", AT(http2),
        .help = "use HTTP/2: over TLS if the server agrees, without TLS from the first byte"}},
    {0, NULL, {"insecure", AT(insecure), .help = "with TLS, accept any certificate"}},
    {0, "FILE", {"cacert", SS_OPTION_TEXT, AT(authorities),
        .help = "with TLS, trust only the authorities in this file (PEM)"},
        .excludes = "insecure"},
    {0, "PATH", {"unix-socket", SS_OPTION_TEXT, AT(socket),
        .help = "connect to this socket instead of the URL's host"}},
    {0, "DIR", {"record", SS_OPTION_TEXT, AT(record),
        .help = "create this folder with a line per second and all results, for ssreport"},
        .heading = "Output:"},
    {0, "FILE", {"each", SS_OPTION_TEXT, AT(each), .help = "write a line per request"}},
    {0, "FILE", {"json", SS_OPTION_TEXT, AT(json),
        .help = "write all results as JSON; -: to standard output, instead of the summary"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no summary and no live status"}},
    {0, "SOCKET", {"control", SS_OPTION_TEXT, AT(control),
        .help = "accept changes of rate and URLs on this Unix socket during the run"},
        .heading = "Others:"},
    {0, "LIST", {"own-cpu", SS_OPTION_TEXT, AT(own_cpus),
        .help = "run ssrequest itself on these CPUs, which the service should not use: 3, 0-1"}},
    SS_ARGUMENTS_HELP_AT(struct ssrequest_options),
    SS_ARGUMENTS_WORDS(take_url),
};
// clang-format on

void ssrequest_options_print_help(void) {
    printf("Usage: ssrequest [OPTION]... URL [URL]...\n"
           "Sends HTTP requests at chosen moments and measures the response times.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "A time has a unit: 500ms, 2s, 1min.\n"
           "Exit status: 0 if all requests succeeded and, with --load, the load was held;\n"
           "with --capacity, 0 if the rate was found; otherwise 1; 125 if ssrequest failed.\n");
}

/* Adds the URLs of a word, separated by blanks. */
static int take_url(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct ssrequest_options *options = config;
    char *rest = word;
    bool is_empty = !*word;
    (void)row;

    do {
        char *url = strsep(&rest, " ");
        if (!*url && !is_empty)
            continue;
        if (options->url_count == REQUEST_TARGETS_MAX)
            return ss_error_fail(error, "too many URLs (at most %d)", REQUEST_TARGETS_MAX);
        options->urls[options->url_count++] = url;
    } while (rest);
    return 0;
}

static int take_header(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct ssrequest_options *options = config;
    char *secret = strchr(value, ':');
    const char *header = ss_option_store_add(&options->store, value);
    (void)row;

    if (!header)
        return ss_error_memory(error);

    if (secret) /* hide it: `ps` and core dumps show the command line */
        memset(secret + 1, '*', strlen(secret + 1));
    return request_messages_add_header(&options->messages, header, error);
}

/* Prepares a run with --load: control sets the rate and the end, so the schedule has no end. */
static int complete_held(struct ssrequest_options *options, struct ss_error *error) {
    struct request_rate_options *given = &options->given;
    if (given->arrival == REQUEST_CONCURRENT)
        return ss_error_fail(error, "--load cannot be combined with --arrival concurrent, which "
                                    "changes the rate only once a second: use even or poisson");

    const char *feedback = options->service.feedback;
    bool is_machine = options->of && strcmp(options->of, "machine") == 0;
    if (!feedback)
        options->service.feedback = is_machine ? "exact" : "own";
    else if (options->of && (is_machine || !service_measures_own(&options->service)))
        return ss_error_fail(error,
            "--feedback %s does not measure the load of --of %s: remove one of them", feedback,
            options->of);

    options->held_for = given->duration;
    given->duration = SERVICE_SENDING_MAX;
    given->rate = 1;
    return 0;
}

/* Checks and completes the options that set the rate, hold a load or search for a capacity. */
static int complete_rate(struct ssrequest_options *options, struct ss_error *error) {
    struct request_rate_options *given = &options->given;
    bool held = service_is_held(&options->service);

    if (request_rate_complete(given, options->capacity || held, error) < 0)
        return -1;

    if (held)
        return complete_held(options, error);

    if (given->duration == SS_TIME_NEVER && given->shape == REQUEST_CONSTANT)
        given->duration = REQUEST_DURATION_DEFAULT;
    if (options->capacity &&
        request_criterion_parse(options->capacity, &options->criterion, error) < 0)
        return ss_error_wrap(error, "--capacity");
    return 0;
}

/* Returns whether a path is a file: "-" is standard output. */
static bool is_file(const char *path) {
    return path && strcmp(path, "-") != 0;
}

static int check_paths(const struct ssrequest_options *options, struct ss_error *error) {
    const struct ss_path paths[] = {
        {"--trace", options->given.trace, true},
        {"--cacert", options->authorities, true},
        {"--requests-file", options->requests_file, true},
        {"--data", options->data && options->data[0] == '@' ? options->data + 1 : NULL, true},
        {"--each", options->each, false},
        {"--json", is_file(options->json) ? options->json : NULL, false},
        {"--record", options->record, false},
        {"--control", options->control, false},
    };

    bool prints = !options->quiet || (options->json && !is_file(options->json));
    return ss_paths_check(paths, sizeof paths / sizeof *paths, prints ? STDOUT_FILENO : -1, error);
}

/* Uses the hosts in --requests-file as targets. */
static int take_origins(struct ssrequest_options *options, struct ss_error *error) {
    const struct request_messages *messages = &options->messages;
    if (messages->origin_count == 0)
        return 0;

    if (options->url_count > 0)
        return ss_error_fail(error,
            "--requests-file: the file contains URLs: put only paths in it, or remove "
            "the URL from the command line");

    for (uint32_t i = 0; i < messages->origin_count; i++)
        options->urls[options->url_count++] = messages->origins[i];
    return 0;
}

static int complete_messages(struct ssrequest_options *options, struct ss_error *error) {
    struct request_messages *messages = &options->messages;
    if (!options->requests_file)
        return request_messages_open(messages, options->method, options->data, error);
    return request_messages_read(messages, options->requests_file, error) < 0
               ? -1
               : take_origins(options, error);
}

static int complete_start(struct ssrequest_options *options, struct ss_error *error) {
    int64_t now = ss_platform_wallclock();
    options->start_at = now;
    if (!options->start_at_text)
        return 0;

    if (ss_wallclock_parse(options->start_at_text, now, &options->start_at, error) < 0)
        return ss_error_wrap(error, "--start-at");
    if (options->start_at < now)
        return ss_error_fail(error, "--start-at: '%s' is in the past: use a time in the future",
            options->start_at_text);
    return 0;
}

static int complete(struct ssrequest_options *options, struct ss_error *error) {
    if (complete_rate(options, error) < 0 || complete_start(options, error) < 0 ||
        complete_messages(options, error) < 0)
        return -1;

    if (options->url_count == 0 && !options->dry_run)
        return ss_error_fail(
            error, "no URL given: use, for example, ssrequest --rate 50 http://127.0.0.1:8080/");
    return options->dry_run ? 0 : check_paths(options, error);
}

int ssrequest_options_parse(
    struct ssrequest_options *options, char **argv, struct ss_error *error) {
    *options = (struct ssrequest_options){.given = request_rate_unset()};

    ss_platform_affinity(&options->measured);
    sigprocmask(SIG_BLOCK, NULL, &options->mask);
    options->scheduling = ss_platform_scheduling_save();

    if (ss_arguments_parse(rows, options, &options->store, argv, NULL, error) < 0)
        return -1;
    if (!options->scheduling)
        return ss_error_memory(error);
    return options->help || options->version ? 0 : complete(options, error);
}

void ssrequest_options_close(struct ssrequest_options *options) {
    request_messages_close(&options->messages);
    free(options->scheduling);
    ss_option_store_free(&options->store);
}

struct request_rules ssrequest_options_rules(
    const struct ssrequest_options *options, const struct request_profile *profile) {
    const struct request_messages *messages = &options->messages;
    struct request_rules rules = request_rate_rules(&options->given, profile);
    rules.targets = options->url_count;
    rules.order = messages->origin_count > 0 ? messages->order : NULL;
    rules.order_count = messages->count;
    return rules;
}
