/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_WARNINGS_H
#define SSPROFILE_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

/* What was wrong with data and how it was handled, one line each. Zeroed: none. */
struct ssprofile_warnings {
    char **items;
    size_t count, capacity;
    bool failed; /* there was no memory for one of them */
};

SS_FORMAT(2, 3)
void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...);

/* Prints "ssprofile: warning: ..." for each on standard error. */
void ssprofile_warnings_tell(const struct ssprofile_warnings *warnings);

void ssprofile_warnings_free(struct ssprofile_warnings *warnings);

#endif
