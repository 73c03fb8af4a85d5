/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_LISTEN_H
#define SSBURN_SERVE_LISTEN_H

#include <sys/socket.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "local_socket.h"

/* The address on which the server listens. */
struct serve_listener {
    int file;                        /* the listening socket; -1 if absent or handed over */
    const char *path;                /* Unix socket, owned by the caller; NULL for a port */
    struct local_socket local;       /* the socket at that path */
    struct sockaddr_storage address; /* only for a port, like `length` and `url` */
    socklen_t length;
    char url[128];
};

/*
 * Parses `where`, a port or a path with a slash, and `address`, the numeric address of the port.
 * Opens nothing. Fails if either is invalid.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int serve_listener_find(struct serve_listener *listener,
    const char *where, const char *address, struct ss_error *error);

SS_MUST_USE SS_NONNULL(1) int serve_listener_open(
    struct serve_listener *listener, struct ss_error *error);

/* Closes the socket unless it was handed over, and removes the Unix socket. */
SS_NONNULL() void serve_listener_close(struct serve_listener *listener);

/* Returns the kernel's limit on connections that wait to be accepted; negative if unknown. */
long serve_listener_backlog(void);

#endif
