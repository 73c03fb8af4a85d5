/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOAD_INPUTS_H
#define SSREPORT_LOAD_INPUTS_H

#include "report.h"

/*
 * Adds the contents of a folder: a record; a study of ssbatch or one of its runs; a fleet; or an
 * experiment, which is a folder with records and a manifest.csv. Records that cannot be read become
 * failures in the report. Slashes at the end of `given` are ignored, because files next to a record
 * have its name. Returns -1 if memory is exhausted.
 */
int ssreport_gather(struct ssreport_report *report, const char *given, int set);

/* Frees everything except members owned by topics. */
void ssreport_inputs_free(struct ssreport_report *report);

#endif
