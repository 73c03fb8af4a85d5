/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_QUESTION_H
#define SSREPORT_PAIR_QUESTION_H

#include "report.h"

/*
 * Asks the question of a study of pairs: where to pin programs, what an environment costs, or how
 * much programs disturb each other.
 */
SS_NONNULL(1, 2)
bool ssreport_pair_question(
    const struct ssreport_report *report, struct ssreport_headline *headline);

#endif
