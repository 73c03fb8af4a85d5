/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample is made of, from the monitor's reading to its row in samples.csv. */

#include <fcntl.h>
#include <string.h>

#include "measure/monitor.h"
#include "modules.h"
#include "record/recorder.h"
#include "tree.h"

#define START (1000 * SS_SECOND)

static struct ss_module_set set;
static struct ss_board *board;
static struct ss_load_meter meter;
static struct ss_cpu_times items[2]; /* of the meter's two readings */
static struct ss_monitor monitor;
static int readings;

static void load_set(void) {
    static const char *const names[SS_KINDS] = {"constant", "realtime", "rbpid", "even", "stagger"};
    struct ss_error error = {0};
    set = (struct ss_module_set){0};
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        const char *options = kind == SS_KIND_TRACE ? "50%" : NULL;
        if (ss_module_set_load(&set, kind, names[kind], options, &error) < 0)
            fail_msg("%s", error.message);
    }
    set.instances = set.cpus = 1;
    set.window = SS_WINDOW_DEFAULT;
    assert_int_equal(ss_module_set_prepare(&set, &error), 0);
}

/*
 * Each reading comes half a second after the one before and finds 10 ms of its time more in use, so
 * whoever takes one between two samples changes what the samples say.
 */
static int read_next(void *context, struct ss_cpu_reading *reading) {
    (void)context;
    uint64_t number = (uint64_t)readings++;
    uint64_t busy = number * (number + 1) / 2 * 10 * SS_MILLISECOND;
    ss_time passed = number * SS_MONITOR_INTERVAL;
    struct ss_cpu_times *times = reading->items;
    *times = (struct ss_cpu_times){.user = busy, .idle = passed - busy, .used = busy};
    *reading = (struct ss_cpu_reading){
        .counters = {.time = START + passed, .set = 1, .capacity = 1, .used = busy},
        .group = reading->group,
        .parts = true,
        .count = 1,
        .items = times,
        .pressure = 0.125,
    };
    reading->counters.idle = times->idle;
    reading->counters.busy_ticks = busy;
    return 0;
}

static void open_monitor(enum ss_source source) {
    load_set();
    board = ss_board_allocate(1, ss_module_set_memory(&set));
    assert_non_null(board);
    atomic_store(&board->control_start, START);
    bool group = source == SS_SOURCE_CGROUP;
    meter = (struct ss_load_meter){
        .read = read_next,
        .last = {.group = group, .items = &items[0]},
        .before = {.group = group, .items = &items[1]},
    };
    readings = 0;
    ss_monitor_open(&monitor, &set, source, &meter, board);
    monitor.control_from = monitor.counted_from = START;
    ss_monitor_begin(&monitor, START);
}

static void close_monitor(void) {
    ss_monitor_close(&monitor);
    ss_module_set_release(&set);
    free(board);
}

/* Takes samples and compares what the record says of each. */
static void record_samples(enum ss_source source, const char *const rows[], int count) {
    static struct ss_recorder recorder;
    char text[4096];
    open_monitor(source);
    static struct ss_plan plan;
    recorder = (struct ss_recorder){.plan = &plan, .origin = START};
    recorder.record.folder = open(tree_new(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct ss_lines *lines = &recorder.files[SS_RECORD_SAMPLES];
    assert_int_equal(ss_lines_open(lines, recorder.record.folder, "samples.csv"), 0);
    for (int i = 1; i <= count; i++) {
        ss_monitor_sample(&monitor, START + (ss_time)i * SS_MONITOR_INTERVAL);
        ss_recorder_sample(&recorder, &monitor.latest);
        assert_int_equal(readings, i + 1);
    }
    ss_lines_close(lines);
    close(recorder.record.folder);
    FILE *file = fopen(tree_path("samples.csv"), "re");
    assert_non_null(file);
    for (int i = 0; i < count; i++) {
        assert_non_null(fgets(text, sizeof text, file));
        text[strcspn(text, "\n")] = '\0';
        assert_string_equal(strchr(text, ',') + 1, rows[i]);
    }
    fclose(file);
    assert_int_equal(monitor.lost, 0);
    close_monitor();
}

static void a_sample_of_the_system_is_one_reading(void **state) {
    (void)state;
    static const char *const rows[] = {
        "0.500000,0.500000,0.020000,0.480000,0.020000,0.020000,0.000000,0.000000,0.000000,0.000000,"
        "0.980000,0.125000,,1",
        "1.000000,0.500000,0.040000,0.460000,0.040000,0.040000,0.000000,0.000000,0.000000,0.000000,"
        "0.960000,0.125000,,1",
        "1.500000,0.500000,0.060000,0.440000,0.060000,0.060000,0.000000,0.000000,0.000000,0.000000,"
        "0.940000,0.125000,,1",
    };
    record_samples(SS_SOURCE_SYSTEM, rows, 3);
}

static void a_sample_of_a_group_is_one_reading(void **state) {
    (void)state;
    static const char *const rows[] = {
        "0.500000,0.500000,0.020000,0.480000,,0.020000,0.000000,,,,0.980000,0.125000,,1",
        "1.000000,0.500000,0.040000,0.460000,,0.040000,0.000000,,,,0.960000,0.125000,,1",
        "1.500000,0.500000,0.060000,0.440000,,0.060000,0.000000,,,,0.940000,0.125000,,1",
    };
    record_samples(SS_SOURCE_CGROUP, rows, 3);
}

static void a_sensor_needs_no_reading(void **state) {
    (void)state;
    open_monitor(SS_SOURCE_SENSOR);
    atomic_store(&board->sensor_value, ss_word_from_double(0.25));
    ss_monitor_sample(&monitor, START + SS_MONITOR_INTERVAL);
    assert_int_equal(readings, 0);
    assert_close(monitor.latest.load.load, 0.25, 0);
    assert_close(monitor.latest.parts.capacity, 0, 0);
    close_monitor();
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(a_sample_of_the_system_is_one_reading),
    cmocka_unit_test(a_sample_of_a_group_is_one_reading),
    cmocka_unit_test(a_sensor_needs_no_reading))
