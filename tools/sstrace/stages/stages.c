/* SPDX-License-Identifier: Apache-2.0 */
#include "stages.h"

#include <math.h>

#include "base/units.h"

static ss_time scaled(ss_time time, double factor) {
    long double product = roundl((long double)time * (long double)factor);
    return product < (long double)SS_TIME_NEVER ? (ss_time)product : SS_TIME_NEVER;
}

static int fail_too_long(struct ss_error *error) {
    return ss_error_fail(error, "the trace would be longer than 213503d (584 years)");
}

/* Handles a record of SCALE, LATER or LOAD_SCALE, which change each record independently. */
static int take_each(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    struct ss_trace_record changed = *record;
    if (stage->transform.kind == SSTRACE_SCALE)
        changed.time = scaled(record->time, stage->transform.factor);
    else if (stage->transform.kind == SSTRACE_LATER)
        changed.time = ss_time_add(record->time, stage->transform.from);
    else
        changed.load = record->load * stage->transform.factor;

    if (changed.time == SS_TIME_NEVER)
        return fail_too_long(error);
    return sstrace_give(stage, changed, error);
}

/*
 * Returns the record at time `at`, which must be between the previous record and this one. The time
 * of the result counts from the start of the clip.
 */
static struct ss_trace_record cut(
    const struct sstrace_stage *stage, const struct ss_trace_record *record, ss_time at) {
    struct ss_trace_record edge = {.time = at - stage->transform.from};
    if (!stage->any) {
        edge.load = record->load;
        edge.free = record->free;
    } else if (stage->before.free) {
        edge.free = true;
    } else {
        edge.load = at == stage->before.time ? stage->before.load
                                             : ss_trace_interpolate(&stage->before, record, at);
    }
    return edge;
}

static int take_clip(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    ss_time from = stage->transform.from, to = stage->transform.to;
    if (stage->done)
        return 0;

    if (record->time > from && !stage->begun) {
        stage->begun = true;
        if (sstrace_give(stage, cut(stage, record, from), error) != 0)
            return -1;
    }

    if (record->time >= to) {
        stage->done = true;
        return sstrace_give(stage, cut(stage, record, to), error);
    }

    stage->before = *record;
    stage->any = true;
    if (record->time <= from)
        return 0;

    struct ss_trace_record moved = *record;
    moved.time -= from;
    return sstrace_give(stage, moved, error);
}

static int end_clip(struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    if (!stage->begun) {
        char last[SS_UNITS_TEXT_SIZE], from[SS_UNITS_TEXT_SIZE];
        ss_units_show_time(last, stage->before.time);
        ss_units_show_time(from, stage->transform.from);
        return ss_error_fail(
            error, "the trace ends at %s, so nothing is left after %s", last, from);
    }
    return stage->next->end(stage->next, error);
}

static int take_repeat(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    struct sstrace_spooled_trace *trace = &stage->spool.trace;
    return trace->sink.take(&trace->sink, record, error);
}

/* A repetition, shifted by `shift`. All but the first drop a leading `free` section. */
struct round {
    struct ss_trace_sink sink;
    struct sstrace_stage *stage;
    ss_time shift;
    bool begun;
};

static int take_round(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct round *round = (struct round *)sink;
    struct ss_trace_record moved = *record;
    round->begun |= !record->free || round->shift == 0;
    moved.time = ss_time_add(record->time, round->shift);
    return round->begun ? sstrace_give(round->stage, moved, error) : 0;
}

/* Checks the size of the result in advance, because it may not fit on the disk. */
static int check_repeat(const struct sstrace_stage *stage, ss_time period, struct ss_error *error) {
    const struct sstrace_spooled_trace *trace = &stage->spool.trace;
    uint64_t max = ss_time_since(SS_TIME_NEVER - 1, trace->length) / period + 1;
    if (max > SSTRACE_RECORDS_MAX / trace->count)
        max = SSTRACE_RECORDS_MAX / trace->count;

    if (stage->transform.count <= 1 || stage->transform.count <= max)
        return 0;

    return ss_error_fail(error,
        "--repeat: the result is longer than 213503d (584 years) or has more than %d records: "
        "repeat the trace at most %llu times",
        SSTRACE_RECORDS_MAX, (unsigned long long)(max ? max : 1));
}

static int end_repeat(struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    const struct sstrace_spooled_trace *trace = &stage->spool.trace;
    ss_time period = ss_time_since(trace->length, trace->first_load);
    if (trace->first_load == SS_TIME_NEVER)
        return ss_error_fail(
            error, "--repeat: the trace has only free sections, so there is nothing to repeat");
    if (period == 0)
        return ss_error_fail(
            error, "--repeat: the trace ends at its first load, so there is nothing to repeat");

    if (check_repeat(stage, period, error) != 0)
        return -1;

    for (uint64_t i = 0; i < stage->transform.count; i++) {
        struct round round = {.sink = {.take = take_round}, .stage = stage, .shift = i * period};
        if (sstrace_spooled_trace_play(trace, &round.sink, error) != 0)
            return -1;
    }

    return stage->next->end(stage->next, error);
}

static int take_last(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    struct ss_trace_record it = *record;
    char at[SS_UNITS_TEXT_SIZE];
    if (it.time == SS_TIME_NEVER)
        return fail_too_long(error);

    if (it.free) {
        it.load = stage->any ? stage->before.load : 0;
    } else if (!(it.load <= 1)) {
        ss_units_show_time(at, it.time);
        return ss_error_fail(error,
            "the load at %s becomes %.6g %%: add --load-clamp 0,1 after this change to limit it",
            at, it.load * 100);
    } else if (it.load < SS_TRACE_LOAD_MIN) {
        it.load = 0;
    }

    stage->before = it;
    stage->any = true;
    return sstrace_give(stage, it, error);
}

static int end_plain(struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    return stage->next->end(stage->next, error);
}

/* Opens a stage that gives its output to `next` and, at its own end, ends `next`. */
static void open_stage(struct sstrace_stage *stage, const struct sstrace_transform *transform,
    struct ss_trace_sink *next) {
    static const struct ss_trace_sink sinks[] = {
        [SSTRACE_SCALE] = {take_each, end_plain},
        [SSTRACE_LATER] = {take_each, end_plain},
        [SSTRACE_CLIP] = {take_clip, end_clip},
        [SSTRACE_REPEAT] = {take_repeat, end_repeat},
        [SSTRACE_LOAD_SCALE] = {take_each, end_plain},
        [SSTRACE_LOAD_CLAMP] = {sstrace_take_clamp, end_plain},
        [SSTRACE_RESAMPLE] = {sstrace_take_resample, sstrace_end_resample},
        [SSTRACE_STEPS] = {sstrace_take_steps, end_plain},
    };
    *stage = (struct sstrace_stage){
        .sink = sinks[transform->kind], .next = next, .transform = *transform};
    sstrace_spool_open(&stage->spool);
}

void sstrace_pipeline_open(struct sstrace_pipeline *pipeline,
    const struct sstrace_transform *transforms, size_t count, struct ss_trace_sink *end) {
    pipeline->last =
        (struct sstrace_stage){.sink = {.take = take_last, .end = end_plain}, .next = end};
    pipeline->first = &pipeline->last.sink;
    pipeline->count = count;
    for (size_t i = count; i > 0; i--) {
        open_stage(&pipeline->stages[i - 1], &transforms[i - 1], pipeline->first);
        pipeline->first = &pipeline->stages[i - 1].sink;
    }
}

void sstrace_pipeline_close(struct sstrace_pipeline *pipeline) {
    for (size_t i = 0; i < pipeline->count; i++)
        sstrace_spool_file_close(&pipeline->stages[i].spool.file);
}
