/* SPDX-License-Identifier: Apache-2.0 */

/* The title of a report is a question, and its first sentence is the answer. */

#include "report_pairs.h"

/* By hand: each sample has a load of 48 % and a target of 50 %. */
static void headline_of_a_run_answers_how_well_the_load_was_held(void **state) {
    (void)state;
    folder_open();
    folder_write_record("a");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_string_equal(report.headline.question, "How well was the load held?");
    assert_string_equal(ssreport_findings_answer(&report),
        "On average the load was 2.000 points (2.000 to 2.000) below the target of 50.00 %, and "
        "within 2.00 points of it in 95 % of 60 samples.");
    assert_cell(&report, "runs", 0, "error_mean_percent", 2);
    struct text text = print_report(&report);
    assert_has(&text, "<title>How well was the load held?</title>");
    assert_has(&text, "<p class=\"answer\">On average");
    assert_has(&text, "<p><small>1 run reported.</small></p>");
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * 10 - 5 L and 10 - 4 L lose 50 and 40 %. The half-width of Student's interval around the mean is
 * 12.706 times 5.
 */
static const struct made_pair rounds[] = {{"none", "sets", "p", "q", 1, {5.5, 7, 8.5, 8.5, 7, 5.5}},
    {"none", "sets", "p", "q", 2, {6.4, 7.6, 8.8, 8.8, 7.6, 6.4}}};

static void headline_of_one_placement_states_the_disturbance(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &rounds[0]);
    add_made_pair(&report, &rounds[1]);
    finish_report(&report);
    assert_headline(&report, "How much does q disturb p?",
        "p beside q: beside a background at full load, the foreground's throughput is 45.0 % "
        "(-18.5 to 108.5) lower than alone, which is within the uncertainty, mean of 2 rounds.");
    ssreport_report_free(&report);
    report = begin_report();
    add_made_pair(&report, &rounds[0]);
    struct made_pair other = rounds[1];
    other.background = "p";
    other.round = 1;
    add_made_pair(&report, &other);
    finish_report(&report);
    assert_headline(&report, "How much do these programs disturb each other?",
        "Beside a background at full load the foreground loses most in p beside q: 50.0 % (50.0 "
        "to 50.0) of its throughput, and least in p beside p: 40.0 % (40.0 to 40.0).");
    ssreport_report_free(&report);
}

/*
 * By hand, 5 - 5/3 L in both halves. Three points scatter so much that the throughput without load
 * may be 0, so the loss has no interval.
 */
static void headline_omits_an_unknown_interval(void **state) {
    (void)state;
    struct made_pair noisy = {"none", "sets", "p", "q", 1, {1, 9, 2, 2, 9, 1}};
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &noisy);
    finish_report(&report);
    assert_headline(&report, "How much does q disturb p?",
        "p beside q: beside a background at full load, the foreground's throughput is 33.3 % lower "
        "than alone, which is within the uncertainty.");
    ssreport_report_free(&report);
    report = begin_report();
    add_made_pair(&report, &noisy);
    noisy.background = "p";
    add_made_pair(&report, &noisy);
    finish_report(&report);
    assert_string_equal(ssreport_findings_answer(&report),
        "Beside a background at full load the foreground loses most in p beside q: 33.3 % of its "
        "throughput, and least in p beside q: 33.3 %.");
    ssreport_report_free(&report);
}

static void headline_of_an_environment_states_its_cost(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair inside = rounds[0];
    inside.environment = "lxc";
    for (size_t i = 0; i < STEPS; i++)
        inside.throughputs[i] *= 0.8;
    add_made_pair(&report, &rounds[0]);
    add_made_pair(&report, &inside);
    finish_report(&report);
    assert_headline(&report, "What does lxc cost?",
        "lxc costs 20.0 % (20.0 to 20.0) of the foreground's throughput on the host; median of 6 "
        "steps.");
    ssreport_report_free(&report);
}

static void headline_asks_about_each_environment_once(void **state) {
    (void)state;
    struct made_pair inside[] = {rounds[0], rounds[1]};
    static const struct {
        const char *other, *question;
    } cases[] = {{"lxc", "What does lxc cost?"}, {"podman", "What do these environments cost?"}};
    for (size_t i = 0; i < 2; i++) {
        struct ssreport_report report = begin_report();
        inside[0].environment = "lxc";
        inside[1].environment = cases[i].other;
        add_made_pair(&report, &rounds[0]);
        add_made_pair(&report, &inside[0]);
        add_made_pair(&report, &inside[1]);
        finish_report(&report);
        assert_string_equal(report.headline.question, cases[i].question);
        ssreport_report_free(&report);
    }
}

/* On the host, an empty `measured_in` means `host`. */
static void pairs_on_the_host_are_in_one_environment(void **state) {
    (void)state;
    struct made_pair first = rounds[0], second = rounds[1];
    struct ssreport_report report = begin_report();
    first.environment = second.environment = "host";
    add_made_pair(&report, &first);
    add_made_pair(&report, &second);
    report.runs[2].measured_in = strdup("host");
    report.runs[3].measured_in = strdup("host");
    finish_report(&report);
    assert_string_equal(report.headline.question, "How much does q disturb p?");
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(headline_of_a_run_answers_how_well_the_load_was_held),
    cmocka_unit_test(headline_of_one_placement_states_the_disturbance),
    cmocka_unit_test(headline_omits_an_unknown_interval),
    cmocka_unit_test(headline_of_an_environment_states_its_cost),
    cmocka_unit_test(headline_asks_about_each_environment_once),
    cmocka_unit_test(pairs_on_the_host_are_in_one_environment))
