/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#include <math.h>
#include <stdlib.h>

#include "base/words.h"

#define SPEED_MAX 100

/* Parses "CORES:SPEED" at `text`. Returns its end; NULL if invalid. */
static const char *parse_step(const char *text, struct cores_step *step) {
    char *end;
    step->cores = strtod(text, &end);
    if (end == text || *end != ':' || !(step->cores >= 1) || step->cores != floor(step->cores))
        return NULL;
    text = end + 1;
    step->speed = strtod(text, &end);
    if (end == text || !(step->speed > 0 && step->speed <= SPEED_MAX))
        return NULL;
    return end;
}

int cores_parse_steps(struct cores *cores, const char *text, struct ss_error *error) {
    cores->step_count = 0;
    for (const char *next = text;; next++) {
        struct cores_step step;
        next = parse_step(next, &step);
        if (!next || (*next && *next != ','))
            return ss_error_fail(error,
                "'%s' is not a list of CORES:SPEED, such as 2:1.3,4:1.15, with speeds above 0 "
                "and up to %d",
                ss_words_show(text).text, SPEED_MAX);
        if (cores->step_count > 0 && step.cores <= cores->steps[cores->step_count - 1].cores)
            return ss_error_fail(
                error, "'%s': the numbers of cores must increase", ss_words_show(text).text);
        if (cores->step_count == CORES_STEPS_MAX)
            return ss_error_fail(error, "too many steps (at most %d)", CORES_STEPS_MAX);
        cores->steps[cores->step_count++] = step;
        if (!*next)
            return 0;
    }
}

/* Returns the mean number of cores with two busy threads. */
static double count_doubled(const struct cores *cores, double cpus, double busy) {
    if (cores->gain <= 0)
        return 0;
    if (cores->overlaps_at_random)
        return cpus > 1 ? fmax(busy * (busy - 1), 0) / (2 * (cpus - 1)) : 0;
    return fmax(busy - cpus / 2, 0);
}

static double frequency_of(const struct cores *cores, double busy) {
    for (size_t i = 0; i < cores->step_count; i++) {
        if (busy <= cores->steps[i].cores)
            return cores->steps[i].speed;
    }
    return 1;
}

/* Returns the work of all busy CPUs per unit of time. `busy` is a whole number. */
static double work_of(const struct cores *cores, double cpus, double busy) {
    double doubled = count_doubled(cores, cpus, busy);
    double used = busy - doubled, below = floor(used), part = used - below;
    double frequency =
        (1 - part) * frequency_of(cores, below) + part * frequency_of(cores, ceil(used));
    return (used + (cores->gain - 1) * doubled) * frequency;
}

double cores_speed(const struct cores *cores, double cpus, double busy) {
    if (busy <= 0 || (cores->gain <= 0 && cores->step_count == 0))
        return 1;
    double below = floor(busy), part = busy - below;
    double work =
        (1 - part) * work_of(cores, cpus, below) + part * work_of(cores, cpus, ceil(busy));
    return work / busy;
}
