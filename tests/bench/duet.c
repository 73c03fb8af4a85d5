/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Checks the estimator of tools/experiments/duet on studies with a known truth. usage() describes
 * the options.
 */

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "chance.h"
#include "sequential.h"
#include "statistics.h"
#include "trial.h"

/* 75 blocks of four runs of 3 s take 900 s. The first 10 blocks compare A with A. */
#define RUN           (3 * SS_SECOND)
#define FIRST         10
#define PLANNED       65
#define ALL_RUNS      (4 * (FIRST + PLANNED))
#define DEVIATION     0.03  /* standard deviation of runs */
#define CORRELATION   0.5   /* between successive runs */
#define LAUNCH        0.005 /* standard deviation of a factor that is constant during a launch */
#define DRIFT         0.05  /* slowdown of the machine from the first to the last run */
#define POSITION      0.02  /* slowdown of the first run of a block */
#define ITERATION     (10 * SS_MILLISECOND)
#define ALARMS_MAX    0.05
#define FOUND_MIN     0.9
#define NAIVE_MIN     0.2
#define EFFECT_TO_SEE 0.01

/* 35 pairs of processes with six turns of 3 s each, after two turns that do not count. */
#define PAIRS         35
#define PAIRS_PLANNED (PAIRS - FIRST)
#define TURNS         6
#define PAIR_EFFECT   0.02 /* the effect to be found */
#define PAIR_TURNS    210  /* of a single pair that takes as long as all pairs */

/* Number of studies in which an estimator excluded 0 at any look. */
struct counts {
    int studies;
    int bounded, plain, endless, naive;
};

struct study {
    uint64_t seed, random;
    double effect; /* slowdown of B, as a fraction */
    bool simulated;
    bool coin;     /* order of the first block of the current two: A B B A */
    bool stays;    /* processes have several turns, so the launch does not vary between turns */
    double normal; /* logarithm of the speed, in standard deviations, unless simulated */
};

static void usage(FILE *file) {
    fputs("Usage: duet [OPTION]...\n"
          "Simulates studies of tools/experiments/duet and prints how many find a difference,\n"
          "without one and with one of 1 or 2 %. Exits with status 1 if a limit is missed.\n\n"
          "  --studies N     studies of each kind; default 10000\n"
          "  --simulated N   how many of them run on the machine of sssim; default 500\n"
          "  --seed N        default 1\n"
          "  --help          print this help\n",
        file);
}

/* Returns the throughput of a run simulated by sssim; NaN if the simulation fails. */
static double simulate(const struct study *study, int number, double speed) {
    static struct trial trial; /* static because it is too large for the stack */
    struct trial_options options = {
        .cpus = 1,
        .instances = 1,
        .width = 1,
        .modules = {"constant", "realtime", "fixed", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = "100%"},
        .window = SS_WINDOW_DEFAULT,
        .seed = ss_random_hash(study->seed + (uint64_t)number),
        .work = {.iteration = ss_time_from_double((double)ITERATION / speed),
            .speed = {.deviation = DEVIATION,
                .correlation = CORRELATION,
                .launch = study->stays ? 0 : LAUNCH,
                .window = RUN,
                .uptime = (ss_time)number * RUN,
                .seed = study->seed}},
    };
    struct trial_figures figures = {.throughput = NAN};
    struct ss_error error = {0};
    if (trial_open(&trial, &options, &error) == 0) {
        if (trial_advance(&trial, RUN, &error) == 0)
            trial_get_figures(&trial, &figures);
        trial_close(&trial);
    }
    if (error.status) {
        fprintf(stderr, "duet: %s\n", error.message);
        exit(125);
    }
    return figures.throughput;
}

static double generate(struct study *study, double speed) {
    double launch = study->stays ? 0 : LAUNCH * chance_draw_normal(&study->random);
    double throughput = 100 * speed * exp(DEVIATION * study->normal + launch);
    study->normal = CORRELATION * study->normal +
                    sqrt(1 - CORRELATION * CORRELATION) * chance_draw_normal(&study->random);
    return throughput;
}

static double measure(struct study *study, int number, double speed) {
    return study->simulated ? simulate(study, number, speed) : generate(study, speed);
}

/* A coin decides the order of each even block; the next block has the reverse order. */
static enum stats_order draw_order(struct study *study, int block) {
    if (block % 2 == 0)
        study->coin = ss_random_next(&study->random) < 0.5;
    return (block % 2 == 0) == study->coin ? STATS_ABBA : STATS_BAAB;
}

/* Simulates four runs. Returns their difference. */
static double carry_block(struct study *study, int block, enum stats_order *order) {
    double throughput[2][2];
    int used[2] = {0, 0};
    *order = draw_order(study, block);
    for (int i = 0; i < 4; i++) {
        int number = 4 * block + i;
        bool is_b = (i == 1 || i == 2) == (*order == STATS_ABBA);
        double speed = 1 - DRIFT * number / ALL_RUNS;
        if (i == 0)
            speed *= 1 - POSITION;
        if (is_b && block >= FIRST)
            speed *= 1 - study->effect;
        throughput[is_b][used[is_b]++] = measure(study, number, speed);
    }
    return stats_block_difference(throughput[0], throughput[1]);
}

/* Returns whether Student's t excludes 0 at this look, without a correction for other looks. */
static bool excludes_by_t(const struct stats_look *look) {
    double n = (double)look->count;
    struct ssreport_interval interval = ssreport_mean_interval(
        look->mean, (struct ssreport_sureness){look->deviation / sqrt(n), n - 2}, 0.95);
    return n >= STATS_LOOK_MIN && (interval.low > 0 || interval.high < 0);
}

static void carry_out(struct study *study, struct counts *counts) {
    double values[PLANNED];
    enum stats_order orders[PLANNED];
    bool bounded = false, plain = false, endless = false, naive = false;
    study->random = ss_random_hash(study->seed);
    study->normal = chance_draw_normal(&study->random);
    for (int i = 0; i < FIRST; i++)
        carry_block(study, i, &orders[0]);
    for (size_t n = 1; n <= PLANNED; n++) {
        values[n - 1] = carry_block(study, FIRST + (int)n - 1, &orders[n - 1]);
        struct stats_look look = stats_look_at(values, orders, n, PLANNED);
        bounded |= fabs(look.mean) > look.half;
        naive |= excludes_by_t(&look);
        look = stats_look_at(values, NULL, n, PLANNED);
        plain |= fabs(look.mean) > look.half;
        look = stats_look_at(values, orders, n, 0);
        endless |= fabs(look.mean) > look.half;
    }
    counts->studies++;
    counts->bounded += bounded;
    counts->plain += plain;
    counts->endless += endless;
    counts->naive += naive;
}

static void print_counts(const char *name, const struct counts *counts) {
    double all = counts->studies / 100.;
    if (counts->studies > 0)
        printf("| %-22s | %7d | %8.2f | %8.2f | %8.2f | %8.2f |\n", name, counts->studies,
            counts->bounded / all, counts->plain / all, counts->endless / all, counts->naive / all);
}

/* Simulates all studies of one kind. */
static struct counts carry_all(double effect, int studies, int simulated, uint64_t seed) {
    struct counts counts[2] = {0};
    for (int i = 0; i < studies; i++) {
        struct study study = {
            .seed = seed + (uint64_t)i * 1000003, .effect = effect, .simulated = i < simulated};
        carry_out(&study, &counts[study.simulated]);
    }
    print_counts(effect > 0 ? "B 1 % slower, generated" : "A and A, generated", &counts[0]);
    print_counts(effect > 0 ? "B 1 % slower, in sssim" : "A and A, in sssim", &counts[1]);
    counts[0].studies += counts[1].studies;
    counts[0].bounded += counts[1].bounded;
    counts[0].naive += counts[1].naive;
    return counts[0];
}

/* Counts studies of pairs of processes, and studies of a single pair that last as long. */
struct pair_counts {
    int studies;
    int bounded;      /* the pairs exclude 0 at any look */
    int single;       /* the turns of a single pair exclude 0 */
    int single_wrong; /* the turns exclude the true difference of the two processes */
};

/*
 * Simulates a pair of processes from turn `number` of the study on. Sets `differences` to the
 * differences of the turns, and `truth` to the true difference of the processes. Returns the number
 * of differences.
 */
static size_t carry_pair(struct study *study, int number, int turns, double *differences,
    enum stats_order *order, double *truth) {
    double figures[PAIR_TURNS], launches[2];
    *order = draw_order(study, number / TURNS);
    bool b_first = *order == STATS_BAAB;
    for (int i = 0; i < 2; i++)
        launches[i] = LAUNCH * chance_draw_normal(&study->random);
    *truth = launches[1] - launches[0] + log(1 - study->effect);
    for (int i = 0; i < turns; i++) {
        bool is_b = (i % 2 == 1) != b_first;
        double speed = exp(launches[is_b]) * (1 - DRIFT * (number + i) / (PAIRS * TURNS));
        if (i == 0)
            speed *= 1 - POSITION;
        figures[i] = measure(study, number + i, speed * (is_b ? 1 - study->effect : 1));
    }
    size_t count = stats_turn_differences(figures, (size_t)turns, differences);
    for (size_t i = 0; b_first && i < count; i++)
        differences[i] = -differences[i];
    return count;
}

static void carry_pairs(struct study *study, struct pair_counts *counts) {
    double values[PAIRS_PLANNED], differences[PAIR_TURNS / 3], truth;
    enum stats_order orders[PAIRS_PLANNED], order;
    bool bounded = false;
    study->random = ss_random_hash(study->seed);
    study->normal = chance_draw_normal(&study->random);
    for (size_t n = 1; n <= PAIRS_PLANNED; n++) {
        size_t count = carry_pair(
            study, (FIRST + (int)n - 1) * TURNS, TURNS, differences, &orders[n - 1], &truth);
        values[n - 1] = ssreport_mean_of(differences, count, 0.95).mean;
        struct stats_look look = stats_look_at(values, orders, n, PAIRS_PLANNED);
        bounded |= fabs(look.mean) > look.half;
    }
    size_t count = carry_pair(study, 0, PAIR_TURNS, differences, &order, &truth);
    struct ssreport_mean mean = ssreport_mean_of(differences, count, 0.95);
    counts->studies++;
    counts->bounded += bounded;
    counts->single += mean.low > 0 || mean.high < 0;
    counts->single_wrong += mean.low > truth || mean.high < truth;
}

static struct pair_counts carry_all_pairs(
    double effect, int studies, int simulated, uint64_t seed) {
    struct pair_counts counts = {0};
    for (int i = 0; i < studies; i++) {
        struct study study = {.seed = seed + (uint64_t)i * 1000003,
            .effect = effect,
            .simulated = i < simulated,
            .stays = true};
        carry_pairs(&study, &counts);
    }
    double all = counts.studies / 100.;
    if (counts.studies > 0)
        printf("| %-22s | %7d | %8.2f | %8.2f | %8.2f |\n", effect > 0 ? "B 2 % slower" : "A and A",
            counts.studies, counts.bounded / all, counts.single / all, counts.single_wrong / all);
    return counts;
}

/* Prints the counts. Returns whether they are within the limits. */
static bool check_pairs(int studies, int simulated, uint64_t seed) {
    printf("\nThe same with processes that take turns: %d pairs of launches, and a single pair "
           "that takes as long;\nand how often the latter excludes the difference between its two "
           "processes.\n\n| %-22s | %7s | %8s | %8s | %8s |\n|-|-|-|-|-|\n",
        PAIRS_PLANNED, "", "studies", "duet", "one pair", "its own");
    struct pair_counts same = carry_all_pairs(0, studies, simulated, seed);
    struct pair_counts slower = carry_all_pairs(PAIR_EFFECT, studies, simulated, seed);
    bool met = same.bounded <= ALARMS_MAX * same.studies &&
               slower.bounded >= FOUND_MIN * slower.studies &&
               same.single >= NAIVE_MIN * same.studies &&
               same.single_wrong <= 1.2 * ALARMS_MAX * same.studies;
    printf(
        "\nBars: at most %g %% alarms, 2 %% found in %g %%, one pair above %g %%, its own at most "
        "%g %%: %s\n",
        100 * ALARMS_MAX, 100 * FOUND_MIN, 100 * NAIVE_MIN, 120 * ALARMS_MAX,
        met ? "met" : "missed");
    return met;
}

/*
 * Blocks of two runs in 900 s; both commands run at the same time. One place is slower by POSITION.
 */
#define BESIDE_PLANNED (2 * (FIRST + PLANNED) - FIRST)
#define OWN            0.01 /* standard deviation of the noise that only one command has */

struct beside_counts {
    int studies;
    int bounded; /* the blocks exclude 0 at any look */
    int fixed;   /* the blocks of commands that keep their places exclude 0 at the end */
};

/* Simulates a run of both commands. Returns the difference of the logarithms, B minus A. */
static double carry_both(struct study *study, int number, bool b_first) {
    double speed = 1 - DRIFT * number / ALL_RUNS;
    double together = log(measure(study, number, speed)), figures[2];
    for (int is_b = 0; is_b < 2; is_b++) {
        bool is_slow = (is_b == 1) == b_first;
        figures[is_b] = together + OWN * chance_draw_normal(&study->random) +
                        LAUNCH * chance_draw_normal(&study->random) +
                        log(is_slow ? 1 - POSITION : 1) + log(is_b ? 1 - study->effect : 1);
    }
    return figures[1] - figures[0];
}

static void carry_beside(struct study *study, struct beside_counts *counts) {
    double values[BESIDE_PLANNED], fixed[BESIDE_PLANNED];
    enum stats_order orders[BESIDE_PLANNED];
    bool bounded = false;
    study->random = ss_random_hash(study->seed);
    study->normal = chance_draw_normal(&study->random);
    for (size_t n = 1; n <= BESIDE_PLANNED; n++) {
        int number = 2 * (FIRST + (int)n - 1);
        orders[n - 1] = draw_order(study, number / 2);
        bool b_first = orders[n - 1] == STATS_BAAB;
        values[n - 1] =
            (carry_both(study, number, b_first) + carry_both(study, number + 1, !b_first)) / 2;
        fixed[n - 1] = (carry_both(study, number, true) + carry_both(study, number + 1, true)) / 2;
        struct stats_look look = stats_look_at(values, orders, n, BESIDE_PLANNED);
        bounded |= fabs(look.mean) > look.half;
    }
    struct ssreport_mean mean = ssreport_mean_of(fixed, BESIDE_PLANNED, 0.95);
    counts->studies++;
    counts->bounded += bounded;
    counts->fixed += mean.low > 0 || mean.high < 0;
}

static struct beside_counts carry_all_beside(
    double effect, int studies, int simulated, uint64_t seed) {
    struct beside_counts counts = {0};
    for (int i = 0; i < studies; i++) {
        struct study study = {.seed = seed + (uint64_t)i * 1000003,
            .effect = effect,
            .simulated = i < simulated,
            .stays = true};
        carry_beside(&study, &counts);
    }
    double all = counts.studies / 100.;
    if (counts.studies > 0)
        printf("| %-22s | %7d | %8.2f | %8.2f |\n", effect > 0 ? "B 1 % slower" : "A and A",
            counts.studies, counts.bounded / all, counts.fixed / all);
    return counts;
}

/* Prints the counts. Returns whether they are within the limits. */
static bool check_beside(int studies, int simulated, uint64_t seed) {
    printf("\nThe same with commands that run at the same time: %d blocks of two runs, with places "
           "swapped, and kept.\n\n| %-22s | %7s | %8s | %8s |\n|-|-|-|-|\n",
        BESIDE_PLANNED, "", "studies", "duet", "kept");
    struct beside_counts same = carry_all_beside(0, studies, simulated, seed);
    struct beside_counts slower = carry_all_beside(EFFECT_TO_SEE, studies, simulated, seed);
    bool met = same.bounded <= ALARMS_MAX * same.studies &&
               slower.bounded >= FOUND_MIN * slower.studies &&
               same.fixed >= NAIVE_MIN * same.studies;
    printf("\nBars: at most %g %% alarms, 1 %% found in %g %%, kept places above %g %%: %s\n",
        100 * ALARMS_MAX, 100 * FOUND_MIN, 100 * NAIVE_MIN, met ? "met" : "missed");
    return met;
}

static uint64_t parse(const char *word, uint64_t max) {
    char *end;
    double number = strtod(word, &end);
    if (*word == '\0' || *end != '\0' || !(number >= 0 && number <= (double)max)) {
        fprintf(stderr, "duet: %s: a number is required: see --help\n", word);
        exit(125);
    }
    return (uint64_t)number;
}

int main(int argc, char **argv) {
    static const struct option rows[] = {{"studies", required_argument, NULL, 'n'},
        {"simulated", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'}, {0}};
    int studies = 10000, simulated = 500;
    uint64_t seed = 1;
    for (int option; (option = getopt_long(argc, argv, "", rows, NULL)) != -1;) {
        if (option == 'n')
            studies = (int)parse(optarg, 1000000);
        else if (option == 's')
            simulated = (int)parse(optarg, 1000000);
        else if (option == 'r')
            seed = parse(optarg, 1000000);
        else {
            usage(option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 125;
        }
    }
    printf("Studies that find a difference, in %%: blocks with their orders, without them, without "
           "an end,\nand by Student's t at every look.\n\n");
    printf("| %-22s | %7s | %8s | %8s | %8s | %8s |\n|-|-|-|-|-|-|\n", "", "studies", "duet",
        "no order", "no end", "t");
    struct counts same = carry_all(0, studies, simulated, seed);
    struct counts slower = carry_all(EFFECT_TO_SEE, studies, simulated, seed);
    bool met = same.bounded <= ALARMS_MAX * same.studies &&
               slower.bounded >= FOUND_MIN * slower.studies &&
               same.naive >= NAIVE_MIN * same.studies;
    printf("\nBars: at most %g %% alarms, 1 %% found in %g %%, t at every look above %g %%: %s\n",
        100 * ALARMS_MAX, 100 * FOUND_MIN, 100 * NAIVE_MIN, met ? "met" : "missed");
    bool pairs_met = check_pairs(studies, simulated, seed);
    bool beside_met = check_beside(studies, simulated, seed);
    return !met || !pairs_met || !beside_met;
}
