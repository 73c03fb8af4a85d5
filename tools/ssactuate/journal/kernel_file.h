/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_KERNEL_FILE_H
#define SSACTUATE_KERNEL_FILE_H

#include <stdbool.h>

#include <showstopper/contract.h>

/*
 * Files of the kernel that hold one value, below a root: a descriptor of / or of a recorded tree.
 * Paths do not begin with a slash.
 */

#define SSACTUATE_PATH_SIZE  320
#define SSACTUATE_VALUE_SIZE 128

/* Reads a value without trailing white space. Returns 0 or a negative errno. */
SS_MUST_USE SS_NONNULL() int ssactuate_file_read(
    int root, const char *path, char value[SSACTUATE_VALUE_SIZE]);

/* Writes a value with one call, as the kernel requires. Returns 0 or a negative errno. */
SS_NONNULL() int ssactuate_file_write(int root, const char *path, const char *value);

/* Returns ": REASON" for a write that the kernel refused with this errno, or "" if unknown. */
SS_NONNULL() const char *ssactuate_file_explain(const char *path, int err);

/* Returns whether this process may write the file. Without a write bit, even root may not. */
SS_NONNULL() bool ssactuate_file_is_writable(int root, const char *path);

#endif
