/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "request_case.h"

static struct ss_verdict verdict;

static int set_up(void **state) {
    made_up_set_up(state);
    it.result.rules.cap = 1000;
    it.result.clock_moved_ms = it.result.suspended_seconds = 0;
    return 0;
}

/* Fails unless the verdict on the result has this finding. */
static void assert_finding(enum ss_check_name check, enum ss_finding finding) {
    verdict = request_verdict(&it.result);
    assert_that(verdict.findings[check], ==, finding);
}

/* Ends 2,000 requests in 10 s. Requests of the second half take `second` instead of 20 ms. */
static void end_requests(ss_time second) {
    for (ss_time i = 0; i < 2000; i++) {
        ss_time due = i * 5 * SS_MILLISECOND;
        made_up_end(&it, due, 0, i < 1000 ? 20 * SS_MILLISECOND : second, REQUEST_SUCCESS);
    }
}

TEST_WITH(steady_requests_are_valid, set_up, made_up_tear_down) {
    char reasons[SS_VERDICT_TEXT_SIZE];
    end_requests(20 * SS_MILLISECOND);
    it.result.sending_time -=
        SS_SECOND; /* ends at its maximum number of requests, which is not early */
    verdict = request_verdict(&it.result);
    assert_string_equal(ss_verdict_word(&verdict), "valid");
    assert_finding(SS_CHECK_RESPONSE, SS_PASSED);
    assert_finding(SS_CHECK_LATE_REQUESTS, SS_PASSED);
    assert_finding(SS_CHECK_THROUGHPUT, SS_NOT_CHECKED);
    assert_that(verdict.evidence.figures[SS_CHECK_SUCCESSES], ==, 2000);
    it.result.stopped = true;
    verdict = request_verdict(&it.result);
    ss_verdict_print(reasons, &verdict);
    assert_string_equal(reasons, "ended before the planned time");
    it.result.clock_moved_ms = -60;
    it.result.suspended_seconds = 2;
    assert_finding(SS_CHECK_CLOCK, SS_DOUBTFUL);
    assert_finding(SS_CHECK_SUSPENDED, SS_DOUBTFUL);
}

TEST_WITH(slower_responses_are_detected, set_up, made_up_tear_down) {
    end_requests(21 * SS_MILLISECOND);
    assert_finding(SS_CHECK_RESPONSE, SS_DOUBTFUL);
    assert_that(verdict.evidence.response.shape, ==, SS_SHAPE_STEP);
    assert_near(verdict.evidence.figures[SS_CHECK_RESPONSE], 4.9, 0.5);
    /* No request ends in the third quarter, and requests of the last quarter are slower. */
    request_tally_begin(&it.tally);
    for (ss_time i = 0; i < 2000; i++) {
        ss_time due = i * 5 * SS_MILLISECOND;
        if (i < 1000 || i >= 1500)
            made_up_end(&it, due, 0, (i < 1000 ? 20 : 30) * SS_MILLISECOND, REQUEST_SUCCESS);
    }
    assert_finding(SS_CHECK_RESPONSE, SS_INVALID);
}

TEST_WITH(response_times_are_not_compared_while_rates_change, set_up, made_up_tear_down) {
    end_requests(40 * SS_MILLISECOND);
    it.result.rate_changed = true;
    assert_finding(SS_CHECK_RESPONSE, SS_NOT_CHECKED);
    it.result.rate_changed = false;
    struct request_held_load held = {.follows = true};
    it.result.held = &held;
    assert_finding(SS_CHECK_RESPONSE, SS_NOT_CHECKED);
    held.follows = false;
    assert_finding(SS_CHECK_RESPONSE, SS_INVALID);
    it.result.held = NULL;
    it.result.given.shape = REQUEST_STEP;
    assert_finding(SS_CHECK_RESPONSE, SS_NOT_CHECKED);
}

TEST_WITH(requests_delayed_by_the_cap_are_not_late, set_up, made_up_tear_down) {
    for (ss_time i = 0; i < 100; i++)
        made_up_end(
            &it, i * SS_MILLISECOND, 4 * SS_MILLISECOND, 20 * SS_MILLISECOND, REQUEST_SUCCESS);
    assert_finding(SS_CHECK_LATE_REQUESTS, SS_DOUBTFUL);
    assert_true(fabs(verdict.evidence.figures[SS_CHECK_LATE_REQUESTS] - 20) < 0.2);
    it.result.rules.cap = it.tally.unfinished_max;
    assert_finding(SS_CHECK_LATE_REQUESTS, SS_NOT_CHECKED);
}

/* The rate falls by a tenth after half of the time. In a closed loop no request is late. */
TEST_WITH(closed_loop_is_checked_by_its_throughput, set_up, made_up_tear_down) {
    it.result.rules.clients = 4;
    for (ss_time due = 0; due < 9970 * SS_MILLISECOND;) {
        made_up_end(&it, due, 4 * SS_MILLISECOND, 20 * SS_MILLISECOND, REQUEST_SUCCESS);
        due += (due < 5 * SS_SECOND ? 5000 : 5500) * SS_MICROSECOND;
    }
    assert_finding(SS_CHECK_LATE_REQUESTS, SS_NOT_CHECKED);
    assert_finding(SS_CHECK_RESPONSE, SS_PASSED);
    assert_finding(SS_CHECK_THROUGHPUT, SS_INVALID);
    assert_true(fabs(verdict.evidence.figures[SS_CHECK_THROUGHPUT] + 9.5) < 1);
}

/* 50 clients get each answer after 100 ms. The last request is lost, and fails after 10 s. */
TEST_WITH(late_timeout_does_not_change_the_throughput, set_up, made_up_tear_down) {
    it.result.rules.clients = 50;
    for (ss_time i = 0; i < 5000; i++) {
        made_up_end(&it, i * 2 * SS_MILLISECOND, 0, 100 * SS_MILLISECOND, REQUEST_SUCCESS);
        /* If no more answers came, all clients would wait for one until the end. */
        if (i == 2500)
            assert_finding(SS_CHECK_THROUGHPUT, SS_INVALID);
    }
    made_up_end(&it, 9900 * SS_MILLISECOND, 0, 10 * SS_SECOND, REQUEST_TIMEOUT);
    it.result.took = 19900 * SS_MILLISECOND;
    assert_finding(SS_CHECK_THROUGHPUT, SS_PASSED);
    assert_finding(SS_CHECK_RESPONSE, SS_PASSED);
    assert_string_equal(ss_verdict_word(&verdict), "valid");
}

TEST_WITH(failures_are_detected, set_up, made_up_tear_down) {
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_RESET);
    assert_finding(SS_CHECK_SUCCESSES, SS_INVALID);
    assert_finding(SS_CHECK_LATE_REQUESTS, SS_NOT_CHECKED);
    for (ss_time i = 0; i < 100; i++)
        made_up_end(&it, i, 0, 20 * SS_MILLISECOND, i < 4 ? REQUEST_TIMEOUT : REQUEST_SUCCESS);
    assert_finding(SS_CHECK_FAILED_REQUESTS, SS_DOUBTFUL);
    assert_finding(SS_CHECK_INTERRUPTED, SS_PASSED);
}

TEST_WITH(requests_without_an_answer_are_detected, set_up, made_up_tear_down) {
    char reasons[SS_VERDICT_TEXT_SIZE];
    end_requests(20 * SS_MILLISECOND);
    for (int i = 0; i < 30; i++) {
        request_tally_due(&it.tally);
        if (i < 10)
            request_tally_refuse(&it.tally);
        else if (i < 20)
            request_tally_send(&it.tally, 0, 0);
    }
    verdict = request_verdict(&it.result);
    ss_verdict_print(reasons, &verdict);
    assert_string_equal(ss_verdict_word(&verdict), "doubtful");
    assert_string_equal(
        reasons, "requests dropped, never sent or unfinished 1.48 % (doubtful above 1)");
    for (int i = 0; i < 2000; i++) {
        request_tally_due(&it.tally);
        request_tally_refuse(&it.tally);
    }
    assert_finding(SS_CHECK_UNANSWERED_REQUESTS, SS_INVALID);
    assert_finding(SS_CHECK_FAILED_REQUESTS, SS_PASSED);
}

TEST_WITH(load_of_a_held_service_is_checked, set_up, made_up_tear_down) {
    struct request_held_load held = {.cpus = 2, .error_mean_percent = 0.9, .background = 0.09};
    end_requests(20 * SS_MILLISECOND);
    it.result.held = &held;
    assert_finding(SS_CHECK_MEAN_ERROR, SS_PASSED);
    assert_finding(SS_CHECK_COST, SS_PASSED);
    assert_finding(SS_CHECK_BACKGROUND, SS_PASSED);
    held.error_mean_percent = 25; /* out of reach */
    held.cost_change = -0.03;
    held.background = 0.11;
    assert_finding(SS_CHECK_MEAN_ERROR, SS_INVALID);
    assert_finding(SS_CHECK_COST, SS_DOUBTFUL);
    assert_finding(SS_CHECK_BACKGROUND, SS_DOUBTFUL);
    it.result.held = NULL;
    assert_finding(SS_CHECK_MEAN_ERROR, SS_NOT_CHECKED);
}

UNIT_RUN
