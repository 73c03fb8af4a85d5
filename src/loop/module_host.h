/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_MODULE_HOST_H
#define SHOWSTOPPER_LOOP_MODULE_HOST_H

#include <showstopper/host.h>

extern const struct ss_host ss_host;

#endif
