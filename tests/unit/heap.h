/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_HEAP_H
#define SHOWSTOPPER_TESTS_HEAP_H

/* Bytes that malloc() has handed out. */

#include "unit.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

static size_t heap_in_use(void) {
#ifdef __GLIBC__
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
#else
    SKIP("glibc: other C libraries do not count allocated memory");
    return 0;
#endif
}

#endif
