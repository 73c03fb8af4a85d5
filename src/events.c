/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "master.h"
#include "platform/platform.h"

enum {
    POLL_SIGNALS,
    POLL_BELL,
    POLL_SENSOR,
    POLL_OUTPUT, /* and all that follow */
};

/* Signals so close together ask for the same end. */
#define SAME_WISH (300 * SS_MILLISECOND)

_Static_assert(POLL_OUTPUT == SS_MASTER_POLLS, "room for what is not output");

/*
 * Who is impatient while we are ending means it: politeness is over. But the same wish may come
 * twice: timeout(1) signals us and then our whole group.
 */
static void hurry(struct ss_master *master) {
    ss_time now = ss_platform_now();
    if (ss_time_since(now, master->ending_since) < SAME_WISH)
        return;
    atomic_store(&master->board->end_grace, now);
    master->kill_at = ss_time_add(now, SS_MASTER_KILL_PATIENCE);
    ss_crew_wake(&master->crew);
}

static bool all_stopped(const struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        const struct ss_row *row = &master->board->rows[i];
        if (atomic_load(&row->life) == SS_LIFE_ALIVE && !atomic_load(&row->stopped))
            return false;
    }
    return true;
}

/* Ctrl-Z: instances, the trace's clock and we ourselves stand still until we are continued. */
static void pause_run(struct ss_master *master) {
    struct ss_board *board = master->board;
    if (master->stage < SS_STAGE_WARMUP)
        ss_signals_suspend(); /* whoever has been started is held anyway, and no clock runs */
    if (atomic_load(&board->phase) != SS_PHASE_RUNNING)
        return;
    ss_progress_hide(&master->progress);
    ss_time from = ss_platform_now();
    ss_master_note_bound(master, from, "paused", NULL);
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    ss_crew_wake(&master->crew);
    for (int i = 0; i < 100 && !all_stopped(master); i++)
        poll(NULL, 0, 2);
    ss_signals_suspend();
    ss_time now = ss_platform_now();
    ss_time start = atomic_load(&board->control_start);
    if (start < from)
        atomic_fetch_add(&board->paused, now - from);
    else if (start != SS_TIME_NEVER)
        atomic_store(&board->control_start, ss_time_add(start, now - from));
    if (master->stage_end != SS_TIME_NEVER)
        master->stage_end = ss_time_add(master->stage_end, now - from);
    atomic_store(&board->control_since, now);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_recorder_set_origin(master->recorder, atomic_load(&board->control_start));
    ss_master_note_bound(master, now, "continued", NULL);
    ss_monitor_shift(&master->monitor, now - from);
    ss_iterations_pause(&master->iterations, from, now - from);
    ss_monitor_begin(&master->monitor, now);
    ss_usage_drop(&master->usage);
    ss_crew_wake(&master->crew);
}

static void on_signal(struct ss_master *master, int signal) {
    switch (signal) {
    case SIGCHLD:
        ss_master_reap(master);
        break;
    case SIGTSTP:
        pause_run(master);
        break;
    case SIGWINCH:
        ss_progress_resize(&master->progress);
        break;
    case SIGCONT:
        break; /* pause_run() is where it ends a pause */
    default:
        ss_master_note(master, "signal", -1, NULL, signal);
        if (master->stage == SS_STAGE_ENDING)
            hurry(master);
        if (master->outcome->signal == 0)
            master->outcome->signal = signal;
        ss_master_end(master, "signal", signal);
    }
}

void ss_master_read_sensor(struct ss_master *master, ss_time now) {
    struct ss_sensor *sensor = &master->sensor;
    if (sensor->from < 0 || master->stage >= SS_STAGE_ENDING)
        return;
    if (ss_sensor_read(sensor, now, master->error) < 0 ||
        ss_sensor_check(sensor, now, master->error) < 0)
        ss_master_end(master, "error", SIGTERM);
    atomic_store(&master->board->sensor_value, ss_word_from_double(sensor->value));
}

void ss_master_handle_events(struct ss_master *master, ss_time deadline) {
    struct pollfd *polls = master->polls;
    uint32_t streams = master->output.count;
    polls[POLL_SIGNALS] = (struct pollfd){.fd = master->signals.pipe[0], .events = POLLIN};
    polls[POLL_BELL] = (struct pollfd){.fd = master->crew.bell[0], .events = POLLIN};
    polls[POLL_SENSOR] = (struct pollfd){
        .fd = master->stage < SS_STAGE_ENDING ? master->sensor.from : -1,
        .events = POLLIN,
    };
    for (uint32_t i = 0; i < streams; i++)
        polls[POLL_OUTPUT + i] = master->output.polls[i];
    ss_time wait = ss_time_since(deadline, ss_platform_now());
    struct timespec timeout = {(time_t)(wait / SS_SECOND), (long)(wait % SS_SECOND)};
    int ready =
        ppoll(polls, POLL_OUTPUT + streams, deadline == SS_TIME_NEVER ? NULL : &timeout, NULL);
    ss_time now = ss_platform_now();
    if (ready <= 0)
        return;
    for (uint32_t i = 0; i < streams; i++) {
        if (!polls[POLL_OUTPUT + i].revents)
            continue;
        ss_output_move(&master->output, i, now, &master->iterations);
    }
    if (polls[POLL_BELL].revents) {
        char bytes[512];
        while (read(master->crew.bell[0], bytes, sizeof bytes) == sizeof bytes) {
        }
        ss_master_watch(master);
    }
    int signal;
    while ((signal = ss_signals_next(&master->signals)))
        on_signal(master, signal);
}
