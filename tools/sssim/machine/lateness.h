/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_LATENESS_H
#define SSSIM_LATENESS_H

#include <stdbool.h>

#include <showstopper/time.h>

/*
 * Returns how late a wake-up from an absolute deadline is, as measured on a machine with two CPUs
 * (Linux 6.18, timer slack 1 ns). `chance`, from 0 to less than 1, selects the quantile. With idle
 * CPUs most wake-ups are later, because a CPU must leave an idle state first.
 */
ss_time lateness_recorded(double chance, bool idle);

#endif
