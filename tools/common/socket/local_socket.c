/* SPDX-License-Identifier: Apache-2.0 */
#include "local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/words.h"

#define SOCKET_FLAGS    (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)

static int fail_at_path(const char *path, const char *why, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", ss_words_show(path).text, why);
}

static int fail_to_listen(const char *path, const char *why, struct ss_error *error) {
    return ss_error_fail(error, "cannot listen on %s: %s", ss_words_show(path).text, why);
}

int local_socket_check(const char *path, struct ss_error *error) {
    if (strlen(path) <= SOCKET_PATH_MAX)
        return 0;
    return ss_error_fail(error,
        "%s: the socket path is too long (at most %zu bytes): choose a shorter one",
        ss_words_show(path).text, SOCKET_PATH_MAX);
}

/*
 * Addresses the socket through the descriptor of its folder, so that nobody can replace a folder or
 * a link of the path meanwhile. Returns -1 if the name is too long.
 */
static int make_address(const struct local_socket *local, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s",
        local->folder, local->name);
    errno = ENAMETOOLONG;
    return length < (int)sizeof address->sun_path ? 0 : -1;
}

/* Removes a socket that a killed process left behind. */
static int remove_dead(const struct local_socket *local, const struct sockaddr_un *address,
    const char *path, struct ss_error *error) {
    struct stat status;

    if (fstatat(local->folder, local->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fail_to_listen(path, strerror(errno), error);
    if (!S_ISSOCK(status.st_mode))
        return fail_at_path(path, "exists and is not a socket: choose another path", error);

    SS_OWNED(close) int attempt = socket(AF_UNIX, SOCKET_FLAGS, 0);
    if (attempt < 0)
        return fail_to_listen(path, strerror(errno), error);

    if (connect(attempt, (const struct sockaddr *)address, sizeof *address) == 0 ||
        errno == EAGAIN) /* a listener exists, but its queue is full */
        return fail_at_path(path, "another process is listening there: choose another path", error);
    if (errno != ECONNREFUSED)
        return fail_to_listen(path, strerror(errno), error);

    if (unlinkat(local->folder, local->name, 0) < 0 && errno != ENOENT)
        return fail_to_listen(path, strerror(errno), error);
    return 0;
}

/* Restricts permissions with the umask, because another user could connect before a chmod(). */
static int bind_socket(int file, const struct sockaddr_un *address, mode_t permissions) {
    mode_t before = umask(0777);
    umask(before | (~permissions & 0777));
    int result = bind(file, (const struct sockaddr *)address, sizeof *address);
    umask(before);
    return result;
}

/* Opens the folder of a path, and finds the name in it. */
static int open_folder(struct local_socket *local, const char *path, struct ss_error *error) {
    char parent[SOCKET_PATH_MAX + 1];
    struct ss_error why = {0};
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;

    snprintf(parent, sizeof parent, "%.*s", length, path);
    snprintf(local->name, sizeof local->name, "%s", path + length);
    local->folder = ss_walk_folder_path(slash ? parent : ".", O_PATH, &why);
    return local->folder < 0 ? fail_to_listen(path, why.message, error) : 0;
}

static int open_socket(
    struct local_socket *local, const char *path, mode_t permissions, struct ss_error *error) {
    struct sockaddr_un address;
    struct stat status;

    if (open_folder(local, path, error) < 0)
        return -1;
    if (make_address(local, &address) < 0)
        return fail_to_listen(path, strerror(errno), error);

    local->file = socket(AF_UNIX, SOCKET_FLAGS, 0);
    int result = local->file < 0 ? -1 : bind_socket(local->file, &address, permissions);
    if (result < 0 && local->file >= 0 && errno == EADDRINUSE) {
        if (remove_dead(local, &address, path, error) < 0)
            return -1;
        result = bind_socket(local->file, &address, permissions);
    }

    if (result < 0 || fstatat(local->folder, local->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return fail_to_listen(path, strerror(errno), error);

    local->device = status.st_dev;
    local->inode = status.st_ino;
    return 0;
}

int local_socket_open(
    struct local_socket *local, const char *path, mode_t permissions, struct ss_error *error) {
    *local = (struct local_socket){.file = -1, .folder = -1};
    if (local_socket_check(path, error) < 0)
        return -1;

    int result = open_socket(local, path, permissions, error);
    if (result < 0 && local->file >= 0)
        close(ss_owned_take(&local->file));
    if (result < 0)
        ss_owned_close(&local->folder);
    return result;
}

void local_socket_remove(struct local_socket *local) {
    struct stat now;
    if (!local->inode)
        return;

    if (fstatat(local->folder, local->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_dev == local->device && now.st_ino == local->inode)
        unlinkat(local->folder, local->name, 0);
    close(ss_owned_take(&local->folder));
    local->inode = 0;
}
