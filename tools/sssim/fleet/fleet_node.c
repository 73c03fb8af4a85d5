/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_node.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <showstopper/random.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "chance.h"
#include "record/sample_row.h"
#include "simulation.h"

/* Smaller differences between times, in seconds, are due to rounding. */
#define ROUNDING 1e-6

/* Makes the random numbers of nodes independent of those of their modules. */
#define SALT UINT64_C(0x666c656574)

/* Words other than the user's: the program, the seed, the trace, and the final NULL. */
#define OWN_WORDS_MAX 8

void fleet_node_draw(
    struct fleet_node *node, const struct fleet_options *options, uint64_t number) {
    uint64_t state = ss_random_hash(ss_random_hash(options->seed ^ SALT) + number);
    *node = (struct fleet_node){.fails_at = 1};
    node->late = chance_draw_exponential(&state, ss_time_seconds(options->late));
    node->offset = chance_draw_normal_scaled(&state, ss_time_seconds(options->clock));
    node->measured =
        node->offset + ss_time_seconds(options->clock_error) * (2 * ss_random_next(&state) - 1);

    bool fails = ss_random_next(&state) < options->failures;
    double moment = ss_random_next(&state);
    node->fails_at = fails ? moment : 1;
}

struct recording {
    struct fleet_node *node;
    int folder; /* descriptor of the record's folder; -1 if nothing is recorded */
    struct ss_whole_file samples;
    double warmup; /* in seconds */
    double settle; /* in seconds; samples that began before are not counted */
    double interval;
    double last;         /* end of the monitor's previous sample, in seconds of control */
    double begin;        /* start of the record's next sample, likewise */
    double load, target; /* sums since `begin`, weighted by time */
    bool is_free;        /* the time since `begin` is in a `free` section, which has no target */
    bool is_counted;     /* the time since `begin` is counted */
};

static void write_sample(struct recording *recording, double end) {
    const struct fleet_node *node = recording->node;
    double length = end - recording->begin;
    /* The start is planned on the node's clock, shifted by the measured offset. */
    double wall = FLEET_START + node->measured + node->late + end;
    struct ss_load_sample sample = ss_load_sample_new();
    sample.time = (int64_t)llround(wall * 1e9);
    sample.elapsed = end;
    sample.load = recording->load / length;
    if (!recording->is_free) {
        sample.target = recording->target / length;
        sample.error = sample.target - sample.load;
    }
    sample.counted = recording->is_counted;

    char row[SS_SAMPLE_ROW_SIZE];
    ss_sample_row_csv(row, &sample, SS_SAMPLE_COLUMNS_RUN);
    fputs(row, recording->samples.stream);
    recording->begin = end;
    recording->load = recording->target = 0;
}

/* Writes a row for the time before `end` that no row covers yet. */
static void write_rest(struct recording *recording, double end) {
    if (recording->folder >= 0 && end - recording->begin > ROUNDING)
        write_sample(recording, end);
}

static void take_sample(void *context, const struct trial_sample *sample) {
    struct recording *recording = context;
    struct fleet_node *node = recording->node;
    double start = recording->last, end = sample->elapsed - recording->warmup;
    double length = end - start;
    bool is_free = isnan(sample->target);
    bool is_counted = !is_free && start >= recording->settle - ROUNDING;

    recording->last = end;
    if (length <= 0)
        return;

    if (is_free && end < ROUNDING) { /* the warm-up */
        recording->begin = end;
        return;
    }

    /*
     * Begin a new row when either state changes: in a mixed row, readers would take free time as
     * time at the target.
     */
    if (is_free != recording->is_free || is_counted != recording->is_counted)
        write_rest(recording, start);

    recording->is_free = is_free;
    recording->is_counted = is_counted;
    recording->load += length * sample->load;
    if (!is_free)
        recording->target += length * sample->target;

    if (is_counted) {
        node->covered += length;
        node->load += length * sample->load;
        node->target += length * sample->target;
    }

    if (recording->folder >= 0 && end - recording->begin >= recording->interval - ROUNDING)
        write_sample(recording, end);
}

static int write_plan(int folder, double cpus) {
    struct ss_whole_file file;
    if (ss_whole_file_open_below(&file, folder, "plan.json") < 0)
        return -1;
    fprintf(file.stream,
        "{\"schema\": 2, \"version\": \"simulated\", \"measured\": {\"scope\": \"machine\", "
        "\"capacity_cpus\": %.15g}}\n",
        cpus);
    return ss_whole_file_commit(&file);
}

static int open_record(struct recording *recording, int records, uint64_t number, double cpus) {
    char name[24];
    snprintf(name, sizeof name, "n%llu", (unsigned long long)number);
    recording->folder = ss_walk_folder_below(records, name, O_RDONLY | O_CREAT | O_EXCL, NULL);
    if (recording->folder < 0 || write_plan(recording->folder, cpus) < 0 ||
        ss_whole_file_open_below(&recording->samples, recording->folder, "samples.csv") < 0)
        return -1;

    char heading[SS_SAMPLE_ROW_SIZE];
    ss_sample_row_heading(heading, SS_SAMPLE_COLUMNS_RUN);
    fputs(heading, recording->samples.stream);
    return 0;
}

/*
 * Completes the record. Returns -1 with errno on failure. If `failed`, discards the samples instead
 * and returns -1.
 */
static int close_record(struct recording *recording, bool failed) {
    int status = failed ? -1 : 0;
    if (failed)
        ss_whole_file_abandon(&recording->samples);
    else
        status = ss_whole_file_commit(&recording->samples);
    close(recording->folder);
    return status;
}

/* Makes the command line of a node's simulation. Copies the words, which the parser reorders. */
static char **make_words(const struct fleet_options *options, const char *trace, char seed[24]) {
    size_t count = ss_words_count(options->words), used = 0;
    char **words = calloc(count + OWN_WORDS_MAX, sizeof *words);
    if (!words)
        return NULL;

    words[used++] = (char *)"sssim";
    words[used++] = (char *)"--seed";
    words[used++] = seed;
    if (trace) {
        words[used++] = (char *)"-t";
        words[used++] = (char *)"file";
        words[used++] = (char *)"-T";
        words[used++] = (char *)trace;
    }

    if (count > 0)
        memcpy(words + used, options->words, count * sizeof *words);
    return words;
}

/*
 * Refuses options of the user that do not fit a node. They follow the options of the node itself,
 * and would override them. `trace` is NULL without --traces.
 */
static int check(
    const struct simulation *simulation, uint64_t seed, const char *trace, struct ss_error *error) {
    if (simulation->foreground || simulation->grid.count > 0 || simulation->record ||
        simulation->csv || simulation->help || simulation->version)
        return ss_error_fail(error, "options after -- must not contain --foreground, --sweep, "
                                    "--record, --csv, --help or --version");

    if (simulation->trial.seed != seed)
        return ss_error_fail(error, "options after -- must not contain --seed, because each node "
                                    "has a seed of its own: use --seed before --");

    if (trace && (strcmp(simulation->trial.modules[SS_KIND_TRACE], "file") != 0 ||
                     strcmp(simulation->trial.options[SS_KIND_TRACE], trace) != 0))
        return ss_error_fail(error, "options after -- must not contain -t or -T, because --traces "
                                    "gives each node its trace");
    return 0;
}

static int run_trial(struct trial *trial, ss_time length, struct recording *recording,
    uint64_t number, int records, struct ss_error *error) {
    if (records >= 0 && open_record(recording, records, number, trial->set.load_cpus) < 0)
        return ss_error_fail(error, "--record: cannot write the record: %s", strerror(errno));
    if (trial_advance(trial, length, error) < 0)
        return -1;
    write_rest(recording, recording->last);
    return 0;
}

static int simulate(struct simulation *simulation, struct recording *recording, uint64_t number,
    int records, struct ss_error *error) {
    static struct trial trial; /* too large for the stack */
    struct fleet_node *node = recording->node;
    ss_time length;
    if (simulation_open_trial(simulation, &trial, take_sample, &length, error) < 0)
        return -1;

    /* Print warnings once: all nodes have the same options. */
    if (number == 0)
        ss_option_store_print_warnings(stderr, "sssim", &simulation->store);

    trial.options.context = recording;
    recording->warmup = ss_time_seconds(trial.options.warmup);
    recording->settle = ss_time_seconds(trial.options.settle);
    recording->last = recording->begin = -recording->warmup;
    if (node->fails_at < 1)
        length = trial.options.warmup +
                 (ss_time)(node->fails_at * (double)(length - trial.options.warmup));

    int status = run_trial(&trial, length, recording, number, records, error);
    trial_close(&trial);
    if (recording->folder >= 0 && close_record(recording, status < 0) < 0 && status == 0)
        status = ss_error_fail(error, "--record: cannot write the record: %s", strerror(errno));
    return status;
}

/* Replaces the /proc path of a trace in a message by its name. */
static void name_trace(
    struct ss_error *error, const char *path, const char *folder, const char *trace) {
    struct ss_error old = *error;
    const char *found = strstr(old.message, path);
    if (!found)
        return;
    error->status = 0;
    ss_error_set(error, old.status, "%.*s%s/%s%s", (int)(found - old.message), old.message, folder,
        ss_words_show(trace).text, found + strlen(path));
}

static int run(struct fleet_node *node, const struct fleet_options *options, uint64_t number,
    const char *trace, int records, struct ss_error *error) {
    struct simulation simulation;
    struct recording recording = {
        .node = node, .folder = -1, .interval = ss_time_seconds(options->interval)};

    /* Hashed twice: fleets with successive seeds would otherwise have nearly the same nodes. */
    uint64_t seed = ss_random_hash(ss_random_hash(options->seed) + number) >> 16;
    char seed_text[24];
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    char **words = make_words(options, trace, seed_text);
    if (!words)
        return ss_error_memory(error);

    int status = 0;
    if (simulation_parse(&simulation, words, error) < 0 ||
        check(&simulation, seed, trace, error) < 0 ||
        simulate(&simulation, &recording, number, records, error) < 0)
        status = -1;
    simulation_close(&simulation);
    free(words);
    return status;
}

int fleet_node_run(struct fleet_node *node, const struct fleet_options *options, uint64_t number,
    int traces, const char *trace, int records, struct ss_error *error) {
    char path[40];
    if (!trace)
        return run(node, options, number, NULL, records, error);

    SS_OWNED(close) int file = ss_input_open(traces, trace, INT64_MAX, error);
    if (file < 0)
        return -1;
    /* Pass the open file: another user may replace the name before the module opens it. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int status = run(node, options, number, path, records, error);
    if (status < 0)
        name_trace(error, path, options->traces, trace);
    return status;
}
