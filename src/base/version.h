/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_VERSION_H
#define SHOWSTOPPER_BASE_VERSION_H

/* As --version prints it: "0.1.0". */
const char *ss_version(void);

/*
 * The layout of records, which plan.json, summary.json and requests.json name as "schema". Raise it
 * if a reader of the previous one would misread a record: readers accept all earlier ones and
 * refuse later ones. showstopper-record(5) lists them. Records without a schema are of schema 1.
 */
#define SS_RECORD_SCHEMA 2

#endif
