/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOCKET_LOCAL_SOCKET_H
#define SOCKET_LOCAL_SOCKET_H

/* The listening side of a Unix socket with a path. */

#include <sys/types.h>

#include <showstopper/error.h>

struct local_socket {
    int file;       /* non-blocking; the owner calls listen() and closes it; -1 if absent */
    int folder;     /* folder of the socket file, until that is removed */
    char name[108]; /* name of the file in the folder */
    dev_t device;   /* device of the file, to recognize it */
    ino_t inode;    /* 0 if absent */
};

/* Fails if the path is too long for a socket. */
int local_socket_check(const char *path, struct ss_error *error);

/*
 * Opens the socket at a path, whose folder ss_walk_folder_path() opens. Others may connect as
 * `permissions` and the umask allow. Replaces a socket that a killed process left at the path, but
 * neither a socket with a listener nor any other file. On failure nothing stays open.
 */
int local_socket_open(
    struct local_socket *local, const char *path, mode_t permissions, struct ss_error *error);

/*
 * Removes the socket file, unless another process has replaced it. Call this before closing the
 * socket: until then no other file can have the same inode.
 */
void local_socket_remove(struct local_socket *local);

#endif
