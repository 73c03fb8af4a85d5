/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_ISOLATION_H
#define SHOWSTOPPER_TREE_ISOLATION_H

#include <showstopper/error.h>

/*
 * Goes on in a PID namespace of its own, which ends with all that is in it as soon as this process
 * or its first one ends. Returns 0 inside. The process that called stays outside, passes signals
 * on, and ends as the one inside does; there it returns only on failure, -1.
 */
int ss_isolate(struct ss_error *error);

#endif
