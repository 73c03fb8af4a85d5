/* SPDX-License-Identifier: Apache-2.0 */
#include "request_case.h"

#include "summary.h"

static char *text; /* the latest description of the run */

static void print(void) {
    request_summary_print(text_begin(), &it.result);
    text = text_end();
    /* Unwraps findings, which may be wrapped at any blank. */
    assert_fits(text, 80);
    for (char *at = text; (at = strstr(at, "\n  ")); at++) {
        if (strncmp(at, "\n  from ", 8) != 0)
            memmove(at, at + 2, strlen(at + 2) + 1), *at = ' ';
    }
}

TEST_WITH(summary_of_a_good_run_reports_no_problem, made_up_set_up, made_up_tear_down) {
    for (unsigned i = 0; i < 1000; i++)
        made_up_end(&it, i * 10 * SS_MILLISECOND, 100 * SS_MICROSECOND, 12 * SS_MILLISECOND,
            REQUEST_SUCCESS);
    it.result.own_cpu_seconds = 5;
    it.result.connections = 12345;
    print();
    assert_says(text, "- An open loop: 100 requests per second were intended (constant, even), "
                      "1,000 were due in 10.0 s; 100 per second succeeded.");
    assert_says(text, "- No request failed.");
    assert_says(text, "- Requests were sent on time: 99 % within 100 us of when they were due");
    assert_says(
        text, "mean                     12.1 ms       12.0 ms          12.1 ms       12.0 ms");
    assert_says(text, "due      1,000 = 1,000 sent + 0 dropped + 0 waiting\n");
    assert_says(text, "sent     1,000 = 1,000 succeeded + 0 failed + 0 unfinished\n");
    assert_says(text, "own CPU time              5.00 s  of the generator");
    assert_says(text, "connections               12,345  opened");
    assert_does_not_say(text, "Successes alone look better");
    assert_does_not_say(text, "cannot reach a higher rate");
    it.result.own_cpu_seconds = 9.5;
    it.result.rate_changed = true;
    print();
    assert_says(text, "The generator used 95 % of a CPU: it cannot reach a higher rate");
    assert_says(
        text, "100 (mean) requests per second were intended (constant, then changed, even)");
}

/* In a simulation, --requests may end sending at the beginning. */
TEST_WITH(summary_of_requests_due_at_once_has_no_means, made_up_set_up, made_up_tear_down) {
    struct request_machine machine = {
        .active = NAN, .idle = NAN, .watts = NAN, .speed = 0.5, .contention = {NAN, NAN}};
    it.result.sending_time = 0;
    it.result.machine = &machine;
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(text, "100 requests per second were intended (constant, even), 1 was due in 0 s;");
    assert_does_not_say(text, "busy");
    assert_does_not_say(text, "nan");
    assert_says(text, "speed                        0.5  of each server");
}

TEST_WITH(summary_begins_with_the_load_that_was_reached, made_up_set_up, made_up_tear_down) {
    struct request_held_load held = {.target_mean = 0.5,
        .load_mean = 0.4,
        .cost = 0.01,
        .rate = 100,
        .rate_low = 99.98,
        .rate_high = 100.02,
        .correlated = true};
    it.result.held = &held;
    for (unsigned i = 0; i < 800; i++)
        made_up_end(&it, i * 10 * SS_MILLISECOND, 0, 12 * SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(text, "- At 50.0 % load the service answers 100 (100 to 100) requests per second;");
    assert_does_not_say(text, "too narrow");
    assert_does_not_say(text, "episodes,");
    assert_says(text, "- The interval describes this run only");
    held.episodes = 6;
    print();
    assert_says(text, "- The interval describes 6 episodes");
    assert_does_not_say(text, "this run only");
    held.rate_high = 102;
    held.limited_seconds = 6;
    print();
    assert_does_not_say(text, "6 episodes");
    assert_says(
        text, "- At 40.0 % load, the most that it reached, the service answers 80 requests");
    assert_says(text, "A load of 50.0 % was out of reach");
    assert_says(text, "The interval of the rate is too narrow");
}

TEST_WITH(summary_reports_waiting_times_before_sending, made_up_set_up, made_up_tear_down) {
    it.result.rules.cap = 1;
    for (unsigned i = 0; i < 1000; i++)
        made_up_end(&it, i * 10 * SS_MILLISECOND, i < 100 ? SS_SECOND - i * 10 * SS_MILLISECOND : 0,
            SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(text, "99 % of the successes were answered within 1.00 ms of being sent, but "
                      "within 901 ms of being due");
    assert_says(text, "Requests were sent late: 99 % within 900 ms");
    assert_says(text, "they waited at the limit of unfinished requests");
    for (int drop = 0; drop < 2; drop++) {
        it.result.rules.cap = drop ? 1 : 200;
        it.result.rules.when_full = drop ? REQUEST_DROP : REQUEST_DELAY;
        print();
        assert_says(text, "none had to wait at the cap, so the generator itself was late");
    }
}

TEST_WITH(summary_lists_failures_by_cause, made_up_set_up, made_up_tear_down) {
    for (unsigned i = 0; i < 90; i++)
        made_up_end(&it, i * SS_MILLISECOND, 0, SS_MILLISECOND, REQUEST_SUCCESS);
    for (unsigned i = 0; i < 8; i++)
        made_up_end(&it, i * SS_MILLISECOND, 0, 10 * SS_SECOND, REQUEST_TIMEOUT);
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_RESET);
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_RESOURCES);
    print();
    assert_says(text, "- 10.0 % of the requests sent failed, from 1.00 ms to 10.0 s: "
                      "8 timeout, 1 reset, 1 resources.");
    assert_says(text, "The generator ran out of descriptors");
    assert_says(text, "Successes alone look better than all requests: 99 % of the successes took "
                      "at most 1.00 ms, 99 % of all requests 10.0 s.");
    assert_says(text, "failed   8 timeout\nfailed   1 reset\nfailed   1 resources\n");
    assert_says(text, "success ratio             90.0 %  of all requests due");
}

TEST_WITH(summary_reports_unsent_and_unanswered_requests, made_up_set_up, made_up_tear_down) {
    print();
    assert_says(text, "No request was sent.");
    assert_does_not_say(text, "sent on time");
    for (unsigned i = 0; i < 5; i++)
        request_tally_due(&it.tally);
    request_tally_refuse(&it.tally);
    request_tally_send(&it.tally, 0, 0);
    request_tally_send(&it.tally, 0, 0);
    print();
    assert_says(text, "20.0 % of the requests (1) were dropped at the cap of 200.");
    assert_says(text, "At the end, 2 requests had not been sent and 2 had no answer yet.");
    assert_says(text, "due      5 = 2 sent + 1 dropped + 2 waiting\n");
    assert_says(text, "sent     2 = 0 succeeded + 0 failed + 2 unfinished\n");
    assert_does_not_say(text, "No request failed");
}

TEST_WITH(summary_reports_a_closed_loop, made_up_set_up, made_up_tear_down) {
    it.result.rules.clients = 8;
    it.result.profile = NULL;
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(text, "- A closed loop: 8 clients, each sending its next request after the answer");
    assert_does_not_say(text, "open loop");
    assert_says(text, "- Requests were sent on time: none was late.");
    made_up_end(&it, 0, 20 * SS_MILLISECOND, SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(
        text, "99 % within 20.0 ms of their client's last answer, the latest after 20.0 ms;");
}

/* "995 with status 500" is a count and a status that must not be confused. */
TEST_WITH(summary_shows_the_status_of_failures, made_up_set_up, made_up_tear_down) {
    for (unsigned i = 0; i < 1000; i++) {
        struct request_ended ended = {.due = i * SS_MILLISECOND,
            .sent = i * SS_MILLISECOND,
            .finished = (i + 1) * SS_MILLISECOND,
            .outcome = i < 4 ? REQUEST_SUCCESS : REQUEST_STATUS,
            .status = i < 4     ? 200
                      : i < 999 ? 500
                                : 404};
        request_tally_due(&it.tally);
        request_tally_send(&it.tally, ended.due, ended.sent);
        request_tally_end(&it.tally, &ended);
    }
    print();
    assert_says(text,
        "- 99.60 % of the requests sent failed, from 5.00 ms to 1.00 s: 995 with status "
        "500, 1 with status 404.");
    assert_says(text, "failed   995 with status 500\nfailed   1 with status 404\n");
    /* The first 4 ms are not counted. */
    it.result.counted_from = 4 * SS_MILLISECOND;
    print();
    assert_says(text, "failed, from 1.00 ms to 996 ms: ");
}

/* Each row has what the generator did in 10 s of wall-clock time. */
TEST_WITH(summary_names_the_cause_of_the_limit, made_up_set_up, made_up_tear_down) {
    static const struct {
        double used, waited; /* seconds */
        const char *says;
    } rows[] = {
        {9.5, 0, "The generator was the limit, not the service: it used 95 % of a CPU."},
        {4.4, 5.5, "The generator was the limit, not the service: it used 44 % of a CPU and"},
        {4.4, 0, "The service was the limit: the generator waited for it for 56 % of the time."},
        {9.5, NAN, "The generator was the limit"},
        {1, 2, "The generator used 10 % of a CPU and waited for one for 20 % of the time"},
    };
    /* An open loop has a limit only at its cap. */
    it.result.own_cpu_seconds = it.result.own_wait_seconds = 0.1;
    it.result.rules.cap = 1;
    made_up_end(&it, 0, 0, SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_does_not_say(text, "was the limit");
    made_up_end(&it, 0, 20 * SS_MILLISECOND, SS_MILLISECOND, REQUEST_SUCCESS);
    print();
    assert_says(text, "The service was the limit");
    it.result.rules.clients = 8;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        it.result.own_cpu_seconds = rows[i].used;
        it.result.own_wait_seconds = rows[i].waited;
        print();
        assert_says(text, rows[i].says);
    }
}

/* Prints the summary of a search with these trials. */
static void print_search(const struct request_trial *trials, size_t count) {
    static struct request_capacity capacity;
    capacity = (struct request_capacity){
        .search = {.start = 10, .max = 1e6, .precision = 0.02, .repeats = 1}};
    for (size_t i = 0; i < count; i++)
        request_capacity_add(&capacity, &trials[i]);
    it.result.tally = NULL;
    it.result.capacity = &capacity;
    it.result.criterion = "mean=1s";
    print();
}

TEST_WITH(summary_of_a_search_states_its_confidence, made_up_set_up, made_up_tear_down) {
    static const struct {
        struct request_trial trials[3];
        size_t count;
        const char *capacity, *reason; /* without a reason if certain */
    } rows[] = {
        {{{.rate = 100, .held = true, .steady = true}}, 1,
            "- The capacity for mean=1s is above 100 requests per second: 1 of 1 trial held there.",
            "the search was stopped, or found only one bound."},
        {{{.rate = 100, .held = true, .steady = true}, {.rate = 101, .steady = true}}, 2,
            "is between 100 and 101 requests per second: 1 of 1 trial held at 100, and 1 of 1 "
            "trial "
            "failed at 101.",
            NULL},
        {{{.rate = 29.7, .held = true, .steady = true}, {.rate = 110, .steady = true}}, 2,
            "is between 29.7 and 110 requests per second",
            "trials at the same rate differ, so the interval is wide"},
        {{{.rate = 100, .held = true}, {.rate = 101, .steady = true}}, 2,
            "is below 101 requests per second: 1 of 1 trial failed there. This is an upper bound: "
            "1 "
            "of 1 trial held at 100, but in 1 of them response times had not become stationary",
            "trials were too short."},
        {{{.rate = 5, .steady = true}}, 1, "is below 5 requests per second", ""},
        {{{.rate = 101, .generator_is_limit = true}}, 1,
            "is unknown: 1 of 1 trial failed at 101, but in 1 of them the generator was the limit, "
            "not the service. Give it a CPU",
            ""},
        {{{.rate = 101, .generator_is_limit = true}, {.rate = 100, .held = true, .steady = true}},
            2,
            "is above 100 requests per second: 1 of 1 trial held there. This is a lower bound: 1 "
            "of "
            "1 trial failed at 101, but in 1 of them the generator was the limit",
            "the generator limited the rate."},
        {{{.rate = 101, .generator_is_limit = true}, {.rate = 100, .held = true, .steady = true},
             {.rate = 101, .resource_failures = 7}},
            3, "2 of 2 trials failed at 101, but in 1 of them the generator ran out of descriptors",
            ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        char reason[128];
        print_search(rows[i].trials, rows[i].count);
        assert_says(text, rows[i].capacity);
        snprintf(reason, sizeof reason, "- This is uncertain: %s", rows[i].reason);
        if (rows[i].reason)
            assert_says(text, reason);
        else
            assert_does_not_say(text, "uncertain");
    }
}

UNIT_RUN
