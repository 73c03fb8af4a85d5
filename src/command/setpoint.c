/* SPDX-License-Identifier: Apache-2.0 */
#include "command/setpoint.h"

#include <math.h>

#include "base/units.h"
#include "command/running.h"
#include "loop/board.h"
#include "platform/platform.h"

int ss_setpoint_change(const struct ss_cli *cli, struct ss_error *error) {
    const char *load = cli->set_load;
    double value = NAN;
    struct ss_board *board = ss_running_attach("--set", cli->set_pid, error);
    if (!board)
        return -1;
    if (strcmp(load, "trace") != 0 &&
        ss_units_load_option(load, board->load_cpus, &value, error) < 0) {
        ss_board_close(board);
        return ss_error_wrap(error, "--set: expected a load or 'trace'");
    }
    /* Put first, because executors that notice the new target read when it changed. */
    ss_setpoints_put(&board->setpoints, &(struct ss_setpoint_change){ss_platform_now(), value});
    atomic_store(&board->setpoint, ss_word_from_double(value));
    /*
     * An executor that sleeps through a `free` interval would notice the change only at the
     * interval's end.
     */
    for (uint32_t i = 0; i < board->instances; i++)
        ss_platform_wake(&board->rows[i].wake);
    ss_board_close(board);
    return 0;
}
