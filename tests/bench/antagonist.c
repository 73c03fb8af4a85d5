/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Simulates studies of sslab antagonist, of 8 suspects with noise of 5 % a second, and
 * prints them as CSV, for antagonist.py. In 5 % of the studies sssim simulates the throttles.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chance.h"
#include "codes.h"
#include "trial.h"
#include <showstopper/random.h>

#define SECONDS     630  /* of a run; also the number of its rows */
#define NOISE       0.05 /* standard deviation of the logarithm of a second's figure */
#define CORRELATION 0.5  /* between successive seconds */
#define SUSPECTS    8
#define USUAL_ERROR 0.02 /* of the CPU time before the study */

/* How suspects are throttled together (depth 20 %), and alone (50 %). A row is a second. */
static const struct codes together = {.slots = 126, .rows = 5, .blocks = 1};
static const struct codes alone = {.slots = 63, .rows = 10, .blocks = 5};

/* A continued suspect disturbs the victim at once, and again after this time. */
#define DISTURBS_AFTER 0.05 /* seconds */

/* Signals are late by up to this. */
#define LATE_MAX 0.02 /* seconds */

/* One of this many studies simulates throttles with sssim. */
#define SIMULATED_EACH 20

/* CPUs that the arriving work of a suspect with a queue needs. */
#define QUEUE_RATE    0.7
#define CATCH_UP_RATE 0.4

enum kind {
    KIND_PLAIN,    /* always busy */
    KIND_QUEUE,    /* work arrives at a constant rate; catching up takes longer than a block */
    KIND_CATCH_UP, /* like KIND_QUEUE, but catches up in less than a second */
};

struct suspect {
    enum kind kind;
    double cost; /* logarithm of the loss that all of its CPU time causes; negative for a gain */
};

struct scene {
    struct suspect suspects[SUSPECTS];
    size_t count;
    double pair;   /* additional loss if neither of the first two is throttled */
    double drift;  /* of the logarithm, from the first to the last second */
    double hidden; /* standard deviation of a hidden cause, which slows the victim and gives work to
                      the last suspect */
    double disturbs; /* seconds that the victim loses whenever any suspect but the first continues,
                        half at once */
};

/* CPU time of each suspect in each second, relative to its mean without a throttle. */
static double used[SUSPECTS][SECONDS];

/* Whether each code stops its suspect in each second. */
static bool stopped[CODES_MAX][SECONDS];

static void fail(const char *message) {
    fprintf(stderr, "antagonist: %s\n", message);
    exit(1);
}

/* Draws the places of all blocks of a run. */
static void draw_blocks(const struct codes *codes) {
    for (size_t code = 0; code < codes_count(codes); code++) {
        for (size_t slot = 0; slot < codes->slots; slot++)
            codes_draw(codes, code, slot, &stopped[code][slot * codes->rows]);
    }
}

/* Writes the trace of a suspect, as `ssantagonist codes` does. */
static void write_trace(size_t suspect, int file) {
    FILE *stream = fdopen(file, "w");
    if (!stream)
        fail("no temporary file");
    for (size_t second = 0; second < SECONDS; second++) {
        int load = !stopped[suspect][second];
        fprintf(stream, "%zus %d\n%zus %d\n", second, load, second + 1, load);
    }
    fclose(stream);
}

/* The samples of a trial. */
struct seconds {
    double *used;
    double usual; /* load without a throttle */
    size_t count;
};

static void keep_sample(void *context, const struct trial_sample *sample) {
    struct seconds *seconds = context;
    if (seconds->count < SECONDS)
        seconds->used[seconds->count++] = sample->load / seconds->usual;
}

/* Simulates a throttle with the real modules and executors; `rate` is below 1 for a queue. */
static void simulate_trial(size_t suspect, double rate, uint64_t seed) {
    static struct trial trial; /* static because it is too large for the stack */
    struct seconds seconds = {.used = used[suspect], .usual = rate};
    struct demand_mix mix;
    struct ss_error error = {0};
    char class[32], path[] = "/tmp/antagonist-XXXXXX", trace[64];
    int file = mkstemp(path);
    if (file < 0)
        fail("no temporary file");
    write_trace(suspect, file);
    snprintf(trace, sizeof trace, "path=%s,loop=no", path);
    snprintf(class, sizeof class, rate < 1 ? "queue:%g%%" : "serial", 100 * rate);
    if (demand_mix_parse(&mix, class, &error) < 0)
        fail(error.message);
    struct trial_options options = {
        .cpus = 1,
        .instances = 1,
        .mix = &mix,
        .modules = {"file", "realtime", "fixed", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = trace, [SS_KIND_DITHERING] = "tau=50m,phase=together"},
        .window = SS_WINDOW_DEFAULT,
        .interval = SS_SECOND,
        .seed = seed + suspect,
        .on_sample = keep_sample,
        .context = &seconds,
    };
    if (trial_open(&trial, &options, &error) < 0 ||
        trial_advance(&trial, SECONDS * SS_SECOND, &error) < 0)
        fail(error.message);
    trial_close(&trial);
    demand_mix_free(&mix);
    unlink(path);
    if (seconds.count + 1 < SECONDS)
        fail("a simulated trial lacks samples");
    if (seconds.count < SECONDS)
        used[suspect][seconds.count] = used[suspect][seconds.count - 1];
}

static void simulate_plain(size_t suspect) {
    for (size_t second = 0; second < SECONDS; second++)
        used[suspect][second] = !stopped[suspect][second];
}

/* `rate` is the number of CPUs that the arriving work needs. */
static void simulate_queue(size_t suspect, double rate) {
    double left = 0;
    for (size_t second = 0; second < SECONDS; second++) {
        double done = fmin(left + rate, !stopped[suspect][second]);
        left += rate - done;
        used[suspect][second] = done / rate;
    }
}

static void simulate_cpu(const struct scene *scene, uint64_t seed) {
    static const double rates[] = {
        [KIND_PLAIN] = 1,
        [KIND_QUEUE] = QUEUE_RATE,
        [KIND_CATCH_UP] = CATCH_UP_RATE,
    };
    for (size_t i = 0; i < scene->count; i++) {
        double rate = rates[scene->suspects[i].kind];
        if (seed / 2 % SIMULATED_EACH == 0)
            simulate_trial(i, rate, seed);
        else if (rate < 1)
            simulate_queue(i, rate);
        else
            simulate_plain(i);
    }
}

/* Returns the next value of a noise that is correlated between successive seconds. */
static double follow_noise(double before, double deviation, uint64_t *random) {
    return CORRELATION * before +
           sqrt(1 - CORRELATION * CORRELATION) * deviation * chance_draw_normal(random);
}

/* Lets the victim lose time when suspects continue. */
static void disturb(const struct scene *scene, uint64_t *random, double *victim) {
    size_t first = scene->count > 1; /* the first of several does not disturb */
    for (size_t i = first; i < scene->count; i++) {
        for (size_t second = 0; second + 1 < SECONDS; second++) {
            if (!stopped[i][second] || stopped[i][second + 1])
                continue;
            double time = (double)second + 1 + LATE_MAX * ss_random_next(random);
            victim[(size_t)time] += log1p(-scene->disturbs / 2);
            victim[(size_t)(time + DISTURBS_AFTER)] += log1p(-scene->disturbs / 2);
        }
    }
}

static void simulate_victim(const struct scene *scene, uint64_t *random, double *victim) {
    double noise = NOISE * chance_draw_normal(random);
    double hidden = scene->hidden * chance_draw_normal(random);
    for (size_t second = 0; second < SECONDS; second++) {
        double value = scene->drift * (double)second / SECONDS + noise - hidden;
        for (size_t i = 0; i < scene->count; i++)
            value -= scene->suspects[i].cost * used[i][second];
        if (scene->count > 1)
            value -= scene->pair * used[0][second] * used[1][second];
        victim[second] = value;
        used[scene->count - 1][second] *= 1 + 10 * hidden;
        noise = follow_noise(noise, NOISE, random);
        hidden = follow_noise(hidden, scene->hidden, random);
    }
}

/* Draws the start of the sequence, and a code for each suspect and ghost, as `plan` does. */
static struct codes draw_codes(const struct codes *layout, size_t suspects, uint64_t seed) {
    uint64_t random = ss_random_hash(seed);
    uint32_t shifts[CODES_LENGTH / 3] = {0};
    struct codes codes = *layout;
    codes.suspects = suspects;
    codes.start = (uint32_t)(ss_random_next(&random) * CODES_LENGTH);
    for (uint32_t i = 0; i < CODES_LENGTH / 3; i++) {
        uint32_t other = (uint32_t)(ss_random_next(&random) * (i + 1));
        shifts[i] = shifts[other];
        shifts[other] = 3 * i;
    }
    memcpy(codes.shifts, shifts, codes_count(&codes) * sizeof *shifts);
    return codes;
}

/*
 * Prints a line of a study: figure, CPU time of each suspect, and 1 for each code that stops its
 * suspect. Suspects and codes that a run lacks are empty.
 */
static void print_line(long study, const char *kind, long row, double figure, const double *cpu,
    const bool *stops, size_t suspects) {
    printf("%ld,%s,%ld,%.9g", study, kind, row, figure);
    for (size_t i = 0; i < SUSPECTS; i++) {
        putchar(',');
        if (i < suspects)
            printf("%.9g", cpu[i]);
    }
    for (size_t code = 0; code < SUSPECTS + CODES_GHOSTS; code++) {
        putchar(',');
        if (code < suspects + CODES_GHOSTS)
            putchar(stops[code] ? '1' : '0');
    }
    putchar('\n');
}

static void print_rows(long study, const char *kind, const double *victim, size_t suspects) {
    for (size_t row = 0; row < SECONDS; row++) {
        double cpu[SUSPECTS];
        bool stops[CODES_MAX];
        for (size_t i = 0; i < suspects; i++)
            cpu[i] = used[i][row];
        for (size_t code = 0; code < suspects + CODES_GHOSTS; code++)
            stops[code] = stopped[code][row];
        print_line(study, kind, (long)row, victim[row], cpu, stops, suspects);
    }
}

/* Simulates a run and prints its rows. Row -1 has the CPU time of each suspect before the study. */
static void print_study(const struct scene *scene, const struct codes *layout, long study,
    const char *kind, uint64_t seed) {
    static double victim[SECONDS];
    static const bool none[CODES_MAX];
    double usual[SUSPECTS];
    uint64_t random = ss_random_hash(seed + UINT64_C(0x616e7461));
    struct codes codes = draw_codes(layout, scene->count, seed);
    draw_blocks(&codes);
    simulate_cpu(scene, seed);
    simulate_victim(scene, &random, victim);
    disturb(scene, &random, victim);
    for (size_t i = 0; i < scene->count; i++)
        usual[i] = 1 + USUAL_ERROR * chance_draw_normal(&random);
    print_line(study, kind, -1, 0, usual, none, scene->count);
    print_rows(study, kind, victim, scene->count);
}

/* Simulates a study without throttles and prints its rows, in which no code stops. */
static void print_unthrottled(const struct scene *scene, long study, uint64_t seed) {
    static double victim[SECONDS];
    uint64_t random = ss_random_hash(seed + UINT64_C(0x6e616976));
    memset(stopped, 0, sizeof stopped);
    for (size_t i = 0; i < scene->count; i++) {
        for (size_t second = 0; second < SECONDS; second++)
            used[i][second] = 1 + NOISE * chance_draw_normal(&random);
    }
    simulate_victim(scene, &random, victim);
    print_rows(study, "unthrottled", victim, scene->count);
}

/*
 * Two suspects cost, and more so together; a hidden cause slows the victim and gives work to the
 * last suspect.
 */
static void simulate_innocents(long study, uint64_t seed) {
    const struct scene scene = {
        .count = SUSPECTS,
        .pair = 0.1,
        .drift = 0.05,
        .hidden = 0.03,
        .suspects = {{KIND_PLAIN, log(1.08)}, {KIND_PLAIN, log(1.04)}},
    };
    print_study(&scene, &together, study, "innocents", seed);
    print_unthrottled(&scene, study, seed);
}

static void simulate_guilty(long study, uint64_t seed) {
    const struct scene scene = {
        .count = SUSPECTS,
        .drift = 0.05,
        .suspects = {{KIND_PLAIN, log(1.06)}, {KIND_PLAIN, log(1.10)}, {KIND_QUEUE, log(1.12)},
            {KIND_CATCH_UP, log(1.12)}, {KIND_PLAIN, -log(1.10)}},
    };
    const struct scene needed = {.count = 1, .suspects = {{KIND_PLAIN, -log(1.10)}}};
    print_study(&scene, &together, study, "guilty", seed);
    print_study(&needed, &alone, study, "confirmed", seed);
}

/* One suspect costs 13 %; continuing any other one disturbs. Each of these is then tested alone. */
static void simulate_disturbers(long study, double disturbs, uint64_t seed) {
    const struct scene scene = {
        .count = SUSPECTS,
        .drift = 0.05,
        .disturbs = disturbs,
        .suspects = {{KIND_PLAIN, log(1.13)}},
    };
    const struct scene one = {.count = 1, .disturbs = disturbs};
    print_study(&scene, &together, study, "disturbers", seed);
    for (uint64_t i = 1; i < SUSPECTS; i++)
        print_study(&one, &alone, study, "disturber", ss_random_hash(seed) + 2 * i);
}

int main(int argc, char **argv) {
    long runs = argc > 1 ? atol(argv[1]) : 1000;
    uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    double lost = argc > 3 ? atof(argv[3]) : 16;
    if (argc > 4 || runs < 1 || lost < 0 || lost >= 1000)
        return fputs("Usage: antagonist-bench [RUNS [SEED [LOST]]]\n", stderr), 2;
    fputs("study,kind,row,figure", stdout);
    for (size_t i = 0; i < SUSPECTS; i++)
        printf(",cpu%zu", i + 1);
    for (size_t i = 0; i < SUSPECTS + CODES_GHOSTS; i++)
        printf(",s%zu", i + 1);
    putchar('\n');
    for (long i = 0; i < runs; i++) {
        simulate_innocents(i, seed + 2 * (uint64_t)i);
        simulate_guilty(i, seed + 2 * (uint64_t)i + 1);
        simulate_disturbers(i, lost / 1000, seed + 2 * (uint64_t)i);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
