/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "text.h"
#include "verdict/verdict.h"

static struct ss_evidence evidence;

static int clear(void **state) {
    (void)state;
    ss_evidence_clear(&evidence);
    return 0;
}

static enum ss_finding find(enum ss_check_name check, double figure) {
    evidence.figures[check] = figure;
    enum ss_finding finding = ss_verdict_reach(&evidence).findings[check];
    evidence.figures[check] = NAN;
    return finding;
}

TEST_WITH(each_check_has_the_limits_of_the_manual, clear, NULL) {
    const struct {
        enum ss_check_name check;
        double passed, doubtful, invalid; /* largest figure of each result; NaN if none has it */
    } rows[] = {
        {SS_CHECK_MEAN_ERROR, 1, 3, INFINITY},
        {SS_CHECK_MEAN_SQUARED_ERROR, 25, 100, INFINITY},
        {SS_CHECK_SAMPLES_OFF, 10, 30, INFINITY},
        {SS_CHECK_LATE_WAKE_UPS, 5, 20, INFINITY},
        {SS_CHECK_SAMPLES_LOST, 0.5, 5, INFINITY},
        {SS_CHECK_STEAL, 1, 5, INFINITY},
        {SS_CHECK_OTHERS, 2, 10, INFINITY},
        {SS_CHECK_FREQUENCY, 2, 5, INFINITY},
        {SS_CHECK_THROUGHPUT, 1, 5, INFINITY},
        {SS_CHECK_RESPONSE, 1, 5, INFINITY},
        {SS_CHECK_COST, 2, 10, INFINITY},
        {SS_CHECK_BACKGROUND, 5, INFINITY, NAN},
        {SS_CHECK_LATE_REQUESTS, 10, 100, INFINITY},
        {SS_CHECK_CLOCK, 50, INFINITY, NAN},
        {SS_CHECK_SUSPENDED, 1, INFINITY, NAN},
        {SS_CHECK_FAILED_INSTANCES, 0, 50, INFINITY},
        {SS_CHECK_FAILED_REQUESTS, 1, 10, INFINITY},
        {SS_CHECK_UNANSWERED_REQUESTS, 1, 10, INFINITY},
        {SS_CHECK_ENDED_EARLY, 0, INFINITY, NAN},
        {SS_CHECK_LINES_LOST, 0, INFINITY, NAN},
        {SS_CHECK_INTERRUPTED, 0, 1, INFINITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_that(find(rows[i].check, rows[i].passed), ==, SS_PASSED);
        assert_that(find(rows[i].check, -rows[i].passed), ==, SS_PASSED);
        assert_that(find(rows[i].check, nextafter(rows[i].passed, INFINITY)), ==, SS_DOUBTFUL);
        assert_that(find(rows[i].check, rows[i].doubtful), ==, SS_DOUBTFUL);
        if (!isnan(rows[i].invalid))
            assert_that(
                find(rows[i].check, -nextafter(rows[i].doubtful, INFINITY)), ==, SS_INVALID);
    }
}

TEST_WITH(counts_have_a_minimum, clear, NULL) {
    assert_that(find(SS_CHECK_SAMPLES, 1), ==, SS_PASSED);
    assert_that(find(SS_CHECK_SAMPLES, 0), ==, SS_INVALID);
    assert_that(find(SS_CHECK_ITERATIONS, 30), ==, SS_PASSED);
    assert_that(find(SS_CHECK_ITERATIONS, 29), ==, SS_DOUBTFUL);
    assert_that(find(SS_CHECK_ITERATIONS, 0), ==, SS_INVALID);
    assert_that(find(SS_CHECK_SUCCESSES, 0), ==, SS_INVALID);
}

TEST_WITH(unknown_figures_are_not_checked, clear, NULL) {
    struct ss_verdict verdict = ss_verdict_reach(&evidence);
    for (size_t i = 0; i < SS_CHECKS; i++)
        assert_that(verdict.findings[i], ==, SS_NOT_CHECKED);
}

static void assert_verdict(const char *word, const char *reasons) {
    struct ss_verdict verdict = ss_verdict_reach(&evidence);
    char text[SS_VERDICT_TEXT_SIZE];
    ss_verdict_print(text, &verdict);
    assert_string_equal(ss_verdict_word(&verdict), word);
    assert_string_equal(text, reasons);
}

TEST_WITH(worst_finding_decides_and_comes_first, clear, NULL) {
    evidence.figures[SS_CHECK_MEAN_ERROR] = 0.2;
    evidence.figures[SS_CHECK_SAMPLES] = 100;
    assert_verdict("valid", "nothing found in 2 checks");
    evidence.figures[SS_CHECK_STEAL] = 1.25;
    assert_verdict("doubtful", "steal 1.25 % (doubtful above 1)");
    evidence.figures[SS_CHECK_SAMPLES_LOST] = 12.5;
    assert_verdict("invalid",
        "samples lost or late 12.5 % (invalid above 5); steal 1.25 % (doubtful above 1)");
}

#define LOAD       1
#define THROUGHPUT 2
#define BOTH       3

/* The table in showstopper-record(5), for a run with feedback that counts iterations. */
TEST_WITH(each_check_counts_for_the_subjects_of_the_manual, clear, NULL) {
    static const unsigned subjects[SS_CHECKS] = {
        [SS_CHECK_MEAN_ERROR] = LOAD,
        [SS_CHECK_MEAN_SQUARED_ERROR] = LOAD,
        [SS_CHECK_SAMPLES_OFF] = LOAD,
        [SS_CHECK_LATE_WAKE_UPS] = LOAD,
        [SS_CHECK_SAMPLES_LOST] = LOAD,
        [SS_CHECK_STEAL] = BOTH,
        [SS_CHECK_OTHERS] = THROUGHPUT,
        [SS_CHECK_FREQUENCY] = THROUGHPUT,
        [SS_CHECK_THROUGHPUT] = THROUGHPUT,
        [SS_CHECK_RESPONSE] = THROUGHPUT,
        [SS_CHECK_COST] = THROUGHPUT,
        [SS_CHECK_BACKGROUND] = THROUGHPUT,
        [SS_CHECK_LATE_REQUESTS] = THROUGHPUT,
        [SS_CHECK_CLOCK] = BOTH,
        [SS_CHECK_SUSPENDED] = BOTH,
        [SS_CHECK_FAILED_INSTANCES] = BOTH,
        [SS_CHECK_FAILED_REQUESTS] = THROUGHPUT,
        [SS_CHECK_UNANSWERED_REQUESTS] = THROUGHPUT,
        [SS_CHECK_ENDED_EARLY] = BOTH,
        [SS_CHECK_LINES_LOST] = BOTH,
        [SS_CHECK_INTERRUPTED] = BOTH,
        [SS_CHECK_SAMPLES] = LOAD,
        [SS_CHECK_ITERATIONS] = THROUGHPUT,
        [SS_CHECK_SUCCESSES] = THROUGHPUT,
    };
    for (size_t i = 0; i < SS_CHECKS; i++) {
        clear(NULL);
        evidence.figures[SS_CHECK_MEAN_ERROR] = 0;
        evidence.figures[SS_CHECK_ITERATIONS] = 1000;
        /* A figure that makes it doubtful, or invalid without such a limit. */
        double limit = isnan(ss_checks[i].doubtful) ? ss_checks[i].invalid : ss_checks[i].doubtful;
        evidence.figures[i] = ss_checks[i].at_least ? limit / 2 : limit + 0.1;
        struct ss_verdict verdict = ss_verdict_reach(&evidence);
        bool load = verdict.judgments[SS_SUBJECT_LOAD] > SS_PASSED;
        bool throughput = verdict.judgments[SS_SUBJECT_THROUGHPUT] > SS_PASSED;
        if (i == SS_CHECK_SAMPLES) /* no sample: the load is invalid, and so the throughput */
            throughput = verdict.subjects[i] & THROUGHPUT;
        if (load != !!(subjects[i] & LOAD) || throughput != !!(subjects[i] & THROUGHPUT))
            fail_msg("%s: load %d, throughput %d", ss_checks[i].key, load, throughput);
        assert_int_equal(verdict.subjects[i], subjects[i]);
    }
}

static void assert_described(const char *text) {
    struct ss_verdict verdict = ss_verdict_reach(&evidence);
    char line[SS_VERDICT_LINE_SIZE];
    ss_verdict_describe(line, &verdict);
    assert_string_equal(line, text);
}

TEST_WITH(other_processes_affect_the_throughput_but_not_a_held_load, clear, NULL) {
    evidence.figures[SS_CHECK_SAMPLES] = 100;
    evidence.figures[SS_CHECK_MEAN_ERROR] = 0.2;
    evidence.figures[SS_CHECK_OTHERS] = 22.4;
    assert_described("load valid: nothing found in 2 checks");
    assert_verdict("valid", "nothing found in 2 checks");
    evidence.figures[SS_CHECK_ITERATIONS] = 1000;
    assert_described(
        "load valid; throughput invalid: other processes used 22.4 % (invalid above 10)");
    assert_verdict("invalid", "other processes used 22.4 % (invalid above 10)");
    /* Without feedback nothing else shows what others did to the load. */
    evidence.figures[SS_CHECK_MEAN_ERROR] = NAN;
    evidence.figures[SS_CHECK_ITERATIONS] = NAN;
    assert_described("load invalid: other processes used 22.4 % (invalid above 10)");
}

TEST_WITH(throughput_inherits_an_invalid_load_but_not_a_doubtful_one, clear, NULL) {
    evidence.figures[SS_CHECK_SAMPLES] = 100;
    evidence.figures[SS_CHECK_ITERATIONS] = 1000;
    evidence.figures[SS_CHECK_MEAN_ERROR] = 2;
    assert_described("load doubtful; throughput valid: mean error 2 points (doubtful above 1)");
    evidence.figures[SS_CHECK_MEAN_ERROR] = 4;
    assert_described("load invalid; throughput invalid: mean error 4 points (invalid above 3)");
}

TEST_WITH(requests_without_a_load_are_judged_alone, clear, NULL) {
    evidence.figures[SS_CHECK_INTERRUPTED] = 2; /* a run may fail before its first sample */
    assert_described("load invalid: ended by an error");
    evidence.figures[SS_CHECK_SUCCESSES] = 1000;
    evidence.figures[SS_CHECK_INTERRUPTED] = 1;
    assert_described("throughput doubtful: ended by a signal");
    evidence.figures[SS_CHECK_MEAN_ERROR] = 0;
    assert_described("load doubtful; throughput doubtful: ended by a signal");
    evidence.figures[SS_CHECK_INTERRUPTED] = 3;
    evidence.figures[SS_CHECK_THROUGHPUT] = -3;
    evidence.throughput =
        (struct ss_change){.checked = true, .size = -0.03, .shape = SS_SHAPE_STEP, .at = 0.5};
    assert_verdict("invalid", "ended by a failed instance; change of throughput: a step of -3.0 % "
                              "after 50 % of the time (doubtful above 1 %)");
}

TEST_WITH(all_reasons_fit_or_are_cut, clear, NULL) {
    char text[SS_VERDICT_TEXT_SIZE];
    for (size_t i = 0; i < SS_CHECKS; i++)
        evidence.figures[i] = ss_checks[i].at_least ? 0 : 1e300;
    struct ss_verdict verdict = ss_verdict_reach(&evidence);
    ss_verdict_print(text, &verdict);
    assert_true(strlen(text) < sizeof text);
}

TEST_WITH(json_has_every_check, clear, NULL) {
    size_t checks = 0;
    evidence.figures[SS_CHECK_OTHERS] = 4;
    evidence.figures[SS_CHECK_MEAN_ERROR] = 0;
    evidence.figures[SS_CHECK_ITERATIONS] = 30;
    struct ss_verdict verdict = ss_verdict_reach(&evidence);
    struct ss_json json = {.stream = text_begin()};
    ss_json_open(&json, NULL, '{');
    ss_verdict_print_json(&json, &verdict);
    ss_json_close(&json, '}');
    const char *text = text_end();
    for (const char *at = text; (at = strstr(at, "\"check\"")); at++)
        checks++;
    assert_that(checks, ==, SS_CHECKS);
    assert_non_null(strstr(text, "\"result\": \"doubtful\",\n    \"load\": \"valid\",\n"
                                 "    \"throughput\": \"doubtful\",\n    \"reasons\": "
                                 "\"other processes used 4 % (doubtful above 2)\""));
    assert_non_null(strstr(text, "\"check\": \"others\",\n        \"result\": \"doubtful\",\n"
                                 "        \"figure\": 4,"));
}

UNIT_RUN
