/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_SETPOINTS_H
#define SHOWSTOPPER_LOOP_SETPOINTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/time.h>

/*
 * A writer needs far less time than this to finish a change. One that has not finished by then was
 * probably killed.
 */
#define SS_SETPOINTS_PATIENCE (2 * SS_SECOND)

/* The master reads changes every half second, and misses older ones if there are more than this. */
#define SS_SETPOINTS_SLOTS 256

struct ss_setpoint_slot {
    _Atomic uint64_t number; /* number of the change, from 1, stored last; 0 while it is written */
    _Atomic uint64_t time;   /* on the monotonic clock */
    _Atomic uint64_t load;   /* a double */
};

/*
 * The changes of the target by --set. Any number of processes may write, and one reads. None of
 * them waits: new changes overwrite old ones, and the reader counts those that it missed.
 */
struct ss_setpoints {
    _Atomic uint64_t changes; /* number of changes so far */
    struct ss_setpoint_slot slots[SS_SETPOINTS_SLOTS];
};

struct ss_setpoint_change {
    ss_time time;
    double load; /* NaN to return to the trace */
};

/* The reader's position. A zero-initialized one is at the beginning. */
struct ss_setpoints_reader {
    uint64_t seen; /* number of changes that were taken or lost */
    uint64_t lost;
    uint64_t unfinished; /* number of the last change that was not finished; 0 if none */
    ss_time since;       /* when it was first seen */
};

void ss_setpoints_put(struct ss_setpoints *setpoints, const struct ss_setpoint_change *change);

/* Returns the time of the last finished change; 0 without one. */
ss_time ss_setpoints_last(const struct ss_setpoints *setpoints);

/*
 * Takes the oldest change that was not taken before. Returns false if there is none, or if its
 * writer has not finished it. Skips a change that is still unfinished after SS_SETPOINTS_PATIENCE,
 * because it would hold up all later ones; if `now` is SS_TIME_NEVER, for the last look, skips it
 * at once.
 */
bool ss_setpoints_take(const struct ss_setpoints *setpoints, struct ss_setpoints_reader *reader,
    ss_time now, struct ss_setpoint_change *change);

/* Returns how many changes were lost or not taken. Call this after the last ss_setpoints_take(). */
uint64_t ss_setpoints_missed(
    const struct ss_setpoints *setpoints, const struct ss_setpoints_reader *reader);

#endif
