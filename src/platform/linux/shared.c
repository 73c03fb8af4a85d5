/* SPDX-License-Identifier: Apache-2.0 */
#include "base/owned.h"
#include "platform/linux/linux.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

int ss_platform_shared_create(void) {
    return open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int open_if(const char *path, bool (*fits)(int descriptor)) {
    char target[400];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || strncmp(target, FOLDER "/", sizeof FOLDER) != 0)
        return -1;
    SS_OWNED(close) int descriptor = open(path, O_RDWR | O_CLOEXEC);
    return descriptor >= 0 && fits(descriptor) ? ss_owned_take(&descriptor) : -1;
}

static const char *explain(int number) {
    switch (number) {
    case EACCES:
        return "belongs to another user";
    case ENOENT:
        return "does not exist";
    default:
        return strerror(number);
    }
}

int ss_platform_shared_of(pid_t pid, bool (*fits)(int descriptor), struct ss_error *error) {
    SS_OWNED(closedir) DIR *directory = opendir(ss_linux_path("/proc/%d/fd", (int)pid).text);
    if (!directory)
        return ss_error_fail(error, "pid %d %s", (int)pid, explain(errno));
    int found = -1;
    struct dirent *entry;
    while (found < 0 && (entry = readdir(directory))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            found = open_if(ss_linux_path("/proc/%d/fd/%s", (int)pid, entry->d_name).text, fits);
    }
    if (found < 0)
        return ss_error_fail(error, "pid %d is not a running Showstopper", (int)pid);
    return found;
}
