/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "analysis.h"
#include "base/advice.h"
#include "base/owned.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "screen/window.h"
#include "terminal_plot.h"
#include "trace/compiled.h"
#include "trace/text.h"

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

static int write_compiled(
    const struct sstrace_spooled_trace *trace, FILE *stream, struct ss_error *error) {
    struct writer writer = {.sink = {.take = take_compiled}};
    ss_trace_writer_open(&writer.compiled, stream, trace->count, trace->length);
    if (sstrace_spooled_trace_play(trace, &writer.sink, error) != 0)
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

static int fill(struct sstrace_columns *columns, const struct sstrace_spooled_trace *trace,
    struct ss_error *error) {
    if (sstrace_spooled_trace_play(trace, &columns->sink, error) != 0)
        return -1;
    return columns->sink.end(&columns->sink, error);
}

static int draw(const struct sstrace_spooled_trace *trace, FILE *stream, struct ss_error *error) {
    struct sstrace_columns columns;
    size_t count;
    int rows;
    sstrace_plot_fit(&count, &rows);

    if (sstrace_columns_open(&columns, trace->length, count, error) != 0)
        return -1;

    int result = fill(&columns, trace, error);
    if (result == 0)
        sstrace_plot_print(stream, &columns, rows, ss_screen_is_unicode());
    sstrace_columns_close(&columns);
    return result;
}

/*
 * Writes the input of the Python package: the length of the trace in nanoseconds and a table of its
 * columns. The loads of a column that is entirely `free` are empty.
 */
static void write_table(const struct sstrace_columns *columns, FILE *stream) {
    fprintf(stream, "%" PRIu64 "\n", (uint64_t)columns->length);
    fputs("free,least,mean,most\n", stream);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sstrace_column *column = &columns->items[i];
        fprintf(stream, "%d,", column->free > 0);
        if (column->controlled > 0)
            fprintf(
                stream, "%.6g,%.6g,%.6g\n", column->min, sstrace_column_mean(column), column->max);
        else
            fputs(",,\n", stream);
    }
}

/* Replaces standard input with the table. A column is about as wide as a pixel of the picture. */
static int prepare_picture(const struct sstrace_spooled_trace *trace, struct ss_error *error) {
    SS_OWNED(fclose) FILE *stream = tmpfile();
    struct sstrace_columns columns;
    if (!stream)
        return ss_error_fail(
            error, "cannot create a temporary file for the picture: %s", strerror(errno));

    if (sstrace_columns_open(&columns, trace->length, SSTRACE_COLUMNS_MAX, error) != 0)
        return -1;

    int result = fill(&columns, trace, error);
    write_table(&columns, stream);
    sstrace_columns_close(&columns);

    errno = 0;
    if (fflush(stream) != 0 || ferror(stream) || fseek(stream, 0, SEEK_SET) != 0 ||
        dup2(fileno(stream), STDIN_FILENO) < 0)
        return ss_error_fail(
            error, "cannot write a temporary file for the picture: %s", strerror(errno));

    return result;
}

int sstrace_picture_execute(const char *path, const char *title, struct ss_error *error) {
    const char *words[] = {"plot", "--output", path, title ? "--title" : NULL, title, NULL};
    return analysis_execute("sstrace", (char *const *)words, error);
}

int sstrace_output_print(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, FILE *stream, struct ss_error *error) {
    struct writer text = {.sink = {.take = take_text}, .stream = stream};
    if (request->dump)
        return sstrace_spooled_trace_play(trace, &text.sink, error);
    return request->plot ? draw(trace, stream, error) : write_compiled(trace, stream, error);
}

static int write_file(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_begin(&file, request->output, error) < 0)
        return -1;
    if (sstrace_output_print(request, trace, file.stream, error) == 0)
        return ss_whole_file_end(&file, request->output, error);
    ss_whole_file_abandon(&file);
    return -1;
}

int sstrace_output_write(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, struct ss_error *error) {
    if (sstrace_is_picture(request))
        return prepare_picture(trace, error);
    return request->output ? write_file(request, trace, error)
                           : sstrace_output_print(request, trace, stdout, error);
}
