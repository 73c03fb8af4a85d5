/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CRASH_H
#define SSSIM_CRASH_H

#include <showstopper/contract.h>

#include "loop/module_set.h"

/*
 * Makes a crash inside a module report the module's path before it ends the program. `set` may be
 * filled in later, and must live until the program ends.
 */
SS_NONNULL()
void crash_name_modules(const struct ss_module_set *set);

#endif
