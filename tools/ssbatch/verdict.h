/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_VERDICT_H
#define SSBATCH_VERDICT_H

#include <stdbool.h>

#include <showstopper/error.h>

/* Returns whether this is a command of showstopper, in any environment, that follows a trace. */
SS_NONNULL() bool ssbatch_follows_trace(char *const *words);

/*
 * Fails if a record holds no result: if no sample was counted; if instances printed more than two
 * lines each in the counted time and none ever matched --iteration; if the command or an attached
 * process ended by itself in a run with a trace; or if no request succeeded. An iteration that
 * takes longer than the run is a result, "at most x/s". Succeeds without a record.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_check_record(
    const char *record, char *const *words, bool has_trace, struct ss_error *error);

#endif
