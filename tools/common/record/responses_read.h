/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RESPONSES_READ_H
#define RECORD_RESPONSES_READ_H

/* The files of a record of ssrequest, and files next to it. */

#include "responses.h"

#define SSREPORT_RESPONSES_TABLE    "requests.csv"
#define SSREPORT_RESPONSES_TIMES    "response-times.csv"
#define SSREPORT_RESPONSES_DOCUMENT "requests.json"

/* Returns whether this is a file of ssrequest --json or sssim queue --json. */
SS_NONNULL() bool ssreport_responses_are_file(const char *path);

/*
 * Reads power and load from energy.csv and beside.csv in the record's folder or its parent. Both
 * are optional; problems are noted.
 */
void ssreport_responses_read_beside(struct ssreport_responses *responses);

#endif
