/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_HOLD_H
#define SSPLACE_HOLD_H

#include "place_state.h"

/*
 * Opens a place by `ENVIRONMENT --open PLACE OPTION...`, prints the line `open`, and stays until a
 * signal arrives; then closes the place. The words are the environment's script and the options,
 * and end with NULL.
 *
 * That command either exits with 0, or becomes a container whose first process prints `open` and
 * exits when its standard input ends, which it does when this process ends for any reason.
 */
SS_MUST_USE SS_NONNULL() int ssplace_hold(
    struct ssplace *place, char *const *words, struct ss_error *error);

#endif
