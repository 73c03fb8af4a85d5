/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module_call.h"

#include <stddef.h>

/* Volatile, because a handler reads it: that runs in the thread that crashed. */
static _Thread_local const char *volatile module;

void ss_module_call_begin(const char *path) {
    module = path;
}

void ss_module_call_end(void) {
    module = NULL;
}

const char *ss_module_call_path(void) {
    return module;
}
