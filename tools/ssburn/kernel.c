/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/version.h"
#include "calibrate.h"
#include "kernels.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "window.h"

#define KERNELS_MAX 128

/*
 * Length of a batch. The clock is read between batches: often enough to detect a stop, but rarely
 * enough to cost nothing.
 */
#define BATCH (1 * SS_MILLISECOND)

/* CPU time spent before measuring, to warm up caches and branch predictors. */
#define WARMUP (20 * SS_MILLISECOND)

struct request {
    ss_time time;
    int list, help, version;
    const struct kernel *kernel;
};

static int take_name(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    const char *names[KERNELS_MAX];
    struct ss_suggest_names known = {"kernel", names, 0, sizeof *names, "see --list"};
    (void)row;

    if (request->kernel)
        return ss_error_fail(error, "unexpected argument '%s': kernel %s was already given", word,
            request->kernel->name);

    for (; kernels[known.count]; known.count++)
        names[known.count] = kernels[known.count]->name;

    int found = ss_suggest_find(&known, word, error);
    request->kernel = found < 0 ? NULL : kernels[found];
    return found < 0 ? -1 : 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, NULL, {"list", AT(list), .help = "list the kernels: name, class, what it does"}},
    {0, "TIME", {"time", SS_OPTION_TIME, AT(time), .initial = "500ms", .min = "10ms", .max = "1h",
        .help = "measure for this time"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version, the compiler and its flags"}},
    SS_ARGUMENTS_WORDS(take_name),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssburn kernel NAME [OPTION]...\n"
           "       ssburn kernel --list\n"
           "Repeats a fixed amount of work, checks its result every time, and prints the\n"
           "number of repetitions per second of real time.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static void print_list(void) {
    for (const struct kernel *const *at = kernels; *at; at++)
        printf("%-16s %-12s %s\n", (*at)->name, (*at)->class, (*at)->help);
}

struct bench {
    const struct kernel *kernel;
    struct kernel_data data;
    bool wrong;
};

static void do_rounds(void *context, uint64_t rounds) {
    struct bench *bench = context;
    for (uint64_t i = 0; i < rounds && !bench->wrong; i++)
        bench->wrong = !bench->kernel->round(&bench->data);
}

/*
 * Finds how many rounds fit into a batch. Measures CPU time, so that stops of the process do not
 * matter.
 */
static uint64_t find_batch(struct bench *bench) {
    ss_time first = calibrate_thread_clock(NULL);
    uint64_t batch = 1;

    for (bool is_long = false; !bench->wrong;) {
        ss_time begin = calibrate_thread_clock(NULL), end;
        do_rounds(bench, batch);
        end = calibrate_thread_clock(NULL);
        is_long |= ss_time_since(end, begin) >= BATCH / 2;
        if (is_long && ss_time_since(end, first) >= WARMUP)
            break;
        batch *= is_long ? 1 : 2;
    }

    return batch;
}

static int measure(const struct request *request, struct ss_error *error) {
    struct bench bench = {.kernel = request->kernel};
    struct caches caches = caches_read("/sys");
    if (kernel_open(request->kernel, &caches, &bench.data, error) < 0)
        return -1;

    uint64_t batch = find_batch(&bench);
    struct window window;
    window_begin(&window, ss_platform_now());
    while (window_length(&window) < request->time && !bench.wrong) {
        do_rounds(&bench, batch);
        window_add(&window, ss_platform_now(), batch);
    }

    size_t bytes = bench.data.bytes;
    kernel_close(&bench.data);
    if (bench.wrong && bench.data.failure)
        return ss_error_fail(error, "kernel %s: a system call failed: %s", request->kernel->name,
            strerror(bench.data.failure));
    if (bench.wrong)
        return ss_error_fail(error, "kernel %s: wrong result: this machine computes incorrectly",
            request->kernel->name);

    printf("# %s: %s; %zu bytes; %s\n", request->kernel->name, request->kernel->help, bytes,
        kernel_compiler());
    printf("rate %.9g per second\n", window_rate(&window));
    return 0;
}

static int execute(const struct request *request, struct ss_error *error) {
    if (request->help)
        print_help();
    else if (request->version)
        printf("ssburn %s, %s\n", ss_version(), kernel_compiler());
    else if (request->list)
        print_list();
    else if (!request->kernel)
        return ss_error_fail(error, "no kernel given: use one that --list prints");
    else if (measure(request, error) < 0)
        return -2;
    return 0;
}

int kernel_command(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0)
        result = execute(&request, error);
    ss_option_store_free(&store);
    return result;
}
