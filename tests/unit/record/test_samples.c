/* SPDX-License-Identifier: Apache-2.0 */

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
        assert_succeeds(ss_module_set_load(&set, kind, names[kind], options, &error), error);
    }
    set.instances = set.cpus = 1;
    set.window = SS_WINDOW_DEFAULT;
    assert_int_equal(ss_module_set_prepare(&set, &error), 0);
}

/*
 * Each reading comes half a second after the previous one, with 10 ms more of CPU time. An extra
 * reading between two samples would change both.
 */
static int read_next(void *context, struct ss_cpu_reading *reading) {
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
    board = ss_board_allocate(1, ss_module_set_memory(&set), false);
    assert_non_null(board);
    atomic_store(&board->control_start, START);
    bool group = source == SS_SOURCE_CGROUP;
    meter = (struct ss_load_meter){
        .read = read_next,
        .last = {.group = group, .items = &items[0]},
        .previous = {.group = group, .items = &items[1]},
    };
    readings = 0;
    ss_monitor_open(&monitor, &set, source, &meter, board);
    monitor.control_from = monitor.counted_from = START;
    ss_monitor_begin(&monitor, START, START);
}

static void close_monitor(void) {
    ss_monitor_close(&monitor);
    ss_module_set_release(&set);
    free(board);
}

static void record_samples(enum ss_source source, const char *const rows[], int count) {
    static struct ss_recorder recorder;
    char text[4096];
    open_monitor(source);
    static struct ss_plan plan;
    recorder = (struct ss_recorder){.plan = &plan, .origin = START};
    recorder.record.folder = open(tree_new(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    recorder.files[SS_RECORD_CPUS].file = -1;
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

/* Makes one of four samples 99 ms too long, and another 101 ms. */
static int read_late(void *context, struct ss_cpu_reading *reading) {
    static const ss_time excess[] = {0, 99, 99, 200};
    read_next(context, reading);
    reading->counters.time += excess[readings % 4] * SS_MILLISECOND;
    return 0;
}

TEST(samples_a_fifth_too_long_count_as_late) {
    open_monitor(SS_SOURCE_SYSTEM);
    meter.read = read_late;
    ss_monitor_begin(&monitor, START, START);
    for (int i = 1; i <= 8; i++)
        ss_monitor_sample(&monitor, START + (ss_time)i * SS_MONITOR_INTERVAL);
    assert_int_equal(monitor.figures.count, 8);
    assert_int_equal(monitor.late_samples, 2);
    close_monitor();
}

static ss_time read_at;

static int read_then(void *context, struct ss_cpu_reading *reading) {
    read_next(context, reading);
    reading->counters.time = read_at;
    return 0;
}

/*
 * The master begins 100 ms late, when the instance has already run for 60 ms and stopped. The first
 * sample has the load and the duty of the other 400 ms, in which it runs for 60 ms again.
 */
TEST(duty_of_a_sample_comes_from_its_readings) {
    open_monitor(SS_SOURCE_SYSTEM);
    meter.read = read_then;
    ss_board_join(board, 0);
    ss_board_permit(board, 0, START, true);
    ss_board_permit(board, 0, START + 60 * SS_MILLISECOND, false);
    read_at = START + 100 * SS_MILLISECOND;
    ss_monitor_begin(&monitor, START, read_at);
    ss_board_permit(board, 0, START + 200 * SS_MILLISECOND, true);
    ss_board_permit(board, 0, START + 260 * SS_MILLISECOND, false);
    read_at = START + SS_MONITOR_INTERVAL;
    ss_monitor_sample(&monitor, read_at);
    assert_near(monitor.latest.load.seconds, 0.4, 1e-9);
    assert_near(monitor.latest.duty, 60.0 / 400, 1e-5);
    assert_int_equal(monitor.next, START + 2 * SS_MONITOR_INTERVAL);
    close_monitor();
}

TEST(system_sample_needs_only_one_reading) {
    static const char *const rows[] = {
        "0.500000,0.500000,0.020000,0.480000,0.020000,0.020000,0.000000,0.000000,0.000000,0.000000,"
        "0.980000,0.125000,,1,1.000000",
        "1.000000,0.500000,0.040000,0.460000,0.040000,0.040000,0.000000,0.000000,0.000000,0.000000,"
        "0.960000,0.125000,,1,1.000000",
        "1.500000,0.500000,0.060000,0.440000,0.060000,0.060000,0.000000,0.000000,0.000000,0.000000,"
        "0.940000,0.125000,,1,1.000000",
    };
    record_samples(SS_SOURCE_SYSTEM, rows, 3);
    /* The load is the run time; the other columns come from the ticks of the same reading. */
    record_samples(SS_SOURCE_RUNTIME, rows, 3);
}

TEST(group_sample_needs_only_one_reading) {
    static const char *const rows[] = {
        "0.500000,0.500000,0.020000,0.480000,,0.020000,0.000000,,,,0.980000,0.125000,,1,1.000000",
        "1.000000,0.500000,0.040000,0.460000,,0.040000,0.000000,,,,0.960000,0.125000,,1,1.000000",
        "1.500000,0.500000,0.060000,0.440000,,0.060000,0.000000,,,,0.940000,0.125000,,1,1.000000",
    };
    record_samples(SS_SOURCE_CGROUP, rows, 3);
}

/* A meter that reads a recorded /proc/stat, as if every half a second. */
struct tree_meter {
    struct ss_load_meter meter;
    ss_time next;
};

static int read_tree(void *context, struct ss_cpu_reading *reading) {
    struct tree_meter *tree = context;
    int why = ss_platform_cpu_times_read(&tree->meter.reader, reading);
    reading->counters.time = tree->next;
    tree->next += SS_MONITOR_INTERVAL;
    return why;
}

static void open_tree(struct tree_meter *tree, const struct ss_cpus *cpus, const char *stat) {
    struct ss_error error = {0};
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    tree_new();
    tree_write("proc/stat", stat);
    struct ss_platform_roots roots = {.proc = tree_path("proc")};
    assert_succeeds(ss_load_meter_open(&tree->meter, &request, cpus, &roots, &error), error);
    tree->meter.read = read_tree;
    tree->meter.context = tree;
    tree->next = START;
}

/*
 * Samples of 50 ticks. The first has 5 stolen ticks on CPU 1 and none on CPU 5, the second 10 and
 * 5. CPU 5 is missing from the third.
 */
static const char *const stats[] = {
    "cpu0 9 0 0 9\ncpu1 100 0 0 100 0 0 0 7\ncpu5 0 0 0 0\n",
    "cpu0 9 0 0 9\ncpu1 120 0 0 125 0 0 0 12\ncpu5 10 0 0 40\n",
    "cpu0 9 0 0 9\ncpu1 130 0 0 155 0 0 0 22\ncpu5 20 0 0 75 0 0 0 5\n",
    "cpu0 9 0 0 9\ncpu1 180 0 0 155 0 0 0 22\n",
};

#define ROWS                                                                                       \
    "1970-01-01T00:16:40.500Z,0.500000,0.5000,0.2000\n"                                            \
    "1970-01-01T00:16:41.000Z,1.000000,0.4000,0.3000\n"
#define LAST_ROW "1970-01-01T00:16:41.500Z,1.500000,1.0000,\n"

static ss_time tree_now(void *context) {
    return START;
}

static int64_t tree_wallclock(void *context) {
    return START;
}

/* Takes three samples and returns the run's figures. */
static struct ss_outcome record_cpus(
    struct tree_meter *tree, struct ss_plan *plan, struct ss_monitor *of, const char *table) {
    static const struct ss_clock clock = {tree_now, tree_wallclock, NULL};
    static struct ss_recorder recorder;
    struct ss_outcome outcome;
    struct ss_usage usage = {0};
    plan->clock = &clock;
    recorder = (struct ss_recorder){.plan = plan, .origin = START};
    for (int i = 0; i < SS_RECORD_FILES; i++)
        recorder.files[i].file = -1;
    recorder.record.folder = open(tree_path("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct ss_lines *lines = &recorder.files[SS_RECORD_CPUS];
    assert_int_equal(ss_lines_open(lines, recorder.record.folder, "cpus.csv"), 0);
    of->control_from = of->counted_from = START;
    ss_monitor_begin(of, START, START);
    for (int i = 1; i < 4; i++) {
        tree_write("proc/stat", stats[i]);
        ss_time before = of->latest.time;
        ss_monitor_sample(of, START + (ss_time)i * SS_MONITOR_INTERVAL);
        if (of->latest.time != before)
            ss_recorder_sample(&recorder, &of->latest);
    }
    ss_lines_close(lines);
    close(recorder.record.folder);
    tree_assert_file("cpus.csv", table);
    assert_that(tree->next, ==, START + 4 * SS_MONITOR_INTERVAL); /* one reading per sample */
    ss_outcome_open(&outcome);
    ss_outcome_take(&outcome, &(struct ss_outcome_input){.plan = plan,
                                  .board = board,
                                  .monitor = of,
                                  .usage = &usage,
                                  .end = START + 3 * SS_MONITOR_INTERVAL});
    return outcome;
}

/* The steal of a sample covers all its CPUs: 5 of 100 ticks, 15 of 100, 0 of 50. */
#define STEAL ((0.05 + 0.15 + 0) / 3)

static void warnings_of_steal(const struct ss_outcome *outcome, int expected) {
    int count = 0;
    for (int i = 0; i < outcome->warning_count; i++)
        count += strstr(outcome->warnings[i], "the hypervisor took 6.7 % of the CPU time") != NULL;
    assert_int_equal(count, expected);
}

static void prepare_plan(struct ss_plan *plan) {
    *plan = (struct ss_plan){.instances = 1, .cpu_count = 2};
    plan->set.modules[SS_KIND_CONTROL] = set.modules[SS_KIND_CONTROL];
    ss_cpus_add(&plan->cpus, 1);
    ss_cpus_add(&plan->cpus, 5);
}

TEST(cpu_loads_and_steal_come_from_the_same_reading) {
    static struct tree_meter tree;
    static struct ss_plan plan;
    load_set();
    prepare_plan(&plan);
    open_tree(&tree, &plan.cpus, stats[0]);
    board = ss_board_allocate(1, ss_module_set_memory(&set), false);
    atomic_store(&board->control_start, START);
    ss_monitor_open(&monitor, &set, SS_SOURCE_SYSTEM, &tree.meter, board);
    /* The third sample is dropped: a CPU is missing, so the load is unknown. */
    struct ss_outcome outcome = record_cpus(&tree, &plan, &monitor, ROWS);
    assert_near(outcome.steal_mean, (0.05 + 0.15) / 2, 1e-9);
    ss_outcome_close(&outcome);
    ss_load_meter_close(&tree.meter);
    close_monitor();
}

/* The load comes from a group, whose usage does not include stolen time. */
TEST(cpus_are_also_read_for_the_load_of_a_group) {
    static struct tree_meter tree;
    static struct ss_plan plan;
    open_monitor(SS_SOURCE_CGROUP);
    prepare_plan(&plan);
    open_tree(&tree, &plan.cpus, stats[0]);
    monitor.cpus = &tree.meter;
    readings = 0;
    struct ss_outcome outcome = record_cpus(&tree, &plan, &monitor, ROWS LAST_ROW);
    assert_near(outcome.steal_mean, STEAL, 1e-9);
    warnings_of_steal(&outcome, 0);
    /* With the CPUs as the source, stolen time is work and causes a warning. */
    monitor.source = SS_SOURCE_IDLE;
    ss_outcome_take(&outcome, &(struct ss_outcome_input){.plan = &plan,
                                  .board = board,
                                  .monitor = &monitor,
                                  .usage = &(struct ss_usage){0},
                                  .end = START + SS_SECOND});
    warnings_of_steal(&outcome, 1);
    ss_outcome_close(&outcome);
    ss_load_meter_close(&tree.meter);
    close_monitor();
}

TEST(own_cpu_time_without_a_sample_is_unknown) {
    static struct ss_plan plan;
    struct ss_outcome outcome;
    open_monitor(SS_SOURCE_SYSTEM);
    prepare_plan(&plan);
    struct ss_outcome_input input = {.plan = &plan,
        .board = board,
        .monitor = &monitor,
        .usage = &(struct ss_usage){0},
        .own = 10 * SS_MILLISECOND,
        .end = START + 10 * SS_MILLISECOND};
    ss_outcome_open(&outcome);
    ss_outcome_take(&outcome, &input);
    assert_true(isnan(outcome.own_cpu));
    ss_outcome_close(&outcome);
    ss_monitor_sample(&monitor, START + SS_MONITOR_INTERVAL);
    input.end = START + SS_MONITOR_INTERVAL;
    ss_outcome_open(&outcome);
    ss_outcome_take(&outcome, &input);
    assert_near(outcome.own_cpu, 0.02, 1e-9);
    ss_outcome_close(&outcome);
    close_monitor();
}

TEST(sensor_sample_needs_no_reading) {
    open_monitor(SS_SOURCE_SENSOR);
    atomic_store(&board->sensor_value, ss_word_from_double(0.25));
    ss_monitor_sample(&monitor, START + SS_MONITOR_INTERVAL);
    assert_int_equal(readings, 0);
    assert_near(monitor.latest.load.load, 0.25, 0);
    assert_near(monitor.latest.parts.capacity, 0, 0);
    close_monitor();
}

UNIT_RUN
