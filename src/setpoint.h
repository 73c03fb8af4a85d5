/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SETPOINT_H
#define SHOWSTOPPER_SETPOINT_H

#include <showstopper/error.h>

/* Changes the target of the running master `pid`; `load` is a load or "trace". */
int ss_setpoint_change(const char *pid, const char *load, struct ss_error *error);

#endif
