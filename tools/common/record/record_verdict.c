/* SPDX-License-Identifier: Apache-2.0 */
#include "record_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_document.h"

/* Returns the check that a record describes; SS_CHECKS if this version does not have it. */
static size_t find_check(struct json_object *check) {
    const char *key = document_text(check, "check");
    size_t i = 0;
    while (i < SS_CHECKS && !(key && strcmp(ss_checks[i].key, key) == 0))
        i++;
    return i;
}

static bool is_limit(struct json_object *check, const char *name, double limit) {
    double recorded = document_number(check, name);
    return isnan(limit) ? isnan(recorded) : recorded == limit;
}

/* Returns whether the record has the same result and limits for a check as this verdict. */
static bool agrees(struct json_object *check, const struct ss_verdict *verdict) {
    size_t which = find_check(check);
    const char *result = document_text(check, "result");
    return which < SS_CHECKS && result &&
           strcmp(result, ss_finding_names[verdict->findings[which]]) == 0 &&
           is_limit(check, "doubtful", ss_checks[which].doubtful) &&
           is_limit(check, "invalid", ss_checks[which].invalid);
}

void ssreport_verdict_take(struct ssreport_verdict *verdict, struct json_object *summary) {
    struct json_object *document = document_get(summary, "verdict", json_type_object);
    struct json_object *checks = document_get(document, "checks", json_type_array);
    const char *reasons = document_text(document, "reasons");
    size_t count = checks ? json_object_array_length(checks) : 0, agreed = 0;
    struct ss_evidence evidence;
    *verdict = (struct ssreport_verdict){.recorded = count > 0 && reasons};
    if (!verdict->recorded)
        return;
    ss_evidence_clear(&evidence);
    for (size_t i = 0; i < count; i++) {
        struct json_object *check = json_object_array_get_idx(checks, i);
        size_t which = find_check(check);
        if (which < SS_CHECKS)
            evidence.figures[which] = document_number(check, "figure");
    }
    ssreport_verdict_reach(verdict, &evidence);
    /* Prefer the recorded reasons: only they describe how a figure changed during the run. */
    for (size_t i = 0; i < count; i++)
        agreed += agrees(json_object_array_get_idx(checks, i), &verdict->verdict);
    if (agreed == count) {
        free(verdict->reasons);
        verdict->reasons = strdup(reasons);
    }
}

void ssreport_verdict_reach(struct ssreport_verdict *verdict, const struct ss_evidence *evidence) {
    char text[SS_VERDICT_TEXT];
    verdict->verdict = ss_verdict_reach(evidence);
    ss_verdict_print(text, &verdict->verdict);
    free(verdict->reasons);
    verdict->reasons = strdup(text);
}

void ssreport_verdict_refuse(struct ssreport_verdict *verdict, const char *reason) {
    verdict->verdict.finding = SS_INVALID;
    free(verdict->reasons);
    verdict->reasons = strdup(reason);
}

void ssreport_verdict_free(struct ssreport_verdict *verdict) {
    free(verdict->reasons);
    *verdict = (struct ssreport_verdict){0};
}
