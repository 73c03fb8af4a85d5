/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_DOCUMENTS_H
#define SHOWSTOPPER_RECORD_DOCUMENTS_H

#include <showstopper/contract.h>

#include "record/outcome.h"

/*
 * Creates the folder of a record with plan.json, the copies of inputs, and platform.json. Leaves
 * nothing behind on failure.
 */
SS_MUST_USE int ss_record_begin(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error);

/* Completes the record: writes summary.json and removes the mark. */
SS_MUST_USE int ss_record_finish(
    const struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error);

#endif
