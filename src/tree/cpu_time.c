/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/cpu_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "platform/platform.h"

/*
 * Listings may take at most 1 / COST_DIVISOR of the time. If clocks cover the time between
 * listings, they may take at most 1 / COST_DIVISOR_WITH_CLOCKS, at intervals of at least
 * LISTING_INTERVAL.
 */
#define COST_DIVISOR 50

#define LISTING_INTERVAL         (100 * SS_MILLISECOND)
#define COST_DIVISOR_WITH_CLOCKS 200

/*
 * The clocks are corrected by the ratio of listed time to clock time over about this much recent
 * CPU time, and by at most this factor up or down.
 */
#define LEARNED_TIME   (500 * SS_MILLISECOND)
#define CORRECTION_MAX 2.0

/* Number of listings over which an excess of the total over the listed time is worked off. */
#define EXCESS_LISTINGS 16

#define RATE_MEMORY (100 * SS_MILLISECOND)

/* Number of attempts to open the clocks while processes are being started. */
#define ATTEMPTS_MAX 20

/* Clocks of running processes may lag by this much, a tick of the system. */
#define GRAIN (10 * SS_MILLISECOND)

/*
 * Maximum number of threads with a clock. Reading a clock takes a few microseconds, or some tens
 * while its thread runs.
 */
#define CLOCKS_MAX 256

static bool has_clock(const struct ss_clocks *clocks, pid_t thread) {
    for (uint32_t i = 0; i < clocks->count; i++) {
        if (clocks->entries[i].thread == thread)
            return true;
    }
    return false;
}

struct adding {
    struct ss_clocks *clocks;
    int added; /* number of threads; -1: too many, or some thread has no clock */
};

/* Adds a thread unless it already has a clock. */
static void add_thread(void *context, pid_t thread) {
    struct adding *adding = context;
    struct ss_clocks *clocks = adding->clocks;
    if (adding->added < 0 || has_clock(clocks, thread))
        return;

    int clock = ss_platform_task_clock_open(thread, true);
    if ((clock < 0 && clock != -ESRCH) || clocks->count == CLOCKS_MAX ||
        !SS_GROW(clocks->entries, clocks->count + 1, clocks->room)) {
        if (clock >= 0)
            close(clock);
        adding->added = -1;
        return;
    }

    clocks->entries[clocks->count++] = (struct ss_clocks_entry){thread, clock < 0 ? -1 : clock};
    adding->added++;
}

void ss_cpu_time_open(struct ss_cpu_time *meter, struct ss_board *board, uint32_t row) {
    *meter = (struct ss_cpu_time){.board = board, .row = row, .latest = -1, .self = -1};
}

static void close_clocks(struct ss_cpu_time *meter) {
    for (uint32_t i = 0; i < meter->clocks.count; i++)
        ss_owned_close(&meter->clocks.entries[i].clock);
    free(meter->clocks.entries);
    meter->clocks = (struct ss_clocks){0};
    ss_owned_close(&meter->self);
    meter->self = -1;
}

void ss_cpu_time_close(struct ss_cpu_time *meter) {
    ss_process_sum_close(&meter->sum);
    close_clocks(meter);
    *meter = (struct ss_cpu_time){0};
}

struct listing {
    struct ss_cpu_time *meter;
    pid_t parent;
};

static void list_child(void *context, pid_t pid) {
    struct listing *listing = context;
    ss_process_sum_add(&listing->meter->sum, pid, listing->parent);
}

/* Lists the descendants of the entries from `from` on. Parents come before their children. */
static void list_descendants(struct ss_cpu_time *meter, uint32_t from) {
    for (uint32_t i = from; i < meter->sum.now.count; i++) {
        struct listing listing = {meter, meter->sum.now.items[i].pid};
        ss_platform_process_children(listing.parent, list_child, &listing);
    }
}

/* Returns whether the parent of a process is on the board, too. */
static bool has_parent(struct ss_cpu_time *meter, pid_t pid) {
    struct ss_branch *branches = ss_board_branches(meter->board);
    uint32_t used = atomic_load(&meter->board->branches_used);
    struct ss_process process;
    if (!ss_platform_process_info(pid, &process))
        return false;

    for (uint32_t slot = 0; slot < used; slot++) {
        if (atomic_load(&branches[slot].owner) == meter->row + 1 &&
            atomic_load(&branches[slot].pid) == process.parent)
            return true;
    }
    return false;
}

/*
 * Lists branches that are not descendants of a listed process, because they have lost their parent.
 * With `tops_only`, only those whose parent is not on the board: parents must be listed before
 * their children.
 */
static void list_orphans(struct ss_cpu_time *meter, bool tops_only) {
    struct ss_branch *branches = ss_board_branches(meter->board);
    uint32_t used = atomic_load(&meter->board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        pid_t pid = atomic_load(&branches[slot].pid);
        uint32_t count = meter->sum.now.count;
        if (atomic_load(&branches[slot].owner) != meter->row + 1 ||
            ss_process_sum_has(&meter->sum, pid) ||
            !ss_platform_process_is_alive(pid, atomic_load(&branches[slot].started)) ||
            (tops_only && has_parent(meter, pid)))
            continue;

        ss_process_sum_add(&meter->sum, pid, 0);
        list_descendants(meter, count);
    }
}

/*
 * Lists all processes, including the executor itself: it adopts orphans, so the CPU time of
 * children that it has waited for includes theirs.
 */
static void list_processes(struct ss_cpu_time *meter) {
    struct ss_row *row = &meter->board->rows[meter->row];
    bool attached = meter->board->attached;
    pid_t first = atomic_load(attached ? &row->leader : &row->executor);

    ss_process_sum_clear(&meter->sum);
    if (first > 1 && !ss_row_is_done(row))
        ss_process_sum_add(&meter->sum, first, 0);
    list_descendants(meter, 0);
    if (*meter->board->group)
        list_orphans(meter, true);
    if (attached)
        list_orphans(meter, false);
}

/* Lists the processes again. Repeats the last list if the machine has started no process since. */
static void list_anew(struct ss_cpu_time *meter) {
    pid_t latest = ss_platform_pid_latest();
    ss_process_sum_begin(&meter->sum);
    if (latest < 0 || latest != meter->latest)
        list_processes(meter);
    else
        ss_process_sum_repeat(&meter->sum);
    meter->latest = latest < 0 ? 0 : latest;
}

/* Returns the total of a new listing, or the last one if that fails. Schedules the next listing. */
static uint64_t take_listing(struct ss_cpu_time *meter, ss_time now) {
    ss_time begin = ss_platform_now();
    struct ss_row *row = &meter->board->rows[meter->row];
    bool first = meter->latest < 0;
    uint64_t total;

    list_anew(meter);
    pid_t own = meter->board->attached ? 0 : atomic_load(&row->executor);
    if (!ss_process_sum_finish(&meter->sum, first, own, &total)) {
        meter->latest = first ? -1 : 0;
        meter->due = now + LISTING_INTERVAL;
        return meter->listed;
    }

    ss_time cost = ss_time_since(ss_platform_now(), begin);
    meter->due = now + (meter->clocks.count ? LISTING_INTERVAL + COST_DIVISOR_WITH_CLOCKS * cost
                                            : COST_DIVISOR * cost);
    return total;
}

/* Lists all processes and opens clocks for threads without one. Returns their number, or -1. */
static int add_all(struct ss_cpu_time *meter) {
    struct adding adding = {.clocks = &meter->clocks};
    list_processes(meter);
    for (uint32_t i = 0; i < meter->sum.now.count; i++)
        ss_platform_process_threads(meter->sum.now.items[i].pid, add_thread, &adding);
    return meter->sum.now.incomplete ? -1 : adding.added;
}

/*
 * Opens clocks for all threads. A process that starts meanwhile may be missed, so this is repeated
 * until a second pass finds no new thread.
 */
static void open_clocks(struct ss_cpu_time *meter) {
    struct ss_row *row = &meter->board->rows[meter->row];
    int added = -1;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        close_clocks(meter);
        added = add_all(meter);
        if (added <= 0 || (added = add_all(meter)) <= 0)
            break;
    }

    if (added >= 0 && !meter->board->attached)
        meter->self = ss_platform_task_clock_open(atomic_load(&row->executor), false);
    ss_process_sum_clear(&meter->sum); /* the clocks of these processes have not been read */

    meter->refused = added < 0 || (!meter->board->attached && meter->self < 0);
    if (meter->refused)
        close_clocks(meter);
}

/* The clocks include the executor. Its own clock is read first, because it runs meanwhile. */
static uint64_t read_sum(const struct ss_cpu_time *meter) {
    uint64_t own = ss_platform_task_clock_read(meter->self), used = 0;
    for (uint32_t i = 0; i < meter->clocks.count; i++)
        used += ss_platform_task_clock_read(meter->clocks.entries[i].clock);
    return used - own;
}

/*
 * Advances the total by the clocks. The time of a process that exits is missing until the kernel
 * has added it to its parent's clock.
 */
static void follow_clocks(struct ss_cpu_time *meter) {
    uint64_t sum = read_sum(meter);
    uint64_t more = sum > meter->clock_sum ? sum - meter->clock_sum : 0;
    meter->clock_sum += more;
    meter->unlisted += more;
    double right =
        meter->by_clocks < LEARNED_TIME ? 1 : (double)meter->by_listings / (double)meter->by_clocks;
    meter->total +=
        (uint64_t)((double)more * fmin(fmax(right, 1 / CORRECTION_MAX), CORRECTION_MAX));
}

/*
 * Compares the clocks with a listing. Listings are late by varying times and never early, so the
 * total must not be less than the listed time. Works off an excess of the total slowly.
 */
static void reconcile(struct ss_cpu_time *meter) {
    meter->by_clocks += meter->unlisted;
    meter->by_listings += meter->listed - meter->compared;
    meter->unlisted = 0;
    meter->compared = meter->listed;
    while (meter->by_clocks > 2 * LEARNED_TIME) {
        meter->by_clocks /= 2;
        meter->by_listings /= 2;
    }
    int64_t above = (int64_t)(meter->total - meter->listed);
    meter->total = meter->listed + (uint64_t)(above > 0 ? above - above / EXCESS_LISTINGS : 0);
}

static void learn_rate(struct ss_cpu_time *meter, uint64_t used, ss_time now) {
    ss_time passed = ss_time_since(now, meter->read_at);
    double weight = (double)passed / (double)(passed + RATE_MEMORY);
    if (meter->runs && passed > 0 && meter->read_at > 0)
        meter->rate += weight * ((double)used / (double)passed - meter->rate);
    meter->read_at = now;
}

uint64_t ss_cpu_time_read(struct ss_cpu_time *meter, ss_time now) {
    if (!meter->refused && meter->clocks.count == 0) {
        open_clocks(meter);
        meter->clock_sum = read_sum(meter);
    }
    if (meter->clocks.count > 0)
        follow_clocks(meter);

    if (now >= meter->due) {
        uint64_t known = take_listing(meter, now);
        meter->listed = known > meter->listed ? known : meter->listed;
        if (meter->clocks.count > 0)
            reconcile(meter);
        else
            meter->total = meter->listed;
    }

    uint64_t before = meter->published;
    meter->published = meter->total > before ? meter->total : before;
    learn_rate(meter, meter->published - before, now);
    return meter->published;
}

#define NOTICE_WORDS 3

void ss_cpu_time_publish(struct ss_cpu_time *meter, bool runs, ss_time now) {
    meter->runs = runs;
    uint64_t words[NOTICE_WORDS] = {
        meter->published, now, ss_word_from_double(runs ? meter->rate : 0)};
    ss_notice_publish(&meter->board->rows[meter->row].instance_cpu_time, words, NOTICE_WORDS);
}

/* A row that is done has no processes left, but its last rate may be that of a running instance. */
static uint64_t read_notice(const struct ss_row *row, ss_time now) {
    uint64_t words[NOTICE_WORDS];
    if (!ss_notice_read(&row->instance_cpu_time, words, NOTICE_WORDS))
        return 0;
    if (ss_row_is_done(row))
        return words[0];
    double passed = (double)ss_time_since(now, words[1]);
    return words[0] + (uint64_t)(passed * ss_double_from_word(words[2]));
}

void ss_cpu_time_sum(
    struct ss_board *board, uint32_t cpus, double capacity, struct ss_counters *counters) {
    *counters = (struct ss_counters){
        .time = ss_platform_now(),
        .set = 1,
        .capacity = capacity,
        .cpus = cpus,
        .ran = true,
        .grain = GRAIN,
    };
    for (uint32_t i = 0; i < board->instances; i++)
        counters->used += read_notice(&board->rows[i], counters->time);
}
