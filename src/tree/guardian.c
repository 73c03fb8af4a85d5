/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/guardian.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "keeper/signals.h"
#include "screen/window.h"
#include "tree/census.h"
#include "tree/freezer.h"
#include "tree/group_scan.h"
#include "tree/rescue.h"
#include "tree/watchdog.h"

/*
 * How long executors wait for the guardian to end what dead executors have left before they do it
 * themselves.
 */
#define GUARDIAN_PATIENCE (2 * SS_SECOND)

struct ss_guardian {
    struct ss_board *board;
    struct ss_rescue rescue;
    int forks;     /* -1: fork events are not available */
    bool records;  /* fork events are always recorded, for the census of attached instances */
    bool notified; /* woken by a possible fork event, a stop or the wakeup pipe */
    struct ss_census_source source;
    struct ss_census census;
    struct ss_group_scan group_scan; /* replaces the census if a control group is attached */
    struct ss_watchdog watchdog;
    ss_time due; /* time of the next search */
};

static bool has_group(const struct ss_guardian *guardian) {
    return *guardian->board->group;
}

static void wait_for_events(struct ss_guardian *guardian, int timeout_ms) {
    ss_rescue_step(&guardian->rescue, timeout_ms);
    guardian->notified |= guardian->rescue.polls[SS_RESCUE_FORKS].revents ||
                          guardian->rescue.polls[SS_RESCUE_WAKEUP].revents;
}

static bool listen_for_forks(void *context, bool on) {
    struct ss_guardian *guardian = context;
    if (guardian->records) {
        guardian->rescue.polls[SS_RESCUE_FORKS].fd = on ? guardian->forks : -1;
        return on;
    }
    bool notified =
        guardian->forks >= 0 && ss_platform_fork_events_listen(guardian->forks, on) && on;
    guardian->rescue.polls[SS_RESCUE_FORKS].fd = notified ? guardian->forks : -1;
    return notified;
}

static void take_over(const struct ss_guardian_setup *setup, struct ss_rescue *rescue) {
    if (atomic_load(&setup->board->view_rows))
        ss_screen_release(STDERR_FILENO);
    ss_rescue_take_over(rescue);
}

static bool is_gone(void *context, uint32_t slot) {
    struct ss_guardian *guardian = context;
    ss_rescue_refresh_holds(&guardian->rescue);
    const struct ss_hold *hold = ss_holds_find(guardian->rescue.holds, slot);
    return !hold || ss_hold_signal(hold, 0) == -ESRCH;
}

static enum ss_births read_births(
    void *context, void (*visit)(void *context, pid_t parent, pid_t child), void *census) {
    struct ss_guardian *guardian = context;
    return guardian->records ? ss_platform_fork_events_read(guardian->forks, visit, census)
                             : SS_BIRTHS_UNKNOWN;
}

static const struct ss_census_source system_source = {
    .latest = ss_platform_pid_latest,
    .limit = ss_platform_pid_limit,
    .group = getpgid, /* much faster than looking at the process */
    .info = ss_platform_process_info,
    .may_signal = ss_platform_process_may_signal,
    .freezer = ss_platform_freezer_put,
    .each = ss_platform_process_each,
    .is_gone = is_gone,
    .listen = listen_for_forks,
    .births = read_births,
    .is_akin = ss_platform_process_is_akin,
    .image = ss_platform_process_image,
};

/* Looks for processes of the instances. Returns whether the search was complete. */
static bool look_for_processes(void *context) {
    struct ss_guardian *guardian = context;
    ss_time now = ss_platform_now();
    bool complete;
    if (has_group(guardian)) {
        complete = ss_group_scan_run(&guardian->group_scan);
        guardian->due = now + guardian->group_scan.interval;
    } else {
        guardian->due = ss_census_take(&guardian->census, now);
        complete = ss_census_is_complete(&guardian->census);
    }

    if (complete)
        ss_platform_wake(&guardian->board->searches);
    ss_rescue_refresh_holds(&guardian->rescue);
    return complete;
}

static void take_census_if_due(struct ss_guardian *guardian) {
    ss_time now = ss_platform_now();
    if (now < guardian->due && !guardian->notified)
        return;
    guardian->notified = false;
    ss_watchdog_check(&guardian->watchdog, now);
    look_for_processes(guardian);
}

static int open_search(struct ss_guardian *guardian) {
    if (has_group(guardian))
        return ss_group_scan_open(&guardian->group_scan, guardian->board, is_gone, guardian);
    return ss_census_open(&guardian->census, guardian->board, &guardian->source,
        ss_platform_pidfd_signals_groups(), getpid());
}

/* Returns whether instances may predate the census. */
static bool has_begun(const struct ss_board *board) {
    if (board->attached)
        return true;
    for (uint32_t i = 0; i < board->instances; i++) {
        if (atomic_load(&board->rows[i].executor_started))
            return true;
    }
    return false;
}

static int open_guardian(void *context, int parent) {
    struct ss_guardian_setup *setup = context;
    struct ss_board *board = setup->board;
    struct ss_guardian *guardian = calloc(1, sizeof *guardian);
    if (!guardian)
        return -1;

    setup->guardian = guardian;
    atomic_store(&board->guardian_started, ss_platform_process_started(getpid()));
    ss_platform_minimize_latency(SS_PRIORITY_REALTIME);
    guardian->board = board;
    guardian->source = system_source;
    guardian->source.holder = guardian;
    guardian->forks = ss_platform_fork_events_open();
    guardian->records =
        board->attached && !has_group(guardian) && ss_platform_fork_events_record(guardian->forks);

    if (ss_rescue_open(
            &guardian->rescue, board, setup->master, setup->wakeup, setup->master_wakeup) < 0 ||
        open_search(guardian) < 0 ||
        ss_watchdog_open(&guardian->watchdog, board, setup->master) < 0)
        return -1;

    guardian->rescue.polls[SS_RESCUE_MASTER].fd = parent;
    if (!has_group(guardian) && has_begun(board)) {
        ss_census_survey(&guardian->census);
        ss_rescue_refresh_holds(&guardian->rescue);
        ss_platform_wake(&board->searches);
    }

    guardian->rescue.search = look_for_processes;
    guardian->rescue.searcher = guardian;
    /* A replacement guardian may have missed events, so its first look does not wait. */
    wait_for_events(guardian, 0);
    return 0;
}

static void look_last(struct ss_rescue *rescue) {
    ss_rescue_step(rescue, 0); /* for an executor that died after the last look */
    /* Processes that were counted as left may have exited since. */
    if (atomic_load(&rescue->board->survivors) > 0)
        ss_rescue_sweep(rescue, 0);
}

static bool do_turn(void *context) {
    struct ss_guardian_setup *setup = context;
    struct ss_guardian *guardian = setup->guardian;
    if (atomic_load(&guardian->board->over)) {
        look_last(&guardian->rescue);
        return false;
    }
    ss_signals_regain_priority();
    take_census_if_due(guardian);
    ss_time wait = ss_time_since(guardian->due, ss_platform_now());
    wait_for_events(guardian, (int)(wait / SS_MILLISECOND) + 1);
    return true;
}

static void take_over_orphaned(void *context) {
    const struct ss_guardian_setup *setup = context;
    take_over(setup, &setup->guardian->rescue);
}

static void close_guardian(void *context) {
    struct ss_guardian_setup *setup = context;
    struct ss_guardian *guardian = setup->guardian;
    /* Older kernels keep sending fork events after the listener is gone. */
    if (guardian->census.listening || guardian->records)
        ss_platform_fork_events_listen(guardian->forks, false);
    ss_census_close(&guardian->census);
    ss_group_scan_close(&guardian->group_scan);
    ss_terminal_close(setup->terminal); /* in case the master dies before it does so */
    ss_freezers_remove(guardian->board);
}

struct ss_keeper_job ss_guardian_job(struct ss_guardian_setup *setup) {
    return (struct ss_keeper_job){
        .name = "ss-guardian",
        .open = open_guardian,
        .turn = do_turn,
        .orphaned = take_over_orphaned,
        .close = close_guardian,
        .context = setup,
    };
}

void ss_guardian_stand_in(const struct ss_guardian_setup *setup) {
    struct ss_board *board = setup->board;
    struct ss_rescue rescue;
    ss_keeper_await(
        atomic_load(&board->guardian), atomic_load(&board->guardian_started), GUARDIAN_PATIENCE);
    if (!atomic_load(&board->over) &&
        ss_rescue_open(&rescue, board, setup->master, -1, setup->master_wakeup) == 0)
        take_over(setup, &rescue);
    /* A guardian that took over may have been killed before it did this. */
    ss_terminal_close(setup->terminal);
    ss_freezers_remove(board);
}

void ss_guardian_finish(const struct ss_guardian_setup *setup) {
    static struct ss_rescue rescue; /* never closed: the master ends soon */
    if (ss_rescue_open(&rescue, setup->board, setup->master, -1, setup->master_wakeup) == 0)
        look_last(&rescue);
    ss_freezers_remove(setup->board);
}
