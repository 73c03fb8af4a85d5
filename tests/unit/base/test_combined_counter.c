/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the combination of a coarse and a fine count with a known true value. */

#include "base/combined_counter.h"
#include "unit.h"

#define MS   UINT64_C(1000000)
#define STEP (10 * MS)

/* A CPU that is idle at times; all times are in nanoseconds. */
struct cpu {
    struct ss_combined_counter counter;
    uint64_t idle;   /* true value */
    uint64_t fine;   /* fine count of completed stays */
    uint64_t open;   /* idle time of the current stay */
    uint64_t missed; /* part of each stay that the fine count lacks */
    uint64_t shift;  /* phase of the coarse steps */
};

static void stay_idle(struct cpu *cpu, uint64_t length) {
    cpu->idle += length;
    cpu->open += length;
}

static void wake(struct cpu *cpu) {
    if (cpu->open > 0)
        cpu->fine += cpu->open - cpu->missed;
    cpu->open = 0;
}

static uint64_t coarse(const struct cpu *cpu) {
    return (cpu->idle + cpu->shift) / STEP * STEP;
}

/* Returns the error of the result in milliseconds. */
static double read_error(struct cpu *cpu, bool prompt) {
    struct ss_combined_reading reading = {
        .coarse = coarse(cpu), .step = 2 * STEP, .fine = cpu->fine, .fine_is_current = prompt};
    uint64_t result = ss_combined_counter_read(&cpu->counter, &reading);
    assert_in_range(result, reading.coarse, reading.coarse + 2 * STEP);
    return ((double)result - (double)(cpu->idle + cpu->shift)) / (double)MS;
}

TEST(combined_counter_without_fine_count_keeps_the_coarse_count) {
    struct cpu cpu = {.shift = 3 * MS};
    for (int i = 0; i < 100; i++) {
        stay_idle(&cpu, 7 * MS); /* the CPU never wakes, so `fine` stays 0 */
        assert_that(read_error(&cpu, false), >, -10);
    }
}

TEST(combined_counter_follows_short_stays_within_steps) {
    struct cpu cpu = {.shift = 4 * MS, .missed = 1500};
    double min = INFINITY, max = -INFINITY;
    srand(1);
    for (int i = 0; i < 2000; i++) {
        stay_idle(&cpu, MS + (uint64_t)(rand() % 3000) * 1000);
        wake(&cpu);
        double error = read_error(&cpu, true);
        if (i < 200)
            continue;
        min = fmin(min, error);
        max = fmax(max, error);
    }
    assert_that(min, >, -1.5);
    assert_that(max, <, 1.5);
}

/* In the end, the fine count is 20 ms too low, or 30 ms too high as if it included interrupts. */
TEST(combined_counter_does_not_accumulate_wrong_counts) {
    static const uint64_t missed[] = {2000, (uint64_t)-3000};
    for (size_t row = 0; row < sizeof missed / sizeof *missed; row++) {
        struct cpu cpu = {.missed = missed[row]};
        double error = 0;
        for (int i = 0; i < 10000; i++) {
            stay_idle(&cpu, 333333);
            wake(&cpu);
            error = read_error(&cpu, true);
        }
        if (!(fabs(error) < 1.5))
            fail_msg("row %zu: the error is %g ms", row, error);
    }
}

/*
 * If another CPU reads during a stay, the error is at most a step, and no error remains after the
 * wake-up.
 */
TEST(combined_counter_counts_an_unfinished_stay_by_its_steps) {
    struct cpu cpu = {.shift = 5 * MS};
    srand(2);
    for (int i = 0; i < 2000; i++) {
        stay_idle(&cpu, (uint64_t)(rand() % 4000) * 1000);
        wake(&cpu);
        read_error(&cpu, true);
    }
    for (int i = 0; i < 100; i++) {
        stay_idle(&cpu, (uint64_t)(rand() % 40000) * 1000);
        double open = read_error(&cpu, false);
        assert_that(open, >, -10);
        assert_that(open, <, 1.5);
        wake(&cpu);
        assert_that(fabs(read_error(&cpu, false)), <, 1.5);
        assert_that(fabs(read_error(&cpu, true)), <, 1.5);
    }
}

/* Holds for any two monotonic counts. */
TEST(combined_counter_result_never_falls) {
    struct ss_combined_counter counter = {0};
    struct ss_combined_reading reading = {.step = STEP};
    uint64_t last = 0;
    srand(3);
    for (int i = 0; i < 10000; i++) {
        reading.coarse += (uint64_t)(rand() % 3) * STEP;
        reading.fine += (uint64_t)(rand() % 25000) * 1000;
        reading.fine_is_current = rand() % 2;
        uint64_t result = ss_combined_counter_read(&counter, &reading);
        assert_that(result, >=, last);
        assert_in_range(result, reading.coarse, reading.coarse + STEP);
        last = result;
    }
}

/* A CPU that comes back online may count from 0 again. */
TEST(combined_counter_accepts_counts_that_restart) {
    struct ss_combined_counter counter = {0};
    struct ss_combined_reading reading = {.coarse = 900 * MS, .step = STEP, .fine = 50 * MS};
    ss_combined_counter_read(&counter, &reading);
    reading.fine = 0;
    assert_in_range(ss_combined_counter_read(&counter, &reading), 900 * MS, 910 * MS);
    reading.coarse = 0;
    assert_in_range(ss_combined_counter_read(&counter, &reading), 0, STEP);
}

UNIT_RUN
