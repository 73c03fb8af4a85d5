/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include "control.h"

TEST(control_commands_are_parsed) {
    struct request_control control;
    assert_int_equal(request_control_parse(&control, "rate 1/2", NULL), 0);
    assert_int_equal(control.command, REQUEST_CONTROL_RATE);
    assert_float_equal(control.rate, 0.5, 0);
    request_control_free(&control);
    assert_int_equal(
        request_control_parse(&control, "  urls http://a/ 'http://b/?x=1 2'", NULL), 0);
    assert_int_equal(control.command, REQUEST_CONTROL_URLS);
    assert_int_equal(control.url_count, 2);
    assert_string_equal(control.urls[0], "http://a/");
    assert_string_equal(control.urls[1], "http://b/?x=1 2");
    assert_null(control.urls[2]);
    request_control_free(&control);
    assert_int_equal(request_control_parse(&control, "stop", NULL), 0);
    assert_int_equal(control.command, REQUEST_CONTROL_STOP);
    request_control_free(&control);
    assert_int_equal(request_control_parse(&control, "status # now", NULL), 0);
    assert_int_equal(control.command, REQUEST_CONTROL_STATUS);
    request_control_free(&control);
}

static void refuse(const char *line, const char *words) {
    struct request_control control;
    struct ss_error error = {0};
    if (request_control_parse(&control, line, &error) == 0)
        fail_msg("'%s' was accepted", line);
    assert_says(error.message, words);
    assert_null(control.words);
}

TEST(bad_control_commands_are_refused) {
    char many[64 * 3 + 16] = "urls";
    refuse("", "the line is empty");
    refuse("fast", "unknown command 'fast': use rate, urls, stop or status");
    refuse("RATE 5", "unknown command 'RATE'");
    refuse("rate", "rate: wrong number of arguments (0): use rate NUMBER");
    refuse("rate 5 6", "rate: wrong number of arguments (2)");
    refuse("rate -5", "rate: ");
    refuse("rate nan", "rate: ");
    refuse("rate 1000001", "rate: too high (at most 1000000 requests per second)");
    refuse("urls", "use urls URL");
    refuse("stop now", "stop: wrong number of arguments (1): use stop");
    refuse("urls 'http://a", "");
    for (int i = 0; i < 65; i++)
        strcat(many, " u");
    refuse(many, "urls: wrong number of arguments (65): use urls URL [URL...], at most 64");
}

TEST(unchanged_urls_are_matched_to_their_old_places) {
    const char *const before[] = {"http://a/", "http://b/", "http://b/"};
    const char *const urls[] = {"http://b/", "http://c/", "http://b/", "http://b/", "http://a/"};
    uint32_t matches[5];
    request_control_match(urls, 5, before, 3, matches);
    assert_int_equal(matches[0], 1);
    assert_int_equal(matches[1], REQUEST_TARGET_NEW);
    assert_int_equal(matches[2], 2);
    assert_int_equal(matches[3], REQUEST_TARGET_NEW);
    assert_int_equal(matches[4], 0);
}

TEST(control_status_is_one_line) {
    struct made_up it;
    char text[1024];
    made_up_open(&it);
    made_up_end(&it, 0, 0, 0, REQUEST_TIMEOUT);
    made_up_end(&it, 0, 0, 0, REQUEST_SUCCESS);
    request_control_describe(text, sizeof text, &it.tally, 12.5, 1500 * SS_MILLISECOND);
    assert_string_equal(text, "elapsed_seconds=1.500 rate=12.5 intended=2 sent=2 refused=0 "
                              "waiting=0 unfinished=0 succeeded=1 failed=1");
    request_control_describe(text, sizeof text, &it.tally, NAN, 0);
    assert_says(text, " rate=none ");
    made_up_close(&it);
}

TEST(status_counts_unfinished_requests_by_url) {
    static const char *const urls[] = {
        "http://a/", "http://b/", "http://gone/", "http://b/", "http://c/"};
    static const uint64_t unfinished[] = {3, 1, 0, 2, 0};
    const struct request_control_targets targets = {urls, unfinished, 5, 2};
    char text[1024] = "failed=1", little[70] = "failed=1";
    request_control_describe_targets(text, sizeof text, &targets);
    assert_string_equal(text, "failed=1 unfinished_of=3,http://a/ unfinished_of=3,http://b/ "
                              "unfinished_of=0,http://c/");
    request_control_describe_targets(little, sizeof little, &targets);
    assert_string_equal(little, "failed=1 unfinished_of=3,http://a/ left_out=2");
}

UNIT_RUN
