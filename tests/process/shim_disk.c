/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test and its commands, logs changes of folders and syncs in the
 * order in which they happen. SS_TEST_DISK=LOG:FOLDER; without it, nothing is logged. Only paths in
 * the folder and those of ssbatch in /dev/shm are logged:
 *
 *   make PATH        a new folder
 *   file PATH        a new file or symbolic link
 *   write PATH       an existing file is opened for writing
 *   move PATH PATH
 *   drop PATH        a removed file, link or empty folder
 *   sync PATH SIZE   the contents are the next line; a folder has none
 *
 * Nothing is synced. With SS_TEST_DISK_KILL=N, ssbatch is killed in place of its sync number N.
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
#define MEMORY "/dev/shm/ssbatch-"

static char log_path[PATH_MAX], root[PATH_MAX];

__attribute__((constructor)) static void read_names(void) {
    const char *text = getenv("SS_TEST_DISK");
    if (text && sscanf(text, "%4000[^:]:%4000s", log_path, root) != 2)
        log_path[0] = '\0';
}

/* Opens and locks the log, so that operations are logged in their order. */
static int begin(void) {
    if (!*log_path)
        return -1;
    int file = (int)syscall(
        SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        flock(file, LOCK_EX);
    return file;
}

static void end(int file) {
    int why = errno;
    if (file >= 0)
        syscall(SYS_close, file);
    errno = why;
}

static void resolve(int folder, const char *path, char whole[PATH_MAX]) {
    char base[PATH_MAX / 2] = "", link[64];
    if (path[0] != '/' && folder == AT_FDCWD && !getcwd(base, sizeof base))
        abort();
    if (path[0] != '/' && folder != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        if (readlink(link, base, sizeof base - 1) < 0)
            abort();
    }
    snprintf(whole, PATH_MAX, "%s%s%.2000s", base, *base ? "/" : "", path);
}

static bool is_logged(const char *path) {
    size_t length = strlen(root);
    return (strncmp(path, root, length) == 0 && path[length] == '/') ||
           strncmp(path, MEMORY, sizeof MEMORY - 1) == 0;
}

static void note(int file, const char *what, int folder, const char *path) {
    char whole[PATH_MAX];
    int why = errno;
    resolve(folder, path, whole);
    if (file >= 0 && is_logged(whole))
        dprintf(file, "%s %s\n", what, whole);
    errno = why;
}

static bool exists(int folder, const char *path) {
    struct stat status;
    return fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int open_noted(int folder, const char *path, int flags, unsigned mode) {
    if ((flags & O_ACCMODE) == O_RDONLY)
        return (int)syscall(SYS_openat, folder, path, flags, mode);
    int file = begin();
    bool existed = exists(folder, path);
    int opened = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (opened >= 0)
        note(file, existed ? "write" : "file", folder, path);
    end(file);
    return opened;
}

static unsigned mode_of(int flags, va_list rest) {
    return flags & O_CREAT ? va_arg(rest, unsigned) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
    PUBLIC int name(const char *path, int flags, ...) {                                            \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = mode_of(flags, rest);                                                      \
        va_end(rest);                                                                              \
        return open_noted(AT_FDCWD, path, flags, mode);                                            \
    }

#define DEFINE_OPENAT(name)                                                                        \
    PUBLIC int name(int folder, const char *path, int flags, ...) {                                \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        unsigned mode = mode_of(flags, rest);                                                      \
        va_end(rest);                                                                              \
        return open_noted(folder, path, flags, mode);                                              \
    }

#define DEFINE_FOPEN(name)                                                                         \
    PUBLIC FILE *name(const char *path, const char *mode) {                                        \
        FILE *(*function)(const char *, const char *) = dlsym(RTLD_NEXT, #name);                   \
        int file = *mode == 'r' ? -1 : begin();                                                    \
        bool existed = exists(AT_FDCWD, path);                                                     \
        FILE *stream = function(path, mode);                                                       \
        if (stream)                                                                                \
            note(file, existed ? "write" : "file", AT_FDCWD, path);                                \
        end(file);                                                                                 \
        return stream;                                                                             \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* A fortified build calls these instead of openat without a mode. */
int __openat_2(int folder, const char *path, int flags, ...);
int __openat64_2(int folder, const char *path, int flags, ...);
DEFINE_OPENAT(__openat_2)
DEFINE_OPENAT(__openat64_2)

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

PUBLIC int symlinkat(const char *target, int folder, const char *path) {
    int file = begin();
    int status = (int)syscall(SYS_symlinkat, target, folder, path);
    if (status == 0)
        note(file, "file", folder, path);
    end(file);
    return status;
}

PUBLIC int symlink(const char *target, const char *path) {
    return symlinkat(target, AT_FDCWD, path);
}

PUBLIC int mkdirat(int folder, const char *path, mode_t mode) {
    int file = begin();
    int status = (int)syscall(SYS_mkdirat, folder, path, mode);
    if (status == 0)
        note(file, "make", folder, path);
    end(file);
    return status;
}

PUBLIC int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

PUBLIC int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    int file = begin();
    int status = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
    int why = errno;
    resolve(from_folder, from, old);
    resolve(to_folder, to, new);
    if (status == 0 && file >= 0 && is_logged(old))
        dprintf(file, "move %s %s\n", old, new);
    errno = why;
    end(file);
    return status;
}

PUBLIC int rename(const char *from, const char *to) {
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

PUBLIC int unlinkat(int folder, const char *path, int flags) {
    int file = begin();
    int status = (int)syscall(SYS_unlinkat, folder, path, flags);
    if (status == 0)
        note(file, "drop", folder, path);
    end(file);
    return status;
}

PUBLIC int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

PUBLIC int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static void note_contents(int file, const char *path) {
    static char bytes[65536];
    struct stat status;
    ssize_t length = 0;
    int contents = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
    if (contents < 0)
        return; /* without a name it is not on disk after a power cut */
    if (fstat(contents, &status) == 0 && S_ISREG(status.st_mode))
        length = read(contents, bytes, sizeof bytes);
    syscall(SYS_close, contents);
    dprintf(file, "sync %s %zd\n", path, length);
    if (write(file, bytes, (size_t)length) != length || dprintf(file, "\n") < 0)
        abort();
}

static void kill_in_time(void) {
    static int syncs;
    const char *at = getenv("SS_TEST_DISK_KILL");
    if (at && ++syncs == atoi(at) && strcmp(program_invocation_short_name, "ssbatch") == 0)
        raise(SIGKILL);
}

/* Does not sync: only the log matters, and hundreds of syncs would take long on a busy disk. */
static int sync_noted(int descriptor) {
    kill_in_time();
    char link[64], path[PATH_MAX] = "";
    int file = begin();
    int status = fcntl(descriptor, F_GETFD) < 0 ? -1 : 0;
    int why = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (status == 0 && file >= 0 && readlink(link, path, sizeof path - 1) > 0 &&
        (is_logged(path) || strcmp(path, root) == 0))
        note_contents(file, path);
    errno = why;
    end(file);
    return status;
}

PUBLIC int fsync(int descriptor) {
    return sync_noted(descriptor);
}

PUBLIC int fdatasync(int descriptor) {
    return sync_noted(descriptor);
}
