/* SPDX-License-Identifier: Apache-2.0 */
#include "run/events.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wakeup.h"
#include "platform/child.h"
#include "platform/platform.h"
#include "run/recent_iterations.h"
#include "run/stage_actions.h"

/* Maximum number of failed instances that are reported as they end; the summary counts all. */
#define ENDS_REPORTED_MAX 3

/*
 * With -v, prints that an instance has ended. Without it, prints the first few failures if the live
 * view is shown.
 */
static void report_end(struct ss_master *master, const struct ss_end *end) {
    char how[SS_END_TEXT_SIZE], when[SS_END_TEXT_SIZE];
    ss_end_describe(how, end->status);
    ss_end_print_time(when, end->seconds);
    bool reported = end->status != 0 && ss_ends_failed(&master->outcome->ends) <= ENDS_REPORTED_MAX;
    if (reported && !master->plan->verbose)
        ss_progress_print_if_shown(&master->progress, "instance %s ended %s: %s",
            master->plan->numbers[end->instance], when, how);
    ss_master_print_verbose(
        master, "instance %s ended %s: %s", master->plan->numbers[end->instance], when, how);
}

static void record_end(struct ss_master *master, uint32_t index, ss_time at, int status) {
    char how[SS_END_TEXT_SIZE];
    ss_time start = atomic_load(&master->board->control_start);
    struct ss_end end = {
        .instance = index,
        .seconds = start == SS_TIME_NEVER ? NAN : (double)(int64_t)(at - start) / 1e9,
        .status = status,
    };

    ss_end_describe(how, status);
    ss_master_record_event(master, "instance_ended", index, how, ss_child_exit_status(status));
    if (master->stage < SS_STAGE_ENDING) {
        ss_ends_add(&master->outcome->ends, &end);
        ss_iterations_stop(&master->iterations, index);
        report_end(master, &end);
    }
}

static void on_ended(struct ss_master *master, uint32_t index) {
    struct ss_row *row = &master->board->rows[index];
    int wait_status = atomic_load(&row->status);
    int status = ss_child_exit_status(wait_status);
    ss_time at = atomic_load(&row->ended_at);

    if (atomic_load(&row->ended_by_us) && master->plan->keep) {
        ss_master_record_event(master, "instance_left", index, NULL, NAN);
        ss_master_print_verbose(
            master, "instance %s was left running", master->plan->numbers[index]);
        return;
    }
    if (atomic_load(&row->ended_by_us)) {
        ss_master_record_event(master, "instance_ended", index, "ended by the run", status);
        ss_master_print_verbose(
            master, "instance %s ended as requested", master->plan->numbers[index]);
        return;
    }

    record_end(master, index, at, wait_status);
    if (status == 0)
        return;

    if (master->failure_status == 0 || at < master->first_failure) {
        master->failure_status = status;
        master->first_failure = at;
    }

    if (master->plan->fail_fast)
        ss_master_end(master, "failure", SIGTERM);
}

static void on_start_failed(struct ss_master *master, uint32_t index) {
    struct ss_row *row = &master->board->rows[index];
    int why = atomic_load(&row->start_error);
    const char *command = master->plan->commands.items[index][0];

    if (atomic_load(&row->fork_failed))
        ss_error_fail(master->error, "cannot start instance %s: %s: run fewer instances",
            master->plan->numbers[index], strerror(why));
    else
        ss_error_set(master->error, why == ENOENT ? SS_ERROR_NOT_FOUND : SS_ERROR_NOT_EXECUTABLE,
            "%s: cannot execute the command: %s%s", command, strerror(why),
            why == ENOENT && strchr(command, '/') && access(command, F_OK) == 0
                ? ": its interpreter or loader is missing"
                : "");

    ss_master_end(master, "error", SIGTERM);
}

static void on_life(
    struct ss_master *master, uint32_t index, enum ss_life before, enum ss_life life) {
    struct ss_row *row = &master->board->rows[index];
    switch (life) {
    case SS_LIFE_ALIVE:
        ss_master_record_event(master, "instance_started", index, NULL,
            atomic_load(&row->leader) > 0 ? atomic_load(&row->leader) : NAN);
        ss_iterations_start(&master->iterations, index, ss_platform_now());
        break;
    case SS_LIFE_ENDED:
        on_ended(master, index);
        break;
    case SS_LIFE_START_FAILED:
        if (master->stage < SS_STAGE_ENDING)
            on_start_failed(master, index);
        break;
    case SS_LIFE_CLEARED: /* on_executor_lost() reports the executor */
        if (before == SS_LIFE_ALIVE && !master->plan->keep && !atomic_load(&row->survivors))
            ss_master_record_event(
                master, "instance_ended", index, "killed with its executor", 128 + SIGKILL);
        break;
    case SS_LIFE_NONE:
        break;
    }
}

static void on_failure(struct ss_master *master, uint32_t index, enum ss_failure failure) {
    if (failure == SS_FAILURE_COUNTERS)
        ss_error_fail(master->error,
            "cannot read %s any more: the load can no longer be controlled",
            master->plan->reader.path);
    else
        ss_error_fail(master->error,
            "one of the modules %s, %s, %s and %s returned a value that is not a number for "
            "instance %s",
            master->plan->set.modules[SS_KIND_TRACE].head->name,
            master->plan->set.modules[SS_KIND_FEEDBACK].head->name,
            master->plan->set.modules[SS_KIND_CONTROL].head->name,
            master->plan->set.modules[SS_KIND_SPACE].head->name, master->plan->numbers[index]);
    ss_master_end(master, "error", SIGTERM);
}

void ss_master_handle_board(struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        struct ss_row *row = &master->board->rows[i];
        uint32_t life = atomic_load(&row->life);

        ss_recent_iterations_take(row, &master->iterations_seen[i], &master->iterations, i);
        if (life != master->lives_seen[i]) {
            enum ss_life before = master->lives_seen[i];
            master->lives_seen[i] = life;
            on_life(master, i, before, life);
        }

        uint32_t failure = atomic_load(&row->failure);
        /* The guardian kills a stuck executor; on_executor_lost() then reports it. */
        if (failure && failure != SS_FAILURE_STUCK && master->stage < SS_STAGE_ENDING)
            on_failure(master, i, failure);
    }
}

static void on_executor_lost(struct ss_master *master, uint32_t index, int status) {
    bool stuck = atomic_load(&master->board->rows[index].failure) == SS_FAILURE_STUCK;

    if (stuck)
        ss_error_fail(master->error,
            "executor %s was killed, because it never slept: a module is stuck in an endless loop",
            master->plan->numbers[index]);
    else if (WIFSIGNALED(status))
        ss_error_fail(master->error, "executor %s was killed (%s): ending the run",
            master->plan->numbers[index], strsignal(WTERMSIG(status)));
    else
        ss_error_fail(master->error, "executor %s ended unexpectedly: ending the run",
            master->plan->numbers[index]);

    ss_master_end(master, "error", SIGKILL);
}

/*
 * Replaces a guardian that was killed. Ends the run if the guardian has exited by itself: it could
 * not be set up, and neither could a replacement.
 */
static void on_guardian_lost(struct ss_master *master, int status) {
    ss_master_record_event(master, "guardian_lost", -1, NULL, status);
    if (WIFEXITED(status))
        ss_error_fail(master->error, "out of memory for the guardian process: run fewer instances");
    if (WIFEXITED(status) || ss_crew_start_guardian(&master->crew, master->error) < 0)
        ss_master_end(master, "error", SIGTERM);
    else
        ss_master_print_verbose(master, "the guardian ended unexpectedly and was replaced");
}

void ss_master_reap(struct ss_master *master) {
    uint32_t who;
    int status;
    pid_t pid;

    while ((pid = ss_crew_reap(&master->crew, &who, &status)) > 0) {
        if (who == SS_CREW_GUARDIAN) {
            if (master->stage < SS_STAGE_OVER)
                on_guardian_lost(master, status);
        } else if (who != SS_CREW_OTHER) {
            uint32_t life = atomic_load(&master->board->rows[who].life);
            if (life != SS_LIFE_ENDED && life != SS_LIFE_START_FAILED &&
                master->stage < SS_STAGE_ENDING)
                on_executor_lost(master, who, status);
        } else if (pid == master->sensor.pid) {
            master->sensor.pid = 0; /* ss_sensor_read() handles the end of its pipe */
            master->sensor.status = status;
        }
    }
}

enum {
    POLL_SIGNALS,
    POLL_WAKEUP,
    POLL_SENSOR,
    POLL_OUTPUT, /* this index and all later ones */
};

_Static_assert(POLL_OUTPUT == SS_MASTER_POLLS, "room for what is not output");

SS_FORMAT(2, 3)
static void print_unless_quiet(struct ss_master *master, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!master->plan->quiet)
        ss_progress_print_line(&master->progress, format, arguments);
    va_end(arguments);
}

/*
 * Explains once why a SIGINT has no effect. Says nothing about Ctrl-C, which was meant for the
 * program in the foreground.
 */
static void explain_ignored(struct ss_master *master) {
    if (master->signals.from_terminal || master->explained)
        return;
    master->explained = true;
    print_unless_quiet(master,
        "SIGINT is ignored, because it was already ignored when the run started, as in background "
        "jobs of a script: end the run with kill %d",
        (int)getpid());
}

static void on_signal(struct ss_master *master, int signal) {
    if (signal == SIGINT && master->signals.ignores_interrupts) {
        explain_ignored(master);
        return;
    }
    switch (signal) {
    case SIGCHLD:
        ss_master_reap(master);
        break;
    case SIGTSTP:
        ss_master_handle(master, SS_EVENT_PAUSE, NULL, 0);
        break;
    case SIGWINCH:
        ss_progress_resize(&master->progress);
        break;
    case SIGCONT:
        break; /* the run has already been resumed */
    default:
        ss_master_record_event(master, "signal", -1, NULL, signal);
        if (master->outcome->signal == 0)
            master->outcome->signal = signal;
        ss_master_handle(master, SS_EVENT_SIGNAL, "signal", signal);
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
    polls[POLL_WAKEUP] = (struct pollfd){.fd = master->crew.wakeup[0], .events = POLLIN};
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

    if (polls[POLL_WAKEUP].revents) {
        ss_wakeup_drain(master->crew.wakeup[0]);
        ss_master_handle_board(master);
    }

    int signal;
    while ((signal = ss_signals_next(&master->signals)))
        on_signal(master, signal);
}
