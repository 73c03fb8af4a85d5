/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/streams.h"
#include "base/version.h"
#include "burn.h"
#include "calibrate.h"
#include "kernel.h"
#include "options.h"

static void calibrate_work(void *context, uint64_t units) {
    work_do(context, units);
}

static uint64_t find_work(const struct options *options, const struct work_memory *memory) {
    if (options->work)
        return options->work;
    struct work_hand hand;
    work_begin(&hand, memory, 0);
    struct calibrate_bench bench = {calibrate_work, calibrate_thread_clock, &hand};
    return calibrate_units(&bench, options->iteration);
}

static int run(const struct options *options, struct ss_error *error) {
    struct burn burn = {.threads = options->threads, .tally = {.wanted = options->iterations}};
    if (work_memory_build(&burn.memory, options->memory, error) < 0)
        return -1;
    burn.work = find_work(options, &burn.memory);
    int result = tally_begin(&burn.tally, burn.work, error);
    if (result == 0 && options->iterations > 0)
        result = options->class->run(&burn, error);
    work_memory_free(&burn.memory);
    return result;
}

/* Our parent may ignore or block these: then a reader that has gone away would not end us, and
   children could not be waited for. */
static void reset_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv) {
    struct options options;
    struct ss_error error = {0};
    ss_streams_occupy();
    reset_signals();
    int status = SS_ERROR_FAILED;
    if (argc > 1 && strcmp(argv[1], "kernel") == 0)
        status = -kernel_command(argv + 1, &error) == 1 ? 2 : 1;
    else if (options_parse(&options, argv, &error) < 0)
        status = 2;
    else if (options.help)
        options_print_help();
    else if (options.version)
        printf("ssburn %s\n", ss_version());
    else if (run(&options, &error) < 0)
        status = 1;
    if (!error.status && ss_streams_flush(&error) == 0)
        return 0;
    fprintf(stderr, "ssburn: %s\n", error.message);
    return status;
}
