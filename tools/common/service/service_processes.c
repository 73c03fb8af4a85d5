/* SPDX-License-Identifier: Apache-2.0 */
#include "service_processes.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "proc_tree.h"
#include "service_group.h"

/* The maximum number of processes that an error lists. */
#define LISTED_MAX 4

#define CHOOSE "choose with --of group:PATH or --of pid:PID"

/*
 * Programs that listen for other processes: those that start a service at its first connection, and
 * those that pass connections on. * matches the rest of a name.
 */
static const char *const proxies[] = {"systemd", "init", "inetd", "xinetd", "systemd-socket-*",
    "docker-proxy", "rootlessport*", "rootlesskit", "slirp4netns", "pasta*", "passt*", "ssh",
    "sshd*", "kubectl", NULL};

int service_selector_parse(
    struct service_selector *selector, const char *text, struct ss_error *error) {
    uint64_t pid = 0;
    *selector = (struct service_selector){.kind = SERVICE_OF_URL};
    if (!text)
        return 0;

    if (strcmp(text, "machine") == 0) {
        selector->kind = SERVICE_OF_MACHINE;
        return 0;
    }
    if (strncmp(text, "group:", 6) == 0 && text[6]) {
        selector->kind = SERVICE_OF_GROUP;
        selector->group = text + 6;
        return 0;
    }
    if (strncmp(text, "pid:", 4) == 0) {
        selector->kind = SERVICE_OF_PID;
        if (ss_units_count(text + 4, &pid, error) < 0)
            return ss_error_wrap(error, "pid");
        selector->pid = (pid_t)pid;
        if (pid >= 1 && pid <= INT32_MAX)
            return 0;
    }

    return ss_error_fail(error, "'%s' is not a service: use machine, group:PATH or pid:PID",
        ss_words_show(text).text);
}

static int add_pid(struct service_pids *pids, pid_t pid, struct ss_error *error) {
    if (!SS_GROW(pids->items, pids->count + 1, pids->room))
        return ss_error_memory(error);
    pids->items[pids->count++] = pid;
    return 0;
}

static bool has_pid(const struct service_pids *pids, pid_t pid) {
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->items[i] == pid)
            return true;
    }
    return false;
}

void service_free(struct service *service) {
    free(service->roots.items);
    *service = (struct service){0};
}

bool service_is_same(const struct service *one, const struct service *other) {
    if (strcmp(one->group, other->group) != 0 || one->roots.count != other->roots.count)
        return false;
    for (size_t i = 0; i < one->roots.count; i++) {
        if (!has_pid(&other->roots, one->roots.items[i]))
            return false;
    }
    return true;
}

/* ---- holders of sockets ---- */

struct search {
    const struct ss_platform_roots *roots;
    const struct service_listeners *listeners;
    bool *held; /* for each listener: a process was found */
    struct service_pids *found;
    bool hidden;     /* the files of a process may not be examined */
    bool incomplete; /* memory was exhausted */
};

/* Returns the index of the listener of a link such as socket:[1234]; -1 if absent. */
static ssize_t find_listener(const struct service_listeners *listeners, const char *link) {
    uint64_t inode;
    if (sscanf(link, "socket:[%" SCNu64 "]", &inode) != 1)
        return -1;
    for (size_t i = 0; i < listeners->count; i++) {
        if (listeners->items[i].inode && listeners->items[i].inode == inode)
            return (ssize_t)i;
    }
    return -1;
}

static void add_found(struct search *search, pid_t pid) {
    struct ss_error ignored = {0};
    if (!has_pid(search->found, pid))
        search->incomplete |= add_pid(search->found, pid, &ignored) < 0;
}

static bool is_proxy(const struct ss_platform_roots *roots, pid_t pid) {
    struct proc_tree_name name = proc_tree_name(roots, pid);
    for (const char *const *proxy = proxies; *proxy; proxy++) {
        size_t length = strcspn(*proxy, "*");
        bool is_prefix = (*proxy)[length];
        if (strncmp(name.text, *proxy, length) == 0 && (is_prefix || !name.text[length]))
            return true;
    }
    return false;
}

static void check_process(void *context, pid_t pid) {
    struct search *search = context;
    char path[PATH_MAX], number[32];

    snprintf(path, sizeof path, "%s/%d/fd", proc_tree_root(search->roots), (int)pid);
    SS_OWNED(closedir) DIR *folder = opendir(path);
    const struct dirent *entry;
    search->hidden |= !folder && (errno == EACCES || errno == EPERM);

    while (folder && (entry = readdir(folder))) {
        char link[64];
        snprintf(number, sizeof number, "fd/%.20s", entry->d_name);
        ssize_t listener = proc_tree_link(search->roots, pid, number, link, sizeof link)
                               ? find_listener(search->listeners, link)
                               : -1;
        if (listener < 0)
            continue;

        search->held[listener] = true;
        add_found(search, pid);
    }
}

/* Finds the processes that have these sockets. Sets `held` for each listener. */
static int find_holders(struct search *search, struct ss_error *error) {
    for (size_t i = 0; i < search->listeners->count; i++) {
        struct proc_tree_process process;
        pid_t pid = search->listeners->items[i].pid;
        /* The process may have exited and left the socket to its children. */
        search->held[i] = pid > 0 && proc_tree_read(search->roots, pid, &process);
        if (search->held[i])
            add_found(search, pid);
    }

    proc_tree_each(search->roots, check_process, search);
    return search->incomplete ? ss_error_memory(error) : 0;
}

int service_add_listening(struct service_pids *pids, const struct service_address *addresses,
    size_t count, const struct ss_platform_roots *roots, struct ss_error *error) {
    struct service_listeners listeners = {0};
    struct search search = {.roots = roots, .listeners = &listeners, .found = pids};

    int result = service_listeners_find(&listeners, addresses, count, roots, error);
    if (result == 0 && listeners.count > 0) {
        search.held = calloc(listeners.count, sizeof *search.held);
        result = search.held ? find_holders(&search, error) : ss_error_memory(error);
    }

    free(search.held);
    service_listeners_free(&listeners);
    return result;
}

/* ---- one service ---- */

/* The search for a service. */
struct finding {
    const struct ss_platform_roots *roots;
    const struct service_address *address; /* for messages */
    struct service *service;
};

static struct service_address_text shown(const struct finding *finding) {
    return service_address_show(finding->address);
}

static int refuse_proxy(const struct finding *finding, pid_t pid, struct ss_error *error) {
    return ss_error_fail(error,
        "%s: process %d (%s) listens on behalf of another process: name the service with --of "
        "group:PATH or "
        "--of pid:PID",
        shown(finding).text, (int)pid, proc_tree_name(finding->roots, pid).text);
}

/*
 * Removes the proxies: other processes answer the requests. Fails if no other process was found.
 */
static int remove_proxies(
    const struct finding *finding, struct service_pids *pids, struct ss_error *error) {
    size_t kept = 0;
    pid_t proxy = 0;

    for (size_t i = 0; i < pids->count; i++) {
        if (is_proxy(finding->roots, pids->items[i]))
            proxy = pids->items[i];
        else
            pids->items[kept++] = pids->items[i];
    }

    pids->count = kept;
    return kept > 0 ? 0 : refuse_proxy(finding, proxy, error);
}

static bool is_topmost(
    const struct ss_platform_roots *roots, const struct service_pids *pids, size_t index) {
    for (size_t i = 0; i < pids->count; i++) {
        if (i != index && proc_tree_is_below(roots, pids->items[index], pids->items[i]))
            return false;
    }
    return true;
}

static int keep_topmost(
    const struct finding *finding, const struct service_pids *pids, struct ss_error *error) {
    for (size_t i = 0; i < pids->count; i++) {
        if (is_topmost(finding->roots, pids, i) &&
            add_pid(&finding->service->roots, pids->items[i], error) < 0)
            return -1;
    }
    return 0;
}

static bool have_one_program(const struct ss_platform_roots *roots, pid_t one, pid_t other) {
    char first[PATH_MAX], second[PATH_MAX];
    return proc_tree_link(roots, one, "exe", first, sizeof first) &&
           proc_tree_link(roots, other, "exe", second, sizeof second) && strcmp(first, second) == 0;
}

/*
 * Returns a root's parent that is an ancestor of all roots; 0 if absent. Ignores our own ancestors:
 * a shell may have started both two services and this process.
 */
static pid_t find_shared_parent(
    const struct ss_platform_roots *roots, const struct service_pids *pids) {
    for (size_t i = 0; i < pids->count; i++) {
        struct proc_tree_process process;
        size_t below = 0;

        if (!proc_tree_read(roots, pids->items[i], &process) || process.parent <= 1 ||
            proc_tree_is_below(roots, getpid(), process.parent))
            continue;

        for (size_t j = 0; j < pids->count; j++)
            below += proc_tree_is_below(roots, pids->items[j], process.parent);
        if (below == pids->count)
            return process.parent;
    }

    return 0;
}

static bool are_in_group(const struct ss_platform_roots *roots, const struct service_group *group,
    const struct service_pids *pids) {
    for (size_t i = 0; i < pids->count; i++) {
        if (!service_group_has(roots, group, pids->items[i]))
            return false;
    }
    return !service_group_has_us(roots, group);
}

/* Returns whether the group of one of them contains all of them, but neither us nor an ancestor. */
static bool share_a_group(const struct ss_platform_roots *roots, const struct service_pids *pids) {
    for (size_t i = 0; i < pids->count; i++) {
        struct service_group group;
        if (service_group_of(roots, pids->items[i], &group) && are_in_group(roots, &group, pids))
            return true;
    }
    return false;
}

static int refuse_several(const struct finding *finding, struct ss_error *error) {
    const struct service_pids *pids = &finding->service->roots;
    char list[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < pids->count && i < LISTED_MAX; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d (%s)", i ? ", " : "",
            (int)pids->items[i], proc_tree_name(finding->roots, pids->items[i]).text);

    return ss_error_fail(error, "%s: %zu services listen: processes %s%s: " CHOOSE,
        shown(finding).text, pids->count, list, pids->count > LISTED_MAX ? ", ..." : "");
}

/* Fails unless the roots are one service. */
static int unite_roots(const struct finding *finding, struct ss_error *error) {
    struct service_pids *pids = &finding->service->roots;
    if (pids->count == 1)
        return 0;

    pid_t parent = find_shared_parent(finding->roots, pids);
    if (!parent && !share_a_group(finding->roots, pids))
        return refuse_several(finding, error);

    /*
     * Workers may be replaced, so use their parent. A parent with another program may supervise
     * several services, and does not belong to this one.
     */
    if (parent && have_one_program(finding->roots, parent, pids->items[0])) {
        pids->items[0] = parent;
        pids->count = 1;
    }
    return 0;
}

static void name_first(const struct finding *finding) {
    struct proc_tree_name name = proc_tree_name(finding->roots, finding->service->roots.items[0]);
    memcpy(finding->service->first, name.text, sizeof name.text);
}

/*
 * Uses the group in which the socket was created. The kernel reports it even if this user must not
 * read the files of the socket's process.
 */
static int use_group(const struct finding *finding, const struct service_listener *listener,
    struct ss_error *error) {
    struct service_group group;
    uint64_t number = service_listener_group(listener);

    if (number == 0 || !service_group_by_number(finding->roots, number, &group) ||
        service_group_has_us(finding->roots, &group))
        return ss_error_fail(error,
            "%s: cannot examine the process of user %u that listens: run this as root, or name the "
            "service with --of group:PATH or --of pid:PID",
            shown(finding).text, (unsigned)listener->user);

    if (*finding->service->group && strcmp(finding->service->group, group.folder) != 0)
        return ss_error_fail(error, "%s: control groups %s and %s both listen: " CHOOSE,
            shown(finding).text, finding->service->group, group.folder);
    memcpy(finding->service->group, group.folder, sizeof group.folder);
    return 0;
}

static int refuse_hidden(const struct finding *finding, const struct service_listener *listener,
    struct ss_error *error) {
    return ss_error_fail(error,
        "%s: cannot find the process of user %u that listens: name the service with --of "
        "group:PATH or --of pid:PID",
        shown(finding).text, (unsigned)listener->user);
}

/* Handles the listeners for which no process was found. */
static int take_unheld(
    const struct finding *finding, const struct search *search, struct ss_error *error) {
    for (size_t i = 0; i < search->listeners->count; i++) {
        const struct service_listener *listener = &search->listeners->items[i];
        if (search->held[i])
            continue;

        int result = search->hidden ? use_group(finding, listener, error)
                                    : refuse_hidden(finding, listener, error);
        if (result < 0)
            return -1;
    }
    return 0;
}

/*
 * Fails if a process was found outside of the group that use_group() has chosen. Otherwise drops
 * the processes: the group includes them.
 */
static int compare_with_group(const struct finding *finding, struct ss_error *error) {
    struct service_group group;
    struct service_pids *pids = &finding->service->roots;

    for (size_t i = 0; i < pids->count; i++) {
        if (!service_group_of(finding->roots, pids->items[i], &group) ||
            strcmp(group.folder, finding->service->group) != 0)
            return ss_error_fail(error,
                "%s: process %d (%s) and control group %s both listen: " CHOOSE,
                shown(finding).text, (int)pids->items[i],
                proc_tree_name(finding->roots, pids->items[i]).text, finding->service->group);
    }

    pids->count = 0;
    return 0;
}

static int take_holders(
    const struct finding *finding, const struct search *search, struct ss_error *error) {
    if (take_unheld(finding, search, error) < 0)
        return -1;
    if (search->found->count == 0)
        return 0;

    if (remove_proxies(finding, search->found, error) < 0 ||
        keep_topmost(finding, search->found, error) < 0)
        return -1;

    if (*finding->service->group)
        return compare_with_group(finding, error);
    if (unite_roots(finding, error) < 0)
        return -1;
    name_first(finding);
    return 0;
}

static int find_by_listeners(const struct finding *finding,
    const struct service_listeners *listeners, struct ss_error *error) {
    struct service_pids found = {0};
    struct search search = {.roots = finding->roots,
        .listeners = listeners,
        .found = &found,
        .held = calloc(listeners->count, sizeof *search.held)};

    int result = search.held ? find_holders(&search, error) : ss_error_memory(error);
    if (result == 0)
        result = take_holders(finding, &search, error);

    free(search.held);
    free(found.items);
    return result;
}

static int refuse_absent(const struct finding *finding, const struct service_listeners *listeners,
    struct ss_error *error) {
    if (listeners->local)
        return ss_error_fail(
            error, "%s: no process listens there: start the service first", shown(finding).text);
    return ss_error_fail(error,
        "%s is not an address of this machine: measure the load there, for example with "
        "--feedback command,command='ssh HOST ...'",
        shown(finding).text);
}

static int find_by_addresses(const struct finding *finding, const struct service_address *addresses,
    size_t count, struct ss_error *error) {
    struct service_listeners listeners = {0};
    int result = service_listeners_find(&listeners, addresses, count, finding->roots, error);
    if (result == 0 && listeners.count == 0)
        result = refuse_absent(finding, &listeners, error);
    else if (result == 0)
        result = find_by_listeners(finding, &listeners, error);

    service_listeners_free(&listeners);
    return result;
}

static int find_by_pid(const struct finding *finding, pid_t pid, struct ss_error *error) {
    struct proc_tree_process process;

    if (!proc_tree_read(finding->roots, pid, &process))
        return ss_error_fail(error, "no process has pid %d: check with `ps`", (int)pid);
    if (process.state == 'Z' || process.state == 'X')
        return ss_error_fail(error, "process %d has already ended", (int)pid);
    if (process.kernel)
        return ss_error_fail(error, "process %d is a kernel thread: name a program", (int)pid);
    if (pid == getpid())
        return ss_error_fail(error, "process %d is this program: name another process", (int)pid);
    if (pid == 1 && is_proxy(finding->roots, pid))
        return ss_error_fail(
            error, "all processes descend from process 1: use --of machine instead");

    if (add_pid(&finding->service->roots, pid, error) < 0)
        return -1;
    name_first(finding);
    return 0;
}

int service_find(struct service *service, const struct service_selector *selector,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    const struct finding finding = {roots, addresses, service};
    int result = 0;
    *service = (struct service){0};

    switch (selector->kind) {
    case SERVICE_OF_URL:
        return find_by_addresses(&finding, addresses, count, error);
    case SERVICE_OF_PID:
        result = find_by_pid(&finding, selector->pid, error);
        break;
    case SERVICE_OF_GROUP:
        if (strlen(selector->group) >= sizeof service->group)
            result = ss_error_fail(error, "the path of the group is too long");
        else
            strcpy(service->group, selector->group);
        break;
    case SERVICE_OF_MACHINE:
        break;
    }

    return result == 0 ? 0 : ss_error_wrap(error, "--of");
}
