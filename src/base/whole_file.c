/* SPDX-License-Identifier: Apache-2.0 */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/owned.h"
#include "base/streams.h"
#include "base/words.h"

static int refuse(const char *path, const char *why, struct ss_error *error) {
    int number = errno;
    return ss_error_fail(error, "cannot write %s: %s%s", ss_words_show(path).text,
        *why ? why : strerror(number), *why ? "" : ss_advice_to_write(number, path));
}

static int check_access(const struct ss_walk *walk) {
    bool replaces = walk->descriptor < 0 && (!walk->exists || S_ISREG(walk->status.st_mode));
    if (walk->descriptor >= 0)
        return 0;
    if (replaces && walk->ends_with_slash)
        errno = EISDIR;
    else if (faccessat(
                 walk->folder, replaces ? "." : walk->name, replaces ? W_OK | X_OK : W_OK, 0) == 0)
        return 0;
    return -errno;
}

int ss_whole_file_check(const char *path, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, path);
    bool is_folder = status == 0 && walk.exists && S_ISDIR(walk.status.st_mode);
    if (status == 0 && !is_folder)
        status = check_access(&walk);
    ss_walk_end(&walk);
    errno = is_folder ? EISDIR : -status;
    return status == 0 && !is_folder ? 0 : refuse(path, walk.why, error);
}

/* Number of random names that are tried for an unfinished file. */
#define ATTEMPTS_MAX 100

/* How much of the name a hidden name keeps: two dots and 16 digits are added. */
#define NAME_KEPT (NAME_MAX - 18)

/*
 * Copies the mode of the file that is replaced, if it is ours. Another user may have linked or
 * moved one of our files here, so others get no additional write permission.
 */
static void copy_mode(const struct ss_whole_file *file) {
    struct stat replaced, made;
    if (fstatat(file->folder, file->name, &replaced, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(replaced.st_mode) && replaced.st_uid == geteuid() && replaced.st_nlink == 1 &&
        fstat(fileno(file->stream), &made) == 0)
        fchmod(fileno(file->stream),
            replaced.st_mode & 0777 & (made.st_mode | ~(mode_t)(S_IWGRP | S_IWOTH)));
}

/*
 * Creates the hidden file that is renamed when it is complete. Other programs ignore it, and nobody
 * can guess its name.
 */
static int open_temporary(struct ss_whole_file *file, mode_t mode) {
    int descriptor = -1;
    errno = EEXIST;
    for (int i = 0; descriptor < 0 && errno == EEXIST && i < ATTEMPTS_MAX; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) < 0)
            return -1;
        snprintf(file->temporary, sizeof file->temporary, ".%.*s.%016" PRIx64, NAME_KEPT,
            file->name, random);
        descriptor = openat(file->folder, file->temporary,
            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }

    if (descriptor < 0)
        return -1;

    file->stream = fdopen(descriptor, "w");
    if (file->stream) {
        copy_mode(file);
        return 0;
    }
    close(descriptor);
    unlinkat(file->folder, file->temporary, 0);
    return -1;
}

static int open_special(struct ss_whole_file *file, struct ss_walk *walk) {
    SS_OWNED(close) int descriptor = ss_walk_open(walk, O_WRONLY);
    if (descriptor < 0)
        return descriptor;
    file->stream = fdopen(descriptor, "w");
    if (!file->stream)
        return -errno;
    ss_owned_take(&descriptor);
    return 0;
}

static int open_walked(struct ss_whole_file *file, struct ss_walk *walk, const char *path) {
    int status = ss_walk_begin(walk, path);
    file->is_regular = walk->descriptor < 0 && (!walk->exists || S_ISREG(walk->status.st_mode));
    if (status < 0)
        return status;
    if (!file->is_regular)
        return open_special(file, walk);
    if (walk->ends_with_slash)
        return -EISDIR;

    file->folder = ss_owned_take(&walk->folder);
    file->owns_folder = true;
    strcpy(file->name, walk->name);
    return open_temporary(file, 0666) < 0 ? -errno : 0;
}

static void close_folder(struct ss_whole_file *file) {
    if (file->owns_folder && file->folder >= 0)
        close(file->folder);
    file->folder = -1;
}

int ss_whole_file_open(struct ss_whole_file *file, const char *path) {
    struct ss_walk walk;
    *file = (struct ss_whole_file){.folder = -1};
    int status = open_walked(file, &walk, path);
    strcpy(file->why, walk.why);
    ss_walk_end(&walk);
    if (status == 0)
        return 0;
    close_folder(file);
    errno = -status;
    return -1;
}

int ss_whole_file_open_below(struct ss_whole_file *file, int folder, const char *name) {
    *file = (struct ss_whole_file){.is_regular = true, .folder = folder};
    snprintf(file->name, sizeof file->name, "%s", name);
    return open_temporary(file, 0644);
}

void ss_whole_file_abandon(struct ss_whole_file *file) {
    int why = errno;
    if (file->stream)
        fclose(file->stream);
    file->stream = NULL;
    if (file->is_regular)
        unlinkat(file->folder, file->temporary, 0);
    close_folder(file);
    errno = why;
}

/*
 * Flushes even if an earlier write failed, to get its errno: the repeated write fails for the same
 * reason.
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
    bool failed = !flush(stream) || (file->is_regular && fsync(fileno(stream)) < 0);
    if (failed) {
        ss_whole_file_abandon(file);
        return -1;
    }

    file->stream = NULL;
    if (fclose(stream) == 0 && (!file->is_regular || renameat(file->folder, file->temporary,
                                                         file->folder, file->name) == 0)) {
        close_folder(file);
        return 0;
    }

    ss_whole_file_abandon(file);
    return -1;
}

int ss_whole_file_begin(struct ss_whole_file *file, const char *path, struct ss_error *error) {
    *file = (struct ss_whole_file){.stream = stdout, .folder = -1};
    if (strcmp(path, "-") == 0 || ss_whole_file_open(file, path) == 0)
        return 0;
    return refuse(path, file->why, error);
}

int ss_whole_file_end(struct ss_whole_file *file, const char *path, struct ss_error *error) {
    if (file->stream == stdout)
        return ss_streams_flush(error);
    return ss_whole_file_commit(file) == 0 ? 0 : refuse(path, "", error);
}
