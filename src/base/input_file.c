/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"

#define INPUT_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Opens one of our descriptors again, so that the copy has its own offset. */
static int reopen(int descriptor) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, INPUT_FLAGS);
}

/* Opens the file that a walk has found. Returns a descriptor or a negative errno. */
static int open_found(const struct ss_walk *walk, struct stat *status) {
    if (!walk->exists)
        return -ENOENT;
    SS_OWNED(close)
    int file = walk->descriptor >= 0 ? reopen(walk->descriptor)
                                     : openat(walk->folder, walk->name, INPUT_FLAGS | O_NOFOLLOW);
    if (file < 0 || fstat(file, status) < 0)
        return -errno;
    /* Since the walk, the owner of the link may have moved another user's file there. */
    return walk->is_bound && status->st_uid != walk->user ? -EACCES : ss_owned_take(&file);
}

static int open_walked(int folder, const char *path, struct stat *status, struct ss_error *error) {
    struct ss_walk walk;
    int file = ss_walk_begin_at(&walk, folder, path);
    if (file == 0)
        file = open_found(&walk, status);
    if (file < 0)
        ss_error_fail(error, "%s: %s", path, ss_walk_explain(&walk, file));
    ss_walk_end(&walk);
    errno = file < 0 ? -file : 0;
    return file;
}

int ss_input_open(int folder, const char *path, off_t max, struct ss_error *error) {
    struct stat status;
    SS_OWNED(close) int file = open_walked(folder, path, &status, error);
    if (file < 0)
        return -1;

    if (!S_ISREG(status.st_mode)) {
        ss_error_fail(error, "%s: not a regular file: remove or replace it", path);
        errno = EINVAL;
        return -1;
    }

    if (status.st_size > max) {
        ss_error_fail(error, "%s: larger than %lld bytes", path, (long long)max);
        errno = EFBIG;
        return -1;
    }

    return ss_owned_take(&file);
}

FILE *ss_input_stream(int folder, const char *path, off_t max, struct ss_error *error) {
    SS_OWNED(close) int file = ss_input_open(folder, path, max, error);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (stream)
        ss_owned_take(&file);
    else if (file >= 0)
        ss_paths_fail(path, error);
    return stream;
}

bool ss_input_exists(int folder, const char *path) {
    struct ss_walk walk;
    int status = ss_walk_begin_at(&walk, folder, path);
    bool exists = status < 0 ? *walk.why != '\0' : walk.exists;
    ss_walk_end(&walk);
    return exists;
}
