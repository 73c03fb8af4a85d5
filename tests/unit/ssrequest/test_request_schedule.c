/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "tree.h"

static struct request_profile profile;
static struct request_schedule schedule;

static int forget(void **state) {
    (void)state;
    request_profile_free(&profile);
    return 0;
}

static void make_constant(double rate, ss_time duration) {
    struct ss_error error = {0};
    request_profile_free(&profile);
    assert_succeeds(request_profile_constant(&profile, rate, duration, &error), error);
}

static void make_step(double max, double step, ss_time hold) {
    struct ss_error error = {0};
    request_profile_free(&profile);
    assert_succeeds(request_profile_step(&profile, max, step, hold, &error), error);
}

static ss_time next(void) {
    ss_time due;
    return request_schedule_next(&schedule, &due) ? due : SS_TIME_NEVER;
}

/* Counts the requests due in each second; further seconds must have none. */
static void count_by_second(enum request_arrival arrival, unsigned *counts, size_t seconds) {
    memset(counts, 0, seconds * sizeof *counts);
    request_schedule_begin(&schedule, &profile, arrival, 1);
    ss_time last = 0;
    for (ss_time due; (due = next()) != SS_TIME_NEVER; last = due) {
        assert_that(due, >=, last);
        assert_that(due / SS_SECOND, <, seconds);
        counts[due / SS_SECOND]++;
    }
}

TEST_WITH(published_request_steps_are_exact, NULL, forget) {
    make_step(140, 5, 2 * SS_SECOND);
    assert_int_equal(profile.count, 28);
    assert_int_equal(request_profile_length(&profile), 56 * SS_SECOND);
    static const enum request_arrival arrivals[] = {REQUEST_EVEN, REQUEST_CONCURRENT};
    for (size_t i = 0; i < 2; i++) {
        unsigned counts[60];
        count_by_second(arrivals[i], counts, 60);
        for (unsigned second = 0; second < 60; second++)
            assert_int_equal(counts[second], second < 56 ? second / 2 * 5 : 0);
    }
}

TEST_WITH(schedule_does_not_drift_within_an_hour, NULL, forget) {
    static const double rates[] = {1.0 / 3, 7, 1000, 997.3};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        make_constant(rates[i], 3600 * SS_SECOND);
        request_schedule_begin(&schedule, &profile, REQUEST_EVEN, 1);
        uint64_t count = 0;
        for (ss_time due; (due = next()) != SS_TIME_NEVER; count++) {
            double truth = (double)count / rates[i] * 1e9;
            if (fabs((double)due - truth) > 1)
                fail_msg("request %llu at rate %g: due at %llu ns, not %.3f",
                    (unsigned long long)count, rates[i], (unsigned long long)due, truth);
        }
        assert_int_equal(count, (uint64_t)ceil(rates[i] * 3600 - 1e-6));
    }
}

/* Each row has a constant rate, or steps up to a rate; the rate may change at a time. */
TEST_WITH(requests_are_due_at_the_expected_times, NULL, forget) {
    static const struct {
        double rate, step;
        ss_time length; /* ms: of the run, or of a step */
        enum request_arrival arrival;
        ss_time change_at; /* ms; 0 if never */
        double change;
        double due[10]; /* ms */
        int count;
    } rows[] = {
        {3, 0, 2000, REQUEST_EVEN, 0, 0,
            {0, 333.333333, 666.666667, 1000, 1333.333333, 1666.666667}, 6},
        /* 2.5 per second: the half is carried over, and the last segment is half a second. */
        {2.5, 0, 3500, REQUEST_CONCURRENT, 0, 0, {0, 0, 1000, 1000, 1000, 2000, 2000, 3000}, 8},
        /*
         * The rate gives no whole number of requests per segment, and no request may be lost at a
         * border: 0, 0.25, 0.5, 0.75.
         */
        {1, 0.25, 1000, REQUEST_EVEN, 0, 0, {1000, 3333.333333}, 2},
        /* 0.1 + 0.2 + 0.3 + 0.4; ten times a tenth must not exceed 1. */
        {1, 0.1, 1000, REQUEST_CONCURRENT, 0, 0, {4000, 6000, 8000, 9000}, 4},
        {0.1, 0, 100000, REQUEST_CONCURRENT, 0, 0,
            {9000, 19000, 29000, 39000, 49000, 59000, 69000, 79000, 89000, 99000}, 10},
        {40, 10, 1000, REQUEST_EVEN, 500, 2, {500, 1000, 1500, 2000, 2500, 3000, 3500}, 7},
        /* Only the fraction of a request left over from earlier seconds is kept. */
        {0.5, 0, 4000, REQUEST_CONCURRENT, 500, 1.5, {1000, 1000, 2000, 3000, 3000}, 5},

    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].step > 0)
            make_step(rows[i].rate, rows[i].step, rows[i].length * SS_MILLISECOND);
        else
            make_constant(rows[i].rate, rows[i].length * SS_MILLISECOND);
        request_schedule_begin(&schedule, &profile, rows[i].arrival, 1);
        if (rows[i].change_at > 0)
            request_schedule_set_rate(
                &schedule, rows[i].change_at * SS_MILLISECOND, rows[i].change);
        for (int j = 0; j < rows[i].count; j++) {
            ss_time due = next(), expected = (ss_time)(rows[i].due[j] * 1e6 + 0.5);
            if (due != expected)
                fail_msg("row %zu: request %d is due at %llu ns, not %llu", i, j,
                    (unsigned long long)due, (unsigned long long)expected);
        }
        assert_that(next(), ==, SS_TIME_NEVER);
        assert_that(next(), ==, SS_TIME_NEVER);
    }
    make_step(2.1, 0.3, SS_SECOND); /* a quotient just above 7 */
    assert_int_equal(profile.count, 7);
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double distance(double *gaps, size_t count) {
    qsort(gaps, count, sizeof *gaps, compare);
    double max = 0;
    for (size_t i = 0; i < count; i++) {
        double truth = -expm1(-gaps[i]);
        max = fmax(max, fabs(truth - (double)i / (double)count));
        max = fmax(max, fabs(truth - (double)(i + 1) / (double)count));
    }
    return max;
}

/* Returns the expected number of requests until `time`. */
static double expected_until(ss_time time) {
    double expected = 0;
    for (size_t i = 0; i < profile.count && profile.segments[i].begin < time; i++) {
        const struct request_segment *segment = &profile.segments[i];
        ss_time end = segment->end < time ? segment->end : time;
        expected += segment->rate * ss_time_seconds(end - segment->begin);
    }
    return expected;
}

/* Checks with the Kolmogorov-Smirnov test: a larger distance has a probability below 0.01. */
static void assert_exponential(size_t count, uint64_t seed) {
    double *gaps = malloc(count * sizeof *gaps);
    assert_non_null(gaps);
    request_schedule_begin(&schedule, &profile, REQUEST_POISSON, seed);
    double last = 0;
    for (size_t i = 0; i < count; i++) {
        double reached = expected_until(next());
        gaps[i] = reached - last;
        last = reached;
    }
    double found = distance(gaps, count);
    free(gaps);
    if (found > 1.628 / sqrt((double)count))
        fail_msg("seed %llu: the distance is %g", (unsigned long long)seed, found);
}

TEST_WITH(poisson_gaps_are_exponential, NULL, forget) {
    make_constant(100, 1200 * SS_SECOND);
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_exponential(100000, seed);
    /* Borders after every other request make the rounding of gaps at borders visible. */
    make_step(201, 1, 50 * SS_MILLISECOND);
    assert_exponential(950, 1);
    make_step(2000, 100, 10 * SS_MILLISECOND);
    assert_exponential(150, 2);
}

TEST_WITH(equal_seeds_give_equal_schedules, NULL, forget) {
    enum { COUNT = 1000 };
    static ss_time moments[3][COUNT];
    static const uint64_t seeds[] = {42, 42, 43};
    make_constant(100, 60 * SS_SECOND);
    for (size_t i = 0; i < 3; i++) {
        request_schedule_begin(&schedule, &profile, REQUEST_POISSON, seeds[i]);
        for (size_t j = 0; j < COUNT; j++)
            moments[i][j] = next();
    }
    assert_memory_equal(moments[0], moments[1], sizeof moments[0]);
    assert_memory_not_equal(moments[0], moments[2], sizeof moments[0]);
    /* The gaps must not be a shifted copy of the same sequence. */
    for (size_t j = 1; j + 1 < COUNT; j++)
        assert_int_not_equal(moments[2][j] - moments[2][j - 1], moments[0][j + 1] - moments[0][j]);
}

TEST_WITH(peeking_does_not_consume_a_request, NULL, forget) {
    make_step(140, 5, 2 * SS_SECOND);
    for (unsigned arrival = 0; arrival < 3; arrival++) {
        request_schedule_begin(&schedule, &profile, arrival, 3);
        struct request_schedule other = schedule;
        for (ss_time due, seen; (seen = request_schedule_peek(&schedule)) != SS_TIME_NEVER;) {
            assert_int_equal(request_schedule_peek(&schedule), seen);
            assert_int_equal(next(), seen);
            assert_true(request_schedule_next(&other, &due));
            assert_int_equal(due, seen);
        }
        assert_that(request_schedule_peek(&other), ==, SS_TIME_NEVER);
    }
}

TEST_WITH(rate_change_applies_at_once, NULL, forget) {
    make_constant(0.01, 1000 * SS_SECOND);
    request_schedule_begin(&schedule, &profile, REQUEST_EVEN, 1);
    assert_int_equal(next(), 0);
    assert_int_equal(request_schedule_peek(&schedule), 100 * SS_SECOND);
    request_schedule_set_rate(&schedule, 50 * SS_SECOND, 10);
    /* Half a request had accumulated. */
    assert_int_equal(next(), 50 * SS_SECOND + 50 * SS_MILLISECOND);
    assert_int_equal(next(), 50 * SS_SECOND + 150 * SS_MILLISECOND);
    request_schedule_set_rate(&schedule, 51 * SS_SECOND, 0);
    assert_that(request_schedule_peek(&schedule), ==, SS_TIME_NEVER);
    request_schedule_set_rate(&schedule, 999 * SS_SECOND, 10);
    unsigned count = 0;
    while (next() != SS_TIME_NEVER)
        count++;
    assert_int_equal(count, 10);
}

TEST_WITH(rate_change_of_concurrent_requests_applies_next_second, NULL, forget) {
    make_constant(2, 5 * SS_SECOND);
    request_schedule_begin(&schedule, &profile, REQUEST_CONCURRENT, 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(next(), i / 2 * SS_SECOND);
    request_schedule_set_rate(&schedule, SS_SECOND + 1, 3);
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(next(), (2 + i / 3) * SS_SECOND);
    assert_that(next(), ==, SS_TIME_NEVER);
}

static void make_trace(const char *text, double rate, ss_time duration) {
    struct ss_error error = {0};
    request_profile_free(&profile);
    tree_new();
    assert_succeeds(
        request_profile_trace(&profile, tree_write("trace", text), rate, duration, &error), error);
}

static double rate_at(ss_time time) {
    for (size_t i = 0; i < profile.count; i++)
        if (time < profile.segments[i].end)
            return profile.segments[i].rate;
    return -1;
}

TEST_WITH(trace_profile_multiplies_its_loads_by_the_rate, NULL, forget) {
    static const struct {
        const char *trace;
        ss_time duration, length; /* seconds */
        double expected;
    } rows[] = {
        {"0 100%\n10s 50%\n", 5, 5, 43.75}, {"0 100%\n10s 50%\n", 20, 20, 125},
        {"3s 50%\n", 4, 4, 20}, /* before the first record its load holds */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_trace(rows[i].trace, 10, rows[i].duration * SS_SECOND);
        assert_int_equal(request_profile_length(&profile), rows[i].length * SS_SECOND);
        assert_near(expected_until(rows[i].length * SS_SECOND), rows[i].expected, 0.01);
    }
    /* A level, a step, a ramp, a free section, a level. */
    make_trace(
        "0 20%\n10s 20%\n10s 50%\n20s 100%\n20s free\n30s 10%\n40s 10%\n", 200, SS_TIME_NEVER);
    assert_int_equal(request_profile_length(&profile), 40 * SS_SECOND);
    assert_near(rate_at(5 * SS_SECOND), 40, 1e-9);
    assert_near(rate_at(10 * SS_SECOND), 100, 2);
    assert_near(rate_at(15 * SS_SECOND), 150, 2);
    assert_near(rate_at(20 * SS_SECOND - 1), 200, 2);
    assert_that(rate_at(25 * SS_SECOND), ==, 0);
    assert_near(rate_at(35 * SS_SECOND), 20, 1e-9);
    assert_near(expected_until(40 * SS_SECOND), (400 + 1500 + 0 + 200), 1e-6);
    for (size_t i = 1; i < profile.count; i++)
        assert_int_equal(profile.segments[i].begin, profile.segments[i - 1].end);
}

TEST_WITH(invalid_request_profiles_are_refused, NULL, forget) {
    static const double wrong[] = {0, -1, INFINITY, NAN, 2e9};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error a = {0}, b = {0}, c = {0};
        assert_int_equal(request_profile_constant(&profile, wrong[i], SS_SECOND, &a), -1);
        assert_int_equal(request_profile_step(&profile, 10, wrong[i], SS_SECOND, &b), -1);
        assert_int_equal(request_profile_trace(&profile, "/", wrong[i], SS_SECOND, &c), -1);
        assert_true(a.status && b.status && c.status);
    }
    struct ss_error error = {0};
    assert_int_equal(request_profile_constant(&profile, 1, 0, &error), -1);
    assert_int_equal(request_profile_step(&profile, 5, 5, SS_SECOND, NULL), -1);
    assert_int_equal(request_profile_step(&profile, 5, 1, 0, NULL), -1);
    assert_int_equal(request_profile_step(&profile, 5, 1, SS_TIME_NEVER / 4, NULL), -1);
    assert_int_equal(request_profile_step(&profile, 1e9, 1e-3, 1, NULL), -1);
    assert_int_equal(profile.count, 0);
}

UNIT_RUN
