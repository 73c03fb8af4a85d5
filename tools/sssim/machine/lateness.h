/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_LATENESS_H
#define SSSIM_LATENESS_H

#include <stdbool.h>

#include <showstopper/time.h>

/*
 * How late wake-ups from absolute deadlines were on a machine of two CPUs (Linux 6.18, timer slack
 * 1 ns): `chance`, from 0 to less than 1, says which of all of them this is, in order of lateness.
 * On a machine with idle CPUs most are later, for a CPU must be woken first.
 */
ss_time lateness_recorded(double chance, bool idle);

#endif
