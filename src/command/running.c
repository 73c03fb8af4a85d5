/* SPDX-License-Identifier: Apache-2.0 */
#include "command/running.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "command/cli.h"
#include "loop/board.h"
#include "platform/platform.h"

enum { STARTING, WARMING_UP, CONTROLLED, PAUSED, ENDING };

const char *const ss_running_states[] = {
    [STARTING] = "starting",
    [WARMING_UP] = "warming up",
    [CONTROLLED] = "controlled",
    [PAUSED] = "paused",
    [ENDING] = "ending",
    NULL,
};

const char *ss_running_state(const struct ss_board *board, ss_time now) {
    switch ((enum ss_phase)atomic_load(&board->phase)) {
    case SS_PHASE_STARTING:
        return ss_running_states[STARTING];
    case SS_PHASE_PAUSED:
        return ss_running_states[PAUSED];
    case SS_PHASE_ENDING:
        return ss_running_states[ENDING];
    default:
        return ss_running_states[now < atomic_load(&board->control_start) ? WARMING_UP
                                                                          : CONTROLLED];
    }
}

ss_time ss_running_controlled(const struct ss_board *board, ss_time now) {
    ss_time paused = atomic_load(&board->paused_since);
    return ss_board_trace_time(board, paused && paused < now ? paused : now);
}

/* The pids of running masters, as many as fit. */
struct masters {
    char list[128];
    bool more;
};

static void add_master(void *context, pid_t pid) {
    struct masters *masters = context;
    struct ss_error ignored = {0};
    struct ss_board *board = ss_board_attach(pid, &ignored);
    if (!board)
        return;
    ss_board_close(board);
    size_t used = strlen(masters->list);
    char item[16];
    int length = snprintf(item, sizeof item, "%s%d", used ? ", " : "", (int)pid);
    masters->more |= used + (size_t)length >= sizeof masters->list;
    if (!masters->more)
        memcpy(masters->list + used, item, (size_t)length + 1);
}

/* Fails with the reason; the message ends with the pids of running masters. */
static int refuse_pid(const char *option, const char *why, struct ss_error *error) {
    struct masters masters = {.list = ""};
    ss_platform_process_each(add_master, &masters);
    if (!*masters.list)
        return ss_error_fail(error, "%s: %s; no showstopper of yours is running here", option, why);
    return ss_error_fail(
        error, "%s: %s; running: %s%s", option, why, masters.list, masters.more ? ", ..." : "");
}

struct ss_board *ss_running_attach(const char *option, const char *pid, struct ss_error *error) {
    uint64_t process;
    struct ss_error why = {0};
    struct ss_board *board = NULL;

    if (ss_units_count(pid, &process, NULL) < 0 || process < 1 || process > INT32_MAX)
        ss_error_fail(&why, "'%s' is not a pid", ss_words_show(pid).text);
    else
        board = ss_board_attach((pid_t)process, &why);
    if (!board)
        refuse_pid(option, why.message, error);
    return board;
}

int ss_running_set_target(const struct ss_cli *cli, struct ss_error *error) {
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
