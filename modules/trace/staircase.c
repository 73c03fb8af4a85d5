/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/trace.h>

#include "units.h"

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

struct stairs {
    double from;
    double to;
    double rise;     /* load from one level to the next, negative when the stairs go down */
    uint64_t levels; /* at least 1 */
};

#define LEVELS_MAX 1000000

static const struct ss_option options[] = {
    {.name = "levels",
        .type = SS_OPTION_TEXT,
        .offset = offsetof(struct config, levels),
        .required = 1,
        .help = "FROM:TO:STEP, three loads, such as 95%:5%:5%"},
    {.name = "hold",
        .type = SS_OPTION_TIME,
        .offset = offsetof(struct config, hold),
        .initial = "3M",
        .min = "1m",
        .help = "how long each level lasts"},
    {.name = "symmetric",
        .type = SS_OPTION_CHOICE,
        .offset = offsetof(struct config, symmetric),
        .initial = "no",
        .choices = "no yes",
        .help = "whether to go from the highest level down to the lowest and back up, the lowest "
                "held twice"},
    {.name = "warmup",
        .type = SS_OPTION_TIME,
        .offset = offsetof(struct config, warmup),
        .initial = "0",
        .help = "how long the workload runs free before the first level"},
    SS_OPTION_END,
};

/* Reads the part of `text` before the next colon, or its rest; moves `text` behind it. */
static int parse_part(const char **text, bool last, double *load, struct ss_error *error) {
    char part[64];
    size_t length = strcspn(*text, ":");
    if ((*text)[length] != (last ? '\0' : ':') || length >= sizeof part)
        return ss_error_set(error, SS_ERROR_FAILED, "it takes three loads with colons between");
    memcpy(part, *text, length);
    part[length] = '\0';
    *text += length + !last;
    return ss_units_load(part, load, error);
}

static int count_levels(struct stairs *stairs, double step, struct ss_error *error) {
    if (!(step > 0))
        return ss_error_set(error, SS_ERROR_FAILED, "STEP must be more than 0");
    /* 90% in steps of 5% is 18 of them, whatever the last bit of 0.9 / 0.05 says. */
    double rises = floor(fabs(stairs->to - stairs->from) / step + 1e-6);
    if (rises >= LEVELS_MAX)
        return ss_error_set(
            error, SS_ERROR_FAILED, "more than %d levels: the STEP is too small", LEVELS_MAX);
    stairs->rise = stairs->from <= stairs->to ? step : -step;
    stairs->levels = (uint64_t)rises + 1;
    return 0;
}

static int parse_stairs(const char *text, struct stairs *stairs, struct ss_error *error) {
    double step;
    if (parse_part(&text, false, &stairs->from, error) < 0 ||
        parse_part(&text, false, &stairs->to, error) < 0 ||
        parse_part(&text, true, &step, error) < 0)
        return -1;
    return count_levels(stairs, step, error);
}

static int prepare_stairs(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    struct stairs *stairs = malloc(sizeof *stairs);
    if (!stairs)
        return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
    if (parse_stairs(config->levels, stairs, error) < 0) {
        free(stairs);
        return ss_error_wrap(error, "levels: '%s' is not FROM:TO:STEP", config->levels);
    }
    self->prepared = stairs;
    return 0;
}

static void release_stairs(struct ss_self *self) {
    free(self->prepared);
    self->prepared = NULL;
}

static uint64_t count_steps(const struct config *config, const struct stairs *stairs) {
    return config->symmetric == SYMMETRIC_YES ? 2 * stairs->levels : stairs->levels;
}

/* Which level, counted from FROM, is held in a step. */
static uint64_t find_level(
    const struct config *config, const struct stairs *stairs, uint64_t step) {
    if (config->symmetric == SYMMETRIC_NO)
        return step;
    uint64_t below_top = step < stairs->levels ? step : 2 * stairs->levels - 1 - step;
    return stairs->rise > 0 ? stairs->levels - 1 - below_top : below_top;
}

static double find_load(const struct stairs *stairs, uint64_t level) {
    double load = stairs->from + (double)level * stairs->rise;
    /* Sums of steps miss the end by a rounding error, which could lie outside [0, 1]. */
    return fabs(load - stairs->to) < 1e-9 ? stairs->to : load;
}

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    const struct config *config = self->config;
    const struct stairs *stairs = self->prepared;
    uint64_t step = ss_time_since(time, config->warmup) / config->hold;
    uint64_t last = count_steps(config, stairs) - 1;
    uint64_t level = find_level(config, stairs, step < last ? step : last);
    *target = (struct ss_target){.load = find_load(stairs, level)};
    if (time < config->warmup) {
        target->free = true;
        target->until = config->warmup;
    }
}

static ss_time get_length(const struct ss_self *self) {
    const struct config *config = self->config;
    uint64_t steps = count_steps(config, self->prepared);
    if (config->hold > SS_TIME_NEVER / steps)
        return SS_TIME_NEVER;
    return ss_time_add(config->warmup, steps * config->hold);
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            .version = SS_MODULE_VERSION,
            .size = sizeof(struct ss_trace_module),
            .kind = SS_KIND_TRACE,
            .name = "staircase",
            .summary = "level after level, each held for a time, then the end",
            .options = options,
            .config_size = sizeof(struct config),
            .prepare = prepare_stairs,
            .release = release_stairs,
        },
    .target = get_target,
    .length = get_length,
};
