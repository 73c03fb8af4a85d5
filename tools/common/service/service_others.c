/* SPDX-License-Identifier: Apache-2.0 */
#include "service_others.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "proc_tree.h"
#include "service_group.h"

/* Others are reported if they used more than this part of the CPU time of the service. */
#define PART 0.5

/* Seconds of CPU time that a process may use by chance. */
#define CHANCE 0.02

#define NAMED_MAX 3

/* A process that did this many times as much as the mean of those with its name is named. */
#define UNEVEN 2

static struct service_other *find(struct service_others *others, pid_t pid) {
    for (size_t i = 0; i < others->count; i++) {
        if (others->items[i].pid == pid)
            return &others->items[i];
    }
    if (!SS_GROW(others->items, others->count + 1, others->room))
        return NULL;
    struct service_other *added = &others->items[others->count++];
    *added = (struct service_other){pid, {SS_TIME_NEVER, SS_TIME_NEVER, SS_TIME_NEVER}};
    return added;
}

static void note(void *context, pid_t pid) {
    struct service_others *others = context;
    struct service_other *other = find(others, pid);
    if (other)
        other->used[others->looks] = ss_platform_process_cpu_time(pid);
}

void service_others_look(struct service_others *others, ss_time now) {
    if (others->looks == 3)
        return;
    others->looked[others->looks] = now;
    ss_platform_process_each(note, others);
    others->looks++;
}

/*
 * Returns the seconds that a process used for requests, beyond what it uses without them. A process
 * that was busy before, or that has just begun, has other work.
 */
static double find_growth(const struct service_others *others, const struct service_other *other) {
    const ss_time *used = other->used, *at = others->looked;
    if (used[0] == SS_TIME_NEVER || used[1] == SS_TIME_NEVER || used[2] == SS_TIME_NEVER ||
        at[1] <= at[0])
        return 0;
    double before = ss_time_seconds(ss_time_since(used[1], used[0])) * (double)(at[2] - at[1]) /
                    (double)(at[1] - at[0]);
    double growth = ss_time_seconds(ss_time_since(used[2], used[1])) - before;
    return growth > before ? growth : 0;
}

static bool is_in(const struct service *service, pid_t pid) {
    struct service_group group;
    for (size_t i = 0; i < service->roots.count; i++) {
        if (proc_tree_is_below(NULL, pid, service->roots.items[i]))
            return true;
    }
    return *service->group && service_group_of(NULL, pid, &group) &&
           (strstr(group.folder, service->group) || strstr(service->group, group.path));
}

struct grown {
    pid_t pid;
    double by; /* seconds */
};

static int compare(const void *one, const void *other) {
    const struct grown *a = one, *b = other;
    return (a->by < b->by) - (a->by > b->by);
}

bool service_others_name(const struct service_others *others, const struct service *service,
    double used, char *text, size_t size) {
    SS_OWNED(free) struct grown *grown = calloc(others->count + 1, sizeof *grown);
    size_t count = 0, length = 0;
    double sum = 0;
    text[0] = '\0';
    for (size_t i = 0; grown && i < others->count; i++) {
        const struct service_other *other = &others->items[i];
        double by = find_growth(others, other);
        if (by < CHANCE || other->pid == getpid() || is_in(service, other->pid))
            continue;
        grown[count++] = (struct grown){other->pid, by};
        sum += by;
    }
    if (sum <= PART * used)
        return false;

    qsort(grown, count, sizeof *grown, compare);
    for (size_t i = 0; i < count && i < NAMED_MAX && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s (%d)", i ? ", " : "",
            proc_tree_name(NULL, grown[i].pid).text, (int)grown[i].pid);
    return true;
}

/* Returns the seconds that a process used between the first two looks. */
static double find_work(const struct service_other *other) {
    if (other->used[0] == SS_TIME_NEVER || other->used[1] == SS_TIME_NEVER)
        return 0;
    return ss_time_seconds(ss_time_since(other->used[1], other->used[0]));
}

bool service_others_uneven(
    const struct service_others *others, const struct service *service, char *text, size_t size) {
    const struct service_other *busiest = NULL;
    for (size_t i = 0; i < others->count; i++) {
        const struct service_other *other = &others->items[i];
        if (find_work(other) > (busiest ? find_work(busiest) : CHANCE) &&
            is_in(service, other->pid))
            busiest = other;
    }
    if (!busiest)
        return false;

    const struct proc_tree_name name = proc_tree_name(NULL, busiest->pid);
    double sum = 0, most = find_work(busiest);
    unsigned count = 0;
    for (size_t i = 0; i < others->count; i++) {
        const struct service_other *other = &others->items[i];
        if (other->used[1] == SS_TIME_NEVER || !is_in(service, other->pid) ||
            strcmp(proc_tree_name(NULL, other->pid).text, name.text) != 0)
            continue;
        sum += find_work(other);
        count++;
    }
    snprintf(text, size, "%s (%d) did %.0f %% of the work of %u processes", name.text,
        (int)busiest->pid, 100 * most / sum, count);
    return most > UNEVEN * sum / count;
}

void service_others_free(struct service_others *others) {
    free(others->items);
    *others = (struct service_others){0};
}
