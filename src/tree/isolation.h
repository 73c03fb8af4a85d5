/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_ISOLATION_H
#define SHOWSTOPPER_TREE_ISOLATION_H

#include <showstopper/error.h>

#include "loop/board.h"

/*
 * Continues in a new PID namespace, which ends with all processes in it as soon as this process or
 * the first process inside ends. Returns 0 inside. The calling process stays outside, passes
 * signals on, removes a live view that was left on the screen, and ends in the same way as the
 * process inside; outside, this function returns only on failure, with -1.
 */
SS_MUST_USE int ss_isolate(const struct ss_board *board, struct ss_error *error);

#endif
