/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_LOCAL_SOCKET_H
#define SHOWSTOPPER_BASE_LOCAL_SOCKET_H

/* A Unix socket that has a path, of the side that listens. */

#include <sys/types.h>
#include <sys/un.h>

#include <showstopper/error.h>

struct ss_local_socket {
    int file; /* does not wait; the owner calls listen() and closes it; -1 if absent */
    struct sockaddr_un address;
    dev_t device; /* of the file, which is to be removed */
    ino_t number; /* likewise; 0 if absent */
};

/* Whether an address has room for the path. */
int ss_local_socket_check(const char *path, struct ss_error *error);

/*
 * Others may connect as `permissions` and the umask allow. What a process that was killed has left
 * at the path is replaced; a socket with a listener and a file of another kind are not. On failure
 * nothing is open.
 */
int ss_local_socket_open(
    struct ss_local_socket *local, const char *path, mode_t permissions, struct ss_error *error);

/*
 * Removes the file, unless another process has put its own in its place. To be called before the
 * socket is closed: until then the number of its file is no other's.
 */
void ss_local_socket_remove(struct ss_local_socket *local);

#endif
