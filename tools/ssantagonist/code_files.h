/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_CODE_FILES_H
#define SSANTAGONIST_CODE_FILES_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "codes.h"

/* Parses START:SHIFT,... with the shifts of the suspects, then of the ghosts. */
SS_MUST_USE SS_NONNULL() int code_files_parse(
    struct codes *codes, const char *text, struct ss_error *error);

/*
 * Writes a load trace for each suspect (s1.trace and so on), and codes.csv with a column for each
 * suspect and ghost.
 */
SS_MUST_USE SS_NONNULL(1, 2) int code_files_write(const struct codes *codes, const char *folder,
    double slot, double depth, struct ss_error *error);

#endif
