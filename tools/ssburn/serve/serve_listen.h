/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_LISTEN_H
#define SSBURN_SERVE_LISTEN_H

#include <sys/socket.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "base/local_socket.h"

/* Where clients connect. */
struct serve_listener {
    int file;                        /* the listening socket; -1 if absent or handed over */
    const char *path;                /* of a Unix socket, the caller's; NULL: it is a port */
    struct ss_local_socket local;    /* of a path */
    struct sockaddr_storage address; /* of a port, as the rest */
    socklen_t length;
    char url[128];
};

/* `where` is a port, or a path with a slash; `address` is that of the port, in digits. Nothing is
   opened; failure: they are not written so. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int serve_listener_find(struct serve_listener *listener,
    const char *where, const char *address, struct ss_error *error);

SS_MUST_USE SS_NONNULL(1) int serve_listener_open(
    struct serve_listener *listener, struct ss_error *error);

/* Closes what has not been handed over, and removes the Unix socket. */
SS_NONNULL()
void serve_listener_close(struct serve_listener *listener);

/* How many connections the kernel lets wait to be accepted; negative: it is not known. */
long serve_listener_backlog(void);

#endif
