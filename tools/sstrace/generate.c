/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"

#include <math.h>
#include <stdlib.h>

#include <showstopper/random.h>
#include <showstopper/trace.h>

#include "base/owned.h"
#include "loop/module_set.h"
#include "options/values.h"
#include "stages.h"

/* The trace modules, which are linked into sstrace. */
extern const struct ss_trace_module showstopper_trace_constant, showstopper_trace_random,
    showstopper_trace_sine, showstopper_trace_staircase;

/* The options that a generator has in addition to those of its module. */
struct config {
    ss_time length, every, lasting;
    double min, max;
    uint64_t seed;
};

/* A shorter time in `m` (ms) causes a warning: the user probably meant minutes. */
#define LENGTH "500ms"
#define STEP   "100ms"

struct generator {
    const char *name;
    const char *summary;
    const struct ss_trace_module *module; /* NULL for bursts */
    const char *unit; /* the module's option with the length of `parts` samples; may be NULL */
    unsigned parts;
    struct ss_option options[8];
};

static const struct generator generators[] = {
    {"constant", "one load all the time", &showstopper_trace_constant, NULL, 0,
        {SS_OPTION("length", TIME, length, .initial = "1min", .sensible = LENGTH,
            .help = "length of the trace")}},
    {"sine", "a sine wave about a mean load", &showstopper_trace_sine, "period", 100,
        {SS_OPTION("length", TIME, length, .initial = "0", .sensible = LENGTH,
             .help = "length of the trace; 0: one period"),
            SS_OPTION("every", TIME, every, .initial = "0",
                .help = "time between records; 0: a hundredth of the period")}},
    {"staircase", "a sequence of levels, each held for a time: FROM:TO:STEP:HOLD",
        &showstopper_trace_staircase, "hold", 1, {SS_OPTION_END}},
    {"random", "uniform random loads, the same as those of showstopper -t random",
        &showstopper_trace_random, "step", 1,
        {SS_OPTION("length", TIME, length, .initial = "10min", .min = "1ms", .sensible = LENGTH,
            .help = "length of the trace")}},
    {"bursts", "short bursts at random times", NULL, NULL, 0,
        {SS_OPTION("seed", COUNT, seed, .initial = "1",
             .help = "selects the sequence; the same seed gives the same one on every machine"),
            SS_OPTION("min", LOAD, min, .initial = "10%", .help = "the load between bursts"),
            SS_OPTION("max", LOAD, max, .initial = "90%", .help = "the load of a burst"),
            SS_OPTION("every", TIME, every, .initial = "10s", .min = "1ms", .sensible = STEP,
                .help = "mean time from the end of a burst to the next"),
            SS_OPTION("lasting", TIME, lasting, .initial = "1s", .min = "1ms",
                .help = "mean length of a burst"),
            SS_OPTION("length", TIME, length, .initial = "1min", .min = "1ms", .sensible = LENGTH,
                .help = "length of the trace")}},
};

#define GENERATORS (sizeof generators / sizeof *generators)

#define ROWS_MAX 16

/*
 * The options of a generator: those of its module, then its own. A struct config with the values of
 * its own follows the module's configuration in memory.
 */
struct rows {
    struct ss_option all[ROWS_MAX];
    size_t own; /* offset of struct config */
};

static void list_rows(const struct generator *generator, struct rows *rows) {
    const struct ss_module *head = generator->module ? &generator->module->head : NULL;
    size_t count = 0;
    *rows = (struct rows){.own = head ? (head->config_size + 15) / 16 * 16 : 0};

    for (const struct ss_option *row = head ? head->options : NULL; row && row->name; row++)
        rows->all[count++] = *row;
    for (const struct ss_option *row = generator->options; row->name; row++) {
        rows->all[count] = *row;
        rows->all[count++].offset += rows->own;
    }
}

/* Returns a pointer to the value of an option; NULL if no option has this name. */
static const void *find_value(const struct rows *rows, const char *config, const char *name) {
    for (const struct ss_option *row = rows->all; row->name; row++) {
        if (strcmp(row->name, name) == 0)
            return config + row->offset;
    }
    return NULL;
}

static int give(
    struct ss_trace_sink *sink, ss_time time, double load, bool free, struct ss_error *error) {
    struct ss_trace_record record = {.time = time, .load = load, .free = free};
    return sink->take(sink, &record, error);
}

static int check_count(ss_time length, ss_time every, struct ss_error *error) {
    if (every == 0 || length / every < SSTRACE_RECORDS_MAX)
        return 0;
    return ss_error_fail(
        error, "too many records (at most %d): choose a shorter length", SSTRACE_RECORDS_MAX);
}

/* Samples the module's target at each step. With `holds`, holds each target until the next. */
static int sample(const struct ss_trace_module *module, const struct ss_self *self, ss_time step,
    ss_time length, bool holds, struct ss_trace_sink *sink, struct ss_error *error) {
    if (check_count(length, step, error) != 0)
        return -1;
    for (ss_time time = 0;;) {
        struct ss_target target;
        module->target(self, time, &target);
        /* Round to nine decimals: further digits would only show rounding errors. */
        double load = round(target.load * 1e9) / 1e9;
        if (give(sink, time, load, target.free, error) != 0)
            return -1;
        if (time == length)
            return 0;
        time = step < length - time ? time + step : length;
        if (target.free)
            time = target.until;
        else if (holds && give(sink, time, load, false, error) != 0)
            return -1;
        if (holds && time == length)
            return 0;
    }
}

static int run_module(const struct generator *generator, const struct rows *rows,
    const char *values, struct ss_trace_sink *sink, struct ss_error *error) {
    const struct ss_trace_module *module = generator->module;
    const struct config *config = (const void *)(values + rows->own);
    const int *interpolate = find_value(rows, values, "interpolate");
    const ss_time *unit = generator->unit ? find_value(rows, values, generator->unit) : NULL;
    struct ss_self self = {.host = &ss_host, .config = values};
    if (module->head.prepare && module->head.prepare(&self, error) != 0)
        return -1;

    ss_time length = config->length, step = config->every;
    if (module->length)
        length = module->length(&self);
    else if (unit && length == 0)
        length = *unit;
    if (step == 0)
        step = unit ? *unit / generator->parts : length;
    int result = sample(module, &self, step, length,
        generator->parts == 1 && !(interpolate && *interpolate), sink, error);

    if (module->head.release)
        module->head.release(&self);
    return result;
}

/* Draws an interval of a Poisson process, in whole milliseconds, at least one. */
static ss_time draw_interval(uint64_t seed, uint64_t index, ss_time mean) {
    double length = -log(1 - ss_random(seed, index)) * (double)mean / (double)SS_MILLISECOND;
    return ss_time_from_double(fmax(round(length), 1) * (double)SS_MILLISECOND);
}

static int make_bursts(
    const struct config *config, struct ss_trace_sink *sink, struct ss_error *error) {
    ss_time shortest = config->every < config->lasting ? config->every : config->lasting;
    if (config->min > config->max)
        return ss_error_fail(error, "min=%g is above max=%g: swap them", config->min, config->max);
    if (check_count(config->length, shortest, error) != 0)
        return -1;

    ss_time time = 0;
    for (uint64_t index = 0; time < config->length; index++) {
        bool burst = index % 2;
        ss_time mean = burst ? config->lasting : config->every;
        ss_time end = ss_time_add(time, draw_interval(config->seed, index, mean));
        double load = burst ? config->max : config->min;
        end = end < config->length ? end : config->length;

        if (give(sink, time, load, false, error) != 0 || give(sink, end, load, false, error) != 0)
            return -1;
        time = end;
    }
    return 0;
}

/*
 * Returns the options as the module expects them: "FROM:TO:STEP:HOLD" becomes
 * "FROM:TO:STEP,hold=HOLD". free() the result; NULL if memory is exhausted.
 */
static char *write_options(const struct sstrace_generation *generation) {
    const char *text = generation->text, *more = generation->symmetric ? ",symmetric=yes" : "";
    const char *colon = text;
    for (int i = 0; i < 3 && colon; i++) {
        colon += i > 0;
        colon = memchr(colon, ':', strcspn(colon, ","));
    }

    char *options = NULL;
    int length =
        colon ? asprintf(&options, "%.*s,hold=%s%s", (int)(colon - text), text, colon + 1, more)
              : asprintf(&options, "%s%s", text, more);
    return length < 0 ? NULL : options;
}

int sstrace_generate(const struct sstrace_generation *generation, struct ss_option_store *store,
    struct ss_trace_sink *sink, struct ss_error *error) {
    const struct generator *generator = generators;
    while (strcmp(generator->name, generation->name) != 0)
        generator++;

    size_t before = store->warning_count;
    struct rows rows;
    char label[64];
    list_rows(generator, &rows);
    snprintf(label, sizeof label, "--%s", generator->name);
    SS_OWNED(free) char *values = calloc(1, rows.own + sizeof(struct config));
    SS_OWNED(free) char *options = write_options(generation);
    if (!values || !options)
        return ss_error_memory(error);

    int result = ss_option_parse_string(rows.all, options, values, store, error);
    if (result == 0)
        result = generator->module
                     ? run_module(generator, &rows, values, sink, error)
                     : make_bursts((const struct config *)(void *)values, sink, error);

    ss_option_store_label(store, before, label);
    return result == 0 ? 0 : ss_error_wrap(error, "%s", label);
}

void sstrace_generators_print(FILE *stream) {
    for (size_t i = 0; i < GENERATORS; i++) {
        struct rows rows;
        list_rows(&generators[i], &rows);
        fprintf(stream, "--%s: %s\n", generators[i].name, generators[i].summary);
        ss_option_print_help(stream, rows.all);
    }
}
