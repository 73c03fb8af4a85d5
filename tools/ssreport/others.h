/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OTHERS_H
#define SSREPORT_OTHERS_H

/* The part of the machine (0 to 1) that other processes used during a run; NaN: not known. */

#include <stdbool.h>

struct ssreport_report;

/*
 * With more than this a run is disturbed. A quiet machine stays below 1 %: kernel threads and the
 * interrupts of the run itself are counted as others.
 */
#define SSREPORT_OTHERS_MAX 0.02

/* Runs whose others differ by more than this are not compared. */
#define SSREPORT_OTHERS_DIFFERENCE_MAX 0.02

bool ssreport_others_disturb(double others);

/* Whether a comparison of both means something; of what is not known nothing is assumed. */
bool ssreport_others_permit(double one, double other);

/*
 * The first findings: which runs were disturbed, and which comparisons are not made. -1: no memory.
 */
int ssreport_others_findings(struct ssreport_report *report);

#endif
