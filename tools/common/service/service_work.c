/* SPDX-License-Identifier: Apache-2.0 */
#include "service_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "proc_tree.h"
#include "service_group.h"

/* Report other processes that used more than this fraction of the CPU time of the service. */
#define OTHERS_MIN 0.5

/* Seconds of CPU time that a process may use by chance. */
#define CHANCE_SECONDS 0.02

#define NAMED_MAX 3

/* Report a process that did more than this many times the mean work of those with its name. */
#define UNEVEN_RATIO 2

static struct service_worker *find(struct service_work *work, pid_t pid) {
    for (size_t i = 0; i < work->count; i++) {
        if (work->items[i].pid == pid)
            return &work->items[i];
    }

    if (!SS_GROW(work->items, work->count + 1, work->room))
        return NULL;
    struct service_worker *added = &work->items[work->count++];
    *added = (struct service_worker){pid, {SS_TIME_NEVER, SS_TIME_NEVER, SS_TIME_NEVER}};
    return added;
}

static void record_cpu_time(void *context, pid_t pid) {
    struct service_work *work = context;
    struct service_worker *worker = find(work, pid);
    if (worker)
        worker->used[work->sample_count] = ss_platform_process_cpu_time(pid);
}

void service_work_sample(struct service_work *work, ss_time now) {
    if (work->sample_count == 3)
        return;
    work->sample_times[work->sample_count] = now;
    ss_platform_process_each(record_cpu_time, work);
    work->sample_count++;
}

/*
 * Returns the CPU seconds that a process used for requests, beyond what it uses without them; 0 if
 * it was as busy before or was started later, because it then has other work.
 */
static double find_growth(const struct service_work *work, const struct service_worker *worker) {
    const ss_time *used = worker->used, *at = work->sample_times;
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

struct growth {
    pid_t pid;
    double seconds;
};

static int compare(const void *one, const void *other) {
    const struct growth *a = one, *b = other;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

bool service_work_describe_others(const struct service_work *work, const struct service *service,
    double used, char *text, size_t size) {
    SS_OWNED(free) struct growth *growth = calloc(work->count + 1, sizeof *growth);
    size_t count = 0, length = 0;
    double sum = 0;
    text[0] = '\0';

    for (size_t i = 0; growth && i < work->count; i++) {
        const struct service_worker *worker = &work->items[i];
        double seconds = find_growth(work, worker);
        if (seconds < CHANCE_SECONDS || worker->pid == getpid() || is_in(service, worker->pid))
            continue;
        growth[count++] = (struct growth){worker->pid, seconds};
        sum += seconds;
    }
    if (sum <= OTHERS_MIN * used)
        return false;

    qsort(growth, count, sizeof *growth, compare);
    for (size_t i = 0; i < count && i < NAMED_MAX && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s (%d)", i ? ", " : "",
            proc_tree_name(NULL, growth[i].pid).text, (int)growth[i].pid);
    return true;
}

/* Returns the CPU seconds that a process used between the first two samples. */
static double find_work(const struct service_worker *worker) {
    if (worker->used[0] == SS_TIME_NEVER || worker->used[1] == SS_TIME_NEVER)
        return 0;
    return ss_time_seconds(ss_time_since(worker->used[1], worker->used[0]));
}

bool service_work_describe_uneven(
    const struct service_work *work, const struct service *service, char *text, size_t size) {
    const struct service_worker *busiest = NULL;
    for (size_t i = 0; i < work->count; i++) {
        const struct service_worker *worker = &work->items[i];
        if (find_work(worker) > (busiest ? find_work(busiest) : CHANCE_SECONDS) &&
            is_in(service, worker->pid))
            busiest = worker;
    }
    if (!busiest)
        return false;

    const struct proc_tree_name name = proc_tree_name(NULL, busiest->pid);
    double sum = 0, most = find_work(busiest);
    unsigned count = 0;
    for (size_t i = 0; i < work->count; i++) {
        const struct service_worker *worker = &work->items[i];
        if (worker->used[1] == SS_TIME_NEVER || !is_in(service, worker->pid) ||
            strcmp(proc_tree_name(NULL, worker->pid).text, name.text) != 0)
            continue;
        sum += find_work(worker);
        count++;
    }

    snprintf(text, size, "%s (%d) did %.0f %% of the work of %u processes", name.text,
        (int)busiest->pid, 100 * most / sum, count);
    return most > UNEVEN_RATIO * sum / count;
}

void service_work_free(struct service_work *work) {
    free(work->items);
    *work = (struct service_work){0};
}
