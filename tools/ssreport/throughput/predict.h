/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PREDICT_H
#define SSREPORT_PREDICT_H

/* Throughput over a trace: predicted from a curve of throughput against load, and measured. */

#include <showstopper/error.h>

#include "report.h"

/*
 * Fills the prediction for the trace in a file: a row for each workload, method, environment and
 * set of which there is a curve, and one for each replay of that trace. Fails if the trace cannot
 * be read, or without memory.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_report_predict(
    struct ssreport_report *report, const char *path, struct ss_error *error);

#endif
