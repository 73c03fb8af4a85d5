/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "base/streams.h"
#include "base/words.h"
#include "output.h"
#include "pipeline.h"
#include "platform/program.h"
#include "source.h"
#include "split.h"
#include "trace_options.h"
#include "trace_picture.h"
#include "trace_statistics.h"

/* Runs the source through the stages into `end`. */
static int run_stages(
    const struct sstrace_request *request, struct ss_trace_sink *end, struct ss_error *error) {
    struct sstrace_pipeline pipeline;
    if (sstrace_pipeline_open(&pipeline, request, end, error) != 0)
        return -1;
    int result = sstrace_source_run(request, pipeline.first, error);
    sstrace_pipeline_close(&pipeline);
    return result;
}

static int check(const struct sstrace_request *request, struct ss_error *error) {
    struct ss_trace_sink nowhere = sstrace_nowhere();
    return run_stages(request, &nowhere, error);
}

static int stat(const struct sstrace_request *request, struct ss_error *error) {
    struct sstrace_statistics statistics = sstrace_statistics_open();
    if (run_stages(request, &statistics.sink, error) != 0)
        return -1;
    sstrace_statistics_print(stdout, &statistics);
    return 0;
}

static bool is_picture_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0);
}

/* Converts the trace. Writes nothing until the whole trace is known to be valid. */
static int convert(const struct sstrace_request *request, struct ss_error *error) {
    struct sstrace_spool spool;
    if (request->action == SSTRACE_COMPILE && !request->output && isatty(STDOUT_FILENO))
        return ss_error_fail(error,
            "refusing to write a compiled trace to a terminal: give -o FILE or > FILE, or --dump, "
            "--stat, --plot or --check; see sstrace --help");
    if (sstrace_is_picture(request) && !is_picture_name(request->output))
        return ss_error_fail(error,
            "'%s' is not the name of a picture: it must end with .svg or .png",
            ss_words_show(request->output).text);
    if (sstrace_spool_open(&spool, error) != 0)
        return -1;
    int result = run_stages(request, &spool.sink, error);
    if (result == 0)
        result = sstrace_output_write(request, &spool, error);
    sstrace_spool_close(&spool);
    return result;
}

static int answer(const struct sstrace_request *request, struct ss_error *error) {
    if (request->help) {
        sstrace_help_print(stdout);
        return 0;
    }
    if (request->version) {
        ss_program_print_version("sstrace");
        return 0;
    }
    if (request->split)
        return sstrace_split_run(request, error);
    switch (request->action) {
    case SSTRACE_CHECK:
        return check(request, error);
    case SSTRACE_STAT:
        return stat(request, error);
    default:
        return convert(request, error);
    }
}

static int run(char **argv, int *status, struct ss_error *error) {
    (void)status;
    struct sstrace_request request;
    struct ss_option_store store = {0};
    int result = sstrace_request_parse(argv, &request, &store, error);
    if (result == 0)
        result = answer(&request, error);
    if (result == 0)
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
    (void)argc;
    return ss_program_main("sstrace", run, argv);
}
