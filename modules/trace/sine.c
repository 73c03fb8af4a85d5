/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/trace.h>

struct config {
    double mean;
    double amplitude;
    ss_time period;
    double phase; /* phase in periods */
};

static const struct ss_option options[] = {
    SS_OPTION("mean", LOAD, mean, .required = 1, .help = "the mean of the target"),
    SS_OPTION("amplitude", LOAD, amplitude, .initial = "0.1",
        .help = "how far the target swings to either side; limited to loads from 0 to 1"),
    SS_OPTION("period", TIME, period, .initial = "60s", .min = "1ms", .sensible = "100ms",
        .help = "the length of one period"),
    SS_OPTION("phase", NUMBER, phase, .initial = "0", .min = "0", .max = "1",
        .help = "where in its period the wave begins, as a fraction of the period"),
    SS_OPTION_END,
};

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    const double two_pi = 6.283185307179586;
    const struct config *config = self->config;
    /* The remainder is computed in whole nanoseconds, so it is exact for any length of run. */
    double turns = (double)(time % config->period) / (double)config->period + config->phase;
    double load = config->mean + config->amplitude * sin(two_pi * turns);
    *target = (struct ss_target){.load = fmin(fmax(load, 0), 1)};
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "sine",
            .summary = "a sine wave about a mean load",
            .options = options,
            .config_size = sizeof(struct config),
        },
    .target = get_target,
};
