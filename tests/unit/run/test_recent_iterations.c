/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of the iterations that an executor passes on to the master. */

#include <pthread.h>
#include <stdlib.h>

#include "run/recent_iterations.h"
#include "unit.h"

#define LENGTH 1000 /* nanoseconds, from the end of the previous iteration */

static struct ss_row row;
static struct ss_iterations iterations;
static uint64_t seen;
static uint64_t counted;
static ss_time last_end;

static void note(void *context, const struct ss_iteration *iteration) {
    (void)context;
    assert_that(iteration->start, <=, iteration->end);
    assert_that(iteration->end, >=, last_end);
    last_end = iteration->end;
    counted++;
}

static void set_up(void) {
    row = (struct ss_row){0};
    iterations = (struct ss_iterations){.on_add = note, .to = SS_TIME_NEVER};
    seen = counted = last_end = 0;
    ss_iterations_count_from(&iterations, 0);
    assert_int_equal(ss_iterations_keep_apart(&iterations, 1, 1), 0);
    ss_iterations_start(&iterations, 0, 0);
}

static void put(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        ss_time start = atomic_load(&row.iterations) * LENGTH;
        ss_recent_iterations_put(&row, start, start + LENGTH);
    }
}

static void take(void) {
    ss_recent_iterations_take(&row, &seen, &iterations, 0);
}

TEST(late_master_counts_all_iterations) {
    static const uint64_t ahead[] = {
        1, 7, 8, 9, 20, SS_ROW_ITERATIONS - 1, SS_ROW_ITERATIONS, SS_ROW_ITERATIONS + 1, 200, 1};
    uint64_t sum = 0;
    set_up();
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        put(ahead[i]);
        take();
        sum += ahead[i];
        assert_int_equal(seen, sum);
        assert_int_equal(counted, sum);
        assert_int_equal(iterations.ended, sum);
        assert_int_equal(last_end, sum * LENGTH);
    }
    ss_iterations_free(&iterations);
}

/* The iterations have equal lengths, so an even spread is exact. */
TEST(overwritten_iterations_are_spread_evenly) {
    set_up();
    put(1);
    take();
    put(10 * SS_ROW_ITERATIONS);
    take();
    struct ss_iteration_times times = ss_iterations_times(&iterations, 0, 1);
    assert_near(times.mean, LENGTH / 1e9, 1e-12);
    assert_near(times.deviation, 0, 2e-9);
    ss_iterations_free(&iterations);
}

/* With this many iterations waiting, the executor writes the slot of the oldest one. */
TEST(slot_that_is_being_written_is_not_read) {
    set_up();
    put(SS_ROW_ITERATIONS);
    atomic_store(&row.recent_iterations[0].end, UINT64_C(1) << 60);
    take();
    assert_int_equal(counted, SS_ROW_ITERATIONS);
    assert_int_equal(last_end, SS_ROW_ITERATIONS * LENGTH);
    ss_iterations_free(&iterations);
}

#define MANY 200000

static void *put_many(void *context) {
    (void)context;
    put(MANY);
    return NULL;
}

TEST(iterations_are_taken_while_they_are_put) {
    pthread_t executor;
    set_up();
    assert_int_equal(pthread_create(&executor, NULL, put_many, NULL), 0);
    while (seen < MANY)
        take();
    pthread_join(executor, NULL);
    assert_int_equal(counted, MANY);
    assert_int_equal(last_end, (uint64_t)MANY * LENGTH);
    ss_iterations_free(&iterations);
}

UNIT_RUN
