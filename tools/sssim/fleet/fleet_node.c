/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_node.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <showstopper/random.h>

#include "base/wallclock.h"
#include "chance.h"
#include "simulation.h"

/* Smaller differences between times, in seconds, are due to rounding. */
#define ROUNDING 1e-6

/* Makes the random numbers of nodes independent of those of their modules. */
#define SALT UINT64_C(0x666c656574)

/* Words other than the user's: the program, the seed, the trace, and the final NULL. */
#define WORDS_OWN 8

void fleet_node_draw(
    struct fleet_node *node, const struct fleet_options *options, uint64_t number) {
    uint64_t state = ss_random_hash(ss_random_hash(options->seed ^ SALT) + number);
    *node = (struct fleet_node){.fails = 1};
    node->late = chance_draw_exponential(&state, ss_time_seconds(options->late));
    node->offset = chance_draw_normal_scaled(&state, ss_time_seconds(options->clock));
    node->measured =
        node->offset + ss_time_seconds(options->clock_error) * (2 * ss_random_next(&state) - 1);
    bool fails = ss_random_next(&state) < options->failures;
    double moment = ss_random_next(&state);
    node->fails = fails ? moment : 1;
}

struct recording {
    struct fleet_node *node;
    FILE *stream;  /* NULL: nothing is recorded */
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
    char time[40];
    /* The start is planned on the node's clock, shifted by the measured offset. */
    double wall = FLEET_START + node->measured + node->late + end;
    ss_wallclock_print(time, sizeof time, (int64_t)llround(wall * 1e9));
    if (recording->is_free)
        fprintf(
            recording->stream, "%s,%.6f,,%.6f,,,,,,,,,,,0\n", time, end, recording->load / length);
    else
        fprintf(recording->stream, "%s,%.6f,%.6f,%.6f,%.6f,,,,,,,,,,%d\n", time, end,
            recording->target / length, recording->load / length,
            (recording->target - recording->load) / length, recording->is_counted);
    recording->begin = end;
    recording->load = recording->target = 0;
}

/* Writes the time up to `end` that is in no row yet. */
static void write_rest(struct recording *recording, double end) {
    if (recording->stream && end - recording->begin > ROUNDING)
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
     * A row is either free or not, and either counted or not: readers would take free time as time
     * at the target.
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
    if (recording->stream && end - recording->begin >= recording->interval - ROUNDING)
        write_sample(recording, end);
}

/* Closes the stream. Fails if any write has failed, also one before others that succeeded. */
static int close_whole(FILE *stream) {
    bool failed = ferror(stream);
    if (fclose(stream) == EOF)
        return EOF;
    errno = failed ? EIO : 0;
    return failed ? EOF : 0;
}

static int write_plan(const char *folder, double cpus, struct ss_error *error) {
    char path[4300];
    snprintf(path, sizeof path, "%s/plan.json", folder);
    FILE *stream = fopen(path, "wxe");
    if (stream)
        fprintf(stream,
            "{\"schema\": 2, \"version\": \"simulated\", \"measured\": {\"scope\": \"machine\", "
            "\"capacity_cpus\": %.15g}}\n",
            cpus);
    if (stream && close_whole(stream) == 0)
        return 0;
    return ss_error_fail(error, "%s: %s", path, strerror(errno));
}

static int open_record(
    struct recording *recording, const char *folder, double cpus, struct ss_error *error) {
    char path[4300];
    if (mkdir(folder, 0777) < 0)
        return ss_error_fail(error, "%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/samples.csv", folder);
    recording->stream = fopen(path, "wxe");
    if (!recording->stream)
        return ss_error_fail(error, "%s: %s", path, strerror(errno));
    fputs("time,elapsed_seconds,target,load,error,load_ticks,user,system,irq,steal,iowait,idle,"
          "pressure,duty,"
          "counted\n",
        recording->stream);
    return write_plan(folder, cpus, error);
}

static size_t count_words(char *const *words) {
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

/* Makes the command line of a node's simulation. Copies the words, which the parser reorders. */
static char **make_words(const struct fleet_options *options, const char *trace, char seed[24]) {
    size_t count = count_words(options->words), used = 0;
    char **words = calloc(count + WORDS_OWN, sizeof *words);
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
 * and replace them if they set the same. `trace` is NULL without --traces.
 */
static int check(
    const struct simulation *simulation, uint64_t seed, const char *trace, struct ss_error *error) {
    if (simulation->foreground || simulation->grid.count > 0 || simulation->record ||
        simulation->csv || simulation->help || simulation->version)
        return ss_error_fail(error, "options after -- must not contain --foreground, --sweep, "
                                    "--record, --csv, --help or --version");
    if (simulation->trial.seed != seed)
        return ss_error_fail(error, "options after -- must not contain --seed, because each node "
                                    "has a seed of its own: give --seed before --");
    if (trace && (strcmp(simulation->trial.modules[SS_KIND_TRACE], "file") != 0 ||
                     strcmp(simulation->trial.options[SS_KIND_TRACE], trace) != 0))
        return ss_error_fail(error, "options after -- must not contain -t or -T, because --traces "
                                    "gives each node its trace");
    return 0;
}

static int simulate(struct simulation *simulation, struct recording *recording, uint64_t number,
    const char *folder, struct ss_error *error) {
    static struct trial trial; /* too large for the stack */
    struct fleet_node *node = recording->node;
    ss_time length;
    if (simulation_open_trial(simulation, &trial, take_sample, &length, error) < 0)
        return -1;
    /* The nodes have the same options. */
    if (number == 0)
        ss_option_store_print_warnings(stderr, "sssim", &simulation->store);
    trial.options.context = recording;
    recording->warmup = ss_time_seconds(trial.options.warmup);
    recording->settle = ss_time_seconds(trial.options.settle);
    recording->last = recording->begin = -recording->warmup;
    if (node->fails < 1)
        length =
            trial.options.warmup + (ss_time)(node->fails * (double)(length - trial.options.warmup));
    int status = folder ? open_record(recording, folder, trial.set.load_cpus, error) : 0;
    if (status == 0)
        status = trial_advance(&trial, length, error);
    if (status == 0)
        write_rest(recording, recording->last);
    trial_close(&trial);
    if (recording->stream && close_whole(recording->stream) != 0 && status == 0)
        status = ss_error_fail(error, "%s: %s", folder, strerror(errno));
    return status;
}

int fleet_node_run(struct fleet_node *node, const struct fleet_options *options, uint64_t number,
    const char *trace, struct ss_error *error) {
    struct simulation simulation;
    struct recording recording = {.node = node, .interval = ss_time_seconds(options->interval)};
    /* Hashed twice: fleets with successive seeds would otherwise have nearly the same nodes. */
    uint64_t seed = ss_random_hash(ss_random_hash(options->seed) + number) >> 16;
    char seed_text[24], folder[4200];
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    snprintf(folder, sizeof folder, "%.4000s/n%llu", options->record ? options->record : "",
        (unsigned long long)number);
    char **words = make_words(options, trace, seed_text);
    if (!words)
        return ss_error_memory(error);
    int status = simulation_parse(&simulation, words, error);
    if (status == 0)
        status = check(&simulation, seed, trace, error);
    if (status == 0)
        status = simulate(&simulation, &recording, number, options->record ? folder : NULL, error);
    simulation_close(&simulation);
    free(words);
    node->load /= node->covered;
    node->target /= node->covered;
    return status;
}
