/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "heap.h"
#include "measure/figures.h"
#include "measure/iterations.h"
#include "measure/load.h"
#include "unit.h"

/* test_vectors.c tests the errors. */
TEST(target_and_load_are_means_over_samples) {
    struct ss_figures figures = {0};
    assert_true(isnan(ss_figures_target_mean(&figures)));
    assert_true(isnan(ss_figures_load_mean(&figures)));
    assert_true(ss_figures_add(&figures, 0.6, 0.61));
    assert_true(ss_figures_add(&figures, 0.3, 0.34));
    assert_near(ss_figures_target_mean(&figures), 0.45, 1e-12);
    assert_near(ss_figures_load_mean(&figures), 0.475, 1e-12);
    ss_figures_free(&figures);
    assert_int_equal(figures.count, 0);
}

/*
 * Returns the 95th percentile of errors of 1 to `count` thousandths, of alternating sign, the
 * largest first.
 */
static double p95_of(int count) {
    struct ss_figures figures = {0};
    for (int i = count; i > 0; i--)
        assert_true(ss_figures_add(&figures, 0.5, 0.5 + (i % 2 ? 0.001 : -0.001) * i));
    double p95 = ss_figures_error_p95_percent(&figures);
    /* A second call returns the same and keeps the samples. */
    assert_near(ss_figures_error_p95_percent(&figures), p95, 1e-12);
    assert_int_equal(figures.count, count);
    ss_figures_free(&figures);
    return p95;
}

TEST(p95_is_the_nearest_rank_percentile) {
    assert_near(p95_of(1), 0.1, 1e-12);
    assert_near(p95_of(19), 1.9, 1e-12);
    assert_near(p95_of(20), 1.9, 1e-12);  /* 0.95 * 20 = 19 */
    assert_near(p95_of(21), 2.0, 1e-12);  /* 19.95, the 20th */
    assert_near(p95_of(40), 3.8, 1e-12);  /* 0.95 * 40 = 38 */
    assert_near(p95_of(100), 9.5, 1e-12); /* 0.95 * 100 = 95 */
    assert_near(p95_of(400), 38, 1e-12);  /* exceeds the initial capacity */
}

/* Samples of half a second; errors in percent. */
TEST(settling_takes_two_seconds_within_5_percent) {
    static const struct {
        double seconds; /* NAN if never settled */
        size_t count;
        double errors[10];
    } rows[] = {
        {NAN, 0, {0}}, {NAN, 3, {0}}, {0, 4, {0}}, {0, 4, {5, -5, 4, -4}},
        {NAN, 6, {5.1, 5.1, 5.1, 5.1, 5.1, 5.1}}, {1, 6, {30, 10}}, {0.5, 5, {-30, 4.9}},
        {NAN, 8, {0, 0, 0, -5.1, 0, 0, 0, 5.1}}, {2, 8, {0, 0, 0, 6}}, {3, 10, {0, 6, 0, 0, 0, 6}},
        {0, 10, {0, 0, 0, 0, 90, 90}}, /* later errors do not change it */
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct ss_settling settling = {0};
        for (size_t i = 0; i < rows[row].count; i++)
            ss_settling_add(
                &settling, 0.5 * (double)i, 0.5 * (double)(i + 1), rows[row].errors[i] / 100);
        double seconds = ss_settling_seconds(&settling);
        if (isnan(rows[row].seconds) ? !isnan(seconds)
                                     : !(fabs(seconds - rows[row].seconds) < 1e-9))
            fail_msg("row %zu: settled after %g s, not %g", row, seconds, rows[row].seconds);
    }
}

/* Time stamps of readings are late by varying microseconds. */
TEST(settling_tolerates_late_time_stamps) {
    struct ss_settling settling = {0};
    ss_settling_add(&settling, 0.0003, 1, 0);
    assert_true(isnan(ss_settling_seconds(&settling)));
    ss_settling_add(&settling, 1, 2.0001, 0);
    assert_near(ss_settling_seconds(&settling), 0.0003, 1e-12);
    settling = (struct ss_settling){0};
    ss_settling_add(&settling, 0, 1.9, 0);
    assert_true(isnan(ss_settling_seconds(&settling)));
}

/* Two CPUs over 10 s: 5 of the 20 s were idle. */
static const struct ss_counters first = {.time = 100 * SS_SECOND,
    .set = 7,
    .capacity = 2,
    .idle = 50 * SS_SECOND,
    .busy_ticks = 30 * SS_SECOND,
    .used = 1 * SS_SECOND,
    .value = 0.1};
static const struct ss_counters second = {.time = 110 * SS_SECOND,
    .set = 7,
    .capacity = 2,
    .idle = 55 * SS_SECOND,
    .busy_ticks = 42 * SS_SECOND,
    .used = 9 * SS_SECOND,
    .value = 0.3};

/* Fails unless the load has the expected value, or is unknown if that is NAN. */
static void assert_load(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, double expected, double by_ticks) {
    struct ss_load load;
    assert_int_equal(ss_load_between(source, from, to, &load), !isnan(expected));
    if (isnan(expected))
        return;
    assert_near(load.seconds, (double)(to->time - from->time) / 1e9, 1e-12);
    assert_near(load.load, expected, 1e-12);
    assert_int_equal(isnan(load.load_ticks), isnan(by_ticks));
    if (!isnan(by_ticks))
        assert_near(load.load_ticks, by_ticks, 1e-12);
}

TEST(load_is_the_used_part_of_the_capacity) {
    struct ss_counters from = first, to = second;
    assert_load(SS_SOURCE_SYSTEM, &from, &to, 1 - 5.0 / 20, 12.0 / (12 + 5));
    to.idle = first.idle + 21 * SS_SECOND; /* exceeds the 20 s because of rounding to ticks */
    assert_load(SS_SOURCE_SYSTEM, &from, &to, 0, 12.0 / (12 + 21));
    to.idle = first.idle;
    assert_load(SS_SOURCE_SYSTEM, &from, &to, 1, 1);
    to.busy_ticks = first.busy_ticks; /* no tick has passed */
    assert_load(SS_SOURCE_SYSTEM, &from, &to, 1, NAN);
    assert_load(SS_SOURCE_RUNTIME, &from, &to, 8.0 / 20, NAN);
    assert_load(SS_SOURCE_CGROUP, &from, &to, 8.0 / 20, NAN);
    from.capacity = to.capacity = 0.5;
    to.used = from.used + 6 * SS_SECOND; /* the allowance is 5 s */
    assert_load(SS_SOURCE_CGROUP, &from, &to, 1, NAN);
    to.used = from.used;
    assert_load(SS_SOURCE_CGROUP, &from, &to, 0, NAN);
    to.used = from.used - 1;
    assert_load(SS_SOURCE_CGROUP, &from, &to, NAN, NAN);
    assert_load(SS_SOURCE_SENSOR, &from, &to, 0.3, NAN); /* as the sensor prints it */
    to.value = NAN;
    assert_load(SS_SOURCE_SENSOR, &from, &to, NAN, NAN);
    to = from;
    assert_load(SS_SOURCE_SENSOR, &from, &to, NAN, NAN);
}

TEST(load_between_incomparable_readings_is_unknown) {
    struct ss_counters rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = second;
    rows[0].time = first.time;
    rows[1].time = first.time - 1;
    rows[2].set = 8;
    rows[3].capacity = 0;
    rows[4].idle = first.idle - 1;
    rows[5].busy_ticks = first.busy_ticks - 1;
    for (size_t i = 0; i < 6; i++) {
        assert_load(SS_SOURCE_SYSTEM, &first, &rows[i], NAN, NAN);
        if (i < 4)
            assert_load(SS_SOURCE_CGROUP, &first, &rows[i], NAN, NAN);
    }
}

/* Iterations that are freed at the end of their scope. */
#define ITERATIONS __attribute__((cleanup(ss_iterations_free))) struct ss_iterations

/* Returns a window from 10 to 20 s. */
static struct ss_iterations window(void) {
    return (struct ss_iterations){
        .from = 10 * SS_SECOND, .to = 20 * SS_SECOND, .throughput = {.from = SS_TIME_NEVER}};
}

static void assert_parts(double start, double end, double parts, uint64_t ended) {
    ITERATIONS iterations = window();
    ss_iterations_add(&iterations, 0, (ss_time)(start * 1e9), (ss_time)(end * 1e9));
    assert_int_equal(iterations.seen, 1);
    if (!(fabs(iterations.parts - parts) <= 1e-12) || iterations.ended != ended)
        fail_msg("from %g to %g s: %.17g parts, %d ended", start, end, iterations.parts,
            (int)iterations.ended);
}

TEST(iterations_count_by_the_fraction_inside_the_window) {
    assert_parts(12, 15, 1, 1);
    assert_parts(10, 20, 1, 1);
    assert_parts(8, 12, 0.5, 1);   /* 2 of 4 s */
    assert_parts(19, 23, 0.25, 0); /* 1 of 4 s */
    assert_parts(5, 25, 0.5, 0);   /* 10 of 20 s */
    assert_parts(5, 20, 10.0 / 15, 1);
    assert_parts(1, 9, 0, 0);
    assert_parts(21, 30, 0, 0);
    assert_parts(20, 30, 0, 0);
    /* Iterations of length 0 count at their end. */
    assert_parts(15, 15, 1, 1);
    assert_parts(10, 10, 1, 1);
    assert_parts(20, 20, 1, 1);
    assert_parts(9, 9, 0, 0);
    assert_parts(21, 21, 0, 0);
    /* A start after the end means that the program's clocks disagree. */
    assert_parts(16, 15, 1, 1);
    assert_parts(25, 15, 1, 1);
    assert_parts(22, 21, 0, 0);
}

TEST(rate_covers_the_elapsed_part_of_the_window) {
    ITERATIONS iterations = window();
    ss_iterations_add(&iterations, 0, 11 * SS_SECOND, 12 * SS_SECOND);
    assert_true(isnan(ss_iterations_rate(&iterations, 10 * SS_SECOND).per_second));
    assert_near(ss_iterations_rate(&iterations, 12 * SS_SECOND).per_second, 1 / 2.0, 1e-12);
    assert_near(ss_iterations_rate(&iterations, 99 * SS_SECOND).per_second, 1 / 10.0, 1e-12);
}

TEST(iterations_before_the_window_are_not_counted) {
    ITERATIONS iterations = {
        .from = SS_TIME_NEVER, .to = SS_TIME_NEVER, .throughput = {.from = SS_TIME_NEVER}};
    ss_iterations_add(&iterations, 0, 1, 2);
    ss_iterations_add(&iterations, 0, SS_TIME_NEVER, SS_TIME_NEVER);
    assert_int_equal(iterations.seen, 2);
    assert_int_equal(iterations.ended, 0);
    assert_near(iterations.parts, 0, 1e-12);
    assert_true(isnan(ss_iterations_rate(&iterations, 5 * SS_SECOND).per_second));
    /* The window is still open. */
    iterations.from = 10 * SS_SECOND;
    ss_iterations_add(&iterations, 0, 1000 * SS_SECOND, 1010 * SS_SECOND);
    assert_near(iterations.parts, 1, 1e-12);
    assert_int_equal(iterations.ended, 1);
}

/* Compares the throughput in the two halves of the window that the verdict checks. */
static void assert_windows(
    const struct ss_iterations *iterations, ss_time to, double before, double after) {
    double parts[2];
    ss_windows_split(&iterations->parts_in_time, to, 2, parts);
    assert_near(parts[0], before, 0.01);
    assert_near(parts[1], after, 0.01);
}

/* Pauses of the run stop the program, too. */
TEST(iteration_excludes_pauses) {
    ITERATIONS iterations = window();
    iterations.to = SS_TIME_NEVER;
    ss_iterations_count_from(&iterations, iterations.from);
    ss_iterations_add(&iterations, 0, 10 * SS_SECOND, 12 * SS_SECOND);
    ss_iterations_pause(&iterations, 13 * SS_SECOND, 100 * SS_SECOND);
    ss_iterations_pause(&iterations, 115 * SS_SECOND, 200 * SS_SECOND);
    /*
     * The iteration runs from 12 to 13, 113 to 115 and 315 to 318 s: seconds 2 to 8 of the window.
     */
    ss_iterations_add(&iterations, 0, 12 * SS_SECOND, 318 * SS_SECOND);
    assert_near(iterations.parts, 2, 1e-12);
    assert_near(ss_throughput_rate(&iterations.throughput, 0), (1 + 4 / 6.0) / 6, 1e-12);
    assert_near(ss_throughput_rate(&iterations.throughput, 1), 2 / 6.0 / 6, 1e-12);
    assert_windows(&iterations, 320 * SS_SECOND, 1 + 3 / 6.0, 3 / 6.0);
    assert_near(ss_iterations_rate(&iterations, 320 * SS_SECOND).per_second, 2 / 10.0, 1e-12);
    /* This iteration ended while the instances were being stopped. */
    ss_iterations_add(&iterations, 0, 115 * SS_SECOND - 1, 115 * SS_SECOND + 1);
    assert_near(iterations.parts, 3, 1e-12);
    ss_iterations_free(&iterations);
    iterations = window();
    ss_iterations_count_from(&iterations, SS_TIME_NEVER);
    ss_iterations_pause(&iterations, SS_SECOND, SS_SECOND);
    assert_that(iterations.from, ==, SS_TIME_NEVER);
    assert_that(iterations.throughput.from, ==, SS_TIME_NEVER);
    assert_that(iterations.parts_in_time.from, ==, SS_TIME_NEVER);
}

/* Three instances of one command and one of another. */
TEST(iterations_are_counted_per_instance_and_command) {
    ITERATIONS iterations = window();
    assert_int_equal(ss_iterations_keep_apart(&iterations, 4, 2), 0);
    iterations.line_of[3] = 1;
    ss_iterations_add(&iterations, 0, 11 * SS_SECOND, 12 * SS_SECOND);
    ss_iterations_add(&iterations, 2, 11 * SS_SECOND, 14 * SS_SECOND);
    ss_iterations_add(&iterations, 2, 16 * SS_SECOND, 21 * SS_SECOND); /* ends after the window */
    ss_iterations_add(&iterations, 3, 9 * SS_SECOND, 19 * SS_SECOND);
    assert_int_equal(iterations.ended, 3);
    assert_near(ss_iterations_times(&iterations, 0, 2).mean, 14 / 3.0, 1e-12);
    assert_int_equal(iterations.shares[0].ended, 1);
    assert_int_equal(iterations.shares[1].ended, 0);
    assert_int_equal(iterations.shares[2].ended, 1);
    assert_near(iterations.shares[2].parts, 1.8, 1e-12);
    assert_near(iterations.shares[2].seconds, 3, 1e-12);
    assert_near(iterations.shares[3].parts, 0.9, 1e-12);
    assert_int_equal(iterations.lengths[0].count, 2);
    assert_near(ss_iterations_times(&iterations, 0, 1).mean, 2, 1e-12);
    assert_near(ss_iterations_times(&iterations, 0, 1).deviation, sqrt(2), 1e-12);
    assert_near(ss_iterations_times(&iterations, 0, 1).p99, 3, 1e-12);
    assert_int_equal(iterations.lengths[1].count, 1);
    assert_near(ss_iterations_times(&iterations, 1, 1).mean, 10, 1e-12);
    assert_near(ss_iterations_times(&iterations, 1, 1).median, 10, 1e-12);
    assert_true(isnan(ss_iterations_times(&iterations, 1, 1).deviation));
}

static struct ss_iterations apart(uint32_t instances) {
    struct ss_iterations iterations = window();
    ss_iterations_count_from(&iterations, iterations.from);
    assert_int_equal(ss_iterations_keep_apart(&iterations, instances, 1), 0);
    return iterations;
}

/* The first iteration of the only instance begins with the window. */
static struct ss_iterations started(void) {
    struct ss_iterations iterations = apart(1);
    ss_iterations_start(&iterations, 0, 10 * SS_SECOND);
    return iterations;
}

/* R's mean, sd and quantile(type = 1). Two instances, so that their counts are combined. */
TEST(statistics_of_few_iterations_agree_with_r) {
    static const unsigned seconds[] = {9, 2, 7, 4, 1};
    ITERATIONS iterations = apart(2);
    assert_true(isnan(ss_iterations_times(&iterations, 0, 1).mean));
    assert_true(isnan(ss_iterations_times(&iterations, 0, 1).median));
    for (uint32_t i = 0; i < 5; i++)
        ss_iterations_add(&iterations, i % 2, (20 - seconds[i]) * SS_SECOND - SS_MILLISECOND,
            20 * SS_SECOND - SS_MILLISECOND);
    struct ss_iteration_times times = ss_iterations_times(&iterations, 0, 1);
    assert_near(times.mean, 4.6, 1e-12);
    assert_near(times.deviation, 3.3615472627943221, 1e-12);
    assert_near(times.median, 4, 4 * 0.0005);
    assert_near(times.p95, 9, 1e-12);
}

/* All iterations are in one throughput interval; only a new interval allocates memory. */
TEST(adding_an_iteration_allocates_no_memory) {
    ITERATIONS iterations = apart(2);
    ss_iterations_add(&iterations, 0, 10 * SS_SECOND, 11 * SS_SECOND);
    size_t before = heap_in_use();
    for (ss_time i = 0; i < 5000; i++)
        ss_iterations_add(&iterations, i % 2, 11 * SS_SECOND, 11 * SS_SECOND + i * i * 40);
    assert_int_equal(heap_in_use(), before);
}

static void add_ms(struct ss_iterations *iterations, uint32_t instance, ss_time from, ss_time to) {
    ss_iterations_add(iterations, instance, from * SS_MILLISECOND, to * SS_MILLISECOND);
}

/* In 5 s: four iterations of 1.01 s, and 0.96 s of the fifth. */
TEST(rate_includes_the_estimated_part_of_an_unfinished_iteration) {
    ITERATIONS iterations = started();
    iterations.to = 15 * SS_SECOND;
    for (ss_time i = 0; i < 4; i++)
        add_ms(&iterations, 0, 10000 + i * 1010, 10000 + (i + 1) * 1010);
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, iterations.to);
    assert_near(rate.per_second, 1 / 1.01, 1e-12);
    assert_near(rate.estimated, 0.96 / 1.01, 1e-12);
    assert_near(rate.uncertainty, 0, 1e-12); /* all are equally long */
    assert_true(isnan(rate.bound));
    rate = ss_iterations_rate_of(&iterations, 0, 1, iterations.to);
    assert_near(rate.per_second, 1 / 1.01, 1e-12);
}

TEST(throughput_intervals_include_an_unfinished_iteration) {
    ITERATIONS iterations = started();
    iterations.to = 22 * SS_SECOND;
    add_ms(&iterations, 0, 10000, 14000);
    add_ms(&iterations, 0, 14000, 18000);
    ss_iterations_finish(&iterations); /* at 22 s, just before the next one ends */
    assert_near(ss_throughput_rate(&iterations.throughput, 0), 1.5 / 6, 1e-12);
    assert_that(fabs(ss_throughput_rate(&iterations.throughput, 1) - 1.5 / 6), <, 0.01 / 6);
    assert_windows(&iterations, iterations.to, 1.5, 1.5);
}

TEST(rate_uncertainty_follows_the_spread_of_lengths) {
    ITERATIONS iterations = apart(2);
    ss_iterations_start(&iterations, 0, 10 * SS_SECOND);
    add_ms(&iterations, 0, 10000, 13000);
    add_ms(&iterations, 0, 13000, 18000); /* mean 4 s, deviation sqrt(2) s */
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, 20 * SS_SECOND);
    assert_near(rate.estimated, 0.5, 1e-12);
    assert_near(rate.per_second, 2.5 / 10, 1e-12);
    assert_near(rate.uncertainty, 0.5 * sqrt(2) / 4 / 10, 1e-12);
    /* The iteration is already longer than earlier ones: it may be almost done or far from it. */
    iterations.to = SS_TIME_NEVER;
    rate = ss_iterations_rate(&iterations, 30 * SS_SECOND);
    assert_near(rate.estimated, 0.99, 1e-12);
    assert_near(rate.uncertainty, 1 / sqrt(12) / 20, 1e-12);
    /* The other instance completed none, so its part is unknown and counts as 0. */
    ss_iterations_start(&iterations, 1, 0);
    rate = ss_iterations_rate(&iterations, 30 * SS_SECOND);
    assert_near(rate.estimated, 0.99, 1e-12);
    assert_near(rate.uncertainty, sqrt(1 / 12.0 + 4 / 9.0 / 12) / 20, 1e-12);
}

TEST(iteration_before_the_window_provides_the_expected_length) {
    ITERATIONS iterations = apart(1);
    add_ms(&iterations, 0, 0, 8000);
    iterations.to = 14 * SS_SECOND;
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, iterations.to);
    assert_near(rate.estimated, 0.5, 1e-12); /* 4 of 8 s */
    assert_near(rate.per_second, 0.5 / 4, 1e-12);
}

/* The program prepares for 1 s before each iteration of 2 s. */
TEST(unfinished_iteration_is_assumed_to_begin_after_the_usual_gap) {
    ITERATIONS iterations = apart(1);
    ss_iterations_start(
        &iterations, 0, 5 * SS_SECOND); /* the start takes longer and is not a gap */
    add_ms(&iterations, 0, 10000, 12000);
    add_ms(&iterations, 0, 13000, 15000);
    iterations.to = 15500 * SS_MILLISECOND;
    assert_near(ss_iterations_rate(&iterations, iterations.to).estimated, 0, 1e-12);
    iterations.to = 17 * SS_SECOND;
    assert_near(ss_iterations_rate(&iterations, iterations.to).estimated, 0.5, 1e-12);
}

TEST(throughput_without_completed_iterations_has_a_bound) {
    ITERATIONS iterations = apart(2);
    ss_iterations_start(&iterations, 0, 10 * SS_SECOND);
    ss_iterations_start(&iterations, 1, 0);
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, 20 * SS_SECOND);
    assert_true(isnan(rate.per_second));
    assert_near(rate.bound, (1 + 0.5) / 10, 1e-12);
    assert_true(isnan(ss_iterations_rate(&iterations, 10 * SS_SECOND).bound));
}

TEST(ended_instance_has_no_unfinished_iteration) {
    ITERATIONS iterations = started();
    add_ms(&iterations, 0, 10000, 14000);
    ss_iterations_stop(&iterations, 0);
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, 20 * SS_SECOND);
    assert_near(rate.per_second, 0.1, 1e-12);
    assert_near(rate.estimated, 0, 1e-12);
}

static void read_with_duty(
    struct ss_iterations *iterations, uint32_t count, ss_time ms, double duty) {
    ss_iterations_report_read(iterations, 0, count, ms * SS_MILLISECOND, 0, duty);
    ss_iterations_add_evenly(iterations, 0, count, ms * SS_MILLISECOND);
}

static void read_at(struct ss_iterations *iterations, uint32_t count, ss_time ms) {
    read_with_duty(iterations, count, ms, 1);
}

/* A buffer of 8 KiB is read in two pieces. */
TEST(iterations_read_together_after_silence_are_bursts) {
    ITERATIONS iterations = started();
    for (ss_time i = 1; i <= 9; i++) {
        read_at(&iterations, 1, 10000 + i * 1000);
        read_at(&iterations, 140, 10000 + i * 1000);
        read_at(&iterations, 141, 10003 + i * 1000);
        read_at(&iterations, 1, 10050 + i * 1000); /* too late to belong to the burst */
    }
    assert_int_equal(iterations.ended, 9 * 283);
    assert_int_equal(ss_iterations_in_bursts(&iterations, 0, 1), 9 * 282);
}

/* Iterations outside of the window, slow ones, those that a late master reads, or after a pause. */
TEST(iterations_without_silence_are_not_bursts) {
    ITERATIONS outside = apart(1), slow = started(), paused = started();
    ss_iterations_start(&outside, 0, 0);
    read_at(&outside, 100, 9000);
    read_at(&outside, 100, 21000);
    assert_int_equal(ss_iterations_in_bursts(&outside, 0, 1), 0);
    for (ss_time ms = 10300; ms < 12000; ms += 300)
        read_at(&slow, 1, ms);
    for (ss_time ms = 12000; ms < 14000; ms += 200)
        read_at(&slow, 20, ms);
    for (ss_time ms = 15000; ms < 16000; ms += 10)
        read_at(&slow, 1, ms);
    assert_int_equal(ss_iterations_in_bursts(&slow, 0, 1), 0);
    paused.to = SS_TIME_NEVER;
    read_at(&paused, 1, 10100);
    ss_iterations_pause(&paused, 10150 * SS_MILLISECOND, 100 * SS_SECOND);
    read_at(&paused, 2, 110250);
    assert_int_equal(ss_iterations_in_bursts(&paused, 0, 1), 0);
}

/* Iterations of 1 ms during 20 ms in every 3 s: an instance prints nothing during a long stop. */
TEST(iterations_after_long_stop_are_not_a_burst) {
    ITERATIONS iterations = started();
    for (ss_time round = 10000; round < 19000; round += 3000) {
        for (ss_time ms = round; ms < round + 20; ms++)
            read_with_duty(&iterations, 1, ms, 0.02 / 3);
    }
    assert_int_equal(ss_iterations_in_bursts(&iterations, 0, 1), 0);
}

TEST(unfinished_iteration_excludes_pauses) {
    ITERATIONS iterations = started();
    iterations.to = SS_TIME_NEVER;
    add_ms(&iterations, 0, 10000, 14000);
    ss_iterations_pause(&iterations, 15 * SS_SECOND, 100 * SS_SECOND);
    iterations.to = 116 * SS_SECOND;
    struct ss_iteration_rate rate = ss_iterations_rate(&iterations, iterations.to);
    assert_near(rate.per_second, 1.5 / 6, 1e-12);
}

UNIT_RUN
