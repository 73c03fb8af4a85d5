/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/streams.h"

/*
 * Puts the file aside and creates a new one. Returns its descriptor; a negative errno if the rows
 * stay in the present file.
 */
static int open_next(const struct ss_rotation *rotation, int folder) {
    if (renameat(folder, rotation->name, folder, rotation->aside) < 0)
        return -errno;
    int file = openat(folder, rotation->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
        return file;
    int why = errno;
    renameat(folder, rotation->aside, folder, rotation->name);
    return -why;
}

static void begin_file(struct ss_rotation *rotation, struct ss_lines *lines, int folder) {
    int file = open_next(rotation, folder);
    if (file < 0) {
        rotation->why = rotation->why ? rotation->why : -file;
        return;
    }
    ss_lines_close(lines);
    int why = lines->why;
    uint64_t lost = lines->lost;
    ss_lines_adopt(lines, file);
    lines->why = why;
    lines->lost = lost;
    char *to = ss_lines_begin(lines, strlen(rotation->heading) + 1);
    ss_lines_end(lines, stpcpy(to, rotation->heading));
}

void ss_rotation_turn(
    struct ss_rotation *rotation, struct ss_lines *lines, int folder, ss_time row) {
    if (rotation->keep == 0 || lines->file < 0)
        return;
    if (rotation->began == SS_TIME_NEVER)
        rotation->began = row;
    /* Do not turn for an early row: rows of different executors are not in order. */
    if (row < ss_time_add(rotation->began, rotation->keep))
        return;
    begin_file(rotation, lines, folder);
    rotation->began = row;
}

/* Appends the rows. On failure restores the file to its previous size. */
static int append(int to, int from, off_t heading) {
    off_t size = lseek(to, 0, SEEK_END);
    if (size < 0 || lseek(from, heading, SEEK_SET) < 0)
        return -errno;
    if (ss_streams_copy(from, to, INT64_MAX) >= 0)
        return 0;
    int why = errno;
    return ftruncate(to, size) < 0 ? -errno : -why;
}

/*
 * Appends the rows of the newer file to the older one, which then takes the newer one's name, so
 * that no row is lost if this process is killed.
 */
int ss_rotation_join(const struct ss_rotation *rotation, int folder) {
    SS_OWNED(close) int older = openat(folder, rotation->aside, O_WRONLY | O_CLOEXEC);
    if (older < 0)
        return errno == ENOENT ? 0 : -errno;
    SS_OWNED(close) int newer = openat(folder, rotation->name, O_RDONLY | O_CLOEXEC);
    if (newer < 0)
        return -errno;
    int result = append(older, newer, (off_t)strlen(rotation->heading));
    if (result == 0 && renameat(folder, rotation->aside, folder, rotation->name) < 0)
        result = -errno;
    return result;
}
