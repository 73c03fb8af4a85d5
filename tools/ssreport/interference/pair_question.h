/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_QUESTION_H
#define SSREPORT_PAIR_QUESTION_H

#include "report.h"

/* What a study of pairs asks: where to pin, what an environment costs, or who disturbs whom. */
SS_NONNULL(1, 2)
bool ssreport_pair_question(
    const struct ssreport_report *report, struct ssreport_headline *headline);

#endif
