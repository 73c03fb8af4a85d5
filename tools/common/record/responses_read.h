/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSES_READ_H
#define SSREPORT_RESPONSES_READ_H

/* The files of a record of ssrequest, and what lies beside it. */

#include "responses.h"

#define SSREPORT_RESPONSES_TABLE    "requests.csv"
#define SSREPORT_RESPONSES_TIMES    "response-times.csv"
#define SSREPORT_RESPONSES_DOCUMENT "requests.json"

/*
 * Power and load from energy.csv and beside.csv, in the record's folder or in the one that it lies
 * in. Where they are missing there is none; what is wrong with them is noted.
 */
void ssreport_responses_read_beside(struct ssreport_responses *responses);

#endif
