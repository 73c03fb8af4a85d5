/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "stages.h"

/* Rounding may raise a mean of loads of 1 above 1 by this much. */
#define ROUNDING 1e-9

int sstrace_take_steps(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    const struct ss_trace_record *before = &stage->before;
    struct ss_trace_record held = {.time = record->time, .load = before->load};
    if (stage->any && !before->free && !record->free && record->time > before->time &&
        record->load != before->load && sstrace_give(stage, held, error) != 0)
        return -1;

    stage->before = *record;
    stage->any = true;
    return sstrace_give(stage, *record, error);
}

static double clamp(const struct sstrace_stage *stage, double load) {
    return fmin(fmax(load, stage->transform.min), stage->transform.max);
}

/* Adds a record if the line that ends at `record` crosses a bound, at the crossing. */
static int give_corner(const struct sstrace_stage *stage, const struct ss_trace_record *record,
    double bound, struct ss_error *error) {
    const struct ss_trace_record *before = &stage->before;
    if ((before->load < bound) == (record->load < bound) || before->load == bound ||
        record->load == bound)
        return 0;

    double part = (bound - before->load) / (record->load - before->load);
    ss_time time = before->time + (ss_time)round(part * (double)(record->time - before->time));
    if (time <= before->time || time >= record->time)
        return 0;
    return sstrace_give(stage, (struct ss_trace_record){.time = time, .load = bound}, error);
}

int sstrace_take_clamp(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    const struct sstrace_transform *transform = &stage->transform;
    if (stage->any && !stage->before.free && !record->free) {
        bool rises = record->load > stage->before.load;
        if (give_corner(stage, record, rises ? transform->min : transform->max, error) != 0 ||
            give_corner(stage, record, rises ? transform->max : transform->min, error) != 0)
            return -1;
    }

    stage->before = *record;
    stage->any = true;

    struct ss_trace_record clamped = *record;
    clamped.load = clamp(stage, record->load);
    return sstrace_give(stage, clamped, error);
}

/*
 * Passes on the mean load of the window that ends at `to`, unless the window is empty. Windows
 * before a `free` section and at the end of the trace may be shorter than the step.
 */
static int give_window(struct sstrace_stage *stage, ss_time to, struct ss_error *error) {
    if (to <= stage->window)
        return 0;
    double mean = stage->work / (double)(to - stage->window);
    if (mean > 1 && mean < 1 + ROUNDING)
        mean = 1;

    struct ss_trace_record record = {.time = stage->window, .load = mean};
    stage->window = to;
    stage->work = 0;
    if (sstrace_give(stage, record, error) != 0)
        return -1;

    record.time = to;
    return sstrace_give(stage, record, error);
}

/* Adds the line from the previous record to the windows that it crosses. */
static int add_line(
    struct sstrace_stage *stage, const struct ss_trace_record *record, struct ss_error *error) {
    const struct ss_trace_record *before = &stage->before;
    for (ss_time at = before->time; at < record->time;) {
        ss_time step = stage->transform.step;
        ss_time edge = ss_time_add(at - at % step, step);
        ss_time to = edge < record->time ? edge : record->time;

        double load =
            (ss_trace_interpolate(before, record, at) + ss_trace_interpolate(before, record, to)) /
            2;
        stage->work += load * (double)(to - at);
        if (to == edge && give_window(stage, edge, error) != 0)
            return -1;
        at = to;
    }
    return 0;
}

int sstrace_take_resample(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    if (record->time / stage->transform.step >= SSTRACE_RECORDS_MAX)
        return ss_error_fail(error, "--resample: too many steps (at most %d): use a longer step",
            SSTRACE_RECORDS_MAX);

    if (!stage->any)
        stage->before = (struct ss_trace_record){.load = record->load, .free = record->free};
    stage->any = true;

    bool was_free = stage->before.free;
    if (!was_free && add_line(stage, record, error) != 0)
        return -1;
    if (record->free && !was_free && give_window(stage, record->time, error) != 0)
        return -1;

    if (was_free)
        stage->window = record->time;
    stage->before = *record;
    return record->free ? sstrace_give(stage, *record, error) : 0;
}

/*
 * Ends the window. A final record that begins a window is passed on unchanged; so is the only
 * record of a trace of length 0.
 */
int sstrace_end_resample(struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_stage *stage = (struct sstrace_stage *)sink;
    bool more = stage->window < stage->before.time;

    if (!stage->before.free && more && give_window(stage, stage->before.time, error) != 0)
        return -1;
    if (!stage->before.free && !more && sstrace_give(stage, stage->before, error) != 0)
        return -1;
    return stage->next->end(stage->next, error);
}
