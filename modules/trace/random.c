/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/random.h>
#include <showstopper/trace.h>

enum interpolate {
    INTERPOLATE_NO,
    INTERPOLATE_YES,
};

struct config {
    uint64_t seed;
    double min;
    double max;
    ss_time step;
    int interpolate; /* enum interpolate */
};

static const struct ss_option options[] = {
    SS_OPTION("seed", COUNT, seed, .initial = "1",
        .help = "selects the sequence; the same seed gives the same one on every machine"),
    SS_OPTION("min", LOAD, min, .initial = "0", .help = "the lowest target"),
    SS_OPTION("max", LOAD, max, .initial = "1", .help = "the highest target"),
    SS_OPTION("step", TIME, step, .initial = "10s", .min = "1ms", .sensible = "100ms",
        .help = "the time from one draw to the next"),
    SS_OPTION("interpolate", CHOICE, interpolate, .initial = "no", .choices = "no yes",
        .help = "whether the target moves from draw to draw in a straight line"),
    SS_OPTION_END,
};

static int check_bounds(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    if (config->min <= config->max)
        return 0;
    return ss_error_fail(error, "min=%g is more than max=%g: swap them", config->min, config->max);
}

static double draw(const struct config *config, uint64_t index) {
    return config->min + ss_random(config->seed, index) * (config->max - config->min);
}

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    const struct config *config = self->config;
    uint64_t index = time / config->step;
    double load = draw(config, index);
    if (config->interpolate == INTERPOLATE_YES) {
        double part = (double)(time % config->step) / (double)config->step;
        load += part * (draw(config, index + 1) - load);
    }
    *target = (struct ss_target){.load = load};
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "random",
            .summary = "uniform random targets; the same seed gives the same ones",
            .options = options,
            .config_size = sizeof(struct config),
            .prepare = check_bounds,
        },
    .target = get_target,
};
