/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <math.h>
#include <string.h>

#include <showstopper/option.h>

#include "base/owned.h"
#include "recording.h"

/* The default edges of a step, as in ssreport. */
#define EDGE_PART (1 / 6.0)
#define EDGE_MAX  30.0 /* in seconds */

static const char *const roles[] = {
    [STUDY_FOREGROUND] = "foreground",
    [STUDY_BACKGROUND] = "background",
};

static const char *const methods[] = {
    [STUDY_FOREGROUND] = "uncontrolled",
    [STUDY_BACKGROUND] = "default",
};

struct study {
    const struct study_options *options;
    struct memory memory;
    struct trial trials[MEMORY_SIDES];
    struct recording recordings[MEMORY_SIDES];
};

static void take_sample(void *context, const struct trial_sample *sample) {
    (void)sample;
    recording_take_sample(context);
}

static void close_trials(struct study *study) {
    for (int i = 0; i < MEMORY_SIDES; i++)
        trial_close(&study->trials[i]);
}

static int open_trials(struct study *study, bool recorded, struct ss_error *error) {
    const struct study_options *options = study->options;
    study->memory = (struct memory){.rate = options->memory_rate};
    for (int i = 0; i < MEMORY_SIDES; i++) {
        struct trial_options side = options->sides[i];
        side.memory = &study->memory;
        side.side = i;
        side.recorded = recorded;
        side.interval = SS_MONITOR_INTERVAL;
        side.on_sample = recorded ? take_sample : NULL;
        side.context = &study->recordings[i];
        if (trial_open(&study->trials[i], &side, error) < 0) {
            study->trials[i] = (struct trial){0};
            close_trials(study);
            return -1;
        }
    }
    return 0;
}

/* Advances both sides on one clock, from event to event of either side. */
static int advance(struct study *study, ss_time end, struct ss_error *error) {
    for (;;) {
        int side = trial_next(&study->trials[0]) <= trial_next(&study->trials[1]) ? 0 : 1;
        struct trial *trial = &study->trials[side];
        if (trial_next(trial) > end)
            break;
        if (trial_wake(trial, error) < 0)
            return -1;
    }
    for (int i = 0; i < MEMORY_SIDES; i++) {
        if (trial_finish(&study->trials[i], end, error) < 0)
            return -1;
    }
    return 0;
}

static int find_duration(struct study *study, ss_time *duration, struct ss_error *error) {
    const struct trial *background = &study->trials[STUDY_BACKGROUND];
    *duration = trial_trace_length(background);
    if (study->options->duration < *duration)
        *duration = study->options->duration;
    if (*duration == SS_TIME_NEVER)
        return ss_error_fail(error,
            "the background's trace has no end: give --duration, or a trace such as -t staircase");
    if (background->options.settle >= *duration)
        return ss_error_fail(
            error, "--settle leaves no time to count: give a time that is shorter than the run");
    return 0;
}

/* Returns how long the levels of a staircase last, in seconds; 0 for other traces. */
static double find_hold(const struct trial *trial) {
    const struct ss_module *head = trial->set.modules[SS_KIND_TRACE].head;
    for (const struct ss_option *row = head->options; row && row->name; row++) {
        if (row->type == SS_OPTION_TIME && strcmp(row->name, "hold") == 0) {
            ss_time hold;
            memcpy(
                &hold, (const char *)trial->set.configs[SS_KIND_TRACE] + row->offset, sizeof hold);
            return ss_time_seconds(hold);
        }
    }
    return 0;
}

static uint32_t first_cpu(const struct study *study, int side) {
    return side == STUDY_BACKGROUND ? study->options->sides[STUDY_FOREGROUND].cpus : 0;
}

static void describe(const struct study *study, ss_time duration, struct experiment_row *rows) {
    double hold = find_hold(&study->trials[STUDY_BACKGROUND]);
    for (int i = 0; i < MEMORY_SIDES; i++) {
        const struct trial_options *side = &study->options->sides[i];
        rows[i] = (struct experiment_row){
            .role = roles[i],
            .workload = study->options->workloads[i],
            .method = methods[i],
            .instances = side->instances,
            .first_cpu = first_cpu(study, i),
            .cpus = side->cpus,
            .warmup = ss_time_seconds(side->warmup),
            .settle = ss_time_seconds(side->settle),
            .seconds = ss_time_seconds(duration),
            .hold = hold,
            .edge = fmin(hold * EDGE_PART, EDGE_MAX),
            .seed = study->options->sides[STUDY_BACKGROUND].seed,
            .round = study->options->round,
        };
    }
}

static int open_recordings(struct study *study, const struct experiment *experiment,
    const char *pair, ss_time duration, struct ss_error *error) {
    for (int i = 0; i < MEMORY_SIDES; i++) {
        SS_OWNED(free) char *path = experiment_find_path(experiment, pair, roles[i]);
        if (!path)
            return ss_error_memory(error);
        struct recording_options options = {
            .folder = path,
            .word = study->options->workloads[i],
            .argv = study->options->argv,
            .first_cpu = first_cpu(study, i),
            .duration = duration,
        };
        if (recording_open(&study->recordings[i], &study->trials[i], &options, error) < 0)
            return -1;
    }
    return 0;
}

static int run_recorded(
    struct study *study, struct experiment *experiment, ss_time duration, struct ss_error *error) {
    char pair[512];
    struct experiment_row rows[MEMORY_SIDES];
    ss_time end = ss_time_add(study->trials[0].now, study->options->sides[0].warmup + duration);
    describe(study, duration, rows);
    if (experiment_add_pair(experiment, rows, pair, sizeof pair, error) < 0)
        return -1;
    int status = open_recordings(study, experiment, pair, duration, error);
    if (status == 0)
        status = advance(study, end, error);
    for (int i = 0; status == 0 && i < MEMORY_SIDES; i++)
        status = recording_finish(&study->recordings[i], error);
    for (int i = 0; i < MEMORY_SIDES; i++)
        recording_close(&study->recordings[i]);
    if (status == 0)
        status = experiment_finish_pair(experiment, rows, pair, error);
    else
        experiment_drop_pair(experiment, pair);
    return status;
}

int study_run(const struct study_options *options, struct experiment *experiment,
    struct ss_option_store *store, struct study_figures *figures, struct ss_error *error) {
    static struct study study; /* static because it is too large for the stack */
    ss_time duration;
    study = (struct study){.options = options};
    if (open_trials(&study, experiment != NULL, error) < 0)
        return -1;
    int status = find_duration(&study, &duration, error);
    if (status == 0 && experiment)
        status = run_recorded(&study, experiment, duration, error);
    else if (status == 0)
        status = advance(
            &study, ss_time_add(study.trials[0].now, options->sides[0].warmup + duration), error);
    for (int i = 0; i < MEMORY_SIDES; i++) {
        const struct trial *trial = &study.trials[i];
        ss_option_store_merge(store, &trial->set.store);
        ss_pipeline_warn_of_excess(&trial->set, trial->board, store);
        trial_get_figures(&study.trials[i], &figures->sides[i]);
    }
    close_trials(&study);
    return status;
}

/* Returns how many CPUs the foreground always keeps busy; NaN if the number varies. */
static double busy_cpus(const struct trial_options *options) {
    double threads = 0;
    for (uint32_t i = 0; i < options->instances; i++) {
        const struct demand_class *class = demand_mix_find(options->mix, i);
        if (class->kind != DEMAND_SERIAL && class->kind != DEMAND_PARALLEL)
            return NAN;
        threads += class->kind == DEMAND_SERIAL ? 1 : options->cpus;
    }
    return fmin(threads, options->cpus);
}

static bool has_accesses_of_its_own(const struct demand_mix *mix) {
    for (size_t i = 0; i < mix->count; i++) {
        const struct profile *profile = &mix->classes[i].profile;
        for (size_t j = 0; j < profile->count; j++) {
            if (profile->stretches[j].has_use)
                return true;
        }
    }
    return false;
}

double study_interference(const struct study_options *options) {
    const struct trial_options *foreground = &options->sides[STUDY_FOREGROUND];
    const struct trial_options *background = &options->sides[STUDY_BACKGROUND];
    double busy = busy_cpus(foreground);
    bool memory = options->memory_rate > 0 && foreground->work.use.accesses > 0;
    if (has_accesses_of_its_own(foreground->mix) || has_accesses_of_its_own(background->mix) ||
        background->quota > 0)
        return NAN;
    /* Steal and the speed of CPUs change how many accesses a busy CPU makes. */
    bool uneven =
        background->steal > 0 || background->cores.gain > 0 || background->cores.step_count > 0;
    if (memory && uneven)
        return NAN;
    struct memory_pair pair = {
        .rate = options->memory_rate,
        .foreground = foreground->work.use,
        .foreground_threads = busy,
        .background_accesses = background->work.use.accesses,
        .background_cpus = background->cpus,
    };
    return memory ? memory_interference(&pair) : 0;
}
