/* SPDX-License-Identifier: Apache-2.0 */

/* Tests which signals count as one, because a second one kills the command. */

#include "child.h"

#include <signal.h>

#include "unit.h"

TEST(signal_that_was_typed_and_passed_on_counts_once) {
    for (int typed_first = 0; typed_first < 2; typed_first++) {
        struct ssactuate_end_signal last = {0};
        assert_false(ssactuate_is_repeated(&last, SIGINT, typed_first, SS_SECOND));
        assert_true(
            ssactuate_is_repeated(&last, SIGINT, !typed_first, SS_SECOND + 20 * SS_MILLISECOND));
        assert_false(
            ssactuate_is_repeated(&last, SIGINT, typed_first, SS_SECOND + 40 * SS_MILLISECOND));
    }
}

TEST(other_signals_count) {
    struct ssactuate_end_signal last = {0};
    assert_false(ssactuate_is_repeated(&last, SIGINT, true, SS_SECOND));
    assert_false(ssactuate_is_repeated(&last, SIGINT, true, SS_SECOND));
    assert_false(ssactuate_is_repeated(&last, SIGQUIT, false, SS_SECOND));
    assert_false(ssactuate_is_repeated(&last, SIGQUIT, true, 2 * SS_SECOND));
    assert_false(ssactuate_is_repeated(&last, SIGTERM, false, 2 * SS_SECOND));
    assert_false(ssactuate_is_repeated(&last, SIGTERM, false, 2 * SS_SECOND));
}

UNIT_RUN
