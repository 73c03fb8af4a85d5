/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_MODULE_CALL_H
#define SHOWSTOPPER_BASE_MODULE_CALL_H

/*
 * The path of the module whose function this thread is calling; NULL outside of calls. Volatile,
 * because a handler reads it: that runs in the thread that crashed.
 */
extern _Thread_local const char *volatile ss_module_called;

#endif
