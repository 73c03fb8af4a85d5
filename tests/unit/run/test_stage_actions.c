/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of signals that shorten the end of a run, and of the switches that it counts. */

#include <signal.h>
#include <stdlib.h>

#include "platform/platform.h"
#include "run/stage_actions.h"
#include "run/state.h"
#include "unit.h"

/* Makes a run that has been ending for a second, with 30 s to go. */
static struct ss_master make_ending(struct ss_plan *plan) {
    ss_time now = ss_platform_now();
    struct ss_board *board = ss_board_allocate(1, 0, false);
    assert_non_null(board);
    plan->instances = 1;
    atomic_store(&board->end_grace, now + 30 * SS_SECOND);
    return (struct ss_master){
        .plan = plan,
        .board = board,
        .crew = {.plan = plan, .board = board, .guardian_wakeup = {-1, -1}},
        .stage = SS_STAGE_ENDING,
        .stage_end = now + 31 * SS_SECOND,
        .ending_since = ss_time_since(now, SS_SECOND),
    };
}

TEST(second_signal_shortens_the_grace_period) {
    static struct ss_plan plan;
    struct ss_master master = make_ending(&plan);
    ss_master_handle(&master, SS_EVENT_SIGNAL, "signal", SIGINT);
    ss_time now = ss_platform_now();
    ss_time grace = atomic_load(&master.board->end_grace), end = master.stage_end;
    assert_that(grace, <=, now);
    assert_that(end, <=, now + SS_SECOND);
    /* A third one does not extend it. */
    ss_master_handle(&master, SS_EVENT_SIGNAL, "signal", SIGINT);
    assert_that(atomic_load(&master.board->end_grace), ==, grace);
    assert_that(master.stage_end, ==, end);
    free(master.board);
}

TEST(signals_in_quick_succession_count_as_one) {
    static struct ss_plan plan;
    struct ss_master master = make_ending(&plan);
    master.ending_since =
        ss_platform_now() + 60 * SS_SECOND; /* a busy machine may stall this test */
    ss_time end = master.stage_end;
    ss_master_handle(&master, SS_EVENT_SIGNAL, "signal", SIGINT);
    assert_that(master.stage_end, ==, end);
    free(master.board);
}

TEST(switches_are_counted_for_each_instance) {
    struct ss_plan plan = {.instances = 3};
    uint64_t before[3] = {0};
    struct ss_master master = {
        .plan = &plan, .board = ss_board_allocate(3, 0, false), .switches_before = before};
    uint32_t switching = 9;
    assert_non_null(master.board);
    struct ss_row *rows = master.board->rows;
    atomic_store(&rows[0].switches, 7);
    atomic_store(&rows[1].switches, 5);
    ss_master_begin_switches(&master);
    assert_int_equal(ss_master_count_switches(&master, &switching), 0);
    assert_int_equal(switching, 0);
    atomic_store(&rows[1].switches, 5 + 40);
    atomic_store(&rows[2].switches, 1);
    assert_int_equal(ss_master_count_switches(&master, &switching), 41);
    assert_int_equal(switching, 1);
    free(master.board);
}

UNIT_RUN
