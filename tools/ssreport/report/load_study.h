/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOAD_STUDY_H
#define SSREPORT_LOAD_STUDY_H

#include "report.h"

/* Returns whether the folder is a study of ssbatch, or a run of one. */
SS_NONNULL() bool ssreport_study_is_in(const char *folder);

/*
 * Adds the records of all runs of a study, or of one run. Records that cannot be reported become
 * failures in the report. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_study_load(
    struct ssreport_report *report, const char *folder, int set);

#endif
