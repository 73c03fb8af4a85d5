/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OTHERS_H
#define SSREPORT_OTHERS_H

/* The part of the machine (0 to 1) that other processes used during a run; NaN: unknown. */

#include <stdbool.h>

/*
 * A run with more is disturbed. A quiet machine stays below 1 %: kernel threads and the interrupts
 * of the run itself are counted as others.
 */
#define SSREPORT_OTHERS_MAX 0.02

/* Runs whose others differ by more than this are not compared. */
#define SSREPORT_OTHERS_DIFFERENCE_MAX 0.02

bool ssreport_others_disturb(double others);

/* Whether two runs may be compared; unknown shares do not forbid it. */
bool ssreport_others_permit(double one, double other);

#endif
