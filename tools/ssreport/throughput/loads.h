/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOADS_H
#define SSREPORT_LOADS_H

/* The load and throughput of each run of the experiment throughput, or of each of its steps. */

#include "report.h"

/* Fills the table of loads. */
SS_NONNULL(1) void ssreport_loads_fill(struct ssreport_report *report);

#endif
