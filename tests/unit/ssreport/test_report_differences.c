/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "load_inputs.h"
#include "unit.h"

static struct ssreport_report report;

/* Adds a run of a set with columns "NAME=VALUE NAME=VALUE". */
static void add_run(int set, const char *columns) {
    char text[200], *rest;
    report.runs = realloc(report.runs, (report.run_count + 1) * sizeof *report.runs);
    assert_non_null(report.runs);
    struct ssreport_run *run = &report.runs[report.run_count++];
    *run = (struct ssreport_run){.set = set};
    snprintf(text, sizeof text, "%s", columns);
    for (char *pair = strtok_r(text, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        assert_int_equal(ssreport_columns_set(&run->columns, pair, equals + 1), 0);
    }
}

static const char *axis(void) {
    const struct ssreport_differences *differences = &report.differences;
    return differences->axis < differences->count ? differences->names[differences->axis] : "";
}

static void end(void) {
    ssreport_inputs_free(&report);
}

static void constant_columns_are_omitted(void **state) {
    (void)state;
    add_run(0, "a=1 b=x c=0 round=1");
    add_run(0, "a=1 b=y c=0 round=2");
    add_run(0, "a=1 b=y d=1");
    add_run(0, "");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_int_equal(report.differences.count, 3);
    assert_string_equal(report.differences.names[0], "b");
    assert_string_equal(report.differences.names[1], "c");
    assert_string_equal(report.differences.names[2], "d");
    assert_string_equal(report.runs[1].variant, "b=y, c=0, d=");
    assert_string_equal(report.runs[2].variant, "b=y, c=, d=1");
    assert_null(report.runs[3].variant);
    end();
}

static void load_is_preferred_to_columns_with_more_values_as_the_axis(void **state) {
    (void)state;
    add_run(0, "n=1 load=20% w=a");
    add_run(0, "n=2 load=40% w=b");
    add_run(0, "n=3 load=40% w=b");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(axis(), "load");
    assert_near(report.runs[1].axis, 40, 1e-9);
    assert_string_equal(report.runs[1].variant, "n=2, w=b");
    end();
}

static void axis_is_the_numeric_column_with_most_values(void **state) {
    (void)state;
    add_run(0, "a=1 b=1 c=1 load=low");
    add_run(0, "a=2 b=1.0 c=x load=high");
    add_run(0, "a=2 b=2 c=3 load=low");
    add_run(0, "a=2 b=3 c=4 load=low");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(axis(), "b");
    end();
    add_run(0, "a=x");
    add_run(0, "a=y");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(axis(), "");
    end();
}

/* These columns have fields of their own, by which runs are grouped. */
static void known_columns_are_not_part_of_the_variant(void **state) {
    (void)state;
    add_run(0, "workload=a method=x own=1 target=0.5");
    add_run(0, "workload=b method=y own=2 target=0.6");
    add_run(0, "workload=b method=y own=3 target=0.6");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_int_equal(report.differences.count, 4);
    assert_string_equal(axis(), "target");
    assert_string_equal(report.runs[0].variant, "own=1");
    end();
}

/* These columns of manifests are no properties of a run, so they distinguish series of a plan. */
static void columns_without_a_member_are_part_of_the_variant(void **state) {
    (void)state;
    add_run(0, "status=fast mode=x run=1 reason=a");
    add_run(0, "status=slow mode=y run=1 reason=b");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(report.runs[0].variant, "status=fast, mode=x, reason=a");
    assert_string_equal(report.runs[1].variant, "status=slow, mode=y, reason=b");
    end();
}

/* In other sets, the same columns may not follow. */
static void columns_that_follow_from_known_columns_are_not_part_of_the_variant(void **state) {
    (void)state;
    add_run(0, "speed=1 seconds=60 trace=a size=1");
    add_run(0, "speed=2 seconds=30 trace=a size=1");
    add_run(0, "speed=2 seconds=20 trace=b size=1");
    add_run(0, "speed=2 seconds=20 trace=b size=2");
    add_run(1, "speed=2 seconds=40 trace=b size=1");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(axis(), "speed");
    assert_string_equal(report.runs[1].variant, "size=1");
    assert_near(report.runs[1].axis, 0, 1e-9);
    end();
    add_run(0, "speed=1 kind=x");
    add_run(0, "speed=2 kind=y");
    add_run(1, "speed=2 kind=y");
    add_run(1, "speed=2 kind=z");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(report.runs[1].variant, "kind=y");
    end();
}

/* Rounds are repetitions, from which nothing follows. */
static void nothing_follows_from_the_round(void **state) {
    (void)state;
    add_run(0, "size=1 round=1");
    add_run(0, "size=2 round=2");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_string_equal(axis(), "size");
    end();
}

static void columns_that_differ_only_between_sets_are_omitted(void **state) {
    (void)state;
    add_run(0, "machine=a size=1");
    add_run(0, "machine=a size=2");
    add_run(1, "machine=b size=1");
    add_run(1, "machine=b size=2");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_int_equal(report.differences.count, 1);
    assert_string_equal(axis(), "size");
    assert_null(report.runs[3].variant);
    end();
}

static void runs_without_a_plan_have_no_differences(void **state) {
    (void)state;
    add_run(0, "");
    add_run(0, "");
    assert_int_equal(ssreport_differences_find(&report), 0);
    assert_int_equal(report.differences.count, 0);
    assert_string_equal(axis(), "");
    assert_null(report.runs[0].variant);
    end();
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(constant_columns_are_omitted),
    cmocka_unit_test(load_is_preferred_to_columns_with_more_values_as_the_axis),
    cmocka_unit_test(axis_is_the_numeric_column_with_most_values),
    cmocka_unit_test(known_columns_are_not_part_of_the_variant),
    cmocka_unit_test(columns_without_a_member_are_part_of_the_variant),
    cmocka_unit_test(columns_that_follow_from_known_columns_are_not_part_of_the_variant),
    cmocka_unit_test(nothing_follows_from_the_round),
    cmocka_unit_test(columns_that_differ_only_between_sets_are_omitted),
    cmocka_unit_test(runs_without_a_plan_have_no_differences))
