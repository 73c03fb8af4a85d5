/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>

#include "base/advice.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "screen/window.h"
#include "terminal_plot.h"
#include "trace/compiled.h"
#include "trace/text.h"
#include "trace_picture.h"

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

static int fill(
    struct sstrace_columns *columns, struct sstrace_spool *spool, struct ss_error *error) {
    int result = sstrace_spool_play(spool, &columns->sink, error);
    return result == 0 ? columns->sink.end(&columns->sink, error) : result;
}

static int draw(struct sstrace_spool *spool, FILE *stream, struct ss_error *error) {
    struct sstrace_columns columns;
    size_t count;
    int rows;
    sstrace_plot_fit(&count, &rows);
    if (sstrace_columns_open(&columns, spool->length, count, error) != 0)
        return -1;
    int result = fill(&columns, spool, error);
    if (result == 0)
        sstrace_plot_print(stream, &columns, rows, ss_screen_is_unicode());
    sstrace_columns_close(&columns);
    return result;
}

static int prepare_picture(struct sstrace_spool *spool, struct ss_error *error) {
    struct sstrace_columns columns;
    if (sstrace_columns_open(&columns, spool->length, SSTRACE_PICTURE_COLUMNS, error) != 0)
        return -1;
    int result = fill(&columns, spool, error);
    if (result == 0)
        result = sstrace_picture_prepare(&columns, error);
    sstrace_columns_close(&columns);
    return result;
}

int sstrace_output_print(const struct sstrace_request *request, struct sstrace_spool *spool,
    FILE *stream, struct ss_error *error) {
    switch (request->action) {
    case SSTRACE_DUMP:
        return write_text(spool, stream, error);
    case SSTRACE_PLOT:
        return draw(spool, stream, error);
    default:
        return write_compiled(spool, stream, error);
    }
}

static int write_file(
    const struct sstrace_request *request, struct sstrace_spool *spool, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, request->output) == 0) {
        if (sstrace_output_print(request, spool, file.stream, error) != 0) {
            ss_whole_file_abandon(&file);
            return -1;
        }
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_fail(error, "%s cannot be written: %s%s", ss_words_show(request->output).text,
        strerror(errno), ss_advice_to_write(errno, request->output));
}

int sstrace_output_write(
    const struct sstrace_request *request, struct sstrace_spool *spool, struct ss_error *error) {
    if (sstrace_is_picture(request))
        return prepare_picture(spool, error);
    return request->output ? write_file(request, spool, error)
                           : sstrace_output_print(request, spool, stdout, error);
}
