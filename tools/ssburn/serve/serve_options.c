/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_options.h"

#include <stdio.h>
#include <string.h>

#include "burn_options.h"
#include "options/arguments.h"

/* Maximum size of an answer, which is kept in memory. */
#define BYTES_MAX (UINT64_C(1) << 30)

#define WORK_DEFAULT    (10 * SS_MILLISECOND)
#define ADDRESS_DEFAULT "127.0.0.1"

static int take_memory(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    (void)row;
    return options_read_memory(value, &((struct serve_options *)config)->memory, error);
}

static int take_bytes(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    uint64_t *bytes = &((struct serve_options *)config)->bytes;
    (void)row;
    if (options_read_size(value, bytes, error) < 0)
        return -1;
    return *bytes <= BYTES_MAX ? 0 : ss_error_fail(error, "must be 1G or less");
}

#define AT(member)       .offset = offsetof(struct serve_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct serve_options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "WHERE", {"listen", SS_OPTION_TEXT, AT(listen), .initial = "0",
        .help = "a port, 0 for any that is free, or the path of a Unix socket, with a slash"}},
    {0, "ADDRESS", {"address", SS_OPTION_TEXT, AT(address),
        .help = "the address of the port; default " ADDRESS_DEFAULT}},
    {0, "TIME", {"work", SS_OPTION_TIME, AT(work), .max = "1h",
        .help = "CPU time of a request; default 10m"}},
    {0, "COUNT", {"units", COUNT_AT(units), .min = "1", .max = "4611686018427387904",
        .help = "the work of a request in units, as printed by an earlier run"}},
    {0, "NAME", {"spread", SS_OPTION_CHOICE, AT(spread), .initial = "constant",
        .choices = "constant exponential",
        .help = "constant, or exponential: --work is the mean"}},
    {0, "N", {"seed", COUNT_AT(seed), .initial = "1",
        .help = "seed of --spread exponential: the same seed gives each request the same work"}},
    {0, "SIZE", {"memory", .help = "do the work by walking through this many bytes: 32K, 8M, 1G"},
        .take = take_memory},
    {0, "N", {"workers", COUNT_AT(workers), .initial = "1", .min = "1", .max = "4096",
        .help = "the number of threads that take requests from the queue"}},
    {0, "N", {"queue", COUNT_AT(queue), .initial = "4096", .max = "1000000",
        .help = "how many requests may wait for a worker; any more are answered with 503"}},
    {0, "SIZE", {"bytes", .help = "size of an answer in bytes; default 64"}, .take = take_bytes},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

void serve_options_print_help(void) {
    printf("Usage: ssburn serve [OPTION]...\n"
           "An HTTP server that spends a chosen CPU time on each request, whatever it asks\n"
           "for. Requests wait in one queue, first come, first served. INT and TERM end it.\n\n");
    ss_arguments_print_help(stdout, rows);
}

int serve_options_parse(struct serve_options *options, struct ss_option_store *store, char **argv,
    struct ss_error *error) {
    *options = (struct serve_options){.work = SS_TIME_NEVER, .bytes = 64};
    if (ss_arguments_parse(rows, options, store, argv, NULL, error) < 0)
        return -1;
    if (options->units && options->work != SS_TIME_NEVER)
        return ss_error_fail(
            error, "--units cannot be combined with --work: both set the work of a request");
    if (options->address && strchr(options->listen, '/'))
        return ss_error_fail(
            error, "--address cannot be combined with the path of --listen: only ports have one");
    if (!options->address)
        options->address = ADDRESS_DEFAULT;
    if (options->work == SS_TIME_NEVER)
        options->work = WORK_DEFAULT;
    return 0;
}
