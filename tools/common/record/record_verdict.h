/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_VERDICT_H
#define RECORD_RECORD_VERDICT_H

#include <stdbool.h>

#include <json-c/json.h>

#include <showstopper/contract.h>

#include "verdict/verdict.h"

/*
 * The verdict on a record. Checks are repeated with the recorded figures, so that all records of a
 * report are judged alike.
 */
struct ssreport_verdict {
    bool recorded; /* the record has figures for the checks, which earlier versions did not write */
    struct ss_verdict verdict;
    char *reasons; /* reasons for `verdict`; owned */
};

/*
 * Reads the verdict of summary.json or requests.json. If absent, only sets `recorded` to false.
 * Keeps the recorded reasons unless this version comes to another result or has other limits.
 */
SS_NONNULL(1)
void ssreport_verdict_take(struct ssreport_verdict *verdict, struct json_object *summary);

/* Judges a record by this evidence, and replaces its reasons. */
SS_NONNULL()
void ssreport_verdict_reach(struct ssreport_verdict *verdict, const struct ss_evidence *evidence);

/* Makes a record invalid for this reason, whatever its figures are. */
SS_NONNULL() void ssreport_verdict_refuse(struct ssreport_verdict *verdict, const char *reason);

SS_NONNULL() void ssreport_verdict_free(struct ssreport_verdict *verdict);

#endif
