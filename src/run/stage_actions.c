/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stage_actions.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/streams.h"
#include "platform/platform.h"
#include "run/perf.h"
#include "tree/branches.h"

/*
 * With --start-at, instances are started this long before the warm-up: a fixed time plus a time per
 * instance.
 */
#define START_LEAD              (200 * SS_MILLISECOND)
#define START_LEAD_PER_INSTANCE (2 * SS_MILLISECOND)

/* Warn if --start-at cuts the warm-up below this fraction of its length. */
#define WARMUP_FRACTION_MIN 0.9

#define FORKS_AT_ONCE 32

/* How long executors may take after their instances have been killed. */
#define KILL_PATIENCE (500 * SS_MILLISECOND)

/* Signals within this time count as one request: timeout(1) signals us and then our whole group. */
#define SAME_REQUEST_TIME (300 * SS_MILLISECOND)

/* The reason for an action. */
struct cause {
    ss_time now;
    enum ss_stage from;
    const char *by; /* the reason for an end, for the summary */
    int signal;     /* the signal that ends the instances */
};

typedef void action(struct ss_master *master, const struct cause *cause);

/* Sets the standard output and error of an instance. Leaves -1 for a stream that it inherits. */
static int open_ends(struct ss_master *master, int ends[2]) {
    int output = ss_plan_output_descriptor(master->plan);

    if (ss_plan_pipes_output(master->plan))
        return ss_output_add(&master->output, ends, master->error);
    if (output == STDOUT_FILENO)
        return 0;

    ends[0] = fcntl(output, F_DUPFD_CLOEXEC, 3);
    if (ends[0] < 0)
        return ss_error_fail(master->error, "cannot copy a descriptor: %s", strerror(errno));
    return 0;
}

static int start_executor(struct ss_master *master, uint32_t index) {
    int ends[2] = {-1, -1};
    int status = open_ends(master, ends);
    if (status == 0)
        status = ss_crew_start_executor(&master->crew, index, ends, master->error);
    ss_streams_close_pair(ends);
    return status;
}

static int start_executors(struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        if (start_executor(master, i) < 0)
            return -1;

        atomic_fetch_add(&master->board->beat, 1);
        /* Sleep now and then: RLIMIT_RTTIME limits the CPU time between two blocking calls. */
        if (i % FORKS_AT_ONCE == FORKS_AT_ONCE - 1)
            poll(NULL, 0, 1);
    }
    return 0;
}

static void start(struct ss_master *master, const struct cause *cause) {
    (void)cause;
    master->stage_end = SS_TIME_NEVER;
    if (start_executors(master) < 0)
        ss_master_end(master, "error", SIGKILL);
}

static void warm_up(struct ss_master *master, const struct cause *cause) {
    ss_time now = cause->now;
    struct ss_board *board = master->board;
    ss_time start = ss_time_add(now, master->plan->warmup);

    if (master->plan->has_start_at) {
        int64_t left = master->plan->start_at - ss_platform_wallclock();
        start = left > 0 ? now + (ss_time)left : now;
        master->start_delay = left < 0 ? (ss_time)-left : 0;
        if ((double)left < WARMUP_FRACTION_MIN * (double)master->plan->warmup)
            ss_outcome_warn(master->outcome,
                "the warm-up was cut to %.1f s: --start-at came before its end",
                fmax((double)left, 0) / 1e9);
    }

    master->stage_end = start;
    /* Set in advance: iterations may be read before the end of the stage is noticed. */
    ss_iterations_count_from(&master->iterations, ss_time_add(start, master->plan->settle));
    atomic_store(&board->control_start, start);
    ss_recorder_set_origin(master->recorder, start);
    ss_master_record_event(master, "warmup", -1, NULL, NAN);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_monitor_begin(&master->monitor, now, now);
    ss_master_begin_perf(master, now);
    ss_crew_wake(&master->crew);
    ss_master_print_verbose(master, "all instances are running");
}

/*
 * Begins a stage of control. Such stages begin as planned, not when the master wakes up, so that
 * the last sample of a stage falls on its end.
 */
static void settle(struct ss_master *master, const struct cause *cause) {
    (void)cause;
    ss_time begin = master->stage_end;

    if (master->start_delay > 0)
        ss_outcome_warn(master->outcome, "the trace began %.3f s after --start-at",
            ss_time_seconds(master->start_delay));
    ss_master_record_bound(master, begin, "settling", NULL);
    master->monitor.control_from = begin;
    master->stage_end = ss_time_add(begin, master->plan->settle);

    /* Without --settle, begin_counting() follows at once and does this. */
    if (master->plan->settle > 0)
        ss_monitor_begin(&master->monitor, begin, ss_platform_now());
}

static void begin_counting(struct ss_master *master, const struct cause *cause) {
    (void)cause;
    ss_time begin = master->stage_end;

    ss_master_record_bound(master, begin, "counting", NULL);
    master->monitor.counted_from = begin;
    master->stage_end = ss_time_add(ss_time_add(atomic_load(&master->board->control_start),
                                        atomic_load(&master->board->paused)),
        master->plan->duration);

    ss_monitor_begin(&master->monitor, begin, ss_platform_now());
    ss_master_begin_switches(master);
    ss_crew_start_clock(&master->crew);
    ss_usage_begin(&master->usage, begin);
    ss_conditions_begin(&master->conditions, &master->plan->cpus, NULL, begin);
}

/*
 * Computes the results before any process is signaled to end, because they must describe the time
 * under control.
 */
static void take_outcome(struct ss_master *master, const char *by, ss_time now) {
    master->outcome->ended_by = by;
    master->iterations.to = now;
    uint32_t with_rounds;
    uint64_t switches = ss_master_count_switches(master, &with_rounds);
    struct ss_outcome_input input = {
        .plan = master->plan,
        .board = master->board,
        .monitor = &master->monitor,
        .usage = &master->usage,
        .own = ss_crew_cpu_time(&master->crew),
        .switches = switches,
        .instances_with_rounds = with_rounds,
        .others = ss_usage_of_others(&master->usage),
        .end = now,
    };
    ss_outcome_take(master->outcome, &input);
    if (master->monitor.counted_from != SS_TIME_NEVER)
        ss_conditions_end(&master->conditions, now, &master->outcome->evidence);
}

/*
 * Returns when to kill the executors. Those of attached or kept instances may have to wait for
 * processes that need CPU time to react.
 */
static ss_time kill_deadline(const struct ss_master *master, ss_time grace) {
    bool waits = master->board->attached || master->plan->keep;
    return ss_time_add(grace, KILL_PATIENCE + (waits ? SS_HOLD_RUNNABLE_PATIENCE : 0));
}

static void end_run(struct ss_master *master, const struct cause *cause) {
    /* Many runnable instances could keep a master that forwards output from ending them. */
    if (ss_plan_pipes_output(master->plan))
        ss_platform_minimize_latency(SS_PRIORITY_HIGH);
    take_outcome(master, cause->by, cause->now);
    ss_master_record_bound(master, cause->now, "ending", cause->by);
    ss_time now = ss_platform_now(); /* taking the outcome may have taken long */
    ss_time grace = cause->signal == SIGKILL ? now : ss_time_add(now, master->plan->grace);
    master->ending_since = now;
    master->stage_end = kill_deadline(master, grace);
    atomic_store(&master->board->end_signal, cause->signal);
    atomic_store(&master->board->end_grace, grace);
    atomic_store(&master->board->phase, SS_PHASE_ENDING);
    ss_crew_wake(&master->crew);
    ss_recorder_flush(master->recorder, master->board); /* we may be killed before the end */
    ss_progress_finish(&master->progress);
}

static void finish_run(struct ss_master *master, const struct cause *cause) {
    struct cause planned = *cause;
    planned.by = master->plan->ends_with_trace ? "trace" : "duration";
    planned.signal = SIGTERM;
    end_run(master, &planned);
}

/* Shortens the grace period, unless it is over: then a signal must not prolong the end. */
static void hurry(struct ss_master *master, const struct cause *cause) {
    if (ss_time_since(cause->now, master->ending_since) < SAME_REQUEST_TIME ||
        cause->now >= atomic_load(&master->board->end_grace))
        return;
    atomic_store(&master->board->end_grace, cause->now);
    master->stage_end = kill_deadline(master, cause->now);
    ss_crew_wake(&master->crew);
}

static void kill_executors(struct ss_master *master, const struct cause *cause) {
    (void)cause;
    master->stage_end = SS_TIME_NEVER;
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        if (master->crew.executors[i] > 1)
            kill(master->crew.executors[i], SIGKILL);
    }
}

/* Pauses only the master: instances that were started are held anyway, and no clock runs yet. */
static void suspend(struct ss_master *master, const struct cause *cause) {
    (void)cause;
    ss_signals_suspend(&master->signals);
}

static bool all_stopped(const struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        const struct ss_row *row = &master->board->rows[i];
        if (atomic_load(&row->life) == SS_LIFE_ALIVE && !atomic_load(&row->stopped))
            return false;
    }
    return true;
}

static void pause_run(struct ss_master *master, const struct cause *cause) {
    struct ss_board *board = master->board;
    ss_time from = cause->now;

    ss_progress_hide(&master->progress);
    ss_master_record_bound(master, from, "paused", NULL);
    atomic_store(&board->paused_since, from);
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    ss_crew_wake(&master->crew);
    for (int i = 0; i < 100 && !all_stopped(master); i++)
        poll(NULL, 0, 2);
    ss_usage_pause(&master->usage);
    ss_signals_suspend(&master->signals);
    ss_usage_continue(&master->usage);
    ss_time now = ss_platform_now();
    ss_time start = atomic_load(&board->control_start);
    if (start < from) {
        atomic_fetch_add(&board->paused, now - from);
    } else if (start != SS_TIME_NEVER) {
        atomic_store(&board->control_start, ss_time_add(start, now - from));
        master->start_delay += master->plan->has_start_at ? now - from : 0;
    }

    if (master->stage_end != SS_TIME_NEVER)
        master->stage_end = ss_time_add(master->stage_end, now - from);
    atomic_store(&board->control_since, now);
    atomic_store(&board->paused_since, 0);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_recorder_set_origin(master->recorder, atomic_load(&board->control_start));
    ss_master_record_bound(master, now, "continued", NULL);
    ss_monitor_shift(&master->monitor, now - from);
    ss_iterations_pause(&master->iterations, from, now - from);
    ss_output_pause(&master->output, now - from);
    ss_monitor_begin(&master->monitor, now, now);
    ss_master_begin_perf(master, now);
    ss_usage_drop(&master->usage);
    ss_crew_wake(&master->crew);
}

static void leave_run(struct ss_master *master, const struct cause *cause) {
    if (cause->from != SS_STAGE_ENDING)
        end_run(master, cause);
}

static action *const actions[] = {
    [SS_ACTION_NONE] = NULL,
    [SS_ACTION_START] = start,
    [SS_ACTION_WARM_UP] = warm_up,
    [SS_ACTION_SETTLE] = settle,
    [SS_ACTION_COUNT] = begin_counting,
    [SS_ACTION_FINISH] = finish_run,
    [SS_ACTION_END] = end_run,
    [SS_ACTION_HURRY] = hurry,
    [SS_ACTION_KILL] = kill_executors,
    [SS_ACTION_SUSPEND] = suspend,
    [SS_ACTION_PAUSE] = pause_run,
    [SS_ACTION_LEAVE] = leave_run,
};

_Static_assert(sizeof actions / sizeof *actions == SS_ACTIONS, "each action is carried out");

static void take_step(struct ss_master *master, enum ss_event event, struct cause cause) {
    struct ss_step step = ss_stage_step(master->stage, event);
    cause.from = master->stage;
    master->stage = step.next;
    if (actions[step.action])
        actions[step.action](master, &cause);
}

void ss_master_handle(struct ss_master *master, enum ss_event event, const char *by, int signal) {
    take_step(master, event, (struct cause){.now = ss_platform_now(), .by = by, .signal = signal});
}

void ss_master_end(struct ss_master *master, const char *by, int signal) {
    ss_master_handle(master, SS_EVENT_END, by, signal);
}

/* Returns when a run that has not begun may start its instances. */
static ss_time first_stage_end(const struct ss_plan *plan) {
    if (!plan->has_start_at)
        return 0;
    int64_t left = plan->start_at - ss_platform_wallclock();
    ss_time lead = START_LEAD + START_LEAD_PER_INSTANCE * plan->instances + plan->warmup;
    return left > 0 ? ss_time_since(ss_platform_now() + (ss_time)left, lead) : 0;
}

static bool all_started(const struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        if (master->lives_seen[i] == SS_LIFE_NONE)
            return false;
    }
    return true;
}

void ss_master_advance(struct ss_master *master, ss_time now) {
    const struct cause cause = {.now = now};
    if (master->stage == SS_STAGE_WAITING)
        master->stage_end = first_stage_end(master->plan); /* the wall clock may be set */
    if (master->stage == SS_STAGE_STARTING && all_started(master))
        take_step(master, SS_EVENT_STARTED, cause);
    if (now >= master->stage_end)
        take_step(master, SS_EVENT_TIME, cause);
    /* Settling may be over already: without --settle, or if the master is late. */
    if (master->stage == SS_STAGE_SETTLING && now >= master->stage_end)
        take_step(master, SS_EVENT_TIME, cause);
}
