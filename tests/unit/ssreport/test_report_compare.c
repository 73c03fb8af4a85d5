/* SPDX-License-Identifier: Apache-2.0 */

#include "report_make.h"

#define STEPS 4

static const double loads[STEPS] = {0.6, 0.3, 0.3, 0.6};

/* Adds a staircase run with 10 s steps and these throughputs. */
static struct ssreport_run *add_run(
    struct ssreport_report *report, int set, const double throughputs[STEPS]) {
    report->runs = reallocarray(report->runs, report->run_count + 1, sizeof *report->runs);
    struct ssreport_run *run = &report->runs[report->run_count++];
    *run = (struct ssreport_run){.set = set, .figures.throughput = throughputs[0]};
    assert_that(asprintf(&run->record.name, "made-%zu", report->run_count), >, 0);
    run->record.has_iterations = true;
    run->record.first_end = INFINITY;
    run->steps.items = calloc(STEPS, sizeof *run->steps.items);
    run->steps.count = STEPS;
    for (size_t i = 0; i < STEPS; i++)
        run->steps.items[i] = (struct ssreport_step){.target = loads[i],
            .load = {.mean = loads[i]},
            .half = i < 2 ? 1 : 2,
            .throughput = throughputs[i]};
    return run;
}

static void set_word(char **word, const char *to) {
    free(*word);
    *word = to ? strdup(to) : NULL;
}

static struct ssreport_run *add_named(struct ssreport_report *report, int set, double throughput,
    const char *environment, double round) {
    struct ssreport_run *run =
        add_run(report, set, (double[]){throughput, throughput, throughput, throughput});
    set_word(&run->experiment, "throughput");
    set_word(&run->workload, "w");
    set_word(&run->method, "default");
    set_word(&run->environment, environment);
    run->round = round;
    return run;
}

static struct ssreport_report begin_sets(void) {
    struct ssreport_report report = begin_report();
    report.compares = true;
    return report;
}

static void the_title_asks_which_set_is_faster(void **state) {
    (void)state;
    static const struct {
        double one, other;
        size_t runs;
        const char *answer;
    } cases[] = {
        {11, 10, 6, "Yes: it is 10.0 % (10.0 to 10.0) higher; median of 6 pairs of runs."},
        {8, 10, 6, "No: it is 20.0 % (20.0 to 20.0) lower; median of 6 pairs of runs."},
        {10, 10, 6,
            "It is 0.0 % (0.0 to 0.0) higher, which is within the uncertainty; median of 6 pairs "
            "of runs."},
        {11, 10, 1, "It is 10.0 % higher; median of 1 pair of runs, too few for an interval."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ssreport_report report = begin_sets();
        strcpy(report.names[0], "new");
        strcpy(report.names[1], "old");
        for (size_t k = 0; k < cases[i].runs; k++) {
            double one = cases[i].one, other = cases[i].other;
            add_run(&report, 0, (double[]){one, one, one, one});
            add_run(&report, 1, (double[]){other, other, other, other});
        }
        finish_report(&report);
        assert_headline(
            &report, "Is the throughput of new higher than that of old?", cases[i].answer);
        ssreport_report_free(&report);
    }
}

/* A staircase passes each level twice; the two steps are never pooled. */
static void sets_are_compared_step_by_step(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    add_run(&report, 0, (double[]){2, 3, 4, NAN});
    add_run(&report, 1, (double[]){4, 2, 0, 1});
    add_run(&report, 0, (double[]){9, 9, 9, 9});
    finish_report(&report);
    assert_rows(&report, "ratios", 4);
    assert_cell(&report, "ratios", 0, "ratio", 0.5);
    assert_cell(&report, "ratios", 1, "ratio", 1.5);
    assert_cell(&report, "ratios", 2, "half", 2);
    assert_cell(&report, "ratios", 2, "ratio", NAN); /* division by zero */
    assert_cell(&report, "ratios", 3, "ratio", NAN);
    assert_cell(&report, "comparison", 0, "steps", 2);
    assert_cell(&report, "comparison", 0, "ratio_median", 1);
    /* Two invalid ratios, and four steps of the run that the other set lacks. */
    assert_cell(&report, "comparison", 0, "left_out", 2 + 4);
    assert_rows(&report, "unmatched", 4);
    assert_text(&report, "unmatched", 0, "why", "the other set has no such run");
    assert_text(&report, "unmatched", 0, "set", "first set");
    ssreport_report_free(&report);
}

/* Sets the loads that were observed in the steps of a run. */
static void set_loads(struct ssreport_run *run, const double observed[STEPS]) {
    for (size_t i = 0; i < STEPS; i++)
        run->steps.items[i].load.mean = observed[i];
}

/*
 * The first half of B does 4 at 60 % and 10 at 30 %, thus 5 at 55 %. A was observed at 55 % and at
 * 25 %, which B never reached.
 */
static void throughput_is_interpolated_to_the_observed_load(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    set_loads(add_run(&report, 0, (double[]){10, 11, 9, 8}), (double[]){0.55, 0.25, 0.3, 0.6});
    add_run(&report, 1, (double[]){4, 10, 9, 4});
    finish_report(&report);
    assert_cell(&report, "ratios", 0, "ratio", 2.5);
    assert_cell(&report, "ratios", 0, "iterations_per_second_b_at_load", 5);
    assert_cell(&report, "ratios", 0, "ratio_at_load", 2);
    assert_cell(&report, "ratios", 1, "ratio_at_load", NAN);
    assert_cell(&report, "ratios", 2, "ratio_at_load", 1);
    assert_cell(&report, "ratios", 3, "ratio_at_load", 2);
    assert_cell(&report, "comparison", 0, "at_load_steps", 3);
    assert_cell(&report, "comparison", 0, "at_load_min", 1);
    assert_cell(&report, "comparison", 0, "at_load_median", 2);
    assert_cell(&report, "comparison", 0, "at_load_max", 2);
    ssreport_report_free(&report);
}

static void set_definition(struct ssreport_run *run, const char *load_of) {
    run->record.labels = calloc(1, sizeof *run->record.labels);
    run->record.label_count = 1;
    run->record.labels[0] =
        (struct ssreport_label){.name = strdup("load_of"), .value = strdup(load_of)};
    for (size_t i = 0; i < STEPS; i++) {
        run->steps.items[i].from = (double)(10 * i);
        run->steps.items[i].to = (double)(10 * i + 10);
    }
}

/* Adds the load that the host observed in each step, half a second after it began. */
static void set_host_loads(struct ssreport_run *run, const double observed[STEPS]) {
    run->record.first_end = INFINITY;
    run->surroundings.host = calloc(STEPS, sizeof *run->surroundings.host);
    run->surroundings.host_count = STEPS;
    for (size_t i = 0; i < STEPS; i++)
        run->surroundings.host[i] =
            (struct ssreport_host_load){(double)(10 * i) + 0.5, observed[i]};
}

/*
 * The load of a group and the load of CPUs are defined differently; the host measured both in the
 * same way.
 */
static void loads_with_different_definitions_are_not_compared(void **state) {
    (void)state;
    for (int host = 0; host < 2; host++) {
        struct ssreport_report report = begin_sets();
        struct ssreport_run *run = add_run(&report, 0, (double[]){10, 11, 9, 8});
        set_definition(run, "group");
        if (host)
            set_host_loads(run, (double[]){0.55, 0.25, 0.3, 0.6});
        run = add_run(&report, 1, (double[]){4, 10, 9, 4});
        set_definition(run, "cpus");
        if (host)
            set_host_loads(run, loads);
        finish_report(&report);
        assert_text(&report, "ratios", 0, "load_of", host ? "host" : "");
        assert_cell(&report, "ratios", 0, "ratio", 2.5);
        assert_cell(&report, "ratios", 0, "ratio_at_load", host ? 2 : NAN);
        assert_cell(&report, "comparison", 0, "at_load_steps", host ? 3 : NAN);
        assert_int_equal(
            strstr(report.notes.text, "4 of 4 steps are not compared at equal loads") != NULL,
            !host);
        ssreport_report_free(&report);
    }
}

/* A step that is missing from one run must not shift the following ones. */
static void missing_steps_are_listed_as_unmatched(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    add_run(&report, 0, (double[]){1, 2, 3, 4});
    struct ssreport_run *run = add_run(&report, 1, (double[]){1, 0, 3, 4});
    memmove(&run->steps.items[1], &run->steps.items[2], 2 * sizeof *run->steps.items);
    run->steps.count = 3;
    finish_report(&report);
    assert_rows(&report, "ratios", 3);
    for (size_t i = 0; i < 3; i++)
        assert_cell(&report, "ratios", i, "ratio", 1);
    assert_rows(&report, "unmatched", 1);
    assert_cell(&report, "unmatched", 0, "step", 2);
    assert_text(&report, "unmatched", 0, "why", "the other set has the run, but no such step");
    ssreport_report_free(&report);
}

/* Without a manifest, records are matched by folder name if both sets have the names. */
static void records_without_a_manifest_are_matched_by_name(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    set_word(&add_run(&report, 0, (double[]){1, 1, 1, 1})->record.name, "vm/x");
    set_word(&add_run(&report, 0, (double[]){2, 2, 2, 2})->record.name, "vm/y");
    set_word(&add_run(&report, 1, (double[]){4, 4, 4, 4})->record.name, "box/y");
    finish_report(&report);
    assert_rows(&report, "ratios", 4);
    assert_cell(&report, "ratios", 0, "ratio", 0.5);
    assert_text(&report, "unmatched", 0, "record", "vm/x");
    ssreport_report_free(&report);
}

/* The keys are workload, method, round length, target, speed and repetition. */
static void runs_of_two_sets_are_matched_by_manifest_columns(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    add_named(&report, 0, 1, NULL, 1);
    add_named(&report, 1, 10, NULL, 2);
    add_named(&report, 1, 2, NULL, 1);
    set_word(&add_named(&report, 1, 20, NULL, 1)->method, "cdc");
    set_word(&add_named(&report, 1, 20, NULL, 1)->workload, "v");
    set_word(&add_named(&report, 1, 20, NULL, 1)->experiment, "accuracy");
    add_named(&report, 1, 20, NULL, 1)->tau = 0.107;
    add_named(&report, 1, 20, NULL, 1)->target = 0.5;
    add_named(&report, 1, 20, NULL, 1)->speed = 2;
    finish_report(&report);
    assert_rows(&report, "ratios", 4);
    assert_rows(&report, "comparison", 1);
    assert_cell(&report, "comparison", 0, "ratio_min", 0.5);
    assert_cell(&report, "comparison", 0, "ratio_max", 0.5);
    assert_rows(&report, "unmatched", 7 * 4);
    ssreport_report_free(&report);
}

/* Their order does not matter, wherever the names of the traces come from. */
static void runs_of_several_traces_are_matched_by_trace(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    set_word(&add_named(&report, 0, 1, NULL, 1)->trace, "a");
    set_word(&add_named(&report, 0, 10, NULL, 1)->trace, "b");
    set_word(&add_named(&report, 1, 20, NULL, 1)->trace, "b");
    set_word(&add_named(&report, 1, 2, NULL, 1)->trace, "a");
    finish_report(&report);
    assert_rows(&report, "comparison", 2);
    for (size_t i = 0; i < 2; i++)
        assert_cell(&report, "comparison", i, "ratio_median", 0.5);
    ssreport_report_free(&report);
    /* A trace that is the same in all runs of a set only distinguishes the sets. */
    report = begin_sets();
    set_word(&add_named(&report, 0, 1, NULL, 1)->trace, "a");
    set_word(&add_named(&report, 1, 2, NULL, 1)->trace, "b");
    finish_report(&report);
    assert_rows(&report, "comparison", 1);
    ssreport_report_free(&report);
}

static void runs_without_steps_are_compared_as_a_whole(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    for (int set = 0; set < 2; set++)
        add_named(&report, set, 3 - set, NULL, 1)->steps.count = 0;
    finish_report(&report);
    assert_rows(&report, "ratios", 1);
    assert_cell(&report, "ratios", 0, "ratio", 1.5);
    assert_cell(&report, "ratios", 0, "step", NAN);
    ssreport_report_free(&report);
}

/*
 * If the sets share no environment, every environment of one set is compared with every one of the
 * other.
 */
static void environments_are_compared_separately(void **state) {
    (void)state;
    struct ssreport_report report = begin_sets();
    add_named(&report, 0, 2, "lxc", 1);
    add_named(&report, 0, 6, "podman", 1);
    add_named(&report, 1, 4, "none", 1);
    finish_report(&report);
    assert_rows(&report, "comparison", 2);
    assert_cell(&report, "comparison", 0, "ratio_max", 0.5);
    assert_text(&report, "comparison", 1, "environment_a", "podman");
    assert_cell(&report, "comparison", 1, "ratio_min", 1.5);
    assert_rows(&report, "unmatched", 0);
    ssreport_report_free(&report);
    /* If the sets share an environment, only that one is compared. */
    report = begin_sets();
    add_named(&report, 0, 2, "lxc", 1);
    add_named(&report, 1, 4, "none", 1);
    add_named(&report, 1, 8, "lxc", 1);
    finish_report(&report);
    assert_rows(&report, "comparison", 1);
    assert_cell(&report, "comparison", 0, "ratio_max", 0.25);
    assert_rows(&report, "unmatched", 4);
    ssreport_report_free(&report);
    /* A missing name means the environment "none". */
    report = begin_sets();
    add_named(&report, 0, 2, NULL, 1);
    add_named(&report, 1, 4, "none", 1);
    add_named(&report, 1, 8, "lxc", 1);
    finish_report(&report);
    assert_rows(&report, "comparison", 1);
    assert_cell(&report, "comparison", 0, "ratio_max", 0.5);
    ssreport_report_free(&report);
    /* Runs also differ if they were measured from different places. */
    report = begin_sets();
    set_word(&add_named(&report, 0, 2, "lxc", 1)->measured_in, "inside");
    set_word(&add_named(&report, 1, 4, "lxc", 1)->measured_in, "host");
    set_word(&add_named(&report, 1, 8, "lxc", 1)->measured_in, "inside");
    finish_report(&report);
    assert_rows(&report, "comparison", 1);
    assert_cell(&report, "comparison", 0, "ratio_max", 0.25);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(the_title_asks_which_set_is_faster),
    cmocka_unit_test(sets_are_compared_step_by_step),
    cmocka_unit_test(throughput_is_interpolated_to_the_observed_load),
    cmocka_unit_test(loads_with_different_definitions_are_not_compared),
    cmocka_unit_test(missing_steps_are_listed_as_unmatched),
    cmocka_unit_test(records_without_a_manifest_are_matched_by_name),
    cmocka_unit_test(runs_of_two_sets_are_matched_by_manifest_columns),
    cmocka_unit_test(runs_of_several_traces_are_matched_by_trace),
    cmocka_unit_test(runs_without_steps_are_compared_as_a_whole),
    cmocka_unit_test(environments_are_compared_separately))
