/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

#define WORDS_MAX 64

struct vmstat {
    struct sstrace_samples *samples;
    struct text_input *input;
    struct sstrace_sample last; /* the last sample, if there are no times */
    size_t columns, idle, wait; /* number of columns, and positions of two of them, from 1; 0 if
                                   absent */
    bool any, has_times;
    struct sstrace_clock clock;
    struct text_field words[WORDS_MAX]; /* of the current line */
    size_t count;
};

static int read_words(struct vmstat *it) {
    struct text_walk walk;
    struct text_field field;
    int more;
    it->count = 0;
    text_walk_begin(&walk, it->input, ' ');
    while ((more = text_walk_next(&walk, &field)) > 0) {
        if (field.length > 0 && it->count < WORDS_MAX)
            it->words[it->count++] = field;
    }
    return more;
}

/* Reads the second line of a header, which names the columns; the last name may be a time zone. */
static int read_header(struct vmstat *it) {
    it->columns = it->count;
    it->idle = it->wait = 0;
    for (size_t i = 0; i < it->count; i++) {
        if (text_field_is(&it->words[i], "id"))
            it->idle = i + 1;
        if (text_field_is(&it->words[i], "wa"))
            it->wait = i + 1;
    }

    if (it->idle > 0)
        return 0;
    return text_input_blame(it->input, 1,
        "expected the columns of vmstat, as in: r b swpd free buff cache si so bi bo in cs us sy "
        "id wa st");
}

static int read_percent(struct vmstat *it, size_t column, const char *name, double *percent) {
    const struct text_field *field = &it->words[column - 1];
    if (text_field_number(field, false, percent) && *percent >= 0 && *percent <= 100 &&
        *percent == floor(*percent))
        return 0;
    return text_input_blame(
        it->input, field->column, "expected a whole percentage in column '%s'", name);
}

static int read_load(struct vmstat *it, double *load) {
    double idle, wait = 0;
    if (read_percent(it, it->idle, "id", &idle) != 0 ||
        (it->wait > 0 && read_percent(it, it->wait, "wa", &wait) != 0))
        return -1;
    *load = sstrace_scale_from_idle(idle + wait, 1.5); /* both may be rounded up */
    return 0;
}

/* Adds the sample of a line. A time at the end of the line is when the sample ended. */
static int add(struct vmstat *it, double load) {
    ss_time every = it->samples->options->every;
    size_t column = it->words[it->idle - 1].column;
    struct sstrace_sample sample = {.load = load};

    if (it->has_times) {
        const struct text_field *date = &it->words[it->count - 2], *time = date + 1;
        size_t length = (size_t)(time->text - date->text) + time->length;
        if (!sstrace_stamp_read(&it->clock, date->text, length, &sample.to))
            return text_input_blame(it->input, date->column, "expected " SSTRACE_STAMP_EXPECTED);
        return it->any ? sstrace_samples_add(it->samples, it->input, column, &sample) : 0;
    }

    if (every == 0)
        return text_input_blame(it->input, 1,
            "expected a time at the end of the line, as vmstat -t writes it: without times, "
            "use --every TIME");

    it->last.load = load;
    return it->any ? sstrace_lines_add(it->samples, it->input, column, &it->last, (int64_t)every)
                   : 0;
}

/*
 * Handles a row. Drops the first one: it is the mean since boot or, with -y, cannot be
 * distinguished from it.
 */
static int take_row(struct vmstat *it) {
    const struct text_field *last = &it->words[it->count - 1];
    double load;

    if (it->columns == 0)
        return text_input_blame(it->input, 1, "expected a header that names the columns of vmstat");

    bool times = memchr(last->text, ':', last->length) != NULL;
    size_t min = it->columns + times;
    if (it->count < min || it->count > min + times) /* the header may name the zone */
        return text_input_blame(it->input, last->column,
            "expected %zu fields, one for each name in the header, not %zu", min, it->count);

    if (!it->any) {
        it->has_times = times;
        if (times)
            it->samples->stamp = SSTRACE_STAMP_END;
        else
            it->last.to = sstrace_lines_begin(it->samples);
    }

    if (it->has_times != times)
        return text_input_blame(it->input, last->column,
            it->has_times ? "expected a time at the end of the line, as before"
                          : "unexpected time at the end of the line: earlier lines have none");

    if (read_load(it, &load) != 0 || add(it, load) != 0)
        return -1;
    it->any = true;
    return 0;
}

static int take_line(struct vmstat *it) {
    if (read_words(it) < 0)
        return -1;
    if (it->count == 0)
        return 0;
    const char *text = it->words[0].text;
    if (*text >= '0' && *text <= '9')
        return take_row(it);
    /* Skip the first line of a header. */
    return strncmp(text + strspn(text, "-"), "procs", 5) == 0 ? 0 : read_header(it);
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct vmstat it = {.samples = samples, .input = input};
    int result;

    while ((result = text_input_read_line(input)) > 0) {
        if (sstrace_lines_lacks_newline(input)) {
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
    if (!end || !procs || !memory || procs > memory || memory > end)
        return false;
    const char *user = strstr(end, " us "), *idle = strstr(end, " id ");
    return user && idle && user < idle;
}

const struct sstrace_format sstrace_format_vmstat = {
    .name = "vmstat",
    .summary = "vmstat -t N, or vmstat N with --every; ignores its first line, the mean since boot",
    .takes = SSTRACE_TAKES_EVERY,
    .detect = detect,
    .import = import,
};
