/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/census.h"

#include <math.h>
#include <stdlib.h>

#include "tree/freezer.h"

/* Time until the next pass. */
#define SHORT_INTERVAL (5 * SS_MILLISECOND) /* after a new branch, or if the budget ran out */
#define USUAL_INTERVAL (100 * SS_MILLISECOND)
#define IDLE_INTERVAL  (500 * SS_MILLISECOND) /* if every fork will be reported */
#define INTERVAL_MAX   SS_SECOND

/* Time between checks of all members. */
#define RECOUNT_INTERVAL SS_SECOND

/* How long a process counts as young. */
#define YOUNG_TIME SS_SECOND

/* How long to wait for a new pid whose process is not visible yet. */
#define UNSEEN_PATIENCE (20 * SS_MILLISECOND)

/*
 * For how long after one process has left its group others of the instance are expected to follow.
 * During this time, processes count as young for longer than YOUNG_TIME, in inverse proportion to
 * the duty, but at most 1 / DUTY_MIN times as long.
 */
#define LEAVING_TIME (10 * SS_SECOND)
#define DUTY_MIN     0.05

#define MEMBERS_MAX 32768

/* Newcomers that do not fit are checked only as often as other members. */
#define NEWCOMERS_MAX 8192

/* Number of free entries that triggers a search for processes that did not fit. */
#define MEMBERS_SPARE (MEMBERS_MAX / 32)

/* With at most this many pids, all of them may be reused between two passes. */
#define FEW_PIDS 4096

/* If there are more new pids than this, all processes are scanned instead. */
#define MANY_PIDS 65536

/* Maximum number of strays that are counted. */
#define STRAYS_MAX 8192

/* Limits for following a line of descent: its depth, and the number of attempts if it breaks. */
#define DEPTH_MAX    256
#define ATTEMPTS_MAX 3

/* Number of lines of descent that a pass follows, which bounds the time that it takes. */
#define DESCENTS_MAX 128

#define NO_ROW SS_PID_MAP_NONE

/* Row of a process that is not known yet: its line of descent broke on every attempt. */
#define UNKNOWN_ROW (NO_ROW - 1)

int ss_census_open(struct ss_census *census, struct ss_board *board,
    const struct ss_census_source *source, bool pidfds_signal_groups, pid_t since) {
    *census = (struct ss_census){
        .board = board,
        .source = source,
        .pidfds_signal_groups = pidfds_signal_groups,
        .limit = source->limit(),
        .latest = since,
        .interval = USUAL_INTERVAL,
        .budget = UINT32_MAX,
        .leaders = calloc(board->instances, sizeof *census->leaders),
        .tops = calloc(board->instances, sizeof *census->tops),
        .leader_parents = calloc(board->instances, sizeof *census->leader_parents),
        .members = calloc(MEMBERS_MAX, sizeof *census->members),
        .newcomers = calloc(NEWCOMERS_MAX, sizeof *census->newcomers),
        .left_at = calloc(board->instances, sizeof *census->left_at),
    };
    if (!census->left_at || !census->leaders || !census->tops || !census->leader_parents ||
        !census->members || !census->newcomers ||
        ss_pid_map_open(&census->covered, board->instances + SS_BOARD_BRANCHES_MAX) < 0 ||
        ss_pid_map_open(&census->slots, SS_BOARD_BRANCHES_MAX) < 0 ||
        ss_pid_map_open(&census->roots, board->instances) < 0 ||
        ss_pid_map_open(&census->indexes, MEMBERS_MAX) < 0 ||
        ss_pid_map_open(&census->kin[0], MEMBERS_MAX) < 0 ||
        ss_pid_map_open(&census->kin[1], MEMBERS_MAX) < 0 ||
        ss_pid_map_open(&census->strays, STRAYS_MAX) < 0)
        return -1;

    struct ss_process master;
    if (board->attached && source->info(board->master, &master))
        census->own_session = master.session;
    census->latest_at_recount[0] = census->latest_at_recount[1] = census->latest;
    census->rescan_after = census->rescan_until = census->latest;
    return 0;
}

void ss_census_close(struct ss_census *census) {
    ss_pid_map_close(&census->covered);
    ss_pid_map_close(&census->slots);
    ss_pid_map_close(&census->roots);
    ss_pid_map_close(&census->indexes);
    ss_pid_map_close(&census->kin[0]);
    ss_pid_map_close(&census->kin[1]);
    ss_pid_map_close(&census->strays);

    free(census->leaders);
    free(census->tops);
    free(census->leader_parents);
    free(census->members);
    free(census->newcomers);
    free(census->left_at);
}

static pid_t group_of(const struct ss_census *census, pid_t pid) {
    return census->source->group(pid);
}

static bool look_at(const struct ss_census *census, pid_t pid, struct ss_process *process) {
    return census->source->info(pid, process);
}

static uint32_t kin_of(const struct ss_census *census, pid_t pid) {
    uint32_t row = ss_pid_map_get(&census->kin[0], pid);
    return row != NO_ROW ? row : ss_pid_map_get(&census->kin[1], pid);
}

static void add_kin(struct ss_census *census, pid_t pid, uint32_t row) {
    if (census->board->attached)
        ss_pid_map_set(&census->kin[0], pid, row);
}

static void drop_kin(struct ss_census *census, pid_t pid) {
    ss_pid_map_remove(&census->kin[0], pid);
    ss_pid_map_remove(&census->kin[1], pid);
}

static void add_birth(void *context, pid_t parent, pid_t child) {
    struct ss_census *census = context;
    uint32_t row = kin_of(census, parent);
    drop_kin(census, child); /* the pid has a new owner */
    if (row != NO_ROW)
        add_kin(census, child, row);
}

static void keep_leaders(struct ss_census *census) {
    struct ss_board *board = census->board;
    struct ss_process leader;
    for (uint32_t row = 0; row < board->instances; row++) {
        pid_t pid = atomic_load(&board->rows[row].leader);
        if (pid > 1 && look_at(census, pid, &leader) &&
            leader.started == atomic_load(&board->rows[row].leader_started))
            add_kin(census, pid, row);
    }
}

/* Forgets all kin. The next recount, which becomes due soon, restores members. */
static void forget_kin(struct ss_census *census) {
    ss_pid_map_clear(&census->kin[0]);
    ss_pid_map_clear(&census->kin[1]);
    keep_leaders(census);
    census->recount_due = census->now + SHORT_INTERVAL;
}

/* Reads reported births. After a lost report, any known pid may belong to an unrelated process. */
static void read_births(struct ss_census *census) {
    if (!census->board->attached)
        return;
    enum ss_births births = census->source->births(census->source->holder, add_birth, census);
    if (births == SS_BIRTHS_LOST)
        forget_kin(census);
    if (births < census->births)
        census->births = births;
}

/*
 * Forgets the pids up to `latest` that were assigned since the last pass: without reports of
 * births, they may have new owners.
 */
static void forget_reused_kin(struct ss_census *census, pid_t latest) {
    if (!census->board->attached || census->births != SS_BIRTHS_UNKNOWN)
        return;

    /* The limit may have been raised since it was read. */
    bool counts = latest <= census->limit && census->latest <= census->limit;
    if (latest < 0 || census->latest < 0 || census->limit <= FEW_PIDS || !counts) {
        forget_kin(census);
        return;
    }

    for (pid_t pid = census->latest; pid != latest;) {
        pid = pid < census->limit ? pid + 1 : 1;
        drop_kin(census, pid);
    }
}

/* Looks up the parents of attached processes, before any of their children is examined. */
static void find_leader_parents(struct ss_census *census) {
    struct ss_board *board = census->board;
    struct ss_process leader;
    for (uint32_t row = 0; row < board->instances; row++) {
        pid_t pid = atomic_load(&board->rows[row].leader);
        if (pid <= 1 || !look_at(census, pid, &leader))
            continue;
        uint64_t image = census->source->image(pid), above = census->source->image(leader.parent);
        census->leader_parents[row] = image && above && image != above ? leader.parent : 0;
    }
}

/*
 * Returns the next row, from `row` on, whose leader is a child of `parent`; NO_ROW if there is
 * none.
 */
static uint32_t next_child_row(const struct ss_census *census, pid_t parent, uint32_t row) {
    while (row < census->board->instances && (parent <= 0 || census->leader_parents[row] != parent))
        row++;
    return row < census->board->instances ? row : NO_ROW;
}

/*
 * Finds the row of a process that a leader has forked as its sibling (CLONE_PARENT). Their common
 * parent cannot have forked it: since the survey, its memory image has never been that of the
 * leader. Children that it had before are in `strays`.
 */
static uint32_t find_sibling(
    const struct ss_census *census, pid_t pid, const struct ss_process *process) {
    struct ss_process leader;
    uint32_t row = next_child_row(census, process->parent, 0);
    if (row == NO_ROW || census->surveying ||
        ss_pid_map_get(&census->strays, pid) != SS_PID_MAP_NONE)
        return NO_ROW;

    uint64_t image = census->source->image(pid);
    for (; row != NO_ROW; row = next_child_row(census, process->parent, row + 1)) {
        const struct ss_row *shown = &census->board->rows[row];
        pid_t first = atomic_load(&shown->leader);
        if (image && first > 1 && first != pid && census->source->image(first) == image &&
            look_at(census, first, &leader) &&
            leader.started == atomic_load(&shown->leader_started))
            return row;
    }
    return NO_ROW;
}

/*
 * Finds the row of a process by its birth, or by a session that a process of ours has begun. Births
 * are read after the process was looked at, so they would include a reuse of its pid. The kernel
 * does not reuse a session ID while the session has members.
 */
static uint32_t find_by_birth(
    struct ss_census *census, pid_t pid, const struct ss_process *process) {
    struct ss_process again;
    if (!census->board->attached)
        return NO_ROW;

    if (!census->surveying && kin_of(census, pid) != NO_ROW) {
        read_births(census);
        uint32_t row = kin_of(census, pid);
        if (census->births == SS_BIRTHS_ALL && row != NO_ROW && look_at(census, pid, &again) &&
            again.started == process->started)
            return row;
    }

    uint32_t row = process->session > 1 && process->session != census->own_session
                       ? kin_of(census, process->session)
                       : NO_ROW;
    return row != NO_ROW ? row : find_sibling(census, pid, process);
}

/*
 * Ages the entries at a recount: an entry that no member renews is dropped one recount later. Does
 * nothing while pids wait to be examined, because only the entries of their parents show to which
 * instance they belong.
 */
static void age_kin(struct ss_census *census, pid_t latest) {
    if (!census->board->attached || census->latest != latest)
        return;
    struct ss_pid_map before = census->kin[1];
    census->kin[1] = census->kin[0];
    census->kin[0] = before;
    ss_pid_map_clear(&census->kin[0]);
    keep_leaders(census);
}

/* Renews the entries of a member that was just confirmed, and of its session. */
static void keep_kin(struct ss_census *census, const struct ss_census_member *member) {
    add_kin(census, member->pid, member->row);
    uint32_t row = kin_of(census, member->session);
    if (row != NO_ROW)
        add_kin(census, member->session, row);
}

/*
 * Counts an orphan whose parent was never seen, if it has the user and control groups of an
 * instance. Does not count orphans from before the census.
 */
static void count_stray(struct ss_census *census, pid_t pid) {
    struct ss_board *board = census->board;
    if (ss_pid_map_get(&census->strays, pid) != SS_PID_MAP_NONE)
        return;
    for (uint32_t row = 0; row < board->instances; row++) {
        pid_t leader = atomic_load(&board->rows[row].leader);
        if (leader <= 1 || !census->source->is_akin(pid, leader))
            continue;
        if (ss_pid_map_set(&census->strays, pid, row) == 0 && census->fresh)
            atomic_fetch_add(&board->strays, 1);
        return;
    }
}

static void replace(struct ss_pid_map *map, pid_t *known, pid_t now, uint32_t row, bool adding) {
    if (*known == now)
        return;
    if (!adding) {
        ss_pid_map_remove(map, *known);
        *known = 0;
    } else if (now > 1 && !*known) {
        ss_pid_map_set(map, now, row);
        *known = now;
    }
}

/* Updates the executors and leaders. Removes stale entries first, because pids are reused. */
static void read_rows(struct ss_census *census) {
    for (int adding = 0; adding < 2; adding++) {
        for (uint32_t i = 0; i < census->board->instances; i++) {
            struct ss_row *row = &census->board->rows[i];
            pid_t leader = atomic_load(&row->leader);
            if (census->board->attached) {
                replace(&census->roots, &census->tops[i], leader, i, adding);
                continue;
            }
            replace(&census->covered, &census->leaders[i], leader, i, adding);
            replace(&census->roots, &census->tops[i], atomic_load(&row->executor), i, adding);
        }
    }
}

/* Returns the row whose lines of descent end with this process, or NO_ROW. */
static uint32_t find_end(
    const struct ss_census *census, pid_t pid, const struct ss_process *process) {
    struct ss_board *board = census->board;
    uint32_t row = ss_pid_map_get(&census->roots, pid);
    if (row != NO_ROW &&
        process->started == atomic_load(board->attached ? &board->rows[row].leader_started
                                                        : &board->rows[row].executor_started))
        return row;
    if (!board->attached)
        return NO_ROW;

    uint32_t index = ss_pid_map_get(&census->indexes, pid);
    const struct ss_census_member *member =
        index == SS_PID_MAP_NONE ? NULL : &census->members[index];
    if (member && member->slot < SS_BOARD_BRANCHES_MAX &&
        process->started == atomic_load(&ss_board_branches(board)[member->slot].started))
        return member->row;

    return ss_pid_map_get(&census->covered, process->group);
}

/*
 * Walks from parent to parent and returns the row at the end. A parent's pid may have been reused
 * by the time it is looked at, so each step counts only if the child still has that parent
 * afterwards. A line that breaks meanwhile is followed again, because orphans get another parent.
 * Fills `process` with the state for which the result holds.
 */
static uint32_t follow_descent(struct ss_census *census, pid_t pid, struct ss_process *process) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct ss_process parent;
        struct ss_process again;
        if (!look_at(census, pid, process))
            return NO_ROW;

        struct ss_process child = *process;
        pid_t at = pid;
        for (int depth = 0;; depth++) {
            uint32_t born = find_by_birth(census, at, &child);
            if (born != NO_ROW)
                return born;
            if (child.parent <= 1 || depth == DEPTH_MAX)
                return NO_ROW;
            if (!look_at(census, child.parent, &parent) || !look_at(census, at, &again) ||
                again.parent != child.parent || again.started != child.started)
                break;
            uint32_t row = find_end(census, child.parent, &parent);
            if (row != NO_ROW)
                return row;

            at = child.parent;
            child = parent;
        }
    }
    return UNKNOWN_ROW;
}

/*
 * Checks descent like follow_descent(), without its guarantee but cheaper. Rules out most unrelated
 * processes.
 */
static bool may_be_ours(struct ss_census *census, pid_t pid, struct ss_process *first) {
    struct ss_process process;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (!look_at(census, pid, &process))
            return depth > 0; /* it has just ended, so it may have been ours */
        if (kin_of(census, pid) != NO_ROW || kin_of(census, process.session) != NO_ROW)
            return true;

        pid = process.parent;
        if (depth == 0)
            *first = process;
        if (ss_pid_map_get(&census->roots, pid) != NO_ROW ||
            (census->board->attached &&
                (next_child_row(census, pid, 0) != NO_ROW ||
                    ss_pid_map_get(&census->indexes, pid) != SS_PID_MAP_NONE ||
                    ss_pid_map_get(&census->covered, process.group) != NO_ROW)))
            return true;

        if (pid <= 1 || pid == census->unrelated_parent)
            break;
    }

    census->unrelated_parent = first->parent;
    return false;
}

static uint32_t claim(struct ss_census *census, uint32_t row, pid_t pid,
    const struct ss_process *process, bool group) {
    uint32_t slot = ss_branch_claim(census->board, row, pid, process->started, group);
    if (slot < SS_BOARD_BRANCHES_MAX) {
        census->added_branch = true;
        census->left_at[row] = census->now;
    }
    return slot;
}

/*
 * Returns the row of a process like follow_descent(), even if it is the first process of an
 * attached instance.
 */
static uint32_t row_of(struct ss_census *census, pid_t pid, struct ss_process *process) {
    uint32_t row = ss_pid_map_get(&census->roots, pid);
    if (census->board->attached && row != NO_ROW && look_at(census, pid, process) &&
        find_end(census, pid, process) == row)
        return row;
    return follow_descent(census, pid, process);
}

static void cover_group(struct ss_census *census, uint32_t row, pid_t group, uint32_t slot) {
    ss_pid_map_set(&census->covered, group, row);
    ss_pid_map_set(&census->slots, group, slot);
}

/*
 * Records on the board that this process of ours is a member of the group: a rescuer that comes
 * late can no longer open the group if its leader has ended.
 */
static void name_witness(struct ss_census *census, pid_t pid, pid_t group) {
    uint32_t slot = ss_pid_map_get(&census->slots, group);
    struct ss_process process;
    if (!census->board->attached || slot == SS_PID_MAP_NONE || pid == group)
        return;

    struct ss_branch *branch = &ss_board_branches(census->board)[slot];
    pid_t witness = atomic_load(&branch->witness);
    if ((witness && group_of(census, witness) == group) || !look_at(census, pid, &process) ||
        process.group != group)
        return;

    atomic_store(&branch->witness, pid);
    atomic_store(&branch->witness_started, process.started);
}

/*
 * Returns whether the group that this process of ours leads has no unrelated members. Any process
 * of a session can join a group, so for an attached instance one of ours must have begun the
 * session. Even then showstopper itself may be a member, started there in the background.
 */
static bool is_closed(
    const struct ss_census *census, uint32_t row, const struct ss_process *leader) {
    const struct ss_board *board = census->board;
    if (!board->attached)
        return true;
    bool begun = leader->session == leader->group ||
                 leader->session == atomic_load(&board->rows[row].leader);
    return begun && leader->group != group_of(census, board->master);
}

/*
 * Makes the group of a process a branch, or the process alone if the group may have unrelated
 * members. Returns the slot of the process, or SS_BOARD_BRANCHES_MAX if its group covers it.
 * `process` must have been read while it belonged to the row.
 */
static uint32_t cover(
    struct ss_census *census, uint32_t row, pid_t pid, const struct ss_process *process) {
    pid_t group = process->group;
    if ((!census->board->attached && group == atomic_load(&census->board->rows[row].leader)) ||
        ss_pid_map_get(&census->covered, group) != NO_ROW)
        return SS_BOARD_BRANCHES_MAX;

    /*
     * All members are ours if one of our living processes leads the group. Otherwise the process
     * may have joined an unrelated group, or the leader is dead, and no pidfd can be opened for it
     * any more.
     */
    struct ss_process leader = *process;
    if (!census->pidfds_signal_groups || group <= 1 ||
        (group != pid && row_of(census, group, &leader) != row) || leader.group != group ||
        leader.state == 'Z' || leader.state == 'X' || !is_closed(census, row, &leader))
        return claim(census, row, pid, process, false);

    uint32_t slot = claim(census, row, group, &leader, true);
    /*
     * The leader may have ended before the guardian could open the group. Then only an executor
     * that was faster could signal the group, and nobody after the executor's death.
     */
    if (slot < SS_BOARD_BRANCHES_MAX && census->source->is_gone(census->source->holder, slot)) {
        ss_branch_release(census->board, slot);
        return claim(census, row, pid, process, false);
    }

    if (slot < SS_BOARD_BRANCHES_MAX) {
        cover_group(census, row, group, slot);
        name_witness(census, pid, group);
    }
    return SS_BOARD_BRANCHES_MAX;
}

/*
 * Puts a process that we may not signal into a freezer; if that fails, counts it as out of reach.
 * Its group does not prove that it is ours, because the pid may have been reused, so follows its
 * descent.
 */
static void freeze_out_of_reach(struct ss_census *census, struct ss_census_member *member) {
    struct ss_board *board = census->board;
    struct ss_process process;
    char name[SS_FREEZER_NAME_SIZE];
    if (member->out_of_reach || census->source->may_signal(member->pid))
        return;

    uint32_t row = follow_descent(census, member->pid, &process);
    if (row >= UNKNOWN_ROW)
        return;
    member->out_of_reach = true;
    bool frozen = false;
    if (!board->attached) {
        ss_freezer_prepare(board, row, name);
        frozen = census->source->freezer(name, member->pid, process.started);
    }

    if (frozen) {
        atomic_fetch_add(&board->rows[row].frozen, 1);
        ss_branches_notify(board, row);
    } else {
        atomic_fetch_add(&board->out_of_reach, 1);
    }
}

static void add_newcomer(struct ss_census *census, pid_t pid, bool ours) {
    if (census->newcomers_count == NEWCOMERS_MAX)
        return;
    census->newcomers[census->newcomers_count++] = (struct ss_census_newcomer){
        .pid = pid, .ours = ours, .since = census->now, .due = census->now + SHORT_INTERVAL};
    census->young += ours;
}

static void add_member(
    struct ss_census *census, pid_t pid, uint32_t row, uint32_t slot, pid_t session) {
    if (ss_pid_map_set(&census->indexes, pid, census->count) < 0)
        return;
    struct ss_census_member *member = &census->members[census->count++];
    *member = (struct ss_census_member){.pid = pid, .row = row, .slot = slot, .session = session};
    add_kin(census, pid, row);
    freeze_out_of_reach(census, member);
}

/*
 * Checks a new pid, which may be that of a thread. Returns false if it may still turn out to be
 * ours: the process is not visible yet, or its line of descent is not known.
 */
static bool examine(struct ss_census *census, pid_t pid) {
    pid_t group = group_of(census, pid);
    if (group < 0)
        return false;
    if (ss_pid_map_get(&census->indexes, pid) != SS_PID_MAP_NONE ||
        ss_pid_map_get(&census->roots, pid) != NO_ROW)
        return true;

    uint32_t row = ss_pid_map_get(&census->covered, group);
    uint32_t slot = SS_BOARD_BRANCHES_MAX;
    struct ss_process process = {.group = group};
    bool covered = row != NO_ROW;
    if (!covered) {
        census->budget--;
        row = may_be_ours(census, pid, &process) ? follow_descent(census, pid, &process) : NO_ROW;
        if (census->surveying && next_child_row(census, process.parent, 0) != NO_ROW)
            ss_pid_map_set(&census->strays, pid, 0);
        if (row == NO_ROW && process.parent == 1 && census->board->attached &&
            census->births != SS_BIRTHS_ALL)
            count_stray(census, pid);
        /* If there is no leader yet, the instance is just being started and has no group. */
        if (row >= UNKNOWN_ROW || atomic_load(&census->board->rows[row].leader) <= 1)
            return row == NO_ROW;
    }

    if (census->count == MEMBERS_MAX) {
        census->overflowed = true;
        return true;
    }

    if (!covered && atomic_load(&census->board->rows[row].leader) != pid)
        slot = cover(census, row, pid, &process);
    census->found_ours = true;
    add_member(census, pid, row, slot, process.session);
    name_witness(census, pid, group);

    /* A group leader rarely leaves its group. */
    if (slot == SS_BOARD_BRANCHES_MAX && process.group != pid)
        add_newcomer(census, pid, true);
    return true;
}

static void examine_any(void *context, pid_t pid) {
    examine(context, pid);
}

/* Scans all processes, whatever the budget. */
static void examine_all(struct ss_census *census) {
    uint32_t budget = census->budget;
    census->budget = UINT32_MAX;
    census->fresh = false;
    census->source->each(examine_any, census);
    census->budget = budget;
}

static void forget(struct ss_census *census, uint32_t index) {
    struct ss_census_member *member = &census->members[index];
    if (member->slot < SS_BOARD_BRANCHES_MAX) {
        ss_branch_release(census->board, member->slot);
    }
    ss_pid_map_remove(&census->indexes, member->pid);
    *member = census->members[--census->count];
    if (index < census->count)
        ss_pid_map_set(&census->indexes, member->pid, index);
}

/*
 * Checks a known member, and makes it a branch if it has left its group. Returns whether it still
 * belongs to an instance.
 */
static bool recheck(struct ss_census *census, struct ss_census_member *member) {
    struct ss_process process;
    freeze_out_of_reach(census, member);
    if (member->slot < SS_BOARD_BRANCHES_MAX)
        return !census->source->is_gone(census->source->holder, member->slot);

    pid_t group = group_of(census, member->pid);
    if (group < 0)
        return false;
    if (ss_pid_map_get(&census->covered, group) != NO_ROW) {
        name_witness(census, member->pid, group);
        return true;
    }

    census->budget -= census->budget > 0;
    uint32_t row = follow_descent(census, member->pid, &process);
    if (row == UNKNOWN_ROW)
        return true;
    if (row == NO_ROW)
        return false;

    member->row = row;
    if (atomic_load(&census->board->rows[row].leader) > 1)
        member->slot = cover(census, row, member->pid, &process);
    return true;
}

static bool is_leaving(const struct ss_census *census, uint32_t row) {
    return census->left_at[row] && census->now - census->left_at[row] < LEAVING_TIME;
}

/* Checks a newcomer. Returns whether to check it again soon. */
static bool check_newcomer(struct ss_census *census, struct ss_census_newcomer *newcomer) {
    ss_time age = census->now - newcomer->since;
    uint32_t index = ss_pid_map_get(&census->indexes, newcomer->pid);
    ss_time wait = age < USUAL_INTERVAL ? age : USUAL_INTERVAL;
    newcomer->due = census->now + (wait > SHORT_INTERVAL ? wait : SHORT_INTERVAL);

    if (!newcomer->ours)
        return index == SS_PID_MAP_NONE && !examine(census, newcomer->pid) && age < UNSEEN_PATIENCE;
    if (index == SS_PID_MAP_NONE)
        return false;
    struct ss_census_member *member = &census->members[index];
    if (!recheck(census, member)) {
        forget(census, index);
        return false;
    }

    /* At a low duty a process may hardly have run yet, so it counts as young for longer. */
    double duty = ss_double_from_word(atomic_load(&census->board->rows[member->row].global_duty));
    double share = is_leaving(census, member->row) ? fmin(fmax(duty, DUTY_MIN), 1) : 1;
    return member->slot == SS_BOARD_BRANCHES_MAX && age < (ss_time)(YOUNG_TIME / share);
}

/* Checks newcomers that are due, or all, including those that it finds meanwhile. */
static void check_newcomers(struct ss_census *census, bool all) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < census->newcomers_count; i++) {
        struct ss_census_newcomer newcomer = census->newcomers[i];
        bool due = (all || newcomer.due <= census->now) && census->budget > 0;
        if (!due || check_newcomer(census, &newcomer))
            census->newcomers[kept++] = newcomer;
        else
            census->young -= newcomer.ours;
    }
    census->newcomers_count = kept;
}

/* Releases groups that are empty, or for which an executor could not open a pidfd in time. */
static void drop_groups(struct ss_census *census) {
    struct ss_branch *branches = ss_board_branches(census->board);
    uint32_t used = atomic_load(&census->board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        struct ss_branch *branch = &branches[slot];
        if (!atomic_load(&branch->owner) || !atomic_load(&branch->group))
            continue;
        if (atomic_load(&branch->missed_serial) != atomic_load(&branch->serial) &&
            !census->source->is_gone(census->source->holder, slot))
            continue;

        ss_pid_map_remove(&census->covered, atomic_load(&branch->pid));
        ss_pid_map_remove(&census->slots, atomic_load(&branch->pid));
        ss_branch_release(census->board, slot);
    }
}

static void recheck_all(struct ss_census *census) {
    for (uint32_t i = census->count; i-- > 0;) {
        if (recheck(census, &census->members[i]))
            keep_kin(census, &census->members[i]);
        else
            forget(census, i);
    }
}

/*
 * Claims each member of a group by itself if an executor was too late to hold the group. Does not
 * wait for the next recount, because until then nothing stops or ends these processes.
 */
static void split_missed_groups(struct ss_census *census) {
    uint32_t missed = atomic_load(&census->board->missed_groups);
    if (missed == census->missed_groups)
        return;
    census->missed_groups = missed;
    drop_groups(census);
    recheck_all(census);
}

static void recount(struct ss_census *census, pid_t latest) {
    census->limit = census->source->limit();
    drop_groups(census);
    age_kin(census, latest);
    recheck_all(census);
    if (census->overflowed && census->count <= MEMBERS_MAX - MEMBERS_SPARE) {
        census->overflowed = false;
        examine_all(census);
    }
}

/*
 * Takes over the branches of a previous guardian, which may have died before it notified the
 * executors of the last ones.
 */
static void adopt_branches(struct ss_census *census) {
    struct ss_board *board = census->board;
    uint32_t used = atomic_load(&board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        struct ss_branch *branch = &ss_board_branches(board)[slot];
        uint32_t owner = atomic_load(&branch->owner);
        pid_t pid = atomic_load(&branch->pid);
        if (!owner)
            continue;

        if (census->source->is_gone(census->source->holder, slot))
            ss_branch_release(board, slot);
        else if (atomic_load(&branch->group))
            cover_group(census, owner - 1, pid, slot);
        else if (ss_pid_map_get(&census->indexes, pid) == SS_PID_MAP_NONE)
            add_member(census, pid, owner - 1, slot, 0);
        else
            ss_branch_release(board, slot);
    }

    for (uint32_t i = 0; i < board->instances; i++)
        ss_branches_notify(board, i);
}

void ss_census_survey(struct ss_census *census) {
    atomic_store(&census->board->out_of_reach, 0);
    read_rows(census);
    adopt_branches(census);
    if (census->board->attached) {
        find_leader_parents(census);
        keep_leaders(census);
    }

    census->surveying = true;
    examine_all(census);
    census->surveying = false;

    /*
     * Processes that were just being started, with no leader on the board yet, need a second pass.
     */
    census->latest_at_recount[0] = census->latest_at_recount[1] = 0;
}

/* Examines a range of pids within the budget. Returns the last one that was examined. */
static pid_t examine_range(struct ss_census *census, pid_t from, pid_t to, bool new) {
    pid_t pid = from;
    for (; pid <= to && census->budget > 0; pid++) {
        if (!examine(census, pid) && new)
            add_newcomer(census, pid, false);
    }
    return pid - 1;
}

/*
 * Examines the pids after `seen` up to `latest`. The kernel assigns pids in ascending order and
 * wraps around at the limit. With `new`, pids whose owners are not known yet are examined again
 * shortly. Returns the last pid that was examined.
 */
static pid_t examine_since(struct ss_census *census, pid_t seen, pid_t latest, bool new) {
    bool turned = latest < seen;
    pid_t many = turned ? census->limit - seen + latest : latest - seen;
    if (latest < 0 || many > MANY_PIDS || census->limit <= FEW_PIDS) {
        examine_all(census);
        return latest;
    }

    if (!turned)
        return examine_range(census, seen + 1, latest, new);
    pid_t last = examine_range(census, seen + 1, census->limit, new);
    return census->budget > 0 ? examine_range(census, 2, latest, new) : last;
}

/*
 * Plans a second pass over the same pids: a pid is assigned before its process becomes visible, so
 * the first pass may have missed one.
 */
static void plan_rescan(struct ss_census *census) {
    if (census->rescan_after == census->rescan_until)
        census->rescan_after = census->latest_at_recount[0];
    census->rescan_until = census->latest;
    census->latest_at_recount[0] = census->latest_at_recount[1];
    census->latest_at_recount[1] = census->latest;
}

static void listen(struct ss_census *census, bool on) {
    if (census->listening != on)
        census->listening = census->source->listen(census->source->holder, on) && on;
}

/*
 * Turns reports of forks on or off, and returns whether every fork will be reported. They are off
 * while events are frequent, forks or others: reading them would cost more than regular passes.
 */
static bool is_notified(struct ss_census *census, bool news, bool early) {
    bool calm = !news && census->newcomers_count == 0 && !census->added_branch &&
                census->latest >= 0 && census->rescan_after == census->rescan_until &&
                !(early && census->listening);
    if (calm && census->listening)
        return true;
    listen(census, calm);
    return census->listening && census->source->latest() == census->latest;
}

/*
 * Returns how long to wait until the next pass. A process that has made a group is likely to make
 * another, so a tree that forks at its start is followed closely. If only unrelated processes come
 * and go, the next pass can wait: most of them will have ended by then.
 */
static ss_time next_interval(const struct ss_census *census, bool news) {
    ss_time longer = 2 * census->interval;
    if (census->added_branch)
        return SHORT_INTERVAL;
    if (census->young)
        return longer < USUAL_INTERVAL ? longer : USUAL_INTERVAL;
    if (!news || census->found_ours || census->interval < USUAL_INTERVAL)
        return USUAL_INTERVAL;
    return longer < INTERVAL_MAX ? longer : INTERVAL_MAX;
}

bool ss_census_is_complete(const struct ss_census *census) {
    return census->budget > 0 && census->newcomers_count == census->young;
}

ss_time ss_census_take(struct ss_census *census, ss_time now) {
    pid_t latest = census->source->latest();
    bool due = now >= census->recount_due;
    bool news = latest != census->latest || (latest < 0 && due);

    census->found_ours = census->added_branch = false;
    census->fresh = true;
    census->unrelated_parent = 0;
    census->budget = DESCENTS_MAX;
    census->now = now;

    read_rows(census);
    census->births = SS_BIRTHS_ALL;
    read_births(census);
    check_newcomers(census, now < census->due);
    forget_reused_kin(census, latest);
    if (news)
        census->latest = examine_since(census, census->latest, latest, true);
    census->fresh = false;
    split_missed_groups(census);

    if (due) {
        recount(census, latest);
        plan_rescan(census);
        census->recount_due = now + RECOUNT_INTERVAL;
    }
    if (census->rescan_after != census->rescan_until)
        census->rescan_after =
            examine_since(census, census->rescan_after, census->rescan_until, false);

    for (uint32_t i = 0; i < census->board->instances; i++)
        atomic_store(&census->board->rows[i].leaving, census->young > 0 && is_leaving(census, i));
    census->interval = next_interval(census, news);
    if (is_notified(census, news, now < census->due))
        census->due =
            now + IDLE_INTERVAL < census->recount_due ? now + IDLE_INTERVAL : census->recount_due;
    else
        census->due = now + (census->budget == 0 ? SHORT_INTERVAL : census->interval);

    return census->due;
}
