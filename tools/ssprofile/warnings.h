/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_WARNINGS_H
#define SSPROFILE_WARNINGS_H

#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>

/* The maximum number of warnings of each kind: all rows of a file may be invalid. */
#define SSPROFILE_WARNINGS_MAX 20

#define SSPROFILE_WARNING_KINDS 32 /* more than there are */

/* Faults of data and how they are handled, one line each. */
struct ssprofile_warnings {
    FILE *stream; /* NULL: print nothing */

    /* Warnings that differ only in their arguments, by the address of their format. */
    struct {
        const char *format;
        size_t count;
    } kinds[SSPROFILE_WARNING_KINDS];
};

/* Prints a warning. The format must be a literal, because it identifies the kind. */
SS_FORMAT(2, 3)
void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...);

/* Prints how many warnings of each kind were left out. */
SS_NONNULL() void ssprofile_warnings_end(const struct ssprofile_warnings *warnings);

#endif
