/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/space.h>

#include "modules.h"

#define SIZE(array) (sizeof(array) / sizeof *(array))

static double duty_at(
    const struct rig *rig, uint32_t rank, uint32_t count, ss_time time, double global_duty) {
    const struct ss_space_module *module = (const void *)rig->head;
    struct ss_place place = {.rank = rank, .count = count, .time = time};
    double duty = module->local_duty(&rig->selves[0], &place, global_duty);
    assert_that(duty, >=, 0);
    assert_that(duty, <=, 1);
    return duty;
}

static double duty_of(const struct rig *rig, uint32_t rank, uint32_t count, double global_duty) {
    return duty_at(rig, rank, count, 0, global_duty);
}

static void assert_keeps_the_mean(const char *which, const char *options) {
    const uint32_t counts[] = {1, 2, 3, 7, 22, 1000};
    const double duties[] = {
        0, 1e-9, 1e-4, 0.1, 1.0 / 3, 0.5, 2.0 / 3, 15.0 / 22, 0.9, 1 - 1e-9, 1};
    RIG rig = rig_open(which, options, 1, 1);
    for (size_t i = 0; i < SIZE(counts); i++) {
        for (size_t j = 0; j < SIZE(duties); j++) {
            double sum = 0;
            for (uint32_t rank = 0; rank < counts[i]; rank++)
                sum += duty_at(&rig, rank, counts[i], 12345 * SS_SECOND, duties[j]);
            assert_near(sum / counts[i], duties[j], 1e-12);
        }
    }
}

TEST(every_space_module_keeps_the_mean_duty) {
    assert_keeps_the_mean("space/even", NULL);
    assert_keeps_the_mean("space/null", NULL);
    assert_keeps_the_mean("space/uneven", NULL);
    assert_keeps_the_mean("space/uneven", "7s");
}

TEST(even_gives_all_instances_the_same_duty) {
    RIG rig = rig_open("space/even", NULL, 1, 1);
    assert_that(duty_of(&rig, 0, 3, 0.3), ==, 0.3);
    assert_that(duty_of(&rig, 2, 3, 0.3), ==, 0.3);
}

TEST(null_space_returns_the_global_duty) {
    RIG rig = rig_open("space/null", NULL, 1, 1);
    assert_that(duty_of(&rig, 2, 3, 0.3), ==, 0.3);
}

/* 3 * 0.5 = 1.5: one instance always runs, one runs half the time, one never. */
TEST(uneven_fills_instances_one_after_the_other) {
    RIG rig = rig_open("space/uneven", NULL, 1, 1);
    assert_that(duty_of(&rig, 0, 3, 0.5), ==, 1);
    assert_near(duty_of(&rig, 1, 3, 0.5), 0.5, 1e-12);
    assert_that(duty_of(&rig, 2, 3, 0.5), ==, 0);
}

TEST(uneven_accepts_duties_at_the_bounds) {
    RIG rig = rig_open("space/uneven", NULL, 1, 1);
    for (uint32_t rank = 0; rank < 1000; rank++) {
        assert_that(duty_of(&rig, rank, 1000, 0), ==, 0);
        assert_that(duty_of(&rig, rank, 1000, 1), ==, 1);
    }
    assert_near(duty_of(&rig, 0, 1, 0.3), 0.3, 1e-15);
}

/* In binary 22 * (15 / 22) is slightly less than 15, and 3 * (0.1 + 0.2) slightly more than 0.9. */
TEST(uneven_gives_full_duties_despite_rounding_errors) {
    RIG rig = rig_open("space/uneven", NULL, 1, 1);
    volatile double duty = 15.0 / 22;
    assert_that(22 * duty, !=, 15);
    assert_that(duty_of(&rig, 14, 22, duty), ==, 1);
    assert_that(duty_of(&rig, 15, 22, duty), ==, 0);
    const double expected[] = {1, 1, 0};
    for (uint32_t rank = 0; rank < 3; rank++)
        assert_that(duty_of(&rig, rank, 3, 2.0 / 3), ==, expected[rank]);
    /* Small intended duties remain: 3 * (2/3 - 1e-9) leaves 1 - 3e-9 to the second. */
    assert_near(duty_of(&rig, 1, 3, 2.0 / 3 - 1e-9), 1 - 3e-9, 1e-14);
}

TEST(uneven_keeps_its_order_without_rotation) {
    RIG rig = rig_open("space/uneven", NULL, 1, 1);
    assert_that(duty_at(&rig, 0, 3, 1000000 * SS_SECOND, 1.0 / 3), ==, 1);
}

/* The first place advances by one every 10 s: 0, 1, 2, 0. */
TEST(uneven_rotates_the_first_instance) {
    RIG rig = rig_open("space/uneven", "10s", 1, 1);
    for (uint32_t turn = 0; turn < 7; turn++) {
        ss_time begin = turn * 10 * SS_SECOND;
        for (uint32_t rank = 0; rank < 3; rank++) {
            double expected = rank == turn % 3 ? 1 : rank == (turn + 1) % 3 ? 0.5 : 0;
            assert_near(duty_at(&rig, rank, 3, begin, 0.5), expected, 1e-12);
            assert_near(duty_at(&rig, rank, 3, begin + 10 * SS_SECOND - 1, 0.5), expected, 1e-12);
        }
    }
}

UNIT_RUN
