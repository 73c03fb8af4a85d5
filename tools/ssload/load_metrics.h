/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_LOAD_METRICS_H
#define SSLOAD_LOAD_METRICS_H

#include "load_output.h"

/* Writes the latest sample to the file of --openmetrics, which is replaced as a whole. */
int ssload_metrics_write(const struct ssload_report *report, struct ss_error *error);

#endif
