/* SPDX-License-Identifier: Apache-2.0 */
#include "name_hash.h"

uint64_t sstrace_name_hash(const char *name) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return value ? value : 1;
}
