/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MODULE_H
#define SHOWSTOPPER_MODULE_H

/*
 * The part that all modules share. A module is a shared object that exports one constant table
 * named `showstopper_module`, of the type of its kind; the table begins with a struct ss_module.
 *
 *   trace      says what load is wanted           <showstopper/trace.h>
 *   feedback   says what the load is              <showstopper/feedback.h>
 *   control    decides how much may run           <showstopper/control.h>
 *   space      decides which instances run         <showstopper/space.h>
 *   dithering  decides when                       <showstopper/dithering.h>
 *
 * A module is a function of its arguments and its own memory. It has no static variables, starts
 * no thread, and reads no clock and no file of the system once a run has begun: time and counters
 * are handed in. So the same object serves a run, the simulator and a unit test.
 */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/host.h>
#include <showstopper/option.h>
#include <showstopper/time.h>

/* Raised whenever a table changes its meaning; a module of another version is refused. */
#define SS_MODULE_VERSION 6

/* The window of a run that asks for no other one. */
#define SS_WINDOW_DEFAULT (500 * SS_MILLISECOND)

#define SS_MODULE_EXPORT __attribute__((visibility("default")))

enum ss_kind {
    SS_KIND_TRACE,
    SS_KIND_FEEDBACK,
    SS_KIND_CONTROL,
    SS_KIND_SPACE,
    SS_KIND_DITHERING,
    SS_KINDS, /* how many there are */
};

/*
 * The first argument of every function of a module. Memory named here begins zeroed.
 *
 * There is one of these per process: in every executor, and one more in the master, which asks the
 * trace for targets too. The master's has memory of its own as well, at index `instances`.
 */
struct ss_self {
    const struct ss_host *host; /* services of the program, up to release() */
    const void *config;         /* the options, parsed; layout is the module's */
    void *prepared;     /* what prepare() left here; each executor has a private copy of it */
    void *run;          /* run_memory bytes that all executors share and may write */
    void *own;          /* executor_memory bytes that this executor alone writes */
    void *executors;    /* the executor memory of all executors, see ss_self_of() */
    size_t stride;      /* bytes from one executor's memory to the next one's */
    uint32_t executor;  /* the index of this one: 0 to instances - 1 */
    uint32_t instances; /* N */
    uint32_t cpus;      /* P: CPUs measured when the run began, at least 1 */
    ss_time window;     /* the load is to be even in samples of this length */
};

/* The memory of executor `index`, to read only. The other one may be writing: use atomics. */
static inline const void *ss_self_of(const struct ss_self *self, uint32_t index) {
    return (const char *)self->executors + (size_t)index * self->stride;
}

/* How long the run's window is, in default ones. */
static inline double ss_self_window_scale(const struct ss_self *self) {
    return (double)self->window / (double)SS_WINDOW_DEFAULT;
}

/* When something is asked. Every executor sees the same clock. */
struct ss_moment {
    ss_time now;   /* on the monotonic clock */
    ss_time since; /* when the present run of control began (start, end of a `free` section,
                      end of a pause): what a module remembers from before it is void */
};

/* The head of every kind's table. */
struct ss_module {
    uint32_t version; /* SS_MODULE_VERSION */
    uint32_t size;    /* sizeof the whole table */
    enum ss_kind kind;
    const char *name;                /* as in the file's name */
    const char *summary;             /* what it does, in one line */
    const struct ss_option *options; /* ended by SS_OPTION_END; NULL: none. The first one is the
                                        main option, which may stand without its name */
    size_t config_size;              /* bytes that the options fill */
    size_t run_memory;               /* shared bytes per run */
    size_t executor_memory;          /* shared bytes per executor */

    /*
     * Optional. Why this module cannot work on this machine, or NULL when it can. Called in the
     * master when the module has been chosen, and by --help-module.
     */
    const char *(*unavailable)(void);

    /*
     * Optional. Called once in the master, before anything is forked or shared: checks what the
     * options' rows cannot, reads files, allocates what it will look up. May block. `run`, `own`
     * and `executors` are not there yet. Returns 0, or -1 with `error` set: then nothing starts.
     */
    int (*prepare)(struct ss_self *self, struct ss_error *error);

    /*
     * Optional. Writes, in one clause, what an option that is found for the run has become, and
     * why: "tau is 107 ms, for 4 instances on 2 CPUs". Nothing, where the options say it all.
     * Called in the master after prepare(); `run`, `own` and `executors` are not there yet. `round`
     * is the mean length of a round of dithering, 0 if it has none.
     */
    void (*describe)(const struct ss_self *self, ss_time round, char *buffer, size_t size);

    /* Optional. Called once in the master when the run is over; frees what prepare() allocated. */
    void (*release)(struct ss_self *self);
};

/* The first fields of the head of a struct ss_`type`_module, of the kind SS_KIND_`TYPE`. */
#define SS_MODULE_HEAD(type, TYPE)                                                                 \
    .version = SS_MODULE_VERSION, .size = sizeof(struct ss_##type##_module), .kind = SS_KIND_##TYPE

#endif
