/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_REQUEST_VERDICT_H
#define REQUEST_REQUEST_VERDICT_H

#include <showstopper/contract.h>

#include "run_result.h"
#include "verdict/verdict.h"

/* Judges a run other than a search for a capacity. */
SS_NONNULL() struct ss_verdict request_verdict(const struct request_account *account);

#endif
