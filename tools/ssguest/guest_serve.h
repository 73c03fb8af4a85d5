/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSGUEST_GUEST_SERVE_H
#define SSGUEST_GUEST_SERVE_H

#include <showstopper/error.h>

/*
 * The first process of a guest. Executes the requests of ssguest_drive(), which arrive over the
 * first port, one per line:
 *
 *     clock         answers `clock` with the time
 *     shift MICROS  sets the clock by that many microseconds, then answers with the time
 *     run           starts the command, whose output goes to the other two ports; answers `status`
 *                   when it exits
 *     INT, TERM     sends the command this signal
 *     off           turns the guest off; meanwhile sends `left` while there is output to pass on
 *
 * At the start it sends `missing FOLDER` if a shared folder is missing, and `ready`.
 */
struct ssguest_served {
    const char *ports;   /* path of the ports without the number */
    const char *missing; /* a shared folder that is missing; NULL if none is */
    char *const *command;
};

SS_MUST_USE SS_NONNULL() int ssguest_serve(
    const struct ssguest_served *served, struct ss_error *error);

#endif
