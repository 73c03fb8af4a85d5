/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "loop/module_set.h"
#include "measure/monitor.h"
#include "unit.h"

#define START (1000 * SS_SECOND)

static ss_time free_from, free_until;

/* Returns 0.5 for a second, then more than the machine can do, then a rounding error below 0. */
static void target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    target->load = time < SS_SECOND ? 0.5 : time < 2 * SS_SECOND ? 1.5 : -1e-9;
    target->free = time >= free_from && time < free_until;
    target->until = free_until;
}

static struct ss_module_set set = {
    .instances = 1,
    .cpus = 1,
    .modules[SS_KIND_TRACE].table.trace.target = target,
};
static struct ss_board *board;
static struct ss_load_meter meter;
static struct ss_monitor monitor;
static ss_time passed;

/* Reads a CPU that is always busy. */
static int read_busy(void *context, struct ss_cpu_reading *reading) {
    *reading = (struct ss_cpu_reading){
        .counters =
            {
                .time = START + passed,
                .set = 1,
                .capacity = 1,
                .used = passed,
                .busy_ticks = passed,
            },
        .pressure = NAN,
    };
    return 0;
}

static int open_monitor(void **state) {
    board = ss_board_allocate(1, 0, false);
    assert_non_null(board);
    atomic_store(&board->control_start, START);
    ss_board_join(board, 0);
    ss_board_permit(board, 0, START, true);
    meter = (struct ss_load_meter){.read = read_busy};
    passed = 0;
    free_from = free_until = 0;
    ss_monitor_open(&monitor, &set, SS_SOURCE_SYSTEM, &meter, board);
    monitor.control_from = monitor.counted_from = START;
    ss_monitor_begin(&monitor, START, START);
    return 0;
}

static void sample_at(ss_time time) {
    passed = time;
    ss_monitor_sample(&monitor, START + passed);
}

static void sample(int count) {
    for (int i = 0; i < count; i++)
        sample_at(passed + SS_MONITOR_INTERVAL);
}

static int close_monitor(void **state) {
    ss_monitor_close(&monitor);
    free(board);
    return 0;
}

#define MONITOR_TEST(name) TEST_WITH(name, open_monitor, close_monitor)

MONITOR_TEST(target_out_of_range_is_limited_and_kept_for_a_warning) {
    sample(1);
    assert_int_equal(atomic_load(&board->excess[SS_KIND_TRACE]), 0);
    sample(1);
    assert_near(monitor.latest.target, 0.5, 0);
    sample(2);
    assert_near(monitor.latest.target, 1, 0);
    assert_near(ss_figures_target_mean(&monitor.figures), 0.75, 1e-12);
    assert_near(ss_figures_error_mean_percent(&monitor.figures), -25, 1e-9);
    assert_near(ss_double_from_word(atomic_load(&board->excess[SS_KIND_TRACE])), 1.5, 0);
    sample(1);
    assert_near(monitor.latest.target, 0, 0);
}

MONITOR_TEST(mean_duty_omits_samples_without_instances) {
    sample(2);
    ss_board_permit(board, 0, START + passed, false);
    ss_board_leave(board, 0, SS_LIFE_ENDED);
    sample(1);
    assert_true(monitor.latest.counted && isnan(monitor.latest.duty));
    assert_int_equal(monitor.figures.count, 3);
    assert_near(ss_monitor_duty_mean(&monitor), 1, 1e-5);
    close_monitor(state);
    open_monitor(state);
    assert_true(isnan(ss_monitor_duty_mean(&monitor)));
}

/* A sample at an edge of a free section is partly in it. */
MONITOR_TEST(samples_in_free_sections_are_not_counted) {
    free_from = 1100 * SS_MILLISECOND;
    free_until = free_from + 10 * SS_MILLISECOND;
    sample(6);
    assert_int_equal(monitor.figures.count, 5);
    assert_int_equal(monitor.free_samples, 1);
    /* A section between the planned end of a sample, 3.5 s, and its end. */
    free_from = 3600 * SS_MILLISECOND;
    free_until = 3700 * SS_MILLISECOND;
    sample_at(3800 * SS_MILLISECOND);
    sample_at(4000 * SS_MILLISECOND);
    assert_int_equal(monitor.figures.count, 6);
    assert_int_equal(monitor.free_samples, 2);
    free_from = 5 * SS_SECOND;
    free_until = 6 * SS_SECOND;
    sample(6);
    assert_int_equal(monitor.figures.count, 10);
    assert_int_equal(monitor.free_samples, 4);
}

/*
 * An instance was idle while it was allowed to run. It got work and was stopped during the sample:
 * its own load is above the target, because control could not know.
 */
MONITOR_TEST(instances_that_ran_raise_no_doubt_about_their_stop) {
    for (enum ss_source source = SS_SOURCE_SYSTEM; source <= SS_SOURCE_OWN; source++) {
        if (source != SS_SOURCE_SYSTEM && source != SS_SOURCE_OWN)
            continue;
        close_monitor(state);
        open_monitor(state);
        monitor.source = source;
        atomic_store(&board->rows[0].life, SS_LIFE_ALIVE);
        atomic_store(&board->rows[0].global_duty, ss_word_from_double(0));
        ss_board_permit(board, 0, START + 100 * SS_MILLISECOND, false);
        sample(1);
        assert_near(monitor.latest.duty, 0.2, 0.01);
        assert_int_equal(
            monitor.latest.doubt, source == SS_SOURCE_OWN ? SS_DOUBT_NONE : SS_DOUBT_ABOVE);
        /* The next sample is above the target, although no instance was permitted to run. */
        sample(1);
        assert_int_equal(monitor.latest.doubt, SS_DOUBT_ABOVE);
    }
}

static double limit;

static int read_group(void *context, struct ss_cpu_reading *reading) {
    read_busy(context, reading);
    reading->counters.capacity = limit;
    return 0;
}

/* A group always uses one CPU. Its limit changes during the third sample and the fifth. */
MONITOR_TEST(changed_limits_are_counted_and_samples_have_their_mean) {
    set.load_cpus = 2;
    meter.read = read_group;
    limit = 2;
    ss_monitor_open(&monitor, &set, SS_SOURCE_CGROUP, &meter, board);
    ss_monitor_begin(&monitor, START, START);
    sample(2);
    assert_near(monitor.latest.load.load, 0.5, 1e-9);
    assert_int_equal(monitor.capacity.changes, 0);
    limit = 3;
    sample(1);
    assert_near(monitor.latest.load.load, 1 / 2.5, 1e-9);
    assert_int_equal(monitor.capacity.changes, 1);
    assert_int_equal(monitor.capacity.changed_at, START + passed);
    sample(1);
    assert_near(monitor.latest.load.load, 1 / 3.0, 1e-9);
    limit = 4;
    sample(2);
    assert_near(monitor.latest.load.load, 0.25, 1e-9);
    assert_int_equal(monitor.capacity.changes, 2);
    assert_near(monitor.capacity.first, 2, 0);
    assert_near(monitor.capacity.latest, 4, 0);
    set.load_cpus = 0;
}

static void begin_late(ss_time late) {
    close_monitor(NULL);
    open_monitor(NULL);
    passed = late;
    ss_monitor_begin(&monitor, START, START + late);
}

MONITOR_TEST(late_begin_leaves_out_short_samples) {
    begin_late(399 * SS_MILLISECOND);
    assert_that(monitor.next, ==, START + 500 * SS_MILLISECOND);
    assert_int_equal(monitor.lost_counted, 0);
    begin_late(700 * SS_MILLISECOND);
    assert_that(monitor.next, ==, START + SS_SECOND);
    assert_int_equal(monitor.lost_counted, 1);
    sample_at(SS_SECOND);
    assert_near(monitor.latest.load.seconds, 0.3, 1e-9);
    begin_late(950 * SS_MILLISECOND);
    assert_that(monitor.next, ==, START + 1500 * SS_MILLISECOND);
    assert_int_equal(monitor.lost_counted, 2);
    /* A short sample after a late one is left out, too. */
    begin_late(0);
    sample_at(999 * SS_MILLISECOND);
    assert_int_equal(monitor.lost_counted, 1);
    assert_that(monitor.next, ==, START + 1500 * SS_MILLISECOND);
    sample_at(1500 * SS_MILLISECOND);
    assert_near(monitor.latest.load.seconds, 0.501, 1e-9);
    assert_int_equal(monitor.figures.count, 2);
    assert_int_equal(monitor.late_samples, 1);
}

UNIT_RUN
