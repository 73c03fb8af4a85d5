/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"

#include <showstopper/random.h>

#define MS SS_MILLISECOND

/* Returns the work of a thread of side 0 per nanosecond. */
static double speed_of(const struct memory *memory, const struct memory_use *use) {
    struct memory_pace pace = memory_pace(memory, 0);
    return memory_work(use, &pace);
}

TEST(memory_accesses_slow_threads) {
    static const struct {
        double rate, accesses, waiting;
        struct {
            double demanded, share, overlap;
        } sides[2];
        double speed;
    } rows[] = {
        {100, 50, 0.2, {{50, 1, 1}}, 1},
        {100, 50, 0.2, {{50, 1, 1}, {50, 1, 1}}, 1 - 0.2 * 50 / 100},
        /* With half a CPU each, the threads make half as many accesses. */
        {100, 50, 0.2, {{50, 1, 1}, {50, 0.5, 1}}, 1 - 0.2 * 25 / 100},
        /* Threads of the same side slow each other. */
        {100, 20, 0.5, {{3 * 20, 1, 1}}, 1 - 0.5 * 40 / 100},
        /* Three threads share two CPUs: each of the others runs half of the time. */
        {100, 20, 0.5, {{3 * 20, 2 / 3.0, 0.5}}, 2 / 3.0 * (1 - 0.5 * 20 / 100)},
        /* On one CPU no other thread runs at the same time. */
        {100, 20, 0.5, {{3 * 20, 1 / 3.0, 0}}, 1 / 3.0},
        /* Saturated memory serves part of the demand. */
        {100, 50, 0.2, {{50, 1, 1}, {150, 1, 1}}, 0.5 * (1 - 0.2 * 0.5 * 150 / 100)},
        {100, 0, 0, {{50, 1, 1}, {150, 1, 1}}, 1},
        /* Without a rate, the memory is unlimited. */
        {0, 50, 1, {{50, 1, 1}, {1e9, 1, 1}}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory memory = {.rate = rows[i].rate};
        for (int side = 0; side < 2; side++)
            memory.sides[side] = (struct memory_side){.demanded = rows[i].sides[side].demanded,
                .share = rows[i].sides[side].share,
                .overlap = rows[i].sides[side].overlap};
        struct memory_use use = {.accesses = rows[i].accesses, .waiting = rows[i].waiting};
        if (!(fabs(speed_of(&memory, &use) - rows[i].speed) <= 1e-12))
            fail_msg("row %zu: speed %g", i, speed_of(&memory, &use));
    }
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
        memory.sides[0] = (struct memory_side){.demanded = demanded, .share = 1, .overlap = 1};
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
