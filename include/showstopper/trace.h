/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_H
#define SHOWSTOPPER_TRACE_H

#include <stdbool.h>

#include <showstopper/module.h>

struct ss_target {
    double load;   /* from 0 to 1 */
    bool free;     /* no control now; `load` is the one before the stretch */
    ss_time until; /* with `free`: the time since the trace's start at which the stretch ends */
};

struct ss_trace_module {
    struct ss_module head;

    /*
     * The target at `time` since the trace's start. Called in every executor and in the master, on
     * the timing path: does not block or allocate. `time` seldom goes back, but may. A function of
     * `time` alone, so that everybody sees the same target at the same instant.
     */
    void (*target)(const struct ss_self *self, ss_time time, struct ss_target *target);

    /* Optional. When the trace ends, SS_TIME_NEVER if it does not. Called in the master. */
    ss_time (*length)(const struct ss_self *self);
};

#endif
