/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Follows policies of `ssactuate follow` in virtual time, on a machine with the published
 * interference. usage() describes the options.
 *
 * The real modules hold the background's load on the machine of sssim. The throughput of a
 * placement at a load b of the background, relative to that of the foreground alone, is
 *
 *   A ((1 - F b) + b (1 - B)),
 *
 * the sum of both sides. F is the published interference metric of the foreground, B that of the
 * background, whose foreground always runs. A is 1 for per-thread. For per-chip it is not
 * published, but chosen so that the better placement of both sides together changes at the
 * published load, near 50 %.
 */

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "policy.h"
#include "trial.h"

#define CHANGE      0.5 /* the published load at which the better placement changes */
#define LOW         0.2
#define HIGH        0.8
#define SWITCH      0.02 /* seconds of work lost at a switch, because caches are cold */
#define STAY        10   /* seconds */
#define SAMPLES_MAX 100000
#define NAMES_MAX   8
#define LOSS_MAX    0.01
#define RULES       "load record x\nevery 1s\nstay 10s\n"

enum placement { PER_CHIP, PER_THREAD, PLACEMENTS };

static const char *const placements[] = {"per-chip", "per-thread"};

struct series {
    double loads[SAMPLES_MAX]; /* means of seconds */
    size_t count;
};

static void take_sample(void *context, const struct trial_sample *sample) {
    struct series *series = context;
    if (series->count < SAMPLES_MAX)
        series->loads[series->count++] = sample->load;
}

/* Writes a trace that alternates between two loads. */
static bool write_trace(char *path, double low, double high, int phases, int seconds) {
    int file = mkstemp(path);
    SS_OWNED(fclose) FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    for (int i = 0; stream && i < phases; i++)
        fprintf(stream, "%ds %g\n%ds %g\n", i * seconds, i % 2 ? high : low, (i + 1) * seconds,
            i % 2 ? high : low);
    return stream && fflush(stream) == 0;
}

/*
 * Simulates the background: four CPUs, and the modules of the published tool, whose load varies
 * more than with the default modules.
 */
static bool simulate(struct series *series, const char *trace, ss_time length, uint64_t seed) {
    static struct trial trial; /* static because it is too large for the stack */
    const struct trial_options options = {
        .cpus = 4,
        .instances = 4,
        .width = 1,
        .modules = {"file", "realtime", "rbpid", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = trace},
        .window = SS_WINDOW_DEFAULT,
        .interval = SS_SECOND,
        .lateness = SS_MILLISECOND,
        .lateness_varies = true,
        .seed = seed,
        .on_sample = take_sample,
        .context = series,
    };
    struct ss_error error = {0};
    series->count = 0;
    if (trial_open(&trial, &options, &error) == 0) {
        bool done = trial_advance(&trial, length, &error) == 0;
        trial_close(&trial);
        if (done)
            return true;
    }
    fprintf(stderr, "follow: %s\n", error.message);
    return false;
}

static bool make_series(
    struct series *series, const double loads[2], int phases, int seconds, uint64_t seed) {
    char path[] = "/tmp/follow-XXXXXX";
    bool done = write_trace(path, loads[0], loads[1], phases, seconds) &&
                simulate(series, path, (ss_time)(phases * seconds) * SS_SECOND, seed);
    unlink(path);
    return done;
}

static bool open_policy(struct ssactuate_policy *policy, const char *text) {
    struct ss_error error = {0};
    SS_OWNED(fclose) FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    if (stream && ssactuate_policy_read(policy, stream, "policy", &error) == 0)
        return true;
    fprintf(stderr, "follow: %s\n", error.message);
    return false;
}

/* The result of following a policy. */
struct run {
    double work;
    int switches;
    int min_stay;  /* seconds between two switches; INT32_MAX if there are fewer than two */
    int max_delay; /* seconds from a change of the load to the switch */
};

static enum placement placement_of(const struct ssactuate_rule *rule) {
    return strcmp(rule->knobs[0], "pin=per-thread") == 0 ? PER_THREAD : PER_CHIP;
}

/* The work per second of each placement: `constant` + `slope` times the background's load. */
struct pair {
    double constant[PLACEMENTS], slope[PLACEMENTS];
};

static double work_at(const struct pair *pair, enum placement placement, double load) {
    return pair->constant[placement] + pair->slope[placement] * load;
}

static struct run follow(
    const struct pair *pair, const struct ssactuate_policy *policy, const struct series *series) {
    struct ssactuate_decision decision = {.policy = policy};
    struct run run = {.min_stay = INT32_MAX};
    int latest = -1, changed = 0;
    for (size_t i = 0; i < series->count; i++) {
        int now = (int)i + 1;
        double load = series->loads[i];
        run.work += work_at(pair, placement_of(&policy->rules[decision.rule]), load);
        if (i > 0 && fabs(load - series->loads[i - 1]) > 0.25)
            changed = now;
        size_t rule = ssactuate_decide(&decision, (ss_time)now * SS_SECOND, load);
        if (rule == decision.rule)
            continue;
        ssactuate_decision_update(&decision, (ss_time)now * SS_SECOND, rule);
        run.work -= SWITCH * work_at(pair, placement_of(&policy->rules[rule]), load);
        run.switches++;
        if (latest >= 0 && now - latest < run.min_stay)
            run.min_stay = now - latest;
        if (now - changed > run.max_delay)
            run.max_delay = now - changed;
        latest = now;
    }
    return run;
}

static struct run follow_text(
    const struct pair *pair, const char *text, const struct series *series) {
    struct ssactuate_policy policy;
    struct run run = {.work = NAN};
    if (open_policy(&policy, text))
        run = follow(pair, &policy, series);
    ssactuate_policy_free(&policy);
    return run;
}

struct table {
    char names[NAMES_MAX][40];
    size_t count;
    double metrics[PLACEMENTS][NAMES_MAX]
                  [NAMES_MAX]; /* by foreground and background, from 0 to 1 */
};

/* Reads the heading "pinning,foreground,NAME..." and the rows. */
static bool read_table(struct table *table, const char *folder, const char *system) {
    char path[4096], line[1000];
    size_t rows[PLACEMENTS] = {0};
    snprintf(path, sizeof path, "%s/interference-%s.csv", folder, system);
    *table = (struct table){0};
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    for (bool first = true; stream && fgets(line, sizeof line, stream); first = false) {
        struct ss_words_part part;
        const char *at = line;
        int placement = 0;
        line[strcspn(line, "\n")] = '\0';
        for (int column = 0; ss_words_next(&at, ',', &part); column++) {
            while (column == 0 && !first && placement < PLACEMENTS &&
                   !ss_words_is(&part, placements[placement]))
                placement++;
            if (column < 2 || column >= NAMES_MAX + 2 || placement == PLACEMENTS)
                continue;
            if (first)
                snprintf(table->names[table->count++], sizeof table->names[0], "%.*s",
                    (int)part.length, part.text);
            else if (rows[placement] < NAMES_MAX)
                table->metrics[placement][rows[placement]][column - 2] =
                    strtod(part.text, NULL) / 100;
        }
        if (!first && placement < PLACEMENTS)
            rows[placement]++;
    }
    if (table->count > 0 && rows[PER_CHIP] == table->count && rows[PER_THREAD] == table->count)
        return true;
    fprintf(stderr, "follow: %s: cannot be read\n", path);
    return false;
}

static struct pair make_pair(const struct table *table, size_t front, size_t back) {
    struct pair pair;
    for (int i = 0; i < PLACEMENTS; i++) {
        pair.constant[i] = 1;
        pair.slope[i] = 1 - table->metrics[i][front][back] - table->metrics[i][back][front];
    }
    double factor = work_at(&pair, PER_THREAD, CHANGE) / work_at(&pair, PER_CHIP, CHANGE);
    pair.constant[PER_CHIP] *= factor;
    pair.slope[PER_CHIP] *= factor;
    return pair;
}

static enum placement better_at(const struct pair *pair, double load) {
    return work_at(pair, PER_THREAD, load) > work_at(pair, PER_CHIP, load) ? PER_THREAD : PER_CHIP;
}

static double work_of(
    const struct pair *pair, enum placement placement, const struct series *series) {
    double sum = 0;
    for (size_t i = 0; i < series->count; i++)
        sum += work_at(pair, placement, series->loads[i]);
    return sum;
}

/* Follows each pair of a table. Returns whether all are within the limits. */
static bool compare_pairs(
    const struct table *table, const char *system, const struct series *series, int changes) {
    double sums[3] = {0}, least = INFINITY, greatest = 0;
    bool met = true;
    for (size_t i = 0; i < table->count * table->count; i++) {
        const struct pair pair = make_pair(table, i / table->count, i % table->count);
        char text[200];
        snprintf(text, sizeof text, RULES "below 40%% pin=%s\nabove 60%% pin=%s\n",
            placements[better_at(&pair, LOW)], placements[better_at(&pair, HIGH)]);
        double chip = work_of(&pair, PER_CHIP, series);
        double thread = work_of(&pair, PER_THREAD, series);
        const struct run run = follow_text(&pair, text, series);
        double gain = run.work / fmax(chip, thread) - 1;
        sums[PER_CHIP] += chip / (double)series->count;
        sums[PER_THREAD] += thread / (double)series->count;
        sums[2] += run.work / (double)series->count;
        least = fmin(least, gain);
        greatest = fmax(greatest, gain);
        met &= gain >= -LOSS_MAX && run.switches == changes && run.max_delay <= 1 &&
               run.min_stay >= STAY;
    }
    double pairs = (double)(table->count * table->count);
    printf("| %-6s | %5.0f | %8.4f | %10.4f | %8.4f | %+6.2f | %+6.2f | %8d |\n", system, pairs,
        sums[PER_CHIP] / pairs, sums[PER_THREAD] / pairs, sums[2] / pairs, 100 * least,
        100 * greatest, changes);
    return met;
}

/*
 * A load that stays at a limit of a rule, and one that changes more often than the minimum stay
 * allows.
 */
static bool check_limits(uint64_t seed, int seconds) {
    static struct series series; /* static because it is too large for the stack */
    const struct pair pair = {.constant = {1, 1}};
    const char *text = RULES "below 40% pin=per-thread\nabove 60% pin=per-chip\n";
    const double rests[] = {0.6, 0.6}, leaps[] = {LOW, HIGH};
    if (!make_series(&series, rests, 2, seconds, seed))
        return false;
    const struct run resting = follow_text(&pair, text, &series);
    if (!make_series(&series, leaps, seconds, 3, seed))
        return false;
    const struct run leaping = follow_text(&pair, text, &series);
    printf(
        "\nSwitches at a limit, 60 %% for %d s: %d. From 20 to 80 %% or back every 3 s for %d s: "
        "%d, at least %d s apart.\n",
        2 * seconds, resting.switches, 3 * seconds, leaping.switches, leaping.min_stay);
    return resting.switches <= 1 && leaping.switches > 1 && leaping.min_stay >= STAY;
}

static void usage(FILE *file) {
    fputs("Usage: follow [OPTION]... FOLDER\n"
          "Follows policies in virtual time while the background's load changes between 20 and\n"
          "80 %, for each pair in the published tables of interference in FOLDER. Prints the work\n"
          "of both sides, in units of the foreground alone, with each placement and with the\n"
          "policy, and how much more the policy does than the better placement. Exits with\n"
          "status 1 if a limit is missed.\n\n"
          "  --phases N   phases of the background; default 60\n"
          "  --seconds N  length of a phase; default 60\n"
          "  --seed N     default 1\n"
          "  --help       print this help\n",
        file);
}

int main(int argc, char **argv) {
    static const struct option rows[] = {{"phases", required_argument, NULL, 'p'},
        {"seconds", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'}, {0}};
    static const char *const systems[] = {"kvm", "lxc"};
    static const double loads[] = {LOW, HIGH};
    static struct series series; /* static because it is too large for the stack */
    int phases = 60, seconds = 60;
    uint64_t seed = 1;
    for (int option; (option = getopt_long(argc, argv, "", rows, NULL)) != -1;) {
        if (option == 'p')
            phases = atoi(optarg);
        else if (option == 's')
            seconds = atoi(optarg);
        else if (option == 'r')
            seed = strtoull(optarg, NULL, 10);
        else {
            usage(option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 125;
        }
    }
    if (optind != argc - 1 || phases < 2 || seconds <= STAY ||
        (long long)phases * seconds > SAMPLES_MAX) {
        usage(stderr);
        return 125;
    }
    if (!make_series(&series, loads, phases, seconds, seed))
        return 125;
    printf("Work of both sides, and by how many percent the policy does more than the better\n"
           "placement, for the worst and the best pair.\n\n"
           "| %-6s | %5s | %8s | %10s | %8s | %6s | %6s | %8s |\n|-|-|-|-|-|-|-|-|\n",
        "", "pairs", "per-chip", "per-thread", "followed", "worst", "best", "switches");
    bool met = true;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        struct table table;
        if (!read_table(&table, argv[optind], systems[i]))
            return 125;
        met &= compare_pairs(&table, systems[i], &series, phases - 1);
    }
    met &= check_limits(seed, seconds);
    printf("\nBars: at most 1 %% below the better placement, a switch within 1 s of each change "
           "and no other: %s\n",
        met ? "met" : "missed");
    return met ? 0 : 1;
}
