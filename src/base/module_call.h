/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_MODULE_CALL_H
#define SHOWSTOPPER_BASE_MODULE_CALL_H

#include <showstopper/contract.h>

/* The module whose function this thread is calling, for a handler of crashes. */

/* Begins a call. `path` must live until its end. */
SS_NONNULL() void ss_module_call_begin(const char *path);

void ss_module_call_end(void);

/* Returns the path of the module; NULL outside of calls. Async-signal-safe. */
const char *ss_module_call_path(void);

#endif
