/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/streams.h"
#include "base/version.h"
#include "burn.h"
#include "burn_options.h"
#include "calibrate.h"
#include "kernel.h"

#ifdef SSBURN_HAS_SERVE
#include "serve.h"
#else
static int serve_command(char **argv, struct ss_error *error) {
    (void)argv;
    ss_error_fail(error, "serve: this ssburn was built without libmicrohttpd");
    return -2;
}
#endif

static int run(const struct options *options, struct ss_error *error) {
    struct burn burn = {.threads = options->threads, .tally = {.wanted = options->iterations}};
    if (work_memory_build(&burn.memory, options->memory, error) < 0)
        return -1;
    burn.work = options->work ? options->work : calibrate_work(&burn.memory, options->iteration);
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
        status = kernel_command(argv + 1, &error) == -1 ? 2 : 1;
    else if (argc > 1 && strcmp(argv[1], "serve") == 0)
        status = serve_command(argv + 1, &error) == -1 ? 2 : 1;
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
