/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
    return stream && fscanf(stream, "%ld", &most) == 1 ? most : -1;
}

/* ---- where ---- */

static int find_path(struct serve_listener *listener, const char *path, struct ss_error *error) {
    struct sockaddr_un *address = (struct sockaddr_un *)&listener->address;
    if (strlen(path) >= sizeof address->sun_path)
        return ss_error_fail(error, "--listen: %s: longer than the %zu bytes of a socket's path",
            ss_words_show(path).text, sizeof address->sun_path - 1);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    listener->length = sizeof *address;
    listener->path = path;
    return 0;
}

static int find_port(struct serve_listener *listener, const char *port, const char *address,
    struct ss_error *error) {
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM,
                                .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (getaddrinfo(address, port, &hints, &found) != 0)
        return ss_error_fail(error, "--address: '%s' is no address: write one in digits, 127.0.0.1",
            ss_words_show(address).text);
    memcpy(&listener->address, found->ai_addr, found->ai_addrlen);
    listener->length = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

int serve_listener_find(struct serve_listener *listener, const char *where, const char *address,
    struct ss_error *error) {
    *listener = (struct serve_listener){.file = -1};
    uint64_t port;
    if (strchr(where, '/'))
        return find_path(listener, where, error);
    if (ss_units_count(where, &port, &(struct ss_error){0}) == 0 && port <= UINT16_MAX)
        return find_port(listener, where, address, error);
    return ss_error_fail(error,
        "--listen: '%s' is neither a port (0 to 65535) nor a path with a slash: ./socket",
        ss_words_show(where).text);
}

/* ---- the socket ---- */

/* The server that made it was killed: the socket is there, and no process listens to it. */
static bool is_abandoned(const struct serve_listener *listener) {
    struct stat status;
    SS_OWNED(close) int file = socket(AF_UNIX, SOCKET_FLAGS, 0);
    return file >= 0 && stat(listener->path, &status) == 0 && S_ISSOCK(status.st_mode) &&
           connect(file, (const struct sockaddr *)&listener->address, listener->length) < 0 &&
           errno == ECONNREFUSED;
}

static int bind_once(const struct serve_listener *listener) {
    return bind(listener->file, (const struct sockaddr *)&listener->address, listener->length);
}

static int bind_path(struct serve_listener *listener) {
    int result = bind_once(listener);
    if (result < 0 && errno == EADDRINUSE) {
        if (is_abandoned(listener) && unlink(listener->path) == 0)
            result = bind_once(listener);
        else
            errno = EADDRINUSE;
    }
    /* Nothing can have been removed yet that is not ours. */
    return result < 0 ? result : stat(listener->path, &listener->mine);
}

static int bind_port(struct serve_listener *listener) {
    int on = 1;
    /* Else the port of a server that has just ended could not be had for a minute. */
    setsockopt(listener->file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind_once(listener) < 0)
        return -1;
    return getsockname(listener->file, (struct sockaddr *)&listener->address, &listener->length);
}

static void write_url(struct serve_listener *listener) {
    char host[64] = "", port[8] = "";
    getnameinfo((struct sockaddr *)&listener->address, listener->length, host, sizeof host, port,
        sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    const char *format = strchr(host, ':') ? "http://[%s]:%s/" : "http://%s:%s/";
    snprintf(listener->url, sizeof listener->url, format, host, port);
}

int serve_listener_open(struct serve_listener *listener, struct ss_error *error) {
    listener->file = socket(listener->address.ss_family, SOCKET_FLAGS, 0);
    int result = listener->file < 0 ? -1
                 : listener->path   ? bind_path(listener)
                                    : bind_port(listener);
    if (result == 0)
        result = listen(listener->file, INT_MAX); /* the kernel makes it as many as it permits */
    int reason = errno;
    if (!listener->path)
        write_url(listener);
    if (result == 0)
        return 0;
    ss_error_fail(error, "--listen: %s: %s",
        listener->path ? ss_words_show(listener->path).text : listener->url, strerror(reason));
    serve_listener_close(listener);
    return -1;
}

void serve_listener_close(struct serve_listener *listener) {
    struct stat now;
    if (listener->file >= 0)
        close(ss_owned_take(&listener->file));
    if (listener->path && listener->mine.st_ino && stat(listener->path, &now) == 0 &&
        now.st_dev == listener->mine.st_dev && now.st_ino == listener->mine.st_ino)
        unlink(listener->path);
    listener->mine = (struct stat){0};
}
