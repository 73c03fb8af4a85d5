/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Measures simulated machines as tools/experiments/loadline does, and counts how often the
 * intervals contain the truth. usage() describes the options.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "chance.h"
#include "loadline.h"
#include "prediction.h"
#include "trial.h"

/* From this many machines on, slack_of() does not relax the limits. */
#define RUNS_EXACT 1000

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
    FAMILY_TURBO,      /* the frequency drops at a load with two measured ones above it */
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
    double drift;      /* of ln T, from the begin to the end of a round */
    double load_noise; /* standard deviation of the load of a level */
    uint64_t random;
};

static double draw(struct model *model, double low, double high) {
    return low + (high - low) * ss_random_next(&model->random);
}

static double draw_normal(struct model *model) {
    double radius = sqrt(chance_draw_exponential(&model->random, 2));
    return radius * cos(2 * M_PI * ss_random_next(&model->random));
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
    double sum = 0, state = draw_normal(model);
    for (int i = 0; i < seconds; i++) {
        sum += model->noise * state;
        state = 0.5 * state + sqrt(0.75) * draw_normal(model);
    }
    return sum / seconds;
}

struct ladder {
    struct loadline_visit visits[2 * ROUNDS * LEVELS];
    size_t count;
    double top;
};

static void add_visit(struct ladder *ladder, struct model *model, int round, int step) {
    bool up = step < LEVELS;
    int level = up ? step + 1 : 2 * LEVELS - step;
    double target = ladder->top * level / LEVELS;
    double load = fmin(target + model->load_noise * draw_normal(model), 1);
    double time = (step + 0.5) / (2 * LEVELS) - 0.5;
    double noise =
        draw_noise(model, SECONDS) + model->drift * time + (up ? 0.5 : -0.5) * model->hysteresis;
    ladder->visits[ladder->count++] = (struct loadline_visit){
        .target = target,
        .load = load,
        .throughput = throughput_of(model, load) * exp(noise),
        .watts = NAN,
        .round = round,
        .way = up ? LOADLINE_UP : LOADLINE_DOWN,
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

/* Throughput of pairs of hardware threads whose instances run in independent phases. */
static double overlap_of(double gain, double cpus, double load) {
    return cpus * (load - (1 - gain / 2) * load * load);
}

static struct loadline_visit run_trial(
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
    return (struct loadline_visit){
        .load = figures.load_mean, .throughput = figures.throughput, .watts = NAN};
}

static struct ladder climb_in_trials(struct model *model, uint32_t cpus) {
    struct ladder ladder = {.top = 1};
    for (int i = 0; i < 2 * ROUNDS * LEVELS; i++) {
        int step = i % (2 * LEVELS);
        bool up = step < LEVELS;
        double target = (up ? step + 1.0 : 2.0 * LEVELS - step) / LEVELS;
        struct loadline_visit *visit = &ladder.visits[ladder.count++];
        *visit = run_trial(model, cpus, target, ss_random_hash(model->random + (uint64_t)i));
        visit->target = target;
        visit->round = i / (2 * LEVELS) + 1;
        visit->way = up ? LOADLINE_UP : LOADLINE_DOWN;
    }
    return ladder;
}

struct score {
    unsigned runs, inside, near, naive, plain;
};

/* Conditions at which bands are scored. */
enum place {
    PLACE_ANYWHERE,
    PLACE_LEVEL,
    PLACE_QUIET, /* any load, with a tenth of the noise */
    PLACE_LOUD,  /* any load, with three times the noise */
    PLACES,
};

struct scores {
    struct score bands[FAMILIES][PLACES], trials[PLACES];
    struct score predictions[FAMILIES], bursts[FAMILIES];
};

static void open_line(struct loadline *line, const struct ladder *ladder) {
    const char *failure = loadline_of(line, ladder->visits, ladder->count);
    if (failure) {
        fprintf(stderr, "loadline: %s\n", failure);
        exit(2);
    }
}

static bool is_inside(const struct ssreport_band *band, double truth) {
    return band->low <= truth && truth <= band->high;
}

/* Returns the highest noiseless throughput of all levels. */
static double find_most(const struct model *model, const struct loadline *line) {
    double most = 0;
    for (size_t i = 0; i < line->count; i++)
        most = fmax(most, throughput_of(model, line->levels[i].load));
    return most;
}

/*
 * Returns the band of an estimator that treats the seconds of a level as independent: the error of
 * a level is noise / sqrt(n).
 */
static struct ssreport_band make_naive(const struct model *model, double done) {
    double half = 1.96 * M_SQRT2 * model->noise / sqrt(2.0 * ROUNDS * SECONDS);
    return (struct ssreport_band){done, done * exp(-half), done * exp(half)};
}

/*
 * Returns the band of an estimator that takes ln T at the target of each visit. It treats all
 * deviations of ln up - ln down from their mean as errors, including drift and missed targets.
 */
static struct ssreport_band make_plain(
    const struct ladder *ladder, const struct ssreport_band *band) {
    double squares = 0, freedom = ROUNDS * (LEVELS - 1);
    for (int round = 0; round < ROUNDS; round++) {
        const struct loadline_visit *visits = &ladder->visits[2 * LEVELS * round];
        double differences[LEVELS], mean = 0;
        for (int i = 0; i < LEVELS; i++) {
            differences[i] = log(visits[i].throughput / visits[2 * LEVELS - 1 - i].throughput);
            mean += differences[i] / LEVELS;
        }
        for (int i = 0; i < LEVELS; i++)
            squares += pow(differences[i] - mean, 2);
    }
    const struct ssreport_sureness error = {sqrt(squares / freedom / 2 / ROUNDS), freedom};
    double half = ssreport_mean_interval(0, error, 0.95).high;
    return (struct ssreport_band){band->y, band->y * exp(-half), band->y * exp(half)};
}

struct question {
    const struct model *model;
    const struct ladder *ladder;
    double load, truth;
};

static void add(struct score *score, const struct loadline *line, const struct question *question) {
    struct ssreport_band band = loadline_done(line, question->load, 0.95);
    struct ssreport_band naive = make_naive(question->model, band.y);
    struct ssreport_band plain = make_plain(question->ladder, &band);
    score->runs++;
    score->inside += is_inside(&band, question->truth);
    score->naive += is_inside(&naive, question->truth);
    score->plain += is_inside(&plain, question->truth);
}

/* Scores the bands at a random load and, unless the noise is changed, at a random level. */
static void score_bands(struct score *places, struct model *model, enum place place) {
    struct loadline line;
    struct ladder ladder = climb(model, 1);
    open_line(&line, &ladder);
    double most = find_most(model, &line), anywhere = draw(model, LOAD_MIN, LOAD_MAX);
    double level = line.levels[(size_t)draw(model, 0, LEVELS - 1)].load;
    add(&places[place], &line,
        &(struct question){model, &ladder, anywhere, throughput_of(model, anywhere) / most});
    if (place == PLACE_ANYWHERE)
        add(&places[PLACE_LEVEL], &line,
            &(struct question){model, &ladder, level, throughput_of(model, level) / most});
}

static void score_noises(struct scores *scores, const struct model *model) {
    static const double noises[PLACES] = {
        [PLACE_ANYWHERE] = 1, [PLACE_QUIET] = 0.1, [PLACE_LOUD] = 3};
    for (int place = 0; place < PLACES; place++) {
        struct model noisy = *model;
        noisy.noise *= noises[place];
        noisy.load_noise *= fmin(noises[place], 1);
        if (noises[place] > 0)
            score_bands(scores->bands[model->family], &noisy, (enum place)place);
    }
}

static void score_trial(struct scores *scores, struct model *model) {
    struct loadline line;
    uint32_t cpus = 2 * (1 + (uint32_t)draw(model, 0, CPUS_MAX / 2.0));
    struct ladder ladder = climb_in_trials(model, cpus);
    open_line(&line, &ladder);
    double most = overlap_of(model->slope, cpus, 1), anywhere = draw(model, LOAD_MIN, LOAD_MAX);
    double level = line.levels[(size_t)draw(model, 0, LEVELS - 1)].load;
    add(&scores->trials[PLACE_ANYWHERE], &line,
        &(struct question){
            model, &ladder, anywhere, overlap_of(model->slope, cpus, anywhere) / most});
    add(&scores->trials[PLACE_LEVEL], &line,
        &(struct question){model, &ladder, level, overlap_of(model->slope, cpus, level) / most});
}

static void add_bursts(struct loadline_question *question, struct model *model) {
    double logs = 0, squares = 0;
    for (int i = 0; i < BURSTS; i++) {
        double one = log(throughput_of(model, 1)) + draw_noise(model, BURST_SECONDS);
        logs += one / BURSTS;
        squares += one * one;
    }
    question->burst = exp(logs);
    question->burst_error = (struct ssreport_sureness){
        sqrt((squares - BURSTS * logs * logs) / (BURSTS - 1) / BURSTS), BURSTS - 1};
}

/* Predicts the throughput at a load of 90 % from levels up to 60 %. */
static void score_prediction(struct score *score, struct model *model, bool has_bursts) {
    struct loadline line;
    struct loadline_prediction prediction;
    struct ladder ladder = climb(model, 0.6);
    struct loadline_question question = {.load = 0.9, .burst = NAN, .confidence = 0.95};
    open_line(&line, &ladder);
    if (model->family == FAMILY_CORES)
        question.knees[question.knee_count++] = 0.5;
    if (has_bursts)
        add_bursts(&question, model);
    const char *failure = loadline_predict(&prediction, &line, &question);
    if (failure) {
        fprintf(stderr, "loadline: %s\n", failure);
        exit(2);
    }
    double truth = throughput_of(model, 0.9);
    score->runs++;
    score->inside += is_inside(&prediction.range, truth);
    score->near += fabs(log(prediction.range.y / truth)) <= log(1.03);
    score->naive += is_inside(&prediction.fits[0].range, truth);
}

static double percent(unsigned part, unsigned whole) {
    return 100.0 * part / whole;
}

/* Returns the slack of a limit: two standard errors for fewer than RUNS_EXACT runs. */
static double slack_of(unsigned runs) {
    return runs < RUNS_EXACT ? 2 * sqrt(95.0 * 5 / runs) : 0;
}

static void print_places(const char *name, const struct score places[PLACES]) {
    printf("  %-14s", name);
    for (int i = 0; i < PLACES; i++) {
        if (places[i].runs > 0)
            printf(" %11.1f", percent(places[i].inside, places[i].runs));
        else
            printf(" %11s", "");
    }
    const struct score *level = &places[PLACE_LEVEL];
    printf(" | %11.1f %7.1f\n", percent(level->plain, level->runs),
        percent(level->naive, level->runs));
}

static void add_scores(struct score sum[PLACES], const struct score places[PLACES]) {
    for (int i = 0; i < PLACES; i++) {
        sum[i].runs += places[i].runs;
        sum[i].inside += places[i].inside;
        sum[i].naive += places[i].naive;
        sum[i].plain += places[i].plain;
    }
}

static bool print_bands(const struct scores *scores) {
    struct score all[PLACES] = {0};
    bool holds = true;
    puts("                                                                |       at a level\n"
         "inside the band, % any load     a level   noise/10     noise*3 |   mean of d   naive");
    for (int i = 0; i < FAMILIES; i++) {
        print_places(names[i], scores->bands[i]);
        add_scores(all, scores->bands[i]);
    }
    print_places("sssim", scores->trials);
    add_scores(all, scores->trials);
    print_places("all", all);
    for (int i = 0; i < PLACES; i++) {
        double inside = percent(all[i].inside, all[i].runs), slack = slack_of(all[i].runs);
        holds = holds && inside >= 93 - slack && inside <= 97 + slack &&
                percent(all[i].naive, all[i].runs) < 93 - slack;
    }
    return holds;
}

static bool print_predictions(const struct scores *scores) {
    bool holds = true;
    puts("90 % from up to 60 %, %    inside  within 3 %  straight alone | bursts: inside  within 3 "
         "%");
    for (int i = 0; i < FAMILIES; i++) {
        const struct score *plain = &scores->predictions[i], *bursts = &scores->bursts[i];
        double slack = slack_of(plain->runs);
        printf("  %-22s %7.1f %11.1f %15.1f | %14.1f %11.1f\n", names[i],
            percent(plain->inside, plain->runs), percent(plain->near, plain->runs),
            percent(plain->naive, plain->runs), percent(bursts->inside, bursts->runs),
            percent(bursts->near, bursts->runs));
        holds = holds && percent(plain->inside, plain->runs) >= 93 - slack &&
                percent(bursts->inside, bursts->runs) >= 93 - slack;
        /* One level above a knee cannot tell where that is, so the range is wide. */
        bool is_located = i != FAMILY_KNEE_NEAR && i != FAMILY_KNEE_ABOVE;
        holds = holds && (!is_located || percent(plain->near, plain->runs) >= 93 - slack) &&
                (i == FAMILY_KNEE_NEAR || percent(bursts->near, bursts->runs) >= 93 - slack);
        bool is_bent = i != FAMILY_STRAIGHT && i != FAMILY_OVERLAP;
        holds = holds && (!is_bent || percent(plain->naive, plain->runs) < 93 - slack);
    }
    return holds;
}

static void usage(void) {
    puts(
        "Usage: loadline [MACHINES [SEED]]\n"
        "Measures simulated machines in eleven levels of load, up and down, twice, and counts how\n"
        "often the truth is inside the band at a random load and at a random level (default: 1000\n"
        "machines; one in 20 runs in the simulator), also with other noise, and inside a\n"
        "prediction of 90 % load from levels up to 60 % (a fifth as many machines of each "
        "family).\n"
        "Exits with status 1 unless 93 to 97 % are inside the band, 93 % of each family inside "
        "the\n"
        "prediction, and naive estimators fail this.");
}

int main(int argc, char **argv) {
    static struct scores scores;
    if (argc > 3 || (argc > 1 && atoi(argv[1]) < 20)) {
        usage();
        return 2;
    }
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int machines = argc > 1 ? atoi(argv[1]) : RUNS_EXACT, simulated = machines / 20;
    for (int i = 0; i < machines; i++) {
        uint64_t own = ss_random_hash(seed) + (uint64_t)i;
        struct model model =
            make_model(i < simulated ? FAMILY_OVERLAP : (enum family)(i % FAMILIES), own);
        if (i < simulated)
            score_trial(&scores, &model);
        else
            score_noises(&scores, &model);
    }
    for (int i = 0; i < FAMILIES * (machines / 5); i++) {
        enum family family = (enum family)(i % FAMILIES);
        struct model model = make_model(family, ss_random_hash(seed + 1) + (uint64_t)i);
        score_prediction(&scores.predictions[family], &model, false);
        score_prediction(&scores.bursts[family], &model, true);
    }
    bool holds = print_bands(&scores);
    return print_predictions(&scores) && holds ? 0 : 1;
}
