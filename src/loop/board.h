/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_BOARD_H
#define SHOWSTOPPER_LOOP_BOARD_H

/*
 * The shared memory of a run, through which master, guardian and executors inform each other. The
 * comment of a field names its writers. A field is a single atomic word or a notice, so that no
 * process ever waits for one that may be dead. "Rescuer" is the process that ends what dead
 * executors have left: the guardian, or executors if the guardian is dead, too (tree/rescue.h).
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/module.h>
#include <showstopper/shared.h>
#include <showstopper/time.h>

#include "base/histogram.h"
#include "loop/permits.h"
#include "loop/ring.h"
#include "loop/setpoints.h"
#include "platform/platform.h"

#define SS_BOARD_MAGIC          UINT64_C(0x53484f5753544f50)
#define SS_BOARD_VERSION        18
#define SS_BOARD_PREFIX         "showstopper."
#define SS_BOARD_PUBLISHERS_MAX 256

#define SS_BOARD_ANCESTORS_MAX 64

enum ss_phase {
    SS_PHASE_STARTING, /* instances are being started, and stay stopped until all exist */
    SS_PHASE_RUNNING,  /* warm-up until `control_start`, then under control */
    SS_PHASE_PAUSED,   /* everything is stopped, including the trace's clock */
    SS_PHASE_ENDING,   /* executors end their instances and themselves */
};

enum ss_life {
    SS_LIFE_NONE,         /* the executor has not started yet */
    SS_LIFE_ALIVE,        /* the instance runs under its executor */
    SS_LIFE_ENDED,        /* ended with all its processes, or released; the executor exits */
    SS_LIFE_START_FAILED, /* could not be started: see `start_error` */
    SS_LIFE_CLEARED,      /* the executor died; the rescuer ended or continued what it left */
};

/*
 * Number of iterations under --repeat that are kept for the master, see run/recent_iterations.h.
 * Even the shortest ones take about half a millisecond each.
 */
#define SS_ROW_ITERATIONS 64

struct ss_iteration_slot {
    _Atomic uint64_t start; /* on the monotonic clock */
    _Atomic uint64_t end;
};

/*
 * One executor's part of the board. Written by that executor unless the comment names other
 * writers.
 */
struct ss_row {
    _Alignas(64) _Atomic uint32_t wake; /* any process: the futex on which the executor sleeps */
    _Atomic uint32_t life;              /* enum ss_life; rescuer, too */
    _Atomic int32_t executor;           /* master: its pid; rescuer: -1 after the executor's
                                           death */
    _Atomic uint64_t executor_started;  /* see ss_platform_process_started() */
    _Atomic int32_t leader; /* pid and process group of the instance; 0 if none. If attached, its
                               first process; master, too */
    _Atomic uint64_t leader_started; /* see ss_platform_process_started(); master, too */
    _Atomic uint32_t stopped; /* for Ctrl-Z: set before the instance is stopped, cleared after it is
                                 continued; rescuers only clear it */
    _Atomic int32_t status;   /* how the instance ended, as from waitpid() */
    _Atomic int32_t start_error;  /* errno of the failed fork or exec */
    _Atomic uint32_t fork_failed; /* `start_error` is that of fork */
    _Atomic uint32_t ended_by_us; /* we ended the instance or, with --keep, released it */
    _Atomic uint64_t ended_at;    /* monotonic time at which the leader last ended by itself */
    _Atomic uint64_t cpu_time;    /* CPU time of the executor itself in nanoseconds, set when it
                                     exits */
    _Atomic uint64_t iterations;  /* number of iterations that ended with status 0 under --repeat */
    struct ss_iteration_slot recent_iterations[SS_ROW_ITERATIONS];
    _Atomic uint64_t output;       /* output of this executor's controller, a double */
    _Atomic uint64_t publications; /* number of outputs published */
    _Atomic uint64_t global_duty;  /* a double, as is `local_duty` */
    _Atomic uint64_t local_duty;
    _Atomic uint32_t permitted; /* whether the instance may run, see permits.h; rescuer, too */
    struct ss_notice instance_cpu_time; /* CPU time of the instance with SS_SOURCE_OWN, see
                                           tree/cpu_time.h */
    _Atomic uint64_t switches;          /* number of stops and continues sent */
    _Atomic uint32_t branch_changes;    /* guardian: changes whenever the instance gains or loses a
                                           branch */
    _Atomic uint32_t beat;              /* changes with every turn of the executor's loop */
    _Atomic uint32_t leaving; /* guardian: processes may be leaving the instance's group, so notify
                                 the guardian of stops */
    _Atomic uint32_t frozen;  /* guardian and executor: number of processes put into the row's
                                 freezer so far */
    _Atomic uint32_t may_have_freezer; /* guardian and executor: the row's freezer may exist, even
                                          if it is empty */
    _Atomic uint32_t survivors;        /* number of processes of an attached instance that survived
                                          SIGKILL; rescuer, too */
    _Atomic uint32_t failure;          /* enum ss_failure; guardian: SS_FAILURE_STUCK */
    _Atomic uint64_t counts[SS_PERF_EVENTS]; /* with --counters: number of each event so far,
                                                doubles */
    _Atomic uint32_t counts_unknown; /* a bit for each event that could not be read last time */
    _Atomic uint32_t uncounted;      /* number of threads whose events could not be counted */
    struct ss_shared_histogram lateness;
};

/* Why an executor had to give up control. */
enum ss_failure {
    SS_FAILURE_NONE,
    SS_FAILURE_COUNTERS, /* the load can no longer be read */
    SS_FAILURE_NOT_A_NUMBER,
    SS_FAILURE_STUCK, /* guardian: the executor's loop did not return */
};

/*
 * A part of an instance's tree that is outside the instance's own group: a group of its own, or a
 * single process. Written by the guardian.
 */
struct ss_branch {
    _Atomic uint32_t owner;  /* row index + 1, stored last; 0 if the slot is free */
    _Atomic uint32_t serial; /* changes with every use of the slot */
    _Atomic int32_t pid;     /* pid of the process or of the group leader */
    _Atomic uint32_t group;  /* the branch is the whole group of `pid` */
    _Atomic uint64_t started;
    _Atomic uint32_t missed_serial;  /* executor: serial of a branch that had ended before the
                                        executor could hold it, or of one that has left and was
                                        continued */
    _Atomic uint32_t has_left_group; /* the process has left the attached control group */
    /*
     * guardian, attached instances: a member of the group besides its leader; 0 if none is known.
     * While it lives, the ID of the group cannot be reused.
     */
    _Atomic int32_t witness;
    _Atomic uint64_t witness_started;
};

#define SS_BOARD_BRANCHES_MAX 4096

/*
 * The processes of --beside: their CPU time, and that of their descendants, does not count as that
 * of other processes.
 */
#define SS_BESIDE_MAX 32

struct ss_beside {
    uint32_t count;
    struct {
        pid_t pid;
        uint64_t started; /* see ss_platform_process_started() */
    } items[SS_BESIDE_MAX];
};

/* Fields without a named writer are set once, before the first fork. */
struct ss_board {
    uint64_t magic;
    uint32_t version;
    uint32_t instances;
    uint64_t size;        /* bytes of the whole segment */
    int32_t master;       /* pid; with --isolate, pid of the process outside */
    uint32_t keep;        /* --keep, or --attach without --end: instances outlive the run */
    uint32_t attached;    /* --attach: the instances were running before us. All of their processes
                             except the first are branches */
    char group[PATH_MAX]; /* --attach-group: the folder of the control group, whose processes are
                             the only instance, without a leader; empty if absent */
    struct ss_beside beside;
    uint32_t owns_all_children; /* all children of the master belong to the run */
    double load_cpus;           /* number of CPUs that make a load of 1; 0 if unknown */
    _Atomic uint32_t ready; /* set after the fields of the layout; those of the plan follow, before
                               `setup_done` */
    _Atomic uint32_t phase; /* master: enum ss_phase */
    _Atomic uint32_t setup_done;    /* master: setup is complete */
    _Atomic uint32_t over;          /* master, rescuer: no work is left */
    _Atomic uint32_t searches;      /* guardian: number of complete searches for branches so far */
    _Atomic uint32_t missed_groups; /* executors: groups that they were too late to hold */
    _Atomic uint32_t losses; /* executors, rescuer: how often they may have left something that only
                                a sweep finds */
    _Atomic uint32_t swept;  /* rescuer: how many of `losses` a sweep has followed */
    _Atomic uint32_t survivors;        /* rescuer: processes that survived SIGKILL, except those of
                                          attached instances (in their rows) */
    _Atomic int32_t guardian;          /* master: pid of the guardian */
    _Atomic uint64_t guardian_started; /* guardian; see ss_platform_process_started() */
    _Atomic int32_t sensor;            /* master: pid of the sensor; rescuer: 0 */
    _Atomic int32_t ancestors[SS_BOARD_ANCESTORS_MAX]; /* master: its ancestors' pids, ended by 0 */
    char mark[48];                     /* identifies the run in the environment of its instances */
    _Atomic int32_t end_signal;        /* master: the termination signal */
    _Atomic uint64_t end_grace;        /* master: when the grace period ends */
    _Atomic uint64_t control_start;    /* master: SS_TIME_NEVER until it is known */
    _Atomic uint64_t control_since;    /* master: end of the last pause */
    _Atomic uint64_t paused;           /* master: length of all pauses, which delay the trace */
    _Atomic uint64_t paused_since;     /* master: start of the present pause; 0 if none */
    _Atomic uint64_t setpoint;         /* --set: target in force, a double; NaN for the trace's */
    struct ss_setpoints setpoints;     /* --set: the latest changes of `setpoint`, each stored
                                          before it takes effect */
    struct ss_notice sample;           /* master: a struct ss_board_sample, for --status */
    _Atomic uint64_t excess[SS_KINDS]; /* executors, master: the first value beyond [0, 1] of a
                                          module of the kind, a double; 0 if none */
    _Atomic uint64_t sensor_value;     /* master: the latest number of a sensor, a double */
    _Atomic uint32_t alive;            /* executors, rescuer: number of instances under control */
    _Atomic uint32_t membership_changes; /* executors, rescuer: changes whenever `alive` does */
    struct ss_permits permits;     /* executors, rescuer: run time permitted to all instances */
    _Atomic uint32_t publications; /* executors: number of controller outputs published */
    _Atomic uint32_t publishers[SS_BOARD_PUBLISHERS_MAX]; /* executors: indexes of the latest
                                                             publishers */
    _Atomic uint32_t branch_changes; /* guardian: changes whenever the branches of any row do */
    _Atomic uint32_t branches_used;  /* guardian: slots from here on have never been used */
    _Atomic uint32_t emptied;        /* guardian: the control group has no process any more */
    _Atomic uint32_t out_of_reach;   /* guardian: processes found that we may not signal */
    _Atomic uint32_t strays;    /* guardian: processes that may descend from attached instances,
                                   without proof */
    _Atomic uint32_t beat;      /* master: changes with every turn of its loop */
    _Atomic uint32_t view_rows; /* master: number of rows that the live view occupies */
    _Atomic uint32_t counts_requested; /* master: incremented to request the counts of all
                                          executors */
    uint64_t branches_offset;
    uint64_t modules_offset; /* offset of the modules' memory */
    uint64_t rings_offset;   /* offset of the rings, one per row; 0 if nothing is recorded */
    struct ss_row rows[];
};

/*
 * Creates the segment with mode 0600 and removes its name. It has `extra` bytes of zeroed memory
 * for modules and, if the run is `recorded`, rings. `descriptor` stays open, because --set finds
 * the board by it.
 */
struct ss_board *ss_board_create(
    uint32_t instances, size_t extra, bool recorded, int *descriptor, struct ss_error *error);

/*
 * Maps the board that another process holds open, and sets its `owner`. If that is another user,
 * which only root can see, the result is a copy without rings and modules' memory, because that
 * user may change and truncate the board while it is read: trust it for processes of that user
 * only. Returns NULL with `error` set on failure.
 */
struct ss_board *ss_board_attach(pid_t master, uid_t *owner, struct ss_error *error);

void ss_board_close(struct ss_board *board);

void *ss_board_modules(struct ss_board *board);
struct ss_branch *ss_board_branches(struct ss_board *board);

/* Returns the ring of a row; NULL if nothing is recorded. */
struct ss_ring *ss_board_ring(struct ss_board *board, uint32_t row);

/* Allocates a board for the simulator and tests, with rings if `recorded`. Free it with free(). */
struct ss_board *ss_board_allocate(uint32_t instances, size_t extra, bool recorded);

/* The monitor's latest sample, for other processes to print. Unknown values are NaN. */
struct ss_board_sample {
    double target;
    double load;
    double duty;
};

#define SS_BOARD_SAMPLE_WORDS 3

/* Returns the time on the trace's own clock, which stops during pauses; 0 before its start. */
ss_time ss_board_trace_time(const struct ss_board *board, ss_time now);

/* Records whether the executor's instance may run from now on. */
void ss_board_permit(struct ss_board *board, uint32_t executor, ss_time now, bool runs);

/* Records that the executor's instance takes part from now on. */
void ss_board_join(struct ss_board *board, uint32_t executor);

/*
 * Records why the instance no longer takes part. Does so in one step, so that the master sees no
 * other life in between, and only once: a later reason does not replace the first.
 */
void ss_board_leave(struct ss_board *board, uint32_t executor, enum ss_life life);

/*
 * Returns whether the instance needs no process of ours any more: its executor has finished, or has
 * died and a rescuer has ended or continued the instance.
 */
bool ss_row_is_done(const struct ss_row *row);

/* Returns the position of `executor` among the executors that are alive, from 0. */
uint32_t ss_board_rank(const struct ss_board *board, uint32_t executor);

void ss_board_publish_output(struct ss_board *board, uint32_t executor, double output);

/*
 * Returns the mean of the executor's own output and the outputs of the `peers` living executors
 * that published last. If fewer have published, averages these.
 */
double ss_board_mean_output(
    const struct ss_board *board, uint32_t executor, double own, uint32_t peers);

#endif
