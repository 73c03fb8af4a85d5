/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_ENTER_H
#define SSPLACE_ENTER_H

#include "place_state.h"

/*
 * Makes a process a member of an open place: moves it into the control groups of the place, or of
 * its container. Without control groups, records the process, so that `close` can end it.
 */
SS_MUST_USE SS_NONNULL() int ssplace_join(
    const struct ssplace *place, pid_t pid, struct ss_error *error);

/* Prints the path of the control group that counts the place's CPU time. */
SS_MUST_USE SS_NONNULL() int ssplace_print_group(
    const struct ssplace *place, struct ss_error *error);

/*
 * Executes a command in the container of an open place, in this process's working folder. Passes
 * SIGTERM on, except for an `instance`, whose process group Showstopper signals. Sets `status` to
 * the command's.
 */
SS_MUST_USE SS_NONNULL() int ssplace_enter(const struct ssplace *place, char *const *words,
    bool instance, int *status, struct ss_error *error);

#endif
