/* SPDX-License-Identifier: Apache-2.0 */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/streams.h"
#include "base/words.h"

/* Opens a pipe or a device. Opening a FIFO without a reader fails at once instead of blocking. */
static FILE *open_special(const char *path) {
    int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    fcntl(descriptor, F_SETFL, 0);
    FILE *stream = fdopen(descriptor, "w");
    if (!stream)
        close(descriptor);
    return stream;
}

/* Linux follows at most this many links in one path. */
#define LINKS_MAX 40

/*
 * Returns whether this path is a link that the kernel would not follow either if
 * fs.protected_symlinks is set. That setting does not protect us, because we read links and replace
 * their targets.
 */
static bool is_foreign_link(const char *path) {
    struct stat link, folder;
    char parent[4100];
    if (lstat(path, &link) < 0 || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
        return false;
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    snprintf(slash ? slash + 1 : parent, 2, ".");
    if (stat(parent, &folder) < 0)
        return true;
    return folder.st_mode & S_ISVTX && folder.st_mode & S_IWOTH && folder.st_uid != link.st_uid;
}

int ss_whole_file_resolve(const char *path, char *target, size_t size) {
    char link[4096];
    ssize_t length = -1;
    if (snprintf(target, size, "%s", path) >= (int)size)
        return -ENAMETOOLONG;
    for (int i = 0; i < LINKS_MAX; i++) {
        if (is_foreign_link(target))
            return -EACCES;
        length = readlink(target, link, sizeof link - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT ? 0 : -errno;
        link[length] = '\0';
        char *slash = strrchr(target, '/');
        char *name = *link == '/' || !slash ? target : slash + 1;
        if ((size_t)length >= size - (size_t)(name - target))
            return -ENAMETOOLONG;
        strcpy(name, link);
    }
    return -ELOOP;
}

static int refuse(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s cannot be written: %s%s", ss_words_show(path).text,
        strerror(errno), ss_advice_to_write(errno, path));
}

int ss_whole_file_check(const char *path, struct ss_error *error) {
    struct stat status;
    char folder[4096];
    struct ss_words_shown shown = ss_words_show(path);
    bool exists = stat(path, &status) == 0;
    bool plain = !exists || S_ISREG(status.st_mode);
    if (exists && S_ISDIR(status.st_mode))
        return ss_error_fail(error, "%s is a directory", shown.text);
    errno = -ss_whole_file_resolve(path, folder, sizeof folder);
    if (errno == EACCES && is_foreign_link(folder))
        return ss_error_fail(error,
            "%s cannot be written: it is a link that another user made in a folder open to all "
            "users: choose a path in a folder of your own",
            shown.text);
    if (errno)
        return refuse(path, error);
    char *slash = plain ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    if (plain ? access(slash ? folder : ".", W_OK | X_OK) == 0 : access(path, W_OK) == 0)
        return 0;
    return refuse(path, error);
}

/* How many names of killed programs an unfinished file avoids. */
#define ATTEMPTS_MAX 100

/* How much of a name its hidden name has: that is longer, by dots, a pid and an attempt. */
#define NAME_KEPT (NAME_MAX - 16)

/*
 * Creates the hidden file under a new name, with the mode of the file that it will replace. A
 * killed program may have left a file with our pid, which in a PID namespace is the same in every
 * run.
 */
static int create_temporary(struct ss_whole_file *file) {
    struct stat replaced;
    /* A hidden name: programs that watch a folder for files ignore it. */
    const char *slash = strrchr(file->path, '/');
    const char *name = slash ? slash + 1 : file->path;
    int length = snprintf(file->temporary, sizeof file->temporary, "%.*s.%.*s.%d",
        (int)(name - file->path), file->path, NAME_KEPT, name, (int)getpid());
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int descriptor = openat(file->folder, file->temporary, flags, 0666);
    for (int i = 1; descriptor < 0 && errno == EEXIST && i < ATTEMPTS_MAX; i++) {
        snprintf(file->temporary + length, sizeof file->temporary - (size_t)length, ".%d", i);
        descriptor = openat(file->folder, file->temporary, flags, 0666);
    }
    if (descriptor >= 0 && fstatat(file->folder, file->path, &replaced, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(replaced.st_mode))
        fchmod(descriptor, replaced.st_mode & 0777);
    return descriptor;
}

/* Opens the hidden file that gets its name later. */
static int open_temporary(struct ss_whole_file *file) {
    int descriptor = create_temporary(file);
    if (descriptor < 0)
        return -1;
    file->stream = fdopen(descriptor, "w");
    if (file->stream)
        return 0;
    close(descriptor);
    unlinkat(file->folder, file->temporary, 0);
    return -1;
}

int ss_whole_file_open(struct ss_whole_file *file, const char *path) {
    struct stat status;
    file->plain = stat(path, &status) < 0 || S_ISREG(status.st_mode);
    file->stream = NULL;
    file->folder = AT_FDCWD;
    errno = -ss_whole_file_resolve(path, file->path, sizeof file->path);
    if (errno)
        return -1;
    if (file->plain)
        return open_temporary(file);
    file->stream = open_special(path);
    return file->stream ? 0 : -1;
}

int ss_whole_file_open_below(struct ss_whole_file *file, int folder, const char *name) {
    file->plain = true;
    file->stream = NULL;
    file->folder = folder;
    snprintf(file->path, sizeof file->path, "%s", name);
    return open_temporary(file);
}

void ss_whole_file_abandon(struct ss_whole_file *file) {
    int why = errno;
    if (file->stream)
        fclose(file->stream);
    file->stream = NULL;
    if (file->plain)
        unlinkat(file->folder, file->temporary, 0);
    errno = why;
}

/*
 * Flushes even after an earlier write has failed: errno may have changed since, and the repeated
 * write fails for the same reason.
 */
static bool flush(FILE *stream) {
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return true;
    if (errno == 0)
        errno = EIO;
    return false;
}

int ss_whole_file_commit(struct ss_whole_file *file) {
    FILE *stream = file->stream;
    bool failed = !flush(stream) || (file->plain && fsync(fileno(stream)) < 0);
    if (failed) {
        ss_whole_file_abandon(file);
        return -1;
    }
    file->stream = NULL;
    if (fclose(stream) == 0 &&
        (!file->plain || renameat(file->folder, file->temporary, file->folder, file->path) == 0))
        return 0;
    ss_whole_file_abandon(file);
    return -1;
}

int ss_whole_file_begin(struct ss_whole_file *file, const char *path, struct ss_error *error) {
    file->stream = stdout;
    return strcmp(path, "-") == 0 || ss_whole_file_open(file, path) == 0 ? 0 : refuse(path, error);
}

int ss_whole_file_end(struct ss_whole_file *file, const char *path, struct ss_error *error) {
    if (file->stream == stdout)
        return ss_streams_flush(error);
    return ss_whole_file_commit(file) == 0 ? 0 : refuse(path, error);
}
