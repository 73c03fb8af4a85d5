/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAULT_H
#define SHOWSTOPPER_TESTS_FAULT_H

#include "run.h"
#include "surroundings.h"

/* Runs in which calls fail, see shim_fault.c. */

#define FAULT_FOR_EVER 1000000UL

/* The calls that fail: `count` of them, beginning with number `first`. */
struct fault {
    const char *kind; /* fork, memory, large or files */
    unsigned long first;
    unsigned long count;
};

struct run *fault_start(const struct fault *fault, const char *const *words);

/* Returns whether one of its calls has failed. Call this once for each run, at its end. */
bool fault_has_struck(const struct fault *fault);

/*
 * Fails the test unless the run, started with -q, has ended with this status and a reason on one
 * line, and nothing of it is left.
 */
void fault_expect_refusal(struct run *run, int status);

/*
 * Lets the first `count` calls of this kind fail, then `count` calls from the second one on, and so
 * on, until a run has no such call. Each run must end with status 125 and a reason, or as if
 * nothing had failed. Returns the number of runs.
 */
unsigned long fault_try_all(const char *kind, unsigned long count, const char *const *words);

#endif
