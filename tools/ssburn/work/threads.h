/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_THREADS_H
#define SSBURN_THREADS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Runs work(shared, 0) to work(shared, count - 1), each in its own thread, and waits for all
 * threads. None begins before all have been created, because they wait for each other and would
 * never end if one were missing.
 */
SS_MUST_USE SS_NONNULL(2, 3) int threads_run(uint64_t count,
    void (*work)(void *shared, uint64_t number), void *shared, struct ss_error *error);

#endif
