/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_MINDER_H
#define SSBATCH_MINDER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "keeper/signals.h"
#include "spawner.h"

/* Steps before a command is executed. */
enum ssbatch_step { SSBATCH_EXECUTE, SSBATCH_SET_UP, SSBATCH_ENTER_FOLDER };

/*
 * A minder is the parent of one command and a subreaper, so that all processes that the command
 * starts, even daemons, are its descendants. It ends them at SIGTERM or when ssbatch dies. ssbatch
 * and its keeper read the state of command and minder from shared memory.
 */
struct ssbatch_slot {
    _Atomic int32_t minder; /* 0: the slot is free */
    _Atomic uint64_t minder_started;
    _Atomic int32_t pid;    /* pid of the command */
    _Atomic int32_t why;    /* errno if the command was not executed */
    _Atomic int32_t step;   /* what failed then: enum ssbatch_step */
    _Atomic int32_t status; /* once the command has ended: its exit status, or 128 + N for signal
                               N */
    _Atomic int32_t signal; /* the signal that ended it; 0: none */
    _Atomic uint32_t ended;
    _Atomic uint64_t cpu_time; /* CPU time of the command and its descendants, set when the minder
                                  exits */
    _Atomic uint64_t grace;    /* time between SIGTERM and SIGKILL */
};

struct ssbatch_minder {
    struct ssbatch_slot *slot;
    const struct ssbatch_order *order;
    const struct ss_signals *signals; /* the caller's signal settings, which the command gets
                                         back */
    pid_t master;
    int bell; /* a byte says that the command has ended */
};

/*
 * Runs the minder. Call this in a child of ss_child_fork_blocked(). Closes `executed` once the
 * command runs.
 */
_Noreturn void ssbatch_minder_run(const struct ssbatch_minder *minder, int executed) SS_NONNULL();

/*
 * Signals the living descendants of this process. Spares children for which `is_spared` returns
 * true, and their descendants.
 */
void ssbatch_signal_descendants(
    int signal, bool (*is_spared)(void *context, pid_t pid), void *context);

/* How long guardians of killed commands may take to end their instances. */
#define SSBATCH_GUARDIAN_PATIENCE (1500 * SS_MILLISECOND)

/* The grace of commands when ssbatch has died: before a second SIGTERM, and before SIGKILL. */
#define SSBATCH_ORPHAN_GRACE  (1200 * SS_MILLISECOND)
#define SSBATCH_ORPHAN_GRACE2 (800 * SS_MILLISECOND)

#endif
