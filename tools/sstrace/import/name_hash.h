/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_NAME_HASH_H
#define SSTRACE_NAME_HASH_H

#include <stdint.h>

#include <showstopper/contract.h>

/* Returns the FNV-1a hash of a name; never 0. */
SS_NONNULL()
uint64_t sstrace_name_hash(const char *name);

#endif
