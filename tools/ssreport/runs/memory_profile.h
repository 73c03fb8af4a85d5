/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PROFILE_H
#define SSREPORT_PROFILE_H

#include <stdio.h>

#include "run.h"

/*
 * A profile of one instance of a run while it is not stopped, which sssim reads: lines of TIME
 * THREADS, and ACCESSES WAITING where the hardware counted both. -1: the record does not tell.
 */
int ssreport_profile_write(FILE *stream, const struct ssreport_run *run, struct ss_error *error);

#endif
