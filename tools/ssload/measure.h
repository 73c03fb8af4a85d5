/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_MEASURE_H
#define SSLOAD_MEASURE_H

#include "load_options.h"

/*
 * Measures as requested, and sets `status` to the command's exit status. On failure, the error has
 * the status.
 */
int ssload_measure(const struct ssload_request *request, int *status, struct ss_error *error);

#endif
