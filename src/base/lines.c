/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

void ss_lines_adopt(struct ss_lines *lines, int file) {
    lines->err = 0;
    lines->waiting = lines->lost = 0;
    lines->used = 0;
    lines->size = 0;
    lines->interrupt = -1;
    lines->given_up = false;
    lines->file = file;
}

int ss_lines_open(struct ss_lines *lines, int folder, const char *name) {
    ss_lines_adopt(lines, openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    return lines->file < 0 ? -errno : 0;
}

/*
 * Truncates the file after the last whole line that was written. Returns how many lines of the
 * buffer are in the file.
 */
static uint64_t keep_whole_lines(struct ss_lines *lines) {
    off_t end = lseek(lines->file, 0, SEEK_CUR);
    uint64_t kept = 0;
    size_t length = 0;

    for (size_t i = 0; i < lines->used && (off_t)i < end - lines->size; i++) {
        if (lines->bytes[i] != '\n')
            continue;
        length = i + 1;
        kept++;
    }

    lines->size += (off_t)length;
    if (ftruncate(lines->file, lines->size) == 0)
        lseek(lines->file, lines->size, SEEK_SET);

    return kept;
}

/* Waits until the pipe has room. Returns false if `interrupt` ended the wait, or is -1. */
static bool await_room(struct ss_lines *lines) {
    struct pollfd polls[] = {
        {.fd = lines->file, .events = POLLOUT}, {.fd = lines->interrupt, .events = POLLIN}};
    if (lines->given_up || lines->interrupt < 0 || (poll(polls, 2, -1) < 0 && errno != EINTR))
        return false;
    lines->given_up = polls[0].revents == 0 && polls[1].revents != 0;
    return !lines->given_up;
}

static bool write_all(struct ss_lines *lines) {
    for (size_t done = 0; done < lines->used;) {
        ssize_t written = write(lines->file, lines->bytes + done, lines->used - done);
        if (written < 0 && errno != EINTR && (errno != EAGAIN || !await_room(lines)))
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

void ss_lines_flush(struct ss_lines *lines) {
    if (lines->file < 0 || lines->used == 0)
        return;
    if (write_all(lines)) {
        lines->size += (off_t)lines->used;
    } else {
        if (!lines->err)
            lines->err = lines->given_up ? EINTR : errno;
        lines->lost += lines->waiting - keep_whole_lines(lines);
    }
    lines->used = 0;
    lines->waiting = 0;
}

char *ss_lines_begin(struct ss_lines *lines, size_t size) {
    if (SS_LINES_SIZE - lines->used < size)
        ss_lines_flush(lines);
    return lines->bytes + lines->used;
}

void ss_lines_end(struct ss_lines *lines, const char *end) {
    if (lines->file < 0)
        return;
    lines->used = (size_t)(end - lines->bytes);
    lines->waiting++;
}

void ss_lines_close(struct ss_lines *lines) {
    if (lines->file < 0)
        return;
    ss_lines_flush(lines);
    if (close(lines->file) < 0 && !lines->err)
        lines->err = errno;
    lines->file = -1;
}
