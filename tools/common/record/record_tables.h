/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_TABLES_H
#define RECORD_RECORD_TABLES_H

#include <showstopper/error.h>

#include "record.h"

/*
 * Reads the events, which say when counting began and which instances ended. Call this before
 * reading tables.
 */
void ssreport_record_read_events(struct ssreport_record *record);

/* Reads the samples, which must exist. Other tables may be missing, which adds a note. */
int ssreport_record_read_samples(struct ssreport_record *record, struct ss_error *error);

/* Call these functions after the samples have been read. */
void ssreport_record_read_decisions(struct ssreport_record *record);
void ssreport_record_read_iterations(struct ssreport_record *record);

/* Reads iteration-times.csv, which records of schema 1 lack. */
void ssreport_record_read_iteration_times(struct ssreport_record *record);

/* Reads counters.csv, which is optional. */
void ssreport_record_read_counters(struct ssreport_record *record);

#endif
