/* SPDX-License-Identifier: Apache-2.0 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

const char *ss_linux_read_stat(const char *path, char *text, size_t size) {
    if (ss_linux_read_text(path, text, size) < 0)
        return NULL;
    const char *end = strrchr(text, ')');
    return end ? end + 1 : NULL;
}

static const char *read_stat(pid_t pid, char *text, size_t size) {
    return ss_linux_read_stat(ss_linux_path("/proc/%d/stat", (int)pid).text, text, size);
}

bool ss_platform_process_times(pid_t pid, struct ss_process_times *times) {
    char text[1024];
    uint64_t fields[18] = {0};
    const char *at = pid > 0 ? read_stat(pid, text, sizeof text) : NULL;
    if (!at)
        return false;

    at += 2; /* skips the state, which is field 3 */
    for (int field = 4; field <= 17; field++) {
        at += strspn(at, " ");
        at += *at == '-'; /* skips the sign: fields that may be negative are not used */
        at = ss_linux_read_number(at, &fields[field]);
    }

    uint64_t tick = SS_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    *times = (struct ss_process_times){
        .pid = pid,
        .parent = (pid_t)fields[4],
        .group = (pid_t)fields[5],
        .used = (fields[14] + fields[15]) * tick,
        .waited = (fields[16] + fields[17]) * tick,
    };
    return true;
}

/* Bits of field 9: the kernel's PF_EXITING and PF_KTHREAD. */
#define EXITING       0x4
#define KERNEL_THREAD 0x200000

bool ss_platform_process_name(pid_t pid, char name[SS_PROCESS_NAME_SIZE]) {
    struct ss_linux_path path = ss_linux_path("/proc/%d/comm", (int)pid);
    return ss_linux_read_text(path.text, name, SS_PROCESS_NAME_SIZE) == 0;
}

bool ss_linux_process_read(pid_t pid, struct ss_process *process) {
    char text[1024];
    const char *at = read_stat(pid, text, sizeof text);
    if (!at)
        return false;

    *process = (struct ss_process){.state = at[1]};
    at += 2;
    for (int field = 4; field <= 22 && at; field++) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        if (field == 4)
            process->parent = (pid_t)value;
        else if (field == 5)
            process->group = (pid_t)value;
        else if (field == 6)
            process->session = (pid_t)value;
        else if (field == 9)
            process->kernel = value & KERNEL_THREAD;
        else if (field == 20 && process->state == 'Z' && value > 1)
            process->state = 'S'; /* only the first thread has exited */
        else if (field == 22)
            process->started = value;
        at = end;
    }

    return process->started != 0;
}

/*
 * Reads the last field of /proc/loadavg: the kernel assigns pids in ascending order. In LXC
 * containers, lxcfs mounts a file of its own there, with a pid of the host; gVisor always writes 0.
 */
pid_t ss_platform_pid_latest(void) {
    char text[128];
    struct statfs system;
    SS_OWNED(close) int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstatfs(file, &system) < 0 || system.f_type != PROC_SUPER_MAGIC)
        return -1;

    ssize_t length = read(file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    const char *last = strrchr(text, ' ');
    long latest = last ? strtol(last + 1, NULL, 10) : 0;
    return latest > 0 ? (pid_t)latest : -1;
}

pid_t ss_platform_pid_limit(void) {
    char text[64];
    if (ss_linux_read_text("/proc/sys/kernel/pid_max", text, sizeof text) < 0)
        return 1 << 22; /* the kernel's maximum */
    return (pid_t)strtol(text, NULL, 10);
}

void ss_platform_process_each(void (*visit)(void *context, pid_t pid), void *context) {
    SS_OWNED(closedir) DIR *directory = opendir("/proc");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            visit(context, (pid_t)strtol(entry->d_name, NULL, 10));
    }
}

/* Does not use readdir(), for which the kernel would list about a thousand processes at once. */
void ss_platform_process_next_few(
    int proc, void (*visit)(void *context, pid_t pid), void *context) {
    _Alignas(struct ss_linux_entry) char entries[256];
    long length = syscall(SYS_getdents64, proc, entries, sizeof entries);
    if (length <= 0)
        lseek(proc, 0, SEEK_SET);
    for (long at = 0; at < length;) {
        const struct ss_linux_entry *entry = (const struct ss_linux_entry *)(entries + at);
        if (isdigit((unsigned char)entry->name[0]))
            visit(context, (pid_t)strtol(entry->name, NULL, 10));
        at += entry->length;
    }
}

struct parent {
    pid_t pid;
    void (*visit)(void *context, pid_t pid);
    void *context;
};

static void visit_if_child(void *context, pid_t pid) {
    const struct parent *parent = context;
    struct ss_process process;
    if (ss_linux_process_read(pid, &process) && process.parent == parent->pid)
        parent->visit(parent->context, pid);
}

/*
 * Visits the children that a thread has started: /proc lists each child with the thread that
 * started it.
 */
static void visit_children_of_thread(void *context, pid_t thread) {
    const struct parent *parent = context;
    char path[64]; /* small, because callers visit trees of any depth */
    SS_OWNED(free) char *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent->pid, (int)thread);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    while (file && getdelim(&text, &size, ' ', file) > 0)
        parent->visit(parent->context, (pid_t)strtol(text, NULL, 10));
}

/* Returns whether the kernel lists children, which is a build option of the kernel. */
static bool has_lists(void) {
    static int known = -1;
    if (known < 0)
        known = access(ss_linux_path("/proc/self/task/%d/children", (int)getpid()).text, R_OK) == 0;
    return known;
}

void ss_platform_process_children(
    pid_t pid, void (*visit)(void *context, pid_t pid), void *context) {
    struct parent parent = {pid, visit, context};
    if (has_lists())
        ss_platform_process_threads(pid, visit_children_of_thread, &parent);
    else
        ss_platform_process_each(visit_if_child, &parent);
}

/* Finds the zero-terminated string that begins with `prefix` ("NAME="), and reads its rest. */
static bool read_variable(int file, const char *prefix, char *rest, size_t size) {
    size_t length = strlen(prefix);
    size_t matched = 0; /* SIZE_MAX: this string does not match */
    size_t kept = 0;
    char block[4096];
    ssize_t count;

    while ((count = read(file, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < count; i++) {
            if (matched == length && kept < size)
                rest[kept++] = block[i];
            if (matched == length && (block[i] == '\0' || kept == size))
                return block[i] == '\0';
            if (block[i] == '\0')
                matched = 0;
            else if (matched < length)
                matched = block[i] == prefix[matched] ? matched + 1 : SIZE_MAX;
        }
    }
    return false;
}

bool ss_platform_process_variable(pid_t pid, const char *name, char *value, size_t size) {
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%s=", name);
    SS_OWNED(close)
    int file = open(ss_linux_path("/proc/%d/environ", (int)pid).text, O_RDONLY | O_CLOEXEC);
    return file >= 0 && read_variable(file, prefix, value, size);
}

/* Reads field 9 of a stat file. Returns false if the file does not exist. */
static bool read_flags(const char *path, unsigned *flags) {
    char text[1024];
    const char *at = ss_linux_read_stat(path, text, sizeof text);
    return at && sscanf(at, " %*c %*d %*d %*d %*d %*d %u", flags) == 1;
}

bool ss_linux_is_user_process(const struct ss_platform_roots *roots, pid_t pid) {
    struct ss_linux_path path = ss_linux_path("%s/%d/stat", ss_linux_proc(roots), (int)pid);
    unsigned flags;
    return read_flags(path.text, &flags) && !(flags & (KERNEL_THREAD | EXITING));
}

struct exit {
    pid_t pid;
    bool has_begun; /* true in all threads */
};

static void look_at_thread(void *context, pid_t thread) {
    struct exit *exit = context;
    struct ss_linux_path path = ss_linux_path("/proc/%d/task/%d/stat", (int)exit->pid, (int)thread);
    unsigned flags;
    exit->has_begun &= !read_flags(path.text, &flags) || flags & EXITING;
}

bool ss_platform_process_is_exiting(pid_t pid) {
    struct exit exit = {pid, true};
    ss_platform_process_threads(pid, look_at_thread, &exit);
    return exit.has_begun;
}

/* Bit of /proc/PID/personality: the kernel's ADDR_NO_RANDOMIZE. */
#define NOT_RANDOM 0x40000

static bool has_random_addresses(pid_t pid) {
    char text[32];
    return ss_linux_read_text("/proc/sys/kernel/randomize_va_space", text, sizeof text) == 0 &&
           *text != '0' &&
           ss_linux_read_text(
               ss_linux_path("/proc/%d/personality", (int)pid).text, text, sizeof text) == 0 &&
           !(strtoul(text, NULL, 16) & NOT_RANDOM);
}

/* Mixes fields 26, 28 and 47 of stat: the start addresses of code, stack and heap. */
uint64_t ss_platform_process_image(pid_t pid) {
    char text[1024];
    const char *at = has_random_addresses(pid) ? read_stat(pid, text, sizeof text) : NULL;
    uint64_t image = 0;
    for (int field = 3; at && field <= 47; field++) {
        at += strspn(at, " ");
        uint64_t value = strtoull(at, NULL, 10);
        if (field == 28 && value == 0)
            return 0;
        if (field == 26 || field == 28 || field == 47)
            image = (image ^ value) * UINT64_C(0x9e3779b97f4a7c15);
        at += strcspn(at, " ");
    }

    return image;
}

bool ss_platform_process_user(pid_t pid, uid_t *user) {
    struct stat status;
    if (stat(ss_linux_path("/proc/%d", (int)pid).text, &status) < 0)
        return false;
    *user = status.st_uid;
    return true;
}

/* The user and the control groups of a process. */
struct kind {
    uid_t user;
    char groups[4096];
};

static bool read_kind(pid_t pid, struct kind *kind) {
    return ss_platform_process_user(pid, &kind->user) &&
           ss_linux_read_text(ss_linux_path("/proc/%d/cgroup", (int)pid).text, kind->groups,
               sizeof kind->groups) == 0;
}

bool ss_platform_process_is_akin(pid_t one, pid_t other) {
    struct kind first, second;
    return read_kind(one, &first) && read_kind(other, &second) && first.user == second.user &&
           strcmp(first.groups, second.groups) == 0;
}
