/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_MEMORY_PROFILE_H
#define SSREPORT_MEMORY_PROFILE_H

#include <stdio.h>

#include "run.h"

/*
 * Writes a profile of one instance of a run while it is not stopped, for sssim. Lines have the form
 * TIME THREADS, followed by ACCESSES WAITING if the hardware counted both. Returns -1 if the record
 * lacks the data.
 */
int ssreport_profile_write(FILE *stream, const struct ssreport_run *run, struct ss_error *error);

#endif
