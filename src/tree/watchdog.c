/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/watchdog.h"

#include <signal.h>
#include <stdlib.h>

#include "platform/platform.h"

#define CHECK_INTERVAL (500 * SS_MILLISECOND)

/* More CPU time than one turn of any loop needs. */
#define STUCK_CPU_TIME SS_SECOND

struct ss_watched {
    uint32_t beat;
    bool suspect;     /* the beat was unchanged at the last look, too */
    ss_time cpu_time; /* its CPU time when it became suspect */
};

int ss_watchdog_open(struct ss_watchdog *watchdog, struct ss_board *board, pid_t master) {
    *watchdog = (struct ss_watchdog){
        .board = board,
        .master = master,
        .master_started = ss_platform_process_started(master),
        .watched = calloc(board->instances + 1, sizeof *watchdog->watched),
    };
    return watchdog->watched ? 0 : -1;
}

/*
 * Returns whether a process is stuck. Reads its CPU time only if it is suspect, because that costs
 * more than the rest of the check.
 */
static bool is_stuck(struct ss_watched *watched, uint32_t beat, pid_t pid) {
    if (beat != watched->beat || beat == 0) {
        *watched = (struct ss_watched){.beat = beat};
        return false;
    }

    ss_time cpu_time = ss_platform_process_cpu_time(pid);
    if (watched->suspect)
        return ss_time_since(cpu_time, watched->cpu_time) > STUCK_CPU_TIME;
    watched->suspect = true;
    watched->cpu_time = cpu_time;
    return false;
}

/*
 * Kills an executor if it is stuck, and continues it if it is stopped while the master cannot. Its
 * pid is valid as long as it is on the board: its parent has not reaped it.
 */
static void check_executor(struct ss_watchdog *watchdog, uint32_t index) {
    struct ss_row *row = &watchdog->board->rows[index];
    pid_t executor = atomic_load(&row->executor);
    uint64_t started = atomic_load(&row->executor_started);
    if (executor <= 1 || atomic_load(&row->life) != SS_LIFE_ALIVE)
        return;

    if (watchdog->master_is_stopped && ss_platform_process_state(executor, started) == 'T')
        ss_platform_process_signal_by_pid(executor, started, SIGCONT);

    if (!is_stuck(&watchdog->watched[index], atomic_load(&row->beat), executor))
        return;
    atomic_store(&row->failure, SS_FAILURE_STUCK);
    ss_platform_process_signal_by_pid(executor, started, SIGKILL);
}

void ss_watchdog_check(struct ss_watchdog *watchdog, ss_time now) {
    struct ss_board *board = watchdog->board;
    if (now < watchdog->next)
        return;
    watchdog->next = now + CHECK_INTERVAL;

    uint32_t beat = watchdog->watched[board->instances].beat;
    bool silent = atomic_load(&board->beat) == beat;
    char state = silent ? ss_platform_process_state(watchdog->master, watchdog->master_started) : 0;
    watchdog->master_is_stopped = state == 'T';

    /* A master that forwards output has its caller's priority, so other processes can starve it. */
    if (state == 'R' && beat != 0)
        ss_platform_process_raise_priority(watchdog->master);
    for (uint32_t i = 0; i < board->instances; i++)
        check_executor(watchdog, i);

    /* The master reports this itself, as if the kernel had sent the signal. */
    if (atomic_load(&board->phase) == SS_PHASE_RUNNING &&
        is_stuck(&watchdog->watched[board->instances], atomic_load(&board->beat), watchdog->master))
        ss_platform_process_signal_by_pid(watchdog->master, watchdog->master_started, SIGXCPU);
}
