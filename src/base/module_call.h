/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_MODULE_CALL_H
#define SHOWSTOPPER_BASE_MODULE_CALL_H

/*
 * The path of the module whose function this thread is calling, or NULL. Volatile because a signal
 * handler reads it after a crash, in the thread that crashed.
 */
extern _Thread_local const char *volatile ss_called_module_path;

#endif
