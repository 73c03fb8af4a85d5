/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PLATFORM_H
#define SHOWSTOPPER_PLATFORM_H

/*
 * Everything that POSIX does not give and a port to another system has to supply. The rest of the
 * project knows no system but through these functions.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

#include "base/cpus.h"

/* ---- clocks and sleeping ---- */

/* The monotonic clock; it stands still while the machine is suspended. */
ss_time ss_platform_now(void);

/* Nanoseconds since 1970: only ever a label, never a measure. */
int64_t ss_platform_wallclock(void);

/*
 * Sleeps until `deadline`, until somebody wakes the word, or until a signal arrives; returns at
 * once when the word is no longer `seen`, so no wake-up between a look and the sleep is lost. The
 * word may lie in shared memory.
 */
void ss_platform_sleep(_Atomic uint32_t *word, uint32_t seen, ss_time deadline);

/* Changes the word and wakes who sleeps on it. May be called from a signal handler. */
void ss_platform_wake(_Atomic uint32_t *word);

/* ---- this process ---- */

int ss_platform_program_path(char *path, size_t size);

/*
 * What `ps` and `top` show for this process. The name takes the place of the arguments that main()
 * was given, once they have been shown to keep_arguments(): nobody may point into them then.
 */
void ss_platform_keep_arguments(int argc, char **argv);
void ss_platform_set_name(const char *name);

/* Orphans below this process become its children. */
void ss_platform_adopt_orphans(void);

/*
 * The kernel sends `signal` to this process when its parent dies. Fails when the parent is no
 * longer `parent`: then the signal may never come.
 */
int ss_platform_die_with(pid_t parent, int signal);

/* ---- isolation ---- */

struct ss_isolation {
    bool unprivileged; /* in a user namespace, too */
    uid_t user;
    gid_t group;
};

/*
 * Like fork(), but the child is the first process of a PID namespace. When it ends the system kills
 * everything there.
 */
pid_t ss_platform_isolation_fork(struct ss_isolation *isolation);

/* In that child: the rest of the setting up; it will die with its parent. 0, or an errno. */
int ss_platform_isolation_settle(const struct ss_isolation *isolation);

/* ---- scheduling ---- */

/* What the caller of the program had, and an instance gets back. */
struct ss_scheduling;
struct ss_scheduling *ss_platform_scheduling_save(void);

/*
 * Restores it between fork() and exec(): async-signal-safe, best effort. With `pin`, the CPUs are
 * those and not the saved ones.
 */
void ss_platform_scheduling_restore(const struct ss_scheduling *saved, const struct ss_cpus *pin);

/*
 * For ourselves: wake-ups as exact as allowed. The finest timer slack; as many open files as the
 * hard limit allows; with `realtime`, real-time priority that children do not inherit, with a limit
 * on how long it may be used without sleeping. Returns 0, or the errno that refused the priority.
 */
int ss_platform_be_punctual(bool realtime);

/* Gives real-time priority back. Async-signal-safe. */
void ss_platform_be_ordinary(void);

void ss_platform_affinity(struct ss_cpus *cpus);

/* Whether a child of this process lives: zombies do not count. */
bool ss_platform_has_living_children(void);

/* ---- other processes ---- */

struct ss_process {
    pid_t parent;
    pid_t group;
    char state;       /* as `ps` shows it; 'Z' only if no thread of it is left */
    uint64_t started; /* see ss_platform_process_started() */
};

/* false: there is no such process. */
bool ss_platform_process_look(pid_t pid, struct ss_process *process);

/* Its process group; -1: no such process. Much cheaper than a look. */
pid_t ss_platform_process_group(pid_t pid);

/* false only where the system forbids us to signal it. */
bool ss_platform_process_may_signal(pid_t pid);

/*
 * The number that was given away last, to a process or thread of anybody, and the limit of such
 * numbers. They are given in ascending order and then from the beginning again, so what lies
 * between two answers is all that can be new. -1: the system does not tell.
 */
pid_t ss_platform_process_latest(void);
pid_t ss_platform_process_limit(void);

/*
 * A way to be told when a process or thread begins, to be waited for like a pipe; -1: the system
 * does not tell us.
 */
int ss_platform_fork_events_open(void);

/*
 * Begins or ends to be told. false: we shall not be. Other things may be told, too. What is told
 * stays there until it is begun anew.
 */
bool ss_platform_fork_events_listen(int forks, bool on);

/* A thread of the process that wants a CPU now, and not its first one; 0: there is none. */
pid_t ss_platform_thread_at_work(pid_t process);

/* To one thread, which passes on to all others what concerns the whole process. */
void ss_platform_thread_signal(pid_t process, pid_t thread, int signal);

/* All processes there are, in no order. */
void ss_platform_process_each(void (*see)(void *context, pid_t pid), void *context);

/* A variable of the environment that it was executed with. false: not set, too long, not ours. */
bool ss_platform_process_variable(pid_t pid, const char *name, char *value, size_t size);

/*
 * When a process was started, in units of the system's own since boot; 0: no such process. With
 * its number it means this process and no other one, ever.
 */
uint64_t ss_platform_process_started(pid_t pid);

/* Whether this very process is there and has not ended. */
bool ss_platform_process_lives(pid_t pid, uint64_t started);

/*
 * A hold on this very process; becomes readable when it ends. -1 with ESRCH in errno when it has
 * ended, and with another one when none can be had.
 */
int ss_platform_process_open(pid_t pid, uint64_t started);

/* 0 when sent, else an errno; ENOSYS where the system cannot do it. */
int ss_platform_process_signal(int process, int signal);
int ss_platform_process_signal_group(int process, int signal);

/* The same to this very process without a hold of one's own, also where there are none. */
int ss_platform_process_signal_once(pid_t pid, uint64_t started, int signal);

/* Whether a hold on a leader reaches the group even after the leader's end. */
bool ss_platform_process_holds_groups(void);

/*
 * A freezer holds processes that may not be signalled. It is made when the first is put there;
 * false where the system or our rights do not allow it. Whoever they start is in it, too.
 */
bool ss_platform_freezer_put(const char *name, pid_t pid);

/* What freeze() takes; -1: there is no such freezer. */
int ss_platform_freezer_open(const char *name);
void ss_platform_freezer_freeze(int freezer, bool frozen);
void ss_platform_freezer_kill(const char *name);

/* false: somebody is still in it. */
bool ss_platform_freezer_remove(const char *name);

/* CPU time in nanoseconds, in steps of the system's own, as all of them are told at once. */
struct ss_process_times {
    pid_t pid;
    pid_t parent;
    uint64_t used;   /* by all of its threads */
    uint64_t waited; /* by children that it has waited for, and by theirs */
};

/* false: there is no such process. */
bool ss_platform_process_times(pid_t pid, struct ss_process_times *times);

/* CPU time that a process has used; 0 when it is gone. */
ss_time ss_platform_process_cpu_time(pid_t pid);

/* Whether there is what no run can do without: /proc, and /dev/null for instances to read from. */
int ss_platform_check_system(struct ss_error *error);

/* The first half of it: what is known of processes, CPU time and the program's own place. */
int ss_platform_check_proc(struct ss_error *error);

/* Whether so many more processes and open files are allowed; the message says which limit is in the
 * way. */
int ss_platform_check_limits(uint64_t processes, uint64_t files, struct ss_error *error);

/* ---- shared memory ---- */

/*
 * A shared memory object, mode 0600, that never has a name, so that nobody can be killed between
 * giving it one and taking it away. -1: the system knows only such with names.
 */
int ss_platform_shared_create(void);

/* Opens the object that process `pid` holds and that `fits`. */
int ss_platform_shared_of(pid_t pid, bool (*fits)(int descriptor), struct ss_error *error);

/* ---- the machine's counters ---- */

/* Where the system's trees stand; another root serves tests. NULL members: the usual places. */
struct ss_platform_roots {
    const char *proc;
    const char *cgroup;
};

struct ss_counter_reader {
    enum ss_source source;
    struct ss_cpus cpus;
    int file;
    char *buffer;
    size_t size;
    double unit;      /* nanoseconds per unit of the file's numbers */
    double capacity;  /* CPUs that make a load of 1, where the file does not tell */
    double at_once;   /* likewise: CPUs that can be used at one instant */
    ss_time period;   /* SS_SOURCE_CGROUP: of the quota; 0: there is none */
    int throttling;   /* likewise: what tells how long the quota has held tasks back; only with */
    bool whole;       /* SS_SOURCE_RUNTIME: the file is about all CPUs together */
    ss_time looked;   /* likewise: when CPUs were last counted */
    char reason[128]; /* why `source` is not the one that was asked for; empty: it is */
    char path[4096];  /* what is read, for messages and records */
    char throttling_path[4096]; /* empty: nothing tells */
};

/*
 * For all sources but sensors. Where there is no SS_SOURCE_RUNTIME, SS_SOURCE_SYSTEM is opened in
 * its place. Everything is allocated here, nothing in read().
 */
int ss_platform_counters_open(struct ss_counter_reader *reader, enum ss_source source,
    const char *argument, const struct ss_cpus *cpus, const struct ss_platform_roots *roots,
    struct ss_error *error);

/* 0, or an errno. */
int ss_platform_counters_read(struct ss_counter_reader *reader, struct ss_counters *counters);

void ss_platform_counters_close(struct ss_counter_reader *reader);

/* The other end of a process that opened the same: a descriptor of its own for the same file. */
int ss_platform_counters_reopen(struct ss_counter_reader *reader);

/*
 * The tightest quota of CPU time that holds for our own control group, its own or that of one above
 * it, with how many of its periods have passed and in how many of these it was used up.
 */
struct ss_quota {
    double cpus; /* 0: there is none */
    uint64_t periods;
    uint64_t throttled;
};

void ss_platform_quota_read(const struct ss_platform_roots *roots, struct ss_quota *quota);

/* ---- CPU time in its parts ---- */

/* Where the time of one CPU, or of a control group, went: nanoseconds since a point in the past. */
struct ss_cpu_times {
    uint32_t cpu;
    uint64_t user; /* with nice and guest time */
    uint64_t system;
    uint64_t irq;   /* hard and soft interrupts */
    uint64_t steal; /* taken by the hypervisor */
    uint64_t iowait;
    uint64_t idle; /* without iowait */
    uint64_t used; /* a control group: all that it used, which is not exactly user and system */
};

struct ss_cpu_reading {
    ss_time time;    /* when it was taken, on the monotonic clock */
    double pressure; /* part of the last 10 s in which somebody waited for a CPU; NaN: unknown */
    double capacity; /* CPUs that make a load of 1: those that are here, or a group's allowance */
    bool group;      /* one item, a control group */
    bool parts;      /* what user and system are is known; always so for CPUs */
    size_t count;
    struct ss_cpu_times *items; /* ascending by CPU; room for as many as the reader has measured */
};

/* Counts each CPU apart, which a counter reader need not. */
struct ss_cpu_reader {
    struct ss_counter_reader counters;
    bool group;
    int pressure; /* -1: there is none */
    double pressure_now;
    ss_time pressure_due; /* when it may have changed */
    int user;             /* a v1 group's own files; -1: there is none */
    int system;
};

/*
 * SS_SOURCE_SYSTEM: the CPUs; SS_SOURCE_CGROUP: this control group, NULL: our own. Everything is
 * allocated here, nothing in read().
 */
int ss_platform_cpu_times_open(struct ss_cpu_reader *reader, enum ss_source source,
    const char *group, const struct ss_cpus *cpus, const struct ss_platform_roots *roots,
    struct ss_error *error);

/* 0, or an errno. */
int ss_platform_cpu_times_read(struct ss_cpu_reader *reader, struct ss_cpu_reading *reading);

void ss_platform_cpu_times_close(struct ss_cpu_reader *reader);

#endif
