/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_GATHER_H
#define SSREPORT_GATHER_H

#include "report.h"

/*
 * Adds what a folder holds: a record, or an experiment, which is a folder with a manifest.csv that
 * names records in it. What cannot be reported is a failure in the report. -1: no memory.
 */
int ssreport_gather(struct ssreport_report *report, const char *path, int set);

/* All but what topics own. */
void ssreport_inputs_free(struct ssreport_report *report);

#endif
