/* SPDX-License-Identifier: Apache-2.0 */

/* The examples are computed by hand. */

#include "report_requests.h"

#define ROUNDS 3

static const char *written_arrival = "even";

/*
 * Writes the rounds of a level. Power differs by `spread` watts from round to round, so its mean is
 * that of the second round.
 */
static void write_rounds(
    const char *knobs, const char *balance, const struct at_rate *rates, double spread) {
    for (int round = 1; round <= ROUNDS; round++) {
        static int number;
        char name[32], columns[300], path[64], arrival[100];
        struct at_rate shifted[4];
        memcpy(shifted, rates, sizeof shifted);
        for (int i = 0; i < 4; i++)
            shifted[i].watts += (round - 2) * spread;
        snprintf(name, sizeof name, "r%d", number++);
        snprintf(columns, sizeof columns,
            "\"knobs\": \"%s\", \"round\": \"%d\", \"balance\": \"%s\", \"machine_cpus\": \"4\"",
            knobs, round, balance);
        write_run(name, columns, shifted);
        snprintf(path, sizeof path, "%s/requests/requests.json", name);
        snprintf(arrival, sizeof arrival, "{\"schema\": 2, \"arrival\": \"%s\"}", written_arrival);
        folder_write(path, arrival);
    }
}

static size_t find_row(const struct ssreport_report *report, const char *statement) {
    const struct table_sheet *sheet = ssreport_table(report, "requests-rules");
    for (size_t i = 0; i < table_rows(sheet); i++) {
        if (strcmp(table_cell_at(sheet, i, "statement")->text, statement) == 0)
            return i;
    }
    fail_msg("no statement: %s", statement);
    return 0;
}

static void assert_verdict(
    const struct ssreport_report *report, const char *statement, const char *verdict) {
    assert_text(report, "requests-rules", find_row(report, statement), "verdict", verdict);
}

static const char *const saves_little =
    "a lower frequency saves less than 5 % of the power of an underloaded service";
static const char *const saves_saturated =
    "a lower frequency saves 5 to 20 % of the power of a saturated machine";

/* Both are underloaded up to a rate of 10, and saturated at 30. */
static void power_of_two_levels_is_compared_underloaded_and_saturated(void **state) {
    (void)state;
    struct at_rate less[4];
    memcpy(less, low, sizeof less);
    less[1].watts = 148.5; /* 1 % less than 150 W */
    less[3].watts = 172;   /* 14 % less than 200 W */
    folder_open();
    write_rounds("frequency=max", "round-robin", high, 0.5);
    write_rounds("frequency=1.4GHz", "round-robin", less, 0.5);
    struct ssreport_report report = make_report(folder_file(""));
    size_t row = find_row(&report, saves_little);
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_cell(&report, "requests-rules", row, "rate", 10);
    assert_cell(&report, "requests-rules", row, "runs", 3);
    assert_text(&report, "requests-rules", row, "first", "frequency=max");
    assert_near(number(&report, "requests-rules", row, "difference"), 0.01, 1e-9);
    /* Welch: the standard error is sqrt(2 / 12) W, and t has 4 degrees of freedom. */
    assert_near(number(&report, "requests-rules", row, "high"),
        (1.5 + 2.776445105 * sqrt(0.5 / 3)) / 150, 1e-9);
    row = find_row(&report, saves_saturated);
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_cell(&report, "requests-rules", row, "rate", 30);
    assert_near(number(&report, "requests-rules", row, "difference"), 0.14, 1e-9);
    assert_verdict(&report,
        "a lower frequency lengthens the mean response time of a saturated machine", "supported");
    /* 40 % of the capacity and twice 14 % of the power. */
    row = find_row(
        &report, "a lower frequency costs at least twice as much capacity as it saves power");
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_near(number(&report, "requests-rules", row, "difference"), 0.12, 1e-9);
    assert_verdict(
        &report, "pinning does not change the power of an underloaded service", "not tested");
    ssreport_report_free(&report);
}

/* Only the levels that are farthest apart are compared, at rates that saturate both. */
static void saturated_levels_farthest_apart_are_compared(void **state) {
    (void)state;
    struct at_rate middle[4], idle[4];
    memcpy(middle, high, sizeof middle);
    memcpy(idle, low, sizeof idle);
    middle[3].watts = 190;
    idle[3].load = 0.97;
    folder_open();
    write_rounds("frequency=max", "round-robin", high, 0.5);
    write_rounds("frequency=min", "round-robin", low, 0.5);
    write_rounds("frequency=1.8GHz", "round-robin", middle, 0.5);
    struct ssreport_report report = make_report(folder_file(""));
    size_t row = find_row(&report, saves_saturated);
    assert_text(&report, "requests-rules", row, "second", "frequency=min");
    assert_near(number(&report, "requests-rules", row, "difference"), 0.2, 1e-9);
    ssreport_report_free(&report);
    folder_open();
    write_rounds("frequency=max", "round-robin", high, 0.5);
    write_rounds("frequency=min", "round-robin", idle, 0.5);
    report = make_report(folder_file(""));
    assert_verdict(&report, saves_saturated, "not tested");
    ssreport_report_free(&report);
}

static void rule_is_contradicted_or_undecided_by_data(void **state) {
    (void)state;
    folder_open();
    write_rounds("frequency=2.1GHz", "round-robin", high, 0.5);
    write_rounds("frequency=min", "round-robin", low, 0.5); /* saves 10 of 150 W */
    struct ssreport_report report = make_report(folder_file(""));
    assert_verdict(&report, saves_little, "contradicted");
    ssreport_report_free(&report);
    folder_open();
    write_rounds("frequency=2.1GHz", "round-robin", high, 20);
    write_rounds("frequency=min", "round-robin", low, 20);
    report = make_report(folder_file(""));
    assert_verdict(&report, saves_little, "undecided");
    ssreport_report_free(&report);
}

/* Capacities are 25 and 15: less than twice as much with two instances. */
static void response_times_and_capacity_are_compared(void **state) {
    (void)state;
    folder_open();
    write_rounds("instances=2", "round-robin", high, 0);
    write_rounds("instances=1", "round-robin", low, 0);
    struct ssreport_report report = make_report(folder_file(""));
    size_t row = find_row(&report, "the capacity grows less than the number of instances");
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_near(number(&report, "requests-rules", row, "difference"), (12.5 - 15) / 12.5, 1e-9);
    assert_near(number(&report, "requests-rules", row, "low"), (12.5 - 15) / 12.5, 1e-9);
    row =
        find_row(&report, "more instances shorten the mean response time of an overloaded service");
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_near(number(&report, "requests-rules", row, "difference"), (1.6 - 9) / 1.6, 1e-9);
    assert_verdict(&report,
        "with round-robin, more instances do not shorten the 95th percentile of an overloaded "
        "service",
        "contradicted");
    assert_verdict(&report, "fewer instances save power of an overloaded service", "supported");
    assert_verdict(&report, "fewer instances do not change the power of an underloaded service",
        "contradicted");
    assert_text(&report, "requests-rules",
        find_row(&report, "fewer CPUs save power of an overloaded service"), "why",
        "no two such levels");
    ssreport_report_free(&report);
}

/* Of 6.7 % underloaded, Table 8 says nothing is saved, and the abstract up to 7 %. */
static void pinning_is_judged_by_state_and_by_pinned_cpus(void **state) {
    (void)state;
    struct at_rate all[4];
    memcpy(all, high, sizeof all);
    all[3].watts = 205;
    all[3].intended = 1.2;
    folder_open();
    write_rounds("pin=free", "round-robin", high, 0.05);
    write_rounds("pin=first:2,each", "round-robin", low, 0.05);
    struct ssreport_report report = make_report(folder_file(""));
    assert_verdict(
        &report, "pinning does not change the power of an underloaded service", "contradicted");
    assert_verdict(
        &report, "pinning saves up to 7 % of the power of an underloaded service", "supported");
    assert_verdict(
        &report, "pinning to a part of the CPUs saves power of an overloaded service", "supported");
    assert_verdict(&report,
        "pinning to a part of the CPUs lengthens the mean response time of an overloaded service",
        "supported");
    assert_verdict(
        &report, "pinning to all CPUs costs power of an overloaded service", "not tested");
    ssreport_report_free(&report);
    write_rounds("pin=first:4,each", "round-robin", all, 0.5);
    report = make_report(folder_file(""));
    assert_verdict(
        &report, "pinning to all CPUs costs power of an overloaded service", "supported");
    assert_verdict(&report,
        "pinning to all CPUs shortens the mean response time of an overloaded service",
        "supported");
    assert_verdict(
        &report, "pinning to a part of the CPUs saves power of an overloaded service", "supported");
    ssreport_report_free(&report);
}

/* Writes rounds with this capacity, above 5, and this power at the highest rate. */
static void write_capacity(const char *knobs, double capacity, double watts) {
    struct at_rate rates[] = {{0, 0, 0, 0, 120, 0}, {5, 0, 0.4, 0.1, 150, 0.3},
        {15, 0, 0.4, 0.1, 180, 0.6}, {30, 0, 9, 0.3, watts, 0.99}};
    int at = capacity > 15 ? 3 : 2;
    double from = rates[at - 1].rate, to = rates[at].rate;
    rates[at].intended = 0.4 + (1 - 0.4) * (to - from) / (capacity - from);
    write_rounds(knobs, "round-robin", rates, 0);
}

/* "At least two times" holds for three of the four rows of Table 7: pinning loses 14 % for 8 %. */
static void table_7_loses_twice_what_it_saves_except_by_pinning(void **state) {
    (void)state;
    static const char *const levels[][2] = {{"frequency=max", "frequency=min"},
        {"pin=free", "pin=first:2,each"}, {"instances=4", "instances=1"}, {"cpus=4", "cpus=1"}};
    static const char *const subjects[] = {
        "a lower frequency costs", "pinning costs", "fewer instances cost", "fewer CPUs cost"};
    char line[100], statement[100];
    double saved, lost;
    FILE *stream =
        fopen(PROJECT_SOURCE_DIR "/tools/experiments/published/actuators-savings.csv", "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    for (int i = 0; i < 4; i++) {
        assert_non_null(fgets(line, sizeof line, stream));
        assert_int_equal(sscanf(line, "%*[^,],%lf,%lf,Table 7", &saved, &lost), 2);
        folder_open();
        write_capacity(levels[i][0], 29, 200);
        write_capacity(levels[i][1], 29 * (1 - lost / 100), 200 * (1 - saved / 100));
        struct ssreport_report report = make_report(folder_file(""));
        snprintf(statement, sizeof statement, "%s at least twice as much capacity as %s power",
            subjects[i], i < 2 ? "it saves" : "they save");
        size_t row = find_row(&report, statement);
        assert_near(
            number(&report, "requests-rules", row, "difference"), (lost - 2 * saved) / 100, 0.001);
        assert_text(
            &report, "requests-rules", row, "verdict", i == 1 ? "contradicted" : "supported");
        ssreport_report_free(&report);
    }
    fclose(stream);
}

static void arrivals_and_balances_are_compared(void **state) {
    (void)state;
    static const char knobs[] = "pin=free";
    folder_open();
    write_rounds(knobs, "round-robin", high, 0.5);
    write_rounds(knobs, "least-connections", low, 0.5);
    written_arrival = "concurrent";
    write_rounds(knobs, "round-robin", low, 0.5);
    written_arrival = "even";
    struct ssreport_report report = make_report(folder_file(""));
    assert_verdict(&report,
        "even arrivals need more power than concurrent ones if the service is underloaded",
        "supported");
    assert_verdict(&report,
        "even and concurrent arrivals need the same power if the service is overloaded",
        "contradicted");
    assert_verdict(&report,
        "least connections shorten the 95th percentile, compared with round-robin", "contradicted");
    ssreport_report_free(&report);
}

static void untested_rule_states_the_missing_data(void **state) {
    (void)state;
    folder_open();
    write_run("a", "\"knobs\": \"frequency=max\"", high);
    write_run("b", "\"knobs\": \"frequency=min\"", low);
    struct ssreport_report report = make_report(folder_file(""));
    size_t row = find_row(&report, saves_little);
    assert_text(&report, "requests-rules", row, "verdict", "not tested");
    assert_text(&report, "requests-rules", row, "why", "needs two rounds or more");
    ssreport_report_free(&report);
    remove(folder_file("a/requests/energy.csv"));
    report = make_report(folder_file(""));
    assert_text(&report, "requests-rules", row, "why", "no power was recorded");
    ssreport_report_free(&report);
    folder_open();
    write_record("a", high, 4);
    report = make_report(folder_file("a"));
    assert_rows(&report, "requests-rules", 0);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(power_of_two_levels_is_compared_underloaded_and_saturated),
    cmocka_unit_test(saturated_levels_farthest_apart_are_compared),
    cmocka_unit_test(rule_is_contradicted_or_undecided_by_data),
    cmocka_unit_test(response_times_and_capacity_are_compared),
    cmocka_unit_test(pinning_is_judged_by_state_and_by_pinned_cpus),
    cmocka_unit_test(table_7_loses_twice_what_it_saves_except_by_pinning),
    cmocka_unit_test(arrivals_and_balances_are_compared),
    cmocka_unit_test(untested_rule_states_the_missing_data))
