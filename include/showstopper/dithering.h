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
    struct ss_moment moment; /* `now` is when the state to be planned begins: the end planned for
                                the one before it, not the moment at which the executor woke up */
    enum ss_state state;     /* the state that now ends */
    double target;           /* L*, from 0 to 1 */
    ss_time quota_period;    /* of a quota on the CPU time that is controlled; 0: none is known */
    ss_time grain;           /* resolution of the CPU time used */
    double duty;             /* the local duty, asked just now, from 0 to 1 */
    struct ss_place place;
};

struct ss_planned_state {
    enum ss_state state; /* the next one; the same state again continues it */
    ss_time length;      /* for how long, more than 0 */
};

struct ss_dithering_module {
    struct ss_module head;

    /*
     * Plans the instance's next state and its length. Called in the executor at the end of every
     * state, on the timing path: does not block or allocate.
     */
    void (*next)(const struct ss_self *self, const struct ss_dithering_input *input,
        struct ss_planned_state *plan);

    /*
     * Optional, 0 if absent. The mean length of a round of states. Executors that begin together
     * would keep step with each other for ever: the core begins each somewhere in its first round,
     * unless the module itself sees to it that they do not.
     */
    ss_time (*round_length)(const struct ss_self *self);
    bool spreads;

    /*
     * Optional. Whether next() would say the same whatever the duty: then no duty is asked for, and
     * `input` has the last one.
     */
    bool (*is_planned)(const struct ss_self *self, const struct ss_dithering_input *input);
};

#endif
