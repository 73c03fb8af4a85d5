/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/end_signals.h"
#include "base/units.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "capacity_run.h"
#include "folder.h"
#include "http.h"
#include "keeper/signals.h"
#include "platform/platform.h"
#include "program.h"
#include "request_loop.h"
#include "request_options.h"
#include "request_output.h"
#include "service_loop.h"
#include "wait.h"

/* Pins this process; threads that libraries start later inherit the affinity. */
static int take_cpus(const char *list, struct ss_error *error) {
    struct ss_cpus cpus = {0}, allowed = {0};
    if (!list)
        return 0;

    if (ss_cpus_parse(list, &cpus, error) < 0)
        return ss_error_wrap(error, "--own-cpu");

    ss_platform_affinity(&allowed);
    uint32_t outside = ss_cpus_first_outside(&cpus, &allowed);
    if (outside != SS_CPUS_MAX)
        return ss_error_fail(error,
            "--own-cpu: CPU %u is not available to ssrequest: use one that taskset -cp $$ lists",
            outside);

    int status = ss_platform_thread_bind(0, &cpus);
    return status < 0 ? ss_error_fail(error, "--own-cpu: %s", strerror(-status)) : 0;
}

/* Fails, before any file is created, if the start has passed during lookups and --wait-for. */
static int check_start(const struct ssrequest_options *options, struct ss_error *error) {
    int64_t late = ss_platform_wallclock() - options->start_at;
    if (!options->start_at_text || late <= 0)
        return 0;
    return ss_error_fail(error, "--start-at: %s only %.3f s after '%s': use a later time",
        options->wait_for > 0 ? "the service accepted connections" : "requests can begin",
        (double)late / 1e9, options->start_at_text);
}

/* Looks up names before the run, because lookups during the run would affect the measurement. */
static int find_targets(struct ssrequest_run *run, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    struct ssrequest_targets found;
    sigset_t ends;
    ss_end_signals(&ends);

    /* A lookup may take long. Nothing has to be cleaned up yet, so a signal may end the process. */
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    int made =
        ssrequest_targets_make(options->urls, options->url_count, options->socket, &found, error);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    if (made < 0)
        return -1;

    for (uint32_t i = 0; i < found.count; i++) {
        if (found.list[i].lookup_error)
            fprintf(stderr, "ssrequest: warning: %s: all requests to this host will fail\n",
                found.list[i].lookup_error);
    }

    int result =
        options->wait_for > 0 ? ssrequest_wait_for_targets(&found, options->wait_for, error) : 0;
    if (result == 0 && service_is_held(&options->service))
        result = ssrequest_service_find(run, &found, error);
    ssrequest_http_retarget(run->http, &found);
    return result == 0 ? check_start(options, error) : result;
}

static int open_http(struct ssrequest_run *run, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    if (options->authorities && access(options->authorities, R_OK) < 0)
        return ss_error_fail(
            error, "--cacert: %s: %s", ss_words_show(options->authorities).text, strerror(errno));
    if (ssrequest_http_open(&run->http, options, ssrequest_loop_epoll(run->loop), error) < 0)
        return -1;
    return find_targets(run, error);
}

static int open_network(struct ssrequest_run *run, struct ss_error *error) {
    const char *json = run->options->json;
    /* Check this now: if writing failed after the run, the results would be lost. */
    if (json && strcmp(json, "-") != 0 && ss_whole_file_check(json, error) < 0)
        return ss_error_wrap(error, "--json");
    if (take_cpus(run->options->own_cpus, error) < 0)
        return -1;
    ss_platform_minimize_latency(SS_PRIORITY_INHERITED);
    return ssrequest_loop_open(&run->loop, error) < 0 ? -1 : open_http(run, error);
}

static void close_all(struct ssrequest_run *run) {
    ssrequest_output_close(run->output);
    request_generator_close(run->generator);
    request_tally_close(&run->tally);
    ssrequest_http_close(run->http);
    ssrequest_loop_close(run->loop);
    request_profile_free(&run->profile);
    service_free(&run->service);
    if (run->record >= 0)
        close(run->record);
}

/* Waits for --start-at. On a signal, removes the files of the run and ends the process. */
static void wait_for_start(struct ssrequest_run *run) {
    int number = ssrequest_wait_until(run->options->start_at);
    if (number == 0)
        return;

    ssrequest_output_close(run->output);
    run->output = NULL;
    if (run->record >= 0)
        request_folder_remove(run->record, run->options->record);
    close_all(run);
    ss_signals_raise_default(number);
}

/*
 * Closes the connections before the results are written, because they may use all descriptors.
 * Warns if responses came over HTTP/1 despite --http2.
 */
static void close_http(struct ssrequest_run *run) {
    uintmax_t downgraded = ssrequest_http_downgraded(run->http);
    if (downgraded > 0)
        fprintf(stderr,
            "ssrequest: warning: %ju response%s used HTTP/1 despite --http2: the server declined "
            "HTTP/2\n",
            downgraded, downgraded == 1 ? "" : "s");
    ssrequest_http_close(run->http);
    run->http = NULL;
}

/* With a timeout up to the limit, the search measures the timeout, and finds too low a rate. */
static void warn_of_timeout(const struct ssrequest_options *options) {
    char timeout[SS_UNITS_TEXT_SIZE];
    if (options->criterion.limit < options->given.timeout)
        return;

    ss_units_show_time(timeout, options->given.timeout);
    fprintf(stderr,
        "ssrequest: warning: --capacity %s: requests fail after %s, and at most 1 %% may fail: use "
        "a --timeout above the limit\n",
        options->capacity, timeout);
}

static int find_capacity(struct ssrequest_run *run, int *status, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    bool silent = options->quiet || (options->json && strcmp(options->json, "-") == 0);
    static struct request_capacity capacity; /* static because it is too large for the stack */

    warn_of_timeout(options);
    if (open_network(run, error) < 0)
        return -1;

    if (options->record && (run->record = request_folder_create(options->record, NULL, error)) < 0)
        return -1;
    wait_for_start(run);

    int result = ssrequest_capacity_run(&capacity, run, silent ? NULL : stdout, error);
    close_http(run);
    if (result < 0 || ssrequest_output_write_capacity(run, &capacity, error) < 0)
        return -1;

    *status = request_capacity_result(&capacity).sure ? 0 : 1;
    return 0;
}

static int make_requests(struct ssrequest_run *run, int *status, struct ss_error *error) {
    run->rules = ssrequest_options_rules(run->options, &run->profile);
    if (open_network(run, error) < 0 ||
        request_tally_open(&run->tally, run->options->given.timeout, error) < 0 ||
        ssrequest_output_open(run, error) < 0)
        return -1;

    wait_for_start(run);

    const struct ssrequest_hooks hooks = ssrequest_output_hooks(run->output);
    int why = ssrequest_loop_run(run->loop, run->generator, run->http, &hooks, &run->stats);
    if (why < 0)
        return ss_error_fail(error, "--control: cannot wait for its socket: %s", strerror(-why));

    close_http(run);
    bool success;
    if (ssrequest_output_finish(run, &success, error) < 0)
        return -1;
    *status = success ? 0 : 1;
    return 0;
}

static void print_schedule(struct request_schedule *schedule) {
    ss_time due;
    while (request_schedule_next(schedule, &due) && !ferror(stdout))
        printf("%ju.%09ju\n", (uintmax_t)(due / SS_SECOND), (uintmax_t)(due % SS_SECOND));
}

static int follow_schedule(struct ssrequest_run *run, int *status, struct ss_error *error) {
    const struct ssrequest_options *options = run->options;
    if (request_rate_profile(&options->given, &run->profile, error) < 0)
        return -1;

    if (!options->given.closed)
        request_schedule_begin(&run->schedule, &run->profile,
            (enum request_arrival)options->given.arrival, options->given.seed);
    if (service_is_held(&options->service))
        request_schedule_set_rate(&run->schedule, 0, 0);

    if (!options->dry_run)
        return make_requests(run, status, error);
    print_schedule(&run->schedule);
    return 0;
}

static int execute(const struct ssrequest_options *options, int *status, struct ss_error *error) {
    struct ssrequest_run run = {.options = options, .record = -1};
    int result = options->capacity ? find_capacity(&run, status, error)
                                   : follow_schedule(&run, status, error);
    close_all(&run);
    return result;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssrequest_options options;
    ss_platform_hide_memory();

    int result = ssrequest_options_parse(&options, argv, error);
    if (result == 0 && !ss_program_print_requested("ssrequest", &options.store, options.help,
                           options.version, ssrequest_options_print_help))
        result = execute(&options, status, error);

    ssrequest_options_close(&options);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssrequest", run, argc, argv);
}
