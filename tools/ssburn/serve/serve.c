/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <showstopper/random.h>

#include "base/end_signals.h"
#include "base/owned.h"
#include "base/streams.h"
#include "base/version.h"
#include "burn_options.h"
#include "calibrate.h"
#include "options/arguments.h"
#include "serve_http.h"
#include "serve_listen.h"
#include "threads.h"

/* Linux's default for net.core.somaxconn. */
#define BACKLOG_DEFAULT 4096

struct serve_options {
    int help, version;
    const char *listen;  /* a port, or the path of a Unix socket */
    const char *address; /* address of the port */
    ss_time work;        /* CPU time of a request */
    uint64_t units;      /* in units of burn_work.h; 0 to derive it from `work` */
    int is_exponential;  /* the work is exponentially distributed */
    uint64_t seed;
    uint64_t memory; /* in bytes */
    uint64_t workers;
    uint64_t queue; /* length of the queue, in requests */
    uint64_t bytes; /* size of an answer, in bytes */
};

#define ADDRESS_DEFAULT "127.0.0.1"

#define AT(member)       .offset = offsetof(struct serve_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct serve_options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "WHERE", {"listen", SS_OPTION_TEXT, AT(listen), .initial = "0",
        .help = "a port (0: any free one), or the path of a Unix socket, with a slash"}},
    {0, "ADDRESS", {"address", SS_OPTION_TEXT, AT(address),
        .help = "the address of the port; default " ADDRESS_DEFAULT}},
    {0, "TIME", {"work", SS_OPTION_TIME, AT(work), .initial = "10ms", .max = "1h",
        .help = "CPU time of a request"}},
    {0, "COUNT", {"units", COUNT_AT(units), .min = "1", .max = "4611686018427387904",
        .help = "the work of a request in units, as printed by an earlier run"}, .excludes = "work"},
    {0, "NAME", {"spread", SS_OPTION_CHOICE, AT(is_exponential), .initial = "constant",
        .choices = "constant exponential",
        .help = "distribution of the work of a request, whose mean is --work"}},
    {0, "N", {"seed", COUNT_AT(seed), .initial = "1",
        .help = "seed of --spread exponential: the same seed gives each request the same work"}},
    {0, "SIZE", {"memory", COUNT_AT(memory), .min = "128",
        .help = "do the work by walking through this many bytes, such as 32K, 8M or 1G"}, .take = options_take_size},
    {0, "N", {"workers", COUNT_AT(workers), .initial = "1", .min = "1", .max = "4096",
        .help = "the number of threads that take requests from the queue"}},
    {0, "N", {"queue", COUNT_AT(queue), .initial = "4096", .max = "1000000",
        .help = "how many requests may wait for a worker; others are answered with 503"}},
    {0, "SIZE", {"bytes", COUNT_AT(bytes), .initial = "64", .max = "1073741824",
        .help = "size of an answer in bytes"}, .take = options_take_size},
    SS_ARGUMENTS_HELP_AT(struct serve_options),
    SS_ARGUMENTS_END,
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssburn serve [OPTION]...\n"
           "Runs an HTTP server that spends a chosen CPU time on every request. Requests\n"
           "wait in one queue, first come, first served. SIGINT and SIGTERM end the server.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static int parse(struct serve_options *options, struct ss_option_store *store, char **argv,
    struct ss_error *error) {
    *options = (struct serve_options){0};
    if (ss_arguments_parse(rows, options, store, argv, NULL, error) < 0)
        return -1;

    if (options->address && strchr(options->listen, '/'))
        return ss_error_fail(
            error, "--address cannot be combined with a path in --listen: use a port");

    if (!options->address)
        options->address = ADDRESS_DEFAULT;
    return 0;
}

struct server {
    const struct serve_options *options;
    uint64_t units; /* mean work of a request, in units */
    struct work_memory memory;
    struct serve_queue queue;
    struct serve_http *http;
    struct serve_listener listener;
    sigset_t end_signals;         /* the signals that end the server */
    _Atomic uint64_t worked_time; /* CPU time of all workers, in nanoseconds */
};

/*
 * Returns the work of a request. It depends on the number and the seed only, so it does not matter
 * which worker takes the request, or when.
 */
static uint64_t draw_units(const struct server *server, uint64_t number) {
    const struct serve_options *options = server->options;
    if (!options->is_exponential)
        return server->units;

    double part = ss_random_exponential(ss_random(options->seed, number));
    double units = round((double)server->units * part);
    return units < (double)WORK_UNITS_MAX ? (uint64_t)units : WORK_UNITS_MAX;
}

static void work(struct server *server, uint64_t number) {
    struct worker worker;
    struct serve_request *request;

    work_begin(&worker, &server->memory, number);
    while ((request = serve_queue_take(&server->queue))) {
        work_do(&worker, draw_units(server, serve_request_number(request)));
        serve_queue_done(&server->queue);
        serve_request_answer(request, true);
    }

    server->worked_time += calibrate_thread_clock(NULL);
}

static void stop_listening(struct server *server) {
    serve_listener_close(&server->listener); /* removes the path before the socket is closed */
    serve_http_quiesce(server->http);
    serve_queue_close(&server->queue);
}

/*
 * Waits for the signal that ends the server. Workers complete their requests first; a second signal
 * ends the server at once.
 */
static void wait_for_end(struct server *server) {
    int number;
    sigwait(&server->end_signals, &number);
    stop_listening(server);
    pthread_sigmask(SIG_UNBLOCK, &server->end_signals, NULL);
    serve_queue_settle(&server->queue);
}

static void run_thread(void *shared, uint64_t number) {
    if (number == 0)
        wait_for_end(shared);
    else
        work(shared, number - 1);
}

/*
 * Blocks the signals that end the server, in all threads, because they inherit the mask. Restores
 * their default actions, so that a second signal, which is not blocked any more, ends the server at
 * once.
 */
static void block_signals(struct server *server) {
    ss_end_signals(&server->end_signals);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &server->end_signals, NULL);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int announce(const struct server *server, struct ss_error *error) {
    const struct serve_listener *listener = &server->listener;
    long backlog = serve_listener_backlog();
    unsigned connections = serve_http_connections(server->http);

    if (backlog >= 0 && backlog < BACKLOG_DEFAULT)
        fprintf(stderr,
            "ssburn: warning: only %ld connections can wait to be accepted, and others are delayed "
            "by seconds: use sysctl -w net.core.somaxconn=%d\n",
            backlog, BACKLOG_DEFAULT);

    if (connections < BACKLOG_DEFAULT)
        fprintf(stderr,
            "ssburn: warning: the limit on open files permits only %u connections, and others wait "
            "until one is closed: raise ulimit -Hn\n",
            connections);

    printf("# work %" PRIu64 "\nlistening on %s%s\n", server->units, listener->path ? "unix:" : "",
        listener->path ? listener->path : listener->url);
    return ss_streams_flush(error);
}

static void report(
    const struct server *server, const struct serve_counts *counts, double cpu_time) {
    printf("served %" PRIu64 "\nrefused %" PRIu64 "\ndropped %" PRIu64 "\nlost %" PRIu64
           "\nwaiting_most %zu\nworkers_cpu_seconds %.6f\ncpu_seconds %.6f\n",
        counts->of[SERVE_SERVED], counts->of[SERVE_REFUSED], counts->of[SERVE_DROPPED],
        counts->of[SERVE_LOST], server->queue.waiting_max, (double)server->worked_time / 1e9,
        cpu_time);
}

/* Serves until a signal, then answers waiting requests with 503 and prints the counts. */
static int serve_until_end(struct server *server, struct ss_error *error) {
    double begin = cpu_seconds();

    int result = announce(server, error);
    if (result == 0)
        result = threads_run(server->options->workers + 1, run_thread, server, error);
    if (result < 0)
        stop_listening(server);

    struct serve_request *request;
    while ((request = serve_queue_drain(&server->queue)))
        serve_request_answer(request, false);

    struct serve_counts counts = serve_http_stop(server->http);
    if (result == 0)
        report(server, &counts, cpu_seconds() - begin);
    return result;
}

static int open_and_serve(struct server *server, struct ss_error *error) {
    struct serve_listener *listener = &server->listener;
    if (serve_listener_open(listener, error) < 0)
        return -1;

    block_signals(server);

    int file = ss_owned_take(&listener->file);
    server->http = serve_http_start(file, &server->queue, server->options->bytes, error);
    int result = server->http ? serve_until_end(server, error) : -1;

    serve_listener_close(listener);
    return result;
}

static int serve(const struct serve_options *options, const struct serve_listener *listener,
    struct ss_error *error) {
    struct server server = {.options = options, .units = options->units, .listener = *listener};
    if (work_memory_build(&server.memory, options->memory, error) < 0)
        return -1;

    if (server.units == 0 && options->work > 0)
        server.units = calibrate_work(&server.memory, options->work);

    int result = serve_queue_open(&server.queue, options->queue, options->workers, error);
    if (result == 0)
        result = open_and_serve(&server, error);

    serve_queue_free(&server.queue);
    work_memory_free(&server.memory);
    return result;
}

static int execute(const struct serve_options *options, struct ss_error *error) {
    struct serve_listener listener;
    if (options->help) {
        print_help();
        return 0;
    }
    if (options->version) {
        printf("ssburn %s\n", ss_version());
        return 0;
    }

    if (serve_listener_find(&listener, options->listen, options->address, error) < 0)
        return -1;
    return serve(options, &listener, error) < 0 ? -2 : 0;
}

int serve_command(char **argv, struct ss_error *error) {
    struct serve_options options;
    struct ss_option_store store = {0};
    int result = parse(&options, &store, argv, error);
    if (result == 0)
        result = execute(&options, error);
    ss_option_store_free(&store);
    return result;
}
