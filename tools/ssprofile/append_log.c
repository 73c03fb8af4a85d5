/* SPDX-License-Identifier: Apache-2.0 */
#include "append_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/owned.h"

static int fail(const struct ssprofile_ledger *ledger, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", ledger->path, strerror(errno));
}

/* The number of whole lines, and where the last one ends. -1: errno says why. */
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

/* All of it, or the file is as it was. */
static int append(int file, const char *text) {
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

int ssprofile_ledger_open(struct ssprofile_ledger *ledger, const char *path, const char *heading,
    struct ss_error *error) {
    size_t lines;
    off_t end;
    *ledger = (struct ssprofile_ledger){0};
    if (strlen(path) >= sizeof ledger->path)
        return ss_error_fail(error, "%.100s...: the path is too long", path);
    strcpy(ledger->path, path);
    SS_OWNED(close) int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return fail(ledger, error);
    if (flock(file, LOCK_EX | LOCK_NB) < 0)
        return ss_error_fail(error, "%s: another process is measuring into it", path);
    if (count_lines(file, &lines, &end) < 0 || ftruncate(file, end) < 0 ||
        (lines == 0 && append(file, heading) < 0))
        return fail(ledger, error);
    ledger->rows = lines > 0 ? lines - 1 : 0;
    ledger->file = ss_owned_take(&file);
    return 0;
}

int ssprofile_ledger_add(struct ssprofile_ledger *ledger, const char *row, struct ss_error *error) {
    if (append(ledger->file, row) < 0)
        return fail(ledger, error);
    ledger->rows++;
    return 0;
}

void ssprofile_ledger_close(struct ssprofile_ledger *ledger) {
    if (ledger->file > 0)
        close(ledger->file);
    ledger->file = 0;
}
