/* SPDX-License-Identifier: Apache-2.0 */
#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cages.h"
#include "census.h"
#include "screen.h"
#include "signals.h"
#include "sweep.h"
#include "watchdog.h"

/* How long executors may take to end their instances themselves once the master is dead. */
#define MASTER_GONE_PATIENCE (400 * SS_MILLISECOND)

/* And how long we then look for what they have left. */
#define SWEEP_PATIENCE SS_SECOND

/* One executor and its instance, held so that their numbers cannot come to mean others. */
struct charge {
    int executor; /* -1: not yet, or gone */
    int leader;   /* -1: not yet, or the system cannot hold it */
    pid_t leader_number;
    uint64_t leader_started;
};

struct guardian {
    const struct ss_guardian_setup *setup;
    struct ss_board *board;
    struct charge *charges;
    struct pollfd *polls;   /* the bell, the master, births, then every executor */
    int births;             /* -1: the system does not tell of them */
    bool heard;             /* of births, or of what may have been one */
    bool blind;             /* there is a process that we cannot hold and must look for */
    struct ss_holds *holds; /* on all branches */
    struct ss_census_source source;
    struct ss_census census;
    struct ss_sweep sweep;
    struct ss_watchdog watchdog;
};

/* Milliseconds between two looks for processes that cannot be held. */
#define BLIND_INTERVAL 50

#define POLL_BELL      0
#define POLL_MASTER    1
#define POLL_BIRTHS    2
#define POLL_EXECUTORS 3

static void hold_executor(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    struct charge *charge = &guardian->charges[number];
    pid_t executor = atomic_load(&row->executor);
    if (charge->executor >= 0 || executor <= 1)
        return;
    charge->executor = ss_platform_process_open(executor, atomic_load(&row->executor_started));
    guardian->polls[POLL_EXECUTORS + number].fd = charge->executor;
}

static void hold_leader(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    struct charge *charge = &guardian->charges[number];
    pid_t leader = atomic_load(&row->leader);
    if (leader == charge->leader_number)
        return;
    if (charge->leader >= 0)
        close(charge->leader);
    charge->leader_number = leader;
    charge->leader_started = atomic_load(&row->leader_started);
    charge->leader = leader > 1 ? ss_platform_process_open(leader, charge->leader_started) : -1;
}

/*
 * Where the system has no hold on processes: by number, as long as it still means the same. Once
 * the leader is gone it may mean somebody else's group; then only the sweep can tell who is ours.
 */
static void signal_by_number(const struct charge *charge, int signal) {
    if (charge->leader_number > 1 &&
        ss_platform_process_started(charge->leader_number) == charge->leader_started)
        kill(-charge->leader_number, signal);
}

static void signal_instance(const struct charge *charge, int signal) {
    int why =
        charge->leader >= 0 ? ss_platform_process_signal_group(charge->leader, signal) : ENOSYS;
    if (why == ENOSYS)
        signal_by_number(charge, signal);
}

static void refresh_holds(struct guardian *guardian) {
    uint32_t fresh;
    ss_holds_refresh(guardian->holds, guardian->board, SS_HOLDS_ALL, &fresh);
}

/*
 * Ends what we know that a dead executor has left, or lets it run where that was asked for. Parents
 * run last, so that no shell sees its children stopped.
 */
static void rescue(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    struct charge *charge = &guardian->charges[number];
    uint32_t life = atomic_load(&row->life);
    if (life == SS_LIFE_CLEARED || life == SS_LIFE_UNBORN || life == SS_LIFE_ENDED)
        return;
    atomic_fetch_add(&guardian->board->losses, 1);
    hold_leader(guardian, number);
    refresh_holds(guardian);
    if (!guardian->board->keep) {
        signal_instance(charge, SIGKILL);
        ss_holds_signal(guardian->holds, 0, number, SIGKILL);
    }
    ss_cage_release(guardian->board, number);
    ss_holds_signal_reversed(guardian->holds, number, SIGCONT);
    signal_instance(charge, SIGCONT);
    atomic_store(&row->stopped, 0);
    ss_board_permit(guardian->board, number, ss_platform_now(), false);
    ss_board_leave(guardian->board, number);
    atomic_store(&row->life, SS_LIFE_CLEARED);
    if (write(guardian->setup->master_bell, "", 1) < 0)
        return; /* nobody listens, or enough bytes are waiting */
}

static void drop_executor(struct guardian *guardian, uint32_t number) {
    struct charge *charge = &guardian->charges[number];
    if (charge->executor >= 0)
        close(charge->executor);
    charge->executor = -1;
    guardian->polls[POLL_EXECUTORS + number].fd = -1;
    atomic_store(&guardian->board->rows[number].executor, -1);
}

/* Whether an executor has died, also one that we came too late to hold or cannot hold. */
static bool is_lost(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    pid_t executor = atomic_load(&row->executor);
    uint64_t started = atomic_load(&row->executor_started);
    if (executor <= 1 || started == 0)
        return false;
    if (guardian->charges[number].executor >= 0)
        return guardian->polls[POLL_EXECUTORS + number].revents != 0;
    return !ss_platform_process_lives(executor, started);
}

static void kill_executor(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    pid_t executor = atomic_load(&row->executor);
    if (guardian->charges[number].executor >= 0)
        ss_platform_process_signal(guardian->charges[number].executor, SIGKILL);
    else if (executor > 1)
        ss_platform_process_signal_once(executor, atomic_load(&row->executor_started), SIGKILL);
}

static void sweep_until(struct guardian *guardian, ss_time deadline) {
    ss_sweep_run(&guardian->sweep, deadline);
    atomic_store(&guardian->board->left, guardian->board->keep ? 0 : guardian->sweep.touched);
}

/* The board remembers what is still to be done, should we be killed before it is. */
static void sweep(struct guardian *guardian) {
    struct ss_board *board = guardian->board;
    for (uint32_t losses; (losses = atomic_load(&board->losses)) != atomic_load(&board->swept);) {
        sweep_until(guardian, ss_platform_now() + SWEEP_PATIENCE);
        atomic_store(&board->swept, losses);
    }
}

/* Sleeps until something happens, and sees to it. Returns how many executors are left. */
static uint32_t look(struct guardian *guardian, int timeout) {
    uint32_t count = guardian->board->instances;
    uint32_t left = 0;
    for (uint32_t i = 0; i < POLL_EXECUTORS + count; i++)
        guardian->polls[i].revents = 0;
    if (guardian->blind && (timeout < 0 || timeout > BLIND_INTERVAL))
        timeout = BLIND_INTERVAL;
    poll(guardian->polls, POLL_EXECUTORS + count, timeout);
    if (guardian->polls[POLL_BELL].revents) {
        char bytes[512];
        while (read(guardian->setup->bell, bytes, sizeof bytes) == sizeof bytes) {
        }
    }
    guardian->heard |= guardian->polls[POLL_BIRTHS].revents != 0;
    guardian->blind = guardian->polls[POLL_MASTER].fd < 0;
    for (uint32_t i = 0; i < count; i++) {
        hold_executor(guardian, i);
        hold_leader(guardian, i);
        if (is_lost(guardian, i)) {
            drop_executor(guardian, i);
            rescue(guardian, i);
        }
        bool lives = atomic_load(&guardian->board->rows[i].executor) > 1;
        left += lives;
        guardian->blind |= lives && guardian->charges[i].executor < 0;
    }
    sweep(guardian);
    return left;
}

static bool listen_for_births(void *context, bool on) {
    struct guardian *guardian = context;
    bool told = guardian->births >= 0 && ss_platform_births_listen(guardian->births, on) && on;
    guardian->polls[POLL_BIRTHS].fd = told ? guardian->births : -1;
    return told;
}

/* Older kernels go on telling of births when who listened has gone. */
_Noreturn static void leave(struct guardian *guardian) {
    if (guardian->census.listening)
        listen_for_births(guardian, false);
    ss_cages_remove(guardian->board);
    _exit(0);
}

/* The master is dead: the executors know it too and end their instances; then we see to it. */
_Noreturn static void take_over(struct guardian *guardian) {
    ss_time patience = ss_platform_now() + MASTER_GONE_PATIENCE;
    guardian->polls[POLL_MASTER].fd = -1;
    if (atomic_load(&guardian->board->view))
        ss_screen_release(STDERR_FILENO);
    while (look(guardian, 20) && ss_platform_now() < patience) {
    }
    for (uint32_t i = 0; i < guardian->board->instances; i++) {
        kill_executor(guardian, i);
        rescue(guardian, i);
    }
    sweep(guardian);
    ss_terminal_close(guardian->setup->terminal);
    leave(guardian);
}

static bool is_gone(void *context, uint32_t place) {
    struct guardian *guardian = context;
    refresh_holds(guardian);
    const struct ss_hold *hold = ss_holds_find(guardian->holds, place);
    return !hold || ss_hold_signal(hold, 0) == ESRCH;
}

static const struct ss_census_source system_source = {
    .latest = ss_platform_process_latest,
    .limit = ss_platform_process_limit,
    .group = ss_platform_process_group,
    .look = ss_platform_process_look,
    .may_signal = ss_platform_process_may_signal,
    .cage = ss_platform_cage_put,
    .each = ss_platform_process_each,
    .is_gone = is_gone,
    .listen = listen_for_births,
};

static bool open_guardian(struct guardian *guardian, const struct ss_guardian_setup *setup) {
    uint32_t count = setup->board->instances;
    guardian->setup = setup;
    guardian->board = setup->board;
    guardian->source = system_source;
    guardian->source.holder = guardian;
    guardian->births = ss_platform_births_open();
    guardian->charges = calloc(count, sizeof *guardian->charges);
    guardian->polls = calloc(POLL_EXECUTORS + (size_t)count, sizeof *guardian->polls);
    guardian->holds = calloc(1, sizeof *guardian->holds);
    if (!guardian->charges || !guardian->polls || !guardian->holds ||
        ss_census_open(&guardian->census, setup->board, &guardian->source,
            ss_platform_process_holds_groups(), getpid()) < 0 ||
        ss_watchdog_open(&guardian->watchdog, setup->board, setup->master) < 0)
        return false;
    ss_sweep_open(&guardian->sweep, setup->board, setup->master);
    for (uint32_t i = 0; i < count; i++) {
        guardian->charges[i] = (struct charge){.executor = -1, .leader = -1};
        guardian->polls[POLL_EXECUTORS + i] = (struct pollfd){.fd = -1, .events = POLLIN};
    }
    guardian->polls[POLL_BIRTHS] = (struct pollfd){.fd = -1, .events = POLLIN};
    guardian->polls[POLL_BELL] = (struct pollfd){.fd = setup->bell, .events = POLLIN};
    guardian->polls[POLL_MASTER] = (struct pollfd){
        .fd = ss_platform_process_open(setup->master, ss_platform_process_started(setup->master)),
        .events = POLLIN,
    };
    return true;
}

/* Takes the census where it is due. Returns when it will be next. */
static ss_time count_heads(struct guardian *guardian, ss_time due) {
    ss_time now = ss_platform_now();
    if (now < due && !guardian->heard)
        return due;
    guardian->heard = false;
    ss_watchdog_look(&guardian->watchdog, now);
    due = ss_census_take(&guardian->census, now);
    refresh_holds(guardian);
    return due;
}

/* Whether an executor may have started its instance before we began to count. */
static bool has_begun(const struct ss_board *board) {
    for (uint32_t i = 0; i < board->instances; i++) {
        if (atomic_load(&board->rows[i].executor_started))
            return true;
    }
    return false;
}

_Noreturn void ss_guardian_run(const struct ss_guardian_setup *setup) {
    static const int none[] = {0};
    struct guardian guardian = {0};
    setpgid(0, 0); /* a signal to the master's group must not reach us */
    ss_signals_adopt(SIG_IGN, none);
    ss_platform_set_name("ss-guardian");
    ss_platform_be_punctual(true);
    if (!open_guardian(&guardian, setup))
        _exit(SS_ERROR_FAILED);
    /* As a successor we may have missed much: the first look waits for nothing. */
    look(&guardian, 0);
    if (has_begun(setup->board)) {
        ss_census_survey(&guardian.census);
        refresh_holds(&guardian);
    }
    for (ss_time due = 0;;) {
        if (atomic_load(&setup->board->over)) {
            look(&guardian, 0); /* the last executor may have died while we were at work */
            if (atomic_load(&setup->board->left) > 0)
                sweep_until(&guardian, 0); /* who was left may have ended long since */
            leave(&guardian);
        }
        if (getppid() != setup->master)
            take_over(&guardian);
        ss_signals_regain_priority();
        due = count_heads(&guardian, due);
        ss_time wait = ss_time_since(due, ss_platform_now());
        look(&guardian, (int)(wait / SS_MILLISECOND) + 1);
    }
}
