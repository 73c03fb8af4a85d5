/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_ENTER_H
#define SSPLACE_ENTER_H

#include "place_state.h"

/*
 * Makes a process one of an open place: moves it into the control groups of the place or of its
 * container, or, if there is none, notes it for `close`.
 */
SS_MUST_USE SS_NONNULL() int ssplace_join(
    const struct ssplace *place, pid_t pid, struct ss_error *error);

/* Prints the control group that counts the CPU time of the place. */
SS_MUST_USE SS_NONNULL() int ssplace_print_group(
    const struct ssplace *place, struct ss_error *error);

/*
 * Executes a command in the container of an open place, in our working folder. Passes SIGTERM on,
 * except to an `instance`, which is in the process group that Showstopper signals. `status` becomes
 * that of the command.
 */
SS_MUST_USE SS_NONNULL() int ssplace_enter(const struct ssplace *place, char *const *words,
    bool instance, int *status, struct ss_error *error);

#endif
