/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_picture.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "analysis.h"
#include "base/owned.h"

static void write_table(const struct sstrace_columns *columns, FILE *stream) {
    fprintf(stream, "%" PRIu64 "\n", (uint64_t)columns->length);
    fputs("free,least,mean,most\n", stream);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sstrace_column *column = &columns->items[i];
        fprintf(stream, "%d,", column->free > 0);
        if (column->controlled > 0)
            fprintf(stream, "%.6g,%.6g,%.6g\n", column->min, sstrace_column_mean(column),
                column->largest);
        else
            fputs(",,\n", stream);
    }
}

int sstrace_picture_prepare(const struct sstrace_columns *columns, struct ss_error *error) {
    SS_OWNED(fclose) FILE *stream = tmpfile();
    if (!stream)
        return ss_error_fail(
            error, "cannot create a temporary file for the picture: %s", strerror(errno));
    write_table(columns, stream);
    errno = 0;
    if (fflush(stream) != 0 || ferror(stream) || fseek(stream, 0, SEEK_SET) != 0 ||
        dup2(fileno(stream), STDIN_FILENO) < 0)
        return ss_error_fail(
            error, "cannot write a temporary file for the picture: %s", strerror(errno));
    return 0;
}

int sstrace_picture_execute(const char *path, const char *title, struct ss_error *error) {
    const char *words[] = {
        NULL, "sstrace", "plot", "--output", path, title ? "--title" : NULL, title, NULL};
    return analysis_execute((char **)words, error);
}
