/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_LOOP_H
#define SHOWSTOPPER_TESTS_LOOP_H

/* Runs complete control loops on the simulated machine, with the real modules. */

#include <math.h>
#include <stdlib.h>

#include "modules.h"
#include "trial.h"

#define SAMPLES_MAX 1000

struct log {
    struct trial_sample samples[SAMPLES_MAX];
    size_t count;
};

static inline void add_sample(void *context, const struct trial_sample *sample) {
    struct log *log = context;
    assert_that(log->count, <, SAMPLES_MAX);
    log->samples[log->count++] = *sample;
}

/* Adds the samples of the trial to an empty log. */
static inline void keep_samples(struct trial_options *options, struct log *log) {
    log->count = 0;
    options->on_sample = add_sample;
    options->context = log;
}

/* A mix that is freed at the end of its scope. */
#define OWNED_MIX __attribute__((cleanup(demand_mix_free))) struct demand_mix

static inline struct demand_mix parse_mix(const char *text) {
    struct demand_mix mix;
    struct ss_error error = {0};
    assert_succeeds(demand_mix_parse(&mix, text, &error), error);
    return mix;
}

/* Returns showstopper's defaults on a machine of `cpus` CPUs with `instances` serial instances. */
static inline struct trial_options make_options(
    uint32_t cpus, uint32_t instances, const char *load) {
    return (struct trial_options){
        .cpus = cpus,
        .instances = instances,
        .width = 1,
        .modules = {"constant", "realtime", "rbpid", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = load},
        .window = SS_WINDOW_DEFAULT,
        .settle = 10 * SS_SECOND,
        .seed = 1,
    };
}

/* Like make_options(), but without feedback. */
static inline struct trial_options make_fixed(uint32_t cpus, uint32_t instances, const char *load) {
    struct trial_options options = make_options(cpus, instances, load);
    options.modules[SS_KIND_CONTROL] = "fixed";
    return options;
}

static inline void open_trial(struct trial *trial, const struct trial_options *options) {
    struct ss_error error = {0};
    assert_succeeds(trial_open(trial, options, &error), error);
}

static inline void advance(struct trial *trial, ss_time length) {
    struct ss_error error = {0};
    assert_succeeds(trial_advance(trial, length, &error), error);
}

/* Wakes all executors now, as the master does after a change. */
static inline void wake_all(struct trial *trial) {
    for (uint32_t i = 0; i < trial->options.instances; i++) {
        if (atomic_load(&trial->board->rows[i].life) == SS_LIFE_ALIVE) {
            trial->instances[i].has_lateness = true;
            sleepers_set(&trial->sleepers, i, trial->now);
        }
    }
}

static inline struct trial_figures run(const struct trial_options *options, ss_time length) {
    static struct trial trial;
    struct trial_figures figures;
    open_trial(&trial, options);
    advance(&trial, length);
    trial_get_figures(&trial, &figures);
    trial_close(&trial);
    return figures;
}

static inline void assert_held(const struct trial_options *options, double error, double mse) {
    struct trial_figures figures = run(options, 190 * SS_SECOND);
    if (!(fabs(figures.error_mean_percent) <= error) || !(figures.error_mse_e4 <= mse))
        fail_msg("%s %s %s %s: mean error %g %%, MSE %g", options->modules[SS_KIND_CONTROL],
            options->modules[SS_KIND_SPACE], options->modules[SS_KIND_DITHERING],
            options->options[SS_KIND_TRACE], figures.error_mean_percent, figures.error_mse_e4);
    assert_int_equal(figures.samples, 360);
}

/* Checks that the error stays within a bound during a period, in seconds since the start. */
static inline void assert_settled(const struct log *log, double from, double to, double within) {
    int checked = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct trial_sample *sample = &log->samples[i];
        if (sample->elapsed <= from || sample->elapsed > to)
            continue;
        checked++;
        if (!(fabs(sample->target - sample->load) <= within))
            fail_msg("at %g s: target %g, load %g", sample->elapsed, sample->target, sample->load);
    }
    assert_that(checked, >, 0);
}

#endif
