/* SPDX-License-Identifier: Apache-2.0 */

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "heap.h"
#include "record/documents.h"
#include "record/journal.h"
#include "record/recorder.h"
#include "record/summary.h"
#include "tree.h"

#define START (40 * SS_SECOND)
#define WALL  INT64_C(1500000000000000000) /* 2017-07-14T02:40:00Z, at START */

static ss_time simulated_now = START;

static ss_time now(void *context) {
    return *(const ss_time *)context;
}

static int64_t wallclock(void *context) {
    return WALL + (int64_t)(*(const ss_time *)context - START);
}

static struct ss_plan plan;
static struct ss_board *board;
static struct ss_recorder recorder;
static struct ss_outcome outcome;

static const struct ss_module heads[SS_KINDS] = {
    [SS_KIND_TRACE] = {.name = "constant"},
    [SS_KIND_FEEDBACK] = {.name = "realtime"},
    [SS_KIND_CONTROL] = {.name = "rbpid"},
    [SS_KIND_SPACE] = {.name = "even"},
    [SS_KIND_DITHERING] = {.name = "averageq"},
};

static bool with_counters;
static uint32_t cpu_count = 1;

static void open_record(void) {
    static const struct ss_clock clock = {now, wallclock, &simulated_now};
    static const char *words[] = {"serial", NULL};
    static char first[] = "0", second[] = "1", program[] = "sssim";
    static char *numbers[] = {first, second, NULL};
    static char *arguments[] = {program, NULL};
    static char *command[] = {program, NULL};
    static struct ss_command_line lines[] = {
        {.words = command, .count = 1}, {.words = command, .first = 1, .count = 1}};
    static char folder[4096];
    struct ss_error error = {0};
    tree_new();
    snprintf(folder, sizeof folder, "%s", tree_path("record"));
    simulated_now = START;
    plan = (struct ss_plan){.instances = 2,
        .cpu_count = 1,
        .words = words,
        .numbers = numbers,
        .arguments = arguments,
        .record = folder,
        .clock = &clock,
        .counters = with_counters,
        .has_iteration = true,
        .commands.lines = lines,
        .commands.line_count = 2,
        .reader = {.file = -1}};
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
        ss_cpus_add(&plan.cpus, cpu);
    for (int kind = 0; kind < SS_KINDS; kind++)
        plan.set.modules[kind].head = &heads[kind];
    board = ss_board_allocate(plan.instances, 0, true);
    assert_non_null(board);
    ss_outcome_open(&outcome);
    assert_succeeds(ss_recorder_open(&recorder, &plan, &error), error);
    ss_recorder_set_origin(&recorder, START);
}

static void close_record(void) {
    struct ss_error error = {0};
    ss_recorder_close(&recorder, board, &outcome);
    assert_succeeds(ss_record_finish(&plan, &outcome, &error), error);
    ss_outcome_close(&outcome);
    free(board);
}

static const char *read_record(const char *name) {
    static char text[1 << 18];
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", plan.record, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void assert_has(const char *name, const char *part) {
    const char *text = read_record(name);
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in %s:\n%s", part, name, text ? text : "(missing)");
}

TEST(recorded_times_are_in_simulated_time) {
    open_record();
    struct ss_journal journal = {.ring = ss_board_ring(board, 1), .open = true};
    journal.present = (struct ss_interval){.begin = START + SS_SECOND,
        .planned = 20 * SS_MILLISECOND,
        .target = 0.5,
        .load = 0.25,
        .global_duty = 0.75,
        .local_duty = 1,
        .state = SS_STATE_RUNNING};
    simulated_now = START + SS_SECOND + 30 * SS_MILLISECOND;
    ss_journal_end(&journal, simulated_now);
    struct ss_monitor_sample sample = {.time = simulated_now,
        .load = {.load = 0.25, .load_ticks = NAN},
        .pressure = NAN,
        .target = 0.5,
        .duty = 0.75,
        .counted = true};
    ss_recorder_sample(&recorder, &sample);
    ss_recorder_set_origin(&recorder, SS_TIME_NEVER); /* before the warm-up */
    ss_recorder_iteration(&recorder, &(struct ss_iteration){.start = START, .end = simulated_now});
    ss_recorder_set_origin(&recorder, START);
    ss_recorder_iteration(
        &recorder, &(struct ss_iteration){.instance = 1, .start = START, .end = simulated_now});
    ss_recorder_event(
        &recorder, &(struct ss_record_event){simulated_now, "instance_started", 1, NULL, NAN});
    simulated_now = START + 2 * SS_SECOND;
    ss_outcome_warn(&outcome, "late");
    close_record();
    assert_has("decisions.csv", "\n2017-07-14T02:40:01.000Z,1.000000,1,running,0.020000,0.030000,"
                                "0.500000,0.250000,0.750000,1.000000\n");
    assert_has("samples.csv", "\n2017-07-14T02:40:01.030Z,1.030000,0.500000,0.250000,0.250000,");
    assert_string_equal(read_record("iterations.csv"), "instance,start,end\n1,0.000000,1.030000\n");
    assert_has("events.jsonl", "{\"time\":\"2017-07-14T02:40:01.030Z\",\"elapsed_seconds\":1.03");
    assert_has("events.jsonl", "{\"time\":\"2017-07-14T02:40:02.000Z\",\"elapsed_seconds\":2.00");
    assert_has("summary.json", "\"late\"");
    assert_null(read_record("interrupted"));
}

static void record_iteration(ss_time ms, ss_time length_us, uint32_t line) {
    ss_recorder_iteration(&recorder, &(struct ss_iteration){.line = line,
                                         .start = START,
                                         .end = START + ms * SS_MILLISECOND,
                                         .length = length_us * SS_MICROSECOND,
                                         .counted = true});
}

/* Rows are by second and command, followed by those of the whole run. */
TEST(iteration_times_are_kept_in_buckets) {
    open_record();
    record_iteration(100, 2000, 0);
    record_iteration(999, 2000, 1);
    record_iteration(1000, 4000, 0);
    record_iteration(3500, 2000, 0);
    record_iteration(2100, 1, 0); /* read late */
    ss_recorder_iteration(&recorder, &(struct ss_iteration){.end = START + 3600 * SS_MILLISECOND});
    close_record();
    assert_string_equal(read_record("iteration-times.csv"),
        "elapsed_seconds,command,bucket_seconds,iterations\n"
        "1.000000,0,0.001999872,1\n"
        "1.000000,1,0.001999872,1\n"
        "2.000000,0,0.003999744,1\n"
        "4.000000,0,0.000001000,1\n"
        "4.000000,0,0.001999872,1\n"
        ",0,0.000001000,1\n"
        ",0,0.001999872,2\n"
        ",0,0.003999744,1\n"
        ",1,0.001999872,1\n");
}

/* A killed run must lose only the current second. */
TEST(completed_seconds_are_written_without_further_iterations) {
    open_record();
    record_iteration(100, 2000, 0);
    simulated_now = START + 999 * SS_MILLISECOND;
    ss_recorder_flush(&recorder, board);
    assert_string_equal(
        read_record("iteration-times.csv"), "elapsed_seconds,command,bucket_seconds,iterations\n");
    simulated_now = START + SS_SECOND;
    ss_recorder_flush(&recorder, board);
    assert_has("iteration-times.csv", "iterations\n1.000000,0,0.001999872,1\n");
    close_record();
}

/* Must hold for any number and any length of iterations. */
TEST(recording_an_iteration_allocates_no_memory) {
    open_record();
    record_iteration(1, 1, 0);
    size_t before = heap_in_use();
    for (ss_time i = 0; i < 30000; i++)
        record_iteration(i, i * i, i % 2);
    assert_int_equal(heap_in_use(), before);
    close_record();
}

TEST(performance_counts_are_written_to_a_table) {
    struct ss_record_counts counts = {.at = START + SS_SECOND, .runnable = 3};
    for (int event = 0; event < SS_PERF_EVENTS; event++)
        counts.values[event] = event < 8 ? 1e12 + event + 0.4 : NAN;
    with_counters = true;
    open_record();
    ss_recorder_counts(&recorder, &counts);
    counts.at += SS_SECOND;
    counts.runnable = -1;
    counts.values[SS_PERF_CYCLES] = NAN;
    counts.values[SS_PERF_TASK_CLOCK] = 250.5 * SS_MILLISECOND;
    ss_recorder_counts(&recorder, &counts);
    close_record();
    assert_string_equal(read_record("counters.csv"),
        "time,elapsed_seconds,runnable,instructions,cycles,stalled_frontend,stalled_backend,"
        "l1d_references,l1d_misses,cache_references,cache_misses,page_faults,context_switches,"
        "migrations,task_clock_seconds,l2_references,l2_misses\n"
        "2017-07-14T02:40:01.000Z,1.000000,3,1000000000000,1000000000001,1000000000002,"
        "1000000000003,1000000000004,1000000000005,1000000000006,1000000000007,,,,,,\n"
        "2017-07-14T02:40:02.000Z,2.000000,,1000000000000,,1000000000002,1000000000003,"
        "1000000000004,1000000000005,1000000000006,1000000000007,,,,0.250500,,\n");
    with_counters = false;
    open_record();
    close_record();
    assert_null(read_record("counters.csv"));
}

TEST(row_of_the_maximum_number_of_cpus_fits) {
    static struct ss_cpu_times items[2][SS_CPUS_MAX];
    static struct ss_load_meter meter = {
        .previous = {.counters = {.time = START}, .count = SS_CPUS_MAX, .items = items[0]},
        .last = {.counters = {.time = START + SS_SECOND}, .count = SS_CPUS_MAX, .items = items[1]},
    };
    struct ss_monitor_sample sample = {.time = START + SS_SECOND, .cpus = &meter};
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        items[0][cpu].cpu = items[1][cpu].cpu = cpu;
        items[1][cpu].idle = cpu * 100 * SS_MICROSECOND;
    }
    cpu_count = SS_CPUS_MAX;
    open_record();
    ss_recorder_sample(&recorder, &sample);
    ss_recorder_sample(&recorder, &sample);
    close_record();
    cpu_count = 1;
    const char *row = strchr(read_record("cpus.csv"), '\n') + 1;
    assert_memory_equal(row - 9, ",cpu8191\n", 9);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(row, "2017-07-14T02:40:01.000Z,1.000000,1.0000,0.9999,0.9998,", 55);
        row = strchr(row, '\n') + 1;
        assert_memory_equal(row - 15, ",0.1810,0.1809\n", 15);
    }
    assert_true(!*row);
}

/* Decisions were made too fast, and samples did not fit on the disk. */
TEST(lost_lines_of_a_record_are_counted) {
    open_record();
    atomic_store(&ss_board_ring(board, 1)->lost, 3);
    recorder.files[SS_RECORD_SAMPLES].lost = 2;
    close_record();
    assert_int_equal(outcome.lines_lost, 3 + 2);
}

/* Describing the machine would execute a program. */
TEST(simulated_run_is_marked_and_does_not_describe_this_machine) {
    struct rusage children;
    open_record();
    close_record();
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &children), 0);
    assert_int_equal(children.ru_minflt, 0);
    assert_null(read_record("platform.json"));
    assert_has("plan.json", "\n  \"started\": \"2017-07-14T02:40:00");
    assert_has("plan.json", "\n  \"simulated\": true");
}

UNIT_RUN
