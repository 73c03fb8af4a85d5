/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/census.h"

#include <math.h>
#include <stdlib.h>

#include "tree/freezer.h"

/* Time from one look to the next: after somebody was found, usually, if forks are told, at most.
 */
#define SHORTLY (5 * SS_MILLISECOND)
#define USUALLY (100 * SS_MILLISECOND)
#define AT_REST (500 * SS_MILLISECOND)
#define AT_MOST SS_SECOND
#define RECOUNT SS_SECOND

/* So long a process counts as young, and so long one that cannot be seen yet is waited for. */
#define YOUTH  SS_SECOND
#define UNSEEN (20 * SS_MILLISECOND)

/* So long after one has left its group others of the instance are expected to; and the least duty
 * at which they are waited for in proportion. */
#define LEAVING    (10 * SS_SECOND)
#define LEAST_DUTY 0.05

#define MEMBERS_MAX 32768

/* What finds no room is asked as often as all others. */
#define NEWCOMERS_MAX 8192

/* So many places must be free again before we look for those for whom there was none. */
#define MEMBERS_SPARE (MEMBERS_MAX / 32)

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

/* Whose it is cannot be told yet: its line of descent has broken off whenever it was followed. */
#define UNKNOWN (NOBODY - 1)

int ss_census_open(struct ss_census *census, struct ss_board *board,
    const struct ss_census_source *source, bool groups, pid_t since) {
    *census = (struct ss_census){
        .board = board,
        .source = source,
        .groups = groups,
        .limit = source->limit(),
        .latest = since,
        .interval = USUALLY,
        .budget = UINT32_MAX,
        .leaders = calloc(board->instances, sizeof *census->leaders),
        .parents = calloc(board->instances, sizeof *census->parents),
        .members = calloc(MEMBERS_MAX, sizeof *census->members),
        .newcomers = calloc(NEWCOMERS_MAX, sizeof *census->newcomers),
        .left_at = calloc(board->instances, sizeof *census->left_at),
    };
    if (!census->left_at || !census->leaders || !census->parents || !census->members ||
        !census->newcomers ||
        ss_pid_map_open(&census->covered, board->instances + SS_BOARD_BRANCHES) < 0 ||
        ss_pid_map_open(&census->executors, board->instances) < 0 ||
        ss_pid_map_open(&census->places, MEMBERS_MAX) < 0)
        return -1;
    census->settled[0] = census->settled[1] = census->latest;
    census->again = census->until = census->latest;
    return 0;
}

void ss_census_close(struct ss_census *census) {
    ss_pid_map_close(&census->covered);
    ss_pid_map_close(&census->executors);
    ss_pid_map_close(&census->places);
    free(census->leaders);
    free(census->parents);
    free(census->members);
    free(census->newcomers);
    free(census->left_at);
}

static pid_t group_of(const struct ss_census *census, pid_t pid) {
    return census->source->group(pid);
}

static bool look(const struct ss_census *census, pid_t pid, struct ss_process *process) {
    return census->source->look(pid, process);
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

/* Instances and executors come and go. What is no longer true goes first: numbers come again. */
static void read_rows(struct ss_census *census) {
    for (int adding = 0; adding < 2; adding++) {
        for (uint32_t i = 0; i < census->board->instances; i++) {
            struct ss_row *row = &census->board->rows[i];
            replace(&census->covered, &census->leaders[i], atomic_load(&row->leader), i, adding);
            replace(
                &census->executors, &census->parents[i], atomic_load(&row->executor), i, adding);
        }
    }
}

/*
 * Goes up from parent to parent: the row of the executor that it ends at. A number read as a
 * parent's may belong to somebody else by the time that is looked at, so each step counts only if
 * the child still has that parent afterwards. A line that breaks off meanwhile has not ended:
 * orphans find another parent. `process` is the one for which this is true.
 */
static uint32_t trace(const struct ss_census *census, pid_t pid, struct ss_process *process) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct ss_process parent;
        struct ss_process again;
        if (!look(census, pid, process))
            return NOBODY;
        struct ss_process child = *process;
        pid_t at = pid;
        for (int depth = 0;; depth++) {
            if (child.parent <= 1 || depth == DEPTH_MAX)
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
    return UNKNOWN;
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

static uint32_t claim(struct ss_census *census, uint32_t row, pid_t number,
    const struct ss_process *process, bool group) {
    uint32_t place = ss_branch_claim(census->board, row, number, process->started, group);
    if (place < SS_BOARD_BRANCHES) {
        census->found = true;
        census->left_at[row] = census->now;
    }
    return place;
}

/* What was read of `process` was true of one of the row's. Returns the branch that it is. */
static uint32_t cover(
    struct ss_census *census, uint32_t row, pid_t pid, const struct ss_process *process) {
    pid_t group = process->group;
    if (group == atomic_load(&census->board->rows[row].leader) ||
        ss_pid_map_get(&census->covered, group) != NOBODY)
        return SS_BOARD_BRANCHES;
    /*
     * If it was made by one of ours who still lives, then so are all in it; otherwise it may be a
     * stranger's that it has joined, or a dead leader's that nobody can hold any more.
     */
    struct ss_process leader = *process;
    if (!census->groups || group <= 1 || (group != pid && trace(census, group, &leader) != row) ||
        leader.group != group || leader.state == 'Z' || leader.state == 'X')
        return claim(census, row, pid, process, false);
    if (claim(census, row, group, &leader, true) < SS_BOARD_BRANCHES)
        ss_pid_map_set(&census->covered, group, row);
    return SS_BOARD_BRANCHES;
}

/*
 * Who may not be signalled can perhaps be held otherwise. That it is in a group of ours is no proof
 * here: the number may mean a stranger's by now.
 */
static void note_beyond(struct ss_census *census, struct ss_census_member *member) {
    struct ss_board *board = census->board;
    struct ss_process process;
    char name[SS_FREEZER_NAME];
    if (member->beyond || census->source->may_signal(member->pid))
        return;
    uint32_t row = trace(census, member->pid, &process);
    if (row >= UNKNOWN)
        return;
    member->beyond = true;
    ss_freezer_name(board, row, name);
    if (census->source->freezer(name, member->pid)) {
        atomic_fetch_add(&board->rows[row].frozen, 1);
        ss_branches_tell(board, row);
    } else {
        atomic_fetch_add(&board->beyond, 1);
    }
}

static void await(struct ss_census *census, pid_t pid, bool ours) {
    if (census->newcomers_count == NEWCOMERS_MAX)
        return;
    census->newcomers[census->newcomers_count++] = (struct ss_census_newcomer){
        .pid = pid, .ours = ours, .since = census->now, .due = census->now + SHORTLY};
    census->young += ours;
}

static void enter(struct ss_census *census, pid_t pid, uint32_t row, uint32_t place) {
    if (ss_pid_map_set(&census->places, pid, census->count) < 0)
        return;
    struct ss_census_member *member = &census->members[census->count++];
    *member = (struct ss_census_member){.pid = pid, .row = row, .place = place};
    note_beyond(census, member);
}

/*
 * A process not seen before, or a thread of one. Returns false if the pid may still turn out to be
 * one of ours: it cannot be seen yet, or its line of descent cannot be told.
 */
static bool examine(struct ss_census *census, pid_t pid) {
    pid_t group = group_of(census, pid);
    if (group < 0)
        return false;
    if (ss_pid_map_get(&census->places, pid) != SS_PID_MAP_NONE ||
        ss_pid_map_get(&census->executors, pid) != NOBODY)
        return true;
    uint32_t row = ss_pid_map_get(&census->covered, group);
    uint32_t place = SS_BOARD_BRANCHES;
    struct ss_process process = {.group = group};
    bool covered = row != NOBODY;
    if (!covered) {
        census->budget--;
        row = may_be_ours(census, pid) ? trace(census, pid, &process) : NOBODY;
        /* Without a leader it is being born, in no group of its own yet. */
        if (row >= UNKNOWN || atomic_load(&census->board->rows[row].leader) <= 1)
            return row == NOBODY;
    }
    if (census->count == MEMBERS_MAX) {
        census->crowded = true;
        return true;
    }
    if (!covered && atomic_load(&census->board->rows[row].leader) != pid)
        place = cover(census, row, pid, &process);
    census->ours = true;
    enter(census, pid, row, place);
    /* What leads a group hardly ever leaves it. */
    if (place == SS_BOARD_BRANCHES && process.group != pid)
        await(census, pid, true);
    return true;
}

static void examine_any(void *context, pid_t pid) {
    examine(context, pid);
}

/* Whoever there is, however many that are. */
static void examine_all(struct ss_census *census) {
    uint32_t budget = census->budget;
    census->budget = UINT32_MAX;
    census->source->each(examine_any, census);
    census->budget = budget;
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
    struct ss_process process;
    pid_t group = group_of(census, member->pid);
    if (group < 0)
        return false;
    note_beyond(census, member);
    if (member->place < SS_BOARD_BRANCHES)
        return !census->source->is_gone(census->source->holder, member->place);
    if (ss_pid_map_get(&census->covered, group) != NOBODY)
        return true;
    census->budget -= census->budget > 0;
    uint32_t row = trace(census, member->pid, &process);
    if (row == UNKNOWN)
        return true;
    if (row == NOBODY)
        return false;
    member->row = row;
    if (atomic_load(&census->board->rows[row].leader) > 1)
        member->place = cover(census, row, member->pid, &process);
    return true;
}

static bool is_leaving(const struct ss_census *census, uint32_t row) {
    return census->left_at[row] && census->now - census->left_at[row] < LEAVING;
}

/* Until when a process is likely to leave its group: it may not have run yet. */
static ss_time youth_of(const struct ss_census *census, uint32_t row) {
    double duty = ss_double_from_word(atomic_load(&census->board->rows[row].global_duty));
    return is_leaving(census, row) ? (ss_time)(YOUTH / fmin(fmax(duty, LEAST_DUTY), 1)) : YOUTH;
}

/* Returns whether it is to be asked again soon. */
static bool ask_newcomer(struct ss_census *census, struct ss_census_newcomer *newcomer) {
    ss_time age = census->now - newcomer->since;
    uint32_t index = ss_pid_map_get(&census->places, newcomer->pid);
    newcomer->due = census->now + (age < SHORTLY ? SHORTLY : age > USUALLY ? USUALLY : age);
    if (!newcomer->ours)
        return index == SS_PID_MAP_NONE && !examine(census, newcomer->pid) && age < UNSEEN;
    if (index == SS_PID_MAP_NONE)
        return false;
    struct ss_census_member *member = &census->members[index];
    if (!ask_again(census, member)) {
        forget(census, index);
        return false;
    }
    return member->place == SS_BOARD_BRANCHES && age < youth_of(census, member->row);
}

/* Those that are found meanwhile come in at the end. */
static void ask_newcomers(struct ss_census *census, bool all) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < census->newcomers_count; i++) {
        struct ss_census_newcomer newcomer = census->newcomers[i];
        bool due = (all || newcomer.due <= census->now) && census->budget > 0;
        if (!due || ask_newcomer(census, &newcomer))
            census->newcomers[kept++] = newcomer;
        else
            census->young -= newcomer.ours;
    }
    census->newcomers_count = kept;
}

/* A group that nobody is left of, or that its executor has not got hold of in time. */
static void drop_groups(struct ss_census *census) {
    struct ss_branch *branches = ss_board_branches(census->board);
    uint32_t used = atomic_load(&census->board->branches_used);
    for (uint32_t place = 0; place < used; place++) {
        struct ss_branch *branch = &branches[place];
        if (!atomic_load(&branch->owner) || !atomic_load(&branch->group))
            continue;
        if (atomic_load(&branch->missed) != atomic_load(&branch->serial) &&
            !census->source->is_gone(census->source->holder, place))
            continue;
        ss_pid_map_remove(&census->covered, atomic_load(&branch->number));
        ss_branch_release(census->board, place);
    }
}

static void recount(struct ss_census *census) {
    census->limit = census->source->limit();
    drop_groups(census);
    for (uint32_t i = census->count; i-- > 0;) {
        if (!ask_again(census, &census->members[i]))
            forget(census, i);
    }
    if (census->crowded && census->count <= MEMBERS_MAX - MEMBERS_SPARE) {
        census->crowded = false;
        examine_all(census);
    }
}

/* A predecessor may have died before it could tell the executors of the last ones. */
static void adopt_branches(struct ss_census *census) {
    struct ss_board *board = census->board;
    uint32_t used = atomic_load(&board->branches_used);
    for (uint32_t place = 0; place < used; place++) {
        struct ss_branch *branch = &ss_board_branches(board)[place];
        uint32_t owner = atomic_load(&branch->owner);
        pid_t number = atomic_load(&branch->number);
        if (!owner)
            continue;
        if (census->source->is_gone(census->source->holder, place))
            ss_branch_release(board, place);
        else if (atomic_load(&branch->group))
            ss_pid_map_set(&census->covered, number, owner - 1);
        else if (ss_pid_map_get(&census->places, number) == SS_PID_MAP_NONE)
            enter(census, number, owner - 1, place);
        else
            ss_branch_release(board, place);
    }
    for (uint32_t i = 0; i < board->instances; i++)
        ss_branches_tell(board, i);
}

void ss_census_survey(struct ss_census *census) {
    atomic_store(&census->board->beyond, 0);
    read_rows(census);
    adopt_branches(census);
    examine_all(census);
    /* Who was being born just then, with no leader on the board yet, must be looked at again. */
    census->settled[0] = census->settled[1] = 0;
}

/* Returns the last that was examined. */
static pid_t examine_range(struct ss_census *census, pid_t from, pid_t to, bool new) {
    pid_t pid = from;
    for (; pid <= to && census->budget > 0; pid++) {
        if (!examine(census, pid) && new)
            await(census, pid, false);
    }
    return pid - 1;
}

/*
 * Examines who got a number behind `seen`, up to `latest`. Numbers are given in turn, from the
 * limit back to the beginning. Where they are `new`, those that cannot be told yet are looked at
 * again shortly. Returns how far it came.
 */
static pid_t examine_since(struct ss_census *census, pid_t seen, pid_t latest, bool new) {
    bool turned = latest < seen;
    pid_t many = turned ? census->limit - seen + latest : latest - seen;
    if (latest < 0 || many > MANY_NUMBERS || census->limit <= FEW_NUMBERS) {
        examine_all(census);
        return latest;
    }
    if (!turned)
        return examine_range(census, seen + 1, latest, new);
    pid_t last = examine_range(census, seen + 1, census->limit, new);
    return census->budget > 0 ? examine_range(census, 2, latest, new) : last;
}

/* A number is given before its process can be seen, so that one may have been missed. */
static void plan_again(struct ss_census *census) {
    if (census->again == census->until)
        census->again = census->settled[0];
    census->until = census->latest;
    census->settled[0] = census->settled[1];
    census->settled[1] = census->latest;
}

static void listen(struct ss_census *census, bool on) {
    if (census->listening != on)
        census->listening = census->source->listen(census->source->holder, on) && on;
}

/*
 * Whether nobody comes who is not told of. Where forks follow one another, telling of each would
 * cost more than looking now and then; so does what is told and is no birth.
 */
static bool is_told(struct ss_census *census, bool news, bool early) {
    bool calm = !news && census->newcomers_count == 0 && !census->found && census->latest >= 0 &&
                census->again == census->until && !(early && census->listening);
    if (calm && census->listening)
        return true;
    listen(census, calm);
    return census->listening && census->source->latest() == census->latest;
}

/*
 * How long to wait for the next look. Something that has made a group does so again: a tree that
 * forks as it begins is followed closely. Where only strangers come and go, it may wait: most of
 * them will be gone then.
 */
static ss_time next_interval(const struct ss_census *census, bool news) {
    ss_time longer = 2 * census->interval;
    if (census->found)
        return SHORTLY;
    if (census->young)
        return longer < USUALLY ? longer : USUALLY;
    if (!news || census->ours || census->interval < USUALLY)
        return USUALLY;
    return longer < AT_MOST ? longer : AT_MOST;
}

ss_time ss_census_take(struct ss_census *census, ss_time now) {
    pid_t latest = census->source->latest();
    bool due = now >= census->recount;
    bool news = latest != census->latest || (latest < 0 && due);
    census->ours = census->found = false;
    census->stranger = 0;
    census->budget = BUDGET;
    census->now = now;
    read_rows(census);
    ask_newcomers(census, now < census->due);
    if (news)
        census->latest = examine_since(census, census->latest, latest, true);
    if (due) {
        recount(census);
        plan_again(census);
        census->recount = now + RECOUNT;
    }
    if (census->again != census->until)
        census->again = examine_since(census, census->again, census->until, false);
    for (uint32_t i = 0; i < census->board->instances; i++)
        atomic_store(&census->board->rows[i].leaving, census->young > 0 && is_leaving(census, i));
    census->interval = next_interval(census, news);
    if (is_told(census, news, now < census->due))
        census->due = now + AT_REST < census->recount ? now + AT_REST : census->recount;
    else
        census->due = now + (census->budget == 0 ? SHORTLY : census->interval);
    return census->due;
}
