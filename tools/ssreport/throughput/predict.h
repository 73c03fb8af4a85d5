/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PREDICT_H
#define SSREPORT_PREDICT_H

/*
 * Predicts the throughput over a trace from a curve of throughput against load, and compares the
 * prediction with replays.
 */

#include <showstopper/error.h>

#include "report.h"

/*
 * Fills the table prediction: a row for each workload, method, environment and set with a curve,
 * and one for each replay of the trace. Fails if the trace cannot be read, or if memory is
 * exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_report_predict(
    struct ssreport_report *report, const char *path, struct ss_error *error);

#endif
