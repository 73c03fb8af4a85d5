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

TEST(space_modules_follow_their_formulas) {
    static const struct {
        const char *module;
        uint32_t rank, count;
        double global, local;
    } rows[] = {
        {"space/even", 0, 3, 0.3, 0.3},
        {"space/even", 2, 3, 0.3, 0.3},
        {"space/null", 2, 3, 0.3, 0.3},
        /* 3 * 0.5 = 1.5: one instance always runs, one runs half the time, one never. */
        {"space/uneven", 0, 3, 0.5, 1},
        {"space/uneven", 1, 3, 0.5, 0.5},
        {"space/uneven", 2, 3, 0.5, 0},
        {"space/uneven", 0, 1, 0.3, 0.3},
        {"space/uneven", 999, 1000, 0, 0},
        {"space/uneven", 0, 1000, 0, 0},
        {"space/uneven", 999, 1000, 1, 1},
        /* In binary 22 * (15 / 22) is slightly less than 15. */
        {"space/uneven", 14, 22, 15.0 / 22, 1},
        {"space/uneven", 15, 22, 15.0 / 22, 0},
        {"space/uneven", 0, 3, 2.0 / 3, 1},
        {"space/uneven", 1, 3, 2.0 / 3, 1},
        {"space/uneven", 2, 3, 2.0 / 3, 0},
        /* Small differences are kept: 3 * (2/3 - 1e-9) leaves 1 - 3e-9 to the second. */
        {"space/uneven", 1, 3, 2.0 / 3 - 1e-9, 1 - 3e-9},
    };
    for (size_t i = 0; i < SIZE(rows); i++) {
        RIG rig = rig_open(rows[i].module, NULL, 1, 1);
        ss_time time = 1000000 * SS_SECOND; /* without rotation, the order stays */
        double duty = duty_at(&rig, rows[i].rank, rows[i].count, time, rows[i].global);
        bool is_exact = rows[i].local == 0 || rows[i].local == 1;
        if (!(fabs(duty - rows[i].local) <= (is_exact ? 0 : 1e-14)))
            fail_msg("row %zu: %.17g", i, duty);
    }
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
