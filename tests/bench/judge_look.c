/* SPDX-License-Identifier: Apache-2.0 */

#include "judge_look.h"

#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Descriptors; -1 if the file is absent. */
static int runtime_file, stat_file, *idle_files;
static size_t idle_count;
static cpu_set_t allowed;
static bool visiting;
static double cpus;
static double runtime_unit = 1e-9; /* seconds */

static int open_file(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Without these files, idle time comes from /proc/stat. */
static void open_idle_files(void) {
    glob_t found;
    if (glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/time", 0, NULL, &found) != 0)
        return;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    idle_files = calloc(found.gl_pathc, sizeof *idle_files);
    bool whole = idle_files != NULL;
    for (size_t i = 0; whole && i < found.gl_pathc; i++)
        whole = (idle_files[i] = open_file(found.gl_pathv[i])) >= 0;
    if (whole)
        idle_count = found.gl_pathc;
    globfree(&found);
}

/*
 * The kernel updates run times and residencies up to a tick late, or those of an idle CPU only when
 * it wakes up. Moving to each CPU just before a reading updates them, immediately if at real-time
 * priority.
 */
static void become_prompt(void) {
    struct sched_param priority = {.sched_priority = 3};
    visiting = sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
               sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

static void visit_cpus(void) {
    cpu_set_t one;
    for (size_t cpu = 0; visiting && cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
}

static int open_in(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open_file(path);
}

/* In version 2, microseconds follow a keyword. */
static void open_group(const char *group) {
    runtime_file = open_in(group, "cpuacct.usage");
    if (runtime_file >= 0)
        return;
    runtime_file = open_in(group, "cpu.stat");
    runtime_unit = 1e-6;
    if (runtime_file < 0) {
        fprintf(stderr, "judge: %s: no control group with CPU time\n", group);
        exit(125);
    }
}

void look_open(const char *group, bool residencies) {
    cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    runtime_file = -1;
    if (group != NULL)
        open_group(group);
    if (runtime_file < 0)
        runtime_file = open_file("/sys/fs/cgroup/cpuacct/cpuacct.usage");
    if (runtime_file < 0)
        runtime_file = open_file("/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage");
    stat_file = open_file("/proc/stat");
    if (stat_file < 0) {
        perror("judge: /proc/stat");
        exit(125);
    }
    if (residencies)
        open_idle_files();
    become_prompt();
}

bool look_has(int measure) {
    return measure != LOOK_RUNTIME || runtime_file >= 0;
}

int look_cpus(void) {
    return (int)cpus;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Reads a file. Returns the middle of the interval that this took. */
static double read_text(int file, char *text, size_t size) {
    double before = now();
    ssize_t length = file < 0 ? 0 : pread(file, text, size - 1, 0);
    double after = now();
    text[length < 0 ? 0 : length] = '\0';
    return (before + after) / 2;
}

static struct reading read_runtime(void) {
    char text[64];
    double time = read_text(runtime_file, text, sizeof text);
    const char *number = text + strcspn(text, "0123456789");
    return (struct reading){strtod(number, NULL) * runtime_unit, time * cpus};
}

static struct reading read_residencies(void) {
    char text[32];
    double idle = 0, first = now();
    for (size_t i = 0; i < idle_count; i++) {
        read_text(idle_files[i], text, sizeof text);
        idle += strtod(text, NULL) / 1e6;
    }
    double all = (first + now()) / 2 * cpus;
    return (struct reading){all - idle, all};
}

void look_now(struct reading readings[LOOK_MEASURES]) {
    char text[256];
    double value[8] = {0};
    visit_cpus();
    readings[LOOK_RUNTIME] = read_runtime();
    readings[LOOK_IDLE] = read_residencies();
    double time = read_text(stat_file, text, sizeof text);
    char *at = strpbrk(text, " ");
    for (int i = 0; at != NULL && i < 8; i++)
        value[i] = strtod(at, &at);
    /* Fields: user nice system idle iowait irq softirq steal. user and nice include guests. */
    double idle = value[3] + value[4];
    double busy = value[0] + value[1] + value[2] + value[5] + value[6] + value[7];
    readings[LOOK_TICKS] = (struct reading){busy, busy + idle};
    if (idle_count == 0) {
        double all = time * cpus;
        readings[LOOK_IDLE] = (struct reading){all - idle / (double)sysconf(_SC_CLK_TCK), all};
    }
}
