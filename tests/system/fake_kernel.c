/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into a program, answers its writes below SS_TEST_KERNEL/sys as cpufreq and powercap do:
 *
 *   scaling_governor             EINVAL for a governor that scaling_available_governors lacks
 *   scaling_setspeed             EINVAL without the governor userspace; otherwise clamped to the
 *                                limits
 *   scaling_min_freq, _max_freq  EINVAL for a minimum above the maximum; clamped to the hardware's
 *   boost, no_turbo              EINVAL for anything but 0 and 1
 *   *_power_limit_uw             rounded down to 1/8 W
 *
 * Each write is logged. The state is the files themselves, which change as a whole (by rename), so
 * it survives SIGKILL of any program and needs no process of its own. SS_TEST_KERNEL/faults/NAME
 * has a line for each next write to a file NAME: ok, lose (succeeds without effect), EBUSY, kill
 * (the write succeeds, and the program gets SIGKILL before it can read the value back), or a value
 * that is kept instead.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define ROOM   (PATH_MAX + 300)

static char root[PATH_MAX / 2];

__attribute__((constructor)) static void read_root(void) {
    const char *text = getenv("SS_TEST_KERNEL");
    if (text && !realpath(text, root))
        abort();
}

static bool is_ours(const char *path) {
    size_t length = strlen(root);
    return length > 0 && strncmp(path, root, length) == 0 &&
           strncmp(path + length, "/sys/", 5) == 0;
}

/* ---- files ---- */

static void get(const char *folder, const char *name, char text[300]) {
    char path[ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t length = file < 0 ? -1 : syscall(SYS_read, file, text, (size_t)299);
    if (file >= 0)
        syscall(SYS_close, file);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static void put(const char *folder, const char *name, const char *text) {
    char path[ROOM], hidden[ROOM + 32], line[320];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(hidden, sizeof hidden, "%s.%d", path, (int)getpid());
    int file =
        (int)syscall(SYS_openat, AT_FDCWD, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int length = snprintf(line, sizeof line, "%s\n", text);
    if (file < 0 || syscall(SYS_write, file, line, (size_t)length) != length)
        abort();
    syscall(SYS_close, file);
    if (rename(hidden, path) < 0)
        abort();
}

static long get_number(const char *folder, const char *name) {
    char text[300];
    get(folder, name, text);
    return strtol(text, NULL, 10);
}

static void put_number(const char *folder, const char *name, long number) {
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    put(folder, name, text);
}

/* ---- rules: each returns 0 or an errno ---- */

static int set_governor(const char *folder, const char *name, const char *text) {
    char known[300], padded[310], word[310];
    get(folder, "scaling_available_governors", known);
    snprintf(padded, sizeof padded, " %s ", known);
    snprintf(word, sizeof word, " %s ", text);
    if (!strstr(padded, word))
        return EINVAL;
    if (strcmp(text, "userspace") == 0)
        put_number(folder, "scaling_setspeed", get_number(folder, "scaling_cur_freq"));
    put(folder, name, text);
    if (strcmp(text, "userspace") != 0)
        put(folder, "scaling_setspeed", "<unsupported>");
    return 0;
}

static long clamp(long value, long low, long high) {
    return value < low ? low : value > high ? high : value;
}

static int set_speed(const char *folder, const char *name, const char *text) {
    char governor[300];
    get(folder, "scaling_governor", governor);
    if (strcmp(governor, "userspace") != 0)
        return EINVAL;
    long value = clamp(strtol(text, NULL, 10), get_number(folder, "scaling_min_freq"),
        get_number(folder, "scaling_max_freq"));
    put_number(folder, name, value);
    put_number(folder, "scaling_cur_freq", value);
    return 0;
}

static int set_limit(const char *folder, const char *name, const char *text) {
    bool is_minimum = strcmp(name, "scaling_min_freq") == 0;
    long value = clamp(strtol(text, NULL, 10), get_number(folder, "cpuinfo_min_freq"),
        get_number(folder, "cpuinfo_max_freq"));
    if (is_minimum ? value > get_number(folder, "scaling_max_freq")
                   : value < get_number(folder, "scaling_min_freq"))
        return EINVAL;
    put_number(folder, name, value);
    return 0;
}

static int set_switch(const char *folder, const char *name, const char *text) {
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return EINVAL;
    put(folder, name, text);
    return 0;
}

static int set_power(const char *folder, const char *name, const char *text) {
    put_number(folder, name, strtol(text, NULL, 10) / 125000 * 125000);
    return 0;
}

static const struct rule {
    const char *name;
    int (*set)(const char *folder, const char *name, const char *text);
} rules[] = {
    {"scaling_governor", set_governor},
    {"scaling_setspeed", set_speed},
    {"scaling_min_freq", set_limit},
    {"scaling_max_freq", set_limit},
    {"boost", set_switch},
    {"no_turbo", set_switch},
    {"constraint_0_power_limit_uw", set_power},
};

/* ---- faults ---- */

/* Takes the next line of the file's faults, or "". */
static void next_fault(const char *name, char fault[300]) {
    char path[ROOM], text[4096];
    *fault = '\0';
    snprintf(path, sizeof path, "%s/faults/%s", root, name);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0)
        return;
    flock(file, LOCK_EX);
    ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    size_t first = strcspn(text, "\n");
    snprintf(fault, 300, "%.*s", (int)first, text);
    const char *rest = text + first + (text[first] == '\n');
    if (ftruncate(file, 0) < 0 ||
        syscall(SYS_pwrite64, file, rest, strlen(rest), (off_t)0) != (long)strlen(rest))
        abort();
    syscall(SYS_close, file);
}

static int follow_rule(const char *folder, const char *name, const char *text) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0)
            return rules[i].set(folder, name, text);
    }
    return EINVAL;
}

/* Appends "NAME VALUE" to SS_TEST_KERNEL/log. */
static void log_write(const char *name, const char *text) {
    char path[ROOM], line[700];
    snprintf(path, sizeof path, "%s/log", root);
    int length = snprintf(line, sizeof line, "%.300s %.300s\n", name, text);
    int file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || syscall(SYS_write, file, line, (size_t)length) != length)
        abort();
    syscall(SYS_close, file);
}

static int set(const char *folder, const char *name, const char *text) {
    char fault[300];
    next_fault(name, fault);
    log_write(name, text);
    if (strcmp(fault, "kill") == 0) {
        follow_rule(folder, name, text);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(fault, "EBUSY") == 0)
        return EBUSY;
    if (strcmp(fault, "lose") == 0)
        return 0;
    if (*fault && strcmp(fault, "ok") != 0) {
        put(folder, name, fault);
        return 0;
    }
    return follow_rule(folder, name, text);
}

/* ---- calls ---- */

static bool find_path(int file, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = *root ? readlink(link, path, PATH_MAX - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && is_ours(path);
}

PUBLIC ssize_t write(int file, const void *bytes, size_t size) {
    char path[PATH_MAX], text[300];
    int saved = errno;
    if (size >= sizeof text || !find_path(file, path))
        return syscall(SYS_write, file, bytes, size);
    snprintf(text, sizeof text, "%.*s", (int)size, (const char *)bytes);
    text[strcspn(text, "\n")] = '\0';
    char *name = strrchr(path, '/');
    *name++ = '\0';
    int why = set(path, name, text);
    errno = why ? why : saved;
    return why ? -1 : (ssize_t)size;
}

/* In /sys, O_TRUNC has no effect. */
static int open_file(int folder, const char *path, int flags, unsigned mode) {
    char base[PATH_MAX], whole[2 * PATH_MAX];
    if (*path == '/' || folder == AT_FDCWD) {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        base[length > 0 ? length : 0] = '\0';
        snprintf(whole, sizeof whole, "%s/%s", base, path);
    }
    if (is_ours(whole))
        flags &= ~O_TRUNC;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags, mode)                                                                          \
    do {                                                                                           \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;                                       \
        va_end(rest);                                                                              \
    } while (0)

PUBLIC int openat(int folder, const char *path, int flags, ...) {
    unsigned mode;
    MODE(flags, mode);
    return open_file(folder, path, flags, mode);
}

PUBLIC int open(const char *path, int flags, ...) {
    unsigned mode;
    MODE(flags, mode);
    return open_file(AT_FDCWD, path, flags, mode);
}
