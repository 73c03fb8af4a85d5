/* SPDX-License-Identifier: Apache-2.0 */

#include "interference_tables.h"
#include "pair_plots.h"
#include "report_pairs.h"

/* Adds a pair with a metric and its flags, and no other data. */
static struct ssreport_pair *add_metric(
    struct ssreport_report *report, const char *environment, const char *programs, double metric) {
    static struct ssreport_run run;
    static char names[64][2];
    struct ssreport_pair *pair = &report->pairs[report->pair_count];
    names[2 * report->pair_count][0] = programs[0];
    names[2 * report->pair_count + 1][0] = programs[1];
    *pair = (struct ssreport_pair){.foreground = &run,
        .background = &run,
        .placement = "per-core",
        .program = names[2 * report->pair_count],
        .background_program = names[2 * report->pair_count + 1]};
    report->pair_count++;
    strcpy(pair->environment, environment);
    pair->interference.metric = metric;
    pair->interference.significant = true;
    pair->interference.interval = (struct ssreport_interval){metric - 1, metric + 1};
    return pair;
}

static struct ssreport_report begin_pairs(void) {
    struct ssreport_report report = begin_report();
    report.pairs = calloc(32, sizeof *report.pairs);
    report.pair_capacity = 32;
    return report;
}

static struct text print_shades(const struct ssreport_report *report) {
    struct text text;
    begin(&text);
    ssreport_shades_print(text.stream, report);
    end(&text);
    return text;
}

/* Mean of two rounds: -45. Student's interval is 12.706 times a standard error of 15. */
static void significant_interference_is_shaded(void **state) {
    (void)state;
    struct ssreport_report report = begin_pairs();
    add_metric(&report, "none", "xx", 30)->interference.agree = true;
    add_metric(&report, "none", "xy", 60)->interference.significant = false;
    add_metric(&report, "none", "yx", -30);
    add_metric(&report, "none", "yx", -60)->interference.interval.low = -INFINITY;
    add_metric(&report, "none", "zx", -60)->interference.interval.low = -INFINITY;
    struct text text = print_shades(&report);
    assert_has(&text, "<th></th><th scope=\"col\">x</th><th scope=\"col\">y</th></tr>");
    assert_has(&text, "<th scope=\"row\">x</th>"
                      "<td style=\"background:#f8c8b4\">30.0\u2225<br/>"
                      "<small>29.0 to 31.0</small></td>"
                      "<td>60.0<br/><small>59.0 to 61.0</small></td>");
    assert_has(&text, "<th scope=\"row\">y</th><td>\u221245.0<br/>"
                      "<small>-235.6 to 145.6</small></td><td>\u2013</td></tr>");
    assert_has(&text, "<th scope=\"row\">z</th><td style=\"background:#96c3eb\">\u221260.0</td>");
    assert_has(&text, "Colors of none: darkest at 60.0 % up or down.");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Strong interference in one environment must not pale the colors of another. */
static void only_known_round_has_its_own_interval(void **state) {
    (void)state;
    struct ssreport_report report = begin_pairs();
    add_metric(&report, "none", "xx", NAN)->interference.significant = false;
    add_metric(&report, "none", "xx", 30);
    struct text text = print_shades(&report);
    assert_has(&text, "<td style=\"background:#f09169\">30.0<br/><small>29.0 to 31.0</small></td>");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void each_environment_has_its_own_color_range(void **state) {
    (void)state;
    struct ssreport_report report = begin_pairs();
    add_metric(&report, "none", "xx", 10);
    add_metric(&report, "lxc", "xx", 40);
    add_metric(&report, "kvm", "xx", 0.5);
    struct text text = print_shades(&report);
    assert_has(&text, "<caption>none, per-core</caption>");
    assert_has(&text, "background:#f09169\">10.0<br/><small>9.0 to 11.0<");
    assert_has(&text, "background:#f09169\">40.0<br/><small>39.0 to 41.0<");
    /* Tiny metrics must stay pale. */
    assert_has(&text, "Colors of kvm: darkest at 5.0 % up or down.");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The published figures of containers, per-thread: one program is far outside. */
static void outlying_program_is_reported_and_excluded_from_colors(void **state) {
    (void)state;
    static const char *const pairs[] = {"aa", "ba", "ca", "da", "ea"};
    static const double metrics[] = {105, 42, 45, 48, 43};
    struct ssreport_report report = begin_pairs();
    for (size_t i = 0; i < 5; i++)
        add_metric(&report, "none", pairs[i], metrics[i]);
    struct ssreport_shades shades = ssreport_shades_find(&report, &report.pairs[0]);
    assert_int_equal(shades.far_count, 1);
    assert_string_equal(shades.far[0].program, "a");
    assert_false(shades.far[0].as_background);
    assert_true(shades.most == 48);
    struct text text = print_shades(&report);
    assert_has(&text, "<td class=\"far\" style=\"background:#f09169\"");
    assert_has(&text, "Colors of none: darkest at 48.0 % up or down. Outliers beyond this "
                      "range (dashed): a as foreground with per-core.</p>");
    free(text.bytes);
    /* The program is less far outside, or there are too few others to compare with. */
    report.pairs[0].interference.metric = 54;
    assert_int_equal(ssreport_shades_find(&report, &report.pairs[0]).far_count, 0);
    report.pairs[0].interference.metric = 105;
    report.pair_count = 4;
    assert_int_equal(ssreport_shades_find(&report, &report.pairs[0]).far_count, 0);
    /* It is far from all others in its table, but within the range of the environment. */
    report.pair_count = 5;
    add_metric(&report, "none", "zz", 120)->placement = "per-thread";
    assert_int_equal(ssreport_shades_find(&report, &report.pairs[0]).far_count, 0);
    ssreport_report_free(&report);
}

static struct text write_script(const struct ssreport_report *report, size_t pair,
    bool (*write)(FILE *, const struct ssreport_report *, const struct ssreport_pair *)) {
    struct text text;
    begin(&text);
    bool drawn = write(text.stream, report, &report->pairs[pair]);
    assert_int_equal(drawn, ftell(text.stream) > 0);
    end(&text);
    return text;
}

static const struct made_pair chip = {"none", "per-chip", "p", "p", 1, {6, 6, 6, 6, 6, 6}, 3};
static const struct made_pair core = {
    "none", "per-core", "p", "p", 1, {5.5, 7, 8.5, 8.5, 7, 5.5}, 3};

static void pair_plots_show_both_halves_in_color(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &chip);
    add_made_pair(&report, &core);
    finish_report(&report);
    struct text text = write_script(&report, 0, ssreport_plot_sides);
    /* The foreground is the upper panel; the load goes down first. */
    assert_has(&text, "$a1down << END\n90 5.5\n60 7\n30 8.5\nNaN NaN\nEND\n");
    assert_has(&text, "$a1up << END\n30 8.5\n60 7\n90 5.5\nNaN NaN\nEND\n");
    assert_has(&text, "$b0up << END\n30 3\n60 3\n90 3\nNaN NaN\nEND\n");
    assert_has(&text, "$a0up with points pt 9 ps 0.7 lc rgb \"#0072b2\"");
    assert_has(&text, "$a1down with points pt 10 ps 0.7 lc rgb \"#d55e00\" notitle");
    free(text.bytes);
    text = write_script(&report, 0, ssreport_plot_whole_system);
    /* Both sides together are a time line: steps of 10 s. */
    assert_has(&text, "$a0up << END\n5 9\n15 9\n25 9\n35 9\n45 9\n55 9\n\nNaN");
    assert_has(&text, "$b1up << END\n5 94.4444\n15 111.111\n");
    assert_has(&text, "set xlabel \"time in seconds\"\nset xrange [0:60]");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* One picture has the background's load and target, and the foreground's throughput by placement.
 */
static void placements_share_a_picture_over_time(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair later = core;
    later.round = 2;
    add_made_pair(&report, &chip);
    add_made_pair(&report, &core);
    add_made_pair(&report, &later);
    for (size_t i = 0; i < report.run_count; i++) {
        struct ssreport_run *run = &report.runs[i];
        struct ssreport_record *record = &run->record;
        record->samples[0].load = 0.4;
        record->samples[0].target = 0.5;
        ssreport_rates_open(&run->rates, 0, STEP_LENGTH * STEPS, STEP_LENGTH);
        for (size_t j = 0; j < record->iteration_count; j++)
            ssreport_rates_add(&run->rates, record->iterations[j].start, record->iterations[j].end);
        ssreport_rates_divide(&run->rates);
    }
    finish_report(&report);
    report.runs[2].record.verdict.verdict.finding = SS_INVALID;
    struct text text = write_script(&report, 0, ssreport_plot_placements);
    assert_has(&text, "$line0_0 << END\n30 40 50 40 40\n");
    assert_has(&text, "$line1_1 << END\n5 5.5\n15 7\n25 8.5\n");
    assert_has(&text, "$mean1_1 << END\n0 5.5\n10 5.5\n\n10 7\n20 7\n\n");
    assert_has(&text, "using 1:3 with lines lw 4 lc rgb \"#80868b\" title \"target\"");
    assert_has(&text, "$line1_1 using 1:2 with lines lw 0.6 lc rgb \"#d55e00\" title ");
    assert_has_not(&text, "$line0_2");
    /* "per-core, invalid" */
    assert_has(&text, "\\055\\143\\157\\162\\145\\054\\040\\151\\156\\166\\141\\154\\151\\144\"");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* gnuplot rejects the whole picture if a panel has no points. */
static void plot_panel_without_points_is_omitted(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    add_made_pair(&report, &core);
    finish_report(&report);
    struct text text = write_script(&report, 0, ssreport_plot_whole_system);
    assert_has(&text, "set multiplot layout 1,1\n");
    assert_has(&text, "set ylabel \"both, /s\"");
    assert_null(strstr(text.bytes, "of per-chip"));
    assert_has(&text, "title \"");
    free(text.bytes);
    for (size_t i = 0; i < report.pairs[0].count; i++)
        report.pairs[0].steps[i].foreground = report.pairs[0].steps[i].background = NAN;
    text = write_script(&report, 0, ssreport_plot_sides);
    assert_string_equal(text.bytes, "");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The highest throughput of any foreground, 8.5, takes 90 % of a panel's height. */
static void panels_of_the_matrix_share_their_axes(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair other = chip;
    add_made_pair(&report, &core);
    other.background = "q";
    other.environment = "lxc";
    add_made_pair(&report, &other);
    other.environment = "tcg";
    add_made_pair(&report, &other);
    finish_report(&report);
    struct text text;
    begin(&text);
    unsigned width = ssreport_plot_matrix(text.stream, &report, &report.pairs[0], false);
    end(&text);
    assert_has(&text, "\n0.8100 -0.8941\n0.5400 -0.4971\n0.2700 -0.1000\n");
    assert_has(&text, "set xrange [0:2.000]\nset yrange [-1.000:0]");
    /* The lowest throughput is 5.5 of 8.5. */
    assert_has(&text, "set label \"from 60 %\" at -0.03,");
    free(text.bytes);
    begin(&text);
    assert_int_equal(ssreport_plot_matrix(text.stream, &report, &report.pairs[1], false), width);
    end(&text);
    assert_has(&text, "\n1.8100 -0.7618\n");
    assert_has(&text, "set xrange [0:2.000]\nset yrange [-1.000:0]");
    free(text.bytes);
    /* Emulated environments have their own scale. */
    begin(&text);
    ssreport_plot_matrix(text.stream, &report, &report.pairs[2], false);
    end(&text);
    assert_has(&text, "\n1.8100 -0.1000\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

static void matrix_has_a_row_per_foreground(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair other = {"none", "per-core", "q", "p", 1, {8, 8, 8, 8, 8, 8}, 3};
    add_made_pair(&report, &core);
    add_made_pair(&report, &other);
    finish_report(&report);
    struct text text;
    begin(&text);
    assert_int_equal(ssreport_plot_matrix(text.stream, &report, &report.pairs[1], false), 460);
    end(&text);
    assert_has(&text, "size 460,264 ");
    assert_has(&text, "set xrange [0:1.000]\nset yrange [-2.000:0]\n"
                      "set lmargin at screen 0.32609\nset rmargin at screen 0.56522\n"
                      "set tmargin at screen 0.77273\nset bmargin at screen 0.15152\n");
    assert_has(&text, "set label \"\\160\" at -0.12,-0.550 right\n"
                      "set label \"\\161\" at -0.12,-1.550 right\n"
                      "set label \"\\160\" at 0.450,0.08 center\n"
                      "set label \"0\" at 0,-2.130 center font \",12\"\n"
                      "set label \"100 %\" at 0.900,-2.130 center font \",12\"\n"
                      "set label \"100 %\" at -0.03,-1.140 right font \",12\"\n"
                      "set label \"from 60 %\" at -0.03,-1.960 right font \",12\"\n"
                      "$frames << END\n"
                      "0.0000 -1.0000\n0.9000 -1.0000\n0.9000 -0.1000\n0.0000 -0.1000\n"
                      "0.0000 -1.0000\n\n"
                      "0.0000 -2.0000\n0.9000 -2.0000\n0.9000 -1.1000\n0.0000 -1.1000\n"
                      "0.0000 -2.0000\n\nEND\n"
                      "$lines0_1 << END\n"
                      "0.8100 -0.8941\n0.5400 -0.4971\n0.2700 -0.1000\n\n\n"
                      "0.8100 -1.1000\n0.5400 -1.1000\n0.2700 -1.1000\n\n\nNaN NaN\nEND\n"
                      "$lines0_2 << END\n"
                      "0.2700 -0.1000\n0.5400 -0.4971\n0.8100 -0.8941\n\n\n"
                      "0.2700 -1.1000\n0.5400 -1.1000\n0.8100 -1.1000\n\n\nNaN NaN\nEND\n");
    assert_has(&text, "$lines0_2 with lines lw 1.2 dt (4,3) lc rgb \"#d55e00\" notitle\n");
    free(text.bytes);
    /* The points take more than half of a field if its axis begins at 0, because 4.25 is half
     * of 8.5. */
    report.pairs[0].steps[0].foreground = 4.25;
    begin(&text);
    ssreport_plot_matrix(text.stream, &report, &report.pairs[0], false);
    end(&text);
    assert_has_not(&text, "set label \"from");
    assert_has(&text, "$lines0_1 << END\n0.8100 -0.5500\n");
    free(text.bytes);
    /* The matrix of backgrounds: p in the only row, beside p and q; 3 /s is its highest. */
    begin(&text);
    assert_int_equal(ssreport_plot_matrix(text.stream, &report, &report.pairs[0], true), 460);
    end(&text);
    assert_has(&text, "set xrange [0:2.000]\nset yrange [-1.000:0]");
    assert_has(&text, "set label \"\\160\" at -0.12,-0.550 right\n");
    assert_has(&text, "set label \"\\161\" at 1.450,0.08 center\n");
    assert_has(&text, "\n0.8100 -0.1000\n0.5400 -0.1000\n0.2700 -0.1000\n\n\n1.8100 -0.1000\n");
    free(text.bytes);
    for (size_t i = 0; i < 2 * STEPS; i++)
        report.pairs[i / STEPS].steps[i % STEPS].background = NAN;
    begin(&text);
    assert_int_equal(ssreport_plot_matrix(text.stream, &report, &report.pairs[0], true), 0);
    end(&text);
    free(text.bytes);
    ssreport_report_free(&report);
}

/*
 * The throughput of each program is divided by its throughput alone, and the two parts are added.
 */
static void weighted_speedup_needs_both_programs_alone(void **state) {
    (void)state;
    struct ssreport_report report = begin_report();
    struct made_pair other = core;
    other.background = "q";
    other.placement = "y";
    add_made_pair(&report, &other);
    other.placement = "x";
    add_made_pair(&report, &other);
    finish_report(&report);
    struct text text = write_script(&report, 0, ssreport_plot_whole_system);
    assert_string_equal(text.bytes, "");
    free(text.bytes);
    for (size_t i = 0; i < 2; i++) {
        report.pairs[i].alone[0].throughput = 10;
        report.pairs[i].alone[1].throughput = 4;
    }
    /* Placements without a color of their own get different ones. */
    text = write_script(&report, 0, ssreport_plot_whole_system);
    assert_has(&text, "size 560,280 ");
    assert_has(&text, "set ylabel \"weighted speedup\"\nset yrange [0:0.001<*]\n"
                      "plot $a0up with linespoints pt 7 ps 0.5 lw 1.2 lc rgb \"#a87900\" title "
                      "\"\\170\", "
                      "$a0down with points pt 10 ps 0.7 lc rgb \"#a87900\" notitle, "
                      "$a1up with linespoints pt 7 ps 0.5 lw 1.2 lc rgb \"#3a8fc4\" title "
                      "\"\\171\", "
                      "$a1down with points pt 10 ps 0.7 lc rgb \"#3a8fc4\" notitle\n"
                      "unset multiplot\n");
    assert_has(&text, "$a0up << END\n5 1.3\n15 1.45\n25 1.6\n");
    free(text.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(placements_share_a_picture_over_time),
    cmocka_unit_test(significant_interference_is_shaded),
    cmocka_unit_test(only_known_round_has_its_own_interval),
    cmocka_unit_test(each_environment_has_its_own_color_range),
    cmocka_unit_test(outlying_program_is_reported_and_excluded_from_colors),
    cmocka_unit_test(pair_plots_show_both_halves_in_color),
    cmocka_unit_test(plot_panel_without_points_is_omitted),
    cmocka_unit_test(panels_of_the_matrix_share_their_axes),
    cmocka_unit_test(matrix_has_a_row_per_foreground),
    cmocka_unit_test(weighted_speedup_needs_both_programs_alone))
