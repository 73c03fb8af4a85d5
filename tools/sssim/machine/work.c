/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/words.h"
#include "chance.h"

/* After this many changes of the pace, all instances are updated, so that memory is bounded. */
#define POINTS_MAX 16384

/* Makes the random numbers of an instance's work independent of those of its demand. */
#define WORK_SALT UINT64_C(0x776f726b)

/* Makes the random numbers of the speed independent of those of instances. */
#define SPEED_SALT UINT64_C(0x7370656564)

static void set_factor(struct speed *speed) {
    double variance = log1p(speed->options.deviation * speed->options.deviation);
    speed->factor = exp(sqrt(variance) * speed->normal - variance / 2);
}

void speed_open(struct speed *speed, const struct speed_options *options, ss_time start) {
    *speed = (struct speed){.options = *options, .factor = 1, .until = SS_TIME_NEVER};
    if (!(options->deviation > 0))
        return;

    speed->random = ss_random_hash(options->seed + SPEED_SALT);
    speed->normal = chance_draw_normal(&speed->random);
    speed->until = start + options->window - options->uptime % options->window;
    for (ss_time i = 0; i < options->uptime / options->window; i++) {
        speed_next(speed);
        speed->until -= options->window;
    }
    set_factor(speed);
}

void speed_next(struct speed *speed) {
    double kept = speed->options.correlation;
    speed->normal =
        kept * speed->normal + sqrt(1 - kept * kept) * chance_draw_normal(&speed->random);
    speed->until += speed->options.window;
    set_factor(speed);
}

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

static double draw_length(const struct work *work, struct work_instance *one) {
    double length = (double)work->options.iteration * one->slowness;
    if (work->options.noise > 0)
        length *= chance_draw_lognormal(&one->random, work->options.noise);
    return fmax(length, 1);
}

int work_open(struct work *work, const struct work_options *options, uint32_t instances,
    uint64_t seed, ss_time start, struct ss_error *error) {
    *work = (struct work){.options = *options, .last.time = start};
    speed_open(&work->speed, &options->speed, start);
    if (options->iteration == 0)
        return 0;

    work->instances = calloc(instances, sizeof *work->instances);
    work->points = calloc(POINTS_MAX, sizeof *work->points);
    if (!work->instances || !work->points) {
        work_close(work);
        return ss_error_memory(error);
    }

    work->count = instances;
    for (uint32_t i = 0; i < instances; i++) {
        struct work_instance *one = &work->instances[i];
        *one = (struct work_instance){
            .use = options->use,
            .random = ss_random_hash(ss_random_hash(seed + WORK_SALT) + i),
            .slowness = 1,
            .began = start,
            .seen.time = start,
        };
        if (options->speed.launch > 0)
            one->slowness = 1 / chance_draw_lognormal(&one->random, options->speed.launch);
        one->left = one->length = draw_length(work, one);
    }
    return 0;
}

void work_attach(struct work *work, struct memory *memory, int side) {
    work->memory = memory;
    work->side = side;
    memory->sides[side] = (struct memory_side){.work = work};
}

void work_close(struct work *work) {
    free(work->instances);
    free(work->points);
    free(work->ended);
    *work = (struct work){0};
}

/* Adds a multiple of the paces. */
static void add_paces(struct memory_pace *sums, const struct memory_pace *paces, double factor) {
    sums->ran += paces->ran * factor;
    sums->served += paces->served * factor;
    sums->lost += paces->lost * factor;
    sums->back += paces->back * factor;
}

static struct work_point point_at(const struct work *work, ss_time now) {
    const struct memory_pace *pace = &work->memory->sides[work->side].pace;
    struct work_point point = work->last;
    double length = (double)(now - point.time) * work->speed.factor;
    point.time = now;
    add_paces(&point.sums, pace, length);
    return point;
}

static double done_between(
    const struct work_instance *one, const struct work_point *from, const struct work_point *to) {
    struct memory_pace sums = to->sums;
    add_paces(&sums, &from->sums, -1);
    return one->threads * memory_work(&one->use, &sums);
}

/*
 * Returns the first point, starting at `from`, at which the iteration has ended; `point_count` if
 * it has not ended at any.
 */
static size_t find_point(const struct work *work, const struct work_instance *one, size_t from) {
    size_t low = from, high = work->point_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (done_between(one, &one->seen, &work->points[middle]) >= one->left)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns a point between two changes of the pace. Work advances linearly between them. */
static struct work_point point_between(
    const struct work_point *from, const struct work_point *to, double part) {
    struct work_point point = *from;
    point.time += ss_time_from_double(part * (double)(to->time - from->time));
    struct memory_pace change = to->sums;
    add_paces(&change, &from->sums, -1);
    add_paces(&point.sums, &change, part);
    return point;
}

/*
 * Accounts for the work of an instance up to now, and records iterations that ended. The instance's
 * threads must not have changed since the last call.
 */
static void catch_up(struct work *work, uint32_t number, const struct work_point *now) {
    struct work_instance *one = &work->instances[number];
    size_t next = 0;
    double done = done_between(one, &one->seen, now);

    while (one->threads > 0 && done >= one->left) {
        next = find_point(work, one, next);
        const struct work_point *after = next < work->point_count ? &work->points[next] : now;
        const struct work_point *before = &one->seen;
        if (next > 0 && work->points[next - 1].time > before->time)
            before = &work->points[next - 1];

        double first = done_between(one, &one->seen, before);
        double all = done_between(one, &one->seen, after);
        double part = all > first ? fmin((one->left - first) / (all - first), 1) : 1;
        struct work_point end = point_between(before, after, part);

        if (SS_GROW(work->ended, work->ended_count + 1, work->ended_room))
            work->ended[work->ended_count++] =
                (struct work_iteration){one->began, end.time, number};
        else
            work->failed = true;

        one->seen = end;
        one->began = end.time;
        one->left = one->length = draw_length(work, one);
        done = done_between(one, &one->seen, now);
    }

    one->left -= done;
    one->seen = *now;
}

static void catch_all_up_to(struct work *work, const struct work_point *point) {
    for (uint32_t i = 0; i < work->count; i++)
        catch_up(work, i, point);
    work->point_count = 0;
}

static void keep_point(struct work *work, ss_time now) {
    work->last = point_at(work, now);
    if (work->point_count == POINTS_MAX)
        catch_all_up_to(work, &work->last);
    work->points[work->point_count++] = work->last;
}

/* Records changes of the machine's speed up to now: they are changes of the pace, too. */
static void follow_speed(struct work *work, ss_time now) {
    while (work->speed.until < now) {
        keep_point(work, work->speed.until);
        speed_next(&work->speed);
    }
}

void work_set_threads(struct work *work, uint32_t number, uint32_t threads,
    const struct memory_use *use, ss_time now) {
    struct work_instance *one = &work->instances[number];
    if (work->count == 0)
        return;
    if (!use)
        use = &work->options.use;
    if (one->threads == threads && one->use.accesses == use->accesses &&
        one->use.waiting == use->waiting)
        return;

    follow_speed(work, now);
    struct work_point point = point_at(work, now);
    catch_up(work, number, &point);

    work->demanded += threads * use->accesses - one->threads * one->use.accesses;
    one->threads = threads;
    one->use = *use;
}

static bool is_same(const struct memory_pace *left, const struct memory_pace *right) {
    return left->ran == right->ran && left->served == right->served && left->lost == right->lost &&
           left->back == right->back;
}

void work_set_share(struct work *work, double share, double overlap, ss_time now) {
    if (work->count == 0)
        return;
    struct memory *memory = work->memory;
    struct memory_side *changed = &memory->sides[work->side];
    if (changed->demanded == work->demanded && changed->share == share &&
        changed->overlap == overlap)
        return;
    changed->demanded = work->demanded;
    changed->share = share;
    changed->overlap = overlap;

    /* The demand of one side changes the pace of both. */
    for (int i = 0; i < MEMORY_SIDES; i++) {
        struct memory_side *side = &memory->sides[i];
        struct memory_pace pace = memory_pace(memory, i);
        if (!side->work || is_same(&pace, &side->pace))
            continue;
        follow_speed(side->work, now);
        keep_point(side->work, now);
        side->pace = pace;
    }
}

static int compare_ends(const void *left, const void *right) {
    const struct work_iteration *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

int work_collect(struct work *work, ss_time now,
    void (*report)(void *context, uint32_t instance, ss_time start, ss_time end), void *context,
    struct ss_error *error) {
    if (work->count == 0)
        return 0;

    follow_speed(work, now);
    struct work_point point = point_at(work, now);
    catch_all_up_to(work, &point);

    if (work->ended_count > 1)
        qsort(work->ended, work->ended_count, sizeof *work->ended, compare_ends);
    for (size_t i = 0; i < work->ended_count; i++)
        report(context, work->ended[i].instance, work->ended[i].start, work->ended[i].end);

    work->ended_count = 0;
    return work->failed ? ss_error_memory(error) : 0;
}

double work_under_way(const struct work *work, ss_time from) {
    double parts = 0;
    for (uint32_t i = 0; i < work->count; i++) {
        const struct work_instance *one = &work->instances[i];
        double took = (double)ss_time_since(one->seen.time, one->began);
        double counted =
            (double)ss_time_since(one->seen.time, from > one->began ? from : one->began);
        if (took > 0)
            parts += (1 - one->left / one->length) * counted / took;
    }
    return parts;
}
