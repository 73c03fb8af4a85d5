/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

struct vmstat {
    struct sstrace_samples *samples;
    struct text_input *input;
    struct sstrace_sample last; /* the last sample, if there are no times */
    size_t columns, idle, wait; /* number of columns, and positions of two of them, from 1; 0 if
                                   absent */
    bool any, times;
    struct sstrace_clock clock;
};

/* The current line: */
struct row {
    size_t count;
    struct text_field first, idle, wait, before_last, last;
};

static int read_row(struct vmstat *it, struct row *row) {
    struct text_walk walk;
    struct text_field field;
    int result;
    *row = (struct row){0};
    text_walk_begin(&walk, it->input, ' ');
    while ((result = text_walk_next(&walk, &field)) > 0) {
        if (field.length == 0)
            continue;
        row->count++;
        if (row->count == 1)
            row->first = field;
        if (row->count == it->idle)
            row->idle = field;
        if (row->count == it->wait)
            row->wait = field;
        row->before_last = row->last;
        row->last = field;
    }
    return result;
}

/* Reads the second line of a header, which names the columns; the last name may be a time zone. */
static int read_header(struct vmstat *it) {
    struct text_walk walk;
    struct text_field field;
    int result;
    it->columns = it->idle = it->wait = 0;
    text_walk_begin(&walk, it->input, ' ');
    while ((result = text_walk_next(&walk, &field)) > 0) {
        if (field.length == 0)
            continue;
        it->columns++;
        if (text_field_is(&field, "id"))
            it->idle = it->columns;
        if (text_field_is(&field, "wa"))
            it->wait = it->columns;
    }
    if (result == 0 && it->idle == 0)
        return text_input_blame(it->input, 1,
            "expected the columns of vmstat, as in: r b swpd free buff cache si so bi bo in cs "
            "us sy id wa st");
    return result;
}

static int read_percent(
    struct vmstat *it, const struct text_field *field, const char *name, double *percent) {
    if (text_field_number(field, false, percent) && *percent >= 0 && *percent <= 100 &&
        *percent == floor(*percent))
        return 0;
    return text_input_blame(
        it->input, field->column, "expected a whole percentage in column '%s'", name);
}

static int read_load(struct vmstat *it, const struct row *row, double *load) {
    double idle, wait = 0;
    if (read_percent(it, &row->idle, "id", &idle) != 0 ||
        (it->wait > 0 && read_percent(it, &row->wait, "wa", &wait) != 0))
        return -1;
    *load = (100 - idle - wait) / 100;
    /* idle and iowait may both be rounded up. */
    if (*load < 0 && *load > -0.015)
        *load = 0;
    return 0;
}

/* Adds a sample that ended at the time of the line. */
static int add_at(struct vmstat *it, const struct row *row, double load) {
    struct sstrace_sample sample = {.load = load};
    const char *text = row->before_last.text;
    size_t length = (size_t)(row->last.text - text) + row->last.length;
    if (!sstrace_stamp_read(&it->clock, text, length, &sample.to))
        return text_input_blame(
            it->input, row->before_last.column, "expected " SSTRACE_STAMP_EXPECTED);
    return it->any ? sstrace_samples_add(it->samples, it->input, row->idle.column, &sample) : 0;
}

static int add(struct vmstat *it, const struct row *row, double load) {
    const struct sstrace_import_options *options = it->samples->options;
    if (it->times)
        return add_at(it, row, load);
    if (options->every == 0)
        return text_input_blame(it->input, 1,
            "expected a time at the end of the line, as vmstat -t writes it: without times, "
            "give --every TIME");
    if (!it->any)
        return 0;
    it->last.load = load;
    return sstrace_lines_add(
        it->samples, it->input, row->idle.column, &it->last, (int64_t)options->every);
}

/*
 * Handles a row. Drops the first one: it is the mean since boot or, with -y, cannot be
 * distinguished from it.
 */
static int take_row(struct vmstat *it) {
    struct row row;
    double load;
    if (it->columns == 0)
        return text_input_blame(it->input, 1, "expected a header that names the columns of vmstat");
    if (read_row(it, &row) < 0)
        return -1;
    bool times = memchr(row.last.text, ':', row.last.length) != NULL;
    size_t max = it->columns + (times ? 2 : 0), min = it->columns + (times ? 1 : 0);
    if (row.count < min || row.count > max)
        return text_input_blame(it->input, row.last.column,
            "expected %zu fields, one for each name in the header, not %zu", min, row.count);
    if (!it->any) {
        it->times = times;
        if (times)
            it->samples->stamp = SSTRACE_STAMP_END;
        else
            it->last.to = sstrace_lines_begin(it->samples);
    }
    if (it->times != times)
        return text_input_blame(it->input, row.last.column,
            it->times ? "expected a time at the end of the line, as before"
                      : "unexpected time at the end of the line: earlier lines have none");
    if (read_load(it, &row, &load) != 0 || add(it, &row, load) != 0)
        return -1;
    it->any = true;
    return 0;
}

static int take_line(struct vmstat *it) {
    const char *text = it->input->text + strspn(it->input->text, " \t");
    if (*text == '\0')
        return 0;
    if (*text >= '0' && *text <= '9')
        return take_row(it);
    /* Skip the first line of a header. */
    if (strncmp(text + strspn(text, "-"), "procs", 5) == 0)
        return 0;
    return read_header(it);
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct vmstat it = {.samples = samples, .input = input};
    int result;
    while ((result = text_input_read_line(input)) > 0) {
        if (sstrace_lines_open(input)) {
            fprintf(stderr, "sstrace: %s:%llu: ignoring the last line, which is incomplete\n",
                ss_words_show(input->name).text, (unsigned long long)input->line);
            return 0;
        }
        if (take_line(&it) != 0)
            return -1;
    }
    return result;
}

static bool detect(const char *head) {
    const char *end = strchr(head, '\n');
    const char *procs = strstr(head, "procs"), *memory = strstr(head, "memory");
    const char *user = end ? strstr(end, " us ") : NULL, *idle = end ? strstr(end, " id ") : NULL;
    return procs && memory && end && procs < memory && memory < end && user && idle && user < idle;
}

const struct sstrace_format sstrace_format_vmstat = {
    .name = "vmstat",
    .summary = "vmstat N, also -t, else with --every; its first line (the mean since boot) is left "
               "out",
    .takes = SSTRACE_TAKES_EVERY,
    .detect = detect,
    .import = import,
};
