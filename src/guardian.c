/* SPDX-License-Identifier: Apache-2.0 */
#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/platform.h"
#include "signals.h"

/* How long executors may take to end their instances themselves once the master is dead. */
#define MASTER_GONE_PATIENCE (400 * SS_MILLISECOND)

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
    struct pollfd *polls; /* the bell, the master, then every executor */
    bool blind;           /* there is a process that we cannot hold and must look for */
};

/* Milliseconds between two looks for processes that cannot be held. */
#define BLIND_INTERVAL 50

#define POLL_BELL      0
#define POLL_MASTER    1
#define POLL_EXECUTORS 2

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
 * Where the system has no hold on processes: by number, as long as it still means the same. A
 * number that no process has is either reserved, because it still names our group, or names none.
 */
static void signal_by_number(const struct charge *charge, int signal) {
    if (charge->leader_number <= 1)
        return;
    uint64_t started = ss_platform_process_started(charge->leader_number);
    if (started == charge->leader_started || started == 0)
        kill(-charge->leader_number, signal);
}

static void signal_instance(const struct charge *charge, int signal) {
    int why =
        charge->leader >= 0 ? ss_platform_process_signal_group(charge->leader, signal) : ENOSYS;
    if (why == ENOSYS)
        signal_by_number(charge, signal);
}

/* Ends what a dead executor has left, or lets it run where that was asked for. */
static void rescue(struct guardian *guardian, uint32_t number) {
    struct ss_row *row = &guardian->board->rows[number];
    struct charge *charge = &guardian->charges[number];
    uint32_t life = atomic_load(&row->life);
    if (life == SS_LIFE_CLEARED || life == SS_LIFE_UNBORN)
        return;
    hold_leader(guardian, number);
    if (atomic_load(&row->leader) != 0) {
        if (!guardian->board->keep)
            signal_instance(charge, SIGKILL);
        signal_instance(charge, SIGCONT);
        atomic_store(&row->stopped, 0);
    }
    if (life != SS_LIFE_ENDED) {
        ss_board_leave(guardian->board, number);
        atomic_store(&row->life, SS_LIFE_CLEARED);
    }
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
    else if (executor > 1 &&
             ss_platform_process_lives(executor, atomic_load(&row->executor_started)))
        kill(executor, SIGKILL);
}

/* Sleeps until something happens, and sees to it. Returns how many executors are left. */
static uint32_t look(struct guardian *guardian, int timeout) {
    uint32_t count = guardian->board->instances;
    uint32_t left = 0;
    for (uint32_t i = 0; i < POLL_EXECUTORS + count; i++)
        guardian->polls[i].revents = 0;
    poll(guardian->polls, POLL_EXECUTORS + count,
        guardian->blind && timeout < 0 ? BLIND_INTERVAL : timeout);
    if (guardian->polls[POLL_BELL].revents) {
        char bytes[512];
        while (read(guardian->setup->bell, bytes, sizeof bytes) == sizeof bytes) {
        }
    }
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
    return left;
}

/* The master is dead: the executors know it too and end their instances; then we see to it. */
_Noreturn static void take_over(struct guardian *guardian) {
    ss_time patience = ss_platform_now() + MASTER_GONE_PATIENCE;
    guardian->polls[POLL_MASTER].fd = -1;
    while (look(guardian, 20) && ss_platform_now() < patience) {
    }
    for (uint32_t i = 0; i < guardian->board->instances; i++) {
        kill_executor(guardian, i);
        rescue(guardian, i);
    }
    _exit(0);
}

static bool open_guardian(struct guardian *guardian, const struct ss_guardian_setup *setup) {
    uint32_t count = setup->board->instances;
    guardian->setup = setup;
    guardian->board = setup->board;
    guardian->charges = calloc(count, sizeof *guardian->charges);
    guardian->polls = calloc(POLL_EXECUTORS + (size_t)count, sizeof *guardian->polls);
    if (!guardian->charges || !guardian->polls)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        guardian->charges[i] = (struct charge){.executor = -1, .leader = -1};
        guardian->polls[POLL_EXECUTORS + i] = (struct pollfd){.fd = -1, .events = POLLIN};
    }
    guardian->polls[POLL_BELL] = (struct pollfd){.fd = setup->bell, .events = POLLIN};
    guardian->polls[POLL_MASTER] = (struct pollfd){
        .fd = ss_platform_process_open(setup->master, ss_platform_process_started(setup->master)),
        .events = POLLIN,
    };
    return true;
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
    /* The first look waits for nothing: as a successor we may have missed much. */
    for (int timeout = 0;; timeout = -1) {
        look(&guardian, timeout);
        if (atomic_load(&setup->board->over))
            _exit(0);
        if (getppid() != setup->master)
            take_over(&guardian);
    }
}
