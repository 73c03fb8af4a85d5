/* SPDX-License-Identifier: Apache-2.0 */
#include "setpoint.h"

#include <math.h>

#include "board.h"
#include "platform/platform.h"
#include "units.h"

int ss_setpoint_change(const char *pid, const char *load, struct ss_error *error) {
    uint64_t process;
    double value = NAN;
    if (ss_units_count(pid, &process, error) < 0 || process < 2 || process > INT32_MAX) {
        ss_error_set(error, SS_ERROR_FAILED, "'%s' is no process number", pid);
        return ss_error_wrap(error, "--set");
    }
    if (strcmp(load, "trace") != 0 && ss_units_load(load, &value, error) < 0)
        return ss_error_wrap(error, "--set: a load or the word trace was expected");
    struct ss_board *board = ss_board_attach((pid_t)process, error);
    if (!board)
        return ss_error_wrap(error, "--set");
    atomic_store(&board->setpoint, ss_word_from_double(value));
    atomic_fetch_add(&board->setpoint_changes, 1);
    /* Who sleeps through a `free` stretch should not learn of it only at its end. */
    for (uint32_t i = 0; i < board->instances; i++)
        ss_platform_wake(&board->rows[i].wake);
    ss_board_close(board);
    return 0;
}
