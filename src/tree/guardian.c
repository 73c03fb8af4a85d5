/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "screen/window.h"
#include "tree/census.h"
#include "tree/freezer.h"
#include "tree/rescue.h"
#include "tree/signals.h"
#include "tree/watchdog.h"

/*
 * How long executors wait for the guardian to end what dead executors have
 * left before they do it.
 */
#define GUARDIAN_PATIENCE (2 * SS_SECOND)

/* Polling interval of a guardian without pidfds. */
#define BLIND_INTERVAL (20 * SS_MILLISECOND)

struct guardian {
    const struct ss_guardian_setup *setup;
    struct ss_board *board;
    struct ss_rescue rescue;
    int forks;     /* -1: fork events are not available */
    bool records;  /* they are always recorded, for the census of attached instances */
    bool notified; /* a possible fork event, a stop or the bell has arrived */
    struct ss_census_source source;
    struct ss_census census;
    struct ss_watchdog watchdog;
};

static void wait_for_events(struct guardian *guardian, int timeout) {
    ss_rescue_look(&guardian->rescue, timeout);
    guardian->notified |= guardian->rescue.polls[SS_RESCUE_FORKS].revents ||
                          guardian->rescue.polls[SS_RESCUE_BELL].revents;
}

static bool listen_for_forks(void *context, bool on) {
    struct guardian *guardian = context;
    if (guardian->records) {
        guardian->rescue.polls[SS_RESCUE_FORKS].fd = on ? guardian->forks : -1;
        return on;
    }
    bool told = guardian->forks >= 0 && ss_platform_fork_events_listen(guardian->forks, on) && on;
    guardian->rescue.polls[SS_RESCUE_FORKS].fd = told ? guardian->forks : -1;
    return told;
}

/* Older kernels keep sending fork events after the listener has gone. */
_Noreturn static void exit_guardian(struct guardian *guardian) {
    if (guardian->census.listening || guardian->records)
        ss_platform_fork_events_listen(guardian->forks, false);
    ss_freezers_remove(guardian->board);
    _exit(0);
}

/* The master is dead. The executors know it, too, and end their instances; this ends the rest. */
static void take_over(const struct ss_guardian_setup *setup, struct ss_rescue *rescue) {
    if (atomic_load(&setup->board->view))
        ss_screen_release(STDERR_FILENO);
    ss_rescue_take_over(rescue);
    ss_terminal_close(setup->terminal);
}

static bool is_gone(void *context, uint32_t slot) {
    struct guardian *guardian = context;
    const struct ss_hold *hold = ss_rescue_find_hold(&guardian->rescue, slot);
    return !hold || ss_hold_signal(hold, 0) == -ESRCH;
}

static enum ss_births read_births(
    void *context, void (*see)(void *context, pid_t parent, pid_t child), void *census) {
    struct guardian *guardian = context;
    return guardian->records ? ss_platform_fork_events_read(guardian->forks, see, census)
                             : SS_BIRTHS_UNKNOWN;
}

static const struct ss_census_source system_source = {
    .latest = ss_platform_process_latest,
    .limit = ss_platform_process_limit,
    .group = ss_platform_process_group,
    .look = ss_platform_process_look,
    .may_signal = ss_platform_process_may_signal,
    .freezer = ss_platform_freezer_put,
    .each = ss_platform_process_each,
    .is_gone = is_gone,
    .listen = listen_for_forks,
    .births = read_births,
    .is_akin = ss_platform_process_is_akin,
};

static bool open_guardian(struct guardian *guardian, const struct ss_guardian_setup *setup) {
    guardian->setup = setup;
    guardian->board = setup->board;
    guardian->source = system_source;
    guardian->source.holder = guardian;
    guardian->forks = ss_platform_fork_events_open();
    guardian->records = setup->board->attached && ss_platform_fork_events_record(guardian->forks);
    return ss_rescue_open(&guardian->rescue, setup->board, setup->master, setup->bell,
               setup->master_bell) == 0 &&
           ss_census_open(&guardian->census, setup->board, &guardian->source,
               ss_platform_process_holds_groups(), getpid()) == 0 &&
           ss_watchdog_open(&guardian->watchdog, setup->board, setup->master) == 0;
}

/* Takes the census if it is due. Returns when it is due next. */
static ss_time take_census(struct guardian *guardian, ss_time due) {
    ss_time now = ss_platform_now();
    if (now < due && !guardian->notified)
        return due;
    guardian->notified = false;
    ss_watchdog_look(&guardian->watchdog, now);
    due = ss_census_take(&guardian->census, now);
    ss_rescue_refresh_holds(&guardian->rescue);
    return due;
}

/* Returns whether instances may be older than the census. */
static bool has_begun(const struct ss_board *board) {
    if (board->attached)
        return true;
    for (uint32_t i = 0; i < board->instances; i++) {
        if (atomic_load(&board->rows[i].executor_started))
            return true;
    }
    return false;
}

_Noreturn void ss_guardian_run(const struct ss_guardian_setup *setup) {
    static const int none[] = {0};
    struct guardian guardian = {0};
    setpgid(0, 0); /* a signal to the master's group must not reach the guardian */
    /* If the guardian has been stopped, the master's death continues it. */
    ss_platform_die_with(setup->master, SIGCONT);
    ss_platform_lifeline_own(setup->line);
    atomic_store(&setup->board->guardian_started, ss_platform_process_started(getpid()));
    ss_signals_adopt(SIG_IGN, none);
    ss_platform_set_name("ss-guardian");
    ss_platform_be_punctual(true);
    if (!open_guardian(&guardian, setup))
        _exit(SS_ERROR_FAILED);
    /* A replacement guardian may have missed much, so its first look does not wait. */
    wait_for_events(&guardian, 0);
    if (has_begun(setup->board)) {
        ss_census_survey(&guardian.census);
        ss_rescue_refresh_holds(&guardian.rescue);
    }
    for (ss_time due = 0; getppid() == setup->master;) {
        if (atomic_load(&setup->board->over)) {
            wait_for_events(&guardian, 0); /* for an executor that died after the last look */
            /* Processes that were counted as left may have ended since. */
            if (atomic_load(&setup->board->left) > 0)
                ss_rescue_sweep(&guardian.rescue, 0);
            exit_guardian(&guardian);
        }
        ss_signals_regain_priority();
        due = take_census(&guardian, due);
        ss_time wait = ss_time_since(due, ss_platform_now());
        wait_for_events(&guardian, (int)(wait / SS_MILLISECOND) + 1);
    }
    take_over(setup, &guardian.rescue);
    exit_guardian(&guardian);
}

/* Waits until a guardian that may still be working has ended. */
static void await_guardian(struct ss_board *board) {
    static _Atomic uint32_t nothing;
    pid_t guardian = atomic_load(&board->guardian);
    uint64_t started = atomic_load(&board->guardian_started);
    ss_platform_process_signal_once(guardian, started, SIGCONT);
    struct pollfd end = {.fd = ss_platform_process_open(guardian, started), .events = POLLIN};
    bool blind = end.fd < 0 && end.fd != -ESRCH;
    if (end.fd >= 0)
        poll(&end, 1, (int)(GUARDIAN_PATIENCE / SS_MILLISECOND));
    ss_time deadline = ss_platform_now() + GUARDIAN_PATIENCE;
    for (ss_time now; blind && ss_platform_process_lives(guardian, started) &&
                      (now = ss_platform_now()) < deadline;)
        ss_platform_sleep(&nothing, 0, now + BLIND_INTERVAL);
}

void ss_guardian_stand_in(const struct ss_guardian_setup *setup) {
    struct ss_rescue rescue;
    await_guardian(setup->board);
    if (atomic_load(&setup->board->over) ||
        ss_rescue_open(&rescue, setup->board, setup->master, -1, setup->master_bell) < 0)
        return;
    take_over(setup, &rescue);
    ss_freezers_remove(setup->board);
}
