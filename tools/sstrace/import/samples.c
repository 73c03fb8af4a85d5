/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "base/words.h"

/* A gap begins if the next sample is later than this multiple of the usual interval. */
#define GAP_FACTOR 1.5

/* Tolerance for rounding, and for clocks that disagree. */
#define LOAD_TOLERANCE 0.01

/* 73 years, so that sums of a few times cannot overflow. */
#define TIME_MAX (INT64_MAX / 4)

#define NAMES_MAX ((size_t)1 << 21)

const struct sstrace_problem sstrace_problems[SSTRACE_PROBLEMS] = {
    {offsetof(struct sstrace_samples, bad), "ignored samples without a number"},
    {offsetof(struct sstrace_samples, late),
        "ignored samples that go backward in time (sort the file by time to keep them)"},
    {offsetof(struct sstrace_samples, limited), "sums above 100 %, limited to 100 %"},
};

void sstrace_samples_open(struct sstrace_samples *samples,
    const struct sstrace_import_options *options, struct ss_trace_sink *sink) {
    *samples = (struct sstrace_samples){
        .options = options,
        .sink = sink,
        .usual_interval = (int64_t)options->every,
        .latest = INT64_MIN,
        .broken = true,
        .names = {.max = NAMES_MAX},
    };
}

bool sstrace_samples_select(struct sstrace_samples *samples, const char *series) {
    const char *select = samples->options->select;
    struct sstrace_split *split = samples->options->split;

    if (split) {
        samples->current = split->find(split, series);
        samples->named = true;
        return true;
    }

    size_t before = samples->names.count;
    size_t number = sstrace_names_number(&samples->names, series);
    size_t used = strlen(samples->first_names), room = sizeof samples->first_names - used;
    if (samples->names.count > before && strlen(series) + 3 < room)
        snprintf(samples->first_names + used, room, "%s%s", used ? ", " : "", series);

    return select ? strcmp(series, select) == 0 : number == 0;
}

static int give(
    struct sstrace_samples *samples, int64_t at, double load, struct text_input *input) {
    struct ss_trace_record record = {.time = (ss_time)(at - samples->origin), .load = load};
    return samples->sink->take(samples->sink, &record, input->error);
}

/* Fills the gap from the last sample to `from`. */
static int bridge(struct sstrace_samples *samples, struct text_input *input, int64_t from) {
    char length[SS_UNITS_TEXT_SIZE], at[SS_UNITS_TEXT_SIZE];
    ss_units_show_time(length, (ss_time)(from - samples->reached));
    ss_units_show_time(at, (ss_time)(samples->reached - samples->origin));

    struct ss_words_shown name = ss_words_show(input->name);
    unsigned long long line = samples->line;
    if (samples->options->gaps == SSTRACE_GAPS_REFUSE)
        return ss_error_fail(input->error,
            "%s:%llu:1: no samples for %s before this one: use --gaps keep or fill to accept the "
            "gap",
            name.text, line, length);

    samples->gaps++;
    if (!samples->options->split)
        fprintf(stderr, "sstrace: %s:%llu: no samples for %s after %s: %s\n", name.text, line,
            length, at,
            samples->options->gaps == SSTRACE_GAPS_FILL ? "filled by a straight line"
                                                        : "the previous load is held");

    if (samples->options->gaps == SSTRACE_GAPS_FILL)
        return 0;
    return give(samples, from, samples->load, input);
}

/* Gives a sample to the sink, as a step. */
static int hold(
    struct sstrace_samples *samples, struct text_input *input, const struct sstrace_sample *it) {
    if (!samples->any) {
        samples->origin = samples->reached = it->from;
        samples->any = true;
    }

    if (it->from > samples->reached && bridge(samples, input, it->from) != 0)
        return -1;
    if (give(samples, it->from, it->load, input) != 0 ||
        give(samples, it->to, it->load, input) != 0)
        return -1;

    samples->reached = it->to;
    samples->load = it->load;
    samples->used++;
    return 0;
}

/*
 * Adds a sample whose ends are both known. If it nearly touches or overlaps the previous one, it
 * begins where that one ended.
 */
static int pass_on(
    struct sstrace_samples *samples, struct text_input *input, struct sstrace_sample it) {
    int64_t length = it.to - it.from;
    if (length <= 0 || (samples->any && it.to <= samples->reached)) {
        samples->late++;
        return 0;
    }
    int64_t off = samples->any ? llabs(it.from - samples->reached) : 0;
    if (samples->any && (it.from < samples->reached || off < length / 2))
        it.from = samples->reached;
    return hold(samples, input, &it);
}

/* Ends the held sample when the next one begins or, before a gap, after the usual interval. */
static int flush_begin(struct sstrace_samples *samples, struct text_input *input, int64_t next) {
    int64_t length = next - samples->held.to;
    int64_t usual = samples->usual_interval ? samples->usual_interval : length;
    struct sstrace_sample it = {samples->held.to, next, samples->held.load};

    if (length > (int64_t)(GAP_FACTOR * (double)usual) || samples->broken)
        it.to = it.from + usual;

    samples->has_held = false;
    samples->line = samples->held_line;
    return it.to > it.from ? pass_on(samples, input, it) : 0;
}

/*
 * Learns the usual interval from two similar ones in a row, so that a single short interval, as
 * after a restart, changes nothing. Longer ones are gaps, even if two follow each other, unless the
 * usual interval is only that of the first two samples.
 */
static void learn_usual(struct sstrace_samples *samples, int64_t length) {
    if (length <= 0 || samples->options->every)
        return;

    int64_t longer = length > samples->last_interval ? length : samples->last_interval;
    bool similar = llabs(length - samples->last_interval) <= length / 4;
    if (similar && (!samples->repeated || longer < samples->usual_interval)) {
        samples->usual_interval = longer;
        samples->repeated = true;
    } else if (!samples->usual_interval) {
        samples->usual_interval = length;
    }

    samples->last_interval = length;
}

/* Learns the interval from the time of a row, even if the row has no load. */
static void note_row(struct sstrace_samples *samples, int64_t time) {
    if (samples->has_row && !samples->broken)
        learn_usual(samples, time - samples->row_time);
    if (!samples->has_row || time > samples->row_time)
        samples->row_time = time;
    samples->has_row = true;
}

/* Keeps a sample that waits for its end, or for more of the same span. */
static void keep(struct sstrace_samples *samples, const struct text_input *input,
    const struct sstrace_sample *sample) {
    samples->held = *sample;
    samples->held_line = input->line;
    samples->has_held = true;
    samples->broken = false;
}

static int add_begin(struct sstrace_samples *samples, struct text_input *input,
    const struct sstrace_sample *sample) {
    if (samples->has_held && sample->to <= samples->held.to) {
        samples->late++;
        return 0;
    }

    note_row(samples, sample->to);
    if (samples->has_held && flush_begin(samples, input, sample->to) != 0)
        return -1;
    keep(samples, input, sample);
    return 0;
}

/*
 * Adds a sample with a known end. The first sample waits for the second one, which shows its
 * length.
 */
static int add_end(struct sstrace_samples *samples, struct text_input *input,
    const struct sstrace_sample *sample) {
    int64_t before = samples->has_held ? samples->held.to : samples->reached;
    bool first = !samples->any && !samples->has_held;
    struct sstrace_sample it = {.from = before, .to = sample->to, .load = sample->load};

    if (!first && sample->to <= before) {
        samples->late++;
        return 0;
    }

    note_row(samples, sample->to);
    if (first && !samples->usual_interval) {
        keep(samples, input, sample);
        return 0;
    }

    if (samples->has_held) {
        samples->has_held = false;
        struct sstrace_sample held = samples->held;
        samples->line = samples->held_line;
        held.from =
            held.to - (samples->usual_interval ? samples->usual_interval : sample->to - held.to);
        if (pass_on(samples, input, held) != 0)
            return -1;
    }

    if (samples->usual_interval &&
        (first || samples->broken ||
            sample->to - before > (int64_t)(GAP_FACTOR * (double)samples->usual_interval)))
        it.from = it.to - samples->usual_interval;

    samples->broken = false;
    samples->line = input->line;
    return pass_on(samples, input, it);
}

static int flush_span(struct sstrace_samples *samples, struct text_input *input) {
    samples->has_held = false;
    samples->line = samples->held_line;
    samples->limited += samples->held.load > 1 + LOAD_TOLERANCE;
    if (samples->held.load > 1)
        samples->held.load = 1;
    return pass_on(samples, input, samples->held);
}

static int add_span(struct sstrace_samples *samples, struct text_input *input,
    const struct sstrace_sample *sample) {
    if (samples->has_held && samples->adds_up && sample->from == samples->held.from &&
        sample->to == samples->held.to) {
        samples->held.load += sample->load;
        samples->in_order++;
        return 0;
    }
    if (samples->has_held && flush_span(samples, input) != 0)
        return -1;
    keep(samples, input, sample);
    return 0;
}

static int rebase(struct sstrace_samples *samples, struct text_input *input, int64_t *time) {
    if (!samples->has_base) {
        samples->base = *time;
        samples->has_base = true;
    }
    if (__builtin_sub_overflow(*time, samples->base, time) || *time > TIME_MAX || *time < -TIME_MAX)
        return text_input_blame(input, 1, "expected a time within 73 years of the first one");
    return 0;
}

static int add(struct sstrace_samples *samples, struct text_input *input, size_t column,
    const struct sstrace_sample *sample) {
    struct sstrace_sample it = *sample;
    if ((samples->stamp == SSTRACE_STAMP_SPAN && rebase(samples, input, &it.from) != 0) ||
        rebase(samples, input, &it.to) != 0)
        return -1;

    if (isnan(it.load)) {
        samples->bad++;
        if (samples->stamp != SSTRACE_STAMP_SPAN)
            note_row(samples, it.to);
        return 0;
    }

    if (it.load < 0 || it.load > 1 + LOAD_TOLERANCE)
        return text_input_blame(input, column,
            "the load is %.6g %%, but must be between 0 and 100 %%%s", it.load * 100,
            samples->takes_unit ? ": set the unit of the numbers with --unit" : "");
    if (it.load > 1)
        it.load = 1;
    if (it.load < SS_TRACE_LOAD_MIN)
        it.load = 0;

    samples->offered++;
    if (it.to > samples->latest) {
        samples->latest = it.to;
        samples->in_order++;
    }

    switch (samples->stamp) {
    case SSTRACE_STAMP_BEGIN:
        return add_begin(samples, input, &it);
    case SSTRACE_STAMP_END:
        return add_end(samples, input, &it);
    default:
        return add_span(samples, input, &it);
    }
}

/* Adds a sample to the series of the current row. All series count from the same time. */
static int add_to_series(struct sstrace_samples *samples, struct text_input *input, size_t column,
    const struct sstrace_sample *sample) {
    struct sstrace_samples *series = samples->current;

    if (!samples->named)
        return text_input_blame(input, 1, "cannot split the table: no column names the machine");
    if (!series)
        return ss_error_memory(input->error);

    if (!samples->has_base)
        samples->base = samples->stamp == SSTRACE_STAMP_SPAN ? sample->from : sample->to;
    samples->has_base = true;

    series->stamp = samples->stamp;
    series->adds_up = samples->adds_up;
    series->takes_unit = samples->takes_unit;
    series->base = samples->base;
    series->has_base = true;

    /* A series that begins with a gap would take the gap for its interval. */
    if (!series->usual_interval) {
        series->usual_interval = samples->usual_interval;
        series->repeated = samples->repeated;
    }

    int result = add(series, input, column, sample);
    if (series->usual_interval &&
        (!samples->usual_interval || series->usual_interval < samples->usual_interval)) {
        samples->usual_interval = series->usual_interval;
        samples->repeated = series->repeated;
    } else if (series->usual_interval == samples->usual_interval) {
        samples->repeated |= series->repeated;
    }

    samples->offered += series->offered;
    samples->in_order += series->in_order;
    series->offered = series->in_order = 0;
    return result;
}

int sstrace_samples_add(struct sstrace_samples *samples, struct text_input *input, size_t column,
    const struct sstrace_sample *sample) {
    return samples->options->split ? add_to_series(samples, input, column, sample)
                                   : add(samples, input, column, sample);
}

int sstrace_samples_date(struct sstrace_samples *samples, struct text_input *input, bool is_dated) {
    samples->undated |= !is_dated;
    if (!samples->has_base || !samples->undated)
        return 0;
    return ss_error_fail(input->error,
        "%s: this file or the one before has no date in a supported format, so the time between "
        "them is "
        "unknown: use dates of the form YYYY-MM-DD, or import each file alone",
        ss_words_show(input->name).text);
}

int sstrace_samples_place(struct sstrace_samples *samples, struct text_input *input,
    struct sstrace_origin *origin, const int64_t *date, int64_t *time) {
    if (!origin->known) {
        bool is_dated = date && !__builtin_sub_overflow(*date, *time, &origin->at);
        if (!is_dated)
            origin->at = 0;
        origin->known = true;
        if (sstrace_samples_date(samples, input, is_dated) != 0)
            return -1;
    }

    if (__builtin_add_overflow(*time, origin->at, time))
        return text_input_blame(input, 1, "a time is out of range");
    return 0;
}

int sstrace_samples_end_file(struct sstrace_samples *samples, struct text_input *input) {
    bool adds_nothing = samples->offered > 0 && samples->in_order == 0;
    samples->offered = samples->in_order = 0;
    if (!adds_nothing)
        return 0;
    return ss_error_fail(input->error,
        "%s: all samples are before the end of the previous file: name the files in the order of "
        "their times, and only files of one machine",
        ss_words_show(input->name).text);
}

void sstrace_samples_break(struct sstrace_samples *samples) {
    samples->broken = true;
}

/* Adds the last sample. Without a known end it gets the usual length. */
static int flush_last(struct sstrace_samples *samples, struct text_input *input) {
    if (!samples->has_held)
        return 0;
    if (samples->stamp == SSTRACE_STAMP_SPAN)
        return flush_span(samples, input);
    if (!samples->usual_interval)
        return ss_error_fail(input->error,
            "%s has a single sample and does not say how long it lasted: use --every TIME",
            ss_words_show(input->name).text);

    if (samples->stamp == SSTRACE_STAMP_BEGIN)
        return flush_begin(samples, input, samples->held.to + samples->usual_interval);

    struct sstrace_sample it = samples->held;
    it.from = it.to - samples->usual_interval;
    samples->has_held = false;
    return pass_on(samples, input, it);
}

int sstrace_samples_flush(
    struct sstrace_samples *samples, struct text_input *input, int64_t usual) {
    if (!samples->usual_interval)
        samples->usual_interval = usual;
    return flush_last(samples, input);
}

int sstrace_samples_end(struct sstrace_samples *samples, struct text_input *input) {
    const char *select = samples->options->select;
    if (samples->options->split)
        return samples->options->split->end(samples->options->split, input);

    if (flush_last(samples, input) != 0)
        return -1;

    if (!select && samples->names.count > 1)
        return ss_error_fail(input->error, "%s has %zu series (%s%s): choose one with --select",
            ss_words_show(input->name).text, samples->names.count,
            ss_words_show(samples->first_names).text, samples->names.count > 5 ? ", ..." : "");

    if (samples->used == 0 && select && samples->names.count > 0)
        return ss_error_fail(input->error, "%s has no samples of '%s': it has %zu series (%s)",
            ss_words_show(input->name).text, ss_words_show(select).text, samples->names.count,
            ss_words_show(samples->first_names).text);
    if (samples->used == 0)
        return ss_error_fail(input->error, "%s:%llu:1: the file has no samples",
            ss_words_show(input->name).text, (unsigned long long)input->line + 1);

    for (size_t i = 0; i < SSTRACE_PROBLEMS; i++) {
        uint64_t count = sstrace_problem_count(&sstrace_problems[i], samples);
        if (count > 0)
            fprintf(stderr, "sstrace: %s: %s: %llu\n", ss_words_show(input->name).text,
                sstrace_problems[i].text, (unsigned long long)count);
    }
    return 0;
}

void sstrace_samples_close(struct sstrace_samples *samples) {
    sstrace_names_close(&samples->names);
}
