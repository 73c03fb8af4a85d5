/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_TOPICS_H
#define SSREPORT_TOPICS_H

#include "topic.h"

/* All topics, in the order of the report, ended by NULL. */
extern const struct ssreport_topic *const ssreport_topics[];

/* Makes and fills the tables of all topics, and sets the headline. */
SS_MUST_USE SS_NONNULL(1, 2) int ssreport_topics_build(
    struct ssreport_report *report, struct ss_error *error);

/* Returns the table with this name, without rows; NULL if no topic has it. */
SS_NONNULL(1) const struct table_sheet *ssreport_topics_table(const char *name);

/* Lists the names of all tables: "findings, runs, steps". */
SS_NONNULL(1) SS_WRITES(1, 2) void ssreport_topics_name_tables(char *names, size_t size);

void ssreport_report_free(struct ssreport_report *report);

#endif
