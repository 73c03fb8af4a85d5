/* SPDX-License-Identifier: Apache-2.0 */
#include "run/events.h"

#include <poll.h>
#include <signal.h>

#include "base/bell.h"
#include "platform/platform.h"
#include "run/stage_actions.h"
#include "run/watch.h"

enum {
    POLL_SIGNALS,
    POLL_BELL,
    POLL_SENSOR,
    POLL_OUTPUT, /* this index and all later ones */
};

_Static_assert(POLL_OUTPUT == SS_MASTER_POLLS, "room for what is not output");

static void on_signal(struct ss_master *master, int signal) {
    switch (signal) {
    case SIGCHLD:
        ss_master_reap(master);
        break;
    case SIGTSTP:
        ss_master_pause(master);
        break;
    case SIGWINCH:
        ss_progress_resize(&master->progress);
        break;
    case SIGCONT:
        break; /* the run is not paused any more */
    default:
        ss_master_note(master, "signal", -1, NULL, signal);
        if (master->outcome->signal == 0)
            master->outcome->signal = signal;
        ss_master_end_by_signal(master, signal);
    }
}

void ss_master_read_sensor(struct ss_master *master, ss_time now) {
    struct ss_sensor *sensor = &master->sensor;
    if (sensor->from < 0 || master->stage >= SS_STAGE_ENDING)
        return;
    if (ss_sensor_read(sensor, now, master->error) < 0 ||
        ss_sensor_check(sensor, now, master->error) < 0)
        ss_master_end(master, "error", SIGTERM);
    atomic_store(&master->board->sensor, sensor->pid);
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
    ss_output_wait_begins(&master->output, ss_platform_now());
    int ready = ss_platform_poll(polls, POLL_OUTPUT + streams, deadline);
    ss_time now = ss_platform_now();
    ss_output_wait_ends(&master->output, now < deadline ? now : deadline);
    if (ready <= 0)
        return;
    for (uint32_t i = 0; i < streams; i++) {
        if (!polls[POLL_OUTPUT + i].revents)
            continue;
        ss_output_move(&master->output, i, now);
    }
    if (polls[POLL_BELL].revents) {
        ss_bell_drain(master->crew.bell[0]);
        ss_master_watch(master);
    }
    int signal;
    while ((signal = ss_signals_next(&master->signals)))
        on_signal(master, signal);
}
