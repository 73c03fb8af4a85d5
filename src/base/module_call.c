/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module_call.h"

#include <stddef.h>

_Thread_local const char *volatile ss_called_module_path;
