/* SPDX-License-Identifier: Apache-2.0 */

/* The examples are computed by hand. */

#include "placement_policy.h"
#include "policy.h"
#include "report_pairs.h"

static struct ssactuate_policy policy;
static struct text text;

/* Writes the policy, and reads it as ssactuate does. */
static void make_policy(const struct ssreport_report *report, const char *pair) {
    struct ss_error error = {0};
    begin(&text);
    if (ssreport_policy_write(text.stream, report, pair, false, &error) < 0)
        fail_msg("no policy: %s", error.message);
    end(&text);
    FILE *stream = fmemopen(text.bytes, text.size, "r");
    assert_non_null(stream);
    if (ssactuate_policy_read(&policy, stream, "policy", &error) < 0)
        fail_msg("%s in:\n%s", error.message, text.bytes);
    fclose(stream);
}

static void free_policy(void) {
    ssactuate_policy_free(&policy);
    free(text.bytes);
}

static void assert_refused(
    const struct ssreport_report *report, const char *pair, bool by_energy, const char *part) {
    struct ss_error error = {0};
    begin(&text);
    assert_int_equal(ssreport_policy_write(text.stream, report, pair, by_energy, &error), -1);
    end(&text);
    if (!strstr(error.message, part))
        fail_msg("no '%s' in: %s", part, error.message);
    free(text.bytes);
}

/*
 * Both sides run p, so their throughputs are added. At a load of L, per-core does 10 - 5 L and
 * per-chip always 6: the lines cross at L = 0.8 of the background's CPUs, 0.4 of all.
 */
static const struct made_pair per_core = {
    "none", "per-core", "p", "p", 1, {5.5, 7, 8.5, 8.5, 7, 5.5}, 3};
static const struct made_pair per_chip = {"none", "per-chip", "p", "p", 1, {6, 6, 6, 6, 6, 6}, 3};

static void significant_change_of_placement_separates_two_rules(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    finish_report(&report);
    make_policy(&report, NULL);
    assert_int_equal(policy.source, SSACTUATE_SIDE);
    assert_that(policy.count, ==, 2);
    assert_near(policy.rules[0].to, 0.39, 1e-9);
    assert_string_equal(policy.rules[0].knobs[0], "pin=per-core");
    assert_near(policy.rules[1].from, 0.41, 1e-9);
    assert_string_equal(policy.rules[1].knobs[0], "pin=per-chip");
    free_policy();
    ssreport_report_free(&report);
}

/* The background has one of four CPUs. */
static void loads_are_relative_to_all_cpus(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    for (size_t i = 0; i < report.run_count; i++)
        report.runs[i].record.load_cpus = strcmp(report.runs[i].role, "background") == 0 ? 1 : 3;
    finish_report(&report);
    make_policy(&report, NULL);
    assert_near(policy.rules[0].to, 0.19, 1e-9);
    assert_near(policy.rules[1].from, 0.21, 1e-9);
    free_policy();
    ssreport_report_free(&report);
}

/* The first two steps of per-core are far from a line, so the interval of the change is wide. */
static void thresholds_of_rules_are_outside_of_the_interval_of_a_change(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair noisy = per_core;
    noisy.throughputs[0] += 0.1;
    noisy.throughputs[5] -= 0.1;
    noisy.throughputs[2] += 0.2;
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &noisy);
    finish_report(&report);
    make_policy(&report, NULL);
    double low = cell(&report, "changes", 0, "load_low")->number;
    double high = cell(&report, "changes", 0, "load_high")->number;
    assert_that(high - low, >, 0.05);
    assert_near(policy.rules[0].to, low / 2, 0.0006);
    assert_near(policy.rules[1].from, high / 2, 0.0006);
    free_policy();
    ssreport_report_free(&report);
}

static void insignificant_change_of_placement_makes_no_rule(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair noisy = per_core;
    for (size_t i = 0; i < STEPS; i++)
        noisy.throughputs[i] += i % 2 ? 3 : -3;
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &noisy);
    finish_report(&report);
    assert_refused(&report, NULL, false, "no change of the best placement is certain");
    ssreport_report_free(&report);
}

/* The change is at a load of 0.8 % of all CPUs, and a rule keeps 1 % away from it. */
static void change_next_to_idle_makes_no_rule(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    for (size_t i = 0; i < report.run_count; i++)
        report.runs[i].record.load_cpus = strcmp(report.runs[i].role, "background") == 0 ? 1 : 99;
    finish_report(&report);
    assert_refused(&report, NULL, false, "and leaves loads on both sides of it; per-core is");
    ssreport_report_free(&report);
}

/* per-thread, with 7 - 1.215 L, is the best one from L = 0.793 to 0.823: 0.396 to 0.412 of all. */
static void placement_between_two_close_changes_is_left_out(void **state) {
    (void)state;
    static const struct made_pair per_thread = {
        "none", "per-thread", "p", "p", 1, {5.9065, 6.271, 6.6355, 6.6355, 6.271, 5.9065}, 3};
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    add_made_pair(&report, &per_thread);
    finish_report(&report);
    make_policy(&report, NULL);
    assert_that(policy.count, ==, 2);
    assert_string_equal(policy.rules[0].knobs[0], "pin=per-core");
    assert_string_equal(policy.rules[1].knobs[0], "pin=per-chip");
    assert_near(policy.rules[0].to, 0.386, 0.006);
    assert_near(policy.rules[1].from, 0.422, 0.007);
    free_policy();
    ssreport_report_free(&report);
}

/*
 * Sides that are not pinned share four CPUs, and a load of 1 means two of them, as with per-core.
 * Without pinning both sides do 10 - 5 L, with per-core 6.
 */
static void change_from_free_to_pinned_makes_rules(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair free = per_core, pinned = per_chip;
    free.placement = "free";
    pinned.placement = "per-core";
    add_made_pair(&report, &free);
    add_made_pair(&report, &pinned);
    for (size_t i = 0; i < report.run_count; i++) {
        report.runs[i].record.cpu_count = strcmp(report.runs[i].placement, "free") == 0 ? 4 : 2;
        report.runs[i].record.load_cpus = 2;
    }
    finish_report(&report);
    make_policy(&report, NULL);
    assert_that(policy.count, ==, 2);
    assert_string_equal(policy.rules[0].knobs[0], "pin=free");
    assert_near(policy.rules[0].to, 0.39, 1e-9);
    assert_string_equal(policy.rules[1].knobs[0], "pin=per-core");
    assert_near(policy.rules[1].from, 0.41, 1e-9);
    free_policy();
    ssreport_report_free(&report);
}

static void placement_that_pin_cannot_set_is_refused(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair quota = per_chip;
    quota.placement = "quota";
    add_made_pair(&report, &quota);
    add_made_pair(&report, &per_core);
    finish_report(&report);
    assert_refused(&report, NULL, false, "quota is the best placement at some loads, but");
    ssreport_report_free(&report);
}

static void one_of_several_pairs_is_chosen_by_name(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair other[] = {per_chip, per_core};
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    for (int i = 0; i < 2; i++) {
        other[i].foreground = other[i].background = "r";
        add_made_pair(&report, &other[i]);
    }
    finish_report(&report);
    assert_refused(&report, NULL, false, "choose one, such as --pair p,p,host");
    assert_refused(&report, "p,r", false, "there is no pair \"p,r\": write FOREGROUND,BACKGROUND");
    assert_refused(&report, "p", false, "there is no pair \"p\"");
    make_policy(&report, "r,r");
    assert_has(&text, ": r beside r (host), 6 steps");
    free_policy();
    make_policy(&report, "r,r,host");
    free_policy();
    assert_refused(&report, "r,r,lxc", false, "there is no pair");
    ssreport_report_free(&report);
}

/* The programs were not measured alone, so their throughputs cannot be added; nor was power. */
static void throughput_of_the_foreground_alone_is_not_enough(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair pairs[] = {per_chip, per_core};
    for (int i = 0; i < 2; i++) {
        pairs[i].background = "q";
        add_made_pair(&report, &pairs[i]);
    }
    finish_report(&report);
    assert_rows(&report, "changes", 1);
    assert_refused(&report, NULL, false, "the throughput of both sides is known");
    assert_refused(&report, NULL, true, "the work per watt-hour of both sides is known");
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(significant_change_of_placement_separates_two_rules),
    cmocka_unit_test(loads_are_relative_to_all_cpus),
    cmocka_unit_test(thresholds_of_rules_are_outside_of_the_interval_of_a_change),
    cmocka_unit_test(insignificant_change_of_placement_makes_no_rule),
    cmocka_unit_test(change_next_to_idle_makes_no_rule),
    cmocka_unit_test(placement_between_two_close_changes_is_left_out),
    cmocka_unit_test(change_from_free_to_pinned_makes_rules),
    cmocka_unit_test(placement_that_pin_cannot_set_is_refused),
    cmocka_unit_test(one_of_several_pairs_is_chosen_by_name),
    cmocka_unit_test(throughput_of_the_foreground_alone_is_not_enough))
