/* SPDX-License-Identifier: Apache-2.0 */

/* The examples are computed by hand. */

#include "findings.h"
#include "isolation.h"
#include "report_pairs.h"

/* Returns the row of the finding with this scope, kind and environment, or -1 if absent. */
static long find_row(const struct ssreport_report *report, const char *scope, const char *kind,
    const char *environment) {
    for (size_t i = 0; i < table_rows(ssreport_table(report, "findings")); i++) {
        if (strcmp(cell(report, "findings", i, "scope")->text, scope) == 0 &&
            strcmp(cell(report, "findings", i, "kind")->text, kind) == 0 &&
            strcmp(cell(report, "findings", i, "environment")->text, environment) == 0)
            return (long)i;
    }
    return -1;
}

static size_t want_row(const struct ssreport_report *report, const char *scope, const char *kind,
    const char *environment) {
    long row = find_row(report, scope, kind, environment);
    if (row < 0)
        fail_msg("no finding of %s, %s, %s", scope, kind, environment);
    return (size_t)row;
}

/*
 * At a load of L, per-core does 10 - 5 L and per-chip always 6: the lines cross at L = 0.8. At the
 * mean load of 0.6, per-core does 7, which is a sixth more than 6.
 */
static const struct made_pair per_core = {
    "none", "per-core", "p", "q", 1, {5.5, 7, 8.5, 8.5, 7, 5.5}, 3};
static const struct made_pair per_chip = {"none", "per-chip", "p", "q", 1, {6, 6, 6, 6, 6, 6}, 3};

static void best_placement_and_crossing_load_are_found(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "placement", "per-core");
    assert_text(&report, "findings", row, "against", "per-chip");
    assert_text(&report, "findings", row, "foreground", "p");
    assert_text(&report, "findings", row, "background", "q");
    assert_cell(&report, "findings", row, "percent", 100 / 6.0);
    assert_cell(&report, "findings", row, "low_percent", 100 / 6.0);
    assert_text(&report, "findings", row, "told", "yes");
    assert_cell(&report, "findings", row, "count", 6);
    assert_string_equal(ssreport_finding_at(&report, row).sentence,
        "p beside q (host): per-core is best, with 16.7 % (16.7 to 16.7) more throughput of the "
        "foreground "
        "than per-chip. Above a background load of 80 % (80 to 80), per-chip is better than "
        "per-core. Which placement is best for both sides together is unknown: p was not measured "
        "alone.");
    assert_text(&report, "findings", row, "measure", "foreground");
    assert_string_equal(
        ssreport_finding_at(&report, want_row(&report, "all", "placement", "host")).sentence,
        "Where to pin (host): per-core is best for 1 of 1 ordered pair. For 1 of them, only the "
        "throughput of the foreground is known.");
    assert_rows(&report, "changes", 1);
    assert_text(&report, "changes", 0, "below", "per-core");
    assert_text(&report, "changes", 0, "above", "per-chip");
    assert_cell(&report, "changes", 0, "load", 0.8);
    assert_text(&report, "changes", 0, "told", "yes");
    /* The findings must come first in the summary and on the page. */
    struct text text;
    begin(&text);
    ssreport_text_print(text.stream, &report);
    end(&text);
    assert_has_first(
        &text, "Where should p and q run?\np beside q (host): per-core is best, with 16.7 % ");
    free(text.bytes);
    text = print_report(&report);
    assert_has(&text, "<h1>Where should p and q run?</h1>\n<p class=\"answer\">p beside q (host): "
                      "per-core is best, with 16.7 % (16.7 to 16.7)");
    assert_true(strstr(text.bytes, "<li>Where to pin (host)") < strstr(text.bytes, "<table"));
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Steps that one placement lacks must not count for the other. */
static void placements_are_compared_only_at_common_steps(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    struct made_pair second = per_core;
    second.round = 2; /* per-chip has no second round */
    for (size_t i = 0; i < STEPS; i++)
        second.throughputs[i] = 50;
    add_made_pair(&report, &second);
    /* A run that died at once provides no steps. */
    struct made_pair dead = per_chip;
    dead.placement = "quota";
    add_made_pair(&report, &dead);
    report.runs[report.run_count - 1].record.first_end = 15;
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_cell(&report, "findings", row, "percent", 100 / 6.0);
    assert_cell(&report, "findings", row, "count", 6);
    ssreport_report_free(&report);
}

static void placements_without_a_clear_winner_are_reported(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair noisy = per_chip;
    noisy.placement = "per-core";
    for (size_t i = 0; i < STEPS; i++)
        noisy.throughputs[i] = i % 2 ? 6.2 : 5.9;
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &noisy);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "told", "no");
    assert_non_null(strstr(ssreport_finding_at(&report, row).sentence,
        "no placement is best overall: per-core is 0.8 % (-"));
    assert_string_equal(
        ssreport_finding_at(&report, want_row(&report, "all", "placement", "host")).sentence,
        "Where to pin (host): the differences are within their uncertainty for 1 of 1 ordered "
        "pair. For 1 of them, only the throughput of the foreground is known.");
    for (size_t i = 0; i < table_rows(ssreport_table(&report, "changes")); i++)
        assert_text(&report, "changes", i, "told", "no");
    ssreport_report_free(&report);
    report = begin_report();
    add_made_pair(&report, &per_chip);
    finish_report(&report);
    assert_int_equal(find_row(&report, "all", "placement", "host"), -1);
    assert_string_equal(report.headline.question, "How much does q disturb p?");
    ssreport_report_free(&report);
}

/* The fitted lines cross at 74 %, but the noise allows a crossing at any load. */
static void uncertain_crossing_is_not_mentioned(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair noisy = {"none", "per-core", "p", "q", 1, {5.5, 6.8, 5.9, 6.7, 5.2, 6.4}, 3};
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &noisy);
    finish_report(&report);
    assert_rows(&report, "changes", 1);
    assert_cell(&report, "changes", 0, "load", 0.6 + 0.5 / 6 / (3.5 / 6));
    assert_text(&report, "changes", 0, "told", "no");
    assert_null(strstr(
        ssreport_finding_at(&report, want_row(&report, "pair", "placement", "host")).sentence,
        "From a background load"));
    ssreport_report_free(&report);
}

/*
 * In three rounds per-core does 0.2, 1 and 1.8 more than 6. The steps alone would make that
 * significant, but over rounds the difference is 1 +- 4.303 * 0.8 / sqrt(3), which includes 0.
 */
static void variation_between_rounds_widens_the_interval(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int round = 1; round <= 3; round++) {
        struct made_pair chip = per_chip, core = per_chip;
        chip.round = core.round = round;
        core.placement = "per-core";
        for (size_t i = 0; i < STEPS; i++)
            core.throughputs[i] = 6.2 + 0.8 * (round - 1);
        add_made_pair(&report, &chip);
        add_made_pair(&report, &core);
    }
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "of", "rounds");
    assert_cell(&report, "findings", row, "count", 3);
    assert_cell(&report, "findings", row, "percent", 100 / 6.0);
    double half = 4.302652729911275 * 0.8 / sqrt(3);
    assert_cell(&report, "findings", row, "low_percent", 100 * (1 - half) / 6);
    assert_cell(&report, "findings", row, "high_percent", 100 * (1 + half) / 6);
    assert_text(&report, "findings", row, "told", "no");
    ssreport_report_free(&report);
}

/*
 * At the mean load of 0.6, the foreground does 7 with per-core and 6 with per-chip, but both sides
 * together do 8 and 10. They never cross: even at 30 % it is 9.5 and 10.
 */
static void placements_are_ranked_by_both_sides_of_one_program(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair chip = per_chip, core = per_core;
    chip.background = core.background = "p";
    chip.background_throughput = 4;
    core.background_throughput = 1;
    add_made_pair(&report, &chip);
    add_made_pair(&report, &core);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "placement", "per-chip");
    assert_text(&report, "findings", row, "measure", "system");
    assert_cell(&report, "findings", row, "percent", 25);
    assert_string_equal(ssreport_finding_at(&report, row).sentence,
        "p beside p (host): per-chip is best, with 25.0 % (25.0 to 25.0) more throughput of both "
        "sides than per-core.");
    assert_string_equal(
        ssreport_finding_at(&report, want_row(&report, "all", "placement", "host")).sentence,
        "Where to pin (host): per-chip is best for 1 of 1 ordered pair.");
    assert_rows(&report, "changes", 0);
    assert_int_equal(find_row(&report, "all", "placement-energy", "host"), -1);
    ssreport_report_free(&report);
}

static void add_alone(struct ssreport_report *report, const char *placement, const char *program,
    double round, double throughput) {
    struct made_pair pair = {"none", placement, program, "", round, {0}, 0};
    struct ssreport_run *run = made_run(report, &pair, "foreground");
    free(run->role);
    run->role = strdup("alone");
    run->figures.throughput = throughput;
}

/*
 * Alone, p does 9, 10 and 11, and q does 3. Per-core is ahead by 1 / 10 + 1.5 / 3 of 6 / 10 + 1.5 /
 * 3. The first part is as uncertain as the mean of 9, 10 and 11: 4.303 / sqrt(3) of 10.
 */
static void combined_throughput_adds_each_program_relative_to_its_run_alone(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair chip = per_chip;
    chip.background_throughput = 1.5;
    add_made_pair(&report, &chip);
    add_made_pair(&report, &per_core);
    for (int round = 1; round <= 3; round++)
        add_alone(&report, "per-chip", "p", round, 8 + round);
    add_alone(&report, "per-core", "p", 1, 99); /* the throughput with per-chip is known */
    add_alone(&report, "per-thread", "q", 1, 3);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    double half = 4.302652729911275 / sqrt(3) / 10 * 0.1;
    assert_text(&report, "findings", row, "placement", "per-core");
    assert_text(&report, "findings", row, "measure", "system");
    assert_cell(&report, "findings", row, "percent", 100 * 0.6 / 1.1);
    assert_near(
        cell(&report, "findings", row, "low_percent")->number, 100 * (0.6 - half) / 1.1, 1e-9);
    assert_near(
        cell(&report, "findings", row, "high_percent")->number, 100 * (0.6 + half) / 1.1, 1e-9);
    assert_non_null(strstr(ssreport_finding_at(&report, row).sentence,
        " more throughput of both sides, each relative to its program alone, than per-chip."));
    assert_rows(&report, "interference-steps", 2 * STEPS);
    assert_cell(&report, "interference-steps", 0, "weighted_speedup", 1.1);
    assert_cell(&report, "interference-steps", 0, "iterations_per_second", NAN);
    assert_cell(&report, "interference-steps", STEPS, "weighted_speedup", 0.55 + 1);
    assert_cell(&report, "interference-steps", STEPS, "relative_to_per_chip", 1.55 / 1.1);
    ssreport_report_free(&report);
}

/* The throughput of q alone is uncertain, but beside p it is the same in both placements. */
static void equal_backgrounds_do_not_widen_the_interval(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair chip = per_chip;
    chip.background_throughput = per_core.background_throughput;
    add_made_pair(&report, &chip);
    add_made_pair(&report, &per_core);
    add_alone(&report, "per-chip", "p", 1, 10);
    for (int round = 1; round <= 3; round++)
        add_alone(&report, "per-chip", "q", round, 1 + round);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "measure", "system");
    assert_cell(&report, "findings", row, "percent", 100 * 0.1 / 1.6);
    assert_cell(&report, "findings", row, "low_percent", 100 * 0.1 / 1.6);
    assert_cell(&report, "findings", row, "high_percent", 100 * 0.1 / 1.6);
    ssreport_report_free(&report);
}

/* Adds a study of one round on a machine that is faster by a factor. */
static void add_study(struct ssreport_report *report, size_t manifest, double factor) {
    struct made_pair pairs[] = {per_chip, per_core, per_chip};
    size_t first = report->run_count;
    pairs[2].environment = "lxc";
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        pairs[i].background_throughput = factor * 1.5;
        for (size_t j = 0; j < STEPS; j++)
            pairs[i].throughputs[j] *= factor * (i == 2 ? 0.5 : 1);
        add_made_pair(report, &pairs[i]);
    }
    add_alone(report, "per-chip", "p", 1, factor * 10);
    add_alone(report, "per-chip", "q", 1, factor * 3);
    for (size_t i = first; i < report->run_count; i++)
        report->runs[i].manifest = manifest;
}

/* Rounds of both studies have the same numbers. */
static void each_study_is_compared_with_itself(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_study(&report, 1, 1);
    add_study(&report, 2, 2);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "placement", "per-core");
    assert_cell(&report, "findings", row, "percent", 100 * 0.1 / 1.1);
    assert_cell(&report, "findings", row, "count", 2 * STEPS);
    assert_cell(&report, "findings", want_row(&report, "all", "environment", "lxc"), "percent", 50);
    assert_rows(&report, "interference-steps", 6 * STEPS);
    for (size_t i = 0; i < 2 * STEPS; i++) {
        assert_cell(&report, "interference-steps", i, "weighted_speedup", 1.1);
        assert_cell(&report, "interference-steps", i, "relative_to_per_chip", 1);
    }
    ssreport_report_free(&report);
}

/* The machine was saturated in all steps, so that they have one load. */
static void steps_at_one_load_are_compared_by_their_mean(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_chip);
    add_made_pair(&report, &per_core);
    for (size_t i = 0; i < report.run_count; i++) {
        for (size_t j = 0; j < report.runs[i].steps.count; j++)
            report.runs[i].steps.items[j].load.mean = 1;
    }
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "placement", "per-core");
    assert_cell(&report, "findings", row, "percent", 100 / 6.0);
    /* The differences are -0.5, 1 and 2.5, each twice: their variance is 1.8. */
    assert_near(cell(&report, "findings", row, "low_percent")->number,
        100 * (1 - 2.570581835636314 * sqrt(1.8 / 6)) / 6, 1e-6);
    assert_rows(&report, "changes", 0);
    assert_null(strstr(ssreport_finding_at(&report, row).sentence, "nan"));
    ssreport_report_free(&report);
}

/* A single run has its own intervals. */
static void single_run_alone_uses_the_variation_of_its_intervals(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &per_core);
    add_alone(&report, "per-core", "p", 1, 10);
    struct ssreport_run *run = &report.runs[report.run_count - 1];
    run->rates.parts = calloc(3, sizeof *run->rates.parts);
    run->rates.count = 3;
    for (size_t i = 0; i < 3; i++)
        run->rates.parts[i] = 9 + (double)i;
    finish_report(&report);
    double half = 4.302652729911275 / sqrt(3);
    struct ssreport_isolation alone = ssreport_isolation_of(&report, run);
    assert_near(alone.interval.low, 10 - half, 1e-9);
    assert_near(alone.interval.high, 10 + half, 1e-9);
    ssreport_report_free(&report);
}

/* Gives the background of the latest pair, and thereby both sides, this power. */
static void set_power(struct ssreport_report *report, double watts) {
    struct ssreport_energy *energy = &report->runs[report->run_count - 2].energy;
    *energy = (struct ssreport_energy){.shared = true, .count = STEPS * STEP_LENGTH};
    energy->samples = calloc(energy->count, sizeof *energy->samples);
    for (size_t i = 0; i < energy->count; i++)
        energy->samples[i] = (struct ssreport_power){(double)i + 0.5, watts, 1};
}

/* Per-core does 7 + 3, 10 / 9 times as much as per-chip, but with 1.5 times the power. */
static void placements_are_also_ranked_by_work_per_watt_hour(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair chip = per_chip, core = per_core;
    chip.background = core.background = "p";
    add_made_pair(&report, &chip);
    set_power(&report, 40);
    add_made_pair(&report, &core);
    set_power(&report, 60);
    finish_report(&report);
    size_t row = want_row(&report, "pair", "placement", "host");
    assert_text(&report, "findings", row, "placement", "per-core");
    assert_cell(&report, "findings", row, "percent", 100 / 9.0);
    row = want_row(&report, "pair", "placement-energy", "host");
    assert_text(&report, "findings", row, "placement", "per-chip");
    assert_text(&report, "findings", row, "measure", "per-watt-hour");
    assert_cell(&report, "findings", row, "percent", 100 * ((9 / 40.0) / (10 / 60.0) - 1));
    assert_string_equal(ssreport_finding_at(&report, row).sentence,
        "p beside p (host), energy: per-chip is best, with 35.0 % (35.0 to 35.0) more iterations "
        "per watt-hour of both sides than per-core.");
    assert_string_equal(
        ssreport_finding_at(&report, want_row(&report, "all", "placement-energy", "host")).sentence,
        "Where to pin for the most work per watt-hour (host): per-chip is best for 1 of 1 ordered "
        "pair.");
    assert_cell(&report, "interference-steps", 0, "watts", 40);
    assert_cell(&report, "interference-steps", 0, "per_watt_hour", 9 / 40.0 * 3600);
    assert_cell(
        &report, "interference-steps", STEPS, "per_watt_hour_relative", (8.5 / 60) / (9 / 40.0));
    /* Only the change by throughput is within the loads. */
    assert_rows(&report, "changes", 1);
    assert_text(&report, "changes", 0, "measure", "system");
    ssreport_report_free(&report);
}

#define LEVELS 19

/* Adds a pair of one program whose background goes from 5 to 95 % and back. */
static void add_long_pair(
    struct ssreport_report *report, const char *placement, double (*throughput)(double load)) {
    struct made_pair pair = {"none", placement, "p", "p", 1, {0}, 0};
    struct ssreport_run *run = made_run(report, &pair, "background");
    run->steps.items = calloc(2 * LEVELS, sizeof *run->steps.items);
    run->steps.count = 2 * LEVELS;
    run->record.samples[0].end = 2 * LEVELS;
    for (size_t i = 0; i < 2 * LEVELS; i++) {
        double load = 0.05 * (double)(i < LEVELS ? i + 1 : 2 * LEVELS - i);
        run->steps.items[i] = (struct ssreport_step){.from = (double)i,
            .to = (double)i + 1,
            .target = load,
            .load = {.mean = load},
            .half = i < LEVELS ? 1 : 2};
    }
    const struct ssreport_steps steps = run->steps;
    run = made_run(report, &pair, "foreground");
    run->record.samples[0].end = 2 * LEVELS;
    for (size_t i = 0; i < steps.count; i++) {
        size_t count = (size_t)lround(throughput(steps.items[i].target));
        size_t before = run->record.iteration_count;
        run->record.iterations =
            reallocarray(run->record.iterations, before + count, sizeof *run->record.iterations);
        for (size_t j = 0; j < count; j++)
            run->record.iterations[before + j] = (struct ssreport_iteration){
                (double)i + (double)j / (double)count, (double)i + (double)(j + 1) / (double)count};
        run->record.iteration_count = before + count;
    }
}

/* The throughput falls up to a load of 50 %, and then stays. */
static double bent(double load) {
    return 60 + 40 * fmax(0.5 - load, 0);
}

static double constant(double load) {
    (void)load;
    return 65;
}

/*
 * The bent curve crosses the constant one at 37.5 %; straight lines through the same points cross
 * at 49 %.
 */
static void change_of_the_best_placement_follows_local_curves(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_long_pair(&report, "per-thread", bent);
    add_long_pair(&report, "per-chip", constant);
    finish_report(&report);
    assert_rows(&report, "changes", 1);
    assert_text(&report, "changes", 0, "below", "per-thread");
    assert_text(&report, "changes", 0, "above", "per-chip");
    assert_text(&report, "changes", 0, "told", "yes");
    assert_near(cell(&report, "changes", 0, "load")->number, 0.375, 0.01);
    assert_that(cell(&report, "changes", 0, "load_low")->number, <, 0.375);
    assert_that(cell(&report, "changes", 0, "load_high")->number, >, 0.375);
    assert_that(cell(&report, "changes", 0, "load_high")->number, <, 0.42);
    ssreport_report_free(&report);
}

/* The steps lose 5, 10, 10, 10, 10 and 20 %; an interval from six values includes all of them. */
static void environment_cost_is_the_throughput_lost_in_steps(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair pair = {"none", "quota", "p", "q", 1, {10, 10, 10, 10, 10, 10}, 3};
    struct made_pair inside = {"lxc", "quota", "p", "q", 1, {9.5, 9, 9, 9, 9, 8}, 3};
    add_made_pair(&report, &pair);
    add_made_pair(&report, &inside);
    /* A pair without a counterpart outside of the environment is ignored. */
    inside.placement = "per-core";
    add_made_pair(&report, &inside);
    inside.placement = "quota";
    inside.round = 2;
    add_made_pair(&report, &inside);
    finish_report(&report);
    size_t row = want_row(&report, "all", "environment", "lxc");
    assert_cell(&report, "findings", row, "percent", 10);
    assert_cell(&report, "findings", row, "low_percent", 5);
    assert_cell(&report, "findings", row, "high_percent", 20);
    assert_text(&report, "findings", row, "of", "steps");
    assert_string_equal(ssreport_finding_at(&report, row).sentence,
        "lxc costs 10.0 % (5.0 to 20.0) of the foreground's throughput on the host; median of 6 "
        "steps.");
    row = want_row(&report, "pair", "environment", "lxc");
    assert_text(&report, "findings", row, "placement", "quota");
    assert_cell(&report, "findings", row, "count", 6);
    assert_int_equal(find_row(&report, "all", "environment", "host"), -1);
    ssreport_report_free(&report);
    /* Without the host's runs there is no finding. */
    report = begin_report();
    add_made_pair(&report, &inside);
    finish_report(&report);
    assert_string_equal(
        ssreport_finding_at(&report, want_row(&report, "all", "environment", "lxc")).sentence,
        "lxc: its cost is unknown, because no step was also measured on the host.");
    assert_int_equal(find_row(&report, "pair", "environment", "lxc"), -1);
    ssreport_report_free(&report);
}

/* Six runs lose 1, 2, 3, 4, 5 and 6 %: enough to use runs as samples instead of steps. */
static void environment_cost_uses_runs_if_there_are_enough(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    for (int round = 1; round <= 6; round++) {
        struct made_pair pair = {"none", "quota", "p", "q", round, {10, 10, 10, 10, 10, 10}, 3};
        add_made_pair(&report, &pair);
        pair.environment = "kvm";
        for (size_t i = 0; i < STEPS; i++)
            pair.throughputs[i] = 10 - 0.1 * round;
        add_made_pair(&report, &pair);
    }
    finish_report(&report);
    size_t row = want_row(&report, "all", "environment", "kvm");
    assert_text(&report, "findings", row, "of", "runs");
    assert_cell(&report, "findings", row, "count", 6);
    assert_cell(&report, "findings", row, "percent", 3.5);
    assert_cell(&report, "findings", row, "low_percent", 1);
    assert_cell(&report, "findings", row, "high_percent", 6);
    ssreport_report_free(&report);
}

static void emulated_environments_are_left_out_of_findings(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    read_published(&report);
    struct made_pair chip = per_chip, core = per_core;
    chip.environment = core.environment = "tcg";
    chip.foreground = core.foreground = "dacapo/h2";
    chip.background = core.background = "dacapo/h2";
    add_made_pair(&report, &chip);
    add_made_pair(&report, &core);
    chip.environment = "kvm";
    add_made_pair(&report, &chip);
    chip.environment = "lxc";
    add_made_pair(&report, &chip);
    chip.environment = "none";
    add_made_pair(&report, &chip);
    finish_report(&report);
    assert_int_equal(find_row(&report, "all", "placement", "tcg"), -1);
    assert_int_equal(find_row(&report, "all", "environment", "tcg"), -1);
    assert_int_equal(find_row(&report, "pair", "placement", "tcg"), -1);
    assert_non_null(
        strstr(ssreport_finding_at(&report, want_row(&report, "all", "left-out", "tcg")).sentence,
            "tcg is left out of the findings"));
    /* tcg has a metric, but no published counterpart. All tables list the host first. */
    static const struct {
        const char *environment;
        double kvm, lxc;
    } want[] = {{"host", -2.2, -3.3}, {"kvm", -2.2, NAN}, {"lxc", NAN, -3.3}, {"tcg", NAN, NAN},
        {"tcg", NAN, NAN}};
    assert_rows(&report, "interference-published", 5);
    for (size_t i = 0; i < 5; i++) {
        assert_text(&report, "interference-published", i, "environment", want[i].environment);
        assert_cell(&report, "interference-published", i, "kvm_percent", want[i].kvm);
        assert_cell(&report, "interference-published", i, "lxc_percent", want[i].lxc);
        assert_true(isnan(cell(&report, "interference-published", i, "kvm_most")->number) ==
                    isnan(want[i].kvm));
    }
    ssreport_report_free(&report);
}

/*
 * The throughput of both sides is divided by their throughput with per-chip in the same step, round
 * and environment.
 */
static void combined_throughput_is_relative_to_the_same_step(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair chip = per_chip, core = per_core;
    chip.background = core.background = "p";
    add_made_pair(&report, &chip);
    add_made_pair(&report, &core);
    core.environment = "lxc"; /* an environment without per-chip */
    add_made_pair(&report, &core);
    core.environment = "none";
    core.round = 2; /* a round without per-chip */
    add_made_pair(&report, &core);
    add_made_pair(&report, &per_core); /* two different programs */
    finish_report(&report);
    assert_rows(&report, "interference-steps", 5 * STEPS);
    assert_cell(&report, "interference-steps", 0, "iterations_per_second", 9);
    assert_cell(&report, "interference-steps", 0, "relative_to_per_chip", 1);
    assert_text(&report, "interference-steps", STEPS, "placement", "per-core");
    for (size_t i = 0; i < STEPS; i++) {
        assert_cell(&report, "interference-steps", STEPS + i, "step", (double)(i + 1));
        assert_cell(&report, "interference-steps", STEPS + i, "target", made_load(i));
        assert_cell(&report, "interference-steps", STEPS + i, "relative_to_per_chip",
            (per_core.throughputs[i] + 3) / 9);
        for (size_t other = 2; other < 4; other++)
            assert_cell(
                &report, "interference-steps", other * STEPS + i, "relative_to_per_chip", NAN);
    }
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(best_placement_and_crossing_load_are_found),
    cmocka_unit_test(placements_are_compared_only_at_common_steps),
    cmocka_unit_test(placements_without_a_clear_winner_are_reported),
    cmocka_unit_test(uncertain_crossing_is_not_mentioned),
    cmocka_unit_test(variation_between_rounds_widens_the_interval),
    cmocka_unit_test(placements_are_ranked_by_both_sides_of_one_program),
    cmocka_unit_test(combined_throughput_adds_each_program_relative_to_its_run_alone),
    cmocka_unit_test(equal_backgrounds_do_not_widen_the_interval),
    cmocka_unit_test(each_study_is_compared_with_itself),
    cmocka_unit_test(steps_at_one_load_are_compared_by_their_mean),
    cmocka_unit_test(single_run_alone_uses_the_variation_of_its_intervals),
    cmocka_unit_test(placements_are_also_ranked_by_work_per_watt_hour),
    cmocka_unit_test(change_of_the_best_placement_follows_local_curves),
    cmocka_unit_test(environment_cost_is_the_throughput_lost_in_steps),
    cmocka_unit_test(environment_cost_uses_runs_if_there_are_enough),
    cmocka_unit_test(emulated_environments_are_left_out_of_findings),
    cmocka_unit_test(combined_throughput_is_relative_to_the_same_step))
