/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOAD_RECORD_H
#define SSREPORT_LOAD_RECORD_H

/* Parts of loading that manifests and studies share. */

#include "fields.h"
#include "report.h"

/* Columns that a manifest and a plan can have. */
#define SSREPORT_SOURCE_MAX SSTRACE_PICKS

/* Where a record is from. */
struct ssreport_source {
    const char *path;
    int set;
    bool is_requests; /* a record of ssrequest, even if it is empty */

    /* Cells, by the number from ssreport_source_column(); empty if absent. */
    const struct sstrace_field *fields;

    const struct ssreport_columns *columns; /* all columns of a plan; NULL: there is no plan */
};

/* Returns the number of a column that has a meaning for reports; SIZE_MAX if it has none. */
SS_NONNULL() size_t ssreport_source_column(const char *name);

/* Adds the record. What cannot be reported is a failure in the report. -1: no memory. */
SS_MUST_USE SS_NONNULL() int ssreport_load_record(
    struct ssreport_report *report, const struct ssreport_source *source);

/* Adds a record that cannot be reported. -1: no memory. */
SS_MUST_USE SS_NONNULL() int ssreport_add_failure(
    struct ssreport_report *report, const char *name, const char *why);

#endif
