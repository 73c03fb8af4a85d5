/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Imports `sadf -d` of sysstat. Activities follow each other, each with its own header; with -h all
 * CPUs of one time are on one line. Time that is neither idle nor iowait counts as busy.
 */

#include <math.h>

#include "import_lines.h"
#include "scale.h"
#include "stamp.h"
#include "sysstat.h"

#define SECOND INT64_C(1000000000)
#define HEADER "# hostname;interval;timestamp;"

/* The end of a header with -h: the columns repeat for each further CPU. */
static const char repeated[] = "[...]";

enum section { SECTION_NONE, SECTION_CPU, SECTION_OTHER };

struct sadf {
    struct text_input *input;
    struct sstrace_samples *samples;
    struct sstrace_clock clock;
    enum section section;
    bool any_cpu; /* the file has a section of CPUs */

    /* The current section: */
    size_t figures;      /* number of figures for each CPU */
    size_t idle, iowait; /* their indexes among the figures, from 0 */
    bool one_line;

    /* The current row: */
    struct sstrace_sysstat cpus;
    int64_t from, to; /* ns */

    char selected_host[TEXT_NAME_SIZE]; /* host of the selected samples; only its restarts count */
};

static bool detect_sadf(const char *head) {
    const char *at = strstr(head, HEADER);
    return at && (at == head || (at[-1] == '\n' && strstr(head, "LINUX-RESTART")));
}

/*
 * Reads the column names that follow those common to all sections. The first of them is "CPU" in a
 * section of CPUs.
 */
static int read_names(struct sadf *sadf, struct text_walk *walk) {
    struct text_field name;
    bool idle = false, iowait = false, is_cpu = false;
    int more;

    sadf->one_line = sadf->cpus.any = false;
    for (size_t i = 0; (more = text_walk_next(walk, &name)) > 0; i++) {
        size_t tail = sizeof repeated - 1;
        if (sadf->one_line)
            return text_input_blame(sadf->input, name.column,
                "with sadf -h, expected only CPUs on the line: use sadf -d FILE -- -u");

        if (name.length > tail && memcmp(name.text + name.length - tail, repeated, tail) == 0) {
            sadf->one_line = is_cpu;
            name.length -= tail;
        }

        is_cpu |= i == 0 && text_field_is(&name, "CPU");
        if (text_field_is(&name, "%idle")) {
            sadf->idle = i - 1;
            idle = true;
        }
        if (text_field_is(&name, "%iowait")) {
            sadf->iowait = i - 1;
            iowait = true;
        }
        sadf->figures = i;
    }

    bool is_load = is_cpu && idle && iowait;
    sadf->section = is_load ? SECTION_CPU : SECTION_OTHER;
    sadf->any_cpu |= is_load;
    return more;
}

static int read_header(struct sadf *sadf) {
    struct text_walk walk;
    struct text_field field;
    if (strncmp(sadf->input->text, HEADER, strlen(HEADER)) != 0)
        return 0;
    text_walk_begin(&walk, sadf->input, ';');
    for (int i = 0; i < 3; i++) {
        if (text_walk_next(&walk, &field) < 0)
            return -1;
    }
    return read_names(sadf, &walk);
}

/* Reads the figures of one CPU. If it was offline, all are 0, and the load is NaN. */
static int read_load(struct sadf *sadf, struct text_walk *walk, double *load, size_t *column) {
    double sum = 0, idle = 0;

    for (size_t i = 0; i < sadf->figures; i++) {
        struct text_field field;
        double value;
        int more = text_walk_next(walk, &field);

        if (more < 0)
            return -1;
        if (more == 0)
            return text_input_blame(sadf->input, sadf->input->length + 1,
                "expected %zu figures for the CPU, not %zu (is the file truncated?)", sadf->figures,
                i);
        if (!text_field_number(&field, true, &value))
            return text_input_blame(sadf->input, field.column, "expected a percentage");

        sum += value;
        if (i == sadf->idle || i == sadf->iowait) {
            idle += value;
            *column = field.column;
        }
    }

    *load = sum == 0 ? NAN : sstrace_scale_from_idle(idle, SSTRACE_ROUNDING_PERCENT);
    return 0;
}

static int take_cpu(struct sadf *sadf, struct text_walk *walk, const struct text_field *cpu) {
    struct sstrace_sample sample = {.from = sadf->from, .to = sadf->to};
    size_t column = cpu->column;
    char name[TEXT_NAME_SIZE];
    double number;

    if (text_field_is(cpu, "-1"))
        strcpy(name, "all");
    else if (text_field_name(cpu, sadf->input, name) != 0)
        return -1;
    else if (cpu->length == 0 ||
             (!text_field_is(cpu, "all") && !text_field_number(cpu, false, &number)))
        return text_input_blame(
            sadf->input, cpu->column, "expected the number of a CPU, or -1 for all");

    int selected = sstrace_sysstat_select(&sadf->cpus, name, cpu->column);
    if (selected < 0 || read_load(sadf, walk, &sample.load, &column) != 0)
        return -1;
    if (!selected)
        return 0;

    strcpy(sadf->selected_host, sadf->cpus.host);
    return sstrace_samples_add(sadf->samples, sadf->input, column, &sample);
}

/* Reads the CPUs, which follow host, interval and time. */
static int take_cpus(struct sadf *sadf, struct text_walk *walk, struct text_field *cpu) {
    int more;
    do {
        if (take_cpu(sadf, walk, cpu) != 0)
            return -1;
        more = text_walk_next(walk, cpu);
    } while (more > 0 && sadf->one_line);
    if (more > 0)
        return text_input_blame(sadf->input, cpu->column,
            "unexpected text: the header names %zu fields", sadf->figures + 4);
    return more;
}

static int read_span(
    struct sadf *sadf, const struct text_field *interval, const struct text_field *time) {
    int64_t length;
    if (!sstrace_stamp_number(interval->text, interval->length, SECOND, &length) || length < 0)
        return text_input_blame(sadf->input, interval->column, "expected an interval in seconds");
    if (!sstrace_stamp_read(&sadf->clock, time->text, time->length, &sadf->to) ||
        __builtin_sub_overflow(sadf->to, length, &sadf->from))
        return text_input_blame(sadf->input, time->column,
            "expected a time: YYYY-MM-DD HH:MM:SS or seconds since 1970");
    return 0;
}

static bool begins_with(const struct text_field *field, const char *word) {
    size_t length = strlen(word);
    return field->length >= length && memcmp(field->text, word, length) == 0;
}

static int take_row(struct sadf *sadf) {
    struct text_walk walk;
    struct text_field fields[4];

    text_walk_begin(&walk, sadf->input, ';');
    for (int i = 0; i < 4; i++) {
        int more = text_walk_next(&walk, &fields[i]);
        if (more < 0)
            return -1;
        if (more == 0)
            return text_input_blame(sadf->input, sadf->input->length + 1,
                "expected host;interval;time;CPU and figures, separated by ;");
    }

    if (text_field_name(&fields[0], sadf->input, sadf->cpus.host) != 0)
        return -1;
    if (begins_with(&fields[3], "LINUX-RESTART")) {
        if (!*sadf->selected_host || strcmp(sadf->selected_host, sadf->cpus.host) == 0)
            sstrace_samples_break(sadf->samples);
        return 0;
    }

    if (begins_with(&fields[3], "COM ") || sadf->section == SECTION_OTHER)
        return 0;
    if (sadf->section == SECTION_NONE)
        return text_input_blame(
            sadf->input, 1, "expected the header '" HEADER "CPU;...' before the first row");

    return read_span(sadf, &fields[1], &fields[2]) != 0 ? -1 : take_cpus(sadf, &walk, &fields[3]);
}

static int import_sadf(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct sadf sadf = {
        .input = input, .samples = samples, .cpus = {.samples = samples, .input = input}};
    samples->stamp = SSTRACE_STAMP_SPAN;

    int more;
    while ((more = text_input_read_line(input)) > 0) {
        int result = 0;
        sstrace_lines_warn(input);
        if (*input->text == '#')
            result = read_header(&sadf);
        else if (text_table_is_row(input))
            result = take_row(&sadf);
        if (result != 0)
            return -1;
    }

    if (more == 0 && sadf.section == SECTION_OTHER && !sadf.any_cpu)
        return text_input_blame(
            input, 1, "the file has no CPU statistics: create it with sadf -d FILE -- -u");
    return more;
}

const struct sstrace_format sstrace_format_sadf = {
    .name = "sadf",
    .summary = "sadf -d of sysstat: time that is neither idle nor iowait",
    .takes = SSTRACE_TAKES_SELECT,
    .detect = detect_sadf,
    .import = import_sadf,
};
