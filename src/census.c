/* SPDX-License-Identifier: Apache-2.0 */
#include "census.h"

#include <stdlib.h>

#include "cages.h"

/* Time from one look to the next: after somebody new was found, usually, and at most. */
#define SHORTLY (5 * SS_MILLISECOND)
#define USUALLY (100 * SS_MILLISECOND)
#define AT_MOST SS_SECOND
#define RECOUNT SS_SECOND

#define MEMBERS_MAX 32768

/* Where there are so few numbers, all may have been given away anew between two looks. */
#define FEW_NUMBERS 4096

/* So many new numbers are not tried one by one. */
#define MANY_NUMBERS 65536

/* Longer lines of descent are not followed; and how often one that breaks off is begun anew. */
#define DEPTH_MAX    256
#define ATTEMPTS_MAX 3

/* Lines followed in one look, so that it never keeps anybody waiting for long. */
#define BUDGET 128

#define NOBODY SS_PID_MAP_NONE

int ss_census_open(struct ss_census *census, struct ss_board *board,
    const struct ss_census_source *source, bool groups) {
    *census = (struct ss_census){
        .board = board,
        .source = source,
        .groups = groups,
        .limit = source->limit(),
        .latest = source->latest(),
        .interval = USUALLY,
        .budget = UINT32_MAX,
        .leaders = calloc(board->instances, sizeof *census->leaders),
        .parents = calloc(board->instances, sizeof *census->parents),
        .members = calloc(MEMBERS_MAX, sizeof *census->members),
    };
    if (!census->leaders || !census->parents || !census->members ||
        ss_pid_map_open(&census->covered, board->instances + SS_BOARD_BRANCHES) < 0 ||
        ss_pid_map_open(&census->executors, board->instances) < 0 ||
        ss_pid_map_open(&census->places, MEMBERS_MAX) < 0)
        return -1;
    census->settled[0] = census->settled[1] = census->latest;
    return 0;
}

void ss_census_close(struct ss_census *census) {
    ss_pid_map_close(&census->covered);
    ss_pid_map_close(&census->executors);
    ss_pid_map_close(&census->places);
    free(census->leaders);
    free(census->parents);
    free(census->members);
}

static pid_t group_of(const struct ss_census *census, pid_t pid) {
    return census->source->group(pid);
}

static bool look(const struct ss_census *census, pid_t pid, struct ss_process *process) {
    return census->source->look(pid, process);
}

static void replace(struct ss_pid_map *map, pid_t *known, pid_t now, uint32_t row) {
    if (*known == now)
        return;
    ss_pid_map_remove(map, *known);
    if (now > 1)
        ss_pid_map_set(map, now, row);
    *known = now;
}

/* Instances and executors come and go. */
static void read_rows(struct ss_census *census) {
    for (uint32_t i = 0; i < census->board->instances; i++) {
        struct ss_row *row = &census->board->rows[i];
        replace(&census->covered, &census->leaders[i], atomic_load(&row->leader), i);
        replace(&census->executors, &census->parents[i], atomic_load(&row->executor), i);
    }
}

/*
 * Goes up from parent to parent: the row of the executor that it ends at. A number read as a
 * parent's may belong to somebody else by the time that is looked at, so each step counts only if
 * the child still has that parent afterwards. A line that breaks off meanwhile has not ended:
 * orphans find another parent. `started` tells which process of that number it was.
 */
static uint32_t trace(const struct ss_census *census, pid_t pid, uint64_t *started) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct ss_process child;
        struct ss_process parent;
        struct ss_process again;
        if (!look(census, pid, &child))
            return NOBODY;
        pid_t at = pid;
        *started = child.started;
        for (int depth = 0; depth < DEPTH_MAX; depth++) {
            if (child.parent <= 1)
                return NOBODY;
            if (!look(census, child.parent, &parent) || !look(census, at, &again) ||
                again.parent != child.parent || again.started != child.started)
                break;
            uint32_t row = ss_pid_map_get(&census->executors, child.parent);
            if (row != NOBODY &&
                parent.started == atomic_load(&census->board->rows[row].executor_started))
                return row;
            at = child.parent;
            child = parent;
        }
    }
    return NOBODY;
}

/* The same without the proof: tells most of those who have nothing to do with us at less cost. */
static bool may_be_ours(struct ss_census *census, pid_t pid) {
    struct ss_process process;
    pid_t first = 0;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (!look(census, pid, &process))
            return depth > 0; /* gone meanwhile: perhaps */
        pid = process.parent;
        if (depth == 0)
            first = pid;
        if (ss_pid_map_get(&census->executors, pid) != NOBODY)
            return true;
        if (pid <= 1 || pid == census->stranger)
            break;
    }
    census->stranger = first;
    return false;
}

static uint32_t claim(
    struct ss_census *census, uint32_t row, pid_t number, uint64_t started, bool group) {
    census->found = true;
    return ss_branch_claim(census->board, row, number, started, group);
}

/*
 * Somebody of ours in a group that is not known to be all ours. If it was made by one of ours who
 * still lives, then so are all in it; otherwise it may be a stranger's that it has joined, or a
 * dead leader's that nobody can hold any more.
 */
static uint32_t cover(
    struct ss_census *census, uint32_t row, pid_t pid, uint64_t started, pid_t group) {
    uint64_t leader = started;
    if (census->groups && group > 1 && group_of(census, group) == group &&
        (group == pid || trace(census, group, &leader) == row)) {
        uint32_t place = claim(census, row, group, leader, true);
        if (place < SS_BOARD_BRANCHES)
            ss_pid_map_set(&census->covered, group, row);
        return SS_BOARD_BRANCHES;
    }
    return claim(census, row, pid, started, false);
}

/* Who may not be signalled can perhaps be held otherwise. */
static void note_beyond(struct ss_census *census, struct ss_census_member *member) {
    struct ss_board *board = census->board;
    char name[SS_CAGE_NAME];
    if (member->beyond || census->source->may_signal(member->pid))
        return;
    member->beyond = true;
    ss_cage_name(board, member->row, name);
    if (census->source->cage(name, member->pid)) {
        atomic_fetch_add(&board->rows[member->row].caged, 1);
        ss_branches_tell(board, member->row);
    } else {
        atomic_fetch_add(&board->beyond, 1);
    }
}

static void enter(struct ss_census *census, pid_t pid, uint32_t row, uint32_t place) {
    if (census->count == MEMBERS_MAX || ss_pid_map_set(&census->places, pid, census->count) < 0)
        return;
    struct ss_census_member *member = &census->members[census->count++];
    *member = (struct ss_census_member){.pid = pid, .row = row, .place = place};
    note_beyond(census, member);
}

/* Somebody not seen before, or one thread of somebody. */
static void examine(void *context, pid_t pid) {
    struct ss_census *census = context;
    pid_t group = group_of(census, pid);
    if (group < 0 || ss_pid_map_get(&census->places, pid) != SS_PID_MAP_NONE ||
        ss_pid_map_get(&census->executors, pid) != NOBODY)
        return;
    uint32_t row = ss_pid_map_get(&census->covered, group);
    uint32_t place = SS_BOARD_BRANCHES;
    if (row == NOBODY) {
        census->budget--;
        uint64_t started;
        row = may_be_ours(census, pid) ? trace(census, pid, &started) : NOBODY;
        if (row == NOBODY)
            return;
        pid_t leader = atomic_load(&census->board->rows[row].leader);
        if (leader <= 1)
            return; /* being born, in no group of its own yet; there will be another look */
        if (leader != pid)
            place = cover(census, row, pid, started, group);
    }
    census->ours = true;
    enter(census, pid, row, place);
}

static void forget(struct ss_census *census, uint32_t index) {
    struct ss_census_member *member = &census->members[index];
    if (member->place < SS_BOARD_BRANCHES) {
        ss_branch_release(census->board, member->place);
    }
    ss_pid_map_remove(&census->places, member->pid);
    *member = census->members[--census->count];
    if (index < census->count)
        ss_pid_map_set(&census->places, member->pid, index);
}

/* Whether a member is still one. */
static bool ask_again(struct ss_census *census, struct ss_census_member *member) {
    pid_t group = group_of(census, member->pid);
    if (group < 0)
        return false;
    note_beyond(census, member);
    if (member->place < SS_BOARD_BRANCHES)
        return !census->source->is_gone(census->source->holder, member->place);
    if (ss_pid_map_get(&census->covered, group) != NOBODY)
        return true;
    uint64_t started;
    member->row = trace(census, member->pid, &started);
    if (member->row == NOBODY)
        return false;
    member->place = cover(census, member->row, member->pid, started, group);
    return true;
}

/* A branch that nobody is left of, or that has turned out to be the instance's own group. */
static void drop_groups(struct ss_census *census) {
    struct ss_branch *branches = ss_board_branches(census->board);
    uint32_t used = atomic_load(&census->board->branches_used);
    for (uint32_t place = 0; place < used; place++) {
        struct ss_branch *branch = &branches[place];
        uint32_t owner = atomic_load(&branch->owner);
        pid_t number = atomic_load(&branch->number);
        if (!owner || !atomic_load(&branch->group))
            continue;
        bool doubled = census->leaders[owner - 1] == number;
        if (!doubled && !census->source->is_gone(census->source->holder, place))
            continue;
        if (!doubled)
            ss_pid_map_remove(&census->covered, number);
        ss_branch_release(census->board, place);
    }
}

static void recount(struct ss_census *census) {
    drop_groups(census);
    for (uint32_t i = census->count; i-- > 0;) {
        if (!ask_again(census, &census->members[i]))
            forget(census, i);
    }
}

void ss_census_survey(struct ss_census *census) {
    census->budget = UINT32_MAX;
    read_rows(census);
    census->source->each(examine, census);
}

/* Returns the last that was examined. */
static pid_t examine_range(struct ss_census *census, pid_t from, pid_t to) {
    pid_t pid = from;
    while (pid <= to && census->budget > 0)
        examine(census, pid++);
    return pid - 1;
}

/*
 * Examines who got a number behind `seen`, up to `latest`. Numbers are given in turn, from the
 * limit back to the beginning. Returns how far it came.
 */
static pid_t examine_since(struct ss_census *census, pid_t seen, pid_t latest) {
    bool turned = latest < seen;
    pid_t many = turned ? census->limit - seen + latest : latest - seen;
    if (latest < 0 || many > MANY_NUMBERS) {
        census->source->each(examine, census);
        return latest;
    }
    if (census->limit <= FEW_NUMBERS) {
        examine_range(census, 2, census->limit);
        return latest;
    }
    if (!turned)
        return examine_range(census, seen + 1, latest);
    pid_t last = examine_range(census, seen + 1, census->limit);
    return census->budget > 0 ? examine_range(census, 2, latest) : last;
}

/* A number is given before its process can be seen, so that one may have been missed. */
static void examine_again(struct ss_census *census) {
    if (census->settled[0] != census->latest)
        examine_since(census, census->settled[0], census->latest);
    if (census->budget == 0)
        return;
    census->settled[0] = census->settled[1];
    census->settled[1] = census->latest;
}

ss_time ss_census_take(struct ss_census *census, ss_time now) {
    pid_t latest = census->source->latest();
    bool due = now >= census->recount;
    bool news = latest != census->latest || (latest < 0 && due);
    census->ours = census->found = false;
    census->stranger = 0;
    census->budget = BUDGET;
    read_rows(census);
    if (news)
        census->latest = examine_since(census, census->latest, latest);
    if (due) {
        recount(census);
        examine_again(census);
        census->recount = now + RECOUNT;
    }
    /* Where only strangers come and go, it may wait: most of them will be gone then. */
    if (!news || census->ours)
        census->interval = USUALLY;
    else if (census->interval < AT_MOST)
        census->interval *= 2;
    return now + (census->found || census->budget == 0 ? SHORTLY : census->interval);
}
