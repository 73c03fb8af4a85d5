/* SPDX-License-Identifier: Apache-2.0 */

/* From one stage of a run to the next. */

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "master.h"
#include "platform/platform.h"

/* How long before its --start-at a run begins to start instances, and more for each of them. */
#define START_LEAD     (200 * SS_MILLISECOND)
#define START_LEAD_PER (2 * SS_MILLISECOND)

#define FORKS_AT_ONCE 32

static int start_executors(struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        int ends[2] = {-1, -1};
        int status = 0;
        if (ss_plan_pipes_output(master->plan))
            status = ss_output_add(&master->output, master->plan->numbers[i], ends, master->error);
        if (status == 0)
            status = ss_crew_start_executor(&master->crew, i, ends, master->error);
        for (int which = 0; which < 2; which++) {
            if (ends[which] >= 0)
                close(ends[which]);
        }
        if (status < 0)
            return -1;
        atomic_fetch_add(&master->board->beat, 1);
        /* A short sleep now and then keeps many forks within the limit on real-time priority. */
        if (i % FORKS_AT_ONCE == FORKS_AT_ONCE - 1)
            poll(NULL, 0, 1);
    }
    return 0;
}

static void enter_starting(struct ss_master *master) {
    master->stage = SS_STAGE_STARTING;
    master->stage_end = SS_TIME_NEVER;
    if (start_executors(master) < 0)
        ss_master_end(master, "error", SIGKILL);
}

/* Nobody that is still to be born. */
static bool all_started(const struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        if (master->lives[i] == SS_LIFE_NONE)
            return false;
    }
    return true;
}

static void enter_warmup(struct ss_master *master, ss_time now) {
    struct ss_board *board = master->board;
    ss_time start = ss_time_add(now, master->plan->warmup);
    if (master->plan->has_start_at) {
        int64_t left = master->plan->start_at - ss_platform_wallclock();
        start = left > 0 ? now + (ss_time)left : now;
        if (left < 0)
            ss_outcome_warn(
                master->outcome, "the trace began %.3f s after --start-at", (double)-left / 1e9);
    }
    master->stage = SS_STAGE_WARMUP;
    master->stage_end = start;
    /* Known before it comes, so that none is lost whose end we see before we see the stage's. */
    master->iterations.from = ss_time_add(start, master->plan->settle);
    master->iterations.throughput.from = master->iterations.from;
    atomic_store(&board->control_start, start);
    ss_recorder_set_origin(master->recorder, start);
    ss_master_note(master, "warmup", -1, NULL, NAN);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_monitor_begin(&master->monitor, now);
    ss_crew_wake(&master->crew);
    ss_master_say(master, "%u instances run", master->plan->instances);
}

/*
 * The stages of control begin when they were planned to, not when we woke up: then the last sample
 * of a stage falls on its end.
 */
static void enter_settling(struct ss_master *master, ss_time now) {
    master->stage = SS_STAGE_SETTLING;
    ss_master_note_bound(master, now, "settling", NULL);
    master->monitor.control_from = now;
    master->stage_end = ss_time_add(now, master->plan->settle);
    ss_monitor_begin(&master->monitor, now);
}

static void enter_counting(struct ss_master *master, ss_time now) {
    master->stage = SS_STAGE_COUNTING;
    ss_master_note_bound(master, now, "counting", NULL);
    master->monitor.counted_from = now;
    master->stage_end = ss_time_add(ss_time_add(atomic_load(&master->board->control_start),
                                        atomic_load(&master->board->paused)),
        master->plan->duration);
    if (master->plan->settle > 0)
        ss_monitor_begin(&master->monitor, now);
    master->switches = ss_master_count_switches(master);
    ss_crew_start_clock(&master->crew);
    ss_usage_begin(&master->usage, now);
}

ss_time ss_master_first_stage_end(const struct ss_plan *plan) {
    if (!plan->has_start_at)
        return 0;
    int64_t left = plan->start_at - ss_platform_wallclock();
    ss_time lead = START_LEAD + START_LEAD_PER * plan->instances + plan->warmup;
    return left > 0 ? ss_time_since(ss_platform_now() + (ss_time)left, lead) : 0;
}

void ss_master_advance(struct ss_master *master, ss_time now) {
    if (master->stage == SS_STAGE_STARTING && all_started(master))
        enter_warmup(master, now);
    if (now < master->stage_end)
        return;
    switch (master->stage) {
    case SS_STAGE_WAITING:
        /* Somebody may have set the wall clock back. */
        master->stage_end = ss_master_first_stage_end(master->plan);
        if (master->stage_end <= now)
            enter_starting(master);
        break;
    case SS_STAGE_WARMUP:
        enter_settling(master, master->stage_end);
        ss_master_advance(master, now);
        break;
    case SS_STAGE_SETTLING:
        enter_counting(master, master->stage_end);
        break;
    case SS_STAGE_COUNTING:
        ss_master_end(master, master->plan->ends_with_trace ? "trace" : "duration", SIGTERM);
        break;
    default:
        break;
    }
}
