/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RECORD_VERDICT_H
#define SSREPORT_RECORD_VERDICT_H

#include <stdbool.h>

#include <json-c/json.h>

#include <showstopper/contract.h>

#include "verdict/verdict.h"

/*
 * The verdict on a record. The checks are made again with the figures that the record keeps, so
 * that all records of a report are judged alike.
 */
struct ssreport_verdict {
    bool recorded; /* the record has figures of the checks: it is not one of an earlier version */
    struct ss_verdict verdict;
    char *reasons; /* of `verdict`; owned */
};

/*
 * Reads the verdict of summary.json or requests.json; without one, sets only `recorded`. Keeps the
 * recorded reasons unless a result or a limit differs from that of this version.
 */
SS_NONNULL(1)
void ssreport_verdict_take(struct ssreport_verdict *verdict, struct json_object *summary);

/* Reaches the verdict on a record by this evidence, and prints its reasons. */
SS_NONNULL()
void ssreport_verdict_reach(struct ssreport_verdict *verdict, const struct ss_evidence *evidence);

SS_NONNULL() void ssreport_verdict_free(struct ssreport_verdict *verdict);

#endif
