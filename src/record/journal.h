/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_JOURNAL_H
#define SHOWSTOPPER_RECORD_JOURNAL_H

#include "loop/ring.h"
#include "loop/stepper.h"

/* Turns an executor's decisions into intervals and hands them to the master. */
struct ss_journal {
    struct ss_ring *ring; /* NULL if nothing is recorded */
    struct ss_interval present;
    bool open;     /* `present` has begun */
    uint32_t seen; /* the stepper's decision count at the last call */
};

/* Records the decision of a step. Call this after every step, with the `now` of that step. */
void ss_journal_record(struct ss_journal *journal, const struct ss_stepper *stepper, ss_time now);

/* Ends the current interval because control ends. */
void ss_journal_end(struct ss_journal *journal, ss_time now);

#endif
