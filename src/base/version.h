/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_VERSION_H
#define SHOWSTOPPER_BASE_VERSION_H

/* Returns the version as --version prints it. CMakeLists.txt sets it. */
const char *ss_version(void);

/*
 * Version of the layout of records: "schema" in plan.json, summary.json and requests.json,
 * 1 if absent. Increment it if a reader of the previous layout would misread a record: readers
 * accept all earlier layouts and refuse later ones. showstopper-record(5) lists them.
 */
#define SS_RECORD_SCHEMA 2

#endif
