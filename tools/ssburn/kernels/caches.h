/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_CACHES_H
#define SSBURN_CACHES_H

#include <stddef.h>

#include <showstopper/contract.h>

/* The sizes of the first CPU's data caches, in bytes. */
struct caches {
    size_t first, second, last;
};

/* Reads the tree below `sys`, usually "/sys". Missing sizes become 32 KiB, 1 MiB and 16 MiB. */
SS_NONNULL()
struct caches caches_read(const char *sys);

#endif
