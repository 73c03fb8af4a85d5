/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_CONTROL_H
#define SHOWSTOPPER_CONTROL_H

#include <stdbool.h>

#include <showstopper/feedback.h>
#include <showstopper/permission.h>
#include <showstopper/space.h>

/* The output of a control module. */
enum ss_control_output {
    SS_OUTPUT_DUTY, /* the fraction of time for which instances may run, from 0 to 1 */
    SS_OUTPUT_RATE, /* number of requests to send per second */
};

struct ss_control_input {
    struct ss_moment moment;
    double target;                   /* L*, from 0 to 1 */
    double load;                     /* L, from 0 to 1; NaN with `open_loop` */
    struct ss_account account;       /* CPU time used so far; like `permission` and `rhythm`, only
                                        set for a module that sets `keeps_account` */
    struct ss_permission permission; /* run time permitted to all instances together */
    uint64_t ended; /* SS_OUTPUT_RATE: number of requests that have ended, successfully or not */
    struct ss_place place;
    struct ss_rhythm rhythm;
    double previous; /* this executor's last global duty, after averaging, or its last rate; NaN
                        before the first one since control began */
};

struct ss_control_module {
    struct ss_module head;
    enum ss_control_output output;
    bool open_loop;     /* needs no load: the feedback module takes no samples */
    bool keeps_account; /* needs a feedback module with account(), which is optional with
                           SS_OUTPUT_RATE */

    /*
     * Returns this executor's own controller output. The core limits a duty to [0, 1] with a
     * warning; NaN ends the run. Called in the executor for its next state, on the timing path:
     * must not block or allocate.
     */
    double (*update)(const struct ss_self *self, const struct ss_control_input *input);

    /*
     * Optional, 0 if absent. Returns how many other executors' outputs, the most recent ones, are
     * averaged with this one's to give the global duty. At most 255, because the core keeps only
     * the latest 256 outputs.
     */
    uint32_t (*peers)(const struct ss_self *self);
};

#endif
