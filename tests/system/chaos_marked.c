/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos_marked.h"

#include "../marked.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define END_ATTEMPTS 1000 /* each takes a few milliseconds */
#define PRINTED_MAX  40

#define LATEST       16
#define LATEST_LOOKS 30

static bool look_at(pid_t pid, struct marked *process) {
    char text[1024];
    int parent;
    int group;
    int session;
    read_proc(pid, "stat", text, sizeof text);
    char *begin = strchr(text, '(');
    char *end = strrchr(text, ')');
    if (!begin || !end ||
        sscanf(end + 1, " %c %d %d %d", &process->state, &parent, &group, &session) != 4)
        return false;
    *end = '\0';
    snprintf(process->name, sizeof process->name, "%.31s", begin + 1);
    process->pid = pid;
    process->parent = parent;
    process->group = group;
    process->session = session;
    return process->state != 'Z' && process->state != 'X';
}

static int compare(const void *one, const void *other) {
    const struct marked *a = one;
    const struct marked *b = other;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/*
 * A scan of /proc may miss every process of an endless chain of short-lived ones. The next one
 * always has one of the latest pids.
 */
static size_t find_latest(const char *mark, struct marked *found) {
    char text[128];
    for (int look = 0; look < LATEST_LOOKS; look++) {
        read_proc(getpid(), "../loadavg", text, sizeof text);
        const char *last = strrchr(text, ' ');
        pid_t latest = last ? (pid_t)atoi(last + 1) : 0;
        for (pid_t pid = latest; pid > 1 && pid > latest - LATEST; pid--) {
            if (has_mark(pid, mark) && look_at(pid, found))
                return 1;
        }
    }
    return 0;
}

size_t marked_find(const char *mark, struct marked *found) {
    size_t count = 0;
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    if (!directory) {
        perror("chaos: /proc");
        exit(2);
    }
    while (count < MARKED_MAX && (entry = readdir(directory))) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 1 && pid != getpid() && has_mark(pid, mark) && look_at(pid, &found[count]))
            count++;
    }
    closedir(directory);
    if (count == 0)
        return find_latest(mark, found);
    qsort(found, count, sizeof *found, compare);
    return count;
}

void marked_print(const struct marked *processes, size_t count) {
    fprintf(stderr, "%8s %8s %8s %8s S NAME\n", "PID", "PPID", "PGID", "SID");
    for (size_t i = 0; i < count && i < PRINTED_MAX; i++) {
        const struct marked *process = &processes[i];
        fprintf(stderr, "%8d %8d %8d %8d %c %s\n", (int)process->pid, (int)process->parent,
            (int)process->group, (int)process->session, process->state, process->name);
    }
    if (count > PRINTED_MAX)
        fprintf(stderr, "and %zu more\n", count - PRINTED_MAX);
}

void marked_end(const char *mark) {
    static struct marked found[MARKED_MAX];
    static const struct timespec nap = {0, 3000000};
    /*
     * Two successive searches must find nothing, because one may miss a process that is being
     * forked.
     */
    for (int attempt = 0, empty = 0; attempt < END_ATTEMPTS && empty < 2; attempt++) {
        size_t count = marked_find(mark, found);
        for (size_t i = 0; i < count; i++)
            kill(found[i].pid, SIGKILL);
        empty = count == 0 ? empty + 1 : 0;
        nanosleep(&nap, NULL);
    }
}

char marked_state(pid_t pid) {
    struct marked process = {0};
    look_at(pid, &process);
    return process.state;
}

bool marked_left_memory(pid_t master) {
    char prefix[64];
    char path[300];
    int length = snprintf(prefix, sizeof prefix, "showstopper.%d.", (int)master);
    bool left = false;
    DIR *directory = opendir("/dev/shm");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0)
            continue;
        snprintf(path, sizeof path, "/dev/shm/%s", entry->d_name);
        fprintf(stderr, "chaos: %s is left\n", path);
        unlink(path);
        left = true;
    }
    if (directory)
        closedir(directory);
    return left;
}
