/* SPDX-License-Identifier: Apache-2.0 */

/* Tables with a known layout: published traces of clusters, and the output of ssload. */

#include "import_rows.h"

#include <math.h>

#include "heading.h"
#include "import_lines.h"

#define SECOND INT64_C(1000000000)

/* Numbers from here on are milliseconds: in seconds this is the year 5138, in milliseconds 1973. */
#define MILLISECONDS_FROM 1e11

#define GOOGLE_WINDOW (300 * SECOND)

static int pick_named(struct sstrace_rows *rows, const struct sstrace_heading *heading,
    const char *name, struct text_field *field) {
    size_t number;
    if (sstrace_heading_find(heading, rows->input, name, &number) != 0)
        return -1;
    text_table_pick(&rows->table, number, field);
    return 0;
}

static int pick_all_named(struct sstrace_rows *rows, const struct sstrace_heading *heading) {
    const struct sstrace_layout *layout = rows->layout;
    size_t series = layout->series_name ? sstrace_heading_number(heading, layout->series_name) : 0;
    rows->table.columns = heading->count;
    rows->has_series = series > 0;
    if (series > 0)
        text_table_pick(&rows->table, series, &rows->series);
    if (layout->date_name && pick_named(rows, heading, layout->date_name, &rows->date) != 0)
        return -1;
    return pick_named(rows, heading, layout->time_name, &rows->time) != 0
               ? -1
               : pick_named(rows, heading, layout->load_name, &rows->load);
}

/* Reads the header and picks the columns. Returns 1, 0 if the input is empty, or -1 on error. */
static int read_header(struct sstrace_rows *rows, const char *header) {
    struct sstrace_heading heading;
    int more = text_table_read_row(rows->input);
    if (more <= 0)
        return more;

    if (strncmp(rows->input->text, header, strlen(header)) != 0)
        return text_input_blame(rows->input, 1, "the first line must begin with '%s'", header);

    if (sstrace_heading_open(
            &heading, rows->input, rows->table.separator, NULL, rows->samples->options) != 0)
        return -1;

    int result = pick_all_named(rows, &heading);
    sstrace_heading_close(&heading);
    return result == 0 ? 1 : -1;
}

static void pick_numbered(struct sstrace_rows *rows) {
    const struct sstrace_layout *layout = rows->layout;
    text_table_pick(&rows->table, layout->time, &rows->time);
    text_table_pick(&rows->table, layout->load, &rows->load);
    if (layout->end)
        text_table_pick(&rows->table, layout->end, &rows->end);
    text_table_pick(&rows->table, layout->series, &rows->series);
    rows->has_series = true;
}

int sstrace_rows_open(struct sstrace_rows *rows, const struct sstrace_layout *layout,
    struct text_input *input, struct sstrace_samples *samples) {
    *rows = (struct sstrace_rows){.input = input, .samples = samples, .layout = layout};
    rows->table.input = input;
    rows->table.separator = layout->separator ? layout->separator : ',';
    rows->clock.unit = layout->time_unit;
    rows->scale.comma = layout->separator != 0;
    samples->stamp = layout->stamp;
    samples->adds_up = layout->adds_up;
    return sstrace_scale_set(&rows->scale, samples->options, layout->unit, input->error);
}

static int take_time(struct sstrace_rows *rows, const struct text_field *field, int64_t *time) {
    double number;
    if (!rows->clock.unit) {
        bool known = text_field_number(field, false, &number);
        rows->clock.unit = known && number >= MILLISECONDS_FROM ? SECOND / 1000 : SECOND;
    }
    if (!sstrace_stamp_number(field->text, field->length, rows->clock.unit, time))
        return text_input_blame(rows->input, field->column, "expected a time as a number");
    return 0;
}

/*
 * Fits a row into its window. A task that began or ended within a window has a row for a part of
 * the window. Its load is scaled by that part, so that the rows of a window can be added up.
 */
static int fit_into_window(struct sstrace_rows *rows, struct sstrace_sample *sample) {
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

/* Returns whether the series is selected; by default, the one that is the sum of the others. */
static bool is_selected(struct sstrace_rows *rows, const char *series) {
    const char *total = rows->layout->total;
    bool is_total = total && strcmp(series, total) == 0;
    if (!rows->any)
        rows->has_total = is_total;
    if (rows->has_total && !is_total && !rows->samples->options->select)
        return false;
    return sstrace_samples_select(rows->samples, series);
}

int sstrace_rows_take(struct sstrace_rows *rows) {
    const struct sstrace_layout *layout = rows->layout;
    struct sstrace_sample sample = {0};
    double number;
    int64_t date;

    if (rows->has_series) {
        char name[TEXT_NAME_SIZE];
        if (text_field_name(&rows->series, rows->input, name) != 0)
            return -1;
        /* Tasks without a machine belong to no series. */
        bool selected = *name && is_selected(rows, name);
        rows->any = true;
        if (!selected)
            return 0;
    }

    if (take_time(rows, &rows->time, layout->end ? &sample.from : &sample.to) != 0 ||
        (layout->end && take_time(rows, &rows->end, &sample.to) != 0) ||
        sstrace_scale_load(&rows->scale, rows->input, &rows->load, &number, &sample.load) != 0)
        return -1;

    if (layout->date_name) {
        bool is_dated = sstrace_stamp_date(rows->date.text, rows->date.length, &date);
        if (sstrace_samples_place(rows->samples, rows->input, &rows->origin,
                is_dated ? &date : NULL, &sample.to) != 0)
            return -1;
    }

    if (layout->has_missing_marks && (number == -1 || number == 101))
        sample.load = NAN;
    if (layout->adds_up && fit_into_window(rows, &sample) != 0)
        return -1;
    return sstrace_samples_add(rows->samples, rows->input, rows->load.column, &sample);
}

/* Returns whether a line is a header, which a user may have added to a published table. */
static bool is_header(const struct sstrace_rows *rows) {
    double number;
    return !text_field_number(&rows->load, false, &number) &&
           !text_field_number(&rows->time, false, &number);
}

static int import_rows(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    struct sstrace_rows rows;
    int more = 1;
    if (sstrace_rows_open(&rows, format->layout, input, samples) != 0)
        return -1;

    if (format->begins)
        more = read_header(&rows, format->begins);
    else
        pick_numbered(&rows);

    if (more > 0 && samples->options->select && !rows.has_series)
        return ss_error_fail(input->error,
            "--select has no effect with %s, which has only one series: remove --select",
            ss_words_show(input->name).text);

    for (bool first = true; more > 0 && (more = sstrace_lines_next_row(&rows.table)) > 0;
         first = false) {
        if (!(first && is_header(&rows)) && sstrace_rows_take(&rows) != 0)
            return -1;
    }
    return more;
}

// clang-format off

/*
 * A time is the start of its sample: the first is 0, the last is one step before the end of the
 * month.
 */
const struct sstrace_format sstrace_format_azure = {
    .name = "azure",
    .summary = "Azure VM traces V1 and V2, vm_cpu_readings: the average of one VM",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time = 1, .series = 2, .load = 5, .stamp = SSTRACE_STAMP_BEGIN, .time_unit = SECOND},
};

const struct sstrace_format sstrace_format_google_2011 = {
    .name = "google-2011",
    .summary = "Google cluster data 2011, task_usage: the sum of the tasks of one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time = 1, .end = 2, .series = 5, .load = 6, .unit = SSTRACE_UNIT_FRACTION,
        .time_unit = 1000, .adds_up = true},
};

/* The columns that sstrace(1) extracts from the published JSON. */
const struct sstrace_format sstrace_format_google_2019 = {
    .name = "google-2019",
    .summary = "Google cluster data 2019, four columns of instance_usage: see sstrace(1)",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time = 1, .end = 2, .series = 3, .load = 4, .unit = SSTRACE_UNIT_FRACTION,
        .time_unit = 1000, .adds_up = true},
};

/*
 * The documentation of the other tables of this trace says that times are the starts of
 * measurements. The same is assumed for this table.
 */
const struct sstrace_format sstrace_format_alibaba_2017 = {
    .name = "alibaba-2017",
    .summary = "Alibaba cluster trace 2017, server_usage: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time = 1, .series = 2, .load = 3, .stamp = SSTRACE_STAMP_BEGIN, .time_unit = SECOND},
};

const struct sstrace_format sstrace_format_alibaba_2018 = {
    .name = "alibaba-2018",
    .summary = "Alibaba cluster trace 2018, machine_usage: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time = 2, .series = 1, .load = 3, .stamp = SSTRACE_STAMP_END, .time_unit = SECOND,
        .has_missing_marks = true},
};

/* The node tables of the microservice traces, which have the same columns in both years. */
static const struct sstrace_layout nodes = {
    .time = 1, .series = 2, .load = 3, .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_FRACTION, .time_unit = SECOND / 1000,
};

const struct sstrace_format sstrace_format_alibaba_2021 = {
    .name = "alibaba-2021",
    .summary = "Alibaba microservices trace 2021, Node: one machine",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &nodes,
};

const struct sstrace_format sstrace_format_alibaba_2022 = {
    .name = "alibaba-2022",
    .summary = "Alibaba microservices trace 2022, Node: one machine, loads normalized",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_SPLIT,
    .import = import_rows,
    .layout = &nodes,
};

const struct sstrace_format sstrace_format_bitbrains = {
    .name = "bitbrains",
    .summary = "GWA-T-12 Bitbrains: one VM per file",
    .takes = SSTRACE_TAKES_EVERY,
    .begins = "Timestamp [ms];",
    .import = import_rows,
    .layout = &(const struct sstrace_layout){
        .time_name = "Timestamp [ms]", .load_name = "CPU usage [%]", .separator = ';',
        .stamp = SSTRACE_STAMP_END},
};

const struct sstrace_layout sstrace_layout_ssload = {
    .time_name = "elapsed_seconds",
    .date_name = "time",
    .load_name = "load",
    .series_name = "cpu",
    .total = "all",
    .stamp = SSTRACE_STAMP_END,
    .unit = SSTRACE_UNIT_FRACTION,
    .time_unit = SECOND,
};

const struct sstrace_format sstrace_format_ssload = {
    .name = "ssload",
    .summary = "output of ssload, or samples.csv of a record",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .begins = "time,elapsed_seconds,target,load,error,load_ticks",
    .import = import_rows,
    .layout = &sstrace_layout_ssload,
};
// clang-format on
