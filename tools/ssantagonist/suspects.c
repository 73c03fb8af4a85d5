/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "quote.h"

/* Prefixes of the names of processes that the machine or its users depend on. */
static const char *const services[] = {"systemd", "(sd-pam)", "init", "sshd", "dbus", "udevd",
    "NetworkManager", "polkitd", "agetty", "login", "wpa_supplicant", "dhclient", "dhcpcd",
    "rsyslogd", "containerd", "dockerd", "runc", "conmon", "kubelet", "crio", NULL};

/* Programs that measure a victim: throttling them changes the figures, but not the victim. */
static const char *const measuring_programs[] = {"ssantagonist", "ssrequest", NULL};

static int append(struct suspects *suspects, const struct suspect *one, struct ss_error *error) {
    if (!SS_GROW(suspects->items, suspects->count + 1, suspects->room))
        return ss_error_memory(error);
    suspects->items[suspects->count++] = *one;
    return 0;
}

static int add(struct suspects *suspects, pid_t pid, struct ss_error *error) {
    struct suspect one = {.pid = pid, .started = ss_platform_process_started(pid)};
    if (one.started == 0 || !ss_platform_process_name(pid, one.name))
        return ss_error_fail(error, "process %d does not exist", (int)pid);
    return append(suspects, &one, error);
}

static int parse_pid(const char *text, pid_t *pid, struct ss_error *error) {
    uint64_t number;
    if (ss_units_count(text, &number, error) < 0)
        return -1;
    if (number < 1 || number > INT32_MAX)
        return ss_error_fail(error, "invalid pid %s", text);
    *pid = (pid_t)number;
    return 0;
}

int suspects_add(struct suspects *suspects, const char *pids, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **items = ss_words_split_list(pids, &count, error);
    if (!items)
        return -1;
    for (size_t i = 0; i < count; i++) {
        pid_t pid = 0;
        if (parse_pid(items[i], &pid, error) < 0 || add(suspects, pid, error) < 0)
            return -1;
    }
    return 0;
}

int suspects_add_known(
    struct suspects *suspects, const char *pids, const char *names, struct ss_error *error) {
    size_t count, named;
    SS_OWNED(free) char **items = ss_words_split_list(pids, &count, error);
    SS_OWNED(free) char **known = items ? ss_words_split_list(names, &named, error) : NULL;
    if (!known)
        return -1;
    if (count != named)
        return ss_error_fail(error, "--names: use one name for each suspect");

    for (size_t i = 0; i < count; i++) {
        struct suspect one = {0};
        int pid;
        if (sscanf(items[i], "%d@%" SCNu64, &pid, &one.started) != 2)
            return ss_error_fail(
                error, "--suspects: with --names use PID@STARTED,..., not %s", items[i]);
        one.pid = pid;
        snprintf(one.name, sizeof one.name, "%s", known[i]);
        if (append(suspects, &one, error) < 0)
            return -1;
    }
    return 0;
}

void suspects_print(const struct suspects *suspects, FILE *stream) {
    fputs("pid,started,name\n", stream);
    for (size_t i = 0; i < suspects->count; i++) {
        const struct suspect *one = &suspects->items[i];
        fprintf(stream, "%d,%" PRIu64 ",", (int)one->pid, one->started);
        quote_csv(stream, one->name);
        fputc('\n', stream);
    }
}

void suspects_free(struct suspects *suspects) {
    free(suspects->items);
    *suspects = (struct suspects){0};
}

static pid_t parent_of(pid_t pid) {
    struct ss_process process;
    return ss_platform_process_info(pid, &process) ? process.parent : 0;
}

struct pid_list {
    pid_t *items;
    size_t count, room;
    bool incomplete; /* memory ran out */
};

static void collect(void *context, pid_t pid) {
    struct pid_list *pids = context;
    if (SS_GROW(pids->items, pids->count + 1, pids->room))
        pids->items[pids->count++] = pid;
    else
        pids->incomplete = true;
}

/* Returns whether an ancestor of the process is in the list. */
static bool is_below(const struct pid_list *pids, pid_t pid) {
    while ((pid = parent_of(pid)) > 0) {
        for (size_t i = 0; i < pids->count; i++) {
            if (pids->items[i] == pid)
                return true;
        }
    }
    return false;
}

static int add_topmost(
    struct suspects *suspects, const struct pid_list *pids, struct ss_error *error) {
    for (size_t i = 0; i < pids->count; i++) {
        pid_t pid = pids->items[i];
        if (parent_of(pid) > 0 && !is_below(pids, pid) && add(suspects, pid, error) < 0)
            return -1;
    }
    return 0;
}

int suspects_add_group(struct suspects *suspects, const char *group, struct ss_error *error) {
    char path[4096];
    struct pid_list pids = {0};
    size_t first = suspects->count;

    const char *root = strncmp(group, "/sys/fs/cgroup", 14) == 0 ? "" : "/sys/fs/cgroup/";
    snprintf(path, sizeof path, "%s%s", root, group);

    int why = ss_platform_group_each(path, collect, &pids);
    int status = 0;
    if (pids.incomplete)
        status = ss_error_memory(error);
    else if (why)
        status = ss_error_fail(error, "cannot read %s/cgroup.procs: %s", path, strerror(-why));
    else
        status = add_topmost(suspects, &pids, error);

    free(pids.items);
    if (status == 0 && suspects->count == first)
        return ss_error_fail(error, "%s has no processes", ss_words_show(path).text);
    return status;
}

static bool is_ancestor(pid_t ancestor, pid_t pid) {
    while (pid > 0 && pid != ancestor)
        pid = parent_of(pid);
    return pid > 0;
}

static void check_policy(void *context, pid_t thread) {
    int policy = sched_getscheduler(thread);
    bool *realtime = context;
    if (policy < 0)
        return;

    policy &= ~SCHED_RESET_ON_FORK;
    if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
        *realtime = true;
}

/* A process that must not be stopped, among the suspect and its descendants. */
struct protected_process {
    pid_t pid;
    char name[SS_PROCESS_NAME_SIZE];
    const char *reason; /* NULL if none was found yet */
};

/* Also matches longer names: systemd-journald, dbus-daemon, "sshd: user". */
static bool is_service(pid_t pid, const char *process) {
    for (const char *const *name = services; *name; name++) {
        size_t length = strlen(*name);
        if (strncmp(process, *name, length) == 0 &&
            (!process[length] || strchr("-:@", process[length])))
            return true;
    }
    return pid == 1;
}

static bool is_measuring_program(const char *process) {
    for (const char *const *name = measuring_programs; *name; name++) {
        if (strcmp(process, *name) == 0)
            return true;
    }
    return false;
}

/* Descendants are stopped with a suspect, so the same rules apply to them. */
static void find_protected(void *context, pid_t pid) {
    struct protected_process *found = context;
    bool realtime = false;
    if (found->reason || !ss_platform_process_name(pid, found->name))
        return;

    found->pid = pid;
    ss_platform_process_threads(pid, check_policy, &realtime);
    if (is_service(pid, found->name))
        found->reason = "is a system service";
    else if (is_measuring_program(found->name))
        found->reason = "measures a service";
    else if (realtime)
        found->reason = "has real-time priority";
    else
        ss_platform_process_children(pid, find_protected, found);
}

/* Returns why a suspect is related to the victim or to this process; NULL if it is not. */
static const char *find_relation(const struct suspect *suspect, const struct suspects *victims) {
    if (is_ancestor(suspect->pid, getpid()))
        return "is ssantagonist itself, or one of its ancestors";

    for (size_t i = 0; i < victims->count; i++) {
        pid_t victim = victims->items[i].pid;
        if (victim == suspect->pid)
            return "is a process of the victim";
        if (is_ancestor(suspect->pid, victim))
            return "is an ancestor of the victim";
        if (is_ancestor(victim, suspect->pid))
            return "is a descendant of the victim";
    }
    return NULL;
}

static int check_suspect(
    const struct suspect *suspect, const struct suspects *victims, struct ss_error *error) {
    struct ss_process process;
    struct protected_process found = {.pid = suspect->pid};

    if (!ss_platform_process_info(suspect->pid, &process) || process.kernel)
        found.reason = "is a kernel thread, or has exited";
    else if (ss_platform_process_started(suspect->pid) != suspect->started)
        found.reason = "has exited, and another process has its pid";
    else
        found.reason = find_relation(suspect, victims);

    if (!found.reason)
        find_protected(&found, suspect->pid);
    if (!found.reason)
        return 0;

    if (found.pid == suspect->pid)
        return ss_error_fail(error, "process %d (%s) must not be throttled: it %s",
            (int)suspect->pid, suspect->name, found.reason);
    return ss_error_fail(error, "process %d (%s) must not be throttled: its descendant %d (%s) %s",
        (int)suspect->pid, suspect->name, (int)found.pid, found.name, found.reason);
}

int suspects_check(
    const struct suspects *suspects, const struct suspects *victims, struct ss_error *error) {
    for (size_t i = 0; i < suspects->count; i++) {
        const struct suspect *one = &suspects->items[i];
        if (check_suspect(one, victims, error) < 0)
            return -1;

        for (size_t j = 0; j < suspects->count; j++) {
            pid_t other = suspects->items[j].pid;
            if (i == j || !is_ancestor(one->pid, other))
                continue;
            if (other == one->pid)
                return ss_error_fail(
                    error, "process %d (%s) is given twice", (int)one->pid, one->name);
            return ss_error_fail(error,
                "process %d (%s) is an ancestor of suspect %d, and would be throttled with it: "
                "name only one of them",
                (int)one->pid, one->name, (int)other);
        }
    }
    return 0;
}
