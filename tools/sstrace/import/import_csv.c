/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tables of unknown origin. Columns are chosen by options, or by unambiguous names. Numbers are
 * percent unless the column's name says "fraction" or "ratio". If neither a name nor an option
 * gives the unit, and no number is above 1, the table is refused, because the unit is ambiguous.
 */

#include <ctype.h>
#include <stdlib.h>

#include "heading.h"
#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

struct csv {
    struct text_input *input;
    struct sstrace_samples *samples;
    const struct sstrace_import_options *options;
    struct sstrace_heading heading;
    struct text_table table;
    size_t time_number, load_number, series_number; /* numbers of columns, from 1; 0 if absent */
    struct text_field time, load, series;
    struct sstrace_scale scale;
    int64_t time_unit;  /* unit of numbers in the column of times, ns; 0 for a second */
    bool dates_checked; /* the times of the file were checked for dates */
    bool overnight;     /* the times of day of a series have passed midnight */
    bool unit_is_known; /* an option or the column's name gives the unit */
    double largest;     /* largest number so far; if at most 1, the unit is ambiguous */
};

/* Advances to the first row, and keeps the last comment above it. */
static int find_first_row(struct text_input *input, char **comment) {
    int more;
    while ((more = text_input_read_line(input)) > 0) {
        if (text_table_is_row(input))
            break;
        if (input->length == 0)
            continue;
        free(*comment);
        *comment = strdup(input->text);
        if (!*comment)
            return ss_error_memory(input->error);
    }
    return more;
}

static int choose_time(struct csv *csv) {
    const char *name = csv->options->time_column;
    if (name)
        return sstrace_heading_find(&csv->heading, csv->input, name, &csv->time_number);

    csv->time_number = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_TIME).number;
    if (!csv->time_number)
        csv->time_number = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_UNIT_OF_TIME).number;
    if (csv->time_number || csv->options->every)
        return 0;

    if (csv->heading.count != 2)
        return sstrace_heading_refuse(&csv->heading, csv->input,
            "no column is clearly the time: use --time-column, or --every TIME if no column has "
            "times");
    csv->time_number = 1;
    return 0;
}

static int guess_load(struct csv *csv) {
    struct sstrace_guess load = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_LOAD);
    struct sstrace_guess idle = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_IDLE);
    if (load.matches == 0 && idle.matches == 0)
        load = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_PERCENT);

    /* Next to a column of idle time, "cpu" may be the number of the CPU. */
    bool unclear = load.matches == 1 && idle.matches > 0 &&
                   sstrace_heading_number(&csv->heading, "cpu") == load.number;

    if (load.matches == 1 && !unclear) {
        csv->load_number = load.number;
        return 0;
    }
    if (load.matches == 0 && idle.matches == 1) {
        csv->load_number = idle.number;
        csv->scale.is_idle = true;
        return 0;
    }

    size_t others = csv->time_number ? 1 : 0;
    if (!csv->heading.header.text && csv->heading.count == others + 1) {
        csv->load_number = others && csv->time_number == 1 ? 2 : 1;
        return 0;
    }

    return sstrace_heading_refuse(&csv->heading, csv->input,
        "no column is clearly the load: use --load-column or --idle-column");
}

static int choose_load(struct csv *csv) {
    const char *load = csv->options->load_column, *idle = csv->options->idle_column;
    if (load && idle)
        return ss_error_fail(
            csv->input->error, "use either --load-column or --idle-column, not both");
    csv->scale.is_idle = idle != NULL;
    if (!load && !idle)
        return guess_load(csv);
    return sstrace_heading_find(&csv->heading, csv->input, load ? load : idle, &csv->load_number);
}

static int choose_series(struct csv *csv) {
    const char *name = csv->options->series_column;
    if (name)
        return sstrace_heading_find(&csv->heading, csv->input, name, &csv->series_number);
    csv->series_number = sstrace_heading_guess(&csv->heading, SSTRACE_MEANS_SERIES).number;
    if (csv->options->select && !csv->series_number)
        return sstrace_heading_refuse(&csv->heading, csv->input,
            "no column clearly names the series for --select: use --series-column");
    return 0;
}

static int choose_units(struct csv *csv) {
    const char *time_unit = csv->options->time_unit;
    csv->time_unit = time_unit ? sstrace_stamp_unit(time_unit)
                               : sstrace_heading_time_unit(&csv->heading, csv->time_number);
    if (time_unit && !csv->time_unit)
        return ss_error_fail(csv->input->error,
            "'%s' is not a unit of time: use s, ms, us, ns, min or h",
            ss_words_show(time_unit).text);
    enum sstrace_unit unit = sstrace_heading_unit(&csv->heading, csv->load_number);
    csv->unit_is_known = unit != SSTRACE_UNIT_DEFAULT || csv->options->unit != SSTRACE_UNIT_DEFAULT;
    csv->scale.comma = csv->table.separator != ',';
    return sstrace_scale_set(&csv->scale, csv->options,
        unit == SSTRACE_UNIT_DEFAULT ? SSTRACE_UNIT_PERCENT : unit, csv->input->error);
}

static int choose_all(struct csv *csv) {
    if (choose_time(csv) != 0 || choose_load(csv) != 0 || choose_series(csv) != 0 ||
        choose_units(csv) != 0)
        return -1;
    text_table_pick(&csv->table, csv->load_number, &csv->load);
    if (csv->series_number)
        text_table_pick(&csv->table, csv->series_number, &csv->series);
    if (csv->time_number)
        text_table_pick(&csv->table, csv->time_number, &csv->time);
    csv->samples->stamp = csv->time_number ? SSTRACE_STAMP_END : SSTRACE_STAMP_SPAN;
    return 0;
}

/* Returns the separator of the fields, or -1 if the requested one could be part of a number. */
static int choose_separator(const struct csv *csv) {
    const char *option = csv->options->separator;
    if (!option)
        return text_guess_separator(csv->input->text);
    if (strcmp(option, "tab") == 0)
        return '\t';
    if (*option && !option[1] && !isalnum((unsigned char)*option) && !strchr("\".+-", *option))
        return (unsigned char)*option;
    return ss_error_fail(csv->input->error,
        "'%s' cannot separate fields: use one character that no number contains, such as ',' or "
        "';', or the word 'tab'",
        ss_words_show(option).text);
}

/* Reads everything up to the first row of numbers. */
static int open_table(struct csv *csv, const char *comment) {
    int separator = choose_separator(csv);
    if (separator < 0 || sstrace_heading_open(&csv->heading, csv->input, (char)separator, comment,
                             csv->options) != 0)
        return -1;
    csv->table = (struct text_table){
        .input = csv->input, .separator = (char)separator, .columns = csv->heading.count};
    if (!csv->heading.is_first_row)
        text_input_unread_line(csv->input);
    return choose_all(csv);
}

/*
 * Begins a series in this file: its times of day start on the first day; without times, it
 * continues at its end in the previous file.
 */
static void begin_series(struct csv *csv, struct sstrace_samples *series) {
    series->file = csv->samples->files;
    series->clock = (struct sstrace_clock){.unit = csv->time_unit};
    if (!csv->time_number)
        series->now = sstrace_lines_begin(series);
}

static int take_time(struct csv *csv, struct sstrace_sample *sample) {
    struct sstrace_samples *current = csv->samples->current;
    struct sstrace_samples *series = current ? current : csv->samples;
    bool begins = series->file != csv->samples->files;
    if (begins)
        begin_series(csv, series);

    if (!csv->time_number) {
        sample->from = series->now;
        if (__builtin_add_overflow(series->now, (int64_t)csv->options->every, &series->now))
            return text_input_blame(
                csv->input, 1, "--every is too long: this sample would be out of range");
        sample->to = series->now;
        return 0;
    }

    if (!sstrace_stamp_read(&series->clock, csv->time.text, csv->time.length, &sample->to))
        return text_input_blame(csv->input, csv->time.column,
            "expected a time: " SSTRACE_STAMP_EXPECTED ", or --time-unit for other numbers");

    /* If rows are sorted by time, the series begins on the next day; if by series, on the first. */
    if (begins && csv->overnight)
        return text_input_blame(csv->input, csv->time.column,
            "the times of another machine have passed midnight, so the day of this time is "
            "unknown: use times with dates");

    csv->overnight |= series->clock.day > 0;
    if (csv->dates_checked)
        return 0;

    csv->dates_checked = true;
    return sstrace_samples_date(csv->samples, csv->input, !series->clock.lacks_date);
}

static int take_row(struct csv *csv) {
    struct sstrace_sample sample = {0};
    double number;
    if (csv->series_number) {
        char name[TEXT_NAME_SIZE];
        if (text_field_name(&csv->series, csv->input, name) != 0)
            return -1;
        if (!sstrace_samples_select(csv->samples, name))
            return 0;
    }

    if (take_time(csv, &sample) != 0 ||
        sstrace_scale_load(&csv->scale, csv->input, &csv->load, &number, &sample.load) != 0)
        return -1;

    bool has_sign = csv->load.length > 0 && csv->load.text[csv->load.length - 1] == '%';
    csv->unit_is_known |= has_sign;
    if (number > csv->largest)
        csv->largest = number;

    return sstrace_samples_add(csv->samples, csv->input, csv->load.column, &sample);
}

static int take_rows(struct csv *csv) {
    int more;
    while ((more = sstrace_lines_next_row(&csv->table)) > 0) {
        if (take_row(csv) != 0)
            return -1;
    }
    if (more == 0 && !csv->unit_is_known && csv->largest > 0 && csv->largest <= 1)
        return text_input_blame(csv->input, csv->load.column,
            "no number in this column is above 1: use --unit fraction or --unit percent");
    return more;
}

static int import_csv(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct csv csv = {.input = input, .samples = samples, .options = samples->options};
    char *comment = NULL;
    samples->files++;
    int result = find_first_row(input, &comment);
    if (result > 0 && (result = open_table(&csv, comment)) == 0)
        result = take_rows(&csv);
    sstrace_heading_close(&csv.heading);
    free(comment);
    return result;
}

const struct sstrace_format sstrace_format_csv = {
    .name = "csv",
    .summary =
        "any table: columns by name or number; percent unless --unit or a name says otherwise",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_UNIT | SSTRACE_TAKES_CPUS |
             SSTRACE_TAKES_COLUMNS | SSTRACE_TAKES_SPLIT,
    .import = import_csv,
};
