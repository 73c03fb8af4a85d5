/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_LEDGER_H
#define SSPROFILE_LEDGER_H

/*
 * A table that grows row by row over hours, in a file that one process has at a time. A row that
 * has been added is on the disk; one that was being added when the process ended is cut off when
 * the table is opened again.
 */

#include <showstopper/error.h>

struct ssprofile_ledger {
    char path[4300];
    int file;    /* 0: not open */
    size_t rows; /* behind the heading */
};

/* `heading` ends with a line feed. It is written if the table is new. Close it if this succeeds. */
SS_NONNULL(1, 2, 3)
int ssprofile_ledger_open(
    struct ssprofile_ledger *ledger, const char *path, const char *heading, struct ss_error *error);

/* `row` ends with a line feed. Nothing is added if it fails. */
SS_NONNULL(1, 2)
int ssprofile_ledger_add(struct ssprofile_ledger *ledger, const char *row, struct ss_error *error);

void ssprofile_ledger_close(struct ssprofile_ledger *ledger);

#endif
