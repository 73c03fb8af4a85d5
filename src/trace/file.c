/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/file.h"

#include <errno.h>
#include <string.h>

#include "base/advice.h"
#include "base/owned.h"
#include "base/words.h"
#include "trace/compiled.h"
#include "trace/text.h"

int ss_trace_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error) {
    int first = getc(stream);
    ungetc(first, stream);
    if (first == SS_TRACE_MAGIC_FIRST)
        return ss_trace_compiled_read(stream, name, sink, error);
    return ss_trace_text_read(stream, name, sink, error);
}

/* Appends a hint about sstrace to the error. */
static void advise(struct ss_error *error) {
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used,
        "; sstrace converts measurements to traces");
}

/* Returns whether the first line looks like measurements that another program wrote. */
static bool looks_measured(FILE *stream) {
    char line[256];
    if (fseek(stream, 0, SEEK_SET) < 0 || !fgets(line, sizeof line, stream) || *line == '#')
        return false;
    return strpbrk(line, "{[,;") || strncmp(line, "Linux ", 6) == 0;
}

int ss_trace_load(const char *path, struct ss_trace_records *records, struct ss_error *error) {
    *records = (struct ss_trace_records){0};
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    if (!stream)
        return ss_error_fail(error, "cannot open %s: %s%s", ss_words_show(path).text,
            strerror(errno), ss_advice_to_read(errno));

    struct ss_trace_collector collector = ss_trace_collect(records);
    int result = ss_trace_read(stream, path, &collector.sink, error);
    if (result != 0 && records->count == 0 && looks_measured(stream))
        advise(error);
    if (result != 0)
        ss_trace_records_free(records);
    return result;
}
