/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_OUTPUT_FILE_H
#define SSANTAGONIST_OUTPUT_FILE_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* Creates a file in a folder. Returns NULL with the error set. */
SS_NONNULL(1, 2)
FILE *output_file_create(const char *folder, const char *name, struct ss_error *error);

#endif
