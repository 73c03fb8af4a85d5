/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_MODULE_CALL_H
#define SHOWSTOPPER_BASE_MODULE_CALL_H

/*
 * The path of the module whose function this thread is calling, or NULL. Volatile because the
 * handler of a crash reads it, in the thread that crashed.
 */
extern _Thread_local const char *volatile ss_module_called;

#endif
