/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Measures simulated machines as `sslab loadline` does, and prints the levels as CSV, for
 * loadline.py. One machine in 20 runs in the simulator.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "chance.h"
#include "trial.h"

#define RUNS    1000
#define LEVELS  10
#define ROUNDS  2
#define SECONDS 40 /* counted time of a level */

/* Range of random loads at which bands are scored. */
#define LOAD_MIN 0.02
#define LOAD_MAX 0.99

/* Bursts of five seconds at full load; the seconds at their edges are not counted. */
#define BURSTS        10
#define BURST_SECONDS 3

enum family {
    FAMILY_STRAIGHT,   /* T / L is linear */
    FAMILY_OVERLAP,    /* hardware threads that overlap at random */
    FAMILY_CORES,      /* hardware threads that fill cores first: a knee at 50 % */
    FAMILY_TURBO,      /* the frequency drops at a load below the two highest measured ones */
    FAMILY_LIMIT,      /* memory is saturated from such a load on */
    FAMILY_KNEE_NEAR,  /* a knee at one of the two highest measured loads, or between them */
    FAMILY_KNEE_ABOVE, /* a knee above them */
    FAMILY_LOCKS,      /* throughput falls at high loads */
    FAMILIES,
};

static const char *const names[FAMILIES] = {
    "straight", "overlap", "cores", "turbo", "limit", "knee near the top", "knee above", "locks"};

/* A machine: its throughput by load, and its noise. */
struct model {
    enum family family;
    double bend, place, slope; /* parameters of the family */
    double scale;
    double noise;      /* standard deviation of ln T of a second, autocorrelated by 0.5 */
    double hysteresis; /* ln up - ln down */
    double drift;      /* of ln T, from the start to the end of a round */
    double load_noise; /* standard deviation of the load of a level */
    uint64_t random;
};

static double draw(struct model *model, double low, double high) {
    return low + (high - low) * ss_random_next(&model->random);
}

static struct model make_model(enum family family, uint64_t seed) {
    struct model model = {.family = family, .random = ss_random_hash(seed)};
    model.scale = exp(draw(&model, 0, 9));
    model.noise = draw(&model, 0.01, 0.03);
    model.hysteresis = draw(&model, -0.02, 0.02);
    model.drift = draw(&model, -0.01, 0.01);
    model.load_noise = 0.002;
    model.bend = draw(&model, -0.3, 0.1);
    model.slope = draw(&model, 1.1, 1.5); /* gain by hardware threads */
    switch (family) {
    case FAMILY_TURBO:
    case FAMILY_LIMIT:
        model.place = draw(&model, 0.25, 0.48);
        model.slope = family == FAMILY_TURBO ? draw(&model, 0.6, 0.9) : 0;
        break;
    case FAMILY_KNEE_NEAR:
        model.place = draw(&model, 0.54, 0.6);
        model.slope = draw(&model, 0, 0.9);
        break;
    case FAMILY_KNEE_ABOVE:
        model.place = draw(&model, 0.65, 0.85);
        model.slope = draw(&model, 0, 0.6);
        break;
    case FAMILY_LOCKS:
        model.bend = draw(&model, 0.2, 1.2);
        model.place = draw(&model, 0.1, 0.8);
        break;
    default:
        break;
    }
    return model;
}

/* Returns the throughput without noise. */
static double throughput_of(const struct model *model, double load) {
    double gain = model->slope;
    switch (model->family) {
    case FAMILY_OVERLAP:
        return model->scale * (load - (1 - gain / 2) * load * load);
    case FAMILY_CORES:
        return model->scale * (load < 0.5 ? load : 0.5 + (gain - 1) * (load - 0.5));
    case FAMILY_TURBO:
    case FAMILY_LIMIT:
    case FAMILY_KNEE_NEAR:
    case FAMILY_KNEE_ABOVE:
        return model->scale * (fmin(load, model->place) + gain * fmax(load - model->place, 0));
    case FAMILY_LOCKS:
        return model->scale * load / (1 + model->bend * load + model->place * load * load);
    default:
        return model->scale * load * (1 + model->bend * load);
    }
}

/* Returns the mean noise of some seconds. */
static double draw_noise(struct model *model, int seconds) {
    double sum = 0, state = chance_draw_normal(&model->random);
    for (int i = 0; i < seconds; i++) {
        sum += model->noise * state;
        state = 0.5 * state + sqrt(0.75) * chance_draw_normal(&model->random);
    }
    return sum / seconds;
}

struct visit {
    double target, load, throughput;
    int round; /* from 1 */
    bool up;
};

struct ladder {
    struct visit visits[2 * ROUNDS * LEVELS];
    size_t count;
    double top;
};

static void add_visit(struct ladder *ladder, struct model *model, int round, int step) {
    bool up = step < LEVELS;
    int level = up ? step + 1 : 2 * LEVELS - step;
    double target = ladder->top * level / LEVELS;
    double load = fmin(target + model->load_noise * chance_draw_normal(&model->random), 1);
    double time = (step + 0.5) / (2 * LEVELS) - 0.5;
    double noise =
        draw_noise(model, SECONDS) + model->drift * time + (up ? 0.5 : -0.5) * model->hysteresis;
    ladder->visits[ladder->count++] = (struct visit){
        .target = target,
        .load = load,
        .throughput = throughput_of(model, load) * exp(noise),
        .round = round,
        .up = up,
    };
}

static struct ladder climb(struct model *model, double top) {
    struct ladder ladder = {.top = top};
    for (int round = 1; round <= ROUNDS; round++) {
        for (int step = 0; step < 2 * LEVELS; step++)
            add_visit(&ladder, model, round, step);
    }
    return ladder;
}

#define CPUS_MAX 8

static struct visit run_trial(
    const struct model *model, uint32_t cpus, double load, uint64_t seed) {
    static struct trial trial;
    char duty[32], phase[64];
    struct trial_figures figures;
    struct ss_error error = {0};
    snprintf(duty, sizeof duty, "duty=%.6f", load);
    snprintf(phase, sizeof phase, "jitter=50%%,phase=%llu", (unsigned long long)(seed % 1000000));
    struct trial_options options = {
        .cpus = cpus,
        .instances = cpus,
        .width = 1,
        .modules = {"constant", "realtime", "fixed", "even", "averageq"},
        .options =
            {[SS_KIND_TRACE] = "100%", [SS_KIND_CONTROL] = duty, [SS_KIND_DITHERING] = phase},
        .window = SS_WINDOW_DEFAULT,
        .settle = 5 * SS_SECOND,
        .work = {.iteration = 20 * SS_MILLISECOND,
            .speed =
                {.deviation = model->noise, .correlation = 0.5, .window = SS_SECOND, .seed = seed}},
        .cores = {.gain = model->slope, .overlaps_at_random = true},
        .seed = seed,
    };
    if (trial_open(&trial, &options, &error) < 0 ||
        trial_advance(&trial, (5 + SECONDS) * SS_SECOND, &error) < 0) {
        fprintf(stderr, "loadline: %s\n", error.message);
        exit(2);
    }
    trial_get_figures(&trial, &figures);
    trial_close(&trial);
    return (struct visit){.load = figures.load_mean, .throughput = figures.throughput};
}

static struct ladder climb_in_trials(struct model *model, uint32_t cpus) {
    struct ladder ladder = {.top = 1};
    for (int i = 0; i < 2 * ROUNDS * LEVELS; i++) {
        int step = i % (2 * LEVELS);
        bool up = step < LEVELS;
        double target = (up ? step + 1.0 : 2.0 * LEVELS - step) / LEVELS;
        struct visit *visit = &ladder.visits[ladder.count++];
        *visit = run_trial(model, cpus, target, ss_random_hash(model->random + (uint64_t)i));
        visit->target = target;
        visit->round = i / (2 * LEVELS) + 1;
        visit->up = up;
    }
    return ladder;
}

/* A question about a ladder. */
struct question {
    const char *part;          /* part of the bench, or the conditions of a band */
    double anywhere;           /* a random load */
    int level;                 /* a random level below the highest */
    double burst, burst_error; /* NaN without bursts */
};

static void print_ladder(
    const char *name, const struct model *model, const struct ladder *ladder, struct question ask) {
    static int number;
    number++;
    for (size_t i = 0; i < ladder->count; i++) {
        const struct visit *visit = &ladder->visits[i];
        printf("%d,%s,%s,%.17g,%.17g,%.17g,%.17g,%.17g,", number, ask.part, name, model->bend,
            model->place, model->slope, model->scale, model->noise);
        printf("%.17g,%d,%.17g,%.17g,", ask.anywhere, ask.level, ask.burst, ask.burst_error);
        printf("%.17g,%.17g,%.17g,%d,%d\n", visit->target, visit->load, visit->throughput,
            visit->round, visit->up);
    }
}

static struct question draw_question(struct model *model, const char *part) {
    struct question question = {.part = part, .burst = NAN, .burst_error = NAN};
    question.anywhere = draw(model, LOAD_MIN, LOAD_MAX);
    question.level = (int)draw(model, 0, LEVELS - 1);
    return question;
}

/* Measures a machine with its noise, with a tenth and with three times of it. */
static void print_noises(const struct model *model) {
    static const struct {
        const char *part;
        double noise;
    } conditions[] = {{"bands", 1}, {"quiet", 0.1}, {"loud", 3}};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        struct model noisy = *model;
        noisy.noise *= conditions[i].noise;
        noisy.load_noise *= fmin(conditions[i].noise, 1);
        struct ladder ladder = climb(&noisy, 1);
        print_ladder(
            names[model->family], &noisy, &ladder, draw_question(&noisy, conditions[i].part));
    }
}

static void print_trial(struct model *model) {
    uint32_t cpus = 2 * (1 + (uint32_t)draw(model, 0, CPUS_MAX / 2.0));
    struct ladder ladder = climb_in_trials(model, cpus);
    model->scale = cpus;
    print_ladder("sssim", model, &ladder, draw_question(model, "bands"));
}

static void add_bursts(struct question *question, struct model *model) {
    double logs = 0, squares = 0;
    for (int i = 0; i < BURSTS; i++) {
        double one = log(throughput_of(model, 1)) + draw_noise(model, BURST_SECONDS);
        logs += one / BURSTS;
        squares += one * one;
    }
    question->burst = exp(logs);
    question->burst_error = sqrt((squares - BURSTS * logs * logs) / (BURSTS - 1) / BURSTS);
}

/* Measures levels up to 60 %, from which the throughput at higher loads is predicted. */
static void print_prediction(struct model *model, bool has_bursts) {
    struct ladder ladder = climb(model, 0.6);
    struct question question = {.part = "prediction", .burst = NAN, .burst_error = NAN};
    if (has_bursts)
        add_bursts(&question, model);
    print_ladder(names[model->family], model, &ladder, question);
}

int main(int argc, char **argv) {
    if (argc > 3 || (argc > 1 && atoi(argv[1]) < 20))
        return fputs("Usage: loadline-bench [MACHINES [SEED]]\n", stderr), 2;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int machines = argc > 1 ? atoi(argv[1]) : RUNS, simulated = machines / 20;
    puts("ladder,part,family,bend,place,slope,scale,noise,anywhere,level,burst,burst_error,target,"
         "load,throughput,round,up");
    for (int i = 0; i < machines; i++) {
        uint64_t own = ss_random_hash(seed) + (uint64_t)i;
        struct model model =
            make_model(i < simulated ? FAMILY_OVERLAP : (enum family)(i % FAMILIES), own);
        if (i < simulated)
            print_trial(&model);
        else
            print_noises(&model);
    }
    for (int i = 0; i < FAMILIES * (machines / 5); i++) {
        struct model model =
            make_model((enum family)(i % FAMILIES), ss_random_hash(seed + 1) + (uint64_t)i);
        print_prediction(&model, false);
        print_prediction(&model, true);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
