/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CRASH_H
#define SSSIM_CRASH_H

#include "rig.h"

/*
 * From now on a crash inside a module is told with the module's path before the program ends by it
 * as it would have. `rig` may be filled in later, and must outlive the program's work.
 */
void crash_name_modules(const struct ss_rig *rig);

#endif
