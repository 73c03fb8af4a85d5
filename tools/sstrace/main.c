/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "base/program.h"
#include "base/streams.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "screen/window.h"
#include "source.h"
#include "terminal_plot.h"
#include "trace/compiled.h"
#include "trace/text.h"
#include "trace_options.h"
#include "trace_picture.h"
#include "trace_statistics.h"

/* ---- source, transformations, sink ---- */

/* Builds the pipeline from its end, and runs the source into it. */
static int run_stages(
    const struct sstrace_request *request, struct ss_trace_sink *end, struct ss_error *error) {
    struct sstrace_stage last, stages[SSTRACE_TRANSFORMS_MAX];
    sstrace_stage_open_last(&last, end);
    struct ss_trace_sink *next = &last.sink;
    size_t first = request->transform_count;
    int result = 0;
    while (first > 0 && result == 0) {
        first--;
        result = sstrace_stage_open(&stages[first], &request->transforms[first], next, error);
        next = &stages[first].sink;
    }
    if (result == 0)
        result = sstrace_source_run(request, next, error);
    for (size_t i = first; i < request->transform_count; i++)
        sstrace_stage_close(&stages[i]);
    return result;
}

static int take_nothing(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    (void)sink;
    (void)record;
    (void)error;
    return 0;
}

static int end_nothing(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink;
    (void)error;
    return 0;
}

static int check(const struct sstrace_request *request, struct ss_error *error) {
    struct ss_trace_sink nowhere = {.take = take_nothing, .end = end_nothing};
    return run_stages(request, &nowhere, error);
}

static int stat(const struct sstrace_request *request, struct ss_error *error) {
    struct sstrace_statistics statistics = sstrace_statistics_open();
    if (run_stages(request, &statistics.sink, error) != 0)
        return -1;
    sstrace_statistics_print(stdout, &statistics);
    return 0;
}

/* ---- output ---- */

struct writer {
    struct ss_trace_sink sink;
    struct ss_trace_writer compiled;
    FILE *stream;
};

static int take_compiled(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct ss_trace_packed packed = ss_trace_pack(record);
    (void)error;
    ss_trace_writer_add(&((struct writer *)sink)->compiled, &packed);
    return 0;
}

static int write_compiled(struct sstrace_spool *spool, FILE *stream, struct ss_error *error) {
    struct writer writer = {.sink = {.take = take_compiled}};
    ss_trace_writer_open(&writer.compiled, stream, spool->count, spool->length);
    if (sstrace_spool_play(spool, &writer.sink, error) != 0)
        return -1;
    ss_trace_writer_close(&writer.compiled);
    return 0;
}

static int take_text(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    (void)error;
    ss_trace_text_write(((struct writer *)sink)->stream, record);
    return 0;
}

static int write_text(struct sstrace_spool *spool, FILE *stream, struct ss_error *error) {
    struct writer writer = {.sink = {.take = take_text}, .stream = stream};
    return sstrace_spool_play(spool, &writer.sink, error);
}

/* Returns "svg" or "png", the suffix of the path; NULL for any other. */
static const char *picture_kind(const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0))
        return dot + 1;
    return NULL;
}

static int draw(const struct sstrace_request *request, struct sstrace_spool *spool, FILE *stream,
    struct ss_error *error) {
    const char *kind = picture_kind(request->output);
    size_t count = SSTRACE_PICTURE_COLUMNS;
    int rows = 0;
    if (!kind)
        sstrace_plot_fit(&count, &rows);
    struct sstrace_columns columns;
    if (sstrace_columns_open(&columns, spool->length, count, error) != 0)
        return -1;
    int result = sstrace_spool_play(spool, &columns.sink, error);
    if (result == 0)
        result = columns.sink.end(&columns.sink, error);
    const char *title = request->file_count ? request->files[0] : NULL;
    if (result == 0 && kind)
        result = sstrace_plot_picture(stream, kind, &columns, title, error);
    else if (result == 0)
        sstrace_plot_print(stream, &columns, rows, ss_screen_is_unicode());
    sstrace_columns_close(&columns);
    return result;
}

static int write_trace(const struct sstrace_request *request, struct sstrace_spool *spool,
    FILE *stream, struct ss_error *error) {
    switch (request->action) {
    case SSTRACE_DUMP:
        return write_text(spool, stream, error);
    case SSTRACE_PLOT:
        return draw(request, spool, stream, error);
    default:
        return write_compiled(spool, stream, error);
    }
}

static int write_file(
    const struct sstrace_request *request, struct sstrace_spool *spool, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, request->output) == 0) {
        if (write_trace(request, spool, file.stream, error) != 0) {
            ss_whole_file_abandon(&file);
            return -1;
        }
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_fail(
        error, "%s cannot be written: %s", ss_words_show(request->output).text, strerror(errno));
}

/* Converts the trace. Writes nothing until the whole trace is known to be valid. */
static int convert(const struct sstrace_request *request, struct ss_error *error) {
    struct sstrace_spool spool;
    if (request->action == SSTRACE_COMPILE && !request->output && isatty(STDOUT_FILENO))
        return ss_error_fail(error,
            "refusing to write a compiled trace to a terminal: give -o FILE or > FILE, or --dump, "
            "--stat, --plot or --check; see sstrace --help");
    if (request->action == SSTRACE_PLOT && request->output && !picture_kind(request->output))
        return ss_error_fail(error,
            "'%s' is not the name of a picture: it must end with .svg or .png",
            ss_words_show(request->output).text);
    if (sstrace_spool_open(&spool, error) != 0)
        return -1;
    int result = run_stages(request, &spool.sink, error);
    if (result == 0)
        result = request->output ? write_file(request, &spool, error)
                                 : write_trace(request, &spool, stdout, error);
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
    ss_option_store_free(&store);
    if (result < 0)
        error->status = 2;
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("sstrace", run, argv);
}
