/* SPDX-License-Identifier: Apache-2.0 */

/* Tests how `instances` reads the unfinished requests from answers of ssrequest. */

#include "generator_control.h"

#include "unit.h"

static int64_t find(const char *answer) {
    return ssactuate_generator_find_unfinished(answer, "http://127.0.0.1:80/");
}

static void unfinished_requests_are_found_by_exact_url(void **state) {
    (void)state;
    assert_int_equal(find("ok unfinished=9 unfinished_of=4,http://127.0.0.1:80/"), 4);
    assert_int_equal(find("ok unfinished_of=1,http://127.0.0.1:80/a "
                          "unfinished_of=2,http://127.0.0.1:80/ unfinished_of=3,http://b/"),
        2);
    assert_int_equal(find("ok unfinished_of=1,http://127.0.0.1:80/a"), 0);
}

static void status_without_a_valid_number_is_an_error(void **state) {
    (void)state;
    assert_true(find("error: unknown command") < 0);
    assert_true(find("ok unfinished_of=1,http://b/ left_out=1") < 0);
    assert_true(find("ok unfinished_of=x") < 0);
    assert_true(find("") < 0);
}

static void ended_run_has_no_unfinished_requests(void **state) {
    (void)state;
    assert_int_equal(find("error: the run is over"), 0);
    assert_int_equal(ssactuate_generator_unfinished("/nonexistent/socket", "http://b/"), 0);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(unfinished_requests_are_found_by_exact_url),
    cmocka_unit_test(status_without_a_valid_number_is_an_error),
    cmocka_unit_test(ended_run_has_no_unfinished_requests))
