/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <math.h>
#include <stdlib.h>

#include "base/words.h"
#include "record/documents.h"
#include "record/judge.h"

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

static int number_instances(struct ss_plan *plan, struct ss_error *error) {
    plan->numbers = calloc(plan->instances, sizeof *plan->numbers);
    for (uint32_t i = 0; plan->numbers && i < plan->instances; i++) {
        char number[16];
        ss_commands_print_number(number, sizeof number, i, plan->instances);
        plan->numbers[i] = strdup(number);
        if (!plan->numbers[i])
            return ss_error_memory(error);
    }
    return plan->numbers ? 0 : ss_error_memory(error);
}

/* Makes a plan as showstopper would, because the record is written from it. */
static int make_plan(
    struct recording *recording, const struct recording_options *options, struct ss_error *error) {
    const struct trial *trial = recording->trial;
    struct ss_plan *plan = &recording->plan;
    recording->line = (struct ss_command_line){
        .words = recording->words, .first = 0, .count = trial->options.instances};
    plan->set = trial->set;
    plan->instances = trial->options.instances;
    plan->lines = &recording->line;
    plan->line_count = 1;
    plan->words = (const char *const *)recording->words;
    for (uint32_t i = 0; i < trial->options.cpus; i++)
        ss_cpus_add(&plan->cpus, options->first_cpu + i);
    plan->cpu_count = trial->options.cpus;
    plan->warmup = trial->options.warmup;
    plan->settle = trial->options.settle;
    plan->duration = options->duration;
    plan->has_iteration = trial->work.count > 0;
    plan->record = recording->folder;
    plan->clock = &recording->clock;
    plan->arguments = options->argv;
    plan->option_words = ss_words_count(options->argv + 1);
    plan->source.source = trial->source;
    plan->reader.file = -1;
    snprintf(plan->reader.path, sizeof plan->reader.path, "a simulated machine");
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++)
        ss_module_set_describe(&plan->set, kind, plan->found[kind], sizeof plan->found[kind]);
    return number_instances(plan, error);
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

int recording_open(struct recording *recording, struct trial *trial,
    const struct recording_options *options, struct ss_error *error) {
    *recording = (struct recording){
        .trial = trial,
        .clock = {read_clock, read_wall_clock, trial},
    };
    recording->words[0] = strdup(options->word);
    recording->folder = strdup(options->folder);
    struct ss_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recording->words[0] || !recording->folder || !recorder) {
        free(recorder);
        return ss_error_memory(error);
    }
    int status = make_plan(recording, options, error);
    if (status == 0)
        status = ss_iterations_keep_apart(&trial->iterations, trial->options.instances, 1) < 0
                     ? ss_error_memory(error)
                     : ss_recorder_open(recorder, &recording->plan, error);
    if (status < 0) {
        free(recorder);
        recording_close(recording);
        return -1;
    }
    recording->recorder = recorder;
    trial->iterations.tell = take_iteration;
    trial->iterations.context = recorder;
    for (uint32_t i = 0; i < trial->options.instances; i++)
        ss_iterations_start(&trial->iterations, i, trial->start);
    note_beginning(recording);
    return 0;
}

void recording_take_sample(struct recording *recording) {
    ss_recorder_sample(recording->recorder, &recording->trial->monitor.latest);
    ss_recorder_flush(recording->recorder, recording->trial->board);
}

int recording_finish(struct recording *recording, struct ss_error *error) {
    struct trial *trial = recording->trial;
    struct ss_usage usage = {.board = trial->board}; /* a simulated machine has no processes */
    struct ss_outcome outcome;
    for (uint32_t i = 0; i < trial->options.instances; i++)
        ss_journal_end(&trial->lives[i].journal, trial->now);
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
        .switching = trial_count_switching(trial),
        .others = NAN,
        .end = trial->now,
    };
    ss_outcome_take(&outcome, &input);
    ss_outcome_take_iterations(&outcome, &recording->plan, &trial->iterations);
    ss_recorder_close(recording->recorder, trial->board, &outcome);
    ss_judge_run(&outcome, &recording->plan);
    int status = ss_record_finish(&recording->plan, &outcome, error);
    ss_outcome_close(&outcome);
    free(recording->recorder);
    recording->recorder = NULL;
    return status;
}

void recording_close(struct recording *recording) {
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
