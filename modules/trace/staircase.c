/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <showstopper/stairs.h>
#include <showstopper/trace.h>

enum symmetric {
    SYMMETRIC_NO,
    SYMMETRIC_YES,
};

struct config {
    const char *levels;
    ss_time hold;
    int symmetric; /* enum symmetric */
    ss_time warmup;
};

static const struct ss_option options[] = {
    SS_OPTION("levels", TEXT, levels, .required = 1,
        .help = "FROM:TO:STEP, three loads, such as 95%:5%:5%"),
    SS_OPTION("hold", TIME, hold, .initial = "3min", .min = "1ms", .sensible = "100ms",
        .help = "how long each level lasts"),
    SS_OPTION("symmetric", CHOICE, symmetric, .initial = "no", .choices = "no yes",
        .help = "whether to go from the highest level down to the lowest and back up, the lowest "
                "held twice"),
    SS_OPTION("warmup", TIME, warmup, .initial = "0", .sensible = "500ms",
        .help = "how long the workload runs free before the first level"),
    SS_OPTION_END,
};

static void release_stairs(struct ss_self *self) {
    free(self->prepared);
    self->prepared = NULL;
}

static int prepare_stairs(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;

    struct ss_stairs *stairs = malloc(sizeof *stairs);
    if (!stairs)
        return ss_error_memory(error);

    double parts[3];
    self->prepared = stairs;
    stairs->symmetric = config->symmetric == SYMMETRIC_YES;
    if (self->host->parse_loads(self->host, config->levels, ':', parts, 3, error) == 0 &&
        ss_stairs_set(stairs, parts[0], parts[1], parts[2], error) == 0)
        return 0;

    release_stairs(self);
    return ss_error_wrap(error, "levels: '%s' is not FROM:TO:STEP", config->levels);
}

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    const struct config *config = self->config;
    const struct ss_stairs *stairs = self->prepared;
    uint64_t step = ss_time_since(time, config->warmup) / config->hold;
    uint64_t last = ss_stairs_count(stairs) - 1;
    *target = (struct ss_target){.load = ss_stairs_load(stairs, step < last ? step : last)};
    if (time < config->warmup) {
        target->free = true;
        target->until = config->warmup;
    }
}

static ss_time get_length(const struct ss_self *self) {
    const struct config *config = self->config;
    uint64_t steps = ss_stairs_count(self->prepared);
    if (config->hold > SS_TIME_NEVER / steps)
        return SS_TIME_NEVER;
    return ss_time_add(config->warmup, steps * config->hold);
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "staircase",
            .summary = "a staircase: holds each level for a time, then ends",
            .options = options,
            .config_size = sizeof(struct config),
            .prepare = prepare_stairs,
            .release = release_stairs,
        },
    .target = get_target,
    .length = get_length,
};
