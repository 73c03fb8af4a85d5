/* SPDX-License-Identifier: Apache-2.0 */

/* Tables with a known layout: published traces of clusters, and the output of ssload. */

#include <math.h>

#include "heading.h"
#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

#define SECOND INT64_C(1000000000)

/* Numbers from here on are milliseconds: in seconds this is the year 5138, in milliseconds 1973. */
#define MILLISECONDS_FROM 1e11

#define GOOGLE_WINDOW (300 * SECOND)

struct layout {
    /* Columns are found by name if the table has a header, otherwise by number, from 1. */
    const char *header, *time_name, *load_name;
    const char *date_name;   /* column with the date of `time_name`, which counts from the start */
    const char *series_name; /* a column that not every table has */
    const char *whole;       /* the series that is the sum of the others; used unless another is
                                selected */
    size_t time, end, series, load;
    char separator;
    enum sstrace_stamp stamp;
    enum sstrace_unit unit;
    int64_t time_unit; /* unit in ns; 0: guessed from the magnitude */
    bool bad_marks;    /* -1 and 101 mark a missing number */
    bool adds_up;      /* rows of the same time add up to one load */
};

struct rows {
    struct text_input *input;
    struct sstrace_samples *samples;
    const struct layout *layout;
    struct text_table table;
    struct text_field time, date, end, series, load;
    struct sstrace_scale scale;
    struct sstrace_clock clock;
    struct sstrace_origin origin;
    bool has_series;
    bool has_whole;
    bool any; /* a row was read */
};

static const struct layout google_2011 = {
    .time = 1,
    .end = 2,
    .series = 5,
    .load = 6,
    .separator = ',',
    .stamp = SSTRACE_STAMP_SPAN,
    .unit = SSTRACE_UNIT_FRACTION,
    .time_unit = 1000,
    .adds_up = true,
};

/*
 * A time is the start of its sample: the first is 0, the last is one step before the end of the
 * month.
 */
static const struct layout azure = {
    .time = 1,
    .series = 2,
    .load = 5,
    .separator = ',',
    .stamp = SSTRACE_STAMP_BEGIN,
    .unit = SSTRACE_UNIT_PERCENT,
    .time_unit = SECOND,
};

/*
 * The documentation of the other tables of this trace says that times are the starts of
 * measurements. The same is assumed for this table.
 */
static const struct layout alibaba_2017 = {
    .time = 1,
    .series = 2,
    .load = 3,
    .separator = ',',
    .stamp = SSTRACE_STAMP_BEGIN,
    .unit = SSTRACE_UNIT_PERCENT,
    .time_unit = SECOND,
};

static const struct layout alibaba_2018 = {
    .time = 2,
    .series = 1,
    .load = 3,
    .separator = ',',
    .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_PERCENT,
    .time_unit = SECOND,
    .bad_marks = true,
};

/* The columns that sstrace(1) extracts from the published JSON. */
static const struct layout google_2019 = {
    .time = 1,
    .end = 2,
    .series = 3,
    .load = 4,
    .separator = ',',
    .stamp = SSTRACE_STAMP_SPAN,
    .unit = SSTRACE_UNIT_FRACTION,
    .time_unit = 1000,
    .adds_up = true,
};

/* The node tables of the microservice traces. */
static const struct layout alibaba_2021 = {
    .time = 1,
    .series = 2,
    .load = 3,
    .separator = ',',
    .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_FRACTION,
    .time_unit = SECOND / 1000,
};

static const struct layout bitbrains = {
    .header = "Timestamp [ms];",
    .time_name = "Timestamp [ms]",
    .load_name = "CPU usage [%]",
    .separator = ';',
    .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_PERCENT,
};

static const struct layout ssload = {
    .header = "time,elapsed_seconds,target,load,error,load_ticks",
    .time_name = "elapsed_seconds",
    .date_name = "time",
    .load_name = "load",
    .series_name = "cpu",
    .whole = "all",
    .separator = ',',
    .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_FRACTION,
    .time_unit = SECOND,
};

static bool begins_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool detect_bitbrains(const char *head) {
    return begins_with(head, bitbrains.header);
}

static bool detect_ssload(const char *head) {
    return begins_with(head, ssload.header);
}

/* Reads the header and picks the columns. Returns 1, 0 if the input is empty, or -1 on error. */
static int read_header(struct rows *rows, size_t *time, size_t *load, size_t *series) {
    const struct layout *layout = rows->layout;
    struct sstrace_heading heading;
    int more = text_table_read_row(rows->input);
    if (more <= 0)
        return more;
    if (!begins_with(rows->input->text, layout->header))
        return text_input_blame(
            rows->input, 1, "the first line must begin with '%s'", layout->header);
    if (sstrace_heading_open(
            &heading, rows->input, layout->separator, NULL, rows->samples->options) != 0)
        return -1;
    rows->table.columns = heading.count;
    int result = sstrace_heading_find(&heading, rows->input, layout->time_name, time) != 0 ||
                         sstrace_heading_find(&heading, rows->input, layout->load_name, load) != 0
                     ? -1
                     : 1;
    if (layout->series_name)
        *series = sstrace_heading_number(&heading, layout->series_name);
    if (layout->date_name)
        text_table_pick(
            &rows->table, sstrace_heading_number(&heading, layout->date_name), &rows->date);
    sstrace_heading_close(&heading);
    return result;
}

static int begin(struct rows *rows) {
    const struct layout *layout = rows->layout;
    size_t time = layout->time, load = layout->load, series = layout->series;
    rows->table.input = rows->input;
    rows->table.separator = layout->separator;
    int more = layout->header ? read_header(rows, &time, &load, &series) : 1;
    if (more <= 0)
        return more;
    if (rows->samples->options->select && !series)
        return ss_error_fail(rows->input->error,
            "--select has no meaning with %s, which has only one series: remove --select",
            ss_words_show(rows->input->name).text);
    text_table_pick(&rows->table, time, &rows->time);
    text_table_pick(&rows->table, load, &rows->load);
    if (layout->end)
        text_table_pick(&rows->table, layout->end, &rows->end);
    if (series)
        text_table_pick(&rows->table, series, &rows->series);
    rows->has_series = series > 0;
    rows->clock.unit = layout->time_unit;
    rows->scale.comma = layout->separator != ',';
    rows->samples->stamp = layout->stamp;
    rows->samples->adds_up = layout->adds_up;
    return sstrace_scale_set(
               &rows->scale, rows->samples->options, layout->unit, rows->input->error) == 0
               ? 1
               : -1;
}

static int take_time(struct rows *rows, const struct text_field *field, int64_t *time) {
    double number;
    if (!rows->clock.unit) {
        bool known = text_field_number(field, false, &number);
        rows->clock.unit = known && number >= MILLISECONDS_FROM ? SECOND / 1000 : SECOND;
    }
    if (!sstrace_stamp_number(field->text, field->length, rows->clock.unit, time))
        return text_input_blame(rows->input, field->column, "expected a time as a number");
    return 0;
}

/* Turns a time since the start of the file into one that continues from file to file. */
static int place(struct rows *rows, int64_t *time) {
    int64_t date;
    bool is_dated = sstrace_stamp_date(rows->date.text, rows->date.length, &date);
    return sstrace_samples_place(
        rows->samples, rows->input, &rows->origin, is_dated ? &date : NULL, time);
}

/*
 * Fits a row into its window. A task that began or ended within a window has a row for a part of
 * the window. Its load is scaled by that part, so that the rows of a window can be added up.
 */
static int fit_into_window(struct rows *rows, struct sstrace_sample *sample) {
    int64_t from = sample->from;
    if (from < 0 || from > INT64_MAX - GOOGLE_WINDOW || sample->to < from ||
        sample->to - from > GOOGLE_WINDOW)
        return text_input_blame(
            rows->input, rows->end.column, "expected an end time at most 300 s after the start");
    int64_t length = sample->to - from;
    sample->from = from - from % GOOGLE_WINDOW;
    sample->to = sample->from + GOOGLE_WINDOW;
    sample->load *= (double)length / (double)GOOGLE_WINDOW;
    return 0;
}

/* Returns whether a line is a header. The published table has none, but one may have been added. */
static bool is_header(const struct rows *rows) {
    double number;
    return !rows->any && !text_field_number(&rows->load, false, &number) &&
           !text_field_number(&rows->time, false, &number);
}

static bool wants(struct rows *rows, const char *series) {
    const char *whole = rows->layout->whole;
    bool is_whole = whole && strcmp(series, whole) == 0;
    if (!rows->any)
        rows->has_whole = is_whole;
    if (rows->has_whole && !is_whole && !rows->samples->options->select)
        return false;
    return sstrace_samples_wants(rows->samples, series);
}

static int take_row(struct rows *rows) {
    struct sstrace_sample sample = {0};
    double number;
    if (is_header(rows))
        return 0;
    if (rows->has_series) {
        char name[TEXT_NAME];
        if (text_field_name(&rows->series, rows->input, name) != 0)
            return -1;
        /* Tasks without a machine belong to no series. */
        if (!*name || !wants(rows, name))
            return 0;
    }
    if (take_time(rows, &rows->time, rows->layout->end ? &sample.from : &sample.to) != 0 ||
        (rows->layout->end && take_time(rows, &rows->end, &sample.to) != 0) ||
        sstrace_scale_load(&rows->scale, rows->input, &rows->load, &number, &sample.load) != 0)
        return -1;
    if (rows->layout->date_name && place(rows, &sample.to) != 0)
        return -1;
    if (rows->layout->bad_marks && (number == -1 || number == 101))
        sample.load = NAN;
    if (rows->layout->adds_up && fit_into_window(rows, &sample) != 0)
        return -1;
    return sstrace_samples_add(rows->samples, rows->input, rows->load.column, &sample);
}

static int import_rows(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    struct rows rows = {.input = input, .samples = samples, .layout = format->layout};
    int more = begin(&rows);
    while (more > 0 && (more = sstrace_lines_next_row(&rows.table)) > 0) {
        if (take_row(&rows) != 0)
            return -1;
        rows.any = true;
    }
    return more;
}

const struct sstrace_format sstrace_format_google_2011 = {
    .name = "google-2011",
    .summary = "Google cluster data 2011, task_usage: the tasks of one machine added up",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &google_2011,
};

const struct sstrace_format sstrace_format_google_2019 = {
    .name = "google-2019",
    .summary = "Google cluster data 2019, four columns of instance_usage: see sstrace(1)",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &google_2019,
};

const struct sstrace_format sstrace_format_azure = {
    .name = "azure",
    .summary = "Azure VM traces V1 and V2, vm_cpu_readings: the average of one VM",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &azure,
};

const struct sstrace_format sstrace_format_alibaba_2017 = {
    .name = "alibaba-2017",
    .summary = "Alibaba cluster trace 2017, server_usage: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &alibaba_2017,
};

const struct sstrace_format sstrace_format_alibaba_2018 = {
    .name = "alibaba-2018",
    .summary = "Alibaba cluster trace 2018, machine_usage: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &alibaba_2018,
};

const struct sstrace_format sstrace_format_alibaba_2021 = {
    .name = "alibaba-2021",
    .summary = "Alibaba microservices trace 2021, Node: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &alibaba_2021,
};

const struct sstrace_format sstrace_format_alibaba_2022 = {
    .name = "alibaba-2022",
    .summary = "Alibaba microservices trace 2022, Node: one machine, loads normalized",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &alibaba_2021, /* the tables have the same columns */
};

const struct sstrace_format sstrace_format_bitbrains = {
    .name = "bitbrains",
    .summary = "GWA-T-12 Bitbrains: one VM per file",
    .takes = SSTRACE_TAKES_EVERY,
    .detect = detect_bitbrains,
    .import = import_rows,
    .layout = &bitbrains,
};

const struct sstrace_format sstrace_format_ssload = {
    .name = "ssload",
    .summary = "output of ssload, or samples.csv of a record",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .detect = detect_ssload,
    .import = import_rows,
    .layout = &ssload,
};
