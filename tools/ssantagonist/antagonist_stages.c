/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_document.h"
#include "record.h"
#include "study_columns.h"
#include <showstopper/random.h>

/* Lower bounds of the length of a slot. */
#define SLOT_SECONDS    5
#define SLOT_ITERATIONS 10
#define SLOT_ROUNDS     50

/* Below this mean number of CPUs, a suspect is considered idle, and its CPU time unknown. */
#define CPUS_MIN 0.001

/* Slots of a suspect that is throttled alone are longer by this factor. */
#define ALONE_SLOTS 2

static bool is_done(const struct stages *stages, const struct stage *stage) {
    struct json_object *document = study_read_run(stages->options->folder, stage->name);
    bool done = document != NULL;
    json_object_put(document);
    return done;
}

/* Adds a sample to the slots that it overlaps. */
static void add_sample(
    const struct slots *slots, double begin, double end, double load, double sums[][2]) {
    for (size_t slot = (size_t)fmax((begin - slots->begin) / slots->length, 0); slot < slots->count;
         slot++) {
        double from = slots_begin(slots, slot);
        double overlap = fmin(end, from + slots->length) - fmax(begin, from);
        if (from >= end)
            return;
        if (!(overlap > 0) || !isfinite(load))
            continue;
        sums[slot][0] += overlap * load;
        sums[slot][1] += overlap;
    }
}

/* Reads the CPU time of a group in each slot from the record of its run. */
static void read_cpu(const struct stages *stages, struct stage *stage, size_t group) {
    char path[4200];
    double sums[2 * CODES_LENGTH][2] = {{0}};
    struct ssreport_record record;
    struct ss_error error = {0};
    snprintf(path, sizeof path, "%s/%s/s%zu", stages->options->folder, stage->name, group + 1);
    if (ssreport_record_read(&record, path, stage->name, &error) == 0) {
        for (size_t i = 0; i < record.sample_count; i++) {
            const struct ssreport_sample *sample = &record.samples[i];
            add_sample(&stage->slots, record.wall + sample->begin, record.wall + sample->end,
                sample->load * record.cpu_count, sums);
        }
    }
    ssreport_record_free(&record);
    double all[2] = {0};
    for (size_t slot = 0; slot < stage->slots.count; slot++) {
        all[0] += sums[slot][0];
        all[1] += sums[slot][1];
    }
    stage->unrecorded[group] = all[1] == 0;
    for (size_t slot = 0; slot < stage->slots.count; slot++) {
        bool known = sums[slot][1] > 0.5 * stage->slots.length && all[0] > CPUS_MIN * all[1];
        stage->cpu[group][slot] = known ? sums[slot][0] / sums[slot][1] : NAN;
    }
}

static void estimate(const struct stages *stages, struct stage *stage) {
    double figures[2 * CODES_LENGTH];
    bool lower = watch_is_lower_better(&stages->options->victim);
    struct effects_input input = {
        .codes = &stage->codes, .depth = stage->depth, .figures = figures};
    for (size_t slot = 0; slot < stage->codes.slots; slot++) {
        double figure = slot < stage->slots.count ? stage->slots.figure[slot] : NAN;
        figures[slot] = figure > 0 ? (lower ? -log(figure) : log(figure)) : NAN;
    }
    for (size_t group = 0; group < stage->groups; group++) {
        double variance = 0;
        input.cpu[group] = stage->cpu[group];
        for (size_t i = stage->bounds[group]; i < stage->bounds[group + 1]; i++) {
            const struct effects_usual *usual = &stages->usual[stage->members[i]];
            input.usual[group].mean += usual->mean;
            variance += usual->error * usual->error;
        }
        input.usual[group].error = sqrt(variance);
    }
    stage->estimated = effects_estimate(&stage->effects, &input);
}

static int read_stage(struct stages *stages, struct stage *stage, struct ss_error *error) {
    char path[4200];
    stage->done = is_done(stages, stage);
    if (!stage->done)
        return 0;
    snprintf(path, sizeof path, "%s/%s/slots.csv", stages->options->folder, stage->name);
    if (slots_read(&stage->slots, path, error) < 0)
        return -1;
    for (size_t group = 0; group < stage->groups; group++)
        read_cpu(stages, stage, group);
    if (stage->codes.slots > 0)
        estimate(stages, stage);
    return 0;
}

static struct stage *add_stage(struct stages *stages, double depth, double slot) {
    if (stages->count == STAGES_MAX)
        return NULL;
    struct stage *stage = &stages->items[stages->count++];
    *stage = (struct stage){.depth = depth, .slot = slot};
    return stage;
}

/* Divides the members into groups of similar size. */
static void divide(struct stage *stage, size_t members) {
    stage->groups = members < CODES_SUSPECTS_MAX ? members : CODES_SUSPECTS_MAX;
    for (size_t group = 0; group <= stage->groups; group++)
        stage->bounds[group] = group * members / stage->groups;
}

static void draw_codes(const struct stages *stages, struct stage *stage, bool both_halves) {
    uint64_t seed = stages->options->seed;
    bool is_given = seed != 0;
    for (size_t i = 0; !is_given && i < stages->suspects->count; i++)
        seed = ss_random_hash(seed + (uint64_t)stages->suspects->items[i].pid) +
               stages->suspects->items[i].started;
    codes_draw(&stage->codes, stage->groups, both_halves, ss_random_hash(seed) + stages->count);
}

/*
 * Returns the usual CPU time of a suspect; NaN for a group, whose members were not measured
 * separately.
 */
static struct effects_usual find_usual(const struct stage *stage, size_t group) {
    double known[STAGES_LOOK];
    size_t count = 0;
    if (stage->bounds[group + 1] - stage->bounds[group] > 1)
        return (struct effects_usual){NAN, NAN};
    for (size_t i = 0; i < STAGES_LOOK && i < stage->slots.count; i++) {
        if (isfinite(stage->cpu[group][i]))
            known[count++] = stage->cpu[group][i];
    }
    struct ssreport_mean mean = ssreport_mean_of(known, count, 0.95);
    return (struct effects_usual){mean.mean, mean.deviation / sqrt((double)count)};
}

/* Plans the first run, which measures suspects together if the next run throttles them together. */
static int look(struct stages *stages, struct ss_error *error) {
    double slot = ss_time_seconds(stages->options->slot);
    struct stage *stage = add_stage(stages, 0, slot > 0 ? slot : SLOT_SECONDS);
    snprintf(stage->name, sizeof stage->name, STAGES_FIRST);
    for (size_t i = 0; i < stages->suspects->count; i++)
        stage->members[i] = i, stages->usual[i] = (struct effects_usual){NAN, NAN};
    divide(stage, stages->suspects->count);
    if (read_stage(stages, stage, error) < 0)
        return -1;
    for (size_t group = 0; stage->done && group < stage->groups; group++)
        stages->usual[stage->bounds[group]] = find_usual(stage, group);
    return 0;
}

static double choose_slot(const struct stages *stages) {
    double slot = ss_time_seconds(stages->options->slot);
    if (slot > 0)
        return slot;
    slot = fmax(SLOT_SECONDS, SLOT_ROUNDS * ss_time_seconds(stages->options->tau));
    double iterations = SLOT_ITERATIONS * slots_iteration(&stages->items[0].slots);
    return isfinite(iterations) ? fmax(slot, ceil(iterations)) : slot;
}

static bool hurts(const struct stage *stage, size_t group) {
    enum effects_verdict verdict = stage->effects.codes[group].verdict;
    return stage->estimated && (verdict == EFFECTS_HURTS || verdict == EFFECTS_SHIFTS);
}

/*
 * Adds a stage of the suspects in groups that hurt. Returns NULL if no such group can be split, or
 * if all groups hurt: they would become the same groups again.
 */
static struct stage *split(struct stages *stages, const struct stage *last) {
    struct stage *next = add_stage(stages, last->depth, last->slot);
    size_t count = 0;
    for (size_t group = 0; next && group < last->groups; group++) {
        size_t size = last->bounds[group + 1] - last->bounds[group];
        for (size_t i = 0; size > 1 && hurts(last, group) && i < size; i++)
            next->members[count++] = last->members[last->bounds[group] + i];
    }
    if (count > 0 && count < last->bounds[last->groups]) {
        divide(next, count);
        return next;
    }
    stages->count -= next != NULL;
    return NULL;
}

/* Adds the stages that throttle suspects together. Returns 1 if all of them are done. */
static int together(struct stages *stages, struct ss_error *error) {
    struct stage *stage = add_stage(stages, stages->options->depth, choose_slot(stages));
    for (size_t i = 0; i < stages->suspects->count; i++)
        stage->members[i] = i;
    divide(stage, stages->suspects->count);
    for (int number = 1; stage; number++) {
        snprintf(stage->name, sizeof stage->name, "together-%d", number);
        draw_codes(stages, stage, true);
        if (read_stage(stages, stage, error) < 0)
            return -1;
        if (!stage->done)
            return 0;
        stage = number < STAGES_TOGETHER ? split(stages, stage) : NULL;
    }
    return 1;
}

/* Adds a stage for each suspect that was found to hurt. */
static int alone(struct stages *stages, struct ss_error *error) {
    size_t last = stages->count;
    for (size_t i = 1; i < last; i++) {
        const struct stage *from = &stages->items[i];
        for (size_t group = 0; group < from->groups; group++) {
            if (from->bounds[group + 1] - from->bounds[group] > 1 || !hurts(from, group))
                continue;
            size_t suspect = from->members[from->bounds[group]];
            struct stage *stage = add_stage(stages, STAGES_ALONE, ALONE_SLOTS * from->slot);
            if (!stage)
                return 0;
            snprintf(stage->name, sizeof stage->name, "alone-%d",
                (int)stages->suspects->items[suspect].pid);
            stage->members[0] = suspect;
            divide(stage, 1);
            draw_codes(stages, stage, false);
            if (read_stage(stages, stage, error) < 0)
                return -1;
        }
    }
    return 0;
}

int stages_open(struct stages *stages, const struct stages_options *options,
    const struct suspects *suspects, struct ss_error *error) {
    *stages = (struct stages){.options = options, .suspects = suspects};
    if (suspects->count == 0 || suspects->count > STAGES_SUSPECTS_MAX)
        return ss_error_fail(
            error, "%zu suspects: write from 1 to %d", suspects->count, STAGES_SUSPECTS_MAX);
    stages->items = calloc(STAGES_MAX, sizeof *stages->items);
    if (!stages->items)
        return ss_error_memory(error);
    if (look(stages, error) < 0)
        return -1;
    if (!stages->items[0].done)
        return 0;
    int status = together(stages, error);
    return status == 1 ? alone(stages, error) : status;
}

void stages_close(struct stages *stages) {
    free(stages->items);
    *stages = (struct stages){0};
}

bool stages_are_done(const struct stages *stages) {
    for (size_t i = 0; i < stages->count; i++) {
        if (!stages->items[i].done)
            return false;
    }
    return stages->count > 1;
}

int stages_add_pending(
    const struct stages *stages, struct suspects *suspects, struct ss_error *error) {
    for (size_t i = 0; i < stages->count; i++) {
        const struct stage *stage = &stages->items[i];
        for (size_t member = 0; !stage->done && member < stage->bounds[stage->groups]; member++) {
            const struct suspect *one = &stages->suspects->items[stage->members[member]];
            if (suspects_append(suspects, one, error) < 0)
                return -1;
        }
    }
    return 0;
}

const struct stage *stages_of_suspect(
    const struct stages *stages, size_t suspect, bool alone, size_t *group) {
    for (size_t i = stages->count; i-- > 1;) {
        const struct stage *stage = &stages->items[i];
        if (!stage->estimated || alone != (strncmp(stage->name, "alone-", 6) == 0))
            continue;
        for (*group = 0; *group < stage->groups; ++*group) {
            for (size_t member = stage->bounds[*group]; member < stage->bounds[*group + 1];
                 member++) {
                if (stage->members[member] == suspect)
                    return stage;
            }
        }
    }
    return NULL;
}
