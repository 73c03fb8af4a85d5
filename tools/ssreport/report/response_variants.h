/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSE_VARIANTS_H
#define SSREPORT_RESPONSE_VARIANTS_H

#include "report.h"

/*
 * Sets the variant of each record of requests: the columns of plans in which records of one
 * workload differ although all that otherwise separates services and their series is the same.
 * Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_response_variants_find(struct ssreport_report *report);

#endif
