/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Replays a trace from a file. In this file, `position` is a point of the scaled trace and `time`
 * is the caller's: they differ by the offset and by the completed loops.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/trace.h>

enum { LOOP_NO, LOOP_YES };

struct config {
    const char *path;
    double scale; /* factor for times */
    int loop;
    ss_time offset; /* offset into the file, before scaling */
};

struct trace {
    struct ss_trace_records records; /* times are scaled; at least one record */
    ss_time offset;                  /* offset, scaled */
    ss_time end;                     /* time of the last record */
    ss_time loop_from;               /* where a loop restarts: after a leading `free` section */
    ss_time loop_length;             /* 0: the trace does not loop */
};

struct cursor {
    size_t index; /* index of the record found last */
};

static const struct ss_option options[] = {
    SS_OPTION(
        "path", FILE, path, .help = "the file with the trace, in text or compiled", .required = 1),
    SS_OPTION("scale", NUMBER, scale, .initial = "1", .min = "0",
        .help = "the factor for times: 1/3 plays three times as fast"),
    SS_OPTION("loop", CHOICE, loop, .initial = "yes", .choices = "no yes",
        .help = "start again at the end of the trace; with no, the run ends there"),
    SS_OPTION("offset", TIME, offset, .initial = "0", .sensible = "500ms",
        .help = "how far into the trace to start, in the file's own time"),
    SS_OPTION_END,
};

static ss_time scaled(const struct config *config, ss_time time) {
    if (config->scale == 1)
        return time;
    long double length = roundl((long double)time * (long double)config->scale);
    return length < (long double)SS_TIME_NEVER ? (ss_time)length : SS_TIME_NEVER;
}

static int check_config(const struct config *config, struct ss_error *error) {
    if (strcmp(config->path, "-") == 0)
        return ss_error_fail(error, "cannot read a trace from standard input: name a file");
    if (!(config->scale > 0) || !isfinite(config->scale))
        return ss_error_fail(error, "scale must be more than 0");
    return 0;
}

static int set_times(struct trace *trace, const struct config *config, struct ss_error *error) {
    struct ss_trace_records *records = &trace->records;

    for (size_t i = 0; i < records->count; i++)
        records->items[i].time = scaled(config, records->items[i].time);
    trace->end = records->items[records->count - 1].time;
    trace->offset = scaled(config, config->offset);
    if (trace->end == SS_TIME_NEVER || trace->offset == SS_TIME_NEVER)
        return ss_error_fail(error,
            "scale makes the trace in %s longer than 584 years: choose a smaller scale",
            config->path);
    if (config->loop == LOOP_NO && trace->end == 0)
        return ss_error_fail(error,
            "the trace in %s has length 0: give its last record a later time, or loop=yes",
            config->path);
    if (config->loop == LOOP_NO && trace->offset >= trace->end)
        return ss_error_fail(error,
            "offset is not before the end of the trace in %s: choose a smaller offset, or loop=yes",
            config->path);

    trace->loop_from = ss_trace_loop_from(records);
    if (config->loop == LOOP_YES)
        trace->loop_length = trace->end - trace->loop_from;
    return 0;
}

static void release(struct ss_self *self) {
    struct trace *trace = self->prepared;
    if (trace)
        self->host->free_trace(&trace->records);
    free(trace);
    self->prepared = NULL;
}

static int prepare(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;

    if (check_config(config, error) != 0)
        return -1;

    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return ss_error_memory(error);

    self->prepared = trace;
    if (self->host->read_trace(config->path, &trace->records, error) == 0 &&
        set_times(trace, config, error) == 0)
        return 0;

    release(self);
    return -1;
}

static ss_time position_of(const struct trace *trace, ss_time time) {
    ss_time position = ss_time_add(time, trace->offset);
    if (trace->loop_length == 0 || position < trace->end)
        return position;
    return trace->loop_from + (position - trace->end) % trace->loop_length;
}

/*
 * Returns the number of records at or before `position`. Searches from a guess with doubling
 * strides, so that finding the next record takes constant time, and a jump O(log n).
 */
static size_t count_from(const struct ss_trace_records *records, size_t guess, ss_time position) {
    if (guess >= records->count || records->items[guess].time > position)
        return ss_trace_count_until(records, 0, records->count, position);
    size_t low = guess + 1, stride = 1;
    while (low + stride <= records->count && records->items[low + stride - 1].time <= position) {
        low += stride;
        stride *= 2;
    }
    size_t high = low + stride < records->count ? low + stride : records->count;
    return ss_trace_count_until(records, low, high, position);
}

/* Returns the time from `position`, in the free section of record `index`, to the next load. */
static ss_time free_length(const struct trace *trace, size_t index, ss_time position) {
    const struct ss_trace_records *records = &trace->records;
    while (index < records->count && records->items[index].free)
        index++;
    if (index < records->count)
        return records->items[index].time - position;
    return trace->loop_length > 0 ? trace->end - position : SS_TIME_NEVER;
}

static void target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    const struct trace *trace = self->prepared;
    const struct ss_trace_records *records = &trace->records;
    struct cursor *cursor = self->own;
    ss_time position = position_of(trace, time);
    size_t count = count_from(records, cursor->index, position);
    size_t index = count > 0 ? count - 1 : 0;
    cursor->index = index;

    *target = (struct ss_target){
        .load = ss_trace_load_of(records, count, position),
        .free = records->items[index].free,
    };
    if (target->free)
        target->until = ss_time_add(time, free_length(trace, index, position));
}

static ss_time length(const struct ss_self *self) {
    const struct config *config = self->config;
    const struct trace *trace = self->prepared;
    return config->loop == LOOP_YES ? SS_TIME_NEVER : trace->end - trace->offset;
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "file",
            .summary = "replays a load trace from a file",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct cursor),
            .prepare = prepare,
            .release = release,
        },
    .target = target,
    .length = length,
};
