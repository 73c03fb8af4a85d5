/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/usage.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "measure/load_sample.h"

/* Readings may take at most 1 / COST_DIVISOR of the time. */
#define COST_DIVISOR 100

/* A smaller fraction of the CPUs does not explain why the target is missed. */
#define BLAMED_MIN 0.02

/* Stop after this many parents. */
#define DEPTH_MAX 256

static int compare_pids(const void *left, const void *right) {
    pid_t a = ((const struct ss_process_usage *)left)->times.pid;
    pid_t b = ((const struct ss_process_usage *)right)->times.pid;
    return (a > b) - (a < b);
}

static struct ss_process_usage *find_process(
    struct ss_process_usage *processes, size_t count, pid_t pid) {
    struct ss_process_usage wanted = {.times.pid = pid};
    return pid > 0 ? bsearch(&wanted, processes, count, sizeof wanted, compare_pids) : NULL;
}

/* Follows parents to a process with a known owner, then marks all processes on the way. */
static enum ss_process_owner find_owner(
    struct ss_process_usage *processes, size_t count, struct ss_process_usage *process) {
    struct ss_process_usage *line[DEPTH_MAX];
    int depth = 0;

    while (process && process->owner == SS_OWNER_UNKNOWN && depth < DEPTH_MAX) {
        line[depth++] = process;
        process = find_process(processes, count, process->times.parent);
    }

    enum ss_process_owner owner = process ? process->owner : SS_OWNER_OTHER;
    if (owner == SS_OWNER_EXECUTOR)
        owner = SS_OWNER_INSTANCE;
    else if (owner != SS_OWNER_INSTANCE && owner != SS_OWNER_BESIDE)
        owner = SS_OWNER_OTHER;

    while (depth-- > 0)
        line[depth]->owner = owner;
    return owner;
}

/*
 * Marks a process of ours if its parent is the master. The pid that the board has for an ended
 * process may have been reused.
 */
static void mark_child(struct ss_process_usage *processes, size_t count, pid_t master, pid_t pid,
    enum ss_process_owner owner) {
    struct ss_process_usage *process = find_process(processes, count, pid);
    if (process && process->times.parent == master)
        process->owner = owner;
}

/*
 * Marks processes of an instance whose parent is elsewhere, such as a daemon of an attached
 * program. Does not check for reused pids: the guardian soon removes branches that have ended.
 */
static void mark_branches(
    struct ss_board *board, struct ss_process_usage *processes, size_t count) {
    for (uint32_t slot = 0; slot < SS_BOARD_BRANCHES_MAX; slot++) {
        struct ss_branch *branch = &ss_board_branches(board)[slot];
        if (atomic_load(&branch->owner) == 0)
            continue;

        pid_t pid = atomic_load(&branch->pid);
        struct ss_process_usage *process = find_process(processes, count, pid);
        if (process)
            process->owner = SS_OWNER_INSTANCE;
        for (size_t i = 0; atomic_load(&branch->group) && i < count; i++) {
            if (processes[i].times.group == pid)
                processes[i].owner = SS_OWNER_INSTANCE;
        }
    }
}

/* Marks processes of --beside that have not ended, and returns their number. */
static uint32_t mark_beside(
    const struct ss_board *board, struct ss_process_usage *processes, size_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < board->beside.count; i++) {
        pid_t pid = board->beside.items[i].pid;
        struct ss_process_usage *process = find_process(processes, count, pid);
        if (!process || !ss_platform_process_is_alive(pid, board->beside.items[i].started))
            continue;
        process->owner = SS_OWNER_BESIDE;
        found++;
    }
    return found;
}

struct ss_usage_by_owner ss_usage_add_up(
    struct ss_board *board, pid_t master, struct ss_process_usage *processes, size_t count) {
    struct ss_usage_by_owner tree = {0};

    qsort(processes, count, sizeof *processes, compare_pids);
    for (size_t i = 0; i < count; i++)
        processes[i].owner = SS_OWNER_UNKNOWN;
    tree.attached = mark_beside(board, processes, count);
    struct ss_process_usage *self = find_process(processes, count, master);
    if (self)
        self->owner = SS_OWNER_CREW;
    mark_child(processes, count, master, atomic_load(&board->guardian), SS_OWNER_CREW);
    for (uint32_t i = 0; i < board->instances; i++)
        mark_child(
            processes, count, master, atomic_load(&board->rows[i].executor), SS_OWNER_EXECUTOR);

    for (uint32_t i = 0; board->attached && i < board->instances; i++) {
        struct ss_process_usage *first =
            find_process(processes, count, atomic_load(&board->rows[i].leader));
        if (!first)
            continue;
        first->owner = SS_OWNER_INSTANCE;
        tree.attached++;
    }

    mark_branches(board, processes, count);
    for (size_t i = 0; i < count; i++) {
        struct ss_process_usage *process = &processes[i];
        enum ss_process_owner owner = process->owner == SS_OWNER_UNKNOWN
                                          ? find_owner(processes, count, process)
                                          : process->owner;
        if (owner == SS_OWNER_INSTANCE) {
            tree.instances += process->times.used + process->times.waited;
        } else if (owner == SS_OWNER_BESIDE) {
            tree.beside += process->times.used + process->times.waited;
        } else if (owner != SS_OWNER_OTHER) {
            tree.own += process->times.used;
            tree.instances += process->times.waited;
        }
    }

    return tree;
}

static void add_process(void *context, pid_t pid) {
    struct ss_usage *usage = context;
    usage->incomplete |= !SS_GROW(usage->processes, usage->count + 1, usage->room);
    if (!usage->incomplete && ss_platform_process_times(pid, &usage->processes[usage->count].times))
        usage->count++;
}

void ss_usage_open(struct ss_usage *usage, struct ss_board *board, const struct ss_cpus *cpus,
    bool only_instances) {
    struct ss_error ignored = {0};
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    *usage = (struct ss_usage){.board = board, .only_instances = only_instances};
    usage->counting_meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
    usage->measures = ss_load_meter_open(&usage->meter, &request, cpus, NULL, &ignored) == 0;
    if (usage->measures &&
        ss_load_meter_open(&usage->counting_meter, &request, cpus, NULL, &ignored) < 0) {
        ss_load_meter_close(&usage->meter);
        usage->measures = false;
    }
}

void ss_usage_close(struct ss_usage *usage) {
    if (usage->measures) {
        ss_load_meter_close(&usage->meter);
        ss_load_meter_close(&usage->counting_meter);
    }
    free(usage->processes);
    *usage = (struct ss_usage){0};
}

static double increase(uint64_t from, uint64_t to) {
    return to > from ? (double)(to - from) : 0;
}

/*
 * Adds the use between two readings. Time of interrupts and of the hypervisor belongs to no
 * process. The CPU time of an attached program, or one of --beside, that has ended is unknown,
 * because another process reaped it, so the rest is not known to be that of others.
 */
static void add_use(struct ss_usage_sum *sum, const struct ss_load_span *span,
    const struct ss_usage_by_owner *from, const struct ss_usage_by_owner *to) {
    double idle = (double)(span->times.idle + span->times.iowait);
    double instances = increase(from->instances, to->instances);
    double busy = span->capacity - idle - (double)(span->times.irq + span->times.steal);
    sum->capacity += span->capacity;
    sum->idle += idle;
    sum->instances += instances;
    sum->own += increase(from->own, to->own);
    double known = instances + increase(from->own, to->own) + increase(from->beside, to->beside);
    sum->others += from->attached == to->attached ? busy - known : NAN;
}

/* Returns false if the use of some process is unknown. */
static bool read_now(struct ss_usage *usage) {
    if (!usage->measures || ss_load_meter_read(&usage->meter) != 0)
        return false;
    usage->count = 0;
    usage->incomplete = false;
    ss_platform_process_each(add_process, usage);
    if (usage->incomplete)
        return false;
    usage->tree = ss_usage_add_up(usage->board, getpid(), usage->processes, usage->count);
    ss_platform_quota_read(NULL, &usage->quota);
    return true;
}

static void take_reading(struct ss_usage *usage, ss_time now) {
    struct ss_usage_by_owner before = usage->tree;
    struct ss_quota quota = usage->quota;
    bool compares = usage->has_last && usage->since != SS_DOUBT_NONE && !usage->mixed;
    enum ss_doubt_kind kind = usage->since;
    struct ss_usage_sum *sum = &usage->sums[kind];
    struct ss_load_span span;
    ss_time begin = ss_platform_now();

    usage->has_last = read_now(usage);
    usage->due = ss_time_add(now, COST_DIVISOR * ss_time_since(ss_platform_now(), begin));
    usage->since = SS_DOUBT_NONE;
    usage->mixed = false;
    if (!compares || !usage->has_last || before.attached != usage->tree.attached ||
        !ss_load_span_between(&usage->meter.previous, &usage->meter.last, SS_LOAD_ALL_CPUS, &span))
        return;

    usage->latest = (struct ss_usage_sum){0};
    usage->latest_kind = kind;
    add_use(&usage->latest, &span, &before, &usage->tree);
    add_use(sum, &span, &before, &usage->tree);
    sum->periods += increase(quota.periods, usage->quota.periods);
    sum->throttled += increase(quota.throttled, usage->quota.throttled);
}

/* Counts the use of the whole window from the last reading on, if that was `taken`. */
static void count_from_reading(struct ss_usage *usage, bool taken) {
    usage->first = usage->tree;
    usage->has_first = taken && ss_load_meter_read(&usage->counting_meter) == 0;
}

void ss_usage_begin(struct ss_usage *usage, ss_time now) {
    usage->has_last = false;
    take_reading(usage, now);
    usage->due = 0;
    count_from_reading(usage, usage->has_last);
}

/*
 * Adds the use since `first`. If this fails, the use of the whole window is unknown. Reads
 * processes and meter in the same order as at the beginning, so that both spans have the same
 * length.
 */
static void add_to_counted(struct ss_usage *usage) {
    struct ss_load_span span;
    usage->has_first = false;
    if (read_now(usage) && ss_load_meter_read(&usage->counting_meter) == 0 &&
        ss_load_span_between(
            &usage->counting_meter.previous, &usage->counting_meter.last, SS_LOAD_ALL_CPUS, &span))
        add_use(&usage->counted_sum, &span, &usage->first, &usage->tree);
    else
        usage->counted_sum.others = NAN;
}

void ss_usage_pause(struct ss_usage *usage) {
    usage->paused = usage->has_first;
    if (usage->has_first)
        add_to_counted(usage);
}

void ss_usage_continue(struct ss_usage *usage) {
    if (!usage->paused)
        return;
    usage->paused = false;
    count_from_reading(usage, read_now(usage));
    if (!usage->has_first)
        usage->counted_sum.others = NAN;
}

double ss_usage_of_others(struct ss_usage *usage) {
    const struct ss_usage_sum *sum = &usage->counted_sum;
    if (usage->has_first)
        add_to_counted(usage);
    bool known = sum->capacity > 0 && !isnan(sum->others);
    return known ? fmax(sum->others, 0) / sum->capacity : NAN;
}

void ss_usage_drop(struct ss_usage *usage) {
    usage->has_last = false;
    usage->latest.capacity = 0;
}

void ss_usage_follow(struct ss_usage *usage, enum ss_doubt_kind kind, ss_time now) {
    if (kind == SS_DOUBT_NONE) {
        ss_usage_drop(usage);
        return;
    }
    usage->mixed |= usage->since != SS_DOUBT_NONE && usage->since != kind;
    usage->since = kind;
    if (now >= usage->due)
        take_reading(usage, now);
}

static void set_use(struct ss_doubt *doubt, const struct ss_usage_sum *sum) {
    bool known = sum->capacity > 0;
    doubt->instances_use = known ? sum->instances / sum->capacity : NAN;
    doubt->others_use = known ? fmax(sum->others / sum->capacity, 0) : NAN;
    doubt->own_use = known ? sum->own / sum->capacity : NAN;
    doubt->idle = known ? sum->idle / sum->capacity : NAN;
}

double ss_usage_blamed_on_others(const struct ss_usage *usage) {
    const struct ss_usage_sum *sum = &usage->latest;
    struct ss_doubt doubt = {.kind = usage->latest_kind, .only_instances = usage->only_instances};
    if (!(sum->capacity > 0))
        return NAN;
    set_use(&doubt, sum);
    enum ss_doubt_cause cause = ss_doubt_cause(&doubt);
    bool blamed = cause == SS_DOUBT_OTHERS || cause == SS_DOUBT_BUSY;
    return blamed && doubt.others_use >= BLAMED_MIN ? doubt.others_use : NAN;
}

void ss_usage_describe(const struct ss_usage *usage, struct ss_doubt *doubt) {
    const struct ss_usage_sum *sum = &usage->sums[doubt->kind];
    set_use(doubt, sum);
    doubt->only_instances = usage->only_instances;
    doubt->quota_cpus = usage->quota.cpus;
    doubt->throttled = sum->periods > 0 ? sum->throttled / sum->periods : 0;
}
