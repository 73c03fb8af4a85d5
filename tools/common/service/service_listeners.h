/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_LISTENERS_H
#define SERVICE_SERVICE_LISTENERS_H

/* Finds the sockets that listen on an address, from the tables in /proc. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "platform/platform.h"

/* The destination of requests: an IPv4 or IPv6 address with its port, or a Unix socket. */
struct service_address {
    struct sockaddr_storage socket;
    socklen_t length;
};

/* Sets the address of a Unix socket. A name that begins with @ is abstract. */
SS_MUST_USE SS_NONNULL(1, 2) int service_address_of_path(
    struct service_address *address, const char *path, struct ss_error *error);

/* Sets an address that matches this port at every address of this machine. */
SS_NONNULL() void service_address_of_port(struct service_address *address, uint16_t port);

/* An address for messages: 127.0.0.1:8080, [::1]:8080, /run/web.sock, @web, port 8080. */
struct service_address_text {
    char text[128];
};
SS_NONNULL()
struct service_address_text service_address_show(const struct service_address *address);

struct service_listener {
    uint64_t inode; /* of the socket; 0 if unknown */
    uid_t user;     /* owner of the socket; 0 if unknown */
    pid_t pid;      /* the process that called listen(); 0 if unknown */
    int family;
    bool elsewhere; /* in another network namespace, such as that of a container */
};

/* Zeroed: no sockets. */
struct service_listeners {
    struct service_listener *items;
    size_t count, room;
    bool local; /* one of the addresses belongs to this machine */
};

/*
 * Adds the sockets that requests reach. The addresses belong to one host; clients try them in this
 * order, so only sockets of the first one with sockets are added. Searches other network namespaces
 * if ours has none, unless only a port is given. Fails if several namespaces have such sockets, or
 * memory is exhausted. If nothing listens, `listeners` stays empty.
 */
SS_MUST_USE SS_NONNULL(1, 2) int service_listeners_find(struct service_listeners *listeners,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error);

/*
 * Returns the number of the control group in which a socket of our network namespace was created;
 * 0 if unknown. Asks the kernel itself, not `roots`.
 */
SS_NONNULL() uint64_t service_listener_group(const struct service_listener *listener);

SS_NONNULL() void service_listeners_free(struct service_listeners *listeners);

#endif
