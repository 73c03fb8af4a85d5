/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_HOLD_H
#define SSPLACE_HOLD_H

#include "place_state.h"

/*
 * Opens a place with `ENVIRONMENT --open PLACE OPTION...`, prints the line `open`, waits for a
 * signal, and closes the place. The words are the environment's script and the options, ending with
 * NULL.
 *
 * The command either exits with 0 or becomes a container. The first process of a container prints
 * `open`, and exits when its standard input ends: so it exits even if this process is killed.
 */
SS_MUST_USE SS_NONNULL() int ssplace_hold(
    struct ssplace *place, char *const *words, struct ss_error *error);

#endif
