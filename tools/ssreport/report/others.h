/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OTHERS_H
#define SSREPORT_OTHERS_H

/*
 * Limits on the part of the machine, 0 to 1, that other processes used during a run; NaN if
 * unknown.
 */

#include <stdbool.h>

/*
 * A run is disturbed if other processes used more. A quiet machine stays below 1 %, because kernel
 * threads and interrupts of the run itself count as other processes.
 */
#define SSREPORT_OTHERS_MAX 0.02

/* Runs are not compared if these parts differ by more. */
#define SSREPORT_OTHERS_DIFFERENCE_MAX 0.02

bool ssreport_others_disturb(double others);

/* Returns whether two runs may be compared; unknown parts do not forbid it. */
bool ssreport_others_permit(double one, double other);

#endif
