/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

#define MS SS_MILLISECOND

static struct trial trial;

static struct trial_options make_work(uint32_t cpus, uint32_t instances, const char *load) {
    struct trial_options options = make_fixed(cpus, instances, load);
    options.work.iteration = 100 * MS;
    return options;
}

TEST(simulated_iteration_takes_the_configured_cpu_time) {
    struct trial_options options = make_work(1, 1, "100%");
    struct trial_figures figures = run(&options, 70 * SS_SECOND);
    assert_int_equal(figures.iterations, 600 + 1); /* one ends exactly when counting begins */
    assert_near(figures.throughput, 10, 1e-6);
    options.work.iteration = 0;
    figures = run(&options, 20 * SS_SECOND);
    assert_int_equal(figures.iterations, 0);
    assert_true(isnan(figures.throughput));
    /* A stopped instance does no work. */
    options = make_work(1, 1, "40%");
    figures = run(&options, 70 * SS_SECOND);
    assert_near(figures.throughput, 10 * figures.load_mean, 0.02);
    assert_near(figures.load_mean, 0.4, 0.01);
}

TEST(throughput_follows_threads_and_cpus) {
    static const struct {
        const char *class;
        uint32_t cpus, instances;
        double quota, throughput, within;
    } rows[] = {
        {"parallel", 4, 1, 0, 40, 1e-6}, {"serial", 4, 3, 0, 30, 1e-6},
        {"blocking", 4, 1, 0, 13, 0.1}, {"serial", 2, 3, 0, 20, 1e-6},
        {"parallel", 2, 3, 0, 20, 1e-6},
        {"serial", 2, 2, 0.5, 5, 0.02}, /* throttled instances do no work */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        OWNED_MIX mix = parse_mix(rows[i].class);
        struct trial_options options = make_work(rows[i].cpus, rows[i].instances, "100%");
        options.mix = &mix;
        options.quota = rows[i].quota;
        options.quota_period = 100 * MS;
        assert_near(run(&options, 70 * SS_SECOND).throughput, rows[i].throughput, rows[i].within);
    }
}

TEST(iteration_noise_has_the_requested_deviation) {

    for (int i = 0; i < 2; i++) {
        struct trial_options options = make_work(1, 1, "100%");
        options.work.noise = i == 0 ? 0 : 0.3;
        options.work.iteration = 10 * MS;
        open_trial(&trial, &options);
        assert_int_equal(ss_iterations_keep_apart(&trial.iterations, 1, 1), 0);
        advance(&trial, 110 * SS_SECOND);
        struct ss_iteration_times times = ss_iterations_times(&trial.iterations, 0, 1);
        assert_near(times.mean, 10e-3, i * 0.15e-3 + 1e-9);
        assert_near(times.deviation, i * 3e-3, i * 0.15e-3 + 1e-9);
        trial_close(&trial);
    }
}

#define WINDOWS 20000

TEST(speed_has_the_requested_deviation_and_correlation) {
    struct speed speed;
    const struct speed_options options = {
        .deviation = 0.03, .correlation = 0.5, .window = SS_SECOND, .seed = 1};
    double sum = 0, squares = 0, products = 0, before = 0;
    speed_open(&speed, &options, 0);
    for (int i = 0; i < WINDOWS; i++) {
        double off = speed.factor - 1;
        assert_int_equal(speed.until, (ss_time)(i + 1) * SS_SECOND);
        sum += off;
        squares += off * off;
        products += off * before;
        before = off;
        speed_next(&speed);
    }
    assert_near(sum / WINDOWS, 0, 0.001);
    assert_near(sqrt(squares / WINDOWS), 0.03, 0.001);
    assert_near(products / squares, 0.5, 0.03);
}

TEST(runs_at_successive_uptimes_continue_one_series_of_speeds) {
    struct speed whole, part;
    struct speed_options options = {
        .deviation = 0.1, .correlation = 0.5, .window = 3 * SS_SECOND, .seed = 7};
    speed_open(&whole, &options, 0);
    for (int i = 0; i < 10; i++) {
        options.uptime = (ss_time)(3 * i + 1) * SS_SECOND;
        speed_open(&part, &options, 100 * SS_SECOND);
        assert_near(part.factor, whole.factor, 1e-12);
        assert_int_equal(part.until, 102 * SS_SECOND);
        speed_next(&whole);
    }
}

TEST(iterations_follow_the_speed_of_the_machine) {
    struct speed speed;
    struct trial_options options = make_work(1, 1, "100%");
    options.warmup = options.settle = 0;
    options.work.speed = (struct speed_options){
        .deviation = 0.2, .correlation = 0.5, .window = 2 * SS_SECOND, .seed = 3};
    double expected = 0;
    speed_open(&speed, &options.work.speed, 0);
    for (int i = 0; i < 5; i++) {
        expected += 10 * speed.factor / 5;
        speed_next(&speed);
    }
    assert_near(run(&options, 10 * SS_SECOND).throughput, expected, 1e-3);
}

TEST(launches_differ_by_the_requested_deviation) {
    struct work work;
    struct ss_error error = {0};
    const struct work_options options = {.iteration = 10 * MS, .speed.launch = 0.05};
    double sum = 0, squares = 0;
    assert_int_equal(work_open(&work, &options, 5000, 1, 0, &error), 0);
    for (uint32_t i = 0; i < work.count; i++) {
        double off = 1 / work.instances[i].slowness - 1;
        assert_near(work.instances[i].length, 1e7 * work.instances[i].slowness, 1e-3);
        sum += off;
        squares += off * off;
    }
    assert_near(sum / work.count, 0, 0.004);
    assert_near(sqrt(squares / work.count), 0.05, 0.003);
    work_close(&work);
}

struct seen {
    size_t count;
    ss_time last; /* end of the previous iteration */
    ss_time ends[4];
    uint64_t sum; /* checksum that distinguishes sequences */
};

static void see(void *context, const struct ss_iteration *iteration) {
    struct seen *seen = context;
    uint32_t instance = iteration->instance;
    ss_time start = iteration->start, end = iteration->end;
    assert_that(instance, <, 4);
    assert_int_equal(iteration->length, end - start);
    assert_that(end, >=, seen->last);
    assert_that(end, >, start);
    if (seen->ends[instance] > 0)
        assert_int_equal(start, seen->ends[instance]);
    seen->ends[instance] = seen->last = end;
    seen->sum = seen->sum * 31 + end + instance;
    seen->count++;
}

static struct seen look_at(uint64_t seed) {

    struct seen seen = {0};
    OWNED_MIX mix = parse_mix("serial,forking");
    struct trial_options options = make_work(2, 4, "50%");
    options.mix = &mix;
    options.seed = seed;
    options.work.noise = 0.1;
    options.work.use = (struct memory_use){.accesses = 30, .waiting = 0.5};
    options.memory_rate = 100;
    open_trial(&trial, &options);
    trial.iterations.on_add = see;
    trial.iterations.context = &seen;
    advance(&trial, 20 * SS_SECOND);
    trial_close(&trial);
    return seen;
}

TEST(iterations_do_not_overlap_and_depend_on_the_seed) {
    struct seen seen = look_at(1);
    assert_in_range(seen.count, 200, 400);
    assert_int_equal(seen.sum, look_at(1).sum);
    assert_int_not_equal(seen.sum, look_at(2).sum);
}

#define TURNS 40000

static ss_time expected_end;

static void see_on_time(void *context, uint32_t instance, ss_time start, ss_time end) {
    size_t *count = context;
    assert_int_equal(instance, 1);
    ss_time done = (ss_time)++ * count * 7 * MS;
    /* The pace alternates between full and half every millisecond: 1.5 ms of work per 2 ms. */
    ss_time rounds = done * 2 / (3 * MS), rest = done - rounds * 3 * MS / 2;
    expected_end = rounds * 2 * MS + (rest <= MS ? rest : MS + 2 * (rest - MS));
    assert_near((double)end, (double)expected_end, 2);
    assert_that(start, <, end);
}

/*
 * There are more changes than fit in memory at once, yet the end of each iteration must be exact.
 */
TEST(iterations_are_exact_with_many_changes_of_speed) {
    struct work work;
    struct memory memory = {0};
    struct ss_error error = {0};
    size_t count = 0;
    struct work_options options = {.iteration = 7 * MS};
    assert_int_equal(work_open(&work, &options, 2, 1, 0, &error), 0);
    work_attach(&work, &memory, 0);
    work_set_threads(&work, 1, 1, NULL, 0);
    for (ss_time i = 0; i < TURNS; i++)
        work_set_share(&work, i % 2 ? 0.5 : 1, 1, i * MS);
    assert_int_equal(work_collect(&work, TURNS * MS, see_on_time, &count, &error), 0);
    assert_int_equal(count, TURNS * 3 / 4 / 7);
    work_close(&work);
}

UNIT_RUN
