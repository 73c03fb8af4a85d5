/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A control group with the same name at the root of every hierarchy. A later process finds it by
 * name alone. Programs that start containers create subgroups in it.
 */

#include "named_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

/* Time between attempts to remove groups whose processes were killed. */
#define REMOVAL_INTERVAL 10 /* milliseconds */

/* A walk through the folders of a group. */
struct search {
    const char *name;
    const struct ss_platform_roots *roots;
    bool deep; /* include subgroups */
    void (*visit)(struct search *search, const char *folder);

    pid_t pid, peer;
    int count;   /* folders that `visit` found or changed */
    int failure; /* 0 or a negative errno */
};

static bool is_folder(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Visits subgroups first, because a group with subgroups cannot be removed. */
static void search_folder(struct search *search, const char *folder) {
    SS_OWNED(closedir) DIR *entries = search->deep ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL) {
        SS_OWNED(free) char *path = ss_words_format(NULL, "%s/%s", folder, entry->d_name);
        if (path && entry->d_name[0] != '.' && is_folder(path))
            search_folder(search, path);
    }
    search->visit(search, folder);
}

/* Searches the hierarchy mounted at `root`. */
static void search_hierarchy(struct search *search, const char *root) {
    SS_OWNED(free) char *path = ss_words_format(NULL, "%s/%s", root, search->name);
    if (path && is_folder(path))
        search_folder(search, path);
}

/* In version 2 the root is the hierarchy; in version 1 it has a folder for each hierarchy. */
static void search_all(struct search *search) {
    const char *root = search->roots->cgroup ? search->roots->cgroup : "/sys/fs/cgroup";
    SS_OWNED(free) char *unified = ss_words_format(NULL, "%s/cgroup.controllers", root);
    const struct dirent *entry;

    if (unified && access(unified, F_OK) == 0) {
        search_hierarchy(search, root);
        return;
    }

    SS_OWNED(closedir) DIR *entries = opendir(root);
    while (entries && (entry = readdir(entries)) != NULL) {
        SS_OWNED(free) char *path = ss_words_format(NULL, "%s/%s", root, entry->d_name);
        if (path && entry->d_name[0] != '.' && is_folder(path))
            search_hierarchy(search, path);
    }
}

static FILE *open_processes(const char *folder, const char *mode) {
    SS_OWNED(free) char *path = ss_words_format(NULL, "%s/cgroup.procs", folder);
    return path ? fopen(path, mode) : NULL;
}

static bool has_process(const char *folder, pid_t pid) {
    SS_OWNED(fclose) FILE *file = open_processes(folder, "re");
    int member;
    while (file && fscanf(file, "%d", &member) == 1) {
        if (member == pid)
            return true;
    }
    return false;
}

static void join_folder(struct search *search, const char *folder) {
    if (search->peer > 0 && !has_process(folder, search->peer))
        return;

    FILE *file = open_processes(folder, "r+e");
    if (file)
        fprintf(file, "%d", (int)search->pid);
    if (file && fclose(file) == 0) /* writes the buffer */
        search->count++;
    else if (search->failure == 0)
        search->failure = -errno;
}

int named_group_join(
    const char *name, pid_t peer, pid_t pid, const struct ss_platform_roots *roots) {
    struct search search = {.name = name,
        .roots = roots,
        .deep = peer > 0,
        .visit = join_folder,
        .pid = pid,
        .peer = peer};
    search_all(&search);
    return search.failure < 0 ? search.failure : search.count;
}

static FILE *open_of_process(const struct ss_platform_roots *roots, pid_t pid, const char *name) {
    SS_OWNED(free)
    char *path =
        ss_words_format(NULL, "%s/%d/%s", roots->proc ? roots->proc : "/proc", (int)pid, name);
    return path ? fopen(path, "re") : NULL;
}

/*
 * Returns whether the process is PID 1 of a namespace below ours. The line "NSpid:" of its status
 * lists its pid in each namespace, from ours inward.
 */
static bool is_namespace_init(const struct ss_platform_roots *roots, pid_t pid) {
    static const char name[] = "NSpid:\t";
    SS_OWNED(fclose) FILE *file = open_of_process(roots, pid, "status");
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;

    while (file && getline(&line, &room, file) > 0) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, name, sizeof name - 1) == 0)
            return last >= line + sizeof name && strcmp(last, "\t1\n") == 0;
    }
    return false;
}

static void find_init(struct search *search, const char *folder) {
    SS_OWNED(fclose) FILE *file = open_processes(folder, "re");
    int pid;
    while (search->pid == 0 && file && fscanf(file, "%d", &pid) == 1) {
        if (is_namespace_init(search->roots, pid))
            search->pid = pid;
    }
}

pid_t named_group_init_pid(const char *name, const struct ss_platform_roots *roots) {
    struct search search = {.name = name, .roots = roots, .deep = true, .visit = find_init};
    search_all(&search);
    return search.pid;
}

static void count_folder(struct search *search, const char *folder) {
    (void)folder;
    search->count++;
}

bool named_group_exists(const char *name, const struct ss_platform_roots *roots) {
    struct search search = {.name = name, .roots = roots, .visit = count_folder};
    search_all(&search);
    return search.count > 0;
}

int named_group_accounting_path(
    pid_t pid, char *path, size_t size, const struct ss_platform_roots *roots) {
    char process[32];
    snprintf(process, sizeof process, "%d", (int)pid);
    if (ss_platform_cgroup_of(roots, process, "cpuacct", path, size) == 0)
        return 0;
    return ss_platform_cgroup_of(roots, process, NULL, path, size);
}

/*
 * Kills a process if it is in the group. The pid may be reused at any time, so this signals only
 * the process whose start time was read before its group was checked.
 */
static void kill_member(const struct search *search, pid_t pid) {
    uint64_t started = ss_platform_process_started(pid);
    SS_OWNED(fclose) FILE *file = open_of_process(search->roots, pid, "cgroup");
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;
    bool is_member = false;

    while (file && !is_member && getline(&line, &room, file) > 0)
        is_member = strstr(line, search->name);

    if (is_member && started > 0)
        ss_platform_process_signal_by_pid(pid, started, SIGKILL);
}

static void end_folder(struct search *search, const char *folder) {
    int pid;

    if (rmdir(folder) == 0 || errno == ENOENT)
        return;
    search->count++;

    SS_OWNED(fclose) FILE *file = open_processes(folder, "re");
    while (file && fscanf(file, "%d", &pid) == 1) {
        if (pid > 1 && pid != getpid())
            kill_member(search, pid);
    }
}

int named_group_remove(const char *name, ss_time patience, const struct ss_platform_roots *roots) {
    ss_time deadline = ss_platform_now() + patience;

    for (;;) {
        struct search search = {.name = name, .roots = roots, .deep = true, .visit = end_folder};
        search_all(&search);
        if (search.count == 0)
            return 0;

        /* Killed processes may still be exiting, or may have forked before they died. */
        if (ss_platform_now() >= deadline)
            return -EBUSY;
        poll(NULL, 0, REMOVAL_INTERVAL);
    }
}
