/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The CSV plugin of collectd writes a file for each CPU and state. The file of idle time determines
 * the load: it has a counter of ticks, or percent if the plugin is configured so.
 */

#include <math.h>

#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

#define HEADER        "epoch,value"
#define PERCENT_MAX   101.0 /* 100 % plus rounding and clock errors */
#define IDLE_RATE_MAX 1.1   /* maximum idle rate: ticks and timestamps differ slightly */

struct collectd {
    struct text_input *input;
    struct sstrace_samples *samples;
    struct text_table table;
    struct text_field time, value;
    struct sstrace_scale scale;
    bool counts; /* values are ticks, not percent */
    bool any;
    int64_t before; /* time of the previous row, ns */
    double ticks;   /* counter of the previous row */
};

static bool detect_collectd(const char *head) {
    size_t length = strlen(HEADER);
    return strncmp(head, HEADER, length) == 0 && (head[length] == '\n' || head[length] == '\r');
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/*
 * Guesses from the first complete rows whether values are counters, which rise and soon exceed 100.
 */
static bool looks_like_counter(const struct text_input *input) {
    double before = NAN, first = NAN;
    bool falls = false;

    for (const char *at = input->head; (at = strchr(at, '\n'));) {
        const char *end = strchr(++at, '\n'), *comma = strchr(at, ',');
        if (!comma || (end && comma > end))
            continue;

        /* The head may end within its last line. */
        if (!end && input->head_length == TEXT_HEAD_SIZE)
            break;

        const char *stop = end ? end : comma + strlen(comma);
        stop -= stop[-1] == '\r';
        struct text_field field = {.text = comma + 1, .length = (size_t)(stop - comma - 1)};
        double value;
        if (!text_field_number(&field, false, &value) || isnan(value))
            continue;

        if (value > PERCENT_MAX)
            return true;
        falls |= value < before;
        first = isnan(first) ? value : first;
        before = value;
    }

    return !falls && before > first && !strstr(file_name(input->name), "percent");
}

/*
 * Returns whether the file's series is selected. The series is named after the folders of host and
 * CPU, or after the file without its date.
 */
static bool is_selected(struct collectd *collectd) {
    char name[TEXT_NAME_SIZE];
    const char *path = collectd->input->name, *file = file_name(path);
    size_t length = file > path ? (size_t)(file - path) - 1 : strcspn(file, "0123456789");
    if (length == 0 || length >= sizeof name)
        return true;

    memcpy(name, path, length);
    name[length] = '\0';
    return sstrace_samples_select(collectd->samples, name);
}

static int begin(struct collectd *collectd) {
    struct text_input *input = collectd->input;
    if (!strstr(file_name(input->name), "idle"))
        return text_input_blame(
            input, 1, "expected a file of idle time: cpu-idle-DATE or percent-idle-DATE");

    int more = text_input_read_line(input);
    if (more > 0 && strcmp(input->text, HEADER) != 0)
        return text_input_blame(input, 1, "expected the header " HEADER);
    if (more <= 0)
        return more;

    collectd->table = (struct text_table){.input = input, .separator = ',', .columns = 2};
    text_table_pick(&collectd->table, 1, &collectd->time);
    text_table_pick(&collectd->table, 2, &collectd->value);
    collectd->counts = looks_like_counter(input);
    collectd->samples->stamp = collectd->counts ? SSTRACE_STAMP_SPAN : SSTRACE_STAMP_END;
    collectd->scale.is_idle = true;

    return sstrace_scale_set(&collectd->scale, collectd->samples->options, SSTRACE_UNIT_PERCENT,
               input->error) == 0
               ? 1
               : -1;
}

/* Adds the load between two rows. A counter that has decreased was restarted. */
static int take_ticks(struct collectd *collectd, struct sstrace_sample *sample, double ticks) {
    struct text_input *input = collectd->input;
    int64_t length;

    if (__builtin_sub_overflow(sample->to, collectd->before, &length))
        return text_input_blame(
            input, collectd->time.column, "the time is too far from the previous row");

    double seconds = (double)length / 1e9;
    double rose = ticks - collectd->ticks;
    bool first = !collectd->any;
    sample->from = collectd->before;

    /* sstrace_samples_add() skips this sample and counts it, but would refuse a load above 1. */
    if (seconds <= 0 && !isnan(ticks))
        sample->load = 0;
    if (!first && (isnan(ticks) || seconds <= 0))
        return sstrace_samples_add(collectd->samples, input, collectd->value.column, sample);
    if (isnan(ticks))
        return 0;

    collectd->any = true;
    collectd->before = sample->to;
    collectd->ticks = ticks;
    if (first)
        return 0;

    if (rose < 0) {
        sstrace_samples_break(collectd->samples);
        return 0;
    }

    double full = collectd->scale.full * seconds;
    if (rose > full * IDLE_RATE_MAX)
        return text_input_blame(input, collectd->value.column,
            "the counter rose by %.0f in %.3g s, but a CPU has only %.0f ticks in that time: for "
            "several CPUs use --unit cores --cpus N",
            rose, seconds, full);

    sample->load = rose > full ? 0 : 1 - rose / full;
    return sstrace_samples_add(collectd->samples, input, collectd->value.column, sample);
}

static int take_row(struct collectd *collectd) {
    struct text_input *input = collectd->input;
    struct sstrace_sample sample = {0};
    double number;
    if (!sstrace_stamp_number(
            collectd->time.text, collectd->time.length, INT64_C(1000000000), &sample.to))
        return text_input_blame(
            input, collectd->time.column, "expected a time in seconds since 1970");
    if (sstrace_scale_load(&collectd->scale, input, &collectd->value, &number, &sample.load) != 0)
        return -1;
    if (collectd->counts)
        return take_ticks(collectd, &sample, number);
    return sstrace_samples_add(collectd->samples, input, collectd->value.column, &sample);
}

static int import_collectd(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct collectd collectd = {.input = input, .samples = samples};
    int more = begin(&collectd);
    if (more > 0 && !is_selected(&collectd))
        return 0;
    while (more > 0 && (more = sstrace_lines_next_row(&collectd.table)) > 0) {
        if (take_row(&collectd) != 0)
            return -1;
    }
    return more;
}

const struct sstrace_format sstrace_format_collectd = {
    .name = "collectd",
    .summary = "CSV plugin of collectd: cpu-idle or percent-idle of one CPU",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_UNIT | SSTRACE_TAKES_CPUS,
    .detect = detect_collectd,
    .import = import_collectd,
};
