/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_listen.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "local_socket.h"

#define SOCKET_FLAGS (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

long serve_listener_backlog(void) {
    SS_OWNED(fclose) FILE *stream = fopen("/proc/sys/net/core/somaxconn", "re");
    long max;
    return stream && fscanf(stream, "%ld", &max) == 1 ? max : -1;
}

static int find_port(struct serve_listener *listener, const char *port, const char *address,
    struct ss_error *error) {
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM,
                                .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (getaddrinfo(address, port, &hints, &found) != 0)
        return ss_error_fail(error,
            "--address: '%s' is not a numeric address: use one such as 127.0.0.1",
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

    if (strchr(where, '/')) {
        listener->path = where;
        return local_socket_check(where, error) < 0 ? ss_error_wrap(error, "--listen") : 0;
    }

    if (ss_units_count(where, &port, &(struct ss_error){0}) == 0 && port <= UINT16_MAX)
        return find_port(listener, where, address, error);

    return ss_error_fail(error,
        "--listen: '%s' is neither a port (0 to 65535) nor a path with a slash, such as ./socket",
        ss_words_show(where).text);
}

static int bind_port(struct serve_listener *listener) {
    int on = 1;
    const struct sockaddr *address = (const struct sockaddr *)&listener->address;
    listener->file = socket(listener->address.ss_family, SOCKET_FLAGS, 0);
    if (listener->file < 0)
        return -1;

    /* Without this option, the port of a previous server would be unavailable for a minute. */
    setsockopt(listener->file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);

    if (bind(listener->file, address, listener->length) < 0)
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

static int fail(const struct serve_listener *listener, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s",
        listener->path ? ss_words_show(listener->path).text : listener->url, strerror(errno));
}

static int open_path(struct serve_listener *listener, struct ss_error *error) {
    if (local_socket_open(&listener->local, listener->path, 0777, error) < 0)
        return -1;
    listener->file = ss_owned_take(&listener->local.file);
    return 0;
}

static int open_port(struct serve_listener *listener, struct ss_error *error) {
    int result = bind_port(listener), reason = errno;
    write_url(listener);
    errno = reason;
    return result < 0 ? fail(listener, error) : 0;
}

int serve_listener_open(struct serve_listener *listener, struct ss_error *error) {
    int result = listener->path ? open_path(listener, error) : open_port(listener, error);
    /* The kernel reduces the backlog to its own limit. */
    if (result == 0 && listen(listener->file, INT_MAX) < 0)
        result = fail(listener, error);
    if (result == 0)
        return 0;

    serve_listener_close(listener);
    return ss_error_wrap(error, "--listen");
}

void serve_listener_close(struct serve_listener *listener) {
    local_socket_remove(&listener->local);
    if (listener->file >= 0)
        close(ss_owned_take(&listener->file));
}
