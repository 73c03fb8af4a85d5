/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_SETPOINT_H
#define SHOWSTOPPER_COMMAND_SETPOINT_H

#include <showstopper/contract.h>

#include "command/cli.h"

/* Carries out --set: changes the target of a running master. */
SS_MUST_USE int ss_setpoint_change(const struct ss_cli *cli, struct ss_error *error);

#endif
