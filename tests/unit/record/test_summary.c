/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <signal.h>

#include "record/summary.h"
#include "text.h"
#include "tree.h"

/* A synthetic run; only the trace module has options. */
static struct ss_plan plan;
static struct ss_outcome outcome;

struct config {
    double load;
    const char *path;
};

static const struct ss_option trace_rows[] = {
    {.name = "load", .type = SS_OPTION_LOAD, .offset = offsetof(struct config, load)},
    {.name = "path", .type = SS_OPTION_TEXT, .offset = offsetof(struct config, path)},
    SS_OPTION_END};

static const struct ss_module heads[SS_KINDS] = {
    [SS_KIND_TRACE] = {.name = "constant", .options = trace_rows},
    [SS_KIND_FEEDBACK] = {.name = "realtime"},
    [SS_KIND_CONTROL] = {.name = "rbpid"},
    [SS_KIND_SPACE] = {.name = "even"},
    [SS_KIND_DITHERING] = {.name = "averageq"},
};

static int set_up(void **state) {
    static struct config config = {.load = 0.5};
    static char command[] = "say", word[] = "\"%\"";
    static const char *words[] = {command, word, NULL};
    plan = (struct ss_plan){.instances = 4, .cpu_count = 3, .words = words};
    for (int kind = 0; kind < SS_KINDS; kind++)
        plan.set.modules[kind].head = &heads[kind];
    plan.set.configs[SS_KIND_TRACE] = &config;
    plan.set.load_cpus = 3;
    plan.set.window = SS_WINDOW_DEFAULT;
    ss_cpus_add(&plan.cpus, 0);
    ss_cpus_add(&plan.cpus, 1);
    ss_cpus_add(&plan.cpus, 5);
    outcome = (struct ss_outcome){.ended_by = "duration",
        .duration_seconds = 20.5,
        .samples = 41,
        .target_mean = 0.5,
        .load_mean = 0.505,
        .error_mean_percent = -0.5,
        .error_mse_e4 = 1.25,
        .error_p95_percent = 2.75,
        .settling_seconds = 1.5,
        .duty_mean = 0.375,
        .steal_mean = 0.125,
        .switches_per_second = 74.5,
        .iterations = 12,
        .rate = {0.625, 0.0001, 0.5, NAN},
        .own_cpu = 0.0625,
        .wake_p50_us = 55,
        .wake_p99_us = 250,
        .wake_max_us = 1001};
    ss_evidence_clear(&outcome.evidence);
    outcome.verdict = ss_verdict_reach(&outcome.evidence);
    return 0;
}

static int tear_down(void **state) {
    ss_ends_free(&outcome.ends);
    return 0;
}

#define SUMMARY_TEST(name) TEST_WITH(name, set_up, tear_down)

/* Returns the output, which is valid until the next call. */
static const char *printed(
    void (*print)(FILE *, const struct ss_plan *, const struct ss_outcome *)) {
    print(text_begin(), &plan, &outcome);
    return text_end();
}

SUMMARY_TEST(json_summary_has_every_figure) {
    static const char *const lines[] = {"{\n  \"schema\": 2,\n  \"version\": \"",
        "\n  \"instances\": 4,\n", "\n  \"cpus\": \"0-1,5\",\n",
        "\n  \"duration_seconds\": 20.5,\n", "\n  \"samples\": 41,\n",
        "\n  \"target_mean\": 0.5,\n", "\n  \"load_mean\": 0.505,\n",
        "\n  \"error_mean_percent\": -0.5,\n", "\n  \"error_mse_e4\": 1.25,\n",
        "\n  \"error_p95_percent\": 2.75,\n", "\n  \"settling_seconds\": 1.5,\n",
        "\n  \"duty_mean\": 0.375,\n", "\n  \"steal_mean\": 0.125,\n",
        "\n  \"switches_per_second\": 74.5,\n", "\n  \"iterations\": 12,\n",
        "\n  \"iterations_per_second\": 0.625,\n", "\n  \"iterations_in_bursts\": 8,\n",
        "\n  \"iterations_left_out\": 3,\n", "\n  \"lines_unmatched\": 7,\n",
        "\n  \"own_cpu\": 0.0625,\n", "\n  \"ended_by\": \"duration\",\n"};
    outcome.iterations_in_bursts = 8;
    outcome.iterations_omitted = 3;
    outcome.lines_unmatched = 7;
    const char *text = printed(ss_summary_print_json);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_says(text, lines[i]);
    assert_says(text, "  \"command\": [\n    \"say\",\n    \"\\\"%\\\"\"\n  ],\n");
    assert_says(text, "  \"wake_lateness_us\": {\n    \"p50\": 55,\n    \"p99\": 250,\n"
                      "    \"max\": 1001\n  },\n");
    assert_says(text, "  \"warnings\": [],\n  \"verdict\": {\n    \"result\": \"valid\",\n");
    assert_says(text, "  \"instances_ended\": [],\n");
}

/* The text summary lists only the first ones. */
SUMMARY_TEST(json_summary_lists_all_cpus) {
    plan.cpus = (struct ss_cpus){0};
    for (uint32_t cpu = 0; cpu < 4096; cpu += 2)
        ss_cpus_add(&plan.cpus, cpu);
    assert_says(printed(ss_summary_print_json), ",4092,4094\",\n");
    assert_says(printed(ss_summary_print), ",...), load of the machine\n");
}

SUMMARY_TEST(json_summary_lists_modules_with_their_options) {
    const char *text = printed(ss_summary_print_json);
    /* Text options without a value are omitted. */
    assert_says(text, "\n  \"modules\": {\n    \"trace\": {\n      \"name\": \"constant\",\n"
                      "      \"options\": {\n        \"load\": 0.5\n      }\n    },\n");
    assert_says(text, "    \"dithering\": {\n      \"name\": \"averageq\",\n"
                      "      \"options\": {}\n    }\n  },\n");
    assert_says(text, "\"feedback\": {\n      \"name\": \"realtime\"");
    assert_says(text, "\"control\": {\n      \"name\": \"rbpid\"");
    assert_says(text, "\"window_seconds\": 0.5,");
    assert_says(text, "\"space\": {\n      \"name\": \"even\"");
}

SUMMARY_TEST(json_summary_says_how_times_count) {
    static const struct {
        enum ss_source source;
        const char *keys;
    } cases[] = {
        {SS_SOURCE_SYSTEM,
            "\"iowait\": \"idle\",\n    \"steal\": \"work\",\n    \"guest\": \"work\"\n"},
        {SS_SOURCE_RUNTIME,
            "\"iowait\": \"idle\",\n    \"steal\": null,\n    \"guest\": \"work\"\n"},
        {SS_SOURCE_SENSOR, "\"iowait\": null,\n    \"steal\": null,\n    \"guest\": null\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan.source.source = cases[i].source;
        const char *text = printed(ss_summary_print_json);
        assert_says(text, cases[i].keys);
    }
}

SUMMARY_TEST(summary_lists_warnings_and_what_feedback_counts) {
    plan.feedback_differs = true;
    snprintf(plan.found[SS_KIND_FEEDBACK], sizeof plan.found[0], "the statistics differ");
    ss_outcome_warn(&outcome, "first %d", 1);
    ss_outcome_warn(&outcome, "second");
    const char *text = printed(ss_summary_print_json);
    assert_says(text, "  \"warnings\": [\n    \"first 1\",\n    \"second\"\n  ],\n");
    text = printed(ss_summary_print);
    assert_says(text, "\nfeedback the statistics differ\n");
    assert_says(text, "warning: first 1\nwarning: second\nverdict: load valid: nothing found in ");
}

SUMMARY_TEST(changed_allowance_is_reported_with_the_first_one) {
    outcome.capacity_changed_seconds = NAN;
    assert_null(strstr(printed(ss_summary_print), "allowance"));
    assert_says(printed(ss_summary_print_json),
        "\n  \"allowance\": {\n    \"changes\": 0,\n    \"latest_cpus\": null,\n"
        "    \"changed_seconds\": null\n  },\n");
    outcome.capacity = (struct ss_capacity){.first = 1, .latest = 1.6, .changes = 3};
    outcome.capacity_changed_seconds = 12.25;
    const char *text = printed(ss_summary_print);
    assert_says(text, "\nallowance              1.600 CPU ");
    assert_says(text, "the latest of 3 changes\n");
    assert_says(printed(ss_summary_print_json),
        "\n  \"allowance\": {\n    \"changes\": 3,\n    \"latest_cpus\": 1.6,\n"
        "    \"changed_seconds\": 12.25\n  },\n");
}

SUMMARY_TEST(high_own_cpu_time_causes_a_warning) {
    static const struct {
        double own_cpu;
        uint64_t samples;
        int warnings;
    } rows[] = {{0.05, 41, 0}, {NAN, 41, 0}, {1.9, 0, 0}, {1.9, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome.own_cpu = rows[i].own_cpu;
        outcome.samples = rows[i].samples;
        ss_outcome_warn_of_own(&outcome);
        assert_int_equal(outcome.warning_count, rows[i].warnings);
    }
    assert_says(outcome.warnings[0], "190 % of one CPU");
}

SUMMARY_TEST(excess_warnings_are_counted) {
    for (int i = 0; i < SS_WARNINGS_MAX + 3; i++)
        ss_outcome_warn(&outcome, "%d", i);
    assert_int_equal(outcome.warning_count, SS_WARNINGS_MAX + 1);
    assert_string_equal(outcome.warnings[SS_WARNINGS_MAX - 1], "15");
    assert_string_equal(outcome.warnings[SS_WARNINGS_MAX], "and 3 more warnings");
}

SUMMARY_TEST(warning_has_room_for_a_path_and_is_cut_visibly) {
    char path[SS_WARNING_SIZE + 1];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    ss_outcome_warn(&outcome, "%.700s: the end", path);
    assert_string_equal(outcome.warnings[0] + 700, ": the end");
    ss_outcome_warn(&outcome, "%s: the end", path);
    assert_int_equal(strlen(outcome.warnings[1]), SS_WARNING_SIZE - 1);
    assert_string_equal(outcome.warnings[1] + SS_WARNING_SIZE - 5, "x...");
}

/*
 * Counts iterations for three instances of one command and one of another; instance 1 is the
 * slowest of the three.
 */
static void count_iterations(void) {
    static char say[] = "say", word[] = "what\n%", other[] = "other";
    static char *first[] = {say, word, NULL}, *second[] = {other, NULL};
    static struct ss_command_line lines[] = {
        {.words = first, .first = 0, .count = 3}, {.words = second, .first = 3, .count = 1}};
    static struct ss_iteration_outcome of_lines[] = {
        {6, {0.3, 0.01, 1.5, NAN}, {0.25, 0.0125, 0.24, 0.26, 0.2725}},
        {1, {0.05, 0, 0, NAN}, {123.456, NAN, 123, 124, 125}}};
    static struct ss_iteration_outcome of_instances[] = {
        {2, {0.1, 0, 0, NAN}, {0.25, NAN, NAN, NAN, NAN}},
        {1, {0.05, 0, 0, NAN}, {0.5, NAN, NAN, NAN, NAN}},
        {3, {0.15, 0, 0, NAN}, {0.125, NAN, NAN, NAN, NAN}},
        {1, {0.05, 0, 0, NAN}, {NAN, NAN, NAN, NAN, NAN}}};
    static char texts[][2] = {"0", "1", "2", "3"};
    static char *numbers[] = {texts[0], texts[1], texts[2], texts[3]};
    plan.numbers = numbers;
    plan.commands.lines = lines;
    plan.commands.line_count = 2;
    outcome.iteration_times = of_lines[0].times;
    outcome.per_command = of_lines;
    outcome.per_instance = of_instances;
}

SUMMARY_TEST(summary_shows_figures_of_each_command) {
    count_iterations();
    const char *text = printed(ss_summary_print);
    assert_says(text, "\n3 x say what?%\n"
                      "  throughput           0.300 /s   6 iterations\n"
                      "  iteration time       250.0 ms   mean; standard deviation 12.5\n"
                      "                                  median 240.0, 95 % 260.0, 99 % 272.5\n"
                      "  each instance        0.050 /s   to 0.150 /s: instances 1 and 2\n"
                      "1 x other\n");
    assert_null(strstr(text, "\niteration time"));
    text = printed(ss_summary_print_json);
    assert_says(text, "\n  \"iteration_seconds\": {\n    \"mean\": 0.25,\n    \"deviation\": "
                      "0.0125,\n    \"median\": 0.24,\n    \"p95\": 0.26,\n    \"p99\": "
                      "0.2725\n  },\n");
    assert_says(text, "    {\n      \"command\": [\n        \"other\"\n      ],\n      "
                      "\"instances\": 1,\n      \"iterations\": 1,\n      "
                      "\"iterations_per_second\": 0.05,\n      "
                      "\"iterations_per_second_uncertainty\": 0,\n      "
                      "\"iterations_per_second_bound\": null,\n      "
                      "\"iterations_estimated\": 0,\n      \"iteration_seconds\": {\n        "
                      "\"mean\": 123.456,\n        \"deviation\": null,\n");
    assert_says(text, "    {\n      \"instance\": 3,\n      \"command\": 1,\n      "
                      "\"iterations\": 1,\n      \"iterations_per_second\": 0.05,\n      "
                      "\"iterations_per_second_uncertainty\": 0,\n      "
                      "\"iterations_per_second_bound\": null,\n      "
                      "\"iterations_estimated\": 0,\n      "
                      "\"iteration_seconds_mean\": null\n    }\n  ],\n");
}

/* Numbers the instances of set_up() from 0 to 3, and records the end of some of them. */
static void end_instances(const struct ss_end *ends, size_t count) {
    static char texts[][2] = {"0", "1", "2", "3"};
    static char *numbers[] = {texts[0], texts[1], texts[2], texts[3]};
    plan.numbers = numbers;
    for (size_t i = 0; i < count; i++)
        ss_ends_add(&outcome.ends, &ends[i]);
}

SUMMARY_TEST(dead_instance_is_reported_in_the_summary) {
    static const struct ss_end ends[] = {
        {.instance = 2, .seconds = 3.25, .status = 7 << 8},
        {.instance = 1, .seconds = 1.5, .status = SIGSEGV | 0x80},
        {.instance = 3, .seconds = 9, .status = 0},
    };
    end_instances(ends, 3);
    const char *text = printed(ss_summary_print);
    assert_says(text, "\nended early                3      of 4 instances\n"
                      "  instance 1 after 1.50 s: killed by SIGSEGV (core dumped)\n"
                      "  instance 2 after 3.25 s: exit status 7\n");
    text = printed(ss_summary_print_json);
    assert_says(text, "  \"instances_ended\": [\n    {\n      \"instance\": 1,\n"
                      "      \"elapsed_seconds\": 1.5,\n      \"exit_status\": null,\n"
                      "      \"signal\": \"SIGSEGV\",\n      \"core_dumped\": true\n    },\n");
    assert_says(text, "    {\n      \"instance\": 2,\n      \"elapsed_seconds\": 3.25,\n"
                      "      \"exit_status\": 7,\n      \"signal\": null,\n"
                      "      \"core_dumped\": false\n    },\n");
    /* If the run ends with its programs, those that succeeded did not end early. */
    outcome.ended_by = "workloads";
    text = printed(ss_summary_print);
    assert_says(text, "\nended early                2      of 4 instances\n");
    assert_null(strstr(text, "instance 3 after"));
    /* Only the first of many are listed. */
    for (int i = 200; i > 3; i--)
        end_instances(&(struct ss_end){.instance = i % 4, .seconds = i, .status = SIGKILL}, 1);
    text = printed(ss_summary_print);
    assert_says(text, "\n  instance 2 after 3.25 s: exit status 7\n");
    assert_says(text, "\n  and 196 more\n");
}

SUMMARY_TEST(text_summary_shows_the_same_figures_as_json) {
    static const char *const parts[] = {"4 instances on 3 CPUs (0-1,5)",
        "\ncounted                 20.5 s    ended by duration\n", "50.00 %", "50.50 %", "-0.500 %",
        "\nmean squared error     1.250 %^2  ", "\n95 % within             2.75 % ",
        "\nsettling time           1.50 s ", "\nthroughput             0.625 /s "};
    const char *text = printed(ss_summary_print);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_says(text, parts[i]);
    outcome.error_mean_percent = -4e-4; /* no sign if rounded to zero */
    assert_says(printed(ss_summary_print), "\nmean error             0.000 % ");
}

/* In a container, other programs on the machine may be part of the load. */
SUMMARY_TEST(first_line_says_whose_load_was_measured) {
    static const char *const loads[] = {
        [SS_SOURCE_SYSTEM] = "load of the machine",
        [SS_SOURCE_IDLE] = "load of the machine",
        [SS_SOURCE_RUNTIME] = "load of the machine",
        [SS_SOURCE_CGROUP] = "load of the control group",
        [SS_SOURCE_SENSOR] = "load from a sensor",
        [SS_SOURCE_OWN] = "load of these instances alone",
    };
    for (size_t i = SS_SOURCE_SYSTEM; i < sizeof loads / sizeof *loads; i++) {
        plan.source = (struct ss_source_request){.source = i, .argument = "sensor"};
        assert_says(printed(ss_summary_print), loads[i]);
    }
}

/*
 * The mean covers the whole time but the range only complete intervals, so the mean may be outside
 * of the range.
 */
SUMMARY_TEST(throughput_range_states_what_it_excludes) {
    static double parts[] = {6, 12, 9, 600};
    outcome.throughput = (struct ss_throughput){.parts = parts, .count = 4};
    outcome.throughput_count = 3;
    const char *text = printed(ss_summary_print);
    assert_says(text, " 1.000 to 2.000 /s in 3 intervals of 6 s\n");
    assert_says(text, " without the last 2.5 s\n");
    outcome.duration_seconds = 18.005;
    assert_null(strstr(printed(ss_summary_print), "without the last"));
    outcome.throughput_count = 1;
    assert_null(strstr(printed(ss_summary_print), "intervals"));
}

SUMMARY_TEST(throughput_without_completed_iterations_is_a_bound) {
    outcome.iterations = 0;
    outcome.rate = (struct ss_iteration_rate){NAN, NAN, 0, 0.2};
    const char *text = printed(ss_summary_print);
    assert_says(text, "\nthroughput         at most 0.200 /s: no iteration ended\n");
    assert_null(strstr(text, " nan"));
    text = printed(ss_summary_print_json);
    assert_says(text, "\"iterations_per_second\": null,\n"
                      "  \"iterations_per_second_uncertainty\": null,\n"
                      "  \"iterations_per_second_bound\": 0.2,\n");
}

/* A run that ended before counting has no figures, and no NaN may be printed. */
SUMMARY_TEST(run_without_counted_time_prints_no_figures) {
    ss_outcome_open(&outcome);
    outcome.ended_by = "workloads";
    outcome.duration_seconds = 0;
    plan.repeat = true;
    const char *text = printed(ss_summary_print);
    assert_says(text, "\niterations         not measured   ended in the counted time\n");
    assert_says(text, "\nthroughput         not measured   iterations per second\n");
    assert_null(strstr(text, " nan"));
    assert_null(strstr(text, "late wake-up"));
    assert_fits(text, 80);
    text = printed(ss_summary_print_json);
    assert_says(text, "\"iterations\": null,");
    assert_says(text, "\"p50\": null,");
    assert_null(strstr(text, " nan"));
}

SUMMARY_TEST(lines_of_the_text_summary_fit) {
    static double parts[] = {6, 12, 9, 600};
    count_iterations();
    outcome.throughput = (struct ss_throughput){.parts = parts, .count = 4};
    outcome.throughput_count = 3;
    outcome.rate = (struct ss_iteration_rate){0.99, 0.058, 0.95, NAN};
    assert_fits(printed(ss_summary_print), 80);
    outcome.samples = 1; /* has no spread */
    plan.instances = plan.cpu_count = 1;
    const char *text = printed(ss_summary_print);
    assert_says(text, "1 instance on 1 CPU (");
    assert_null(strstr(text, "1 samples"));
    assert_null(strstr(text, "within   "));
    assert_fits(text, 80);
}

SUMMARY_TEST(summary_file_is_written_completely_or_not_at_all) {
    struct ss_error error = {0};
    tree_new();
    const char *path = tree_write("summary.json", "what was there before");
    assert_int_equal(ss_summary_write(&plan, &outcome, path, &error), 0);
    tree_assert_file("summary.json", printed(ss_summary_print_json));
    /* No other file is left in the folder, and a missing folder is not created. */
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(tree_root), 0);
    assert_int_equal(ss_summary_write(&plan, &outcome, path, &error), -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_says(error.message, path);
    assert_says(error.message, "No such file or directory");
}

UNIT_RUN
