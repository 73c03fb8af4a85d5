/* SPDX-License-Identifier: Apache-2.0 */
#include "service_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "service_group.h"
#include "tree/process_sum.h"

/*
 * Listing all processes takes milliseconds, in which no request is sent. It is therefore avoided
 * after the start: new processes are found by their pids, which the kernel assigns in ascending
 * order, and each reading also examines a few other processes in turn, to find missed ones.
 */

/* A reading tries at most this many pids. An unused one takes less than a microsecond. */
#define TRIED_MAX 4096

/*
 * If the new pids are unknown or too many, all processes are listed, in at most 1 / COST_DIVISOR of
 * the time.
 */
#define COST_DIVISOR 200

/* The lowest pid that the kernel assigns after they have wrapped around (RESERVED_PIDS). */
#define PID_AFTER_WRAP 300

/* The kernel reports the CPU times of reaped children in steps of 10 ms. */
#define WAITED_STEP (10 * SS_MILLISECOND)

struct service_usage {
    double capacity, cpus;
    bool by_group;
    struct ss_counter_reader group;
    int events;       /* cgroup.events, which says whether the group has processes; -1 if absent */
    bool includes_us; /* this process is in the group */
    struct ss_process_sum sum;
    int folder;    /* /proc, a few processes at a time; -1: not open */
    bool has_read; /* the processes have been read before */
    pid_t latest;  /* the last pid assigned at the previous reading; -1 if unknown */
    pid_t before;  /* the same at the reading before that */
    ss_time due;   /* when all processes may be listed again */
    ss_time grain;
    uint64_t used; /* CPU time at the last reading */
};

/* Returns the length of a tick: the kernel advances clocks of running processes once per tick. */
static ss_time tick_length(void) {
    struct timespec tick = {0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (ss_time)tick.tv_sec * SS_SECOND + (ss_time)tick.tv_nsec;
}

/* ---- lists of processes ---- */

struct process {
    pid_t pid, parent;
};

struct snapshot {
    struct process *items;
    size_t count, room;
    bool incomplete; /* memory was exhausted */
};

static void add_to_snapshot(void *context, pid_t pid) {
    struct snapshot *snapshot = context;
    struct ss_process_times times;
    if (!ss_platform_process_times(pid, &times))
        return;
    snapshot->incomplete |= !SS_GROW(snapshot->items, snapshot->count + 1, snapshot->room);
    if (!snapshot->incomplete)
        snapshot->items[snapshot->count++] = (struct process){pid, times.parent};
}

/* Adds the descendants of the listed processes, except for this process. */
static void add_descendants(struct ss_process_sum *sum, const struct snapshot *snapshot) {
    for (uint32_t i = 0; i < sum->now.count; i++) {
        for (size_t j = 0; j < snapshot->count; j++) {
            const struct process *process = &snapshot->items[j];
            if (process->parent == sum->now.items[i].pid && process->pid != getpid())
                ss_process_sum_add(sum, process->pid, process->parent);
        }
    }
}

static void list_all(struct service_usage *usage) {
    struct snapshot snapshot = {0};
    ss_time begin = ss_platform_now();

    ss_platform_process_each(add_to_snapshot, &snapshot);
    add_descendants(&usage->sum, &snapshot);
    usage->sum.now.incomplete |= snapshot.incomplete;
    free(snapshot.items);

    ss_time end = ss_platform_now();
    usage->due = end + COST_DIVISOR * ss_time_since(end, begin);
}

static bool is_candidate(const struct service_usage *usage, pid_t pid) {
    return pid != getpid() && !ss_process_sum_has(&usage->sum, pid);
}

static void add_child(struct service_usage *usage, pid_t pid, pid_t parent) {
    if (ss_process_sum_has(&usage->sum, parent))
        ss_process_sum_add(&usage->sum, pid, parent);
}

/* Tries the pids that were assigned after `from`, up to `to`. Returns false if too many were. */
static bool try_pids(struct service_usage *usage, pid_t from, pid_t to) {
    if (from == to)
        return true;

    pid_t limit = ss_platform_pid_limit();
    pid_t count = to - from;
    if (count < 0)
        count += limit - PID_AFTER_WRAP;
    if (count < 0 || count > TRIED_MAX)
        return false;

    while (from != to) {
        struct ss_process process;
        from = from + 1 < limit ? from + 1 : PID_AFTER_WRAP;
        /* The number may be that of a thread, for which this fails. */
        if (is_candidate(usage, from) && ss_platform_process_info(from, &process))
            add_child(usage, from, process.parent);
    }
    return true;
}

static void try_pid(void *context, pid_t pid) {
    struct service_usage *usage = context;
    struct ss_process_times times;
    if (is_candidate(usage, pid) && ss_platform_process_times(pid, &times))
        add_child(usage, pid, times.parent);
}

/*
 * Adds new processes. The kernel assigns a pid shortly before its process becomes visible, so each
 * pid is tried at two readings.
 */
static void add_new(struct service_usage *usage) {
    pid_t latest = ss_platform_pid_latest();
    if (usage->before >= 0 && latest >= 0 && try_pids(usage, usage->before, latest)) {
        usage->before = usage->latest;
        usage->latest = latest;
        ss_platform_process_next_few(usage->folder, try_pid, usage);
    } else if (ss_platform_now() >= usage->due) {
        list_all(usage);
        usage->before = usage->latest = latest;
    }
}

/* ---- by processes ---- */

/* Returns whether one of the processes is alive; usually the first one is. */
static bool is_alive(const struct service_usage *usage) {
    for (uint32_t i = 0; i < usage->sum.now.count; i++) {
        struct ss_process process;
        pid_t pid = usage->sum.now.items[i].pid;
        if (pid > 0 && ss_platform_process_info(pid, &process) && process.state != 'Z' &&
            process.state != 'X')
            return true;
    }
    return false;
}

static bool has_waited(const struct service_usage *usage) {
    for (uint32_t i = 0; i < usage->sum.now.count; i++) {
        const struct ss_process_sum_item *process = &usage->sum.now.items[i];
        if (process->waited > process->waited_before)
            return true;
    }
    return false;
}

static int read_processes(struct service_usage *usage, struct ss_counters *counters) {
    uint64_t total;
    if (!ss_process_sum_finish(&usage->sum, !usage->has_read, 0, &total))
        return -ENOMEM;

    counters->time = ss_platform_now();
    usage->has_read = true;
    if (!is_alive(usage))
        return -ESRCH;

    usage->used = total > usage->used ? total : usage->used;
    if (has_waited(usage) && usage->grain < WAITED_STEP)
        usage->grain = WAITED_STEP;
    return 0;
}

static int read_by_processes(struct service_usage *usage, struct ss_counters *counters) {
    ss_process_sum_begin(&usage->sum);
    ss_process_sum_repeat(&usage->sum);
    add_new(usage);
    return read_processes(usage, counters);
}

static int open_processes(
    struct service_usage *usage, const struct service *service, struct ss_error *error) {
    struct ss_counters ignored;

    usage->folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    usage->latest = usage->before = ss_platform_pid_latest();
    ss_process_sum_begin(&usage->sum);
    for (size_t i = 0; i < service->roots.count; i++)
        ss_process_sum_add(&usage->sum, service->roots.items[i], 0);
    list_all(usage);

    int why = read_processes(usage, &ignored);
    if (why == -ESRCH)
        return ss_error_fail(
            error, "process %d (%s) has ended", (int)service->roots.items[0], service->first);
    return why ? ss_error_memory(error) : 0;
}

/* ---- by a control group ---- */

/* Returns whether the group has all of the service's processes, but neither us nor an ancestor. */
static bool group_fits(const struct service_usage *usage, const struct ss_platform_roots *roots,
    const struct service_group *group) {
    for (uint32_t i = 0; i < usage->sum.now.count; i++) {
        pid_t pid = usage->sum.now.items[i].pid;
        if (pid > 0 && !service_group_has(roots, group, pid))
            return false;
    }
    return !service_group_has_us(roots, group);
}

static int open_group(struct service_usage *usage, const char *folder,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    struct ss_cpus all;
    char path[sizeof usage->group.path + 16];
    struct ss_source_request request = {.source = SS_SOURCE_CGROUP, .argument = folder};

    memset(&all, 0xff, sizeof all);
    if (ss_platform_counters_open(&usage->group, &request, &all, roots, error) < 0)
        return -1;

    usage->by_group = true;
    snprintf(path, sizeof path, "%s", usage->group.path);
    *strrchr(path, '/') = '\0';
    strcat(path, "/cgroup.events");
    usage->events = open(path, O_RDONLY | O_CLOEXEC);
    return 0;
}

static bool is_populated(const struct service_usage *usage) {
    char text[256];
    ssize_t length = usage->events < 0 ? 0 : pread(usage->events, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    if (usage->events < 0 && usage->sum.now.count > 0)
        return is_alive(usage);
    return length >= 0 && !strstr(text, "populated 0");
}

static int read_by_group(struct service_usage *usage, struct ss_counters *counters) {
    ss_time own = usage->includes_us ? ss_platform_process_cpu_time(getpid()) : 0;
    int why = ss_platform_counters_read(&usage->group, counters);
    if (why == -ENODEV || (why == 0 && !is_populated(usage)))
        return -ESRCH;
    if (why)
        return why;

    uint64_t used = counters->used > own ? counters->used - own : 0;
    usage->used = used > usage->used ? used : usage->used;
    return 0;
}

/*
 * Uses a group that fits, if one exists. Keeps the list of processes, because a group of version 1
 * does not say whether it has any.
 */
static void prefer_group(struct service_usage *usage, const struct service *service,
    const struct ss_platform_roots *roots) {
    for (size_t i = 0; i < service->roots.count; i++) {
        struct service_group group;
        struct ss_error ignored = {0};
        if (service_group_of(roots, service->roots.items[i], &group) &&
            group_fits(usage, roots, &group) &&
            open_group(usage, group.folder, roots, &ignored) == 0)
            return;
    }
}

struct service_usage *service_usage_open(const struct service *service, double capacity,
    double cpus, const struct ss_platform_roots *roots, struct ss_error *error) {
    struct service_usage *usage = calloc(1, sizeof *usage);
    int result = 0;

    if (!usage) {
        ss_error_memory(error);
        return NULL;
    }

    *usage = (struct service_usage){.capacity = capacity,
        .cpus = cpus,
        .group = {.file = -1},
        .events = -1,
        .folder = -1,
        .grain = tick_length()};

    if (!*service->group && service->roots.count == 0) {
        result = ss_error_fail(error, "the service has no processes");
    } else if (*service->group) {
        result = open_group(usage, service->group, roots, error);
        usage->includes_us = result == 0 && service_group_is_ours(roots, usage->group.path);
    } else {
        result = open_processes(usage, service, error);
        if (result == 0)
            prefer_group(usage, service, roots);
    }

    if (result == 0)
        return usage;
    service_usage_close(usage);
    return NULL;
}

void service_usage_close(struct service_usage *usage) {
    if (!usage)
        return;
    ss_platform_counters_close(&usage->group);
    if (usage->events >= 0)
        close(usage->events);
    if (usage->folder >= 0)
        close(usage->folder);
    ss_process_sum_close(&usage->sum);
    free(usage);
}

int service_usage_read(void *context, struct ss_counters *counters) {
    struct service_usage *usage = context;
    struct ss_counters reading = {0};
    int why = usage->by_group ? read_by_group(usage, &reading) : read_by_processes(usage, &reading);
    if (why)
        return why;

    *counters = (struct ss_counters){
        .time = reading.time,
        .set = 1,
        .capacity = usage->capacity,
        .cpus = usage->cpus,
        .used = usage->used,
        .ran = true,
        .grain = usage->grain,
    };
    return 0;
}

void service_usage_describe(const struct service_usage *usage, char *text, size_t size) {
    if (usage->by_group) {
        int length = (int)(strrchr(usage->group.path, '/') - usage->group.path);
        snprintf(text, size, "control group %.*s", length, usage->group.path);
        return;
    }

    size_t count = 0;
    for (uint32_t i = 0; i < usage->sum.now.count; i++)
        count += usage->sum.now.items[i].pid > 0;
    snprintf(text, size, "clocks of %zu process%s", count, count == 1 ? "" : "es");
}
