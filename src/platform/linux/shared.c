/* SPDX-License-Identifier: Apache-2.0 */
#include "base/owned.h"
#include "platform/linux/linux.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

int ss_platform_shared_create(void) {
    return open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/*
 * Returns whether an O_PATH descriptor is shared memory that only `user` can open. Checks the file
 * system first: fstat() could block on one that another user serves.
 */
static bool is_private(int descriptor, uid_t user, struct stat *status) {
    struct statfs system;
    if (user != geteuid() && (fstatfs(descriptor, &system) < 0 || system.f_type != TMPFS_MAGIC))
        return false;
    return fstat(descriptor, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == user &&
           (status->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/*
 * Opens the file that a process of `user` holds, given its link in /proc. Opens with O_PATH first,
 * because opening a FIFO or a device could block or have an effect. O_NONBLOCK avoids waiting for
 * the lease of another user.
 */
static int open_if(
    const char *path, uid_t user, bool (*fits)(int descriptor), struct ss_shared *shared) {
    char target[400];
    struct stat status;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || strncmp(target, FOLDER "/", sizeof FOLDER) != 0)
        return -1;

    SS_OWNED(close) int held = open(path, O_PATH | O_CLOEXEC);
    if (held < 0 || !is_private(held, user, &status))
        return -1;

    int access = user == geteuid() ? O_RDWR : O_RDONLY;
    SS_OWNED(close)
    int descriptor =
        open(ss_linux_path("/proc/self/fd/%d", held).text, access | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0 || !fits(descriptor))
        return -1;

    *shared = (struct ss_shared){
        .descriptor = ss_owned_take(&descriptor),
        .owner = status.st_uid,
        .size = (uint64_t)status.st_size,
    };
    return 0;
}

static int fail_to_look(pid_t pid, int err, struct ss_error *error) {
    switch (err) {
    case EACCES:
        return ss_error_fail(error, "pid %d belongs to another user", (int)pid);
    case ENOENT:
        return ss_error_fail(error, "pid %d does not exist", (int)pid);
    default:
        return ss_error_fail(error, "cannot examine pid %d: %s", (int)pid, strerror(err));
    }
}

int ss_platform_shared_of(
    pid_t pid, bool (*fits)(int descriptor), struct ss_shared *shared, struct ss_error *error) {
    SS_OWNED(closedir) DIR *directory = opendir(ss_linux_path("/proc/%d/fd", (int)pid).text);
    if (!directory)
        return fail_to_look(pid, errno, error);

    uid_t user;
    struct dirent *entry;
    bool found = false;
    bool exists = ss_platform_process_user(pid, &user);
    while (exists && !found && (entry = readdir(directory))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            found = open_if(ss_linux_path("/proc/%d/fd/%s", (int)pid, entry->d_name).text, user,
                        fits, shared) == 0;
    }

    if (!found)
        return ss_error_fail(error, "pid %d is not a running Showstopper", (int)pid);
    return 0;
}
