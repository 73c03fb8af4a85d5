/* SPDX-License-Identifier: Apache-2.0 */
#include "response_variants.h"

#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "group_by.h"
#include "load_record.h"

static bool has_columns(const void *responses, void *context) {
    const struct ssreport_responses *of = responses;
    (void)context;
    return of->workload && of->columns.count > 0;
}

/* Compares what separates services and their series, except the variant. */
static int compare_known(const void *left, const void *right, void *context) {
    const struct ssreport_responses *one = left, *other = right;
    (void)context;
    return STATS_ORDER(one->set - other->set,
        (one->manifest > other->manifest) - (one->manifest < other->manifest),
        ssreport_compare_words(one->workload, other->workload),
        ssreport_compare_words(one->environment, other->environment),
        ssreport_compare_words(one->arrival, other->arrival), one->closed - other->closed,
        ssreport_compare_levels(one, other));
}

/* Returns whether records that differ in a column are measurements of one service anyway. */
static bool is_ignored(const char *column) {
    static const char *const names[] = {"rate", "load", "seed", "published", "stands_for"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(column, names[i]) == 0)
            return true;
    }
    return ssreport_is_response_member(column);
}

/* Returns whether records of one group differ in a column. */
static bool separates(
    const struct ssreport_report *report, const struct stats_groups *groups, const char *column) {
    for (size_t group = 0; group < groups->count; group++) {
        size_t first = groups->first[group];
        const char *value = ssreport_columns_get(&report->responses[first].columns, column);
        for (size_t i = groups->next[first]; i < groups->items; i = groups->next[i]) {
            if (strcmp(ssreport_columns_get(&report->responses[i].columns, column), value) != 0)
                return true;
        }
    }
    return false;
}

/* Writes "size=large, clients=8"; NULL without any such column. */
static int set_variant(const struct ssreport_report *report, const struct stats_groups *groups,
    struct ssreport_responses *of) {
    size_t size;
    FILE *stream = open_memstream(&of->variant, &size);
    if (!stream)
        return -1;
    for (size_t i = 0; i < of->columns.count; i++) {
        const char *name = of->columns.items[i].name;
        if (!is_ignored(name) && separates(report, groups, name))
            fprintf(stream, "%s%s=%s", ftell(stream) > 0 ? ", " : "", name,
                ssreport_columns_get(&of->columns, name));
    }
    if (fclose(stream) != 0)
        return -1;
    if (size == 0) {
        free(of->variant);
        of->variant = NULL;
    }
    return 0;
}

int ssreport_response_variants_find(struct ssreport_report *report) {
    const struct stats_key key = {
        .size = sizeof *report->responses, .compare = compare_known, .includes = has_columns};
    SS_OWNED(groups)
    struct stats_groups groups = stats_group_by(report->responses, report->response_count, &key);
    if (!groups.first)
        return -1;
    for (size_t i = 0; i < report->response_count; i++) {
        if (has_columns(&report->responses[i], NULL) &&
            set_variant(report, &groups, &report->responses[i]) < 0)
            return -1;
    }
    return 0;
}
