/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests of the machine under sssim queue: frequency, contention and power. Inputs are the published
 * fits of power, a frequency's share of it, and a and b fitted to the published capacities; the
 * rest is predicted and compared with the published figures
 * (tools/experiments/published/actuators-*.csv).
 */

#include "queue_run.h"
#include "tree.h"
#include "unit.h"

#define MS   SS_MILLISECOND
#define CPUS 32

#define IDLE 120 /* W; section 3.1 of the publication */

static struct queue_watts free_points[CPUS + 1], pinned_points[CPUS + 1];
static const struct queue_power free_power = {free_points, CPUS + 1, 0},
                                pinned_power = {pinned_points, CPUS + 1, 0};

/* Reads the numbers that follow a key in a published table. */
static void read_published(const char *table, const char *key, double *numbers, int count) {
    char path[400], line[200];
    const char *at = NULL;
    snprintf(path, sizeof path, "%s/tools/experiments/published/actuators-%s.csv",
        PROJECT_SOURCE_DIR, table);
    FILE *stream = fopen(path, "re");
    assert_non_null(stream);

    while (!at && fgets(line, sizeof line, stream)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) == 0 && line[length] == ',')
            at = line + length;
    }
    fclose(stream);
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        if (!at || *at != ',')
            fail_msg("%s: no number %d of '%s'", path, i, key);
        numbers[i] = strtod(at + 1, &end);
        at = end;
    }
}

static double published(const char *table, const char *key) {
    double number;
    read_published(table, key, &number, 1);
    return number;
}

/* Fills in the power with each number of busy CPUs: a parabola. */
static void read_power(const char *key, struct queue_watts points[CPUS + 1]) {
    double of[3];
    read_published("power", key, of, 3);
    points[0] = (struct queue_watts){0, IDLE};
    for (int i = 1; i <= CPUS; i++)
        points[i] = (struct queue_watts){i, of[0] * i * i + of[1] * i + of[2]};
}

static struct queue_capacity guests[4], cores[4];

__attribute__((constructor)) static void read_figures(void) {
    char key[30];
    read_power("free", free_points);
    read_power("pinned", pinned_points);
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "instances,%d", i + 1);
        guests[i] = (struct queue_capacity){i + 1, published("capacity", key)};
        snprintf(key, sizeof key, "cores,%d", 8 * (i + 1));
        cores[i] = (struct queue_capacity){8 * (i + 1), published("capacity", key)};
    }
}

struct setup {
    uint32_t servers, workers;
    double work;  /* seconds, at speed 1 */
    double speed; /* of each server */
    double relative_frequency;
    double duty; /* 0 if never stopped */
    enum request_arrival arrival;
    const struct queue_power *power;
};

struct measured {
    double mean, p95; /* of all requests, from when they were due, in seconds */
    double watts, active, idle;
};

static struct measured simulate(const struct setup *setup, double rate, ss_time length) {
    double speeds[8];
    struct ss_error error = {0};
    struct request_profile profile = {0};
    struct request_tally tally;
    struct queue_run_result end;
    for (uint32_t i = 0; i < setup->servers; i++)
        speeds[i] = setup->speed;
    struct queue_run_options options = {
        .profile = &profile,
        .arrival = setup->arrival,
        .rules = {.cap = 100000, .end = length},
        .timeout = SS_TIME_NEVER,
        .settle = length / 5,
        .seed = 1,
        .service = {.servers = setup->servers,
            .workers = setup->workers,
            .speeds = speeds,
            .work = ss_time_from_double(setup->work * 1e9),
            .seed = 1},
        .duty = setup->duty > 0 ? setup->duty : 1,
        .tau = 107 * MS,
        .power = setup->power,
        .relative_frequency = setup->relative_frequency,
    };
    assert_succeeds(request_profile_constant(&profile, rate, length, &error), error);
    assert_succeeds(request_tally_open(&tally, options.timeout, &error), error);
    assert_succeeds(queue_run(&options, &tally, &end, &error), error);
    const struct queue_meter *meter = &end.meter;
    struct measured measured = {
        .mean = ss_histogram_mean(&tally.all[REQUEST_INTENDED]),
        .p95 = ss_histogram_quantile(&tally.all[REQUEST_INTENDED], 0.95),
        .watts = meter->joules / meter->seconds,
        .active = meter->busy_seconds / meter->seconds / (setup->servers * setup->workers),
        .idle = meter->idle_seconds / meter->seconds,
    };
    assert_near(meter->seconds, ss_time_seconds(length - length / 5), 1e-9);
    request_tally_close(&tally);
    request_profile_free(&profile);
    return measured;
}

/* Returns the highest rate at which the service is underloaded: mean below 1 s, p95 below 2 s. */
static double find_capacity(const struct setup *setup) {
    double held = 1, failed = 400;
    while (failed - held > 0.002 * failed) {
        double rate = (held + failed) / 2;
        struct measured measured = simulate(setup, rate, 60 * SS_SECOND);
        if (measured.mean < 1 && measured.p95 < 2)
            held = rate;
        else
            failed = rate;
    }
    return held;
}

static double saturated_watts(const struct setup *setup) {
    struct measured measured = simulate(setup, 150, 20 * SS_SECOND);
    assert_near(measured.active, 1, 1e-9);
    return measured.watts;
}

/* 32 cores that serve as many requests per second as published at 2.1 GHz. */
static struct setup at_frequency(double frequency, enum request_arrival arrival) {
    return (struct setup){.servers = 1,
        .workers = CPUS,
        .work = CPUS / published("capacity", "frequency,2.1 GHz"),
        .speed = queue_frequency_speed(frequency, 2.1, 1),
        .relative_frequency = frequency / 2.1,
        .arrival = arrival,
        .power = &free_power};
}

TEST(work_takes_longer_at_a_lower_frequency) {
    assert_near(1 / queue_frequency_speed(1.4, 2.1, 1), 1.5, 1e-12);
    assert_near(1 / queue_frequency_speed(1.4, 2.1, 0.5), 1.25, 1e-12);
    assert_near(1 / queue_frequency_speed(1.4, 2.1, 0), 1, 1e-12);
    assert_near(1 / queue_frequency_speed(2.1, 2.1, 0.7), 1, 1e-12);
}

TEST(capacity_is_proportional_to_the_frequency) {
    struct setup slow = at_frequency(1.4, REQUEST_EVEN), fast = at_frequency(2.1, REQUEST_EVEN);
    double expected =
        published("capacity", "frequency,1.4 GHz") / published("capacity", "frequency,2.1 GHz");
    assert_near(find_capacity(&slow) / find_capacity(&fast), expected, 0.01);
    double longer = simulate(&slow, 25, 60 * SS_SECOND).active;
    assert_near(longer / simulate(&fast, 25, 60 * SS_SECOND).active, 1.5, 0.03);
}

/* Fig. 1 and 4.1: at 2/3 of the frequency, an idle machine saves 5 %, all CPUs save 18 %. */
TEST(lower_frequency_saves_most_with_all_cpus) {
    double base = queue_power_at(&free_power, CPUS, 1);
    assert_near(base, free_points[CPUS].watts, 1e-9);
    assert_near(queue_power_at(&free_power, CPUS, 2.0 / 3) / base, 0.82, 1e-12);
    assert_near(queue_power_at(&free_power, 16, 2.0 / 3) / queue_power_at(&free_power, 16, 1),
        (0.95 + 0.82) / 2, 1e-12);
    assert_near(queue_power_at(&free_power, CPUS, 5.0 / 6) / base, 0.91, 1e-12);
    assert_near(queue_power_at(&free_power, 0, 2.0 / 3), 0.95 * IDLE, 1e-12);
}

TEST(power_is_integrated_over_busy_cpus) {
    struct queue_watts points[] = {{0, 100}, {1, 200}, {4, 320}};
    const struct queue_power power = {points, 3, 0};
    assert_near(queue_power_at(&power, 3, 1), 280, 1e-12);
    struct setup setup = {.servers = 1,
        .workers = 1,
        .work = 0.010,
        .speed = 1,
        .relative_frequency = 1,
        .arrival = REQUEST_EVEN,
        .power = &power};
    struct measured measured = simulate(&setup, 50, 10 * SS_SECOND);
    assert_near(measured.active, 0.5, 1e-9);
    assert_near(measured.idle, 0.5, 1e-9);
    assert_near(measured.watts, 150, 1e-6);
    /* Four requests at once on four workers: all four are busy for 10 of 1000 ms. */
    setup.workers = 4;
    setup.arrival = REQUEST_CONCURRENT;
    measured = simulate(&setup, 4, 10 * SS_SECOND);
    assert_near(measured.active, 0.01, 1e-9);
    assert_near(measured.idle, 0.99, 1e-9);
    assert_near(measured.watts, 0.99 * 100 + 0.01 * 320, 1e-6);
}

TEST(stopped_servers_use_no_cpu) {
    const struct setup setup = {.servers = 2,
        .workers = 2,
        .work = 1,
        .speed = 1,
        .relative_frequency = 1,
        .duty = 0.25,
        .power = &free_power};
    assert_near(simulate(&setup, 50, 100 * SS_SECOND).active, 0.25, 0.005);
}

TEST(concurrent_requests_need_less_power_unless_overloaded) {
    for (int i = 0; i < 2; i++) {
        double frequency = i ? 1.4 : 2.1;
        struct setup even = at_frequency(frequency, REQUEST_EVEN),
                     concurrent = at_frequency(frequency, REQUEST_CONCURRENT);
        for (double rate = 5; rate <= 20; rate += 5)
            assert_that(simulate(&concurrent, rate, 20 * SS_SECOND).watts, <,
                simulate(&even, rate, 20 * SS_SECOND).watts - 10);
        assert_near(saturated_watts(&concurrent), saturated_watts(&even), 1e-6);
    }
}

TEST(contention_follows_from_exact_capacities) {
    const struct queue_contention known = {0.03, 0.004};
    struct queue_capacity points[5];
    for (int i = 0; i < 5; i++) {
        double n = i + 1;
        points[i] = (struct queue_capacity){n, n * 35 * queue_contention_speed(&known, n)};
    }
    struct queue_contention found;
    struct ss_error error = {0};
    double alone;
    assert_int_equal(queue_contention_fit(&found, points, 5, &alone, &error), 0);
    assert_near(found.a, 0.03, 1e-10);
    assert_near(found.b, 0.004, 1e-10);
    assert_near(alone, 35, 1e-8);
    assert_int_equal(queue_contention_fit(&found, points, 2, &alone, &error), -1);
    /* Capacity that grows faster than n would require a negative `a`. */
    const struct queue_capacity fast[] = {{1, 10}, {2, 22}, {3, 34}, {4, 46}};
    assert_int_equal(queue_contention_fit(&found, fast, 4, NULL, &error), 0);
    assert_true(found.a == 0 && found.b == 0);
}

/* Returns a setup with the contention at `n`, which is fitted to the published capacities. */
static struct setup with(const struct queue_capacity *published, uint32_t n, uint32_t servers,
    uint32_t workers, double cores_alone) {
    struct queue_contention contention;
    struct ss_error error = {0};
    double alone;
    assert_int_equal(queue_contention_fit(&contention, published, 4, &alone, &error), 0);
    return (struct setup){.servers = servers,
        .workers = workers,
        .work = cores_alone / alone,
        .speed = queue_contention_speed(&contention, n),
        .relative_frequency = 1,
        .arrival = REQUEST_EVEN,
        .power = &free_power};
}

/* Guests with 8 cores each, all on one server of 32 cores. */
static struct setup with_guests(uint32_t n) {
    return with(guests, n, n, 8, 8);
}

static struct setup with_cores(uint32_t n) {
    return with(cores, n, 1, n, 1);
}

TEST(capacities_are_near_published_capacities) {
    for (int i = 0; i < 4; i++) {
        struct setup setup = with_guests((uint32_t)guests[i].n);
        double capacity = find_capacity(&setup);
        assert_near(capacity / guests[i].rate, 1, 0.1);
        setup = with_cores((uint32_t)cores[i].n);
        capacity = find_capacity(&setup);
        assert_near(capacity / cores[i].rate, 1, 0.1);
    }
}

static double saving(struct setup high, struct setup low) {
    double watts = saturated_watts(&high);
    return 100 * (watts - saturated_watts(&low)) / watts;
}

/* The saving of a lower frequency is an input of the model. */
TEST(savings_are_within_5_points_of_published_savings) {
    static const double pinning[] = {10.3, 11.5, 7.9}; /* 8, 16 and 24 of 32 cores */
    for (uint32_t i = 0; i < 3; i++) {
        struct setup part = with_cores(8 * (i + 1)), pinned = part;
        pinned.power = &pinned_power;
        assert_near(saving(part, pinned), pinning[i], 0.05);
        assert_near(pinning[i], 8, 5);
    }
    double horizontal = saving(with_guests(4), with_guests(1));
    double vertical = saving(with_cores(32), with_cores(8));
    assert_near(horizontal, 25.9, 0.05);
    assert_near(vertical, 25.9, 0.05);
    assert_near(horizontal, 29, 5);
    assert_near(vertical, 27, 5);
}

TEST(invalid_tables_are_refused) {
    static const struct {
        bool is_power;
        const char *text, *words;
    } cases[] = {
        {true, "busy,watts\n1,100\n2,200\n", ":2:1: the first row must have 0 busy CPUs"},
        {true, "busy,watts\n0,100\n2,200\n2,300\n",
            ":4:1: busy CPUs must increase from row to row"},
        {true, "busy,watts\n0,100\n1,-1\n", ":3:1: power must not be negative"},
        {true, "busy,watts\n0,100\n1,x\n", ":3:3: invalid number in column 'watts'"},
        {true, "busy,watts\n0,100\n", ": too few rows: use at least one for 0 busy CPUs"},
        {true, "busy,power\n0,100\n", ":1:1: no column 'watts'"},
        {false, "n,requests_per_second\n0,30\n", ":2:1: n must be at least 1"},
        {false, "n,requests_per_second\n1,0\n",
            ":2:1: n must be at least 1, and the capacity above 0"},
        {false, "n;requests_per_second\n1;30\n2;50\n",
            "capacities of at least 3 different n, not 2"},
        {false, "n;requests_per_second\n2;30\n2;50\n2;40\n", "of at least 3 different n, not 1"},
    };
    tree_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct queue_power power = {0};
        struct queue_contention contention;
        struct ss_error error = {0};
        const char *path = tree_write("table", cases[i].text);
        assert_int_equal(cases[i].is_power ? queue_power_read(&power, path, &error)
                                           : queue_contention_read(&contention, path, &error),
            -1);
        assert_says(error.message, cases[i].words);
        queue_power_free(&power);
    }
}

UNIT_RUN
