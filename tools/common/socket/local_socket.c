/* SPDX-License-Identifier: Apache-2.0 */
#include "local_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/owned.h"
#include "base/words.h"

#define SOCKET_FLAGS    (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)

static int fail_at_path(const char *path, const char *why, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", ss_words_show(path).text, why);
}

int local_socket_check(const char *path, struct ss_error *error) {
    if (strlen(path) <= SOCKET_PATH_MAX)
        return 0;
    return ss_error_fail(error,
        "%s: the path of a socket has at most %zu bytes: choose a shorter one",
        ss_words_show(path).text, SOCKET_PATH_MAX);
}

/* Removes a socket that a killed process left behind. */
static int remove_dead(const struct sockaddr_un *address, struct ss_error *error) {
    struct stat status;
    const char *path = address->sun_path;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? 0 : fail_at_path(path, strerror(errno), error);
    if (!S_ISSOCK(status.st_mode))
        return fail_at_path(path, "exists and is not a socket: choose another path", error);
    SS_OWNED(close) int attempt = socket(AF_UNIX, SOCKET_FLAGS, 0);
    if (attempt < 0)
        return fail_at_path(path, strerror(errno), error);
    if (connect(attempt, (const struct sockaddr *)address, sizeof *address) == 0 ||
        errno == EAGAIN) /* a listener exists, but its queue is full */
        return fail_at_path(path, "another process is listening there: choose another path", error);
    if (errno != ECONNREFUSED)
        return fail_at_path(path, strerror(errno), error);
    if (unlink(path) < 0 && errno != ENOENT)
        return fail_at_path(path, strerror(errno), error);
    return 0;
}

/* Restricts permissions with the umask, because another user could connect before a chmod(). */
static int bind_it(struct local_socket *local, mode_t permissions) {
    mode_t before = umask(0777);
    umask(before | (~permissions & 0777));
    int result = bind(local->file, (const struct sockaddr *)&local->address, sizeof local->address);
    umask(before);
    return result;
}

static int open_it(struct local_socket *local, mode_t permissions, struct ss_error *error) {
    struct stat status;
    const char *path = local->address.sun_path;
    local->file = socket(AF_UNIX, SOCKET_FLAGS, 0);
    int result = local->file < 0 ? -1 : bind_it(local, permissions);
    if (result < 0 && local->file >= 0 && errno == EADDRINUSE) {
        if (remove_dead(&local->address, error) < 0)
            return -1;
        result = bind_it(local, permissions);
    }
    if (result < 0 || lstat(path, &status) < 0)
        return fail_at_path(path, strerror(errno), error);
    local->device = status.st_dev;
    local->number = status.st_ino;
    return 0;
}

int local_socket_open(
    struct local_socket *local, const char *path, mode_t permissions, struct ss_error *error) {
    *local = (struct local_socket){.file = -1, .address = {.sun_family = AF_UNIX}};
    if (local_socket_check(path, error) < 0)
        return -1;
    memcpy(local->address.sun_path, path, strlen(path) + 1);
    int result = open_it(local, permissions, error);
    if (result < 0 && local->file >= 0)
        close(ss_owned_take(&local->file));
    return result;
}

void local_socket_remove(struct local_socket *local) {
    struct stat now;
    if (local->number && lstat(local->address.sun_path, &now) == 0 && now.st_dev == local->device &&
        now.st_ino == local->number)
        unlink(local->address.sun_path);
    local->number = 0;
}
