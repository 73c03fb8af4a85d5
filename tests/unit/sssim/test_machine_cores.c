/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

static const struct cores by_cores = {.gain = 1.25},
                          at_random = {.gain = 1.25, .overlaps_at_random = true};

TEST(one_thread_of_each_core_works_at_full_speed) {
    for (double busy = 0; busy <= 5; busy++)
        assert_near(cores_speed(&by_cores, 10, busy), 1, 1e-12);
}

TEST(all_hardware_threads_busy_yield_the_smt_gain) {
    assert_near(10 * cores_speed(&by_cores, 10, 10), 5 * 1.25, 1e-12);
    assert_near(10 * cores_speed(&at_random, 10, 10), 5 * 1.25, 1e-12);
    assert_near(2 * cores_speed(&at_random, 2, 2), 1.25, 1e-12);
}

/* Six of ten CPUs form 15 pairs, and 15 / 45 * 5 of them share a core. */
TEST(random_overlap_follows_the_mean_number_of_doubled_cores) {
    double doubled = 15 / 45.0 * 5;
    assert_near(6 * cores_speed(&at_random, 10, 6), 6 - 0.75 * doubled, 1e-12);
    /* A CPU that is busy half of the time is the mean of two states. */
    assert_near(1.5 * cores_speed(&at_random, 2, 1.5), (1 + 1.25) / 2, 1e-12);
}

static struct cores parse_steps(const char *text) {
    struct cores cores = {0};
    struct ss_error error = {0};
    assert_succeeds(cores_parse_steps(&cores, text, &error), error);
    return cores;
}

TEST(frequency_depends_on_the_number_of_busy_cores) {
    struct cores cores = parse_steps("2:1.3,4:1.15");
    const double expected[] = {1, 1.3, 1.3, 1.15, 1.15, 1, 1};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_near(cores_speed(&cores, 8, (double)i), expected[i], 1e-12);
    /* With paired threads, eight busy CPUs are four busy cores. */
    cores.gain = 1.25;
    assert_near(8 * cores_speed(&cores, 8, 8), 4 * 1.25 * 1.15, 1e-12);
}

TEST(invalid_steps_are_refused) {
    const char *const invalid[] = {"", "2", "2:", ":1", "0:1.3", "1.5:1.3", "2:0", "2:-1", "2:nan",
        "4:1.1,2:1.2", "2:1.3,", "2:1.3;"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        struct cores cores = {0};
        struct ss_error error = {0};
        if (cores_parse_steps(&cores, invalid[i], &error) == 0)
            fail_msg("'%s' was accepted", invalid[i]);
    }
}

/* Returns the iterations per second of instances held at a constant duty. */
static double measure(
    const struct cores *cores, uint32_t instances, const char *duty, const char *dithering) {
    /* Phases are independent if rounds differ in length. */
    bool is_independent = strcmp(dithering, "averageq") == 0;
    struct trial_options options = make_fixed(10, instances, "100%");
    options.options[SS_KIND_CONTROL] = duty;
    options.modules[SS_KIND_DITHERING] = dithering;
    options.options[SS_KIND_DITHERING] = is_independent ? "jitter=50%" : NULL;
    options.work.iteration = 10 * SS_MILLISECOND;
    options.cores = *cores;
    return run(&options, 300 * SS_SECOND).throughput;
}

/* Compares two loads of 60 %: six of ten CPUs, and ten CPUs for 60 % of the time. */
TEST(simulated_load_of_60_percent_yields_84_or_74_percent_of_the_work) {
    double all = measure(&by_cores, 10, "duty=100%", "averageq");
    assert_near(all, 5 * 1.25 * 100, 0.5);
    assert_near(measure(&by_cores, 6, "duty=100%", "averageq") / all, 0.84, 0.002);
    assert_near(measure(&at_random, 10, "duty=60%", "averageq") / all, 0.744, 0.005);
}

/* Stagger keeps the number of busy CPUs steady, so fewer threads overlap than at random. */
TEST(stagger_overlaps_threads_less_than_random_phases) {
    double all = measure(&at_random, 10, "duty=100%", "averageq");
    double even = measure(&at_random, 10, "duty=60%", "stagger") / all;
    assert_near(even, (6 - 0.75 * 5 / 3) / (5 * 1.25), 0.005);
    assert_near(measure(&by_cores, 10, "duty=60%", "stagger") / all, 0.84, 0.005);
    assert_that(measure(&by_cores, 10, "duty=60%", "averageq") / all, <, 0.83);
}

TEST(busy_background_slows_an_instance_on_its_core) {
    struct trial_options options = make_fixed(2, 1, "100%");
    options.options[SS_KIND_CONTROL] = "duty=100%";
    options.work.iteration = 10 * SS_MILLISECOND;
    options.cores = by_cores;
    double alone = run(&options, 60 * SS_SECOND).throughput;
    options.background = 1;
    assert_near(run(&options, 60 * SS_SECOND).throughput / alone, 1.25 / 2, 1e-3);
}

UNIT_RUN
