/* SPDX-License-Identifier: Apache-2.0 */
#include "record/journal.h"
#include "unit.h"

static void decide(struct ss_stepper *stepper, enum ss_state state, ss_time deadline) {
    stepper->controlled = true;
    stepper->decisions++;
    stepper->deadline = deadline;
    stepper->decision = (struct ss_decision){.target = 0.5,
        .load = 0.4,
        .global_duty = 0.3,
        .local_duty = 0.2,
        .next = {.state = state}};
}

TEST(recorded_interval_has_its_actual_length) {
    static struct ss_ring ring;
    struct ss_journal journal = {.ring = &ring};
    struct ss_stepper stepper = {0};
    struct ss_interval interval;
    ss_journal_record(&journal, &stepper, 5);
    assert_false(ss_ring_take(&ring, &interval));
    decide(&stepper, SS_STATE_STOPPED, 110);
    ss_journal_record(&journal, &stepper, 10);
    /* A wake-up in between makes no decision. */
    ss_journal_record(&journal, &stepper, 60);
    assert_false(ss_ring_take(&ring, &interval));
    decide(&stepper, SS_STATE_RUNNING, 300);
    ss_journal_record(&journal, &stepper, 112);
    assert_true(ss_ring_take(&ring, &interval));
    assert_int_equal(interval.begin, 10);
    assert_int_equal(interval.planned, 100);
    assert_int_equal(interval.length, 102);
    assert_int_equal(interval.state, SS_STATE_STOPPED);
    assert_that(interval.target, ==, 0.5);
    assert_that(interval.load, ==, 0.4);
    assert_that(interval.global_duty, ==, 0.3);
    assert_that(interval.local_duty, ==, 0.2);
    /* Control ends for a pause or a free section. */
    stepper.controlled = false;
    ss_journal_record(&journal, &stepper, 200);
    assert_true(ss_ring_take(&ring, &interval));
    assert_int_equal(interval.length, 88);
    assert_int_equal(interval.state, SS_STATE_RUNNING);
    ss_journal_end(&journal, 300);
    assert_false(ss_ring_take(&ring, &interval));
}

TEST(unrecorded_run_has_no_rings) {
    struct ss_journal journal = {0};
    struct ss_stepper stepper = {0};
    decide(&stepper, SS_STATE_RUNNING, 10);
    ss_journal_record(&journal, &stepper, 5);
    decide(&stepper, SS_STATE_RUNNING, 20);
    ss_journal_record(&journal, &stepper, 10);
    ss_journal_end(&journal, 20);
    assert_false(journal.open);
}

UNIT_RUN
