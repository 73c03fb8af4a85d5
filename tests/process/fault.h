/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAULT_H
#define SHOWSTOPPER_TESTS_FAULT_H

#include "run.h"
#include "surroundings.h"

/* Runs in which calls fail, see shim_fault.c. */

#define FAULT_FOR_EVER 1000000UL

/* Which calls fail: `count` of them, from the `first` one on. */
struct fault {
    const char *kind; /* fork, memory, large, files */
    unsigned long first;
    unsigned long count;
};

struct run *fault_start(const struct fault *fault, const char *const *words);

/* Whether one of its calls has failed. Once for each run, at its end. */
bool fault_has_struck(const struct fault *fault);

/*
 * Fails the test unless the run, started with -q, has ended with this status and said why in one
 * line, and nothing of it is left.
 */
void fault_expect_refusal(struct run *run, int status);

/*
 * Has the first call of this kind fail, then the second one, and so on, up to a run in which there
 * is none any more; `count` calls at a time. Each run must end with status 125 and say why, or end
 * as if nothing had been. Returns how many runs it took.
 */
unsigned long fault_try_all(const char *kind, unsigned long count, const char *const *words);

#endif
