/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_SUMMARY_H
#define SSREQUEST_SUMMARY_H

/* A run as text in 80 columns: findings, then figures. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "run_result.h"

SS_NONNULL()
void ssrequest_summary_print(FILE *stream, const struct ssrequest_account *account);

#endif
