/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate.h"

#include <time.h>

/*
 * Limits of a sample: it must be long compared with an interrupt or a preemption, and all samples
 * together must be short compared with an iteration.
 */
#define SAMPLE_MIN      (20 * SS_MILLISECOND)
#define SAMPLE_TARGET   (25 * SS_MILLISECOND)
#define EXTRAPOLATE_MIN (1 * SS_MILLISECOND) /* long enough to extrapolate from */
#define TRIES_MAX       3

static uint64_t units_from_double(double units) {
    if (!(units >= 1))
        return 1;
    return units >= (double)WORK_UNITS_MAX ? WORK_UNITS_MAX : (uint64_t)units;
}

static ss_time measure(const struct calibrate_bench *bench, uint64_t units) {
    ss_time begin = bench->clock(bench->context);
    bench->work(bench->context, units);
    return ss_time_since(bench->clock(bench->context), begin);
}

static uint64_t extrapolate(uint64_t units, ss_time took) {
    if (took < EXTRAPOLATE_MIN)
        return units_from_double((double)units * 8);
    return units_from_double((double)units * (double)SAMPLE_TARGET / (double)took);
}

uint64_t calibrate_units(const struct calibrate_bench *bench, ss_time length) {
    uint64_t units = 1024;
    ss_time best = measure(bench, units);

    while (best < SAMPLE_MIN && units < WORK_UNITS_MAX) {
        units = extrapolate(units, best);
        best = measure(bench, units);
    }

    /* Disturbances can only make a sample longer, so use the shortest one. */
    for (int try = 1; try < TRIES_MAX; try++) {
        ss_time took = measure(bench, units);
        best = took < best ? took : best;
    }

    return units_from_double((double)units * (double)length / (double)(best ? best : 1));
}

static void do_work(void *context, uint64_t units) {
    work_do(context, units);
}

uint64_t calibrate_work(const struct work_memory *memory, ss_time length) {
    struct worker worker;
    work_begin(&worker, memory, 0);
    struct calibrate_bench bench = {do_work, calibrate_thread_clock, &worker};
    return calibrate_units(&bench, length);
}

ss_time calibrate_thread_clock(void *context) {
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (ss_time)now.tv_sec * SS_SECOND + (ss_time)now.tv_nsec;
}
