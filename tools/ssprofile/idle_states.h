/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_AWAKE_H
#define SSPROFILE_AWAKE_H

/*
 * Idle states of CPUs. A CPU that sleeps while a benchmark is stopped takes its time to wake up, a
 * virtual one the more, so that a throttle with short rounds delivers less than it is set to.
 */

#define SSPROFILE_LATENCY "/dev/cpu_dma_latency"

/* Has all CPUs stay awake until the descriptor is closed. -1: the machine has no such file, or it
   may not be written. */
int ssprofile_awake_hold(const char *path);

#endif
