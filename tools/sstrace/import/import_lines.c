/* SPDX-License-Identifier: Apache-2.0 */
#include "import_lines.h"

#include "scale.h"

/* Imports one number per line: PlanetLab traces as CloudSim ships them, and load levels. */

#define PLANETLAB_EVERY (300 * SS_SECOND)

/*
 * Reads the number of the next line that has one. Returns 1, 0 at the end of the file, or -1 on
 * error.
 */
static int next_number(struct text_input *input, struct text_field *field) {
    struct text_walk walk;
    struct text_field more;
    int result;

    while ((result = text_input_read_line(input)) > 0) {
        text_walk_begin(&walk, input, ' ');
        if ((result = text_walk_next(&walk, field)) < 0)
            return -1;
        if (result == 0 || field->length == 0 || *field->text == '#')
            continue;

        result = text_walk_next(&walk, &more);
        if (result > 0 && more.length > 0 && *more.text != '#')
            return text_input_blame(input, more.column, "expected one number per line");
        return result < 0 ? -1 : 1;
    }
    return result;
}

static int planetlab_load(struct text_input *input, const struct text_field *field, double *load) {
    int percent = 0;
    bool whole = field->length <= 3;
    for (size_t i = 0; i < field->length && whole; i++) {
        whole = field->text[i] >= '0' && field->text[i] <= '9';
        percent = percent * 10 + (field->text[i] - '0');
    }
    *load = percent / 100.0;
    if (whole && percent <= 100)
        return 0;
    return text_input_blame(input, field->column, "expected a whole percentage from 0 to 100");
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    bool planetlab = format == &sstrace_format_planetlab;
    struct sstrace_scale scale = {.comma = true};
    struct text_field field;
    ss_time every = samples->options->every;
    int result;

    if (every == 0 && !planetlab)
        return ss_error_fail(input->error,
            "%s:1:1: a file of load levels has no times: use --every TIME",
            ss_words_show(input->name).text);
    if (every == 0)
        every = PLANETLAB_EVERY;
    if (sstrace_scale_set(&scale, samples->options, SSTRACE_UNIT_PERCENT, input->error) != 0)
        return -1;

    struct sstrace_sample sample = {.to = sstrace_lines_begin(samples)};
    while ((result = next_number(input, &field)) > 0) {
        double number;
        sstrace_lines_warn(input);
        result = planetlab ? planetlab_load(input, &field, &sample.load)
                           : sstrace_scale_load(&scale, input, &field, &number, &sample.load);
        if (result != 0 ||
            sstrace_lines_add(samples, input, field.column, &sample, (int64_t)every) != 0)
            return -1;
    }

    return result;
}

const struct sstrace_format sstrace_format_planetlab = {
    .name = "planetlab",
    .summary = "PlanetLab as shipped by CloudSim: a whole percentage per line, every 300 s",
    .takes = SSTRACE_TAKES_EVERY,
    .import = import,
};

const struct sstrace_format sstrace_format_levels = {
    .name = "levels",
    .summary = "one load per line, in percent or --unit; each lasts for --every TIME",
    .takes = SSTRACE_TAKES_EVERY | SSTRACE_TAKES_UNIT | SSTRACE_TAKES_CPUS,
    .import = import,
};
