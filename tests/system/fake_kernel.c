/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into a program, answers its writes below SS_TEST_KERNEL/sys as the kernel does:
 *
 *   scaling_governor             EINVAL for a governor that scaling_available_governors lacks
 *   scaling_setspeed             EINVAL without the governor userspace; otherwise clamped to the
 *                                limits
 *   scaling_min_freq, _max_freq  clamped to the hardware's; then a minimum above the maximum is
 *                                EINVAL before Linux 5.4, and clamped to the maximum since
 *                                (SS_TEST_KERNEL/clamps-minimum exists)
 *   boost, no_turbo              EINVAL for anything but 0 and 1. If a policy has the files
 *                                .highest.off and .highest.on, these are its highest frequencies
 *                                without and with turbo; boost, as in amd-pstate, writes them to
 *                                cpuinfo_max_freq and scaling_max_freq
 *   *_power_limit_uw             rounded down to 1/8 W
 *   control groups               see fake_groups.c
 *
 * Each write is logged. The state is the files themselves, which change as a whole (by rename), so
 * it survives SIGKILL of any program and needs no process of its own. SS_TEST_KERNEL/faults/NAME
 * has a line for each next write to a file NAME: ok, lose (succeeds without effect), an errno such
 * as EBUSY (EROFS fails when the file is opened, as on a file system that is mounted read-only),
 * kill (the write succeeds, and the program gets SIGKILL before it can read the value back), wait
 * (the write lasts until faults/NAME.go exists), or a value that is kept instead. faults/NAME.read
 * has a line for each next read: ok or an errno. With the line kill in faults/getppid, a process
 * that gets SIGTERM at the death of its parent kills the parent right after it called getppid().
 * While SS_TEST_KERNEL/read-only exists, all of /sys is mounted read-only.
 */

#include "fake_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define ROOM   (PATH_MAX + 300)

static char root[PATH_MAX / 2];

__attribute__((constructor)) static void read_root(void) {
    const char *text = getenv("SS_TEST_KERNEL");
    if (text && !realpath(text, root))
        abort();
}

bool fake_is_ours(const char *path) {
    size_t length = strlen(root);
    return length > 0 && strncmp(path, root, length) == 0 &&
           strncmp(path + length, "/sys/", 5) == 0;
}

bool fake_has_switch(const char *name) {
    char path[ROOM];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return *root && access(path, F_OK) == 0;
}

void fake_get(const char *folder, const char *name, char text[300]) {
    char path[ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t length = file < 0 ? -1 : syscall(SYS_read, file, text, (size_t)299);
    if (file >= 0)
        syscall(SYS_close, file);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

void fake_put(const char *folder, const char *name, const char *text) {
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

long fake_get_number(const char *folder, const char *name) {
    char text[300];
    fake_get(folder, name, text);
    return strtol(text, NULL, 10);
}

void fake_put_number(const char *folder, const char *name, long number) {
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    fake_put(folder, name, text);
}

/* The rules of the kernel. Each returns 0 or an errno. */

/* scaling_setspeed never has a number unless the governor is userspace. */
static int set_governor(const char *folder, const char *name, const char *text) {
    char known[300], padded[310], word[310];
    bool is_userspace = strcmp(text, "userspace") == 0;
    fake_get(folder, "scaling_available_governors", known);
    snprintf(padded, sizeof padded, " %s ", known);
    snprintf(word, sizeof word, " %s ", text);
    if (!strstr(padded, word))
        return EINVAL;
    if (!is_userspace)
        fake_put(folder, "scaling_setspeed", "<unsupported>");
    fake_put(folder, name, text);
    if (is_userspace)
        fake_put_number(folder, "scaling_setspeed", fake_get_number(folder, "scaling_cur_freq"));
    return 0;
}

static long clamp(long value, long low, long high) {
    return value < low ? low : value > high ? high : value;
}

static int set_speed(const char *folder, const char *name, const char *text) {
    char governor[300];
    fake_get(folder, "scaling_governor", governor);
    if (strcmp(governor, "userspace") != 0)
        return EINVAL;
    long value = clamp(strtol(text, NULL, 10), fake_get_number(folder, "scaling_min_freq"),
        fake_get_number(folder, "scaling_max_freq"));
    fake_put_number(folder, name, value);
    fake_put_number(folder, "scaling_cur_freq", value);
    return 0;
}

/* Returns the highest frequency of a policy, in the current state of turbo. */
static long find_highest(const char *folder) {
    char boost[300], text[300], global[ROOM];
    snprintf(global, sizeof global, "%s/../../intel_pstate", folder);
    fake_get(folder, "boost", boost);
    bool on = *boost ? *boost == '1' : fake_get_number(global, "no_turbo") == 0;
    fake_get(folder, on ? ".highest.on" : ".highest.off", text);
    return *text ? strtol(text, NULL, 10) : fake_get_number(folder, "cpuinfo_max_freq");
}

/*
 * Since Linux 5.4 each limit is a request, which the kernel keeps and applies again when the other
 * limit changes. Hidden files keep both requests. Without a name, only applies them again.
 */
static int request_limit(const char *folder, const char *name, long value) {
    static const char *const files[] = {"scaling_min_freq", "scaling_max_freq"};
    long limits[2], lowest = fake_get_number(folder, "cpuinfo_min_freq");
    for (int i = 0; i < 2; i++) {
        char hidden[64], text[300];
        snprintf(hidden, sizeof hidden, ".%s", files[i]);
        if (strcmp(files[i], name) == 0)
            fake_put_number(folder, hidden, value);
        fake_get(folder, hidden, text);
        limits[i] = clamp(*text ? strtol(text, NULL, 10) : fake_get_number(folder, files[i]),
            lowest, find_highest(folder));
    }
    fake_put_number(folder, files[0], limits[0] < limits[1] ? limits[0] : limits[1]);
    fake_put_number(folder, files[1], limits[1]);
    return 0;
}

static int set_limit(const char *folder, const char *name, const char *text) {
    bool is_minimum = strcmp(name, "scaling_min_freq") == 0;
    if (fake_has_switch("clamps-minimum"))
        return request_limit(folder, name, strtol(text, NULL, 10));
    long value = clamp(
        strtol(text, NULL, 10), fake_get_number(folder, "cpuinfo_min_freq"), find_highest(folder));
    if (is_minimum ? value > fake_get_number(folder, "scaling_max_freq")
                   : value < fake_get_number(folder, "scaling_min_freq"))
        return EINVAL;
    fake_put_number(folder, name, value);
    return 0;
}

static int set_switch(const char *folder, const char *name, const char *text) {
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return EINVAL;
    fake_put(folder, name, text);
    for (int cpu = 0; strcmp(name, "no_turbo") == 0 && cpu < 4; cpu++) {
        char policy[ROOM];
        snprintf(policy, sizeof policy, "%s/../cpufreq/policy%d", folder, cpu);
        request_limit(policy, "", 0);
    }
    if (strstr(folder, "/policy")) {
        fake_put_number(folder, "cpuinfo_max_freq", find_highest(folder));
        request_limit(folder, "scaling_max_freq", find_highest(folder));
    }
    return 0;
}

static int set_power(const char *folder, const char *name, const char *text) {
    fake_put_number(folder, name, strtol(text, NULL, 10) / 125000 * 125000);
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

/*
 * Removes the first line of a file's faults and stores it in `fault`; "" if there is none. If
 * `only` is not NULL, does so only for this fault.
 */
static void next_fault(const char *name, const char *suffix, const char *only, char fault[300]) {
    char path[ROOM], text[4096];
    *fault = '\0';
    snprintf(path, sizeof path, "%s/faults/%s%s", root, name, suffix);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0)
        return;
    flock(file, LOCK_EX);
    ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    size_t first = strcspn(text, "\n");
    snprintf(fault, 300, "%.*s", (int)first, text);
    if (only && strcmp(fault, only) != 0) {
        *fault = '\0';
        syscall(SYS_close, file);
        return;
    }
    const char *rest = text + first + (text[first] == '\n');
    if (ftruncate(file, 0) < 0 ||
        syscall(SYS_pwrite64, file, rest, strlen(rest), (off_t)0) != (long)strlen(rest))
        abort();
    syscall(SYS_close, file);
}

/* Returns the errno of a name, or 0. */
static int parse_errno(const char *name) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EACCES", EACCES}, {"EBUSY", EBUSY}, {"EINVAL", EINVAL}, {"EIO", EIO},
        {"ENOSPC", ENOSPC}, {"EPERM", EPERM}, {"EROFS", EROFS}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].number;
    }
    return 0;
}

static int follow_rule(const char *folder, const char *name, const char *text) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0)
            return rules[i].set(folder, name, text);
    }
    return fake_is_group(folder) ? fake_set_group(folder, name, text) : EINVAL;
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

static void wait_for_go(const char *name) {
    const struct timespec pause = {.tv_nsec = 10000000};
    char path[ROOM];
    snprintf(path, sizeof path, "%s/faults/%s.go", root, name);
    while (access(path, F_OK) < 0)
        nanosleep(&pause, NULL);
}

static int set(const char *folder, const char *name, const char *text) {
    char fault[300];
    next_fault(name, "", NULL, fault);
    log_write(name, text);
    if (strcmp(fault, "kill") == 0) {
        follow_rule(folder, name, text);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(fault, "wait") == 0)
        wait_for_go(name);
    if (parse_errno(fault))
        return parse_errno(fault);
    if (strcmp(fault, "lose") == 0)
        return 0;
    if (*fault && strcmp(fault, "ok") != 0 && strcmp(fault, "wait") != 0) {
        fake_put(folder, name, fault);
        return 0;
    }
    return follow_rule(folder, name, text);
}

static bool find_path(int file, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = *root ? readlink(link, path, PATH_MAX - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && fake_is_ours(path);
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

PUBLIC ssize_t read(int file, void *bytes, size_t size) {
    char path[PATH_MAX], fault[300];
    int saved = errno;
    *fault = '\0';
    if (find_path(file, path))
        next_fault(strrchr(path, '/') + 1, ".read", NULL, fault);
    errno = parse_errno(fault) ? parse_errno(fault) : saved;
    return parse_errno(fault) ? -1 : syscall(SYS_read, file, bytes, size);
}

/* Stores the absolute path of a file in `whole`. */
static void join(int folder, const char *path, char whole[2 * PATH_MAX]) {
    char base[PATH_MAX];
    if (*path == '/' || folder == AT_FDCWD) {
        snprintf(whole, 2 * PATH_MAX, "%s", path);
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        base[length > 0 ? length : 0] = '\0';
        snprintf(whole, 2 * PATH_MAX, "%s/%s", base, path);
    }
}

static bool is_read_only(const char *whole) {
    char fault[300];
    next_fault(strrchr(whole, '/') + 1, "", "EROFS", fault);
    return *fault || fake_has_switch("read-only");
}

/* O_TRUNC has no effect in /sys. */
static int open_file(int folder, const char *path, int flags, unsigned mode) {
    char whole[2 * PATH_MAX];
    join(folder, path, whole);
    if (fake_is_ours(whole))
        flags &= ~O_TRUNC;
    if ((flags & O_ACCMODE) != O_RDONLY && fake_is_ours(whole) && is_read_only(whole)) {
        errno = EROFS;
        return -1;
    }
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

PUBLIC int faccessat(int folder, const char *path, int mode, int flags) {
    char whole[2 * PATH_MAX];
    join(folder, path, whole);
    if (mode & W_OK && fake_is_ours(whole) && fake_has_switch("read-only")) {
        errno = EROFS;
        return -1;
    }
#ifdef SYS_faccessat2
    int status = (int)syscall(SYS_faccessat2, folder, path, mode, flags);
    if (status == 0 || errno != ENOSYS)
        return status;
#endif
    /* Before Linux 5.8 there are no flags; the effective user is the real one here. */
    return (int)syscall(SYS_faccessat, folder, path, mode);
}

/* This process gets SIGTERM at the death of its parent. */
static bool dies_with_parent;

PUBLIC int prctl(int option, ...) {
    unsigned long words[4];
    va_list rest;
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(rest, unsigned long);
    va_end(rest);
    dies_with_parent |= option == PR_SET_PDEATHSIG && (int)words[0] == SIGTERM;
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}

/* Kills the parent and waits for the signal that the kernel sends at its death. */
static void kill_parent(pid_t parent) {
    const struct timespec pause = {.tv_nsec = 10000000};
    sigset_t pending;
    sigemptyset(&pending);
    kill(parent, SIGKILL);
    for (; !sigismember(&pending, SIGTERM); sigpending(&pending))
        nanosleep(&pause, NULL);
}

PUBLIC pid_t getppid(void) {
    char fault[300] = "";
    pid_t parent = (pid_t)syscall(SYS_getppid);
    if (*root && dies_with_parent)
        next_fault("getppid", "", NULL, fault);
    if (strcmp(fault, "kill") == 0)
        kill_parent(parent);
    return parent;
}

PUBLIC int mkdir(const char *path, mode_t mode) {
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0 && fake_is_ours(path))
        fake_fill_group(path);
    return result;
}

PUBLIC int rmdir(const char *path) {
    int why = fake_is_ours(path) ? fake_empty_group(path) : 0;
    if (why) {
        errno = why;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
