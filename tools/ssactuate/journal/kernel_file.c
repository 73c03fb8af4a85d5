/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"

int ssactuate_file_read(int root, const char *path, char value[SSACTUATE_VALUE_SIZE]) {
    SS_OWNED(close) int file = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t length = file < 0 ? -1 : read(file, value, SSACTUATE_VALUE_SIZE - 1);

    if (length < 0) {
        *value = '\0';
        return -errno;
    }

    while (length > 0 && strchr(" \t\n", value[length - 1]))
        length--;
    value[length] = '\0';
    return 0;
}

/* Follows no links: in a recorded tree, other users may have created them. */
static int open_in_tree(int root, const char *path) {
    char full[SSACTUATE_PATH_SIZE + 32];
    struct ss_walk walk;
    snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);

    int file = ss_walk_begin(&walk, full);
    if (file == 0)
        file = walk.exists ? ss_walk_open(&walk, O_WRONLY) : -ENOENT;
    ss_walk_end(&walk);
    return file < 0 && *walk.why ? -ELOOP : file;
}

static int open_to_write(int root, const char *path) {
    struct stat given, own;
    if (fstat(root, &given) < 0 || stat("/", &own) < 0 || given.st_dev != own.st_dev ||
        given.st_ino != own.st_ino)
        return open_in_tree(root, path);
    int file = openat(root, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return file < 0 ? -errno : file;
}

int ssactuate_file_write(int root, const char *path, const char *value) {
    SS_OWNED(close) int file = open_to_write(root, path);
    if (file < 0)
        return file;

    ssize_t written = write(file, value, strlen(value));
    if (written < 0)
        return -errno;

    /* Truncate a longer value in a recorded tree. In /sys this has no effect, and may fail. */
    int cut = ftruncate(file, written);
    (void)cut;
    return 0;
}

const char *ssactuate_file_explain(const char *path, int err) {
    static const struct {
        const char *part; /* of the path */
        int err;
        const char *advice;
    } rows[] = {
        {"", EROFS, ": /sys is mounted read-only here, as in most containers"},
        {"/cpufreq/", EBUSY, ": one of its CPUs is going online or offline; try again"},
        {"/scaling_min_freq", EINVAL,
            ": it is above the highest frequency that the kernel allows now; use a frequency "
            "instead of max"},
        {"/scaling_governor", EINVAL, ": the kernel does not have this governor"},
        {"/no_turbo", EPERM, ": the firmware has switched turbo off"},
        {"/powercap/", EACCES, ": the firmware has locked this limit"},
        {"", ELOOP, ": in this tree, it is a link or a file of another user: remove it"},
        {"", EIO, ": the hardware refuses it; the kernel log may say why"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].err == err && strstr(path, rows[i].part))
            return rows[i].advice;
    }

    return "";
}

bool ssactuate_file_is_writable(int root, const char *path) {
    struct stat status;
    return fstatat(root, path, &status, 0) == 0 && (status.st_mode & 0222) &&
           faccessat(root, path, W_OK, AT_EACCESS) == 0;
}
