/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include "live_status.h"

static struct request_second second = {
    .begin = 11 * SS_SECOND,
    .end = 12 * SS_SECOND,
    .rate = 200,
    .due = 200,
    .sent = 198,
    .completed = 190,
    .failed = 2,
    .mean = {0.0123, 0.0023},
    .median = {0.0110, 0.0020},
    .p95 = {0.0345, 0.0041},
    .p99 = {1.5, 0.0042},
    .target = NAN,
    .load = NAN,
};

static int print(char text[SSREQUEST_STATUS_SIZE], struct made_up *it, uint64_t closed, int width) {
    struct ssrequest_status_values values = {.total = closed ? SS_TIME_NEVER : 60 * SS_SECOND,
        .clients = closed,
        .cap = 200,
        .second = &second,
        .tally = &it->tally};
    return ssrequest_status_print(text, SSREQUEST_STATUS_SIZE, &values, width);
}

TEST(status_block_shows_the_last_second_and_the_sums) {
    struct made_up it;
    char text[SSREQUEST_STATUS_SIZE];
    made_up_open(&it);
    made_up_end(&it, 0, 0, 0, REQUEST_TIMEOUT);
    request_tally_due(&it.tally);
    assert_int_equal(print(text, &it, 0, 80), SSREQUEST_STATUS_ROWS);
    assert_string_equal(text,
        "12.0 s of 60.0 s: rate 200/s, sent 198/s, succeeded 190/s, failed 2/s\n"
        "from when due : mean 12.3 ms, 50 % 11.0 ms, 95 % 34.5 ms, 99 % 1.50 s\n"
        "from when sent: mean 2.30 ms, 50 % 2.00 ms, 95 % 4.10 ms, 99 % 4.20 ms\n"
        "unfinished 0 of 200, waiting 1; total: dropped 0, failed 1 of 1");
    assert_int_equal(print(text, &it, 8, 80), SSREQUEST_STATUS_ROWS);
    assert_says(text, "12.0 s: closed loop of 8, sent 198/s,");
    for (int width = 1; width < 80; width++) {
        assert_int_equal(print(text, &it, 0, width), SSREQUEST_STATUS_ROWS);
        assert_fits(text, (size_t)width);
    }
    second.target = 0.5;
    second.load = 0.4987;
    print(text, &it, 0, 80);
    assert_says(text, "12.0 s of 60.0 s: load 49.9 of 50.0 %, sent 198/s,");
    made_up_close(&it);
}

UNIT_RUN
