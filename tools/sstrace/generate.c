/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"

#include <math.h>

#include <showstopper/random.h>
#include <showstopper/stairs.h>

#include "base/units.h"
#include "base/words.h"
#include "options/values.h"
#include "stages.h"

enum { NO, YES };

/* The options of all generators together, so that an option has the same meaning in each. */
struct config {
    double load, amplitude, phase, min, max;
    ss_time length, period, every, step, warmup, lasting;
    uint64_t seed;
    const char *levels;
    int interpolate, symmetric;
    struct ss_option_store *store; /* holds texts and warnings */
};

/* A shorter time in `m` causes a warning: the user probably meant minutes. */
#define LENGTH "500m"
#define STEP   "100m"

static int give(
    struct ss_trace_sink *sink, ss_time time, double load, bool free, struct ss_error *error) {
    struct ss_trace_record record = {.time = time, .load = load, .free = free};
    return sink->take(sink, &record, error);
}

static int check_count(ss_time length, ss_time every, struct ss_error *error) {
    if (length / every < SSTRACE_RECORDS_MAX)
        return 0;
    return ss_error_fail(
        error, "too many records (at most %d): choose a shorter length", SSTRACE_RECORDS_MAX);
}

static const struct ss_option constant_options[] = {
    SS_OPTION("load", LOAD, load, .required = 1, .help = "the load"),
    SS_OPTION(
        "length", TIME, length, .initial = "1M", .sensible = LENGTH, .help = "length of the trace"),
    SS_OPTION_END,
};

static int make_constant(const void *data, struct ss_trace_sink *sink, struct ss_error *error) {
    const struct config *config = data;
    if (give(sink, 0, config->load, false, error) != 0)
        return -1;
    return config->length ? give(sink, config->length, config->load, false, error) : 0;
}

static const struct ss_option sine_options[] = {
    SS_OPTION("mean", LOAD, load, .required = 1, .help = "the load about which the wave swings"),
    SS_OPTION("amplitude", LOAD, amplitude, .initial = "0.1",
        .help = "how far the wave swings to either side; limited to loads from 0 to 1"),
    SS_OPTION("period", TIME, period, .initial = "60s", .min = "1m", .sensible = STEP,
        .help = "the length of one period"),
    SS_OPTION("phase", NUMBER, phase, .initial = "0", .min = "0", .max = "1",
        .help = "where in its period the wave begins, as a fraction of the period"),
    SS_OPTION("length", TIME, length, .initial = "0", .sensible = LENGTH,
        .help = "length of the trace; 0: one period"),
    SS_OPTION("every", TIME, every, .initial = "0",
        .help = "time between records; 0: a hundredth of the period"),
    SS_OPTION_END,
};

static int make_sine(const void *data, struct ss_trace_sink *sink, struct ss_error *error) {
    const double two_pi = 6.283185307179586;
    const struct config *config = data;
    ss_time length = config->length ? config->length : config->period;
    ss_time every = config->every ? config->every : config->period / 100;
    if (check_count(length, every, error) != 0)
        return -1;
    for (ss_time time = 0;; time = length - time > every ? time + every : length) {
        double turns = (double)(time % config->period) / (double)config->period + config->phase;
        double load = config->load + config->amplitude * sin(two_pi * turns);
        /* Round to nine decimals: further digits would only show the error of the sine. */
        load = round(fmin(fmax(load, 0), 1) * 1e9) / 1e9;
        if (give(sink, time, load, false, error) != 0)
            return -1;
        if (time == length)
            return 0;
    }
}

static const struct ss_option staircase_options[] = {
    SS_OPTION("levels", TEXT, levels, .required = 1,
        .help = "FROM:TO:STEP:HOLD, three loads and a time, such as 95%:5%:5%:3M"),
    SS_OPTION("symmetric", CHOICE, symmetric, .initial = "no", .choices = "no yes",
        .help = "whether to go from the highest level down to the lowest and back up, the lowest "
                "held twice"),
    SS_OPTION("warmup", TIME, warmup, .initial = "0", .sensible = LENGTH,
        .help = "how long the workload runs free before the first level"),
    SS_OPTION_END,
};

static int parse_stairs(
    const struct config *config, struct ss_stairs *stairs, ss_time *hold, struct ss_error *error) {
    char levels[256];
    const char *colon = strrchr(config->levels, ':');
    if (!colon || (size_t)(colon - config->levels) >= sizeof levels)
        return ss_error_fail(
            error, "'%s' is not FROM:TO:STEP:HOLD", ss_words_show(config->levels).text);
    memcpy(levels, config->levels, (size_t)(colon - config->levels));
    levels[colon - config->levels] = '\0';
    stairs->symmetric = config->symmetric == YES;
    const struct ss_option row = {
        .name = "HOLD", .type = SS_OPTION_TIME, .min = "1u", .sensible = STEP};
    double parts[3];
    if (ss_units_loads(levels, ':', 0, parts, 3, error) != 0 ||
        ss_stairs_set(stairs, parts[0], parts[1], parts[2], error) != 0)
        return ss_error_wrap(
            error, "'%s' is not FROM:TO:STEP:HOLD", ss_words_show(config->levels).text);
    return ss_option_set(&row, colon + 1, hold, config->store, error);
}

static int make_staircase(const void *data, struct ss_trace_sink *sink, struct ss_error *error) {
    const struct config *config = data;
    struct ss_stairs stairs = {0};
    ss_time hold;
    if (parse_stairs(config, &stairs, &hold, error) != 0)
        return -1;
    if (config->warmup && give(sink, 0, 0, true, error) != 0)
        return -1;
    ss_time time = config->warmup;
    for (uint64_t step = 0; step < ss_stairs_count(&stairs); step++) {
        double load = ss_stairs_load(&stairs, step);
        ss_time end = ss_time_add(time, hold);
        if (give(sink, time, load, false, error) != 0 || give(sink, end, load, false, error) != 0)
            return -1;
        time = end;
    }
    return 0;
}

static const struct ss_option random_options[] = {
    SS_OPTION("seed", COUNT, seed, .initial = "1",
        .help = "selects the sequence; showstopper -t random has the same ones"),
    SS_OPTION("min", LOAD, min, .initial = "0", .help = "the lowest load"),
    SS_OPTION("max", LOAD, max, .initial = "1", .help = "the highest load"),
    SS_OPTION("step", TIME, step, .initial = "10s", .min = "1m", .sensible = STEP,
        .help = "the time from one draw to the next"),
    SS_OPTION("interpolate", CHOICE, interpolate, .initial = "no", .choices = "no yes",
        .help = "whether the load moves from draw to draw in a straight line"),
    SS_OPTION("length", TIME, length, .initial = "10M", .min = "1m", .sensible = LENGTH,
        .help = "length of the trace"),
    SS_OPTION_END,
};

static int check_bounds(const struct config *config, struct ss_error *error) {
    if (config->min <= config->max)
        return 0;
    return ss_error_fail(error, "min=%g is more than max=%g: swap them", config->min, config->max);
}

static int make_random(const void *data, struct ss_trace_sink *sink, struct ss_error *error) {
    const struct config *config = data;
    if (check_bounds(config, error) != 0 || check_count(config->length, config->step, error) != 0)
        return -1;
    double before = 0;
    ss_time time = 0, last = 0; /* of this draw and the previous one */
    for (uint64_t index = 0;; index++) {
        double load = config->min + ss_random(config->seed, index) * (config->max - config->min);
        bool over = time >= config->length;
        if (over && config->interpolate == YES)
            load =
                before + (load - before) * (double)(config->length - last) / (double)config->step;
        if (config->interpolate == NO && index > 0 &&
            give(sink, over ? config->length : time, before, false, error) != 0)
            return -1;
        if (over && config->interpolate == NO)
            return 0;
        if (give(sink, over ? config->length : time, load, false, error) != 0)
            return -1;
        if (over)
            return 0;
        before = load;
        last = time;
        time = ss_time_add(time, config->step);
    }
}

static const struct ss_option bursts_options[] = {
    SS_OPTION("seed", COUNT, seed, .initial = "1",
        .help = "selects the sequence; the same seed gives the same one on every machine"),
    SS_OPTION("min", LOAD, min, .initial = "10%", .help = "the load between bursts"),
    SS_OPTION("max", LOAD, max, .initial = "90%", .help = "the load of a burst"),
    SS_OPTION("every", TIME, every, .initial = "10s", .min = "1m", .sensible = STEP,
        .help = "mean time from the end of a burst to the next"),
    SS_OPTION(
        "lasting", TIME, lasting, .initial = "1s", .min = "1m", .help = "mean length of a burst"),
    SS_OPTION("length", TIME, length, .initial = "1M", .min = "1m", .sensible = LENGTH,
        .help = "length of the trace"),
    SS_OPTION_END,
};

/* Draws an interval of a Poisson process, in whole milliseconds, at least one. */
static ss_time draw_interval(uint64_t seed, uint64_t index, ss_time mean) {
    double length = -log(1 - ss_random(seed, index)) * (double)mean / (double)SS_MILLISECOND;
    return ss_time_from_double(fmax(round(length), 1) * (double)SS_MILLISECOND);
}

static int make_bursts(const void *data, struct ss_trace_sink *sink, struct ss_error *error) {
    const struct config *config = data;
    ss_time shortest = config->every < config->lasting ? config->every : config->lasting;
    if (check_bounds(config, error) != 0 || check_count(config->length, shortest, error) != 0)
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

static const struct sstrace_generator generators[] = {
    {"constant", "one load all the time", constant_options, make_constant},
    {"sine", "a sine wave about a mean load", sine_options, make_sine},
    {"staircase", "level after level, each held for a time", staircase_options, make_staircase},
    {"random", "evenly spread random loads", random_options, make_random},
    {"bursts", "short bursts at random times", bursts_options, make_bursts},
};

#define GENERATORS (sizeof generators / sizeof *generators)

const struct sstrace_generator *sstrace_generator_find(const char *name) {
    for (size_t i = 0; i < GENERATORS; i++) {
        if (strcmp(generators[i].name, name) == 0)
            return &generators[i];
    }
    return NULL;
}

int sstrace_generate(const struct sstrace_generation *generation, struct ss_option_store *store,
    struct ss_trace_sink *sink, struct ss_error *error) {
    const struct sstrace_generator *generator = generation->generator;
    struct config config = {.store = store};
    size_t before = store->warning_count;
    char label[64];
    snprintf(label, sizeof label, "--%s", generator->name);
    int result =
        ss_option_parse_string(generator->options, generation->text, &config, store, error);
    if (generation->symmetric)
        config.symmetric = YES;
    if (result == 0)
        result = generator->generate(&config, sink, error);
    ss_option_store_label(store, before, label);
    return result == 0 ? 0 : ss_error_wrap(error, "%s", label);
}

void sstrace_generators_print(FILE *stream) {
    for (size_t i = 0; i < GENERATORS; i++) {
        fprintf(stream, "--%s: %s\n", generators[i].name, generators[i].summary);
        ss_option_print_help(stream, generators[i].options);
    }
}
