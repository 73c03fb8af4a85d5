/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "burn_work.c"
#include "calibrate.c"

/* A machine on which work takes a known time, except in disturbed samples. */
struct machine {
    double unit; /* nanoseconds */
    double now;
    unsigned stretches;
    unsigned disturbed; /* bit set of disturbed samples, which take three times as long */
    double spent;
};

static void machine_work(void *context, uint64_t units) {
    struct machine *machine = context;
    double took = (double)units * machine->unit;
    if (machine->disturbed & 1u << machine->stretches++ % 32)
        took *= 3;
    machine->now += took;
    machine->spent += took;
}

static ss_time machine_clock(void *context) {
    return ss_time_from_double(((struct machine *)context)->now);
}

static uint64_t calibrate(struct machine *machine, ss_time length) {
    struct calibrate_bench bench = {machine_work, machine_clock, machine};
    return calibrate_units(&bench, length);
}

TEST(calibration_finds_the_work_rate) {
    for (double unit = 0.3; unit < 1000; unit *= 3) {
        struct machine machine = {.unit = unit};
        assert_near(
            (double)calibrate(&machine, 100 * SS_MILLISECOND), 1e8 / unit, 0.01 * (1e8 / unit));
        assert_that(machine.spent, <, 0.2e9);
    }
}

TEST(calibration_survives_a_disturbance) {
    for (unsigned stretch = 0; stretch < 12; stretch++) {
        struct machine machine = {.unit = 2, .disturbed = 3u << stretch};
        assert_near((double)calibrate(&machine, SS_SECOND), 5e8, 0.01 * (5e8));
        assert_that(machine.spent, <, 0.2e9);
    }
}

TEST(calibrated_work_stays_in_range) {
    struct machine fast = {.unit = 0};
    assert_int_equal(calibrate(&fast, SS_SECOND), WORK_UNITS_MAX);
    struct machine slow = {.unit = 1e6};
    assert_int_equal(calibrate(&slow, 1), 1);
    struct machine endless = {.unit = 2};
    assert_int_equal(calibrate(&endless, SS_TIME_NEVER - 1), WORK_UNITS_MAX);
}

TEST(thread_cpu_clock_advances) {
    struct work_memory none = {0};
    struct worker worker;
    work_begin(&worker, &none, 0);
    ss_time before = calibrate_thread_clock(NULL);
    work_do(&worker, 1000000);
    assert_that(calibrate_thread_clock(NULL), >, before);
}

/* Returns the number of steps after which a walk returns to its start. */
static uint64_t cycle_length(const struct work_memory *memory, uint64_t number) {
    struct worker worker;
    work_begin(&worker, memory, number);
    struct work_line *begin = worker.line;
    uint64_t steps = 0;
    do {
        work_do(&worker, 1);
        steps++;
    } while (worker.line != begin && steps <= memory->count);
    return steps;
}

TEST(memory_walk_visits_all_memory) {
    const uint64_t sizes[] = {WORK_MEMORY_MIN, 200, 4096, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ss_error error = {0};
        struct work_memory memory;
        assert_int_equal(work_memory_build(&memory, sizes[i], &error), 0);
        assert_int_equal(memory.count, sizes[i] / WORK_LINE_BYTES);
        assert_int_equal(cycle_length(&memory, i), memory.count);
        work_memory_free(&memory);
    }
}

TEST(excessive_memory_size_is_refused) {
    struct ss_error error = {0};
    struct work_memory memory;
    assert_fails(work_memory_build(&memory, UINT64_MAX, &error), error,
        "--memory: out of memory: use a smaller size");
    work_memory_free(&memory);
}

TEST(work_done_in_parts_gives_the_same_result) {
    struct work_memory none = {0};
    struct worker whole, parts;
    work_begin(&whole, &none, 7);
    work_begin(&parts, &none, 7);
    work_do(&whole, 1000);
    for (int i = 0; i < 10; i++)
        work_do(&parts, 100);
    assert_that(whole.mix, ==, parts.mix);
    work_begin(&parts, &none, 8);
    work_do(&parts, 1000);
    assert_that(whole.mix, !=, parts.mix);
}

UNIT_RUN
