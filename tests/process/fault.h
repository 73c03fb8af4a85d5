/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAULT_H
#define SHOWSTOPPER_TESTS_FAULT_H

#include "run.h"
#include "sandbox.h"

/* Runs in which calls fail; shim_fault.c makes them fail. */

#define FAULT_FOR_EVER 1000000UL

/* The calls that fail: `count` of them, beginning with number `first`. */
struct fault {
    const char *kind; /* fork, memory, large, files, reserve or end: see shim_fault.c */
    unsigned long first;
    unsigned long count;
};

struct run *fault_start(const struct fault *fault, const char *const *words);

/* Returns whether a call was made to fail, and forgets it: a second call returns false. */
bool fault_has_struck(const struct fault *fault);

/*
 * Waits for the run and frees it. Fails the test unless it exits with this status, prints a single
 * line to standard error, which gives a reason and contains `part`, and leaves nothing.
 */
void fault_expect_refusal(struct run *run, int status, const char *part);

/*
 * Starts runs in which `count` calls of this kind fail, first from call 1, then from call 2 and so
 * on, until a run has no such call. Each run must exit with status 125 and a reason, or succeed.
 * Returns the number of runs.
 */
unsigned long fault_try_all(const char *kind, unsigned long count, const char *const *words);

#endif
