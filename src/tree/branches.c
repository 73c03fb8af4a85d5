/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/branches.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "platform/platform.h"

void ss_branches_notify(struct ss_board *board, uint32_t row) {
    /* Notify rescuers first: they must be able to continue whatever an executor stops. */
    atomic_fetch_add(&board->branch_changes, 1);
    atomic_fetch_add(&board->rows[row].branch_changes, 1);
    ss_platform_wake(&board->rows[row].wake);
}

uint32_t ss_branch_claim(
    struct ss_board *board, uint32_t row, pid_t pid, uint64_t started, bool group) {
    struct ss_branch *branches = ss_board_branches(board);
    uint32_t used = atomic_load(&board->branches_used);
    uint32_t slot = 0;
    while (slot < used && atomic_load(&branches[slot].owner))
        slot++;
    if (slot == SS_BOARD_BRANCHES_MAX)
        return slot;

    struct ss_branch *branch = &branches[slot];
    atomic_fetch_add(&branch->serial, 1);
    atomic_store(&branch->pid, pid);
    atomic_store(&branch->started, started);
    atomic_store(&branch->group, group);
    atomic_store(&branch->witness, 0);
    atomic_store(&branch->has_left_group, 0);

    if (slot == used)
        atomic_store(&board->branches_used, used + 1);
    atomic_store(&branch->owner, row + 1);
    ss_branches_notify(board, row);

    return slot;
}

void ss_branch_release(struct ss_board *board, uint32_t slot) {
    struct ss_branch *branch = &ss_board_branches(board)[slot];
    uint32_t owner = atomic_exchange(&branch->owner, 0);
    if (owner)
        ss_branches_notify(board, owner - 1);
}

void ss_hold_open(struct ss_hold *hold) {
    hold->pidfd = ss_platform_process_open(hold->pid, hold->started);
    hold->by_pid = hold->pidfd < 0 && hold->pidfd != -ESRCH;
}

void ss_hold_close(struct ss_hold *hold) {
    if (hold->pidfd >= 0)
        close(hold->pidfd);
    hold->pidfd = -1;
}

bool ss_hold_has_ended(const struct ss_hold *hold) {
    struct pollfd end = {.fd = hold->pidfd, .events = POLLIN};
    if (hold->pidfd >= 0)
        return poll(&end, 1, 0) > 0;
    return !hold->by_pid || !ss_platform_process_is_alive(hold->pid, hold->started);
}

bool ss_hold_is_runnable(const struct ss_hold *hold) {
    return !ss_hold_has_ended(hold) && ss_platform_process_state(hold->pid, hold->started) == 'R';
}

static bool is_current(struct ss_board *board, const struct ss_hold *hold) {
    struct ss_branch *branch = &ss_board_branches(board)[hold->slot];
    return atomic_load(&branch->owner) == hold->row + 1 &&
           atomic_load(&branch->serial) == hold->serial;
}

/*
 * Opens a branch. Returns false if the slot was reused after the caller read the serial and then
 * the owner: the pid may be that of the previous use. The guardian notifies us when the new one is
 * complete.
 */
static bool open_hold(struct ss_hold *hold, struct ss_branch *branch) {
    hold->pid = atomic_load(&branch->pid);
    hold->started = atomic_load(&branch->started);
    hold->group = atomic_load(&branch->group);
    if (atomic_load(&branch->serial) != hold->serial)
        return false;
    ss_hold_open(hold);
    return true;
}

/*
 * Returns whether a branch has left the instance. It stays on the board until its executor has
 * continued it and confirms that: before that, a rescuer may have to continue it.
 */
static bool has_left(struct ss_board *board, const struct ss_hold *hold) {
    return atomic_load(&ss_board_branches(board)[hold->slot].has_left_group);
}

static void confirm_left(struct ss_board *board, const struct ss_hold *hold) {
    if (has_left(board, hold))
        atomic_store(&ss_board_branches(board)[hold->slot].missed_serial, hold->serial);
}

/*
 * Closes entries of branches that have left the board or, for a single row, the instance. For a
 * single row, continues them first.
 */
static void drop_stale(struct ss_holds *holds, struct ss_board *board, uint32_t row) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < holds->count; i++) {
        struct ss_hold *hold = &holds->list[i];
        if (is_current(board, hold) && (row == SS_HOLDS_ALL || !has_left(board, hold))) {
            holds->index_of_slot[hold->slot] = kept + 1;
            holds->list[kept++] = *hold;
            continue;
        }

        /*
         * It must not stay stopped once none of our processes tracks it. Only the executor
         * continues it: the guardian might continue a process that something else has stopped.
         */
        if (row != SS_HOLDS_ALL) {
            ss_hold_signal(hold, SIGCONT);
            confirm_left(board, hold);
        }
        ss_hold_close(hold);
        holds->index_of_slot[hold->slot] = 0;
    }
    holds->count = kept;
}

static void open_new(struct ss_holds *holds, struct ss_board *board, uint32_t row) {
    uint32_t used = atomic_load(&board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        struct ss_branch *branch = &ss_board_branches(board)[slot];
        uint32_t serial = atomic_load(&branch->serial); /* before the owner, see open_hold() */
        uint32_t owner = atomic_load(&branch->owner);
        if (!owner || (row != SS_HOLDS_ALL && owner != row + 1) || holds->index_of_slot[slot])
            continue;

        struct ss_hold *hold = &holds->list[holds->count];
        *hold = (struct ss_hold){.slot = slot, .serial = serial, .row = owner - 1};
        if (row != SS_HOLDS_ALL && has_left(board, hold)) {
            confirm_left(board, hold);
            continue;
        }
        if (!open_hold(hold, branch))
            continue;
        holds->index_of_slot[slot] = ++holds->count;

        /* Too late to hold this group. Report it: the guardian may hold it and not notice. */
        if (row != SS_HOLDS_ALL && hold->group && hold->pidfd < 0 && !hold->by_pid) {
            atomic_store(&branch->missed_serial, hold->serial);
            atomic_fetch_add(&board->missed_groups, 1);
        }
    }
}

bool ss_holds_refresh(
    struct ss_holds *holds, struct ss_board *board, uint32_t row, uint32_t *first_new) {
    uint32_t changes = atomic_load(
        row == SS_HOLDS_ALL ? &board->branch_changes : &board->rows[row].branch_changes);
    *first_new = holds->count;
    if (changes == holds->seen)
        return false;

    holds->seen = changes;
    drop_stale(holds, board, row);
    *first_new = holds->count;
    open_new(holds, board, row);
    return true;
}

const struct ss_hold *ss_holds_find(const struct ss_holds *holds, uint32_t slot) {
    uint32_t index = holds->index_of_slot[slot];
    return index ? &holds->list[index - 1] : NULL;
}

int ss_hold_signal(const struct ss_hold *hold, int signal) {
    int why = hold->pidfd >= 0 || hold->by_pid ? -ENOSYS : -ESRCH;
    if (hold->pidfd >= 0)
        why = hold->group ? ss_platform_process_signal_group(hold->pidfd, signal)
                          : ss_platform_process_signal(hold->pidfd, signal);
    if (why != -ENOSYS)
        return why;

    /* A process group ID cannot be reused as long as its leader lives. */
    if (hold->pid <= 1 || hold->started == 0 ||
        ss_platform_process_started(hold->pid) != hold->started)
        return -ESRCH;
    return kill(hold->group ? -hold->pid : hold->pid, signal) == 0 ? 0 : -errno;
}

void ss_holds_signal(const struct ss_holds *holds, uint32_t from, uint32_t row, int signal) {
    for (uint32_t i = from; i < holds->count; i++) {
        if (row == SS_HOLDS_ALL || holds->list[i].row == row)
            ss_hold_signal(&holds->list[i], signal);
    }
}

void ss_holds_signal_reversed(const struct ss_holds *holds, uint32_t row, int signal) {
    for (uint32_t i = holds->count; i-- > 0;) {
        if (row == SS_HOLDS_ALL || holds->list[i].row == row)
            ss_hold_signal(&holds->list[i], signal);
    }
}

struct leaderless {
    const struct ss_holds *holds;
    struct ss_board *board;
    uint32_t row;
    int signal;
};

/*
 * Returns whether the witness of a group is still a member. The kernel does not reuse the ID of a
 * group that has members.
 */
static bool has_witness(struct ss_board *board, const struct ss_hold *hold) {
    const struct ss_branch *branch = &ss_board_branches(board)[hold->slot];
    struct ss_process witness;
    return ss_platform_process_info(atomic_load(&branch->witness), &witness) &&
           witness.started == atomic_load(&branch->witness_started) && witness.group == hold->pid &&
           is_current(board, hold);
}

static void signal_leaderless(void *context, pid_t pid) {
    const struct leaderless *search = context;
    struct ss_process process;
    if (!ss_platform_process_info(pid, &process))
        return;
    for (uint32_t i = 0; i < search->holds->count; i++) {
        const struct ss_hold *hold = &search->holds->list[i];
        if (hold->row == search->row && hold->group && hold->pid == process.group &&
            ss_hold_signal(hold, 0) == -ESRCH && has_witness(search->board, hold))
            ss_platform_process_signal_by_pid(pid, process.started, search->signal);
    }
}

void ss_holds_signal_leaderless(
    const struct ss_holds *holds, struct ss_board *board, uint32_t row, int signal) {
    struct leaderless search = {holds, board, row, signal};
    bool any = false;
    for (uint32_t i = 0; i < holds->count && !any; i++)
        any = holds->list[i].row == row && holds->list[i].group;
    if (any)
        ss_platform_process_each(signal_leaderless, &search);
}
