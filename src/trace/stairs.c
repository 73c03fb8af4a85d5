/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/stairs.h"

#include <math.h>

#include "base/units.h"
#include "base/words.h"

#define LEVELS_MAX 1000000

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

static int count_levels(struct ss_stairs *stairs, double step, struct ss_error *error) {
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

int ss_stairs_parse(const char *text, struct ss_stairs *stairs, struct ss_error *error) {
    const char *at = text;
    double step;
    if (parse_part(&at, false, &stairs->from, error) < 0 ||
        parse_part(&at, false, &stairs->to, error) < 0 || parse_part(&at, true, &step, error) < 0 ||
        count_levels(stairs, step, error) < 0)
        return ss_error_wrap(error, "'%s' is not FROM:TO:STEP", ss_words_show(text).text);
    return 0;
}

uint64_t ss_stairs_count(const struct ss_stairs *stairs) {
    return stairs->symmetric ? 2 * stairs->levels : stairs->levels;
}

/* Which level, counted from FROM, is held in a step. */
static uint64_t find_level(const struct ss_stairs *stairs, uint64_t step) {
    if (!stairs->symmetric)
        return step;
    uint64_t below_top = step < stairs->levels ? step : 2 * stairs->levels - 1 - step;
    return stairs->rise > 0 ? stairs->levels - 1 - below_top : below_top;
}

/* Sums of steps miss by rounding errors, which could lie outside [0, 1]: 0.9 - 3 * 0.2 is not 0.3.
 */
double ss_stairs_load(const struct ss_stairs *stairs, uint64_t step) {
    double load = stairs->from + (double)find_level(stairs, step) * stairs->rise;
    return round(load * 1e12) / 1e12;
}
