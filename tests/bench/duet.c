/* SPDX-License-Identifier: Apache-2.0 */

/* Simulates studies of sslab duet and prints them as CSV, for duet.py. */

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "chance.h"
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
#define EFFECT_TO_SEE 0.01

/* 35 pairs of processes with six turns of 3 s each, after two turns that do not count. */
#define PAIRS         35
#define PAIRS_PLANNED (PAIRS - FIRST)
#define TURNS         6
#define PAIR_EFFECT   0.02 /* the effect to be found */
#define PAIR_TURNS    210  /* of a single pair that takes as long as all pairs */

/*
 * Blocks of two runs in 900 s; both commands run at the same time. One place is slower by POSITION.
 */
#define BESIDE_PLANNED (2 * (FIRST + PLANNED) - FIRST)
#define OWN            0.01 /* standard deviation of the noise that only one command has */

/* A pull request: 46 blocks of four runs, each 3 s and 0.2 s to start and end, take 589 s. */
#define GATE_BLOCKS  46
#define GATE_EFFECT  0.03
#define GATE_STUDIES 300

#define FIGURES_MAX 300

struct study {
    uint64_t seed, random;
    double effect; /* slowdown of B, as a fraction */
    bool simulated;
    bool coin;     /* order of the first block of the current two: A B B A */
    bool stays;    /* processes have several turns, so the launch does not vary between turns */
    double normal; /* logarithm of the speed, in standard deviations, unless simulated */
};

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
static bool draw_order(struct study *study, int block) {
    if (block % 2 == 0)
        study->coin = ss_random_next(&study->random) < 0.5;
    return (block % 2 == 0) == study->coin;
}

/*
 * The figures of a study in the order of its runs, and those of the method that it is compared
 * with.
 */
struct figures {
    size_t count, compared_count, block_count;
    double values[FIGURES_MAX], compared[FIGURES_MAX];
    bool b_first[FIGURES_MAX]; /* of each block */
    double truth;              /* the true difference in `compared`; 0 if it has none of its own */
};

static void print_row(const char *part, const struct study *study, const struct figures *figures) {
    printf("%s,%g,%d,%.17g,", part, study->effect, study->simulated, figures->truth);
    for (size_t i = 0; i < figures->block_count; i++)
        putchar(figures->b_first[i] ? '1' : '0');
    putchar(',');
    for (size_t i = 0; i < figures->count; i++)
        printf(" %.17g", figures->values[i]);
    putchar(',');
    for (size_t i = 0; i < figures->compared_count; i++)
        printf(" %.17g", figures->compared[i]);
    putchar('\n');
}

/* Simulates four runs: A B B A, or B A A B. */
static void carry_block(struct study *study, int block, struct figures *figures) {
    bool a_first = draw_order(study, block);
    for (int i = 0; i < 4; i++) {
        int number = 4 * block + i;
        bool is_b = (i == 1 || i == 2) == a_first;
        double speed = 1 - DRIFT * number / ALL_RUNS;
        if (i == 0)
            speed *= 1 - POSITION;
        if (is_b && block >= FIRST)
            speed *= 1 - study->effect;
        figures->values[figures->count++] = measure(study, number, speed);
    }
    figures->b_first[figures->block_count++] = !a_first;
}

static void carry_blocks(struct study *study, struct figures *figures) {
    for (int i = 0; i < FIRST; i++)
        carry_block(study, i, figures);
    figures->count = figures->block_count = 0;
    for (int i = 0; i < PLANNED; i++)
        carry_block(study, FIRST + i, figures);
}

/*
 * Simulates a pull request. Includes the blocks that compare A with A: a difference there prevents
 * a failure.
 */
static void carry_gate(struct study *study, struct figures *figures) {
    for (int i = 0; i < GATE_BLOCKS; i++)
        carry_block(study, i, figures);
}

/*
 * Simulates a pair of processes from turn `number` of the study on, and sets `values` to their
 * figures. Returns the true difference of the processes.
 */
static double carry_pair(
    struct study *study, int number, int turns, double *values, bool *is_b_first) {
    double launches[2];
    *is_b_first = !draw_order(study, number / TURNS);
    for (int i = 0; i < 2; i++)
        launches[i] = LAUNCH * chance_draw_normal(&study->random);
    for (int i = 0; i < turns; i++) {
        bool is_b = (i % 2 == 1) != *is_b_first;
        double speed = exp(launches[is_b]) * (1 - DRIFT * (number + i) / (PAIRS * TURNS));
        if (i == 0)
            speed *= 1 - POSITION;
        values[i] = measure(study, number + i, speed * (is_b ? 1 - study->effect : 1));
    }
    return launches[1] - launches[0] + log(1 - study->effect);
}

/* Simulates pairs of processes, and a single pair that takes as long. */
static void carry_turns(struct study *study, struct figures *figures) {
    bool b_first;
    for (int i = 0; i < PAIRS_PLANNED; i++) {
        carry_pair(study, (FIRST + i) * TURNS, TURNS, &figures->values[figures->count],
            &figures->b_first[figures->block_count++]);
        figures->count += TURNS;
    }
    figures->truth = carry_pair(study, 0, PAIR_TURNS, figures->compared, &b_first);
    figures->compared_count = PAIR_TURNS;
    if (b_first) /* then the differences are A minus B */
        figures->truth = -figures->truth;
}

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

/* Simulates blocks of two runs, whose places are swapped between them, or kept. */
static void carry_beside(struct study *study, struct figures *figures) {
    for (int i = 0; i < BESIDE_PLANNED; i++) {
        int number = 2 * (FIRST + i);
        bool b_first = !draw_order(study, number / 2);
        figures->b_first[figures->block_count++] = b_first;
        for (int run = 0; run < 2; run++)
            figures->values[figures->count++] =
                carry_both(study, number + run, b_first == (run == 0));
        for (int run = 0; run < 2; run++)
            figures->compared[figures->compared_count++] = carry_both(study, number + run, true);
    }
}

struct part {
    const char *name;
    double effect; /* to be found */
    bool stays;
    int studies; /* at most */
    void (*carry)(struct study *study, struct figures *figures);
};

static void carry_all(
    const struct part *part, double effect, int studies, int simulated, uint64_t seed) {
    static struct figures figures; /* static because it is large */
    for (int i = 0; i < studies && i < part->studies; i++) {
        struct study study = {.seed = seed + (uint64_t)i * 1000003,
            .effect = effect,
            .simulated = i < simulated,
            .stays = part->stays};
        study.random = ss_random_hash(study.seed);
        study.normal = chance_draw_normal(&study.random);
        figures.count = figures.compared_count = figures.block_count = 0;
        part->carry(&study, &figures);
        print_row(part->name, &study, &figures);
    }
}

int main(int argc, char **argv) {
    static const struct part parts[] = {
        {"blocks", EFFECT_TO_SEE, false, INT_MAX, carry_blocks},
        {"turns", PAIR_EFFECT, true, INT_MAX, carry_turns},
        {"beside", EFFECT_TO_SEE, true, INT_MAX, carry_beside},
        {"gate", GATE_EFFECT, false, GATE_STUDIES, carry_gate},
    };
    int studies = argc > 1 ? atoi(argv[1]) : 10000;
    int simulated = argc > 2 ? atoi(argv[2]) : 500;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc > 4 || studies < 1)
        return fputs("Usage: duet-bench [STUDIES [SIMULATED [SEED]]]\n", stderr), 2;
    puts("part,effect,simulated,truth,b_first,figures,compared");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        carry_all(&parts[i], 0, studies, simulated, seed);
        carry_all(&parts[i], parts[i].effect, studies, simulated, seed);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
