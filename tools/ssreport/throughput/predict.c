/* SPDX-License-Identifier: Apache-2.0 */
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "curve.h"
#include "run_order.h"
#include "trace/file.h"

/* Ramps of the trace are cut into pieces, within which the load changes by at most this. */
#define LOAD_PART 0.005

/* Tolerance for the target of a sample, in addition to half of LOAD_PART. */
#define SAME_TARGET 2e-3

/*
 * This part of a replay's samples must have the target of the trace. Other samples may be at
 * changes of the trace, or next to lost samples.
 */
#define REPLAY_SHARE 0.95

/*
 * A replay must cover this part of the trace. Otherwise a run with a constant load would count as a
 * replay of a trace that begins with that load.
 */
#define REPLAY_LENGTH 0.8

/* Tolerance for numbers, which manifests contain with ten digits. */
#define SAME_NUMBER 1e-9

/* A piece of the trace, in seconds, with the load in its middle. */
struct piece {
    double from, to, load;
    bool free;
};

struct trace {
    const char *name;
    struct ss_trace_records records;
    struct piece *pieces;
    size_t count, capacity;
    double length; /* in seconds */
};

/* The curve of a group of runs. */
struct source {
    struct ssreport_report *report;
    const struct trace *trace;
    const struct ssreport_run *first;
    const bool *is_replay;             /* for each run of the report */
    const struct stats_groups *groups; /* groups of runs: each makes a curve */
    size_t group;
    struct ssreport_curve curve;
    double least, most; /* range of targets or loads that the curve covers */
    size_t points;
    double *weights; /* weights of the curve's points, followed by their sums */
};

static int add_piece(struct trace *trace, const struct piece *piece) {
    if (!(piece->to > piece->from))
        return 0;
    if (!SS_GROW(trace->pieces, trace->count + 1, trace->capacity))
        return -1;
    trace->pieces[trace->count++] = *piece;
    return 0;
}

static int cut(
    struct trace *trace, const struct ss_trace_record *one, const struct ss_trace_record *next) {
    double from = ss_time_seconds(one->time), to = ss_time_seconds(next->time);
    double change = one->free || next->free ? 0 : next->load - one->load;
    double parts = fmax(ceil(fabs(change) / LOAD_PART - SAME_NUMBER), 1);
    for (double i = 0; i < parts; i++) {
        struct piece piece = {.from = from + (to - from) * i / parts,
            .to = from + (to - from) * (i + 1) / parts,
            .load = one->load + change * (i + 0.5) / parts,
            .free = one->free};
        if (add_piece(trace, &piece) < 0)
            return -1;
    }
    return 0;
}

static int read_trace(struct trace *trace, const char *path, struct ss_error *error) {
    if (ss_trace_load(path, &trace->records, error) < 0)
        return -1;
    const struct ss_trace_record *records = trace->records.items;
    /* The first record's load also applies to the time before it. */
    struct ss_trace_record begin = records[0];
    begin.time = 0;
    begin.free = false;
    trace->name = path;
    trace->length = ss_time_seconds(records[trace->records.count - 1].time);
    int result = cut(trace, &begin, &records[0]);
    for (size_t i = 1; result == 0 && i < trace->records.count; i++)
        result = cut(trace, &records[i - 1], &records[i]);
    if (result < 0)
        return ss_error_memory(error);
    if (!(trace->length > 0))
        return ss_error_fail(
            error, "--predict: the trace %s lasts 0 s: a trace needs records at two times", path);
    return 0;
}

/* Returns the load of the trace; NaN in a `free` section or after its end. */
static double load_at(const struct trace *trace, double at) {
    size_t low = 0, high = trace->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->pieces[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == trace->count || trace->pieces[low].free)
        return NAN;
    return trace->pieces[low].load;
}

static double speed_of(const struct ssreport_run *run) {
    return run->speed > 0 ? run->speed : 1;
}

/*
 * Returns whether a sample has the target of the trace. A sample records the target at its end,
 * which at a step of the trace may still be the previous one.
 */
static bool follows(const struct trace *trace, const struct ssreport_run *run,
    const struct ssreport_sample *sample) {
    const double at[] = {sample->end, sample->end - 0.02, (sample->begin + sample->end) / 2};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        if (fabs(load_at(trace, at[i] * speed_of(run)) - sample->target) <=
            SAME_TARGET + LOAD_PART / 2)
            return true;
    }
    return false;
}

static bool is_replay(const struct trace *trace, const struct ssreport_run *run) {
    size_t samples = 0, following = 0;
    double seconds = 0;
    for (size_t i = 0; i < run->record.sample_count; i++) {
        const struct ssreport_sample *sample = &run->record.samples[i];
        if (!sample->counted || sample->end * speed_of(run) > trace->length + SAME_NUMBER)
            continue;
        samples++;
        following += follows(trace, run, sample);
        seconds += (sample->end - sample->begin) * speed_of(run);
    }
    return !run->role && seconds >= REPLAY_LENGTH * trace->length &&
           (double)following >= REPLAY_SHARE * (double)samples;
}

#define SOURCE                                                                                     \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_WORKLOAD | SSREPORT_BY_PLACEMENT |    \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_CPUS | SSREPORT_BY_COMMAND)

/* Returns whether a run contributes to a curve. Replays do not, because curves predict them. */
static bool is_part(const struct ssreport_run *run, const void *context) {
    const struct source *source = context;
    return !source->is_replay[run - source->report->runs] &&
           !ssreport_is_word(run->experiment, "replay") && !run->role && run->record.has_iterations;
}

static int fit(struct source *source) {
    const struct ssreport_report *report = source->report;
    const struct stats_groups *groups = source->groups;
    size_t room = 1, used = 0;
    for (size_t i = groups->first[source->group]; i < groups->items; i = groups->next[i])
        room += report->runs[i].steps.count;
    SS_OWNED(free) double *loads = calloc(2 * room, sizeof *loads);
    source->weights = calloc(2 * room, sizeof *source->weights);
    if (!loads || !source->weights)
        return -1;
    double *throughputs = loads + room;
    source->least = INFINITY;
    source->most = -INFINITY;
    for (size_t i = groups->first[source->group]; i < groups->items; i = groups->next[i]) {
        const struct ssreport_run *run = &report->runs[i];
        for (size_t j = 0; j < run->steps.count; j++) {
            const struct ssreport_step *step = &run->steps.items[j];
            if (!isfinite(step->throughput) || !isfinite(step->load.mean) || step->is_exceeded)
                continue;
            loads[used] = step->load.mean;
            throughputs[used++] = step->throughput;
            source->least = fmin(source->least, fmin(step->load.mean, step->target));
            source->most = fmax(source->most, fmax(step->load.mean, step->target));
        }
    }
    source->points = used;
    return ssreport_curve_fit(&source->curve, loads, throughputs, used);
}

struct prediction {
    double inside, free;       /* seconds of the trace that the curve covers, and that are free */
    struct ssreport_band rate; /* iterations per second of the covered time */
    double measured;           /* iterations of a replay in the covered time */
};

static double measure(const struct ssreport_run *replay, double from, double to) {
    double speed = speed_of(replay);
    double throughput = ssreport_steps_throughput(&replay->record, from / speed, to / speed);
    return throughput * (to - from) / speed;
}

/*
 * Predicts the throughput in a part of the trace. With a replay, also counts its iterations in the
 * time for which the curve covers the load.
 */
static struct prediction predict(
    struct source *source, const struct ssreport_run *replay, double from, double to) {
    const struct trace *trace = source->trace;
    const struct ssreport_curve *curve = &source->curve;
    struct prediction prediction = {0};
    double *weights = source->weights, *sums = source->weights + curve->count;
    double open = NAN, until = NAN; /* covered time that is not yet measured */
    for (size_t i = 0; i < curve->count; i++)
        sums[i] = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct piece *piece = &trace->pieces[i];
        double begin = fmax(from, piece->from), end = fmin(to, piece->to);
        if (!(end > begin))
            continue;
        prediction.free += piece->free ? end - begin : 0;
        if (piece->free || piece->load < source->least - SAME_NUMBER ||
            piece->load > source->most + SAME_NUMBER)
            continue;
        /*
         * A load between the outermost target and the load reached there is predicted as the load
         * reached.
         */
        double load = fmin(fmax(piece->load, curve->least), curve->most);
        ssreport_curve_weigh(curve, load, weights);
        for (size_t j = 0; j < curve->count; j++)
            sums[j] += weights[j] * (end - begin);
        prediction.inside += end - begin;
        if (replay && !(begin <= until)) {
            prediction.measured += isnan(open) ? 0 : measure(replay, open, until);
            open = begin;
        }
        until = end;
    }
    if (replay && !isnan(open))
        prediction.measured += measure(replay, open, until);
    for (size_t i = 0; i < curve->count; i++)
        sums[i] /= prediction.inside;
    prediction.rate = ssreport_curve_sum(curve, sums, source->report->settings.confidence);
    return prediction;
}

static void add_row(struct source *source, const struct ssreport_run *replay) {
    const struct ssreport_run *run = source->first;
    double length = source->trace->length, speed = replay ? speed_of(replay) : NAN;
    double from = replay ? replay->record.counted_from * speed : 0;
    double to = replay ? fmin(ssreport_record_counted_to(&replay->record) * speed, length) : length;
    struct prediction prediction = {.rate = {NAN, NAN, NAN}};
    struct ssreport_notes notes = {0};
    bool known = source->curve.count > 0;
    if (known)
        prediction = predict(source, replay, from, to);
    else
        ssreport_notes_add(&notes,
            "no curve through %zu steps: a curve needs at least %d at different loads",
            source->points, SSREPORT_CURVE_MIN);
    double seconds = to - from, outside = seconds - prediction.inside - prediction.free;
    double measured = replay ? prediction.measured / prediction.inside * speed : NAN;
    if (known && outside > 1e-6 * seconds)
        ssreport_notes_add(
            &notes, "%.1f %% of the trace is not predicted", 100 * outside / seconds);
    struct table_sheet *sheet = ssreport_table(source->report, "prediction");
    TABLE_ROW(sheet, CELL("set", run->set + 1), CELL("environment", ssreport_run_environment(run)),
        CELL("measured_in", run->measured_in), CELL("workload", run->workload),
        CELL("method", run->method), CELL("tau_seconds", run->tau > 0 ? run->tau : NAN),
        CELL("points", source->points), CELL("trace", source->trace->name),
        CELL("seconds", seconds), CELL("predicted_iterations_per_second", prediction.rate.y),
        CELL("low", prediction.rate.low), CELL("high", prediction.rate.high),
        CELL("record", replay ? replay->record.name : ""), CELL("speed", speed),
        CELL("measured_iterations_per_second", measured),
        CELL("difference_percent", 100 * (prediction.rate.y / measured - 1)),
        CELL("note", notes.text), CELL("variant", run->variant), CELL("placement", run->placement),
        CELL("cpus", run->record.load_cpus));
    if (!run->workload)
        TABLE_CELLS(sheet, CELL("command", run->record.command),
            CELL("instances", run->record.instance_count));
    if (known)
        TABLE_CELLS(sheet, CELL("load_least", source->least), CELL("load_most", source->most),
            CELL("inside", prediction.inside / seconds),
            CELL("outside", fmax(outside, 0) / seconds), CELL("free", prediction.free / seconds));
}

/* Adds a row for the curve of these runs, and one for each replay. */
static int add_source(struct source *source) {
    struct ssreport_report *report = source->report;
    source->first = &report->runs[source->groups->first[source->group]];
    if (fit(source) < 0)
        return -1;
    add_row(source, NULL);
    for (size_t i = 0; i < report->run_count; i++) {
        if (source->is_replay[i] &&
            ssreport_run_compare(&report->runs[i], source->first, SOURCE) == 0)
            add_row(source, &report->runs[i]);
    }
    return 0;
}

static int add_sources(struct ssreport_report *report, const struct trace *trace) {
    SS_OWNED(free) bool *replays = calloc(report->run_count + 1, sizeof *replays);
    if (!replays)
        return -1;
    for (size_t i = 0; i < report->run_count; i++)
        replays[i] = is_replay(trace, &report->runs[i]);
    struct source all = {.report = report, .trace = trace, .is_replay = replays};
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_runs_group(report, SOURCE, is_part, &all);
    int result = groups.first ? 0 : -1;
    all.groups = &groups;
    for (size_t group = 0; result == 0 && group < groups.count; group++) {
        struct source source = all;
        source.group = group;
        result = add_source(&source);
        ssreport_curve_free(&source.curve);
        free(source.weights);
    }
    if (result == 0 && groups.count == 0)
        ssreport_notes_add(&report->notes,
            "nothing is predicted: no run without a neighbor counted "
            "iterations, apart from replays of the trace");
    return result;
}

int ssreport_report_predict(
    struct ssreport_report *report, const char *path, struct ss_error *error) {
    struct trace trace = {0};
    int result = read_trace(&trace, path, error);
    if (result == 0 && add_sources(report, &trace) < 0)
        result = ss_error_memory(error);
    ss_trace_records_free(&trace.records);
    free(trace.pieces);
    return result;
}
