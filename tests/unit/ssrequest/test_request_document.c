/* SPDX-License-Identifier: Apache-2.0 */
#include "request_case.h"

#include "result_document.h"

static char *text; /* the latest description of the run */

static void print(void) {
    request_document_print(text_begin(), &it.result);
    text = text_end();
}

TEST_WITH(requests_json_contains_options_and_results, made_up_set_up, made_up_tear_down) {
    made_up_end(&it, 0, 0, 10 * SS_MILLISECOND, REQUEST_SUCCESS);
    made_up_end(&it, SS_SECOND, SS_SECOND, 10 * SS_SECOND, REQUEST_TIMEOUT);
    it.result.took = 12 * SS_SECOND;
    it.result.own_cpu_seconds = 0.5;
    it.result.own_wait_seconds = 0.25;
    it.tally.statuses[204] = 3;
    it.result.connections = 12;
    print();
    assert_says(text, "\"program\": \"ssrequest\"");
    assert_says(text, "\"begin_epoch_seconds\": 1795000000.25,");
    assert_says(text, "\"end_epoch_seconds\": 1795000012.25,");
    assert_says(text, "\"loop\": \"open\"");
    assert_says(text, "\"http://127.0.0.1:8081/\\\"x\\\"\"");
    assert_says(text, "\"profile\": {\n    \"kind\": \"constant\",\n    \"rate\": 100,\n    "
                      "\"changed\": false,\n    \"length_seconds\": 10\n  }");
    assert_says(text, "\"arrival\": \"even\"");
    assert_says(text, "\"seed\": 18446744073709551557,"); /* not exact in a double */
    assert_says(text, "\"cap\": 200,\n  \"when_full\": \"delay\",\n  \"timeout_seconds\": 10,");
    assert_says(text, "\"intended\": 2,\n  \"sent\": 2,\n  \"refused\": 0,\n  \"waiting\": 0,\n  "
                      "\"unfinished\": 0,\n  \"succeeded\": 1,\n  \"failed\": 1,");
    assert_says(text, "\"causes\": {\n    \"timeout\": 1,\n    \"unreachable\": 0,");
    assert_says(text, "\"success_ratio\": 0.5");
    assert_says(text, "\"own_cpu_seconds\": 0.5");
    assert_says(text, "\"connections\": 12,");
    assert_says(text, "\"statuses\": {\n    \"204\": 3\n  },");
    assert_says(text, "\"first_failure_seconds\": 12,\n  \"last_failure_seconds\": 12,\n  "
                      "\"own_cpu_wait_seconds\": 0.25");
    assert_says(text, "\"lateness\": {\n    \"count\": 2,\n    \"mean_seconds\": 0.5,");
    assert_says(text, "\"successes\": {\n      \"intended\": {\n        \"count\": 1,\n        "
                      "\"mean_seconds\": 0.01,");
    assert_says(text, "\"all\": {\n      \"intended\": {\n        \"count\": 2,\n        "
                      "\"mean_seconds\": 5.505,");
    assert_says(text, "\"most_seconds\": 11\n");
}

/* Counts a request that was due and sent at 0. */
static void count_one(struct request_per_target *per_target, uint32_t label, enum request_fate fate,
    enum request_outcome outcome, ss_time took) {
    const struct request_in_flight one = {.label = label};
    const struct request_ended ended = {.finished = took, .outcome = outcome};
    request_per_target_count(per_target, &one, fate, &ended);
}

/* The second set of targets has the first URL again. */
TEST_WITH(requests_json_has_figures_of_each_url, made_up_set_up, made_up_tear_down) {
    static const char *const urls[] = {"http://a/", "http://b/", "http://c/", "http://a/"};
    const struct request_in_flight unsent = {.sent = SS_TIME_NEVER};
    struct request_per_target per_target = {0};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        assert_int_equal(request_per_target_add(&per_target, urls[i], NULL), 0);
    for (int i = 0; i < 100; i++)
        count_one(&per_target, i < 50 ? 0 : 3, REQUEST_ENDED, REQUEST_SUCCESS,
            i == 99 ? SS_SECOND : SS_MILLISECOND);
    count_one(&per_target, 1, REQUEST_ENDED, REQUEST_TIMEOUT, 10 * SS_SECOND);
    count_one(&per_target, 1, REQUEST_UNFINISHED, REQUEST_SUCCESS, 3 * SS_SECOND);
    request_per_target_count(&per_target, &unsent, REQUEST_REFUSED, &(struct request_ended){0});
    it.result.per_target = &per_target;
    print();
    assert_says(text,
        "\"per_target\": [\n    {\n      \"url\": \"http://a/\",\n      \"sent\": 100,\n      "
        "\"succeeded\": 100,\n      \"failed\": 0,\n      \"unfinished\": 0,\n      "
        "\"mean_seconds\": 0.01099,");
    assert_says(text,
        "\"url\": \"http://b/\",\n      \"sent\": 2,\n      \"succeeded\": 0,\n      "
        "\"failed\": 1,\n      \"unfinished\": 1,\n      \"mean_seconds\": null,\n      "
        "\"p95_seconds\": null,\n      \"p99_seconds\": null\n    },\n");
    assert_says(text, "\"url\": \"http://c/\",\n      \"sent\": 0,");
    request_per_target_close(&per_target);
}

TEST_WITH(requests_json_hides_passwords_of_urls, made_up_set_up, made_up_tear_down) {
    static const char *const urls[] = {
        "http://me:se@cret@a:80/x@y:z", "http://me@b/?q=a:b@c", "http://[::1]:80/a@b"};
    struct request_per_target per_target = {0};
    it.result.targets = urls;
    it.result.target_count = sizeof urls / sizeof *urls;
    it.result.per_target = &per_target;
    assert_int_equal(request_per_target_add(&per_target, urls[0], NULL), 0);
    print();
    assert_says(text, "\"targets\": [\n    \"http://me:***@a:80/x@y:z\",\n    "
                      "\"http://me@b/?q=a:b@c\",\n    \"http://[::1]:80/a@b\"\n  ]");
    assert_says(text, "\"url\": \"http://me:***@a:80/x@y:z\"");
    assert_null(strstr(text, "cret"));
    request_per_target_close(&per_target);
}

TEST_WITH(requests_json_describes_other_runs, made_up_set_up, made_up_tear_down) {
    it.result.given.shape = REQUEST_STEP;
    it.result.given.max = 140;
    it.result.given.step = 5;
    it.result.given.hold = 2 * SS_SECOND;
    it.result.took = 12 * SS_SECOND;
    it.result.counted_from = 5 * SS_SECOND; /* not counted, before the end */
    print();
    assert_says(text, "\"end_epoch_seconds\": 1795000017.25,");
    assert_says(text, "\"duration_seconds\": 12,");
    assert_says(text, "\"kind\": \"step\",\n    \"max\": 140,\n    \"step\": 5,\n    "
                      "\"hold_seconds\": 2,");
    assert_says(text, "\"mean_seconds\": null"); /* no request, no mean */
    assert_says(text, "\"success_ratio\": null");
    it.result.given.shape = REQUEST_TRACE;
    it.result.given.trace = "day.txt";
    print();
    assert_says(text, "\"kind\": \"trace\",\n    \"rate\": 100,\n    \"trace\": \"day.txt\",");
    it.result.program = "sssim queue";
    it.result.target_count = 0;
    it.result.rules.clients = 8;
    it.result.profile = NULL;
    it.result.begin = NAN;
    print();
    assert_says(text, "\"begin_epoch_seconds\": null,\n  \"end_epoch_seconds\": null,");
    assert_says(text, "\"loop\": \"closed\"");
    assert_says(text, "\"targets\": [],");
    assert_says(text, "\"clients\": 8,\n  \"profile\": null,\n  \"arrival\": null,");
}

TEST_WITH(
    requests_json_lists_the_interval_and_trials_of_a_search, made_up_set_up, made_up_tear_down) {
    struct request_capacity capacity = {
        .search = {.start = 10, .max = 1e6, .precision = 0.02, .repeats = 2}};
    made_up_trial(&capacity, 100, true);
    made_up_trial(&capacity, 101, false);
    it.result.tally = NULL;
    it.result.given.rate = NAN;
    it.result.given.timeout = 3 * SS_SECOND;
    it.result.capacity = &capacity;
    it.result.criterion = "p95=2s";
    print();
    assert_says(text, "\"rate\": null,");
    assert_says(text, "\"timeout_seconds\": 3,");
    assert_says(text,
        "\"demand\": \"p95=2s\",\n    \"held_rate\": 100,\n    \"held_times\": 1,\n    "
        "\"failed_rate\": 101,\n    \"failed_times\": 1,\n    \"sure\": false,");
    assert_says(text, "\"rate\": 101,\n        \"held\": 0,\n        \"failed\": 1\n");
    assert_says(text,
        "\"trials\": [\n      {\n        \"rate\": 100,\n        \"value_seconds\": 0.25,\n        "
        "\"success_ratio\": 0.5,\n        \"held\": true,\n        "
        "\"stationary\": true,\n        \"measured_seconds\": 10,\n        "
        "\"duration_seconds\": 12,\n        \"own_cpu_seconds\": 3,\n        "
        "\"own_cpu_wait_seconds\": null,\n        \"resources\": 0,\n        "
        "\"generator_limited\": false\n");
    assert_says(text, "\"lower_bound\": false");
    made_up_trial(&capacity, 100, true);
    made_up_trial(&capacity, 101, false);
    print();
    assert_says(text, "\"sure\": true");
    request_capacity_add(&capacity, &(struct request_trial){.rate = 101, .resource_failures = 7});
    print();
    assert_says(text, "\"sure\": false");
    assert_says(text, "\"resources\": 7,\n        \"generator_limited\": true\n");
    assert_says(text, "\"lower_bound\": true");
}

UNIT_RUN
