/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_VERDICTS_TOPIC_H
#define SSREPORT_VERDICTS_TOPIC_H

#include <stdio.h>

#include "topic.h"

/* The verdict on each record, with its checks. */
extern const struct ssreport_topic ssreport_verdicts_topic;

/* Prints a line for each record: its name, verdict and reasons. */
SS_NONNULL() void ssreport_verdicts_print(FILE *stream, const struct ssreport_report *report);

/* Prints a list of the records, each with its verdict and checks. */
SS_NONNULL() void ssreport_verdicts_print_json(FILE *stream, const struct ssreport_report *report);

/*
 * Returns how many records have this verdict: "valid", "doubtful" or "invalid". A record that
 * cannot be read is invalid.
 */
SS_NONNULL(1, 2)
size_t ssreport_verdicts_count(const struct ssreport_report *report, const char *word);

#endif
