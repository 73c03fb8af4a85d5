/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

#include <showstopper/random.h>

#define MS SS_MILLISECOND

static const struct memory_use plain = {0};

/* Returns the work of a thread of side 0 per nanosecond. */
static double speed_of(const struct memory *memory, const struct memory_use *use) {
    struct memory_pace pace = memory_pace(memory, 0);
    return memory_work(use, &pace);
}

static void set_side(
    struct memory *memory, int side, double demanded, double share, double overlap) {
    memory->sides[side] =
        (struct memory_side){.demanded = demanded, .share = share, .overlap = overlap};
}

TEST(threads_on_other_cpus_slow_a_thread) {
    struct memory memory = {.rate = 100};
    struct memory_use use = {.accesses = 50, .waiting = 0.2};
    set_side(&memory, 0, 50, 1, 1);
    assert_near(speed_of(&memory, &use), 1, 1e-12);
    set_side(&memory, 1, 50, 1, 1);
    assert_near(speed_of(&memory, &use), 1 - 0.2 * 50 / 100, 1e-12);
    assert_near(speed_of(&memory, &plain), 1, 1e-12);
    /* With half a CPU each, the threads make half as many accesses. */
    set_side(&memory, 1, 50, 0.5, 1);
    assert_near(speed_of(&memory, &use), 1 - 0.2 * 25 / 100, 1e-12);
}

TEST(memory_accesses_of_the_same_side_slow_each_other) {
    struct memory memory = {.rate = 100};
    struct memory_use use = {.accesses = 20, .waiting = 0.5};
    set_side(&memory, 0, 3 * 20, 1, 1);
    assert_near(speed_of(&memory, &use), 1 - 0.5 * 40 / 100, 1e-12);
    /* Three threads share two CPUs: while one runs, each of the others runs half of the time. */
    set_side(&memory, 0, 3 * 20, 2 / 3.0, 0.5);
    assert_near(speed_of(&memory, &use), 2 / 3.0 * (1 - 0.5 * 20 / 100), 1e-12);
    /* On one CPU no other thread runs at the same time. */
    set_side(&memory, 0, 3 * 20, 1 / 3.0, 0);
    assert_near(speed_of(&memory, &use), 1 / 3.0, 1e-12);
}

TEST(saturated_memory_serves_part_of_the_demand) {
    struct memory memory = {.rate = 100};
    struct memory_use use = {.accesses = 50, .waiting = 0.2};
    set_side(&memory, 0, 50, 1, 1);
    set_side(&memory, 1, 150, 1, 1);
    assert_near(speed_of(&memory, &use), 0.5 * (1 - 0.2 * 0.5 * 150 / 100), 1e-12);
    assert_near(speed_of(&memory, &plain), 1, 1e-12);
}

TEST(unlimited_memory_slows_no_thread) {
    struct memory memory = {0};
    struct memory_use use = {.accesses = 50, .waiting = 1};
    set_side(&memory, 0, 50, 1, 1);
    set_side(&memory, 1, 1e9, 1, 1);
    assert_near(speed_of(&memory, &use), 1, 1e-12);
}

TEST(memory_never_serves_more_than_its_rate) {
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        struct memory memory = {.rate = 100};
        struct memory_use uses[8];
        size_t count = 1 + (size_t)(8 * ss_random_next(&random));
        double demanded = 0, served = 0;
        for (size_t j = 0; j < count; j++) {
            uses[j].accesses = 100 * ss_random_next(&random);
            uses[j].waiting = ss_random_next(&random);
            demanded += uses[j].accesses;
        }
        set_side(&memory, 0, demanded, 1, 1);
        for (size_t j = 0; j < count; j++) {
            double speed = speed_of(&memory, &uses[j]);
            assert_that(speed, >=, 0);
            assert_that(speed, <=, 1 + 1e-12);
            served += speed * uses[j].accesses;
        }
        assert_that(served, <=, 100 + 1e-9);
    }
}

TEST(instances_of_a_trial_share_the_memory) {
    struct trial_options options = make_fixed(4, 3, "100%");
    options.work =
        (struct work_options){.iteration = 100 * MS, .use = {.accesses = 20, .waiting = 0.5}};
    assert_near(run(&options, 70 * SS_SECOND).throughput, 30, 1e-6);
    options.memory_rate = 100;
    assert_near(run(&options, 70 * SS_SECOND).throughput, 30 * (1 - 0.5 * 0.4), 1e-6);
    options.memory_rate = 30;
    assert_near(
        run(&options, 70 * SS_SECOND).throughput, 30 * 0.5 * (1 - 0.5 * 0.5 * 40 / 30), 1e-6);
}

UNIT_RUN
