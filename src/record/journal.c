/* SPDX-License-Identifier: Apache-2.0 */
#include "record/journal.h"

void ss_journal_end(struct ss_journal *journal, ss_time now) {
    if (!journal->open)
        return;
    journal->present.length = ss_time_since(now, journal->present.begin);
    ss_ring_put(journal->ring, &journal->present);
    journal->open = false;
}

void ss_journal_record(struct ss_journal *journal, const struct ss_stepper *stepper, ss_time now) {
    if (!journal->ring)
        return;

    bool decided = stepper->decisions != journal->seen;
    if (decided || !stepper->controlled)
        ss_journal_end(journal, now);
    journal->seen = stepper->decisions;
    if (!decided || !stepper->controlled)
        return;

    const struct ss_decision *decision = &stepper->decision;
    journal->present = (struct ss_interval){
        .begin = now,
        .planned = ss_time_since(stepper->deadline, now),
        .target = decision->target,
        .load = decision->load,
        .global_duty = decision->global_duty,
        .local_duty = decision->local_duty,
        .state = decision->next.state,
    };
    journal->open = true;
}
