/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../marked.h"
#include "run.h"

#define PROCESSES_MAX   4096
#define PRINTED_MAX     40
#define DESCRIPTORS_MAX 64

struct process {
    pid_t pid, parent;
    bool included;
};

/* Returns /proc/PID/stat from its third field on, or NULL if the process is gone. */
static const char *read_stat(pid_t pid, char *text, size_t size) {
    read_proc(pid, "stat", text, size);
    const char *bracket = strrchr(text, ')');
    return bracket && bracket[1] ? bracket + 2 : NULL;
}

static size_t list(struct process *processes, pid_t root, const char *mark) {
    size_t count = 0;
    char text[1024];
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    while (directory && count < PROCESSES_MAX && (entry = readdir(directory))) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        const char *fields = pid > 1 && pid != getpid() ? read_stat(pid, text, sizeof text) : NULL;
        if (!fields)
            continue;
        processes[count++] = (struct process){
            .pid = pid,
            .parent = (pid_t)strtol(fields + 1, NULL, 10),
            .included = pid == root || has_mark(pid, mark),
        };
    }
    if (directory)
        closedir(directory);
    return count;
}

static bool includes(const struct process *processes, size_t count, pid_t pid) {
    for (size_t i = 0; i < count; i++) {
        if (processes[i].pid == pid)
            return processes[i].included;
    }
    return false;
}

/* Zombies have no environment with the mark, and some tests clear it. */
static void include_descendants(struct process *processes, size_t count) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            if (!processes[i].included && includes(processes, count, processes[i].parent))
                processes[i].included = changed = true;
        }
    }
}

static void print_line(const char *name, char *text) {
    size_t length = strlen(text);
    while (length > 0 && strchr(" \n", text[length - 1]))
        text[--length] = '\0';
    if (length > 0 && strcmp(text, "0") != 0)
        fprintf(stderr, "    %s: %s\n", name, text);
}

static void print_file(pid_t pid, const char *name) {
    char text[512];
    read_proc(pid, name, text, sizeof text);
    print_line(name, text);
}

/* Prints nothing unless root: others may not read /proc/PID/stack. */
static void print_stack(pid_t pid) {
    char text[4096];
    read_proc(pid, "stack", text, sizeof text);
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' ';
    print_line("stack", text);
}

/* Omits empty masks. */
static void print_status(pid_t pid) {
    static const char *const names[] = {
        "TracerPid:", "SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:"};
    char text[4096], *rest = text, *line;
    read_proc(pid, "status", text, sizeof text);
    fprintf(stderr, "    status:");
    while ((line = strsep(&rest, "\n"))) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t length = strlen(names[i]);
            if (strncmp(line, names[i], length) == 0 &&
                strspn(line + length, "0\t") < strlen(line + length))
                fprintf(stderr, " %s %s", names[i], line + length + 1);
        }
    }
    fputs("\n", stderr);
}

static void print_descriptors(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    struct dirent *entry;
    for (int i = 0; directory && i < DESCRIPTORS_MAX && (entry = readdir(directory));) {
        char target[256];
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);
        if (length < 0)
            continue;
        fprintf(stderr, "%s %s=%.*s", i++ ? "" : "    descriptors:", entry->d_name, (int)length,
            target);
    }
    if (directory) {
        fputs("\n", stderr);
        closedir(directory);
    }
}

/* Includes the CPU time, which shows whether the process works, waits or gets no CPU. */
static void print_thread(pid_t pid, const char *indent) {
    char text[1024], name[64];
    const char *fields = read_stat(pid, text, sizeof text);
    char state = 0;
    int parent = 0;
    unsigned long user = 0, system = 0;
    if (!fields || sscanf(fields, "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state,
                       &parent, &user, &system) != 4)
        return;
    read_proc(pid, "comm", name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    fprintf(stderr, "%s%d %s: state %c, parent %d, %.2f s user, %.2f s system\n", indent, (int)pid,
        name, state, parent, (double)user * tick, (double)system * tick);
    print_file(pid, "wchan");
    print_file(pid, "syscall");
    print_stack(pid);
}

static void print_process(pid_t pid) {
    char text[512], path[64];
    print_thread(pid, "  ");
    size_t length = read_proc(pid, "cmdline", text, sizeof text);
    for (size_t i = 0; i + 1 < length; i++) {
        if (!text[i])
            text[i] = ' ';
    }
    print_line("command", text);
    print_status(pid);
    print_descriptors(pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread > 0 && thread != pid)
            print_thread(thread, "   thread ");
    }
    if (directory)
        closedir(directory);
}

/* Includes descendants. */
void run_print_processes(const struct run *run) {
    static struct process processes[PROCESSES_MAX];
    size_t count = list(processes, run ? run->pid : 0, run_mark());
    include_descendants(processes, count);
    char load[128] = "";
    FILE *file = fopen("/proc/loadavg", "re");
    if (file) {
        if (!fgets(load, sizeof load, file))
            *load = '\0';
        fclose(file);
    }
    load[strcspn(load, "\n")] = '\0';
    fprintf(stderr, "processes of the run (load average %s):\n", load);
    int printed = 0;
    for (size_t i = 0; i < count && printed < PRINTED_MAX; i++) {
        if (processes[i].included) {
            print_process(processes[i].pid);
            printed++;
        }
    }
}
