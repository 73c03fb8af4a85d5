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
            "\"knobs\": \"%s\", \"round\": \"%d\", \"balance\": \"%s\"", knobs, round, balance);
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
static const char *const saves_saturated = "a lower frequency saves power of a saturated machine";

/* Both are underloaded up to a rate of 10, and saturated at 30. */
static void power_of_two_levels_is_compared_underloaded_and_saturated(void **state) {
    (void)state;
    struct at_rate less[4];
    memcpy(less, low, sizeof less);
    less[1].watts = 148.5; /* 1 % less than 150 W */
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
    assert_near(number(&report, "requests-rules", row, "difference"), 0.2, 1e-9);
    /* 40 % of the capacity and 20 % of the power. */
    row = find_row(&report, "a lower frequency costs more capacity than it saves power");
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_near(number(&report, "requests-rules", row, "difference"), 0.2, 1e-9);
    assert_verdict(&report, "pinning saves power of an underloaded service", "not tested");
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
    assert_near(number(&report, "requests-rules", row, "difference"), (15 - 12.5) / 15, 1e-9);
    assert_near(number(&report, "requests-rules", row, "low"), (15 - 12.5) / 15, 1e-9);
    row = find_row(&report, "more instances shorten the mean response time");
    assert_text(&report, "requests-rules", row, "verdict", "supported");
    assert_near(number(&report, "requests-rules", row, "difference"), (9 - 1.6) / 9, 1e-9);
    assert_verdict(&report, "fewer instances cost more capacity than they save power", "supported");
    assert_text(&report, "requests-rules",
        find_row(&report, "fewer CPUs cost more capacity than they save power"), "why",
        "no two such levels");
    ssreport_report_free(&report);
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
    cmocka_unit_test(arrivals_and_balances_are_compared),
    cmocka_unit_test(untested_rule_states_the_missing_data))
