/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WORTH_H
#define SSREPORT_WORTH_H

/* Whether the records of a report support an answer. */

#include "report.h"

struct ssreport_worth {
    size_t all,
        invalid;      /* numbers of records and nodes; a service that fails is not invalid here */
    size_t disturbed; /* not invalid, but doubtful because of other processes */
    const struct ssreport_verdict *first; /* of the first invalid record; NULL if none is */
    bool can_leave_out;                   /* --leave-out is not given, and has an effect */
};

SS_NONNULL() struct ssreport_worth ssreport_worth_of(const struct ssreport_report *report);

/* Returns whether there are records, but none that supports an answer. */
SS_NONNULL() bool ssreport_worth_is_nothing(const struct ssreport_worth *worth);

/*
 * Writes what is wrong and what to do if no record supports an answer; otherwise how many records
 * are invalid or disturbed; "" if none is. There is no full stop at the end.
 */
SS_NONNULL()
void ssreport_worth_describe(const struct ssreport_worth *worth, char *text, size_t size);

/*
 * If no record supports the answer, replaces it by what is wrong; otherwise writes how many records
 * are invalid or disturbed before it, unless it says that itself.
 */
SS_NONNULL()
void ssreport_qualify(const struct ssreport_report *report, char *answer, size_t size);

#endif
