/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_CACHES_H
#define SSBURN_CACHES_H

#include <stddef.h>

#include <showstopper/contract.h>

/* The sizes of the first CPU's data caches, in bytes. */
struct caches {
    size_t first, second, last;
};

/*
 * Reads the tree below `sys`, usually "/sys". A missing first or second size becomes 32 KiB or 1
 * MiB. Without a third level, the last is the second, or 16 MiB if the tree has no size.
 */
SS_NONNULL()
struct caches caches_read(const char *sys);

#endif
