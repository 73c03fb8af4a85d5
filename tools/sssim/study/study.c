/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/option.h>

#include "base/owned.h"
#include "base/words.h"
#include "command/plan.h"
#include "record/documents.h"
#include "record/judge.h"
#include "record/outcome.h"
#include "record/recorder.h"

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

/*
 * The record of a trial, written by showstopper's own code. Its times are simulated; every
 * simulated run begins at the same time. Not open if zeroed.
 */
struct recording {
    struct trial *trial;
    struct ss_clock clock;
    struct ss_plan plan;
    char *folder;
    struct ss_command_line line;
    char *words[2];               /* the only word of the command, a copy */
    struct ss_recorder *recorder; /* NULL if nothing is recorded */
};

struct study {
    const struct study_options *options;
    struct memory memory;
    struct trial trials[MEMORY_SIDES];
    struct recording recordings[MEMORY_SIDES];
};

static void take_sample(void *context, const struct trial_sample *sample) {
    struct recording *recording = context;
    (void)sample;
    ss_recorder_sample(recording->recorder, &recording->trial->monitor.latest);
    ss_recorder_flush(recording->recorder, recording->trial->board);
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
            "the background's trace has no end: use --duration, or a trace such as -t staircase");
    if (background->options.settle >= *duration)
        return ss_error_fail(
            error, "--settle leaves no time to count: use a time that is shorter than the run");
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

/* Trials begin at 2000-01-01T00:00:00Z of the simulated wall clock. */
#define BEGINNING (INT64_C(946684800) * (int64_t)SS_SECOND)

static ss_time read_clock(void *context) {
    const struct trial *trial = context;
    return trial->now;
}

static int64_t read_wall_clock(void *context) {
    const struct trial *trial = context;
    return BEGINNING + (int64_t)(trial->now - trial->start);
}

/* Makes a plan as showstopper would, because the record is written from it. */
static int make_plan(struct recording *recording, const struct study *study, ss_time duration,
    struct ss_error *error) {
    const struct trial *trial = recording->trial;
    uint32_t first = first_cpu(study, trial->options.side);
    struct ss_plan *plan = &recording->plan;

    recording->line = (struct ss_command_line){
        .words = recording->words, .first = 0, .count = trial->options.instances};

    plan->set = trial->set;
    plan->instances = trial->options.instances;
    plan->commands.lines = &recording->line;
    plan->commands.line_count = 1;
    plan->words = (const char *const *)recording->words;

    for (uint32_t i = 0; i < trial->options.cpus; i++)
        ss_cpus_add(&plan->cpus, first + i);
    plan->cpu_count = trial->options.cpus;

    plan->warmup = trial->options.warmup;
    plan->settle = trial->options.settle;
    plan->duration = duration;
    plan->has_iteration = trial->work.count > 0;

    plan->record = recording->folder;
    plan->clock = &recording->clock;
    plan->arguments = study->options->argv;
    plan->option_words = ss_words_count(study->options->argv + 1);

    plan->source.source = trial->source;
    plan->reader.file = -1;
    snprintf(plan->reader.path, sizeof plan->reader.path, "a simulated machine");
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++)
        ss_module_set_describe(&plan->set, kind, plan->found[kind], sizeof plan->found[kind]);

    return ss_plan_number_instances(plan, error);
}

static void take_iteration(void *context, const struct ss_iteration *iteration) {
    ss_recorder_iteration(context, iteration);
}

static void note(struct recording *recording, ss_time at, const char *name, const char *text) {
    ss_recorder_event(recording->recorder,
        &(struct ss_record_event){
            .at = at, .name = name, .instance = -1, .text = text, .value = NAN});
}

/* Records when the stages of the run begin. */
static void note_beginning(struct recording *recording) {
    const struct trial *trial = recording->trial;
    ss_time control_start = ss_time_add(trial->start, trial->options.warmup);
    ss_recorder_set_origin(recording->recorder, control_start);
    note(recording, trial->start, "warmup", NULL);
    note(recording, control_start, "settling", NULL);
    note(recording, trial->counted_from, "counting", NULL);
}

static int open_recording(struct study *study, int side, const struct experiment *experiment,
    const char *pair, ss_time duration, struct ss_error *error) {
    struct trial *trial = &study->trials[side];
    struct recording *recording = &study->recordings[side];
    SS_OWNED(free) struct ss_recorder *recorder = calloc(1, sizeof *recorder);

    recording->trial = trial;
    recording->clock = (struct ss_clock){read_clock, read_wall_clock, trial};
    recording->words[0] = strdup(study->options->workloads[side]);
    recording->folder = experiment_record_path(experiment, pair, roles[side]);
    if (!recording->words[0] || !recording->folder || !recorder)
        return ss_error_memory(error);
    if (make_plan(recording, study, duration, error) < 0)
        return -1;
    if (ss_iterations_keep_apart(&trial->iterations, trial->options.instances, 1) < 0)
        return ss_error_memory(error);
    if (ss_recorder_open(recorder, &recording->plan, error) < 0)
        return -1;

    recording->recorder = recorder;
    trial->iterations.on_add = take_iteration;
    trial->iterations.context = recorder;
    recorder = NULL; /* now owned by the recording */
    for (uint32_t i = 0; i < trial->options.instances; i++)
        ss_iterations_start(&trial->iterations, i, trial->start);
    note_beginning(recording);
    return 0;
}

static int finish_recording(struct recording *recording, struct ss_error *error) {
    struct trial *trial = recording->trial;
    struct ss_usage usage = {.board = trial->board}; /* a simulated machine has no processes */
    struct ss_outcome outcome;

    for (uint32_t i = 0; i < trial->options.instances; i++)
        ss_journal_end(&trial->instances[i].journal, trial->now);
    note(recording, trial->now, "ending", "duration");
    trial->iterations.to = trial->now;

    ss_outcome_open(&outcome);
    outcome.ended_by = "duration";

    struct ss_outcome_input input = {
        .plan = &recording->plan,
        .board = trial->board,
        .monitor = &trial->monitor,
        .usage = &usage,
        .own = trial->own_sum,
        .switches = trial->switches_sum,
        .instances_with_rounds = trial_count_switching(trial),
        .others = NAN,
        .end = trial->now,
    };

    ss_outcome_take(&outcome, &input);
    ss_outcome_take_iterations(&outcome, &recording->plan, &trial->iterations);

    ss_recorder_close(recording->recorder, trial->board, &outcome);
    ss_judge_run(&outcome, &recording->plan);

    int status = *outcome.loss ? ss_error_fail(error, "%s", outcome.loss) : 0;
    if (ss_record_finish(&recording->plan, &outcome, error) < 0)
        status = -1;
    ss_outcome_close(&outcome);
    free(recording->recorder);
    recording->recorder = NULL;
    return status;
}

static void close_recording(struct recording *recording) {
    struct ss_plan *plan = &recording->plan;
    if (recording->recorder)
        ss_recorder_abandon(recording->recorder);
    free(recording->recorder);
    for (uint32_t i = 0; plan->numbers && i < plan->instances; i++)
        free(plan->numbers[i]);
    free(plan->numbers);
    free(recording->words[0]);
    free(recording->folder);
    *recording = (struct recording){0};
}

static int record(struct study *study, const struct experiment *experiment, const char *pair,
    ss_time duration, struct ss_error *error) {
    ss_time end = ss_time_add(study->trials[0].now, study->options->sides[0].warmup + duration);

    for (int i = 0; i < MEMORY_SIDES; i++) {
        if (open_recording(study, i, experiment, pair, duration, error) < 0)
            return -1;
    }
    if (advance(study, end, error) < 0)
        return -1;
    for (int i = 0; i < MEMORY_SIDES; i++) {
        if (finish_recording(&study->recordings[i], error) < 0)
            return -1;
    }
    return 0;
}

static int run_recorded(
    struct study *study, struct experiment *experiment, ss_time duration, struct ss_error *error) {
    char pair[512];
    struct experiment_row rows[MEMORY_SIDES];
    describe(study, duration, rows);
    if (experiment_add_pair(experiment, rows, pair, sizeof pair, error) < 0)
        return -1;

    int status = record(study, experiment, pair, duration, error);
    for (int i = 0; i < MEMORY_SIDES; i++)
        close_recording(&study->recordings[i]);
    if (status == 0)
        status = experiment_finish_pair(experiment, rows, pair, error);
    else
        experiment_drop_pair(experiment, pair);
    return status;
}

int study_run(const struct study_options *options, struct experiment *experiment,
    struct ss_option_store *store, struct trial_figures figures[MEMORY_SIDES],
    struct ss_error *error) {
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
        study_merge_warnings(store, &trial->set.store);
        ss_pipeline_warn_of_excess(&trial->set, trial->board, store);
        trial_get_figures(&study.trials[i], &figures[i]);
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
            if (profile->segments[j].has_use)
                return true;
        }
    }
    return false;
}

double study_interference(const struct study_options *options) {
    const struct trial_options *foreground = &options->sides[STUDY_FOREGROUND];
    const struct trial_options *background = &options->sides[STUDY_BACKGROUND];
    const struct memory_use *use = &foreground->work.use;
    if (has_accesses_of_its_own(foreground->mix) || has_accesses_of_its_own(background->mix) ||
        background->quota > 0)
        return NAN;
    if (options->memory_rate <= 0 || use->accesses <= 0)
        return 0;
    /* Steal and the speed of CPUs change how many accesses a busy CPU makes. */
    if (background->steal > 0 || background->cores.gain > 0 || background->cores.step_count > 0)
        return NAN;

    double own = use->accesses * busy_cpus(foreground);
    double others = background->work.use.accesses * background->cpus;
    if (own + others > options->memory_rate)
        return NAN;
    double alone = 1 - use->waiting * (own - use->accesses) / options->memory_rate;
    return 100 * use->waiting * others / options->memory_rate / alone;
}

void study_merge_warnings(struct ss_option_store *store, const struct ss_option_store *other) {
    for (size_t i = 0; i < other->warning_count; i++)
        ss_option_store_warn(store, other->warnings[i]);
}
