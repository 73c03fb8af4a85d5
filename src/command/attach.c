/* SPDX-License-Identifier: Apache-2.0 */
#include "command/attach.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "loop/board.h"
#include "platform/platform.h"

/* Maximum depth to which ancestors and descendants are followed. */
#define DEPTH_MAX 256

/* Maximum number of processes that an error lists for one name. */
#define LISTED_MAX 8

/* Returns whether `pid` is `ancestor` or one of its descendants. */
static bool is_below(pid_t pid, pid_t ancestor) {
    struct ss_process process;
    for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
        if (pid == ancestor)
            return true;
        if (!ss_platform_process_info(pid, &process))
            return false;
        pid = process.parent;
    }
    return pid == ancestor;
}

static bool share_a_tree(pid_t left, pid_t right) {
    return is_below(left, right) || is_below(right, left);
}

struct clash {
    const struct ss_attachments *attachments;
    pid_t pid;    /* the first process that another run already controls */
    pid_t master; /* master of that run; 0 if no process is controlled */
};

/* Returns whether the process shares a tree or a group with a branch of any instance. */
static bool is_in_branch(struct ss_board *board, pid_t pid) {
    for (uint32_t slot = 0; slot < SS_BOARD_BRANCHES_MAX; slot++) {
        struct ss_branch *branch = &ss_board_branches(board)[slot];
        if (atomic_load(&branch->owner) == 0)
            continue;

        pid_t other = atomic_load(&branch->pid);
        if (ss_platform_process_started(other) == atomic_load(&branch->started) &&
            share_a_tree(pid, other))
            return true;
        if (atomic_load(&branch->group) && getpgid(pid) == other)
            return true;
    }
    return false;
}

static bool has_instance(struct ss_board *board, pid_t pid) {
    for (uint32_t i = 0; i < board->instances; i++) {
        pid_t leader = atomic_load(&board->rows[i].leader);
        uint64_t started = atomic_load(&board->rows[i].leader_started);
        if (leader > 1 && ss_platform_process_started(leader) == started &&
            share_a_tree(pid, leader))
            return true;
    }
    return is_in_branch(board, pid);
}

/*
 * Returns whether the process shares a tree with the master or with a process that the run
 * controls. Another user may have forged the board, so it is trusted for that user's processes
 * only. For all others, checks only whether the master is a descendant.
 */
static bool is_part_of(struct ss_board *board, uid_t owner, pid_t master, pid_t pid) {
    uid_t user;
    if (owner != geteuid() && (!ss_platform_process_user(pid, &user) || user != owner))
        return is_below(master, pid);
    return share_a_tree(pid, master) || has_instance(board, pid);
}

static void compare_with_run(void *context, pid_t master) {
    struct clash *clash = context;
    struct ss_error ignored = {0};
    uid_t owner;

    struct ss_board *board = ss_board_attach(master, &owner, &ignored);
    if (!board)
        return;

    for (uint32_t i = 0; !clash->master && i < clash->attachments->count; i++) {
        clash->pid = clash->attachments->items[i].pid;
        if (is_part_of(board, owner, master, clash->pid))
            clash->master = master;
    }

    ss_board_close(board);
}

/* Finding the boards reads all open files of all processes: compare all attachments in one pass. */
static int refuse_other_runs(const struct ss_attachments *attachments, struct ss_error *error) {
    struct clash clash = {.attachments = attachments};
    ss_platform_process_each(compare_with_run, &clash);
    if (clash.master)
        return ss_error_fail(error,
            "process %d belongs to the run of showstopper %d, or is an ancestor of it: wait until "
            "that run ends",
            (int)clash.pid, (int)clash.master);
    return 0;
}

/* Ancestors or descendants of the process that rule out attaching it; pids are 0 if absent. */
struct tree {
    const struct ss_attachments *attachments;
    int depth;
    pid_t claimed; /* claimed by another showstopper, which may not have a board yet */
    pid_t stopped; /* stopped by someone else */
};

/* Ignores our own claims: a process of an attached group may have an ancestor in that group. */
static bool is_claimed(const struct ss_attachments *attachments, pid_t pid) {
    for (uint32_t i = 0; i < attachments->count; i++) {
        if (attachments->items[i].pid == pid)
            return false;
    }
    return ss_platform_process_is_claimed(pid);
}

static void inspect(void *context, pid_t pid) {
    struct tree *tree = context;
    struct ss_process process;
    if (tree->depth == DEPTH_MAX || !ss_platform_process_info(pid, &process))
        return;
    if (!tree->stopped && process.state == 'T')
        tree->stopped = pid;
    if (!tree->claimed && is_claimed(tree->attachments, pid))
        tree->claimed = pid;
    tree->depth++;
    ss_platform_process_children(pid, inspect, tree);
    tree->depth--;
}

static void inspect_ancestors(struct tree *tree, pid_t pid) {
    struct ss_process process;
    for (int depth = 0; depth < DEPTH_MAX && ss_platform_process_info(pid, &process); depth++) {
        pid = process.parent;
        if (pid <= 1)
            return;
        if (is_claimed(tree->attachments, pid))
            tree->claimed = pid;
    }
}

static int check_tree(const struct ss_attachments *attachments, const struct ss_attachment *item,
    struct ss_error *error) {
    pid_t pid = item->pid;
    struct tree tree = {
        .attachments = attachments,
        .claimed = item->claim == -EBUSY ? pid : 0,
    };
    if (!tree.claimed) {
        inspect_ancestors(&tree, pid);
        ss_platform_process_children(pid, inspect, &tree);
    }
    if (tree.claimed)
        return ss_error_fail(error,
            "another showstopper has attached process %d: wait until that run ends",
            (int)tree.claimed);
    /* Accept stopped processes: a showstopper in a container that was killed may have left them. */
    if (attachments->group)
        return 0;

    struct ss_process process;
    if (ss_platform_process_info(pid, &process) && process.state == 'T')
        tree.stopped = pid;
    /* A user or job control has stopped it on purpose. */
    if (tree.stopped)
        return ss_error_fail(error,
            "process %d is stopped, and the run would continue it: continue it yourself first, "
            "with `kill -CONT %d`, or with `bg` in its shell",
            (int)tree.stopped, (int)tree.stopped);
    return 0;
}

/*
 * Call this after all processes are claimed: of two runs that attach processes of one tree at the
 * same moment, at least one then notices the other. A claim lasts until the last process of the run
 * ends. On a system without claims, all `claim` are negative, and only runs that already have a
 * board are noticed.
 */
static int check_trees(const struct ss_attachments *attachments, struct ss_error *error) {
    if (refuse_other_runs(attachments, error) < 0)
        return -1;
    for (uint32_t i = 0; i < attachments->count; i++) {
        if (check_tree(attachments, &attachments->items[i], error) < 0)
            return -1;
    }
    return 0;
}

static int check_attachable(pid_t pid, struct ss_process *process, struct ss_error *error) {
    if (pid == 1)
        return ss_error_fail(error, "process 1 cannot be stopped: the system depends on it");
    if (!ss_platform_process_info(pid, process))
        return ss_error_fail(error, "no process has pid %d: check with `ps`", (int)pid);
    if (process->state == 'Z' || process->state == 'X')
        return ss_error_fail(error, "process %d has already ended", (int)pid);
    if (process->kernel)
        return ss_error_fail(error,
            "process %d is a kernel thread, which cannot be stopped: name a program", (int)pid);
    if (is_below(getpid(), pid))
        return ss_error_fail(error,
            "process %d is %s, so showstopper would stop itself: name another process", (int)pid,
            pid == getpid() ? "showstopper" : "an ancestor of showstopper");
    if (!ss_platform_process_may_signal(pid))
        return ss_error_fail(error,
            "process %d belongs to another user: run showstopper as that user or as root",
            (int)pid);

    return 0;
}

static int claim_process(
    struct ss_attachments *attachments, pid_t pid, uint64_t started, struct ss_error *error) {
    if (!SS_GROW(attachments->items, attachments->count + 1, attachments->room))
        return ss_error_memory(error);
    int claim = ss_platform_process_claim(pid);
    attachments->items[attachments->count++] =
        (struct ss_attachment){.pid = pid, .started = started, .claim = claim};
    /* Fail now: any further claim might make the other run fail, too. */
    return claim == -EBUSY ? check_trees(attachments, error) : 0;
}

static int add_process(struct ss_attachments *attachments, pid_t pid, struct ss_error *error) {
    struct ss_process process;

    if (check_attachable(pid, &process, error) < 0)
        return -1;

    for (uint32_t i = 0; i < attachments->count; i++) {
        pid_t other = attachments->items[i].pid;
        if (share_a_tree(pid, other))
            return ss_error_fail(error,
                pid == other
                    ? "process %d is given twice: give it once"
                    : "process %d and process %d belong to one tree: give only the ancestor",
                (int)pid, (int)other);
    }

    return claim_process(attachments, pid, process.started, error);
}

/* Parses the next pid of a list. Returns 1, 0 at the end, or -1 with an error. */
static int next_pid(const char **rest, pid_t *pid, struct ss_error *error) {
    struct ss_words_part part;
    char word[32];
    uint64_t number = 0;
    struct ss_error ignored = {0};

    if (!ss_words_next(rest, ',', &part))
        return 0;

    snprintf(word, sizeof word, "%.*s", (int)(part.length < 31 ? part.length : 31), part.text);
    if (part.length > 20 || ss_units_count(word, &number, &ignored) < 0 || number < 1 ||
        number > INT32_MAX)
        return ss_error_fail(
            error, "'%s' is not a pid: use PID or PID,PID,...", ss_words_show(word).text);

    *pid = (pid_t)number;
    return 1;
}

static int add_list(struct ss_attachments *attachments, const char *pids, struct ss_error *error) {
    pid_t pid;
    int found;
    while ((found = next_pid(&pids, &pid, error)) > 0) {
        if (add_process(attachments, pid, error) < 0)
            return -1;
    }
    return found;
}

static int add_beside(struct ss_beside *beside, pid_t pid, struct ss_error *error) {
    struct ss_process process;
    if (!ss_platform_process_info(pid, &process) || process.state == 'Z')
        return ss_error_fail(
            error, "no process has pid %d: start that process before the run", (int)pid);
    if (beside->count == SS_BESIDE_MAX)
        return ss_error_fail(error, "too many processes (at most %d)", SS_BESIDE_MAX);
    beside->items[beside->count].pid = pid;
    beside->items[beside->count++].started = process.started;
    return 0;
}

int ss_attach_find_beside(struct ss_beside *beside, const char *pids, struct ss_error *error) {
    pid_t pid;
    int found = 0;
    while (pids && (found = next_pid(&pids, &pid, error)) > 0) {
        if (add_beside(beside, pid, error) < 0)
            return ss_error_wrap(error, "--beside");
    }
    return found < 0 ? ss_error_wrap(error, "--beside") : 0;
}

struct search {
    const char *name; /* NULL when listing a control group */
    pid_t *found;
    uint32_t count, room;
    bool incomplete; /* out of memory */
};

static void collect(void *context, pid_t pid) {
    struct search *search = context;
    search->incomplete |= !SS_GROW(search->found, search->count + 1, search->room);
    if (!search->incomplete)
        search->found[search->count++] = pid;
}

static void collect_named(void *context, pid_t pid) {
    const struct search *search = context;
    struct ss_process process;
    struct ss_error ignored = {0};
    char name[SS_PROCESS_NAME_SIZE];
    if (ss_platform_process_name(pid, name) && strcmp(name, search->name) == 0 &&
        check_attachable(pid, &process, &ignored) == 0)
        collect(context, pid);
}

/* Drops each process that has an ancestor of the same name: it belongs to the ancestor's tree. */
static void drop_descendants(struct search *search) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        bool below = false;
        for (uint32_t j = 0; j < search->count; j++)
            below |= i != j && is_below(search->found[i], search->found[j]);
        if (!below)
            search->found[kept++] = search->found[i];
    }
    search->count = kept;
}

static int refuse_ambiguous(const struct search *search, struct ss_error *error) {
    char list[16 * LISTED_MAX] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < search->count && i < LISTED_MAX; i++)
        used += (size_t)snprintf(
            list + used, sizeof list - used, "%s%d", i ? "," : "", (int)search->found[i]);
    return ss_error_fail(error, "%u processes are named '%s': choose with --attach %s%s",
        search->count, ss_words_show(search->name).text, list,
        search->count > LISTED_MAX ? ",..." : "");
}

static int add_named(struct ss_attachments *attachments, const char *name, struct ss_error *error) {
    struct search search = {.name = name};
    struct ss_words_shown shown = ss_words_show(name);

    /* The kernel truncates names: another program may have the same first characters. */
    if (strlen(name) >= SS_PROCESS_NAME_SIZE)
        return ss_error_fail(error,
            "the name '%s' is too long: the kernel truncates names to %d characters; give the "
            "truncated name, or --attach PID",
            shown.text, SS_PROCESS_NAME_SIZE - 1);

    ss_platform_process_each(collect_named, &search);
    SS_OWNED(free) pid_t *found = search.found;
    if (search.incomplete)
        return ss_error_memory(error);

    drop_descendants(&search);
    if (search.count == 0)
        return ss_error_fail(
            error, "no process that can be attached is named '%s': check with `ps`", shown.text);
    if (search.count > 1)
        return refuse_ambiguous(&search, error);
    return add_process(attachments, found[0], error);
}

int ss_attach_resolve(struct ss_attachments *attachments, const char *pids, const char *name,
    struct ss_error *error) {
    if (pids && (add_list(attachments, pids, error) < 0 || check_trees(attachments, error) < 0))
        return ss_error_wrap(error, "--attach");
    if (name && (add_named(attachments, name, error) < 0 || check_trees(attachments, error) < 0))
        return ss_error_wrap(error, "--attach-name");
    return 0;
}

/*
 * Checks a process of a control group. Claims it unless its parent is in the group, too: a claim
 * covers descendants. Skips processes that have ended.
 */
static int add_member(struct ss_attachments *attachments, const struct search *search, pid_t pid,
    struct ss_error *error) {
    struct ss_process process;
    struct ss_error why = {0};
    if (pid == 0)
        return ss_error_fail(error,
            "%s has processes outside of this PID namespace: run showstopper outside of "
            "containers, in Kubernetes with hostPID",
            attachments->group);
    if (is_below(getpid(), pid))
        return ss_error_fail(error,
            "%s contains %s (process %d), so showstopper would stop itself: name another group, or "
            "start showstopper in another one",
            attachments->group, pid == getpid() ? "showstopper" : "an ancestor of showstopper",
            (int)pid);
    bool is_attachable = check_attachable(pid, &process, &why) == 0;
    if (!is_attachable && (!ss_platform_process_info(pid, &process) || process.state == 'Z'))
        return 0;
    if (!is_attachable) {
        *error = why;
        return -1;
    }

    for (uint32_t i = 0; i < search->count; i++) {
        if (search->found[i] == process.parent)
            return 0;
    }
    return claim_process(attachments, pid, process.started, error);
}

static int add_group(struct ss_attachments *attachments, const char *path, struct ss_error *error) {
    char folder[PATH_MAX];
    struct search search = {0};

    if (ss_platform_group_find(NULL, path, folder, error) < 0)
        return -1;

    attachments->group = strdup(folder);
    if (!attachments->group)
        return ss_error_memory(error);

    int why = ss_platform_group_each(folder, collect, &search);
    SS_OWNED(free) pid_t *found = search.found;
    if (search.incomplete)
        return ss_error_memory(error);
    if (why)
        return ss_error_fail(error, "cannot list the processes of %s: %s", folder, strerror(-why));

    for (uint32_t i = 0; i < search.count; i++) {
        if (add_member(attachments, &search, found[i], error) < 0)
            return -1;
    }

    if (attachments->count == 0)
        return ss_error_fail(error, "%s has no processes: start a program in it first", folder);

    return check_trees(attachments, error);
}

int ss_attach_resolve_group(
    struct ss_attachments *attachments, const char *path, struct ss_error *error) {
    return add_group(attachments, path, error) < 0 ? ss_error_wrap(error, "--attach-group") : 0;
}

void ss_attach_free(struct ss_attachments *attachments) {
    for (uint32_t i = 0; i < attachments->count; i++) {
        if (attachments->items[i].claim >= 0)
            close(attachments->items[i].claim);
    }
    free(attachments->items);
    free(attachments->group);
    *attachments = (struct ss_attachments){0};
}
