/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_QUESTION_H
#define SSREPORT_PAIR_QUESTION_H

#include "report.h"

/*
 * Sets the question that a study of pairs answers: where to pin programs, what an environment
 * costs, or how much programs slow each other down. Returns false without pairs.
 */
SS_NONNULL(1, 2)
bool ssreport_pair_question(
    const struct ssreport_report *report, struct ssreport_headline *headline);

#endif
