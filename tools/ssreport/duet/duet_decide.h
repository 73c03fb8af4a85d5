/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_DECIDE_H
#define SSREPORT_DUET_DECIDE_H

#include "duet_study.h"

/* Exit status of ssreport --decide. */
enum duet_status {
    DUET_STATUS_DONE = 0,      /* decided; with a limit, B is worse by less than the limit */
    DUET_STATUS_FAILED = 1,    /* B is worse by more than the limit */
    DUET_STATUS_CONTINUES = 2, /* more blocks are needed */
    DUET_STATUS_UNDECIDED = 3, /* no more blocks follow, but the limit is inside the interval,
                                  or all records are invalid */
};

SS_NONNULL() enum duet_status duet_status_of(const struct duet_study *study);

/* Prints the answer on one line, and reasons to doubt it on another. */
SS_NONNULL() void duet_print(FILE *stream, const struct duet_study *study);

/* Prints one line of Markdown that names the commands. */
SS_NONNULL() void duet_print_markdown(FILE *stream, const struct duet_study *study);

#endif
