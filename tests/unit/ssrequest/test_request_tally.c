/* SPDX-License-Identifier: Apache-2.0 */

#include "generator.h"
#include "unit.h"

static struct request_tally tally;

static int make(void **state) {
    (void)state;
    struct ss_error error = {0};
    return request_tally_open(&tally, 10 * SS_SECOND, &error);
}

static int forget(void **state) {
    (void)state;
    request_tally_close(&tally);
    request_tally_close(&tally); /* may be closed twice */
    return 0;
}

static void send(ss_time due, ss_time sent) {
    request_tally_due(&tally);
    request_tally_send(&tally, due, sent);
}

static void end(ss_time due, ss_time sent, ss_time finished, enum request_outcome outcome) {
    struct request_ended ended = {due, sent, finished, outcome, 7, 0};
    request_tally_end(&tally, &ended);
}

TEST_WITH(response_times_count_from_intended_and_actual_sending, make, forget) {
    send(1000, 4000);
    end(1000, 4000, 5000, REQUEST_SUCCESS);
    assert_int_equal(tally.successes[REQUEST_INTENDED].max, 4000);
    assert_int_equal(tally.successes[REQUEST_ACTUAL].max, 1000);
    assert_int_equal(tally.lateness.max, 3000);
    assert_int_equal(tally.bytes, 7);
    send(1000, 1000);
    end(1000, 1000, 9000, REQUEST_STATUS);
    assert_int_equal(tally.successes[REQUEST_INTENDED].count, 1);
    assert_int_equal(tally.all[REQUEST_INTENDED].count, 2);
    assert_int_equal(tally.all[REQUEST_ACTUAL].max, 8000);
    assert_int_equal(request_tally_failed(&tally), 1);
    assert_int_equal(tally.bytes, 14);
}

/* A timer that fires slightly early must not make a timeout shorter than the limit. */
TEST_WITH(timeout_counts_at_least_as_long_as_its_limit, make, forget) {
    send(0, SS_SECOND);
    end(0, SS_SECOND, 11 * SS_SECOND - 5, REQUEST_TIMEOUT);
    assert_int_equal(tally.all[REQUEST_INTENDED].min, 11 * SS_SECOND);
    assert_int_equal(tally.all[REQUEST_ACTUAL].min, 10 * SS_SECOND);
    send(0, SS_SECOND);
    end(0, SS_SECOND, 12 * SS_SECOND, REQUEST_TIMEOUT);
    assert_int_equal(tally.all[REQUEST_ACTUAL].max, 11 * SS_SECOND);
    assert_int_equal(tally.outcomes[REQUEST_TIMEOUT], 2);
}

TEST_WITH(response_times_include_abandoned_requests, make, forget) {
    request_tally_due(&tally);
    send(1, 2);
    request_tally_abandon(&tally, 10, SS_TIME_NEVER, 110);
    request_tally_abandon(&tally, 1, 2, 1002);
    assert_int_equal(tally.waiting, 1);
    assert_int_equal(tally.unfinished, 1);
    assert_int_equal(tally.all[REQUEST_INTENDED].count, 2);
    assert_int_equal(tally.all[REQUEST_INTENDED].max, 1001);
    assert_int_equal(tally.all[REQUEST_ACTUAL].count, 1);
    assert_int_equal(tally.all[REQUEST_ACTUAL].max, 1000);
}

TEST_WITH(clearing_a_tally_keeps_unfinished_requests, make, forget) {
    for (unsigned i = 0; i < 10; i++)
        send(i, i + 1);
    for (unsigned i = 0; i < 6; i++)
        end(i, i + 1, i + 2, i < 4 ? REQUEST_SUCCESS : REQUEST_RESET);
    for (unsigned i = 0; i < 5; i++)
        request_tally_due(&tally);
    request_tally_refuse(&tally);
    assert_int_equal(tally.intended, 15);
    assert_int_equal(tally.unfinished_max, 10);
    /* After clearing, and then after another run began. */
    static const unsigned kept[] = {4, 0};
    for (size_t i = 0; i < 2; i++) {
        unsigned left = kept[i];
        if (i == 0)
            request_tally_clear(&tally);
        else
            request_tally_begin(&tally);
        assert_int_equal(tally.waiting, left);
        assert_int_equal(tally.unfinished, left);
        assert_int_equal(tally.refused, 0);
        assert_int_equal(tally.sent, left);
        assert_int_equal(tally.intended, 2 * left);
        assert_int_equal(tally.unfinished_max, left);
        assert_int_equal(tally.bytes, 0);
        assert_int_equal(request_tally_failed(&tally), 0);
        assert_int_equal(tally.lateness.count, 0);
        assert_int_equal(tally.all[REQUEST_ACTUAL].count, 0);
        assert_int_equal(tally.successes[REQUEST_ACTUAL].count, 0);
        assert_int_equal(tally.timeout, 10 * SS_SECOND);
    }
}

TEST_WITH(exchanged_tally_counts_requests_in_progress, make, forget) {
    struct request_tally other;
    struct ss_error error = {0};
    assert_succeeds(request_tally_open(&other, 10 * SS_SECOND, &error), error);
    send(0, 1);
    send(1, 2);
    end(0, 1, 3, REQUEST_SUCCESS);
    request_tally_due(&tally);
    request_tally_exchange(&tally, &other, SS_SECOND);
    assert_int_equal(other.intended, 1);
    assert_int_equal(other.sent, 1);
    assert_int_equal(other.unfinished + other.waiting, 0);
    assert_int_equal(tally.intended, 2);
    assert_int_equal(tally.sent, 1);
    assert_int_equal(tally.waiting, 1);
    end(1, 2, SS_SECOND + 4, REQUEST_RESET);
    send(SS_SECOND, 2 * SS_SECOND);
    request_tally_exchange(&tally, &other, 3 * SS_SECOND);
    assert_int_equal(tally.left_out, 2 * SS_SECOND);
    assert_int_equal(request_tally_failed(&tally), 0);
    assert_int_equal(tally.sent, 2);
    assert_int_equal(tally.outcomes[REQUEST_SUCCESS], 1);
    assert_int_equal(tally.unfinished_max, 2);
    /* The time in between is not part of what is counted. */
    end(SS_SECOND, 2 * SS_SECOND, 4 * SS_SECOND, REQUEST_RESET);
    assert_int_equal(tally.first_failure, 2 * SS_SECOND);
    request_tally_close(&other);
}

TEST(outcome_names_are_unique) {
    for (unsigned i = 0; i < REQUEST_OUTCOMES; i++) {
        assert_non_null(request_outcome_name(i));
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(request_outcome_name(i), request_outcome_name(j));
    }
    assert_string_equal(request_outcome_name(REQUEST_SUCCESS), "success");
    assert_string_equal(request_outcome_name(REQUEST_CONNECTION_REFUSED), "connection_refused");
}

TEST(every_balance_chooses_a_target) {
    static const uint64_t unfinished[] = {3, 1, 2, 1};
    for (uint32_t last = 0; last < 4; last++)
        assert_int_equal(
            request_balance_choose(REQUEST_ROUND_ROBIN, unfinished, 4, last), (last + 1) % 4);
    /* Selects the next in turn among the targets with the fewest requests. */
    static const uint32_t next[] = {1, 3, 3, 1};
    for (uint32_t last = 0; last < 4; last++)
        assert_int_equal(
            request_balance_choose(REQUEST_LEAST_CONNECTIONS, unfinished, 4, last), next[last]);
    assert_int_equal(request_balance_choose(REQUEST_LEAST_CONNECTIONS, unfinished, 1, 0), 0);
}

UNIT_RUN
