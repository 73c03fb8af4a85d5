/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/units.h"
#include "base/words.h"

/* Maximum length of a line without its comment, far more than a record needs. */
#define LINE_LENGTH_MAX 4096

struct reader {
    FILE *stream;
    const char *name;
    struct ss_trace_sink *sink;
    struct ss_error *error;
    struct ss_trace_record last; /* valid after the first record */
    bool has_record;
    uint64_t number; /* number of the line, from 1 */
    size_t length;   /* length of `line` in bytes, without the comment and the line end */
    bool too_long;   /* the line does not fit into `line` */
    char line[LINE_LENGTH_MAX + 1];
    char field[LINE_LENGTH_MAX + 1];
};

/* Adds the position before the message and the line after it. Columns count bytes. */
static int add_position(struct reader *reader, const char *column) {
    if (!reader->error)
        return -1;
    ss_error_wrap(reader->error, "%s:%llu:%zu", ss_words_show(reader->name).text,
        (unsigned long long)reader->number, (size_t)(column - reader->line) + 1);
    size_t used = strlen(reader->error->message);
    snprintf(reader->error->message + used, sizeof reader->error->message - used, ", in \"%s\"",
        ss_words_show(reader->line).text);
    return -1;
}

/*
 * Reads up to the end of the line, without its comment, or until it is too long. Returns false at
 * the end of the file. Comments may have any length.
 */
static bool read_line(struct reader *reader) {
    int c = getc_unlocked(reader->stream);
    if (c == EOF)
        return false;

    bool comment = false;
    reader->number++;
    reader->length = 0;
    reader->too_long = false;
    for (; c != EOF && c != '\n' && !reader->too_long; c = getc_unlocked(reader->stream)) {
        comment = comment || c == '#';
        if (comment)
            continue;
        if (reader->length == LINE_LENGTH_MAX)
            reader->too_long = true;
        else
            reader->line[reader->length++] = (char)c;
    }

    if (!comment && reader->length > 0 && reader->line[reader->length - 1] == '\r')
        reader->length--;
    reader->line[reader->length] = '\0';
    return true;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Copies the next field to `field` and returns its column. */
static char *next_field(struct reader *reader, char **at) {
    char *begin = *at;
    while (is_blank(*begin))
        begin++;
    char *end = begin;
    while (*end && !is_blank(*end))
        end++;
    memcpy(reader->field, begin, (size_t)(end - begin));
    reader->field[end - begin] = '\0';
    *at = end;
    return begin;
}

static int read_time(struct reader *reader, const char *column, ss_time *time) {
    const char *text = reader->field;
    ss_time before = reader->last.time;
    bool relative = *text == '+';

    if (ss_units_time(text + relative, time, reader->error) != 0)
        return add_position(reader, column);
    if (relative)
        *time = ss_time_add(before, *time);

    if (*time == SS_TIME_NEVER) {
        ss_error_fail(reader->error,
            "the time '%s' is too late: a trace lasts at most 213503d (584 years)",
            ss_words_show(text).text);
        return add_position(reader, column);
    }
    if (*time < before) {
        char shown[32];
        ss_units_print_time(shown, sizeof shown, before);
        ss_error_fail(reader->error,
            "'%s' is before the previous record: use a time of %s or more, or +TIME relative to "
            "it",
            ss_words_show(text).text, shown);
        return add_position(reader, column);
    }
    return 0;
}

static int read_load(struct reader *reader, const char *column, struct ss_trace_record *record) {
    if (!*reader->field) {
        ss_error_fail(reader->error, "missing load: use TIME LOAD, such as 20s 60%%, or TIME free");
        return add_position(reader, column);
    }

    record->free = strcmp(reader->field, "free") == 0;
    record->load = reader->last.load;
    if (!record->free && ss_units_load(reader->field, 0, &record->load, reader->error) != 0) {
        if (reader->error && !strpbrk(reader->field, "0123456789"))
            snprintf(reader->error->message, sizeof reader->error->message,
                "'%s' is not a load: use a number from 0 to 1 (60%%, 0.6 or 6/10) or the word "
                "free",
                ss_words_show(reader->field).text);
        return add_position(reader, column);
    }

    if (record->load < SS_TRACE_LOAD_MIN)
        record->load = 0;
    return 0;
}

static int read_record(struct reader *reader) {
    struct ss_trace_record record;
    char *at = reader->line;
    const char *column = next_field(reader, &at);
    if (!*reader->field)
        return 0;
    if (read_time(reader, column, &record.time) != 0)
        return -1;

    column = next_field(reader, &at);
    if (read_load(reader, column, &record) != 0)
        return -1;

    column = next_field(reader, &at);
    if (*reader->field) {
        ss_error_fail(reader->error,
            "unexpected '%s': use one record per line, TIME LOAD, and # before a comment",
            ss_words_show(reader->field).text);
        return add_position(reader, column);
    }

    reader->last = record;
    reader->has_record = true;
    return reader->sink->take(reader->sink, &record, reader->error);
}

/* Checks the line as a whole, before its fields are read. */
static int check_line(struct reader *reader) {
    size_t text = strlen(reader->line);
    if (text < reader->length) {
        ss_error_fail(
            reader->error, "the line contains a null byte: use text, TIME LOAD, such as 20s 60%%");
        return add_position(reader, reader->line + text);
    }

    if (reader->too_long) {
        ss_error_fail(reader->error,
            "the line has more than %d characters: use one record per line, TIME LOAD",
            LINE_LENGTH_MAX);
        return add_position(reader, reader->line + LINE_LENGTH_MAX);
    }
    return 0;
}

/* Skips the byte order mark of UTF-8 that editors put before the first line. */
static int skip_mark(struct reader *reader) {
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = sizeof mark - 1;
    if (reader->length >= length && memcmp(reader->line, mark, length) == 0) {
        memmove(reader->line, reader->line + length, reader->length - length + 1);
        reader->length -= length;
    } else if (reader->length >= 2 && (memcmp(reader->line, "\xff\xfe", 2) == 0 ||
                                          memcmp(reader->line, "\xfe\xff", 2) == 0)) {
        ss_error_fail(reader->error,
            "this is UTF-16, but a trace is plain text or UTF-8: convert it with iconv -f "
            "UTF-16 -t UTF-8");
        return add_position(reader, reader->line);
    }

    return 0;
}

static int read_all(struct reader *reader) {
    while (read_line(reader)) {
        if (reader->number == 1 && skip_mark(reader) != 0)
            return -1;
        if (check_line(reader) != 0 || read_record(reader) != 0)
            return -1;
    }

    struct ss_words_shown name = ss_words_show(reader->name);
    if (ferror(reader->stream))
        return ss_error_fail(reader->error, "cannot read %s: %s", name.text, strerror(errno));
    if (!reader->has_record)
        return ss_error_fail(reader->error,
            "%s:%llu:1: the trace has no record: use lines of TIME LOAD, such as 20s 60%%",
            name.text, (unsigned long long)reader->number + 1);
    return 0;
}

int ss_trace_text_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error) {
    struct reader *reader = malloc(sizeof *reader);
    if (!reader)
        return ss_error_memory(error);

    reader->stream = stream;
    reader->name = name;
    reader->sink = sink;
    reader->error = error;
    reader->last = (struct ss_trace_record){0};
    reader->has_record = false;
    reader->number = 0;

    int result = read_all(reader);
    free(reader);
    return result;
}

void ss_trace_text_write(FILE *stream, const struct ss_trace_record *record) {
    char time[32], load[SS_NUMBER_PLAIN_SIZE] = "free";
    ss_units_print_time(time, sizeof time, record->time);
    if (!record->free)
        ss_number_put_plain(load, record->load);
    fputs(time, stream);
    fputc(' ', stream);
    fputs(load, stream);
    fputc('\n', stream);
}
