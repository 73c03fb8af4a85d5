/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "measure/monitor.h"
#include "unit.h"

/* Multiples of the unit of permits.h are exact. */
#define UNIT  UINT64_C(1024)
#define START (1000000 * UNIT)

static struct ss_board *board;
static struct ss_duty_meter meter;

/* All instances begin stopped. */
static void open_board(uint32_t instances) {
    board = ss_board_allocate(instances, 0, false);
    assert_non_null(board);
    for (uint32_t i = 0; i < instances; i++)
        ss_board_join(board, i);
    ss_duty_begin(&meter, board, START);
}

static void permit(uint32_t instance, ss_time now, bool runs) {
    ss_board_permit(board, instance, START + now * UNIT, runs);
}

static void assert_duty(ss_time now, double want) {
    double have = ss_duty_take(&meter, board, START + now * UNIT);
    if (!(fabs(have - want) < 1e-12) && !(isnan(have) && isnan(want)))
        fail_msg("duty %g, not %g", have, want);
}

TEST(duty_is_the_permitted_share_of_time) {
    open_board(2);
    permit(0, 0, true);
    permit(0, 30, false);
    permit(1, 40, true);
    assert_duty(100, (0.3 + 0.6) / 2);
    /* The next interval begins at the end of the last one, with the instances that then run. */
    assert_duty(200, 0.5);
    permit(1, 200, false);
    assert_duty(300, 0);
    free(board);
}

TEST(mean_duty_excludes_ended_instances) {
    open_board(4);
    for (uint32_t i = 0; i < 4; i++)
        permit(i, 0, true);
    permit(0, 100, false);
    ss_board_leave(board, 0, SS_LIFE_ENDED);
    assert_duty(100, 1); /* its time counts, too, but the result is at most 1 */
    permit(1, 150, false);
    assert_duty(200, 2.5 / 3);
    for (uint32_t i = 1; i < 4; i++)
        ss_board_leave(board, i, SS_LIFE_ENDED);
    assert_duty(300, NAN);
    free(board);
}

TEST(duty_over_no_time_is_unknown) {
    open_board(1);
    assert_duty(0, NAN);
    permit(0, 10, true); /* the executor is slightly ahead of the reader */
    assert_duty(5, 0);
    free(board);
}

UNIT_RUN
