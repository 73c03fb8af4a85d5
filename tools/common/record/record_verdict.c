/* SPDX-License-Identifier: Apache-2.0 */
#include "record_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_document.h"

/* Reads the figure of one check. Checks of a later version are left out. */
static void take_check(struct ss_evidence *evidence, struct json_object *check) {
    const char *key = document_text(check, "check");
    for (size_t i = 0; key && i < SS_CHECKS; i++) {
        if (strcmp(ss_checks[i].key, key) == 0)
            evidence->figures[i] = document_number(check, "figure");
    }
}

void ssreport_verdict_take(struct ssreport_verdict *verdict, struct json_object *summary) {
    struct json_object *document = document_get(summary, "verdict", json_type_object);
    struct json_object *checks = document_get(document, "checks", json_type_array);
    const char *reasons = document_text(document, "reasons");
    struct ss_evidence evidence;
    *verdict = (struct ssreport_verdict){.recorded = checks && reasons};
    if (!verdict->recorded)
        return;
    ss_evidence_clear(&evidence);
    for (size_t i = 0; i < json_object_array_length(checks); i++)
        take_check(&evidence, json_object_array_get_idx(checks, i));
    verdict->verdict = ss_verdict_reach(&evidence);
    verdict->reasons = strdup(reasons);
}

void ssreport_verdict_reach(struct ssreport_verdict *verdict, const struct ss_evidence *evidence) {
    char text[SS_VERDICT_TEXT];
    verdict->verdict = ss_verdict_reach(evidence);
    ss_verdict_print(text, &verdict->verdict);
    free(verdict->reasons);
    verdict->reasons = strdup(text);
}

void ssreport_verdict_free(struct ssreport_verdict *verdict) {
    free(verdict->reasons);
    *verdict = (struct ssreport_verdict){0};
}
