/* SPDX-License-Identifier: Apache-2.0 */

#define FOLDER_VERSION "9.8.7"

#include "fleet.h"
#include "fleet_figures.h"
#include "fleet_plots.h"
#include "report_folder.h"

#define HEADING                                                                                    \
    "time,elapsed_seconds,target,load,error,load_ticks,user,system,irq,steal,iowait,idle,"         \
    "pressure,duty,counted\n"
#define TABLE                                                                                      \
    "node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,clock_error_" \
    "seconds\n"

/* 2026-11-24T00:00:00Z, the planned start */
#define START "1795478400"

static void write_plan(const char *name, unsigned cpus) {
    char text[200];
    snprintf(text, sizeof text, "{\"schema\": 2, \"measured\": {\"capacity_cpus\": %u}}", cpus);
    folder_write(name, text);
}

/* Node a has 2 CPUs. Node b has 1 CPU, starts 100 ms late, and its clock is 3 s ahead. Node c has
 * no record. */
static void write_fleet(void) {
    folder_open();
    folder_write("fleet.csv",
        TABLE "a,a,x.trace,done,\"\"," START ",0.000000,0.000100,unknown,\n"
              "b,b,y.trace,done,\"\"," START ",3.000000,0.000200,chrony,0.001\n"
              "c,c,\"x,1.trace\",failed,\"was \"\"lost\"\", somewhere\"," START ",,,,\n");
    write_plan("a/plan.json", 2);
    folder_write("a/samples.csv",
        HEADING "2026-11-23T23:59:59.000Z,-1.000000,,1.000000,,,,,,,,,,,0\n"
                "2026-11-24T00:00:00.000Z,0.000000,,1.000000,,,,,,,,,,,0\n"
                "2026-11-24T00:00:01.000Z,1.000000,0.500000,0.600000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:02.000Z,2.000000,0.500000,0.500000,,,,,,,,,,,1\n");
    write_plan("b/plan.json", 1);
    folder_write("b/samples.csv",
        HEADING "2026-11-24T00:00:04.100Z,1.000000,0.200000,0.100000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:05.100Z,2.000000,0.200000,0.300000,,,,,,,,,,,1\n");
}

static struct ssreport_fleet fleet; /* too large for the stack */
static struct ssreport_notes notes;

/* Reads what the test wrote to the folder. */
static void read_folder(void) {
    struct ss_error error = {0};
    notes = (struct ssreport_notes){0};
    assert_true(ssreport_fleet_is_in(folder_path));
    if (ssreport_fleet_read(&fleet, folder_path, &notes, &error) < 0)
        fail_msg("not read: %s", error.message);
}

static void read_fleet(void) {
    write_fleet();
    read_folder();
    assert_string_equal(notes.text, "");
    assert_int_equal(fleet.count, 3);
}

static void records_of_nodes_are_summed_up(void **state) {
    (void)state;
    read_fleet();
    assert_near(fleet.nodes[0].load, 0.55, 1e-9);
    assert_near(fleet.nodes[0].error, -0.05, 1e-9); /* its load is above the target */
    assert_near(fleet.nodes[0].error_abs, 0.05, 1e-9);
    assert_near(fleet.nodes[0].covered, 2, 1e-9);
    assert_near(fleet.nodes[1].error, 0, 1e-9);
    assert_near(fleet.nodes[1].error_abs, 0.1, 1e-9);
    /* In the first second, a has 2 CPUs and b 1 CPU from 0.1 s on. */
    assert_near(fleet.width, 1, 0);
    assert_near(fleet.bins[0].cpu, 2.9, 1e-6);
    assert_near(fleet.bins[0].load, 1.2 + 0.09, 1e-6);
    assert_near(fleet.bins[0].target, 1 + 0.18, 1e-6);
    assert_near(fleet.bins[1].load, 1 + 0.01 + 0.27, 1e-6);
    assert_int_equal(fleet.rows, 3);
    assert_near(fleet.map[1][1].load, 0.28, 1e-6);
    ssreport_fleet_free(&fleet);
}

static void late_starts_are_measured_by_the_corrected_clock(void **state) {
    (void)state;
    read_fleet();
    assert_near(fleet.nodes[0].late, 0, 1e-6);
    assert_near(fleet.nodes[1].late, 0.1, 1e-6);
    ssreport_fleet_free(&fleet);
}

static void clocks_that_are_off_or_imprecise_are_not_trusted(void **state) {
    (void)state;
    struct ssreport_whole whole;
    read_fleet();
    assert_true(ssreport_fleet_trusts_clock(&fleet.nodes[0]));
    assert_false(ssreport_fleet_trusts_clock(&fleet.nodes[1]));
    assert_true(ssreport_fleet_trusts_clock(&fleet.nodes[2])); /* its clock was not measured */
    fleet.nodes[0].offset_error = 0.06;
    assert_true(ssreport_whole_of(&whole, &fleet));
    assert_int_equal(whole.untrusted, 2);
    assert_string_equal(fleet.nodes[1].clock, "chrony");
    assert_near(fleet.nodes[1].clock_error, 0.001, 1e-9);
    ssreport_fleet_free(&fleet);
}

static void only_the_node_without_a_record_has_failed(void **state) {
    (void)state;
    read_fleet();
    assert_false(fleet.nodes[0].failed || fleet.nodes[1].failed);
    assert_true(fleet.nodes[2].failed);
    assert_string_equal(fleet.nodes[2].reason, "was \"lost\", somewhere");
    assert_string_equal(fleet.nodes[2].trace, "x,1.trace");
    ssreport_fleet_free(&fleet);
}

static void node_whose_record_is_missing_fails_with_the_path(void **state) {
    (void)state;
    char reason[256];
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x.trace,done,\"\"," START ",0.000000,0.000100,,\n");
    read_folder();
    snprintf(reason, sizeof reason, "%s/a/plan.json: No such file or directory", folder_path);
    assert_true(fleet.nodes[0].failed);
    assert_string_equal(fleet.nodes[0].reason, reason);
    ssreport_fleet_free(&fleet);
}

static void load_of_all_nodes_is_compared_with_the_sum_of_targets(void **state) {
    (void)state;
    struct ssreport_whole whole;
    read_fleet();
    assert_true(ssreport_whole_of(&whole, &fleet));
    assert_int_equal(whole.nodes, 3);
    assert_int_equal(whole.measured, 2);
    assert_int_equal(whole.failed, 1);
    assert_near(whole.cpus, 3, 0);
    /* The third bin has only the end of b, which is too short to count. */
    assert_near(whole.duration, 2, 1e-9);
    assert_near(whole.load, (1.29 + 1.28) / 5.9, 1e-6);
    assert_near(whole.target, 2.38 / 5.9, 1e-6);
    assert_near(whole.error, (2.38 - 2.57) / 5.9, 1e-6);
    assert_near(whole.error_worst, -0.05, 1e-9);
    assert_near(whole.error_abs, (0.11 + 0.08) / 5.9, 1e-6);
    assert_near(whole.spread, 0.1, 1e-6);
    assert_near(whole.clock_error, 0.0002, 1e-9);
    ssreport_fleet_free(&fleet);
}

/* Node a pauses after 1.5 s for ten seconds. */
static void pauses_of_a_node_are_not_covered(void **state) {
    (void)state;
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x,done,,,,,,\n");
    write_plan("a/plan.json", 1);
    folder_write("a/events.jsonl", "{\"elapsed_seconds\":1.5,\"event\":\"paused\"}\n"
                                   "{\"elapsed_seconds\":11.5,\"event\":\"continued\"}\n");
    folder_write("a/samples.csv",
        HEADING "2026-11-24T00:00:01.000Z,1.000000,0.500000,0.500000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:12.500Z,12.500000,0.500000,0.100000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:13.500Z,13.500000,0.500000,0.300000,,,,,,,,,,,1\n");
    read_folder();
    assert_near(fleet.nodes[0].covered, 3, 1e-9);
    assert_near(fleet.nodes[0].ended, 13.5, 1e-9);
    assert_near(fleet.nodes[0].load, 0.3, 1e-9);
    assert_near(fleet.bins[5].cpu, 0, 0);
    assert_near(fleet.bins[11].cpu, 0.5, 1e-9);
    assert_near(fleet.bins[11].load, 0.05, 1e-9);
    ssreport_fleet_free(&fleet);
}

static void node_without_cpus_has_failed(void **state) {
    (void)state;
    write_fleet();
    write_plan("a/plan.json", 0);
    read_folder();
    assert_true(fleet.nodes[0].failed);
    assert_string_equal(
        fleet.nodes[0].reason, "its record does not say how many CPUs the node has");
    assert_near(fleet.bins[0].cpu, 0.9, 1e-6);
    ssreport_fleet_free(&fleet);
}

/* One digit too many must not make the replay last for months, nor a repeated row count twice. */
static void samples_with_impossible_times_are_left_out_and_noted(void **state) {
    (void)state;
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x,done,,,,,,\nb,b,x,done,,,,,,\n");
    for (int i = 0; i < 2; i++) {
        write_plan(i == 0 ? "a/plan.json" : "b/plan.json", 1);
        folder_write(i == 0 ? "a/events.jsonl" : "b/events.jsonl", "");
        folder_write(i == 0 ? "a/samples.csv" : "b/samples.csv",
            HEADING "2026-11-24T00:00:01.000Z,1.000000,0.500000,0.500000,,,,,,,,,,,1\n"
                    "2026-11-24T00:00:02.000Z,2000000.000000,0.500000,0.500000,,,,,,,,,,,1\n"
                    "2026-11-24T00:00:03.000Z,3.000000,0.500000,0.200000,,,,,,,,,,,1\n"
                    "2026-11-24T00:00:02.000Z,2.000000,0.500000,0.100000,,,,,,,,,,,1\n");
    }
    read_folder();
    assert_near(fleet.nodes[0].covered, 3, 1e-9);
    assert_near(fleet.nodes[0].load, 0.3, 1e-9);
    assert_near(fleet.width, 1, 0);
    assert_ptr_equal(strstr(notes.text, "a: samples.csv:3: invalid row, in "), notes.text);
    assert_non_null(strstr(notes.text, "; b: samples.csv:3: invalid row, in "));
    ssreport_fleet_free(&fleet);
}

/* However long the first notes are, the number of further nodes with faults is printed. */
static void faulty_nodes_are_counted_after_long_notes(void **state) {
    (void)state;
    static char table[4000], samples[2000];
    folder_open();
    snprintf(table, sizeof table, "%s%0600d\n%0600d\n", TABLE, 0, 0);
    snprintf(samples, sizeof samples,
        "%s%0600d\n%0600d\n2026-11-24T00:00:01.000Z,1,0.5,0.5,,,,,,,,,,,1\n", HEADING, 0, 0);
    for (int node = 1; node <= 5; node++) {
        char path[64];
        snprintf(table + strlen(table), sizeof table - strlen(table), "%060d,%d,x,done,,,,,,\n",
            node, node);
        snprintf(path, sizeof path, "%d/plan.json", node);
        write_plan(path, 1);
        snprintf(path, sizeof path, "%d/events.jsonl", node);
        folder_write(path, "");
        snprintf(path, sizeof path, "%d/samples.csv", node);
        folder_write(path, samples);
    }
    folder_write("fleet.csv", table);
    read_folder();
    assert_non_null(
        strstr(notes.text, "; 2 more nodes have invalid or incomplete lines of samples"));
    ssreport_fleet_free(&fleet);
}

/* After more than a day without samples, only the first one is in doubt. */
static void samples_after_a_long_gap_count(void **state) {
    (void)state;
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x,done,,,,,,\n");
    write_plan("a/plan.json", 1);
    folder_write("a/events.jsonl", "");
    folder_write("a/samples.csv",
        HEADING "2026-11-24T00:00:01.000Z,1.000000,0.500000,0.500000,,,,,,,,,,,1\n"
                "2026-11-26T00:00:00.000Z,172800.000000,0.500000,0.500000,,,,,,,,,,,1\n"
                "2026-11-26T00:00:01.000Z,172801.000000,0.500000,0.200000,,,,,,,,,,,1\n"
                "2026-11-26T00:00:03.000Z,172803.000000,0.500000,0.100000,,,,,,,,,,,1\n");
    read_folder();
    assert_near(fleet.nodes[0].covered, 4, 1e-9);
    assert_near(fleet.nodes[0].load, 0.225, 1e-9);
    assert_ptr_equal(strstr(notes.text, "a: samples.csv:3: invalid row, in "), notes.text);
    ssreport_fleet_free(&fleet);
}

/* Each time that the bins are full, their width doubles, and no CPU second is lost. */
static void long_records_widen_the_bins(void **state) {
    (void)state;
    static char text[64 * 1024];
    size_t used = 0;
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x,done,,,,,,\n");
    write_plan("a/plan.json", 4);
    used += (size_t)snprintf(text, sizeof text, HEADING);
    for (int i = 1; i <= 500; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
            "2026-11-24T00:00:00.000Z,%d.000000,0.250000,0.500000,,,,,,,,,,,1\n", i);
    folder_write("a/samples.csv", text);
    read_folder();
    assert_near(fleet.width, 4, 0);
    assert_int_equal(ssreport_fleet_used(&fleet), 125);
    double cpu = 0, load = 0;
    for (size_t i = 0; i < SSREPORT_FLEET_BINS; i++) {
        cpu += fleet.bins[i].cpu;
        load += fleet.map[0][i].load;
    }
    assert_near(cpu, 2000, 1e-6);
    assert_near(load, 1000, 1e-6);
    ssreport_fleet_free(&fleet);
}

/* Samples of 5 s: two make a span; the last one is shorter. */
static void errors_over_spans_do_not_depend_on_the_length_of_samples(void **state) {
    (void)state;
    folder_open();
    folder_write("fleet.csv", TABLE "a,a,x,done,,,,,,\nb,b,x,done,,,,,,\n");
    write_plan("a/plan.json", 1);
    write_plan("b/plan.json", 1);
    folder_write("a/samples.csv",
        HEADING "2026-11-24T00:00:05.000Z,5.000000,0.500000,0.700000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:10.000Z,10.000000,0.500000,0.400000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:12.000Z,12.000000,0.500000,0.400000,,,,,,,,,,,1\n");
    folder_write("b/samples.csv",
        HEADING "2026-11-24T00:00:10.000Z,10.000000,0.500000,0.550000,,,,,,,,,,,1\n"
                "2026-11-24T00:00:12.000Z,12.000000,0.500000,0.400000,,,,,,,,,,,1\n");
    read_folder();
    assert_near(fleet.nodes[0].error_abs, (5 * 0.2 + 7 * 0.1) / 12, 1e-9);
    assert_near(fleet.nodes[0].apart, (10 * 0.05 + 2 * 0.1) / 12, 1e-9);
    assert_near(fleet.nodes[1].apart, fleet.nodes[0].apart, 1e-9);
    ssreport_fleet_free(&fleet);
}

#define PREDICTING 60

static struct ssreport_fleet_node predicting[PREDICTING];

/* The errors of `count` nodes are 0.01, 0.02 and so on; the first `same` of them follow "x". */
static const struct ssreport_fleet *predict_from(size_t count, size_t same) {
    static struct ssreport_fleet from;
    from = (struct ssreport_fleet){.nodes = predicting, .count = count};
    for (size_t i = 0; i < count; i++)
        predicting[i] = (struct ssreport_fleet_node){.trace = (char *)(i < same ? "x" : "y"),
            .covered = 1,
            .error = 0.01 * (double)(i + 1),
            .apart = 1};
    return &from;
}

static struct ssreport_prediction predict(const struct ssreport_fleet *from) {
    struct ssreport_fleet_node node = {.trace = (char *)"x", .covered = 1};
    struct ssreport_prediction prediction;
    assert_true(ssreport_predict(&prediction, from, &node));
    return prediction;
}

/* A further value is between the smallest and the largest of 19 with a probability of 0.9. */
static void errors_are_predicted_from_nineteen_nodes_with_the_same_trace(void **state) {
    (void)state;
    struct ssreport_prediction prediction = predict(predict_from(30, 19));
    assert_int_equal(prediction.nodes, 19);
    assert_false(prediction.any_trace);
    assert_near(prediction.error.low, 0.01, 1e-9);
    assert_near(prediction.error.high, 0.19, 1e-9);
    /* The same holds for the second smallest and the second largest of 39. */
    prediction = predict(predict_from(PREDICTING, 39));
    assert_near(prediction.error.low, 0.02, 1e-9);
    assert_near(prediction.error.high, 0.38, 1e-9);
}

static void errors_are_predicted_from_all_nodes_if_few_share_a_trace(void **state) {
    (void)state;
    struct ssreport_prediction prediction = predict(predict_from(30, 18));
    assert_int_equal(prediction.nodes, 30);
    assert_true(prediction.any_trace);
    assert_near(prediction.error.high, 0.3, 1e-9);
    prediction = predict(predict_from(18, 18));
    assert_int_equal(prediction.nodes, 0);
    assert_true(isnan(prediction.error.low));
}

static void failed_nodes_are_excluded_from_predictions(void **state) {
    (void)state;
    const struct ssreport_fleet *from = predict_from(20, 20);
    predicting[19].failed = true;
    assert_near(predict(from).error.high, 0.19, 1e-9);
    predicting[18].covered = 0;
    assert_int_equal(predict(from).nodes, 0);
}

static void nodes_within_their_intervals_are_counted(void **state) {
    (void)state;
    struct ssreport_prediction_count count = {0};
    struct ssreport_prediction prediction = predict(predict_from(19, 19)), none = {0};
    for (int i = 0; i < 20; i++) {
        struct ssreport_fleet_node node = {.trace = (char *)"x",
            .covered = 1,
            .error = i < 3 ? 0.2 : 0.19,
            .apart = i < 1 ? 0.9 : 1};
        assert_true(ssreport_prediction_add(&count, &prediction, &node));
    }
    struct ssreport_fleet_node absent = {.error = NAN}, other = {.covered = 1};
    assert_true(ssreport_prediction_add(&count, &prediction, &absent));
    assert_true(ssreport_prediction_add(&count, &none, &other));
    assert_true(ssreport_prediction_end(&count));
    assert_int_equal(count.nodes, 20);
    assert_int_equal(count.error, 17);
    assert_int_equal(count.apart, 19);
    /* The beta-binomial distribution of 20 with the parameters 18 and 2: 0.0121 for at most 12,
       0.0260 for at most 13. The binomial one would expect 15. */
    assert_int_equal(count.expected, 13);
}

/* A group has an interval of its own, so that the numbers of two groups are independent. */
static void nodes_of_several_traces_are_expected_together(void **state) {
    (void)state;
    struct ssreport_prediction_count count = {0};
    struct ssreport_prediction prediction = predict(predict_from(19, 19));
    for (int i = 0; i < 20; i++) {
        struct ssreport_fleet_node node = {.trace = (char *)(i % 2 ? "x" : "y"), .covered = 1};
        assert_true(ssreport_prediction_add(&count, &prediction, &node));
    }
    assert_int_equal(count.group_count, 2);
    assert_true(ssreport_prediction_end(&count));
    /* 0.0117 for at most 13, 0.0313 for at most 14. */
    assert_int_equal(count.expected, 14);
}

static size_t count_words(const char *text, const char *word) {
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        found++;
    return found;
}

/* Returns the pictures that `plot` draws of the fleet, as HTML; skips the test without gnuplot. */
static char *draw(void (*plot)(struct ssreport_page *page, const struct ssreport_fleet *fleet)) {
    char *text = NULL;
    size_t size = 0;
    struct ssreport_page page = {.stream = open_memstream(&text, &size)};
    assert_non_null(page.stream);
    plot(&page, &fleet);
    fclose(page.stream);
    if (page.pictures == 0) {
        free(text);
        SKIP("gnuplot: no picture can be drawn");
    }
    return text;
}

static void maps_show_when_nodes_failed(void **state) {
    (void)state;
    read_fleet();
    char *text = draw(ssreport_fleet_plot_map);
    assert_that(count_words(text, "crosses mark the ends of failed nodes"), >=, 2);
    free(text);
    ssreport_fleet_free(&fleet);
}

/* Of 101 nodes, one is far from the others. */
static void outliers_do_not_determine_the_color_scale_of_errors(void **state) {
    (void)state;
    static struct ssreport_fleet_node nodes[101];
    fleet = (struct ssreport_fleet){.nodes = nodes, .count = 101, .width = 1};
    for (int i = 0; i < 101; i++)
        nodes[i] = (struct ssreport_fleet_node){
            .covered = 1, .cpus = 1, .error = i == 0 ? -0.5 : 0.0001 * i, .late = NAN};
    char *text = draw(ssreport_fleet_plot_errors);
    assert_that(count_words(text, "the outermost bars include 1 more extreme node"), >=, 1);
    free(text);
}

static void error_of_each_node_is_drawn(void **state) {
    (void)state;
    read_fleet();
    char *text = draw(ssreport_fleet_plot_errors);
    assert_that(count_words(text, "Number of nodes by mean error"), >=, 1);
    free(text);
    ssreport_fleet_free(&fleet);
}

static void time_axes_are_labeled_alike(void **state) {
    (void)state;
    read_fleet();
    char *sum = draw(ssreport_fleet_plot_sum), *map = draw(ssreport_fleet_plot_map);
    assert_that(count_words(sum, "time in seconds"), ==, 1);
    assert_that(count_words(map, "time in seconds"), ==, 2);
    free(sum);
    free(map);
    ssreport_fleet_free(&fleet);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(records_of_nodes_are_summed_up),
    cmocka_unit_test(late_starts_are_measured_by_the_corrected_clock),
    cmocka_unit_test(clocks_that_are_off_or_imprecise_are_not_trusted),
    cmocka_unit_test(only_the_node_without_a_record_has_failed),
    cmocka_unit_test(node_whose_record_is_missing_fails_with_the_path),
    cmocka_unit_test(load_of_all_nodes_is_compared_with_the_sum_of_targets),
    cmocka_unit_test(pauses_of_a_node_are_not_covered),
    cmocka_unit_test(node_without_cpus_has_failed),
    cmocka_unit_test(samples_with_impossible_times_are_left_out_and_noted),
    cmocka_unit_test(samples_after_a_long_gap_count),
    cmocka_unit_test(faulty_nodes_are_counted_after_long_notes),
    cmocka_unit_test(long_records_widen_the_bins),
    cmocka_unit_test(errors_over_spans_do_not_depend_on_the_length_of_samples),
    cmocka_unit_test(errors_are_predicted_from_nineteen_nodes_with_the_same_trace),
    cmocka_unit_test(errors_are_predicted_from_all_nodes_if_few_share_a_trace),
    cmocka_unit_test(failed_nodes_are_excluded_from_predictions),
    cmocka_unit_test(nodes_within_their_intervals_are_counted),
    cmocka_unit_test(nodes_of_several_traces_are_expected_together),
    cmocka_unit_test(maps_show_when_nodes_failed),
    cmocka_unit_test(outliers_do_not_determine_the_color_scale_of_errors),
    cmocka_unit_test(error_of_each_node_is_drawn),
    cmocka_unit_test(time_axes_are_labeled_alike))
// clang-format on
