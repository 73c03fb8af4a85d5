/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "json_document.h"
#include "record_verdict.h"
#include "unit.h"

static struct ssreport_verdict take(const char *text) {
    char why[256];
    struct ssreport_verdict verdict;
    struct json_object *document = document_parse(text, why, sizeof why);
    if (!document)
        fail_msg("%s", why);
    ssreport_verdict_take(&verdict, document);
    json_object_put(document);
    return verdict;
}

/* Returns the verdict on a record that checks only steal: 2 %, with this limit. */
static struct ssreport_verdict take_steal(const char *result, int doubtful) {
    char text[512];
    snprintf(text, sizeof text,
        "{\"verdict\": {\"result\": \"?\", \"reasons\": \"as recorded\", \"checks\": ["
        "{\"check\": \"steal\", \"result\": \"%s\", \"figure\": 2, \"doubtful\": %d, "
        "\"invalid\": 5}]}}",
        result, doubtful);
    return take(text);
}

static void verdict_is_computed_again_from_recorded_figures(void **state) {
    (void)state;
    struct ssreport_verdict verdict =
        take("{\"verdict\": {\"result\": \"valid\", \"reasons\": \"as recorded\", \"checks\": ["
             "{\"check\": \"steal\", \"result\": \"passed\", \"figure\": 2, \"doubtful\": 3},"
             "{\"check\": \"others\", \"result\": \"not checked\", \"figure\": null},"
             "{\"check\": \"of a later version\", \"result\": \"invalid\", \"figure\": 9}]}}");
    assert_true(verdict.recorded);
    assert_string_equal(ss_verdict_word(&verdict.verdict), "doubtful");
    assert_that(verdict.verdict.findings[SS_CHECK_STEAL], ==, SS_DOUBTFUL);
    assert_that(verdict.verdict.findings[SS_CHECK_OTHERS], ==, SS_NOT_CHECKED);
    ssreport_verdict_free(&verdict);
}

static void assert_reasons(struct ssreport_verdict verdict, const char *reasons) {
    assert_string_equal(ss_verdict_word(&verdict.verdict), "doubtful");
    assert_string_equal(verdict.reasons, reasons);
    ssreport_verdict_free(&verdict);
}

static void recorded_reasons_are_kept_if_results_and_limits_agree(void **state) {
    (void)state;
    assert_reasons(take_steal("doubtful", 1), "as recorded");
    assert_reasons(take_steal("passed", 1), "steal 2 % (doubtful above 1)");
    assert_reasons(take_steal("doubtful", 3), "steal 2 % (doubtful above 1)");
    assert_reasons(
        take("{\"verdict\": {\"reasons\": \"as recorded\", \"checks\": ["
             "{\"check\": \"steal\", \"result\": \"doubtful\", \"figure\": 2, "
             "\"doubtful\": 1, \"invalid\": 5},"
             "{\"check\": \"of a later version\", \"result\": \"invalid\", \"figure\": 9}]}}"),
        "steal 2 % (doubtful above 1)");
    /* The recorded figures do not include the shape of a change. */
    assert_reasons(take("{\"verdict\": {\"reasons\": \"as recorded\", \"checks\": ["
                        "{\"check\": \"throughput\", \"result\": \"passed\", \"figure\": 2}]}}"),
        "change of throughput 2 % (doubtful above 1)");
}

static void record_without_verdict_is_judged_by_known_figures(void **state) {
    (void)state;
    struct ss_evidence evidence;
    struct ssreport_verdict verdict = take("{\"steal_mean\": 0.02}");
    assert_false(verdict.recorded);
    ss_evidence_clear(&evidence);
    evidence.figures[SS_CHECK_INTERRUPTED] = 1;
    ssreport_verdict_reach(&verdict, &evidence);
    assert_reasons(verdict, "ended by a signal");
}

static void damaged_verdicts_count_as_missing(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"verdict\": 3}", "{\"verdict\": {\"checks\": []}}",
        "{\"verdict\": {\"reasons\": \"x\", \"checks\": {}}}",
        "{\"verdict\": {\"reasons\": \"x\", \"checks\": []}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ssreport_verdict verdict = take(texts[i]);
        assert_false(verdict.recorded);
        ssreport_verdict_free(&verdict);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(verdict_is_computed_again_from_recorded_figures),
    cmocka_unit_test(recorded_reasons_are_kept_if_results_and_limits_agree),
    cmocka_unit_test(record_without_verdict_is_judged_by_known_figures),
    cmocka_unit_test(damaged_verdicts_count_as_missing))
