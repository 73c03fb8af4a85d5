/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RECORD_TABLES_H
#define SSREPORT_RECORD_TABLES_H

#include <showstopper/error.h>

#include "record.h"

/* Before the tables: since when it counts, and what has ended by itself. */
void ssreport_record_read_events(struct ssreport_record *record);

/* The tables of a record; all but the samples may be missing, which is noted. */
int ssreport_record_read_samples(struct ssreport_record *record, struct ss_error *error);

/* These need the samples. */
void ssreport_record_read_decisions(struct ssreport_record *record);
void ssreport_record_read_iterations(struct ssreport_record *record);

/* Records of schema 1 have no such table. */
void ssreport_record_read_iteration_times(struct ssreport_record *record);

/*
 * Adds the iterations that were under way when counting ended. They end after it, at a time
 * that is estimated as the run's own summary does it.
 */
void ssreport_record_add_unfinished(struct ssreport_record *record);

/* Most records have none, which is not noted. */
void ssreport_record_read_counters(struct ssreport_record *record);

#endif
