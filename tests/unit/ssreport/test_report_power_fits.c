/* SPDX-License-Identifier: Apache-2.0 */

#include "parabola.h"
#include "power_settings.h"
#include "report_manifest.h"
#include <showstopper/random.h>

#define CPUS 32

/*
 * Published fits for a machine with 32 cores, free and pinned: Krzywda et al., FGCS 2018, Fig. 6,
 * as in actuators-power.csv.
 */
static double free_power(double busy) {
    return -0.13 * busy * busy + 8.86 * busy + 188.53;
}

static double pinned_power(double busy) {
    return 4.72 * busy + 187.38;
}

/* Returns a normally distributed number by the sum of twelve others. */
static double noise(uint64_t seed, uint64_t i) {
    double sum = -6;
    for (uint64_t j = 0; j < 12; j++)
        sum += ss_random(seed, 12 * i + j);
    return sum;
}

struct fits {
    struct ssreport_fit line;
    struct stats_parabola parabola;
};

/* Fits both curves through 0 to 32 busy CPUs, with `watts` of noise. */
static struct fits fit_power(double (*power)(double busy), double watts, uint64_t seed) {
    double busy[CPUS + 1], values[CPUS + 1];
    for (int i = 0; i <= CPUS; i++) {
        busy[i] = i;
        values[i] = power(i) + watts * noise(seed, (uint64_t)i);
    }
    return (struct fits){
        ssreport_fit_line(busy, values, CPUS + 1), stats_parabola_fit(busy, values, CPUS + 1)};
}

static void published_coefficients_follow_from_exact_data(void **state) {
    (void)state;
    struct fits at_will = fit_power(free_power, 0, 0), pinned = fit_power(pinned_power, 0, 0);
    assert_near(at_will.parabola.square, -0.13, 1e-12);
    assert_near(at_will.parabola.linear, 8.86, 1e-11);
    assert_near(at_will.parabola.constant, 188.53, 1e-10);
    assert_near(at_will.parabola.r_squared, 1, 1e-12);
    assert_that(at_will.parabola.square_p, <, 1e-100);
    assert_near(pinned.line.slope, 4.72, 1e-12);
    assert_near(pinned.line.intercept, 187.38, 1e-11);
    assert_near(pinned.parabola.square, 0, 1e-12);
}

static void fits_with_noise_explain_99_percent(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_that(fit_power(free_power, 2, seed).parabola.r_squared, >, 0.99);
        assert_that(fit_power(pinned_power, 2, seed).line.r_squared, >, 0.99);
    }
}

/* R: summary(lm(y ~ x + I(x^2))). */
static void parabola_agrees_with_r(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2.5, 4, 7, 8, 11, 16, 20, 32};
    static const double y[2][10] = {
        {188.1, 197.9, 209, 222.4, 243.7, 251, 270.2, 297.4, 313.6, 339.9},
        {188.1, 197.9, 209, 221.4, 243.7, 240, 270.2, 297.4, 290.6, 339.9}};
    static const double expected[2][5] = {
        {188.462203755076, 8.84152625959191, -0.128448549696395, 2.70677866572333e-11,
            0.999916097031478},
        {190.785489260938, 7.65959521599062, -0.0965821690708129, 0.00716259869128005,
            0.98096516558319},
    };
    for (int i = 0; i < 2; i++) {
        struct stats_parabola curve = stats_parabola_fit(x, y[i], 10);
        const double values[] = {
            curve.constant, curve.linear, curve.square, curve.square_p, curve.r_squared};
        for (int j = 0; j < 5; j++)
            assert_near(values[j] / expected[i][j], 1, 5e-11);
    }
}

static void parabola_needs_four_points_at_three_places(void **state) {
    (void)state;
    const double x[] = {0.1, 0.3, 0.1, 0.3, 0.3}, y[] = {1, 2, 3, 4, 6}, far[] = {1, 2, 3, 5};
    assert_true(isnan(stats_parabola_fit(far, y, 3).square));
    assert_true(isfinite(stats_parabola_fit(far, y, 4).square));
    assert_true(isnan(stats_parabola_fit(x, y, 5).square));
    assert_true(isnan(stats_parabola_fit(x, y, 5).r_squared));
}

/* Writes a record of 4 CPUs: `loads` steps of 6 s, with power as a function of busy CPUs. */
static void write_steps(const char *name, const double loads[5], double (*power)(double busy)) {
    char path[64], *text, *samples;
    size_t size;
    folder_write_record(name);
    FILE *stream = open_memstream(&samples, &size);
    fputs("time,elapsed_seconds,target,load,error,load_ticks,duty\n", stream);
    for (int i = 1; i <= 60; i++) {
        double load = loads[(i - 1) / 12];
        fprintf(stream, "2026-11-20T10:00:%02d.%d00Z,%.6f,%.6f,%.6f,0,%.6f,1\n", i / 2, i % 2 * 5,
            i * 0.5, load, load, load);
    }
    fclose(stream);
    snprintf(path, sizeof path, "%s/samples.csv", name);
    folder_write(path, samples);
    free(samples);
    stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,watts\n", stream);
    for (int i = 1; i <= 30; i++)
        fprintf(
            stream, "2026-11-20T10:00:%02d.000Z,%d,%.9f\n", i, i, power(4 * loads[(i - 1) / 6]));
    fclose(stream);
    snprintf(path, sizeof path, "%s/energy.csv", name);
    folder_write(path, text);
    free(text);
}

static const double inside[] = {0.1, 0.25, 0.5, 0.75, 0.9};

static void power_of_steps_is_fitted(void **state) {
    (void)state;
    folder_open();
    write_steps("a", inside, free_power);
    write_steps("b", inside, pinned_power);
    struct ssreport_report report = gather_rows("a,accuracy,x,default,,,free,,,,1,rapl\n"
                                                "b,accuracy,x,default,,,per-chip,,,,1,rapl\n");
    assert_rows(&report, "power-fits", 2);
    assert_text(&report, "power-fits", 0, "placement", "free");
    assert_cell(&report, "power-fits", 0, "steps", 5);
    assert_near(
        table_cell_at(ssreport_table(&report, "power-fits"), 0, "square")->number, -0.13, 1e-6);
    assert_near(
        table_cell_at(ssreport_table(&report, "power-fits"), 0, "slope")->number, 8.86, 1e-6);
    assert_text(&report, "power-fits", 0, "best", "quadratic");
    assert_text(&report, "power-fits", 1, "best", "linear");
    assert_near(
        table_cell_at(ssreport_table(&report, "power-fits"), 1, "line_slope")->number, 4.72, 1e-6);
    /* 0.13 (4 / 2)^2 of the range 4 * 8.86 - 0.13 * 16. */
    assert_near(table_cell_at(ssreport_table(&report, "power-fits"), 0, "proportionality")->number,
        1 - 0.52 / 33.36, 1e-6);
    assert_text(&report, "power-fits", 0, "proportionality_of", "fit");
    assert_cell(&report, "power-fits", 1, "proportionality", 1);
    struct text text = print_report(&report);
    assert_has(&text, "<caption>Power over busy CPUs");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void runs_at_constant_loads_make_one_fit(void **state) {
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)state;
    folder_open();
    for (int i = 0; i < 4; i++) {
        double load = 0.25 * (i + 1);
        const double loads[5] = {load, load, load, load, load};
        write_steps(names[i], loads, free_power);
    }
    struct ssreport_report report = gather_rows("a,tradeoffs,x,default,,,free,,,,1,rapl\n"
                                                "b,tradeoffs,x,default,,,free,,,,1,rapl\n"
                                                "c,tradeoffs,x,default,,,free,,,,1,rapl\n"
                                                "d,tradeoffs,x,default,,,free,,,,1,rapl\n");
    assert_rows(&report, "power-fits", 1);
    assert_cell(&report, "power-fits", 0, "steps", 4);
    assert_cell(&report, "power-fits", 0, "cpus", 4);
    assert_near(
        table_cell_at(ssreport_table(&report, "power-fits"), 0, "slope")->number, 8.86, 1e-6);
    ssreport_report_free(&report);
}

static void machines_of_different_sizes_have_fits_of_their_own(void **state) {
    (void)state;
    static const double loads[5] = {0.2, 0.4, 0.6, 0.8, 1};
    folder_open();
    write_steps("a", loads, free_power);
    write_steps("b", loads, pinned_power);
    folder_change("b/plan.json", "\"cpu_count\": 4", "\"cpu_count\": 8");
    struct ssreport_report report = gather_rows("a,tradeoffs,x,default,,,free,,,,1,rapl\n"
                                                "b,tradeoffs,x,default,,,free,,,,1,rapl\n");
    assert_rows(&report, "power-fits", 2);
    assert_cell(&report, "power-fits", 0, "cpus", 4);
    assert_cell(&report, "power-fits", 1, "cpus", 8);
    assert_cell(&report, "power-fits", 1, "steps", 5);
    ssreport_report_free(&report);
}

/* Without a manifest, nothing else separates programs. */
static void commands_have_fits_of_their_own(void **state) {
    (void)state;
    static const double loads[5] = {0.2, 0.4, 0.6, 0.8, 1};
    folder_open();
    write_steps("a", loads, free_power);
    write_steps("b", loads, pinned_power);
    folder_change("b/plan.json", "\"<b>\"", "\"c\"");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    finish_report(&report);
    assert_rows(&report, "power-fits", 2);
    assert_text(&report, "power-fits", 0, "command", "a <b>");
    assert_text(&report, "power-fits", 1, "command", "a c");
    assert_cell(&report, "power-fits", 1, "instances", 2);
    assert_cell(&report, "power-fits", 1, "steps", 5);
    assert_text(&report, "power-fits", 1, "best", "linear");
    ssreport_report_free(&report);
}

static void proportionality_uses_measured_ends(void **state) {
    (void)state;
    static const double whole[] = {0, 0.25, 0.5, 0.75, 1};
    folder_open();
    write_steps("a", whole, free_power);
    struct ssreport_report report = gather_rows("a,accuracy,x,default,,,free,,,,1,rapl\n");
    assert_text(&report, "power-fits", 0, "proportionality_of", "steps");
    assert_near(table_cell_at(ssreport_table(&report, "power-fits"), 0, "proportionality")->number,
        1 - 0.52 / 33.36, 1e-6);
    ssreport_report_free(&report);
}

static void power_shared_by_two_runs_is_not_fitted(void **state) {
    (void)state;
    folder_open();
    mkdir(folder_file("pair"), 0777);
    mkdir(folder_file("pair/front"), 0777);
    mkdir(folder_file("pair/back"), 0777);
    write_steps("pair/front", inside, free_power);
    write_steps("pair/back", inside, free_power);
    rename(folder_file("pair/front/energy.csv"), folder_file("pair/energy.csv"));
    remove(folder_file("pair/back/energy.csv"));
    struct ssreport_report report =
        gather_rows("pair/front,interference,x,uncontrolled,foreground,g,sets,,,,1,rapl\n"
                    "pair/back,interference,x,default,background,g,sets,,,,1,rapl\n");
    assert_rows(&report, "energy", 2);
    assert_rows(&report, "power-fits", 0);
    ssreport_report_free(&report);
}

/* A third of the seconds have 20 W more; boxes are of the means of runs, as in Fig. 5. */
static double uneven_power(double busy) {
    static int calls;
    return 100 + 10 * busy + 20 * (calls++ % 3 == 0);
}

static void power_of_settings_at_one_load_has_boxes(void **state) {
    (void)state;
    static const double quarter[] = {0.25, 0.25, 0.25, 0.25, 0.25};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    struct text script;
    folder_open();
    for (int i = 0; i < 6; i++)
        write_steps(names[i], quarter, i == 2 ? uneven_power : pinned_power);
    struct ssreport_report report =
        gather_rows("a,tradeoffs,serial,fixed,,,quarter-one-node,0.25,,,1,rapl\n"
                    "b,tradeoffs,serial,fixed,,,half-spread,0.25,,,1,rapl\n"
                    "c,tradeoffs,serial,fixed,,,half-spread,0.25,,,2,rapl\n"
                    "d,tradeoffs,serial,fixed,,,all-free,0.25,,,1,rapl\n"
                    "e,tradeoffs,serial,fixed,,,pinned,0.5,,,1,rapl\n"
                    "f,tradeoffs,serial,fixed,,,free,0.5,,,1,rapl\n");
    assert_rows(&report, "power-settings", 3);
    assert_text(&report, "power-settings", 1, "placement", "half-spread");
    assert_cell(&report, "power-settings", 1, "runs", 2);
    assert_cell(&report, "power-settings", 1, "least", 117);
    assert_cell(&report, "power-settings", 1, "most", 192.1);
    begin(&script);
    ssreport_power_settings_plot(script.stream, ssreport_table(&report, "power-settings"), 0);
    end(&script);
    assert_has(&script, "\n2 117 135.775 154.55 173.325 192.1\n");
    assert_has(&script, "set xtics rotate by -30 scale 0 (");
    assert_has(&script, "candlesticks whiskerbars 0.5 fs transparent "); /* the median is visible */
    free(script.bytes);
    struct text text = print_report(&report);
    assert_has(&text, "<caption>Mean power of the runs by setting");
    free(text.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(published_coefficients_follow_from_exact_data),
    cmocka_unit_test(fits_with_noise_explain_99_percent),
    cmocka_unit_test(parabola_agrees_with_r),
    cmocka_unit_test(parabola_needs_four_points_at_three_places),
    cmocka_unit_test(power_of_steps_is_fitted),
    cmocka_unit_test(runs_at_constant_loads_make_one_fit),
    cmocka_unit_test(machines_of_different_sizes_have_fits_of_their_own),
    cmocka_unit_test(commands_have_fits_of_their_own),
    cmocka_unit_test(proportionality_uses_measured_ends),
    cmocka_unit_test(power_shared_by_two_runs_is_not_fitted),
    cmocka_unit_test(power_of_settings_at_one_load_has_boxes))
