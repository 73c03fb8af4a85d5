/* SPDX-License-Identifier: Apache-2.0 */

#include "differences.h"
#include "knobs_plots.h"
#include "report_requests.h"
#include "sample_idle.h"
#include "tree.h"
#include "underload.h"

static void limit_is_between_the_last_rate_and_the_first_that_exceeds_it(void **state) {
    (void)state;
    const double rates[] = {10, 20, 30, 40}, rising[] = {0.1, 0.4, 1.6, 9},
                 falling[] = {0.1, 1.5, 0.2, 3}, lost[] = {0.1, 0.4, INFINITY, INFINITY};
    struct ssreport_limit limit = ssreport_limit_find(rates, rising, 4, 1);
    assert_true(limit.last == 20 && limit.first == 30);
    assert_near(limit.crossing, 25, 1e-12);
    /* A later rate that meets the limit by chance is ignored. */
    limit = ssreport_limit_find(rates, falling, 4, 1);
    assert_true(limit.last == 10 && limit.first == 20);
    limit = ssreport_limit_find(rates, lost, 4, 1);
    assert_true(limit.last == 20 && limit.first == 30 && isnan(limit.crossing));
    limit = ssreport_limit_find(rates, rising, 4, 10);
    assert_true(limit.last == 40 && isnan(limit.first) && isnan(limit.crossing));
    limit = ssreport_limit_find(rates, rising, 4, 0.01);
    assert_true(isnan(limit.last) && limit.first == 10 && isnan(limit.crossing));
    limit = ssreport_limit_find(rates, rising, 4, 0.4);
    assert_true(limit.last == 10 && limit.first == 20);
}

static void capacity_as_published_hides_waiting_before_sending(void **state) {
    (void)state;
    folder_open();
    write_record("a", high, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-limits", 6);
    assert_text(&report, "requests-limits", 0, "counted", "intended, all");
    assert_text(&report, "requests-limits", 0, "criterion", "mean");
    assert_cell(&report, "requests-limits", 0, "last_rate", 20);
    assert_cell(&report, "requests-limits", 0, "first_rate", 30);
    assert_near(number(&report, "requests-limits", 0, "crossing_rate"), 25, 1e-9);
    assert_text(&report, "requests-limits", 1, "criterion", "p95");
    assert_cell(&report, "requests-limits", 1, "last_rate", 20);
    assert_text(&report, "requests-limits", 2, "criterion", "both");
    assert_near(number(&report, "requests-limits", 2, "crossing_rate"), 25, 1e-9);
    assert_text(&report, "requests-limits", 5, "counted", "actual, successes");
    assert_cell(&report, "requests-limits", 5, "last_rate", 30);
    assert_cell(&report, "requests-limits", 5, "first_rate", NAN);
    struct text text = print_report(&report);
    assert_has(&text, "<caption>Underloaded: rates at which the mean is below 1 s");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* Returns the report on all runs of the study in the folder. */
static struct ssreport_report report_study(void) {
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file(""), 0), 0);
    assert_int_equal(ssreport_differences_find(&report), 0);
    finish_report(&report);
    return report;
}

static void columns_of_the_plan_separate_services(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"size\": \"small\", \"rate\": \"10\", \"round\": \"1\"", high);
    write_run("b", "\"size\": \"small\", \"rate\": \"20\", \"round\": \"2\"", high);
    write_run("c", "\"size\": \"large\", \"rate\": \"10\", \"round\": \"1\"", low);
    struct ssreport_report report = report_study();
    assert_rows(&report, "requests-limits", 12);
    assert_text(&report, "requests-limits", 0, "variant", "size=small");
    assert_cell(&report, "requests-limits", 0, "rates", 3);
    assert_cell(&report, "requests-limits", 0, "last_rate", 20);
    assert_text(&report, "requests-limits", 6, "variant", "size=large");
    assert_cell(&report, "requests-limits", 6, "last_rate", 10);
    assert_text(&report, "requests-rates", 0, "variant", "size=small");
    struct text text = print_report(&report);
    assert_has(&text, "serve, size=large: ");
    free(text.bytes);
    ssreport_report_free(&report);
}

/* The number of instances follows from the level of the knob, and the seed from the round. */
static void columns_that_follow_from_knobs_do_not_separate_services(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"instances=2\", \"instances\": \"2\", \"seed\": \"2\"", high);
    write_run("b", "\"knobs\": \"instances=1\", \"instances\": \"1\", \"seed\": \"2\"", low);
    write_run("c", "\"knobs\": \"instances=1\", \"instances\": \"1\", \"seed\": \"3\"", low);
    struct ssreport_report report = report_study();
    assert_rows(&report, "requests-limits", 12);
    assert_text(&report, "requests-limits", 0, "variant", "");
    ssreport_report_free(&report);
}

/* The successful requests are fast, but 5 % of the requests are lost. */
static void lost_requests_count_as_slower_than_the_limit(void **state) {
    (void)state;
    struct at_rate losing[4];
    memcpy(losing, high, sizeof losing);
    losing[2].lost = 1;
    folder_open();
    write_record("a", losing, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_cell(&report, "requests-limits", 1, "last_rate", 10);
    assert_cell(&report, "requests-limits", 1, "first_rate", 20);
    assert_cell(&report, "requests-limits", 1, "crossing_rate", NAN);
    assert_cell(&report, "requests-limits", 2, "first_rate", 20);
    assert_cell(&report, "requests-limits", 2, "crossing_rate", NAN);
    assert_cell(&report, "requests-limits", 4, "last_rate", 30);
    assert_text(&report, "requests-rates", 1, "state", "overloaded");
    ssreport_report_free(&report);
}

static void power_of_each_rate_is_reported(void **state) {
    (void)state;
    folder_open();
    write_record("a", high, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-rates", 3);
    assert_cell(&report, "requests-rates", 0, "rate", 10);
    assert_cell(&report, "requests-rates", 0, "watts", 150);
    assert_near(number(&report, "requests-rates", 0, "watts_deviation"), sqrt(4 * 9 / 3.0), 1e-9);
    assert_cell(&report, "requests-rates", 0, "watts_seconds", 4);
    assert_cell(&report, "requests-rates", 0, "idle_watts", 120);
    assert_text(&report, "requests-rates", 0, "state", "underloaded");
    assert_text(&report, "requests-rates", 0, "saturated", "no");
    assert_text(&report, "requests-rates", 2, "state", "overloaded");
    assert_text(&report, "requests-rates", 2, "saturated", "yes");
    ssreport_report_free(&report);
    remove(folder_file("a/energy.csv"));
    report = make_report(folder_file("a"));
    assert_cell(&report, "requests-rates", 0, "idle_watts", NAN);
    assert_rows(&report, "requests-limits", 6);
    ssreport_report_free(&report);
}

static void savings_and_losses_compare_two_levels(void **state) {
    (void)state;
    static const char rows[] = "b,latency,serve,averageq,requests,,,0.5,,,1,rapl\n"
                               "a,latency,serve,averageq,requests,,,0.9,,,1,rapl\n";
    folder_open();
    write_record("a", high, 4);
    write_record("b", low, 4);
    struct ssreport_report report = gather_rows(rows);
    assert_rows(&report, "requests-savings", 1);
    assert_cell(&report, "requests-savings", 0, "rate", 30);
    assert_text(&report, "requests-savings", 0, "saturated", "yes");
    assert_cell(&report, "requests-savings", 0, "high_watts", 200);
    assert_cell(&report, "requests-savings", 0, "low_watts", 160);
    assert_near(number(&report, "requests-savings", 0, "saved"), 0.2, 1e-9);
    assert_near(number(&report, "requests-savings", 0, "high_capacity"), 25, 1e-9);
    assert_near(number(&report, "requests-savings", 0, "low_capacity"), 15, 1e-9);
    assert_near(number(&report, "requests-savings", 0, "lost"), 0.4, 1e-9);
    assert_near(number(&report, "requests-savings", 0, "lost_per_saved"), 2, 1e-9);
    assert_text(&report, "requests-savings", 0, "high", "serve, averageq, 90 %");
    ssreport_report_free(&report);
    /* Levels of different services are not compared. */
    report = gather_rows("b,latency,wiki,averageq,requests,,,0.5,,,1,rapl\n"
                         "a,latency,serve,averageq,requests,,,0.9,,,1,rapl\n");
    assert_rows(&report, "requests-savings", 0);
    ssreport_report_free(&report);
}

/* One of two CPUs is busy at the highest rate; both together are 75 % busy. */
static void busiest_cpu_decides_whether_a_level_is_saturated(void **state) {
    char text[8000] = "time,load,cpu\n";
    (void)state;
    folder_open();
    write_record("a", high, 4);
    write_record("b", low, 4);
    for (int i = 1; i <= 4 * STEP; i++) {
        double most = i > 3 * STEP ? 0.99 : 0.7;
        snprintf(text + strlen(text), sizeof text - strlen(text),
            "2026-11-20T10:00:%02d.000Z,%g,all\n2026-11-20T10:00:%02d.000Z,%g,0\n"
            "2026-11-20T10:00:%02d.000Z,0.5,1\n",
            i, (most + 0.5) / 2, i, most, i);
    }
    folder_write("a/beside.csv", text);
    struct ssreport_report report =
        gather_rows("b,latency,serve,averageq,requests,,,0.5,,,1,rapl\n"
                    "a,latency,serve,averageq,requests,,,0.9,,,1,rapl\n");
    assert_rows(&report, "requests-savings", 1);
    assert_text(&report, "requests-savings", 0, "saturated", "yes");
    assert_text(&report, "requests-rates", 4, "saturated", "no");
    assert_text(&report, "requests-rates", 5, "saturated", "yes");
    assert_near(number(&report, "requests-rates", 5, "load"), 0.745, 1e-9);
    ssreport_report_free(&report);
}

/* At the first rate, CPUs are active for 55 and 65 % of two seconds each. */
static void idle_states_of_each_rate_are_means_with_deviations(void **state) {
    char text[2000] = "time,elapsed_seconds,active,frequency_mhz,C1,C6\n";
    (void)state;
    folder_open();
    write_record("a", high, 4);
    for (int i = 1; i <= 4 * STEP; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
            "2026-11-20T10:00:%02d.000Z,%d,%s,1400.000,%s\n", i, i, i % 2 ? "0.5500" : "0.6500",
            i % 2 ? "0.0200,0.9800" : "0.0400,0.9600");
    folder_write("a/idle.csv", text);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-idle", 3 * 2);
    assert_cell(&report, "requests-idle", 0, "rate", 10);
    assert_cell(&report, "requests-idle", 0, "seconds", 4);
    assert_near(number(&report, "requests-idle", 0, "active"), 0.6, 1e-9);
    assert_near(
        number(&report, "requests-idle", 0, "active_deviation"), sqrt(4 * 0.0025 / 3), 1e-9);
    assert_text(&report, "requests-idle", 1, "state", "C6");
    assert_near(number(&report, "requests-idle", 1, "share"),
        (0.45 * 0.98 + 0.35 * 0.96) / (0.45 + 0.35), 1e-9);
    assert_near(number(&report, "requests-idle", 1, "share_deviation"), sqrt(4e-4 / 3), 1e-9);
    ssreport_report_free(&report);
}

/* Counters of idle states in a recorded /sys. */
#define CPUS       4
#define STATES_MAX 8
#define TIME       "sys/devices/system/cpu/cpu%d/cpuidle/state%d/time"

struct machine {
    uint64_t times[CPUS][STATES_MAX]; /* microseconds */
    int states;
};

/* Makes the tree of a recorded machine, and reads its counters. */
static void make_machine(struct machine *machine, const char *name) {
    char path[300], line[300];
    int cpu, state;
    *machine = (struct machine){0};
    tree_new();
    snprintf(path, sizeof path, PROJECT_SOURCE_DIR "/tests/data/idle/%s.tree", name);
    FILE *stream = fopen(path, "re");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream)) {
        char *text = strchr(line, '\t');
        if (*line == '#' || !text)
            continue;
        *text++ = '\0';
        strcpy(strstr(text, "\\n"), "\n");
        tree_write(line, text);
        if (sscanf(line, TIME, &cpu, &state) != 2 || !strstr(line, "/time"))
            continue;
        machine->times[cpu][state] = strtoull(text, NULL, 10);
        machine->states = state + 1;
    }
    fclose(stream);
}

/*
 * Lets a second pass in which CPUs are idle for the part `idle`, two of them for longer than the
 * others. They spend the parts `shares` of that in the last four states, the deepest last.
 */
static void pass_second(struct machine *machine, double idle, const double shares[4]) {
    for (int cpu = 0; cpu < CPUS; cpu++) {
        double time = 1e6 * idle * (cpu < 2 ? 1.4 : 0.6);
        uint64_t *times = machine->times[cpu];
        for (int i = 0; i < 4 && i < machine->states; i++)
            times[machine->states - 1 - i] += (uint64_t)llround(time * shares[3 - i]);
        for (int state = 0; state < machine->states; state++) {
            char path[100], text[32];
            snprintf(path, sizeof path, TIME, cpu, state);
            snprintf(text, sizeof text, "%llu\n", (unsigned long long)times[state]);
            tree_write(path, text);
        }
    }
}

/*
 * Writes idle.csv of a run on a machine whose CPUs are active for the part `active`, plus or minus
 * a distance at which four seconds have this deviation. The published one is over the cores.
 */
static void sample_machine(
    const char *name, double active, double deviation, const double shares[4]) {
    struct machine machine;
    struct sssample_idle idle;
    char *text;
    size_t size;
    double distance = deviation * sqrt(3.0 / STEP);
    make_machine(&machine, name);
    assert_true(sssample_idle_find(&idle, tree_root, NULL));
    const struct sssample_source source = sssample_idle_source(&idle);
    FILE *stream = open_memstream(&text, &size);
    source.print_sample(stream, source.source, 0);
    rewind(stream);
    fputs("time,elapsed_seconds,", stream);
    source.print_columns(stream, source.source);
    for (int i = 1; i <= 4 * STEP; i++) {
        pass_second(&machine, 1 - active + (i % 2 ? distance : -distance), shares);
        fprintf(stream, "\n2026-11-20T10:00:%02d.000Z,%d,", i, i);
        source.print_sample(stream, source.source, SS_SECOND);
    }
    fputc('\n', stream);
    fclose(stream);
    folder_write("a/idle.csv", text);
    sssample_idle_free(&idle);
    free(text);
}

/* Recorded counters give Tables 2 to 4, up to the four digits of idle.csv. */
static void published_residency_follows_from_idle_counters(void **state) {
    (void)state;
    char line[256];
    size_t rows = 0;
    FILE *stream =
        fopen(PROJECT_SOURCE_DIR "/tools/experiments/published/actuators-residency.csv", "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    for (; fgets(line, sizeof line, stream); rows++) {
        char *rest = line, *fields[11];
        for (int i = 0; i < 11; i++)
            fields[i] = strsep(&rest, ",");
        double active = strtod(fields[4], NULL), deviation = strtod(fields[5], NULL), shares[4];
        for (int i = 0; i < 4; i++)
            shares[i] = strtod(fields[6 + i], NULL) / 100;
        bool is_xeon = strstr(fields[3], "E5-2620") != NULL;
        shares[3] = is_xeon ? shares[3] : 1;
        size_t deepest = is_xeon ? 4 : 2;
        folder_open();
        write_record("a", high, 4);
        sample_machine(is_xeon ? "xeon" : "opteron", active / 100, deviation / 100, shares);
        struct ssreport_report report = make_report(folder_file("a"));
        assert_near(100 * number(&report, "requests-idle", deepest, "active"), active, 0.02);
        assert_near(
            100 * number(&report, "requests-idle", deepest, "active_deviation"), deviation, 0.01);
        assert_text(&report, "requests-idle", deepest, "state", is_xeon ? "C6_HSW" : "C2");
        for (size_t i = 0; is_xeon && i < 4; i++)
            assert_near(number(&report, "requests-idle", i + 1, "share"), shares[i], 2e-4);
        ssreport_report_free(&report);
    }
    fclose(stream);
    assert_int_equal(rows, 9);
}

static void remove_power(const char *name) {
    char path[100];
    snprintf(path, sizeof path, "%s/requests/energy.csv", name);
    remove(folder_file(path));
}

static void levels_that_differ_in_cap_or_balance_are_two_series(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"pin=free\", \"balance\": \"round-robin\", \"cap\": \"10\"", high);
    write_run("b", "\"knobs\": \"pin=free\", \"balance\": \"round-robin\", \"cap\": \"20\"", low);
    write_run(
        "c", "\"knobs\": \"pin=free\", \"balance\": \"least-connections\", \"cap\": \"20\"", high);
    write_run(
        "d", "\"knobs\": \"pin=first:1\", \"balance\": \"round-robin\", \"cap\": \"10\"", low);
    struct ssreport_report report = make_report(folder_file(""));
    assert_rows(&report, "requests-limits", 4 * 6);
    assert_text(&report, "requests-limits", 0, "knobs", "pin=free");
    assert_cell(&report, "requests-limits", 0, "cap", 10);
    assert_cell(&report, "requests-limits", 6, "cap", 20);
    assert_text(&report, "requests-limits", 12, "balance", "least-connections");
    /*
     * a and b differ in cap, b and c in balance, a and d in knobs; other pairs differ in several.
     */
    assert_rows(&report, "requests-savings", 3);
    assert_text(&report, "requests-savings", 0, "high", "serve, pin=free, round-robin, cap 10");
    assert_text(&report, "requests-savings", 0, "knob", "");
    ssreport_report_free(&report);
}

static void knobs_are_reported_next_to_the_published_ones(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"instances=2+pin=free\"", high);
    write_run("b", "\"knobs\": \"pin=free\"", low); /* one instance */
    write_run("c", "\"knobs\": \"cpus=1+workers=2\"", low);
    folder_write("power/run.json",
        "{\"schema\": 1, \"status\": \"skipped\", \"reason\": \"no driver\", \"columns\": "
        "{\"experiment\": \"tradeoffs\", \"knobs\": \"power\"}, \"commands\": []}");
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file(""), 0), 0);
    published_read(&report.published, PROJECT_SOURCE_DIR "/tools/experiments/published", "ssreport",
        &report.notes);
    finish_report(&report);
    assert_rows(&report, "requests-savings", 1);
    assert_rows(&report, "requests-knobs", 5);
    assert_text(&report, "requests-knobs", 4, "knob", "power");
    assert_text(&report, "requests-knobs", 4, "note", "absent: no driver");
    assert_text(&report, "requests-knobs", 2, "knob", "instances");
    assert_text(&report, "requests-knobs", 2, "published_as", "horizontal");
    assert_near(number(&report, "requests-knobs", 2, "saved"), 0.2, 1e-9);
    assert_near(number(&report, "requests-knobs", 2, "lost"), 0.4, 1e-9);
    assert_near(number(&report, "requests-knobs", 2, "published_saved_percent"), 29, 1e-9);
    assert_near(number(&report, "requests-knobs", 2, "published_lost_percent"), 61, 1e-9);
    assert_text(&report, "requests-knobs", 0, "note",
        "no two levels that differ only in this knob have a known capacity");
    assert_near(number(&report, "requests-knobs", 0, "published_lost_percent"), 33, 1e-9);
    assert_headline(&report, "What does each knob save, and what does it cost?",
        "pin=free instead of instances=2+pin=free loses 40.0 % of the capacity, from 25 to 15 "
        "requests a second, and saves 20.0 % of the power. Published for another machine "
        "(horizontal): 61 % lost, 29 % of the power saved.");
    ssreport_report_free(&report);
}

static void losses_are_reported_without_power_readings(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"quota=100%\"", high);
    write_run("b", "\"knobs\": \"quota=50%\"", low);
    remove_power("a");
    remove_power("b");
    struct ssreport_report report = make_report(folder_file(""));
    assert_rows(&report, "requests-savings", 1);
    assert_text(&report, "requests-savings", 0, "high_knobs", "quota=100%");
    assert_near(number(&report, "requests-savings", 0, "lost"), 0.4, 1e-9);
    assert_cell(&report, "requests-savings", 0, "saved", NAN);
    assert_text(&report, "requests-savings", 0, "knob", "quota");
    assert_headline(&report, "What does each knob save, and what does it cost?",
        "quota=50% instead of quota=100% loses 40.0 % of the capacity, from 25 to 15 requests a "
        "second; no power was recorded.");
    ssreport_report_free(&report);
    folder_open();
    write_run("a", "\"knobs\": \"quota=100%\"", high);
    report = make_report(folder_file(""));
    assert_headline(&report, "What does each knob save, and what does it cost?",
        "No two levels that differ only in one knob have a known capacity: some were overloaded at "
        "the lowest rate, or not at the highest one.");
    ssreport_report_free(&report);
}

static size_t count_of(const struct text *script, const char *words) {
    size_t count = 0;
    for (const char *at = script->bytes; (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

static bool plot_arrivals(struct text *script, const struct ssreport_report *report) {
    return ssreport_knobs_plot_grid(script->stream, report, 0, SSREPORT_COLUMN_PER_ARRIVAL);
}

/* Both rounds have 100 % of successes, and a mean response time that is 0.1 s at a rate of 10. */
static void pictures_have_a_column_for_each_arrival_and_a_row_for_each_figure(void **state) {
    (void)state;
    struct text script;
    folder_open();
    write_run("a", "\"knobs\": \"pin=free\", \"round\": \"1\"", high);
    write_run("b", "\"knobs\": \"pin=free\", \"round\": \"2\"", high);
    write_run("c", "\"knobs\": \"pin=first:1\", \"round\": \"1\"", low);
    write_run("d", "\"knobs\": \"pin=free\", \"round\": \"1\"", high);
    folder_write("d/requests/requests.json", "{\"schema\": 2, \"arrival\": \"concurrent\"}");
    struct ssreport_report report = make_report(folder_file(""));
    begin(&script);
    assert_true(plot_arrivals(&script, &report));
    end(&script);
    assert_has(&script, "$d0 << END\n10 100 150 150 100\n20 400 600 180 100\n"
                        "30 1600 2400 200 100\nEND\n");
    assert_has(&script, "$d1 << END\n10 400 600 140 100\n");
    assert_has(&script, "$d12 << END\n10 100 150 150 100\n");
    assert_has(&script, "set multiplot layout 4,2 columnsfirst");
    /* "conc", as octal numbers. */
    assert_has(&script, "set title \"\\143\\157\\156\\143");
    assert_has(&script, "set arrow from graph 0, first 1000 to graph 1, first 1000");
    assert_has(&script, "set arrow from graph 0, first 2000 to graph 1, first 2000");
    assert_has(&script, "plot $d0 using 1:4 ");
    /* Both columns have the ranges of all levels: means up to 9 s, 95 % within 13.5 s, 200 W. */
    assert_that(count_of(&script, "set yrange [100:10000]"), ==, 2);
    assert_that(count_of(&script, "set yrange [100:100000]"), ==, 2);
    assert_that(count_of(&script, "set yrange [0:210]"), ==, 2);
    free(script.bytes);
    begin(&script);
    assert_true(ssreport_knobs_plot_cost(script.stream, &report, 0));
    end(&script);
    assert_has(&script, "plot $d0 using 2:4 ");
    free(script.bytes);
    ssreport_report_free(&report);
    for (int i = 0; i < 4; i++)
        remove_power((const char *[]){"a", "b", "c", "d"}[i]);
    report = make_report(folder_file(""));
    begin(&script);
    assert_true(plot_arrivals(&script, &report));
    assert_false(ssreport_knobs_plot_cost(script.stream, &report, 0));
    end(&script);
    assert_has(&script, "set multiplot layout 3,2 columnsfirst");
    assert_has_not(&script, "power, W");
    free(script.bytes);
    ssreport_report_free(&report);
    folder_open();
    write_run("a", "\"knobs\": \"pin=free\"", high);
    report = make_report(folder_file(""));
    begin(&script);
    assert_false(plot_arrivals(&script, &report));
    end(&script);
    assert_int_equal(script.size, 0);
    free(script.bytes);
    ssreport_report_free(&report);
}

/* The level with more resources is first, even if it needs less power. */
static void levels_are_sorted_by_resources(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"instances=1\"", high);
    write_run("b", "\"knobs\": \"instances=3\"", low);
    struct ssreport_report report = make_report(folder_file(""));
    assert_text(&report, "requests-knobs", 2, "knob", "instances");
    assert_text(&report, "requests-knobs", 2, "high", "instances=3");
    assert_near(number(&report, "requests-knobs", 2, "lost"), (15 - 25.0) / 15, 1e-9);
    assert_near(number(&report, "requests-knobs", 2, "saved"), (160 - 200.0) / 160, 1e-9);
    assert_headline(&report, "What does each knob save, and what does it cost?",
        "instances=1 instead of instances=3 gains 66.7 % of the capacity, from 15 to 25 requests a "
        "second, and costs 25.0 % of the power.");
    ssreport_report_free(&report);
}

static bool plot_pins(struct text *script, const struct ssreport_report *report) {
    return ssreport_knobs_plot_grid(script->stream, report, 0, SSREPORT_COLUMN_PER_PIN);
}

/* The first level of the second column is absent: c has one instance. */
static void pictures_have_a_column_for_each_pin_that_is_crossed(void **state) {
    (void)state;
    struct text script;
    folder_open();
    write_run("a", "\"knobs\": \"instances=2\"", high);
    write_run("b", "\"knobs\": \"pin=free+instances=1\"", low);
    write_run("c", "\"knobs\": \"instances=1+pin=spread:1\"", low);
    struct ssreport_report report = make_report(folder_file(""));
    begin(&script);
    assert_true(plot_pins(&script, &report));
    end(&script);
    assert_has(&script, "set multiplot layout 4,2 columnsfirst");
    /* "pin=f" and "pin=s", as octal numbers. */
    assert_has(&script, "set title \"\\160\\151\\156\\075\\146");
    assert_has(&script, "set title \"\\160\\151\\156\\075\\163");
    assert_has(&script, "$d0 << END\n10 100 150 150 100\n");
    assert_has(&script, "$d1 << END\n10 400 ");
    assert_has(&script, "$d13 << END\n10 400 ");
    assert_has_not(&script, "$d12");
    free(script.bytes);
    ssreport_report_free(&report);
    /* As Fig. 10: one column for all that are pinned to the first CPUs. */
    folder_open();
    write_run("a", "\"knobs\": \"instances=1\"", high);
    write_run("b", "\"knobs\": \"instances=2\"", high);
    write_run("c", "\"knobs\": \"instances=1+pin=first:2,each\"", low);
    write_run("d", "\"knobs\": \"instances=2+pin=first:4,each\"", low);
    report = make_report(folder_file(""));
    begin(&script);
    assert_true(plot_pins(&script, &report));
    end(&script);
    assert_has(&script, "set multiplot layout 4,2 columnsfirst");
    assert_has(&script, "$d12 << END\n10 400 ");
    assert_has(&script, "$d13 << END\n10 400 ");
    free(script.bytes);
    ssreport_report_free(&report);
    folder_open();
    write_run("a", "\"knobs\": \"pin=free\"", high);
    write_run("b", "\"knobs\": \"pin=spread:1\"", low);
    report = make_report(folder_file(""));
    begin(&script);
    assert_false(plot_pins(&script, &report));
    assert_true(plot_arrivals(&script, &report));
    end(&script);
    free(script.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(limit_is_between_the_last_rate_and_the_first_that_exceeds_it),
    cmocka_unit_test(capacity_as_published_hides_waiting_before_sending),
    cmocka_unit_test(columns_of_the_plan_separate_services),
    cmocka_unit_test(columns_that_follow_from_knobs_do_not_separate_services),
    cmocka_unit_test(lost_requests_count_as_slower_than_the_limit),
    cmocka_unit_test(power_of_each_rate_is_reported),
    cmocka_unit_test(savings_and_losses_compare_two_levels),
    cmocka_unit_test(busiest_cpu_decides_whether_a_level_is_saturated),
    cmocka_unit_test(idle_states_of_each_rate_are_means_with_deviations),
    cmocka_unit_test(published_residency_follows_from_idle_counters),
    cmocka_unit_test(levels_that_differ_in_cap_or_balance_are_two_series),
    cmocka_unit_test(knobs_are_reported_next_to_the_published_ones),
    cmocka_unit_test(losses_are_reported_without_power_readings),
    cmocka_unit_test(pictures_have_a_column_for_each_arrival_and_a_row_for_each_figure),
    cmocka_unit_test(pictures_have_a_column_for_each_pin_that_is_crossed),
    cmocka_unit_test(levels_are_sorted_by_resources))
