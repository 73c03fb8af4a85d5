/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "base/streams.h"
#include "base/words.h"
#include "options/arguments.h"
#include "output.h"
#include "program.h"
#include "source.h"
#include "split.h"
#include "trace_options.h"
#include "trace_statistics.h"

/* Reads the whole trace, and prints its figures unless it is only checked. */
static int examine(const struct sstrace_request *request, struct ss_error *error) {
    struct sstrace_statistics statistics = sstrace_statistics_open();
    if (sstrace_run(request, &statistics.sink, error) != 0)
        return -1;
    if (request->stat)
        sstrace_statistics_print(stdout, &statistics);
    return 0;
}

/* Converts the trace. Writes nothing until the whole trace is known to be valid. */
static int convert(const struct sstrace_request *request, struct ss_error *error) {
    if (!request->dump && !request->plot && !request->output && isatty(STDOUT_FILENO))
        return ss_error_fail(error,
            "refusing to write a compiled trace to a terminal: use -o FILE or > FILE, or --dump, "
            "--stat, --plot or --check; see sstrace --help");
    const char *dot = request->output ? strrchr(request->output, '.') : NULL;
    bool is_picture_name = dot && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0);
    if (sstrace_is_picture(request) && !is_picture_name)
        return ss_error_fail(error,
            "'%s' is not the name of a picture: use one that ends with .svg or .png",
            ss_words_show(request->output).text);

    struct sstrace_spool spool;
    sstrace_spool_open(&spool);
    int result = sstrace_run(request, &spool.trace.sink, error);
    if (result == 0)
        result = sstrace_output_write(request, &spool.trace, error);
    sstrace_spool_file_close(&spool.file);
    return result;
}

static int carry_out(const struct sstrace_request *request, struct ss_error *error) {
    if (ss_program_print_requested(
            "sstrace", NULL, request->help, request->version, sstrace_help_print))
        return 0;
    if (request->split)
        return sstrace_split_run(request, error);
    if (request->check || request->stat)
        return examine(request, error);
    return convert(request, error);
}

static int run(char **argv, int *status, struct ss_error *error) {
    (void)status;
    struct sstrace_request request;
    struct ss_option_store store = {0};

    int result = -1;
    if (sstrace_request_parse(argv, &request, &store, error) == 0 &&
        carry_out(&request, error) == 0)
        result = ss_streams_flush(error);
    ss_option_store_print_warnings(stderr, "sstrace", &store);

    if (result < 0)
        error->status = 2;
    else if (sstrace_is_picture(&request))
        result = sstrace_picture_execute(
            request.output, request.file_count ? request.files[0] : NULL, error);

    ss_option_store_free(&store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("sstrace", run, argc, argv);
}
