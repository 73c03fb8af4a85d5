/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MODULE_H
#define SHOWSTOPPER_MODULE_H

/*
 * Declarations for all kinds of modules. A module is a shared object that exports one constant
 * table named `showstopper_module`, of the type of its kind; the table begins with a struct
 * ss_module.
 *
 *   trace      sets the target of the load        <showstopper/trace.h>
 *   feedback   estimates the load                 <showstopper/feedback.h>
 *   control    decides the global duty            <showstopper/control.h>
 *   space      decides each instance's duty       <showstopper/space.h>
 *   dithering  decides when an instance runs      <showstopper/dithering.h>
 *
 * A module is a function of its arguments and its own memory. It has no static variables, starts
 * no thread, and reads neither a clock nor a system file once a run has begun: time and counters
 * are arguments. So the same object works in a run, in the simulator and in a unit test.
 */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/host.h>
#include <showstopper/option.h>
#include <showstopper/time.h>

/* Incremented when a table changes its meaning; modules of other versions are refused. */
#define SS_MODULE_VERSION 10

/* The rounds of dithering. */
struct ss_rhythm {
    ss_time round;   /* mean length of a round; 0: no rounds */
    double settling; /* number of rounds until a changed duty has had its effect */
};

/* The window of a run without --window. */
#define SS_WINDOW_DEFAULT (500 * SS_MILLISECOND)

#define SS_MODULE_EXPORT __attribute__((visibility("default")))

enum ss_kind {
    SS_KIND_TRACE,
    SS_KIND_FEEDBACK,
    SS_KIND_CONTROL,
    SS_KIND_SPACE,
    SS_KIND_DITHERING,
    SS_KINDS,
};

/*
 * The first argument of a module's functions, except unavailable(). Its memory is zeroed when a run
 * begins.
 *
 * Each executor has its own copy, and so has the master, which also calls the trace's target(). The
 * master has executor memory of its own, at index `instances`.
 */
struct ss_self {
    const struct ss_host *host; /* services of the program, up to release() */
    const void *config;         /* the parsed options, in the module's own layout */
    void *prepared;             /* set by prepare(); each executor has a private copy */
    void *run;          /* run_memory bytes, shared by all executors, which may write to them */
    void *own;          /* executor_memory bytes that only this executor writes */
    void *executors;    /* the executor memory of all executors, see ss_self_of() */
    size_t stride;      /* bytes from one executor's memory to the next */
    uint32_t executor;  /* the index of this executor: 0 to instances - 1 */
    uint32_t instances; /* N: number of instances */
    uint32_t cpus;      /* P: CPUs measured when the run began, at least 1 */
    ss_time window;     /* length of the samples over which the load must be even */
};

/*
 * Returns the memory of executor `index`, for reading only. That executor may write to it at the
 * same time: use atomics.
 */
static inline const void *ss_self_of(const struct ss_self *self, uint32_t index) {
    return (const char *)self->executors + (size_t)index * self->stride;
}

static inline double ss_self_window_scale(const struct ss_self *self) {
    return (double)self->window / (double)SS_WINDOW_DEFAULT;
}

/* The time of a call. All executors use the same clock. */
struct ss_moment {
    ss_time now;   /* on the monotonic clock */
    ss_time since; /* when control last began (at the start, after a `free` section or a pause); a
                      module must discard what it stored earlier */
};

struct ss_module {
    uint32_t version; /* SS_MODULE_VERSION */
    uint32_t size;    /* sizeof the whole table */
    enum ss_kind kind;
    const char *name;                /* name of the file without its suffix */
    const char *summary;             /* its purpose, in one line */
    const struct ss_option *options; /* ends with SS_OPTION_END; NULL for no options. The name of
                                        the first one, the main option, may be omitted */
    size_t config_size;              /* size of the options' structure, in bytes */
    size_t run_memory;               /* shared bytes per run */
    size_t executor_memory;          /* shared bytes per executor */

    /*
     * Optional. Returns why this module cannot work on this machine, or NULL if it can. Called in
     * the master when the module has been chosen, and by --help-module.
     */
    const char *(*unavailable)(void);

    /*
     * Optional. Called once in the master, before anything is forked or shared. Checks what option
     * rows cannot, reads files and allocates what the module needs during the run. May block.
     * `run`, `own` and `executors` are not set yet. Returns 0, or -1 with `error` set to refuse the
     * run.
     */
    int (*prepare)(struct ss_self *self, struct ss_error *error);

    /*
     * Optional. Writes, in one clause, which value the module has chosen for an option, and why:
     * "tau is 107 ms, for 4 instances on 2 CPUs". Writes nothing if the options say it all. A
     * feedback module reports here if it measures the load in another way than the statistics of
     * the run. Called in the master after prepare(); `run`, `own` and `executors` are not set yet.
     */
    void (*describe)(
        const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size);

    /*
     * Optional. Called once in the master after the run; frees what prepare() allocated. Not called
     * if prepare() failed, which has to free everything itself.
     */
    void (*release)(struct ss_self *self);
};

/* The first fields of the head of a struct ss_`type`_module, whose kind is SS_KIND_`TYPE`. */
#define SS_MODULE_HEAD(type, TYPE)                                                                 \
    .version = SS_MODULE_VERSION, .size = sizeof(struct ss_##type##_module), .kind = SS_KIND_##TYPE

#endif
