/* SPDX-License-Identifier: Apache-2.0 */
#include "append_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/state.h"
#include "base/walk.h"

/*
 * Counts the complete lines, and finds the end of the last one. Returns -1 with errno set on
 * failure.
 */
static int count_lines(int file, size_t *lines, off_t *end) {
    char text[65536];
    off_t at = 0;
    ssize_t got;

    *lines = 0;
    *end = 0;

    while ((got = pread(file, text, sizeof text, at)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] != '\n')
                continue;
            ++*lines;
            *end = at + i + 1;
        }
        at += got;
    }

    return got < 0 ? -1 : 0;
}

/* Appends the whole text. On failure, truncates the file to its old length. */
static int append_text(int file, const char *text) {
    size_t length = strlen(text);
    off_t end = lseek(file, 0, SEEK_END);
    if (end < 0)
        return -1;

    ssize_t written = write(file, text, length);
    if (written == (ssize_t)length && fsync(file) == 0)
        return 0;

    int why = written < 0 || written == (ssize_t)length ? errno : ENOSPC;
    if (ftruncate(file, end) < 0)
        return -1;
    errno = why;
    return -1;
}

#define LOCK ".lock"

/* How often to try to lock a file, 10 ms apart. */
#define LOCK_ATTEMPTS 100

/*
 * Returns false if the lock stays held. Retries, because a child that a killed process has just
 * forked shares the lock until it calls exec.
 */
static bool take_lock(int lock) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int attempt = 1; flock(lock, LOCK_EX | LOCK_NB) < 0; attempt++) {
        if (errno != EWOULDBLOCK || attempt == LOCK_ATTEMPTS)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

int ssprofile_append_log_lock(int folder, const char *path, struct ss_error *error) {
    const struct ss_trust nobody_else = {0};
    for (;;) {
        SS_OWNED(close) int lock = ss_lock_open(folder, LOCK, &nobody_else, path, error);
        if (lock < 0)
            return -1;

        if (!take_lock(lock))
            return ss_error_fail(error,
                "%s: another process is writing results to it: wait until it ends, or use another "
                "folder",
                path);

        if (ss_lock_has_name(lock, folder, LOCK))
            return ss_owned_take(&lock);
    }
}

int ssprofile_append_log_open(struct ssprofile_append_log *log, const char *path,
    const char *heading, struct ss_error *error) {
    size_t lines;
    off_t end;

    *log = (struct ssprofile_append_log){0};

    SS_OWNED(free) char *copy = strdup(path);
    if (!copy)
        return ss_error_memory(error);

    struct ss_error why = {0};
    SS_OWNED(close) int file = ss_walk_open_path(path, O_RDWR | O_APPEND, &why);
    if (file < 0)
        return ss_error_fail(error, "%s: %s", path, why.message);

    if (count_lines(file, &lines, &end) < 0 || ftruncate(file, end) < 0 ||
        (lines == 0 && append_text(file, heading) < 0))
        return ss_paths_fail(path, error);

    log->rows = lines > 0 ? lines - 1 : 0;
    log->file = ss_owned_take(&file);
    log->path = copy;
    copy = NULL;
    return 0;
}

int ssprofile_append_log_add(
    struct ssprofile_append_log *log, const char *row, struct ss_error *error) {
    if (append_text(log->file, row) < 0)
        return ss_paths_fail(log->path, error);
    log->rows++;
    return 0;
}

void ssprofile_append_log_close(struct ssprofile_append_log *log) {
    if (log->file > 0)
        close(log->file);
    free(log->path);
    *log = (struct ssprofile_append_log){0};
}
