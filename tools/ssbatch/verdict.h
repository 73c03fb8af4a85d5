/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_VERDICT_H
#define SSBATCH_VERDICT_H

#include <showstopper/error.h>

/*
 * Fails if a record holds no result: no sample was counted, instances printed more than two lines
 * each in the counted time and none ever matched --iteration, or no request succeeded. An iteration
 * that takes longer than the run is a result, "at most x/s". Succeeds if there is no record.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_check_record(
    const char *record, char *const *words, struct ss_error *error);

#endif
