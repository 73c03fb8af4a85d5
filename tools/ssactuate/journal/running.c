/* SPDX-License-Identifier: Apache-2.0 */
#include "running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "platform/platform.h"

/* Sets the affinity of a member. Returns 0, even if it has exited, or a negative errno. */
static int set_affinity(const struct ssactuate_member *member, const struct ss_cpus *cpus) {
    struct ss_cpus found;
    /*
     * sched_setaffinity() identifies a thread by its ID alone. Check the start time just before:
     * IDs are not reused within microseconds.
     */
    if (ss_platform_thread_started(member->id) != member->started ||
        ss_platform_thread_affinity(member->id, &found) < 0 || ss_cpus_are_equal(&found, cpus))
        return 0;

    int status = ss_platform_thread_bind(member->id, cpus);
    if (status < 0)
        return status == -ESRCH ? 0 : status;

    if (ss_platform_thread_affinity(member->id, &found) < 0)
        return 0;
    return ss_cpus_are_equal(&found, cpus) ? 0 : -EINVAL;
}

bool ssactuate_running_has_affinity(
    const struct ssactuate_running *running, const struct ss_cpus *cpus) {
    for (size_t i = 0; i < running->affinity_count; i++) {
        if (ss_cpus_are_equal(&running->affinities[i], cpus))
            return true;
    }
    return false;
}

bool ssactuate_running_add_affinity(struct ssactuate_running *running, const struct ss_cpus *cpus) {
    if (!SS_GROW(running->affinities, running->affinity_count + 1, running->affinity_room))
        return false;
    running->affinities[running->affinity_count++] = *cpus;
    return true;
}

static const char *explain(int status) {
    return status == -EINVAL ? "the kernel does not allow these CPUs" : strerror(-status);
}

bool ssactuate_running_add(
    struct ssactuate_running *running, const struct ssactuate_member *member) {
    if (!SS_GROW(running->members, running->count + 1, running->room))
        return false;
    running->members[running->count++] = *member;
    return true;
}

/* A scan of all processes of a group. */
struct scan {
    struct ssactuate_running *running;
    size_t known, known_seen; /* members before the scan, and how many of them still exist */
    pid_t process, parent;    /* the process whose threads are visited, and its parent */
};

/* Returns the first known member of a process, or NULL. */
static const struct ssactuate_member *find_process(
    const struct ssactuate_running *running, pid_t process) {
    for (size_t i = 0; i < running->count; i++) {
        if (running->members[i].process == process)
            return &running->members[i];
    }
    return NULL;
}

static struct ss_cpus find_before(const struct scan *scan, const struct ss_cpus *now) {
    const struct ssactuate_running *running = scan->running;
    const struct ssactuate_member *origin = find_process(running, scan->process);

    if (running->count == 0 || !ssactuate_running_has_affinity(running, now))
        return *now;

    if (!origin)
        origin = find_process(running, scan->parent);
    return origin ? origin->before : running->members[0].before;
}

static void visit_thread(void *context, pid_t thread) {
    struct scan *scan = context;
    struct ssactuate_running *running = scan->running;
    struct ssactuate_member birth = {.process = scan->process, .id = thread, .seen = true};
    struct ss_cpus now;

    birth.started = ss_platform_thread_started(thread);
    for (size_t i = 0; i < scan->known; i++) {
        struct ssactuate_member *member = &running->members[i];
        if (member->id == thread && member->started == birth.started) {
            member->seen = true;
            scan->known_seen++;
            return;
        }
    }

    if (birth.started == 0 || ss_platform_thread_affinity(thread, &now) < 0)
        return;

    birth.before = find_before(scan, &now);
    if (!ssactuate_running_add(running, &birth))
        return; /* the next scan finds the thread again */
}

static void visit_process(void *context, pid_t pid) {
    struct scan *scan = context;
    struct ss_process process;
    struct ss_process_times times;
    pid_t group = scan->running->group;

    if (getpgid(pid) != group || !ss_platform_process_info(pid, &process) ||
        process.group != group || process.state == 'Z' || process.state == 'X')
        return;

    if (ss_platform_process_times(pid, &times))
        scan->running->used += times.used + times.waited;

    scan->process = pid;
    scan->parent = process.parent;
    ss_platform_process_threads(pid, visit_thread, scan);
}

bool ssactuate_running_scan(struct ssactuate_running *running) {
    struct scan scan = {.running = running, .known = running->count};
    size_t kept = 0;
    running->used = 0;

    for (size_t i = 0; i < running->count; i++)
        running->members[i].seen = false;

    if (!running->ended)
        ss_platform_process_each(visit_process, &scan);

    running->ended |= scan.known > 0 && scan.known_seen == 0;
    if (running->ended)
        running->count = running->used = 0;

    for (size_t i = 0; i < running->count; i++) {
        if (running->members[i].seen)
            running->members[kept++] = running->members[i];
    }

    running->count = kept;
    return kept > 0;
}

int ssactuate_running_confine(
    struct ssactuate_running *running, const struct ss_cpus *cpus, struct ss_error *error) {
    for (size_t i = 0; i < running->count; i++) {
        const struct ssactuate_member *member = &running->members[i];
        int status = set_affinity(member, cpus ? cpus : &member->before);
        if (status < 0)
            return ss_error_fail(error, "cannot set the affinity of thread %d of process %d: %s",
                (int)member->id, (int)member->process, explain(status));
    }
    return 0;
}

/* Restores the members that a scan finds. */
static int restore_found(
    struct ssactuate_running *running, size_t *foreign_count, struct ss_error *error) {
    int result = 0;
    *foreign_count = 0;
    if (!ssactuate_running_scan(running))
        return 0;

    for (size_t i = 0; i < running->count; i++) {
        const struct ssactuate_member *member = &running->members[i];
        struct ss_cpus now;
        if (ss_platform_thread_affinity(member->id, &now) == 0 &&
            !ss_cpus_are_equal(&now, &member->before) &&
            !ssactuate_running_has_affinity(running, &now)) {
            ++*foreign_count;
            continue;
        }

        int status = set_affinity(member, &member->before);
        if (status < 0)
            result =
                ss_error_fail(error, "cannot restore the affinity of thread %d of process %d: %s",
                    (int)member->id, (int)member->process, explain(status));
    }
    return result;
}

int ssactuate_running_restore(
    struct ssactuate_running *running, size_t *foreign_count, struct ss_error *error) {
    struct ss_error ignored = {0};
    /*
     * Twice: a thread that was not yet restored may have started others during the first pass, and
     * an affinity may differ after it was set.
     */
    restore_found(running, foreign_count, &ignored);
    return restore_found(running, foreign_count, error);
}

void ssactuate_running_free(struct ssactuate_running *running) {
    free(running->members);
    free(running->affinities);
    *running = (struct ssactuate_running){0};
}
