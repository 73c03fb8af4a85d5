/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OTHERS_H
#define SSREPORT_OTHERS_H

/*
 * Limits of the part of the machine, from 0 to 1, that other processes used during a run. NaN if
 * unknown.
 */

#include <stdbool.h>

/*
 * A run is disturbed above this. Even on a quiet machine it is up to 0.01, because kernel threads
 * and interrupts that serve the run count as other processes.
 */
#define SSREPORT_OTHERS_MAX 0.02

/* Two runs are not compared if their parts differ by more than this. */
#define SSREPORT_OTHERS_DIFFERENCE_MAX 0.02

bool ssreport_others_disturb(double others);

/* Returns whether two runs may be compared. An unknown part does not forbid the comparison. */
bool ssreport_others_permit(double one, double other);

#endif
