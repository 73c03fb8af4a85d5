/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_IDLE_STATES_H
#define SSPROFILE_IDLE_STATES_H

/*
 * Idle states of CPUs. A CPU that sleeps while a benchmark is stopped wakes up late, a virtual CPU
 * later still, so that a throttle with short rounds delivers less than its setting.
 */

#define SSPROFILE_LATENCY "/dev/cpu_dma_latency"

/*
 * Keeps all CPUs out of idle states until the returned descriptor is closed. Returns -1 if the file
 * is missing or cannot be written.
 */
int ssprofile_idle_states_hold(const char *path);

#endif
