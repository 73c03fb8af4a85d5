/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_MEASURE_H
#define SSLOAD_MEASURE_H

#include "load_options.h"

/*
 * Measures as asked for. The error's status is set when that could not be done; `status` is what a
 * command ended with.
 */
int ssload_measure(const struct ssload_request *request, int *status, struct ss_error *error);

#endif
