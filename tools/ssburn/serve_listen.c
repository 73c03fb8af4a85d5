/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"

#define SOCKET_FLAGS (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

long serve_listener_backlog(void) {
    SS_OWNED(fclose) FILE *stream = fopen("/proc/sys/net/core/somaxconn", "re");
    long most;
    if (!stream || fscanf(stream, "%ld", &most) != 1 || most > SERVE_BACKLOG)
        return SERVE_BACKLOG;
    return most;
}

/* ---- a Unix socket ---- */

/* The server that made it was killed: the socket is there, and no process listens to it. */
static bool is_abandoned(const struct sockaddr_un *address) {
    struct stat status;
    SS_OWNED(close) int file = socket(AF_UNIX, SOCKET_FLAGS, 0);
    return file >= 0 && stat(address->sun_path, &status) == 0 && S_ISSOCK(status.st_mode) &&
           connect(file, (const struct sockaddr *)address, sizeof *address) < 0 &&
           errno == ECONNREFUSED;
}

static int bind_path(int file, const struct sockaddr_un *address) {
    int result = bind(file, (const struct sockaddr *)address, sizeof *address);
    if (result < 0 && errno == EADDRINUSE) {
        if (is_abandoned(address) && unlink(address->sun_path) == 0)
            result = bind(file, (const struct sockaddr *)address, sizeof *address);
        else
            errno = EADDRINUSE;
    }
    return result;
}

static int open_path(struct serve_listener *listener, const char *path, struct ss_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ss_error_fail(error, "--listen: %s: longer than the %zu bytes of a socket's path",
            ss_words_show(path).text, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    listener->file = socket(AF_UNIX, SOCKET_FLAGS, 0);
    if (listener->file < 0 || bind_path(listener->file, &address) < 0)
        return ss_error_fail(error, "--listen: %s: %s", ss_words_show(path).text, strerror(errno));
    listener->path = path;
    stat(path, &listener->mine);
    return 0;
}

/* ---- a port ---- */

static void write_url(struct serve_listener *listener) {
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char host[64] = "", port[8] = "";
    getsockname(listener->file, (struct sockaddr *)&bound, &length);
    getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
        NI_NUMERICHOST | NI_NUMERICSERV);
    const char *format = strchr(host, ':') ? "http://[%s]:%s/" : "http://%s:%s/";
    snprintf(listener->url, sizeof listener->url, format, host, port);
}

static int bind_port(int file, const struct addrinfo *found) {
    int on = 1;
    /* Else the port of a server that has just ended could not be had for a minute. */
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(file, found->ai_addr, found->ai_addrlen);
}

static int open_port(struct serve_listener *listener, const char *port, const char *address,
    struct ss_error *error) {
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM,
                                .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (getaddrinfo(address, port, &hints, &found) != 0)
        return ss_error_fail(error, "--address: '%s' is no address: write one in digits, 127.0.0.1",
            ss_words_show(address).text);
    listener->file = socket(found->ai_family, SOCKET_FLAGS, 0);
    int result = listener->file < 0 ? -1 : bind_port(listener->file, found);
    int reason = errno;
    freeaddrinfo(found);
    if (result < 0)
        return ss_error_fail(error, "--listen: %s port %s: %s", address, port, strerror(reason));
    write_url(listener);
    return 0;
}

int serve_listener_open(struct serve_listener *listener, const char *where, const char *address,
    struct ss_error *error) {
    *listener = (struct serve_listener){.file = -1};
    uint64_t port;
    int result;
    if (strchr(where, '/'))
        result = open_path(listener, where, error);
    else if (ss_units_count(where, &port, &(struct ss_error){0}) == 0 && port <= UINT16_MAX)
        result = open_port(listener, where, address, error);
    else
        return ss_error_fail(error,
            "--listen: '%s' is neither a port (0 to 65535) nor a path with a slash: ./socket",
            ss_words_show(where).text);
    if (result == 0 && listen(listener->file, SERVE_BACKLOG) < 0)
        result =
            ss_error_fail(error, "--listen: %s: %s", ss_words_show(where).text, strerror(errno));
    if (result < 0)
        serve_listener_close(listener);
    return result;
}

void serve_listener_close(struct serve_listener *listener) {
    struct stat now;
    if (listener->file >= 0)
        close(ss_owned_take(&listener->file));
    if (listener->path && stat(listener->path, &now) == 0 && now.st_dev == listener->mine.st_dev &&
        now.st_ino == listener->mine.st_ino)
        unlink(listener->path);
    listener->path = NULL;
}
