/* SPDX-License-Identifier: Apache-2.0 */
#include "request_case.h"

TEST(mean_request_rate_follows_the_profile) {
    static const struct {
        ss_time begin, end; /* ms */
        double rate;
    } rows[] = {{0, 1000, 0}, {3000, 5000, 15}, {0, 6000, 10}, {5500, 6500, 10}, {7000, 8000, 0},
        {1000, 1000, 0}};
    struct request_profile profile = {0};
    assert_int_equal(request_profile_step(&profile, 30, 10, 2 * SS_SECOND, NULL), 0);
    /* rates of the first six seconds: 0, 0, 10, 10, 20, 20 */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(request_mean_rate(
                        &profile, rows[i].begin * SS_MILLISECOND, rows[i].end * SS_MILLISECOND),
            rows[i].rate, 1e-9);
    /* Readers compare the mean rate with the requested one, so it must be exact. */
    for (ss_time part = 1; part < 1000; part++)
        assert_that(
            request_mean_rate(&profile, 3 * SS_SECOND, 3 * SS_SECOND + part * UINT64_C(605928) + 1),
            ==, request_mean_rate(&profile, 3 * SS_SECOND, 3 * SS_SECOND + 1));
    request_profile_free(&profile);
}

TEST_WITH(refused_requests_do_not_count_as_successes, made_up_set_up, made_up_tear_down) {
    assert_true(isnan(request_success_ratio(&it.tally)));
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_SUCCESS);
    request_tally_due(&it.tally);
    request_tally_refuse(&it.tally);
    assert_float_equal(request_success_ratio(&it.tally), 0.5, 1e-9);
    assert_float_equal(request_throughput(&it.result), 0.1, 1e-9);
    it.result.took = 0;
    assert_true(isnan(request_throughput(&it.result)));
}

UNIT_RUN
