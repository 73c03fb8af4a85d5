/* SPDX-License-Identifier: Apache-2.0 */
#include "demand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "chance.h"

/* A phase in which this many threads are runnable. Its length is exponentially distributed. */
struct phase {
    uint32_t threads;
    double mean; /* mean length in nanoseconds */
};

struct table {
    const struct phase *phases;
    size_t count;
};

/*
 * Models `ssburn blocking`: a thread with a token works for 60 us, two thirds of it under a mutex,
 * and passes the token on. So one thread always works, and sometimes a second one: 1.3 on average.
 */
static const struct phase blocking[] = {
    {1, 46667},
    {2, 20000},
};

/*
 * The probability that the threads of a continued instance are on one CPU at first. These values
 * reproduce the duty that was measured for a load on 2 CPUs, and its scatter.
 */
#define BLOCKING_SHARING_CHANCE 0.6
#define BLOCKING_SHARING_MEAN   12e6 /* mean, in nanoseconds */

/*
 * Models 1,100 forks per second: a child works, then parent and child run concurrently, then both
 * wait. On average one thread runs.
 */
static const struct phase forking[] = {
    {1, 700000},
    {2, 100000},
    {0, 100000},
};

/* A queue without a backlog wakes up once per period. */
#define QUEUE_PERIOD (10 * SS_MILLISECOND)

static const struct table tables[] = {
    [DEMAND_SERIAL] = {NULL, 1},
    [DEMAND_PARALLEL] = {NULL, 1},
    [DEMAND_BLOCKING] = {blocking, sizeof blocking / sizeof *blocking},
    [DEMAND_FORKING] = {forking, sizeof forking / sizeof *forking},
    [DEMAND_QUEUE] = {NULL, 2},
};

static const char *const names[] = {
    [DEMAND_SERIAL] = "serial",
    [DEMAND_PARALLEL] = "parallel",
    [DEMAND_BLOCKING] = "blocking",
    [DEMAND_FORKING] = "forking",
};

static int parse_queue(struct demand_class *class, const char *text, struct ss_error *error) {
    class->kind = DEMAND_QUEUE;
    if (ss_units_load(text, 0, &class->rate, error) < 0)
        return -1;
    if (!(class->rate > 0 && class->rate < 1))
        return ss_error_fail(error,
            "the work of a queue must take more than 0%% and less than 100%% of a CPU, not %s",
            text);
    return 0;
}

static int parse_name(struct demand_class *class, const char *name, struct ss_error *error) {
    static const char prefix[] = "profile:", queue[] = "queue:";
    static const struct ss_suggest_names known = {"class", SS_SUGGEST_ROWS(names),
        "use serial, parallel, blocking, forking, queue:LOAD or profile:FILE"};

    if (strncmp(name, queue, sizeof queue - 1) == 0)
        return parse_queue(class, name + sizeof queue - 1, error);
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
        class->kind = DEMAND_PROFILE;
        return profile_read(&class->profile, name + sizeof prefix - 1, error);
    }

    int found = ss_suggest_find(&known, name, error);
    if (found >= 0)
        class->kind = (enum demand_kind)found;
    return found < 0 ? -1 : 0;
}

/* Splits off the weight: digits after the last colon. Without them the weight is 1. */
static int parse_weight(char *item, uint64_t *weight, struct ss_error *error) {
    char *colon = strrchr(item, ':');
    *weight = 1;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return 0;

    *colon = '\0';
    if (ss_units_count(colon + 1, weight, error) < 0)
        return -1;
    if (*weight < 1 || *weight > 1000000)
        return ss_error_fail(error, "a weight must be between 1 and 1000000, not %s", colon + 1);
    return 0;
}

int demand_mix_parse(struct demand_mix *mix, const char *text, struct ss_error *error) {
    size_t count;
    *mix = (struct demand_mix){0};
    SS_OWNED(free) char **items = ss_words_split_list(text, &count, error);
    if (!items)
        return -1;
    mix->classes = calloc(count, sizeof *mix->classes);
    if (!mix->classes)
        return ss_error_memory(error);

    for (size_t i = 0; i < count; i++) {
        struct demand_class *class = &mix->classes[mix->count++];
        if (parse_weight(items[i], &class->weight, error) < 0 ||
            parse_name(class, items[i], error) < 0)
            return -1;
        mix->weight += class->weight;
    }
    return 0;
}

void demand_mix_free(struct demand_mix *mix) {
    for (size_t i = 0; i < mix->count; i++)
        profile_free(&mix->classes[i].profile);
    free(mix->classes);
    *mix = (struct demand_mix){0};
}

const struct demand_class *demand_mix_find(const struct demand_mix *mix, uint32_t instance) {
    uint64_t place = instance % mix->weight;
    const struct demand_class *class = mix->classes;
    for (; place >= class->weight; class ++)
        place -= class->weight;
    return class;
}

static void take_phase(struct demand *demand) {
    const struct phase *phase = &tables[demand->class->kind].phases[demand->phase];
    demand->threads = demand->sharing_left > 0 && phase->threads > 1 ? 1 : phase->threads;
    demand->left = 1 + ss_time_from_double(chance_draw_exponential(&demand->random, phase->mean));
    demand->sharing_left = ss_time_since(demand->sharing_left, demand->left);
}

/*
 * Works until the queue is empty, including work that arrives until then; then waits for more.
 * Without a backlog, both take one period together.
 */
static void take_queue(struct demand *demand) {
    double rate = demand->class->rate, idle = (1 - rate) * (double)QUEUE_PERIOD;
    double arrived = demand->threads == 0 ? rate * idle : 0;
    double work = demand->backlog > 0 ? demand->backlog : arrived;
    demand->threads = work > 0;
    demand->left = 1 + ss_time_from_double(work > 0 ? work / (1 - rate) : idle);
    demand->backlog = 0;
}

static void take_segment(struct demand *demand) {
    const struct profile_segment *segment = &demand->class->profile.segments[demand->phase];
    demand->threads = segment->threads;
    demand->use = segment->has_use ? &segment->use : NULL;
    demand->left = segment->length;
}

static void take(struct demand *demand) {
    if (demand->class->kind == DEMAND_PROFILE)
        take_segment(demand);
    else if (demand->class->kind == DEMAND_QUEUE)
        take_queue(demand);
    else if (tables[demand->class->kind].phases)
        take_phase(demand);
    else {
        demand->threads = demand->width;
        demand->left = SS_TIME_NEVER;
    }
}

/*
 * Starts at a random point of the profile, because programs that are started together do not stay
 * in step.
 */
static void take_random_segment(struct demand *demand) {
    const struct profile *profile = &demand->class->profile;
    ss_time into = ss_time_from_double(ss_random_next(&demand->random) * (double)profile->length);
    while (demand->phase + 1 < profile->count && into >= profile->segments[demand->phase].length)
        into -= profile->segments[demand->phase++].length;
    take_segment(demand);
    demand->left -= into < demand->left ? into : demand->left - 1;
}

void demand_open(struct demand *demand, const struct demand_class *class, uint32_t cpus,
    uint64_t seed, uint32_t instance) {
    *demand = (struct demand){
        .class = class,
        .random = ss_random_hash(ss_random_hash(seed) + instance),
        .width = class->kind == DEMAND_PARALLEL ? cpus : 1,
    };

    if (class->kind == DEMAND_PROFILE)
        take_random_segment(demand);
    else
        take(demand);
}

void demand_next(struct demand *demand) {
    const struct demand_class *class = demand->class;
    size_t count = class->kind == DEMAND_PROFILE ? class->profile.count : tables[class->kind].count;
    demand->phase = (demand->phase + 1) % count;
    take(demand);
}

/*
 * Sets the backlog of a queue: the work that arrived during the stop and the unfinished work or, if
 * the queue was empty at the stop, the work that had arrived since it became empty.
 */
void demand_skip(struct demand *demand, ss_time stopped) {
    double rate = demand->class->rate;
    if (demand->class->kind != DEMAND_QUEUE || stopped == 0)
        return;

    double left = (1 - rate) * (double)demand->left;
    double waited = (1 - rate) * (double)QUEUE_PERIOD - (double)demand->left;
    demand->backlog = demand->threads > 0 ? left : rate * fmax(waited, 0);
    demand->backlog += rate * (double)stopped;
    take_queue(demand);
}

void demand_resume(struct demand *demand) {
    if (demand->class->kind != DEMAND_BLOCKING)
        return;
    demand->sharing_left = 0;
    if (ss_random_next(&demand->random) < BLOCKING_SHARING_CHANCE)
        demand->sharing_left = 1 + ss_time_from_double(chance_draw_exponential(
                                       &demand->random, BLOCKING_SHARING_MEAN));
    demand_next(demand);
}
