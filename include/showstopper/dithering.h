/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_DITHERING_H
#define SHOWSTOPPER_DITHERING_H

#include <stdbool.h>

#include <showstopper/module.h>
#include <showstopper/space.h>

enum ss_state {
    SS_STATE_STOPPED,
    SS_STATE_RUNNING,
};

struct ss_dithering_input {
    /*
     * `now` is the planned end of the previous state, not the time at which the executor woke up.
     */
    struct ss_moment moment;
    enum ss_state state;  /* the state that ends now */
    double target;        /* L*, from 0 to 1 */
    ss_time quota_period; /* period of the quota on CPU time; 0 without one, or if control keeps no
                             account */
    ss_time grain;        /* resolution of the measured CPU time; 0 if unknown */
    double duty;          /* the local duty for the next state, from 0 to 1 */
    struct ss_place place;
    ss_time cost; /* CPU time of one stop and one continue of the instance; 0 if unknown */
};

struct ss_planned_state {
    enum ss_state state; /* the next state; the same state again prolongs it */
    ss_time length;      /* its length, more than 0 */
};

/* Default of `settling`; measured: see "Constants of control" in showstopper-method(7). */
#define SS_SETTLING 0.6

struct ss_dithering_module {
    struct ss_module head;

    /*
     * Plans the instance's next state and its length. Called in the executor at the end of each
     * state, on the timing path: must not block or allocate.
     */
    void (*next)(const struct ss_self *self, const struct ss_dithering_input *input,
        struct ss_planned_state *plan);

    /* Optional, 0 if absent. Returns the mean length of a round of states. */
    ss_time (*round_length)(const struct ss_self *self);

    /*
     * Optional, 0 if absent. Returns how long after control begins this executor begins its first
     * round. Until then, it is in the rest of the previous round, which is planned as if it had
     * begun a round_length() earlier; without a round_length() the instance is stopped. Executors
     * that begin together and have rounds of equal length would stay in step forever.
     */
    ss_time (*phase)(const struct ss_self *self);

    /* Optional: `settling` of struct ss_rhythm, by default SS_SETTLING. */
    double settling;

    /*
     * Optional. Returns whether the next state is already decided, whatever the duty. Then no duty
     * is computed, and next() gets the previous one. Here, `input` has no quota, grain or cost.
     */
    bool (*is_planned)(const struct ss_self *self, const struct ss_dithering_input *input);
};

#endif
