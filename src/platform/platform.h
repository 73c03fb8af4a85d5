/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PLATFORM_PLATFORM_H
#define SHOWSTOPPER_PLATFORM_PLATFORM_H

/*
 * Everything beyond POSIX that the project needs and that a port to another system has to supply.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

#include "base/combined_counter.h"
#include "base/cpus.h"

/* ---- clocks and sleeping ---- */

/*
 * Returns the time on the monotonic clock, which does not advance while the machine is suspended.
 */
ss_time ss_platform_now(void);

/* Returns nanoseconds since 1970. Use it for labels only, never to measure time. */
int64_t ss_platform_wallclock(void);

/* How far two other clocks are ahead of the monotonic clock, in nanoseconds. */
struct ss_clock_offsets {
    int64_t wall; /* time since 1970; changes when that clock is set, and whenever `boot` does */
    int64_t boot; /* a clock that also advances while the machine is suspended */
};
struct ss_clock_offsets ss_platform_clock_offsets(void);

/* Returns how far the wall clock was set between two readings. */
static inline int64_t ss_clock_set_by(
    const struct ss_clock_offsets *from, const struct ss_clock_offsets *to) {
    return (to->wall - from->wall) - (to->boot - from->boot);
}

/* Both clocks of a simulated machine. */
struct ss_clock {
    ss_time (*now)(void *context);       /* instead of ss_platform_now() */
    int64_t (*wallclock)(void *context); /* instead of ss_platform_wallclock() */
    void *context;
};

/*
 * Sleeps until `deadline`, until ss_platform_wake() wakes the word, or until a signal arrives.
 * Returns at once if the word no longer equals `seen`, so no wake-up is lost after the caller has
 * read it. The word may be in shared memory.
 */
SS_NONNULL() void ss_platform_sleep(_Atomic uint32_t *word, uint32_t seen, ss_time deadline);

/* Sleeps until `deadline`, or until a signal arrives. */
void ss_platform_sleep_until(ss_time deadline);

/* Changes the word and wakes all processes that sleep on it. Async-signal-safe. */
SS_NONNULL() void ss_platform_wake(_Atomic uint32_t *word);

struct pollfd;

/* Like poll(), but waits until `deadline`, to the nanosecond. */
SS_NONNULL() int ss_platform_poll(struct pollfd *polls, size_t count, ss_time deadline);

/* ---- this process ---- */

/*
 * Returns the path of this program without its last `levels` parts, followed by `end`; NULL if
 * unknown. free() the result.
 */
SS_NONNULL() char *ss_platform_program_path(unsigned levels, const char *end);

/*
 * Returns the path of a file that is installed with this program: `end`, such as /lib/NAME, next to
 * the folder of the program. Returns NULL with errno set if it is absent or another user may have
 * made it. free() the result.
 */
SS_NONNULL() char *ss_platform_installed_path(const char *end);

/*
 * Fails if this program runs with rights that its caller lacks (set-uid, set-gid, file
 * capabilities): our programs signal processes, load modules, start commands and write files as the
 * caller requests.
 */
SS_MUST_USE SS_NONNULL() int ss_platform_check_rights(struct ss_error *error);

/*
 * Excludes the memory of this process from core dumps, for programs that get secrets, such as
 * tokens in headers. Libraries copy these, so excluding single pages would not suffice.
 */
void ss_platform_hide_memory(void);

/*
 * Sets the name that `ps` and `top` show for this process. The name overwrites the arguments of
 * main() if they were passed to ss_platform_keep_arguments(), so do not use them afterwards.
 */
SS_NONNULL() void ss_platform_keep_arguments(int argc, char **argv);
SS_NONNULL() void ss_platform_set_name(const char *name);

/* Makes orphans below this process its children. */
void ss_platform_adopt_orphans(void);

/*
 * Makes the kernel send `signal` to this process when its parent dies. Fails if the parent is no
 * longer `parent`, because then the signal might never come.
 */
int ss_platform_die_with(pid_t parent, int signal);

/*
 * Opens a lifeline owned by the caller: when the last descriptor that holds it is closed, for
 * example because its process died, the kernel sends SIGCONT to the owner. Returns a descriptor or
 * a negative errno.
 */
int ss_platform_lifeline_open(void);

/*
 * Makes the caller the owner: a fork inherits the lifeline, but not the ownership. Returns 0 or a
 * negative errno.
 */
int ss_platform_lifeline_own(int lifeline);

/*
 * Returns a descriptor that holds the lifeline, or a negative errno. Each copy of it holds the
 * lifeline, too; forks inherit copies, so the caller closes its own after the fork.
 */
int ss_platform_lifeline_hold(int lifeline);

/* ---- terminals ---- */

/*
 * Opens a pseudo-terminal in raw mode, without making it our controlling terminal. Returns 0, or a
 * negative errno with both ends -1.
 */
SS_MUST_USE SS_NONNULL() int ss_platform_pty_open(int *ours, int *theirs);

/* ---- isolation ---- */

struct ss_isolation {
    bool unprivileged; /* also in a user namespace */
    uid_t user;
    gid_t group;
};

/*
 * Like fork(), but the child is the first process of a new PID namespace and has mounts of its own.
 * When it ends, the kernel kills everything in the namespace.
 */
SS_NONNULL() pid_t ss_platform_isolation_fork(struct ss_isolation *isolation);

/*
 * Completes the setup in that child: maps its IDs, mounts /proc, and makes it die with its parent.
 * Returns 0 or a negative errno.
 */
SS_NONNULL() int ss_platform_isolation_set_up(const struct ss_isolation *isolation);

/* ---- scheduling ---- */

/* The scheduling settings of the program's caller, which instances get back. */
struct ss_scheduling;
struct ss_scheduling *ss_platform_scheduling_save(void);

/*
 * Restores the settings between fork() and exec(). Async-signal-safe, best effort. `pin`, if not
 * NULL, replaces the saved CPUs.
 */
SS_NONNULL(1)
void ss_platform_scheduling_restore(const struct ss_scheduling *saved, const struct ss_cpus *pin);

enum ss_priority {
    SS_PRIORITY_INHERITED,
    SS_PRIORITY_HIGH, /* the highest ordinary priority, if permitted */
    SS_PRIORITY_REALTIME,
};

/*
 * Makes our own wake-ups as exact as permitted: the finest timer slack, as many open files as the
 * hard limit allows, and this priority. Takes high priority if real-time priority is not permitted.
 * Children do not inherit real-time priority, and the time for which it may be used without
 * sleeping is limited. Returns 0, or the negative errno of requesting real-time priority.
 */
int ss_platform_minimize_latency(enum ss_priority priority);

/* Gives another process the highest ordinary priority, if permitted. */
void ss_platform_process_raise_priority(pid_t pid);

/* Gives up real-time priority. Async-signal-safe. */
void ss_platform_drop_realtime(void);

/* Like waitpid(), but safe at real-time priority and not interrupted by signals. */
pid_t ss_platform_reap(pid_t pid, int *status, int flags);

SS_NONNULL() void ss_platform_affinity(struct ss_cpus *cpus);

/*
 * Get and set the affinity of a thread; 0 is this one. Async-signal-safe. Return 0 or a negative
 * errno.
 */
SS_NONNULL() int ss_platform_thread_affinity(pid_t thread, struct ss_cpus *cpus);
SS_NONNULL() int ss_platform_thread_bind(pid_t thread, const struct ss_cpus *cpus);

/* Returns whether this process has a child that is alive; zombies do not count. */
bool ss_platform_has_living_children(void);

/* ---- other processes ---- */

struct ss_process {
    pid_t parent;
    pid_t group;
    pid_t session;
    char state;       /* as `ps` shows it; 'Z' only if no thread is left */
    bool kernel;      /* a kernel thread */
    uint64_t started; /* see ss_platform_process_started() */
};

/* Gets the properties of a process. Returns false if it does not exist. */
SS_NONNULL() bool ss_platform_process_info(pid_t pid, struct ss_process *process);

/*
 * Gets the name of the process as `ps` shows it, truncated by the kernel. Returns false if there is
 * no such process.
 */
#define SS_PROCESS_NAME_SIZE 16
SS_NONNULL() bool ss_platform_process_name(pid_t pid, char name[SS_PROCESS_NAME_SIZE]);

/* Gets the effective user of the process. Returns false if there is no such process. */
SS_NONNULL() bool ss_platform_process_user(pid_t pid, uid_t *user);

/* Returns false only if the system forbids us to signal the process, not if it does not exist. */
bool ss_platform_process_may_signal(pid_t pid);

/*
 * Return the pid or thread ID that was assigned last, to any user (-1 if not available), and the
 * upper limit of IDs. IDs are assigned in ascending order and wrap around at the limit, so those
 * assigned between two calls are between their results.
 */
pid_t ss_platform_pid_latest(void);
pid_t ss_platform_pid_limit(void);

/*
 * Opens a descriptor that becomes readable when a process or thread starts, while the events are
 * on; -1 if not available.
 */
int ss_platform_fork_events_open(void);

/*
 * Discards pending events, then starts or stops the events. Returns false on failure: they will not
 * arrive. Other kinds of events may arrive, too.
 */
bool ss_platform_fork_events_listen(int forks, bool on);

/* Whether all births since the last call were reported. */
enum ss_births {
    SS_BIRTHS_UNKNOWN, /* births are not reported on this system */
    SS_BIRTHS_LOST,    /* some births were not reported */
    SS_BIRTHS_ALL,
};

/*
 * Starts the events for ss_platform_fork_events_read(), with a buffer of 4 MiB, or less if the
 * system allows only less. Returns false if they will not arrive.
 */
bool ss_platform_fork_events_record(int forks);

/* Calls `visit` for each process forked since the last call, in order. Excludes threads. */
SS_NONNULL(2)
enum ss_births ss_platform_fork_events_read(
    int forks, void (*visit)(void *context, pid_t parent, pid_t child), void *context);

/* Returns whether both processes belong to one user and are in the same control groups. */
bool ss_platform_process_is_akin(pid_t one, pid_t other);

/*
 * Returns a number that a process gets at random when it executes a program, and that its forks
 * share until they execute one, too; 0 if unknown. It is derived from the addresses in the memory
 * of the process: the system must randomize them, and allow us to read them, like a debugger.
 */
uint64_t ss_platform_process_image(pid_t pid);

/*
 * Returns a thread of the process, other than its first, that is running or waiting for a CPU; 0 if
 * a sample of threads has none.
 */
pid_t ss_platform_runnable_thread(pid_t process);

/* Calls `visit` for all threads of a process. */
SS_NONNULL(2)
void ss_platform_process_threads(
    pid_t process, void (*visit)(void *context, pid_t thread), void *context);

/* Signals one thread. A signal that acts on the whole process still reaches all threads. */
void ss_platform_thread_signal(pid_t process, pid_t thread, int signal);

/* Calls `visit` for all processes, in no particular order. */
SS_NONNULL(1) void ss_platform_process_each(void (*visit)(void *context, pid_t pid), void *context);

/*
 * Calls `visit` for about ten processes, continuing after those of the previous call with this open
 * /proc. Starts again after the last one.
 */
SS_NONNULL(2)
void ss_platform_process_next_few(int proc, void (*visit)(void *context, pid_t pid), void *context);

/* Calls `visit` for all children of a process, zombies included. */
SS_NONNULL(2)
void ss_platform_process_children(
    pid_t pid, void (*visit)(void *context, pid_t pid), void *context);

/*
 * Reads a variable of the process's initial environment. Returns false if it is unset, too long or
 * not readable.
 */
SS_WRITES(3, 4)
bool ss_platform_process_variable(pid_t pid, const char *name, char *value, size_t size);

/*
 * Returns whether all threads of the process have begun to exit, or it does not exist. The
 * environment of an exiting process cannot be read, although it remains the parent of its children
 * until its memory is freed, which takes about 0.1 s per GiB.
 */
bool ss_platform_process_is_exiting(pid_t pid);

/*
 * Returns a number that identifies a process together with its pid; 0 if there is no such process.
 * It is the kernel's own identity of the process (from Linux 6.9 on), otherwise the start time in
 * clock ticks since boot.
 */
uint64_t ss_platform_process_started(pid_t pid);

/*
 * Returns when a thread started, in clock ticks since boot; 0 if it does not exist. `thread` may be
 * a process ID.
 */
uint64_t ss_platform_thread_started(pid_t thread);

/*
 * Returns the state of this process, identified by pid and start time, as `ps` shows it; 0 if it
 * has ended.
 */
char ss_platform_process_state(pid_t pid, uint64_t started);

/* Returns whether this process exists and has not ended. */
bool ss_platform_process_is_alive(pid_t pid, uint64_t started);

/*
 * Opens a pidfd, which becomes readable when the process ends. Returns -ESRCH if the process has
 * ended, or another negative errno if pidfds are not available or there are too few descriptors.
 */
int ss_platform_process_open(pid_t pid, uint64_t started);

/*
 * Signals a process, or its group, by its pidfd. Returns 0 or a negative errno; -ENOSYS if the
 * system does not support it.
 */
int ss_platform_process_signal(int pidfd, int signal);
int ss_platform_process_signal_group(int pidfd, int signal);

/* Signals a process without an open pidfd, even on systems that have none. */
int ss_platform_process_signal_by_pid(pid_t pid, uint64_t started, int signal);

/*
 * Claims a process, so that no other run on the machine can, until the last copy of the returned
 * descriptor is closed; forks inherit copies. Only root and the user of the process may claim it.
 * Returns -EBUSY if it is already claimed, or another negative errno if it does not exist, belongs
 * to another user, or the system has no claims.
 */
int ss_platform_process_claim(pid_t pid);
bool ss_platform_process_is_claimed(pid_t pid);

/* Returns whether the pidfd of a leader can signal its group, even after the leader has ended. */
bool ss_platform_pidfd_signals_groups(void);

/*
 * Puts a process into a freezer, which can stop processes that may not be signaled. Creates the
 * freezer for its first process. Children that its processes start later are in it, too. Returns
 * false if the system or our permissions do not allow it, or if the process no longer exists.
 */
SS_NONNULL() bool ss_platform_freezer_put(const char *name, pid_t pid, uint64_t started);

/* Returns a descriptor for ss_platform_freezer_freeze(), or -1 if there is no such freezer. */
SS_NONNULL() int ss_platform_freezer_open(const char *name);
void ss_platform_freezer_freeze(int freezer, bool frozen);
SS_NONNULL() void ss_platform_freezer_kill(const char *name);

/* Removes the freezer. Returns false if it is not empty. */
bool ss_platform_freezer_remove(const char *name);

/*
 * CPU times in nanoseconds, at the resolution of a clock tick, consistent because they come from
 * one reading.
 */
struct ss_process_times {
    pid_t pid;
    pid_t parent;
    pid_t group;
    uint64_t used;   /* CPU time of all threads */
    uint64_t waited; /* CPU time of children that it has waited for, and of their children */
};

/* Gets the CPU times of a process. Returns false if it does not exist. */
SS_NONNULL() bool ss_platform_process_times(pid_t pid, struct ss_process_times *times);

/* Returns the CPU time of the calling thread. */
ss_time ss_platform_own_cpu_time(void);

/* Returns the CPU time that a process has used; 0 if it is gone. */
ss_time ss_platform_process_cpu_time(pid_t pid);

/*
 * Opens a clock that counts the CPU time of a thread (0 is the caller). With `descendants`, it also
 * counts all threads and processes that descend from that thread and start later, each until it
 * begins to exit. Returns a descriptor or a negative errno.
 */
int ss_platform_task_clock_open(pid_t thread, bool descendants);

/* Returns the nanoseconds; 0 for a clock that is not open. */
uint64_t ss_platform_task_clock_read(int clock);

/*
 * Returns how long the first thread of this process was ready to run but had no CPU; SS_TIME_NEVER
 * if the kernel does not count it.
 */
ss_time ss_platform_own_wait(void);

/* Returns whether the system lets us open clocks of our own processes. */
bool ss_platform_task_clock_works(void);

/* Checks what every run needs: /proc, and /dev/null as the instances' input. */
SS_MUST_USE int ss_platform_check_system(struct ss_error *error);

/*
 * Checks only /proc, which shows processes, CPU time, and the path of the program itself. It must
 * be that of our own PID namespace: otherwise the parent and state that are read for a pid are not
 * those of the process that a signal to this pid reaches.
 */
SS_MUST_USE int ss_platform_check_proc(struct ss_error *error);

/*
 * Checks that `processes` more processes and `files` more open files are allowed. The error names
 * the limit that is too low.
 */
SS_MUST_USE int ss_platform_check_limits(
    uint64_t processes, uint64_t files, struct ss_error *error);

/* ---- shared memory ---- */

/*
 * Creates a shared memory object, mode 0600, that never has a name, so that no name can be left
 * behind. Returns -1 if the system supports only named ones.
 */
int ss_platform_shared_create(void);

/* A shared memory object that another process holds. */
struct ss_shared {
    int descriptor; /* -1 if not found */
    uid_t owner;
    uint64_t size; /* in bytes when opened; its owner may change it at any time */
};

/*
 * Opens the shared memory object that process `pid` holds and that `fits` accepts: for writing if
 * it is ours, otherwise for reading. Ignores objects that do not belong to the user of the process,
 * or that others may open.
 */
SS_MUST_USE int ss_platform_shared_of(
    pid_t pid, bool (*fits)(int descriptor), struct ss_shared *shared, struct ss_error *error);

/* ---- the machine's counters ---- */

/* Alternative roots of the system's file trees, for tests. NULL selects the usual root. */
struct ss_platform_roots {
    const char *proc;
    const char *cgroup;
    const char *sys;
};

/*
 * Number of groups whose files stay open. A reader cannot be opened with more; if there are more
 * later, all files are opened for each reading.
 */
#define SS_GROUP_SUM_MAX 64

/* The sum of the CPU time of several control groups. All zero: no groups. */
struct ss_group_sum {
    uint32_t count;
    bool too_many;                /* too many groups to keep their files open */
    int groups[SS_GROUP_SUM_MAX]; /* descriptors of the groups' files */
    uint64_t set;                 /* changes when a group is added or removed */
    uint64_t version;             /* changes when a child of the folder is created or removed; 0 if
                                     the reader uses no groups */
};

/*
 * Maximum number of idle states, of all CPUs together. With more, the steps of /proc/stat average
 * out, and reading so many files would take too long.
 */
#define SS_RESIDENCIES_MAX 128

/* The time that one CPU has spent in one idle state. */
struct ss_residency {
    uint32_t cpu;
    int file;
    bool known;    /* `time` is valid */
    uint64_t time; /* nanoseconds */
};

struct ss_residencies {
    uint32_t count;
    struct ss_residency states[SS_RESIDENCIES_MAX]; /* ascending by CPU */
    /* In shared memory; the counter of a CPU has the index of the CPU's first state. */
    struct ss_combined_counter *counters;
    bool borrowed;   /* another reader owns and unmaps `counters` */
    int current_cpu; /* CPU on which we read the states; -1 if we moved to another one meanwhile */
};

struct ss_group_limits;

struct ss_counter_reader {
    enum ss_source source;
    struct ss_cpus cpus;
    int file;
    char *buffer;
    size_t size;
    double unit;        /* nanoseconds per unit in the file */
    double capacity;    /* CPUs that make a load of 1, if the file does not say */
    double usable_cpus; /* CPUs that can be used at the same time, likewise */
    ss_time period;     /* SS_SOURCE_CGROUP: period of the quota; 0 without a quota */
    int throttling; /* SS_SOURCE_CGROUP: the file with the time for which the quota held tasks back;
                       open only if `throttling_path` is set */
    struct ss_group_limits *limits;    /* SS_SOURCE_CGROUP: where the limits are found */
    bool covers_all_cpus;              /* SS_SOURCE_RUNTIME: the file covers all CPUs together */
    struct ss_group_sum sum;           /* SS_SOURCE_RUNTIME: `file` is the folder of these groups */
    ss_time last_read;                 /* time of the last reading, see ss_linux_limits_are_due() */
    struct ss_residencies residencies; /* SS_SOURCE_IDLE: time in idle states */
    char reason[128];                  /* why `source` is not the requested one; empty if it is */
    /*
     * Room for a path that the kernel refuses as too long, so that none is truncated to a valid
     * one.
     */
    char path[PATH_MAX + 1];            /* the file that is read, for messages and records */
    char throttling_path[PATH_MAX + 1]; /* empty if absent */
};

/*
 * Opens a reader for any source except a sensor. If SS_SOURCE_RUNTIME is not available, opens
 * SS_SOURCE_IDLE instead, and SS_SOURCE_SYSTEM if that is not available either.
 * ss_platform_counters_read() allocates nothing.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ss_platform_counters_open(struct ss_counter_reader *reader,
    const struct ss_source_request *request, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, struct ss_error *error);

/* Takes a reading. Returns 0 or a negative errno. */
SS_NONNULL()
int ss_platform_counters_read(struct ss_counter_reader *reader, struct ss_counters *counters);

void ss_platform_counters_close(struct ss_counter_reader *reader);

/* Opens the same files again in a child, with descriptors of its own. */
SS_NONNULL() int ss_platform_counters_reopen(struct ss_counter_reader *reader);

/*
 * Lets two SS_SOURCE_IDLE readers of the same CPUs share their combined counters. `other` must
 * outlive `reader`. No effect on readers of other sources.
 */
SS_NONNULL()
void ss_platform_counters_share(
    struct ss_counter_reader *reader, const struct ss_counter_reader *other);

/* Writes the paths of the source for messages and records. */
SS_WRITES(1, 2)
void ss_platform_counters_print_paths(
    char *buffer, size_t size, const struct ss_counter_reader *reader);

/*
 * The tightest CPU quota of our own control group and its ancestors, how many of its periods have
 * passed, and in how many of them it was used up.
 */
struct ss_quota {
    double cpus; /* 0 without a quota */
    uint64_t periods;
    uint64_t throttled;
};

SS_NONNULL(2)
void ss_platform_quota_read(const struct ss_platform_roots *roots, struct ss_quota *quota);

/* ---- control groups ---- */

#define SS_GROUP_PATH_SIZE 4400

/* How much of the machine our own control group and its ancestors allow us to use. */
struct ss_allowance {
    int version;                  /* version of the hierarchy that limits CPU time; 0 if unknown */
    char own[SS_GROUP_PATH_SIZE]; /* our group in that hierarchy */
    bool is_known;                /* all limits can be read */
    double quota_cpus;            /* the tightest quota; 0 if no quota was found */
    ss_time time, period;         /* the quota: CPU time `time` in each `period` */
    char group[SS_GROUP_PATH_SIZE]; /* the group that has this quota, and its folder */
    char folder[SS_GROUP_PATH_SIZE];
    char cpus[4096]; /* the CPUs that we may use, as the kernel lists them; empty if unknown */
};

SS_NONNULL(2)
void ss_platform_allowance_read(
    const struct ss_platform_roots *roots, struct ss_allowance *allowance);

/* The hierarchy of control groups that has a controller. */
struct ss_hierarchy {
    int version;
    char root[2048]; /* the folder at which it is mounted */
    char own[2048];  /* the path of our own group in it */
};

/*
 * Finds the hierarchy of "cpu", "cpuacct", "cpuset", "memory" or "pids", or version 2 (""). A
 * controller is active in one version only, so version 1 is chosen if it has the controller.
 * Returns false if the hierarchy is unknown.
 */
SS_NONNULL(1, 3)
bool ss_platform_find_hierarchy(
    struct ss_hierarchy *hierarchy, const struct ss_platform_roots *roots, const char *controller);

/*
 * Finds the path of the group of a process ("self" or a pid) in the hierarchy of a v1 controller,
 * or of v2 (NULL). Returns -1 if it is unknown.
 */
SS_NONNULL(2, 4)
SS_WRITES(4, 5)
int ss_platform_cgroup_of(const struct ss_platform_roots *roots, const char *process,
    const char *controller, char *path, size_t size);

/*
 * Finds the folder of a control group of version 2. `path` is that folder, its path below the root,
 * or the path in /proc/PID/cgroup.
 */
SS_MUST_USE SS_NONNULL(2, 3) int ss_platform_group_find(const struct ss_platform_roots *roots,
    const char *path, char folder[PATH_MAX], struct ss_error *error);

/*
 * Calls `visit` for each process of such a group and of the groups below it, with pid 0 for a
 * process outside our PID namespace. Returns 0, -ENOENT if the group is gone, or another negative
 * errno if some processes may be missing.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ss_platform_group_each(
    const char *folder, void (*visit)(void *context, pid_t pid), void *context);

/*
 * Returns the number of threads of the machine that are running or ready to run, including the
 * caller; -1 if unknown.
 */
long ss_platform_count_runnable(const struct ss_platform_roots *roots);

/*
 * Returns the current mean frequency of the CPUs in Hz; NaN if unknown. Reads at most 16 CPUs,
 * because each reading may interrupt its CPU.
 */
SS_NONNULL(2)
double ss_platform_frequency(const struct ss_platform_roots *roots, const struct ss_cpus *cpus);

/* ---- performance events ---- */

enum ss_perf_event {
    SS_PERF_INSTRUCTIONS,
    SS_PERF_CYCLES,
    SS_PERF_STALLED_FRONTEND, /* cycles without an instruction to execute */
    SS_PERF_STALLED_BACKEND,  /* cycles in which instructions waited for their operands */
    SS_PERF_L1D_REFERENCES,   /* reads from the level-1 data cache */
    SS_PERF_L1D_MISSES,
    SS_PERF_CACHE_REFERENCES, /* accesses to the last-level cache */
    SS_PERF_CACHE_MISSES,
    SS_PERF_PAGE_FAULTS,
    SS_PERF_CONTEXT_SWITCHES,
    SS_PERF_MIGRATIONS, /* moves from CPU to CPU */
    SS_PERF_TASK_CLOCK, /* nanoseconds of CPU time */
    SS_PERF_L2_REFERENCES,
    SS_PERF_L2_MISSES,
    SS_PERF_EVENTS,
};

/* Codes of the events of the level-2 cache, which depend on the CPU model; 0 if unknown. */
struct ss_perf_raw {
    uint64_t references, misses;
};

/* Returns the codes for the CPU in /proc/cpuinfo. */
struct ss_perf_raw ss_platform_l2_events(const struct ss_platform_roots *roots);

/* An event of a thread, and of all threads and processes that descend from it afterwards. */
struct ss_perf_request {
    enum ss_perf_event event;
    pid_t thread;    /* 0: the caller */
    bool after_exec; /* count only in processes that execute a program, from then on */
    bool user_only;  /* exclude the kernel */
};

/* An event's count so far, including processes that have ended. */
struct ss_perf_count {
    uint64_t value;
    uint64_t enabled; /* nanoseconds for which the event was enabled */
    uint64_t running; /* nanoseconds for which it was counted: fewer if events share counters */
};

/* The kernel's functions for events; tests supply their own. */
struct ss_perf_calls {
    int (*open)(void *context,
        const struct ss_perf_request *request); /* returns a descriptor or a negative errno */
    int (*read)(void *context, int descriptor,
        struct ss_perf_count *count); /* returns 0 or a negative errno */
    void (*close)(void *context, int descriptor);
    void *context;
};

extern const struct ss_perf_calls ss_platform_perf;

/* ---- CPU time by kind ---- */

/* How a CPU or control group has spent its time, in nanoseconds since some point in the past. */
struct ss_cpu_times {
    uint32_t cpu;
    uint64_t user; /* including nice and guest time */
    uint64_t system;
    uint64_t irq;   /* hard and soft interrupts together */
    uint64_t steal; /* time stolen by the hypervisor */
    uint64_t iowait;
    uint64_t idle; /* excluding iowait */
    uint64_t used; /* total CPU time of a control group, which is not exactly user plus system */
};

struct ss_cpu_reading {
    struct ss_counters counters; /* the counters from which the load is computed */
    double pressure; /* fraction of the last 10 s in which some task waited for a CPU; NaN if
                        unknown */
    bool group;      /* the only item is a control group */
    bool parts;      /* user and system are known, as they always are for CPUs */
    size_t count;
    struct ss_cpu_times *items; /* ascending by CPU, with room for all CPUs of the reader */
};

/* Reads the CPU time of each CPU separately, or that of one control group. */
struct ss_cpu_reader {
    struct ss_counter_reader counters;
    struct ss_counter_reader
        stat; /* SS_SOURCE_RUNTIME: reader of the parts; its file is -1 if none are read */
    bool group;
    int pressure; /* -1 if not available */
    double pressure_now;
    ss_time pressure_due; /* earliest time of the next change of the pressure */
    int user;             /* files of a v1 group; -1: not open */
    int system;
};

/* Initializes a reader that is not open. */
#define SS_CPU_READER_CLOSED                                                                       \
    { .counters = {.file = -1}, .stat = {.file = -1}, .pressure = -1, .user = -1, .system = -1 }

/*
 * Opens a reader of CPU times. SS_SOURCE_SYSTEM and SS_SOURCE_IDLE read the CPUs; SS_SOURCE_CGROUP
 * reads one control group, our own if the argument is NULL; SS_SOURCE_RUNTIME reads no parts until
 * they are added. ss_platform_cpu_times_read() allocates nothing.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ss_platform_cpu_times_open(struct ss_cpu_reader *reader,
    const struct ss_source_request *request, const struct ss_cpus *cpus,
    const struct ss_platform_roots *roots, struct ss_error *error);

/*
 * SS_SOURCE_RUNTIME: adds parts to the readings if /proc/stat can be read. Readings of other
 * sources always have parts.
 */
SS_NONNULL(1)
void ss_platform_cpu_times_add_parts(
    struct ss_cpu_reader *reader, const struct ss_platform_roots *roots);

/* Takes a reading. Returns 0 or a negative errno. */
SS_NONNULL()
int ss_platform_cpu_times_read(struct ss_cpu_reader *reader, struct ss_cpu_reading *reading);

void ss_platform_cpu_times_close(struct ss_cpu_reader *reader);

#endif
