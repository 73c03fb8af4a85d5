/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <string.h>

#include "base/streams.h"
#include "burn.h"
#include "burn_options.h"
#include "calibrate.h"
#include "kernel.h"
#include "program.h"

#ifdef SSBURN_HAS_SERVE
#include "serve.h"
#else
static int serve_command(char **argv, struct ss_error *error) {
    (void)argv;
    ss_error_fail(error, "serve: this ssburn was built without libmicrohttpd: build it with "
                         "that library");
    return -2;
}
#endif

static int burn(const struct options *options, struct ss_error *error) {
    struct burn burn = {.threads = options->threads, .tally = {.requested = options->iterations}};
    if (work_memory_build(&burn.memory, options->memory, error) < 0)
        return -1;

    burn.work = options->work ? options->work : calibrate_work(&burn.memory, options->iteration);
    int result = tally_begin(&burn.tally, burn.work, error);
    if (result == 0 && options->iterations > 0)
        result = options->class->run(&burn, error);

    work_memory_free(&burn.memory);
    return result;
}

/*
 * Restores the default of SIGPIPE. If the parent ignores or blocks it, ssburn would outlive its
 * reader.
 */
static void reset_pipe_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Executes the command. Returns -1 if the command line is invalid and -2 if the command failed. */
static int execute(char **argv, struct ss_error *error) {
    struct options options;
    if (argv[0] && argv[1] && strcmp(argv[1], "kernel") == 0)
        return kernel_command(argv + 1, error);
    if (argv[0] && argv[1] && strcmp(argv[1], "serve") == 0)
        return serve_command(argv + 1, error);

    if (options_parse(&options, argv, error) < 0)
        return -1;

    if (options.help)
        options_print_help();
    else if (options.version)
        ss_program_print_version("ssburn");
    else if (burn(&options, error) < 0)
        return -2;
    return 0;
}

static int run(char **argv, int *status, struct ss_error *error) {
    (void)status;
    reset_pipe_signal();

    int result = execute(argv, error);
    if (result == 0 && ss_streams_flush(error) < 0)
        result = -2;

    if (result < 0)
        error->status = result == -1 ? 2 : 1;
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssburn", run, argc, argv);
}
