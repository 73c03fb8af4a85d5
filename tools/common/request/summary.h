/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_SUMMARY_H
#define REQUEST_SUMMARY_H

/* A run as text in 80 columns: findings, then figures. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "run_result.h"

SS_NONNULL() void request_summary_print(FILE *stream, const struct request_result *result);

#endif
