/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_OPTION_VALUE_H
#define SSBATCH_OPTION_VALUE_H

/* Checks option values for scripts that print plans. */

#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

struct ssbatch_option_value {
    const char *type;    /* a type listed in ssbatch(1) */
    const char *text;    /* as written by the user */
    const char *option;  /* name of the option, for messages */
    const char *program; /* name of the script, for warnings */
};

/*
 * Writes the value as it appears in a plan, in one line. Warns if a time was probably meant in
 * minutes. Messages begin with "--OPTION: ".
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_option_value_print(
    FILE *stream, const struct ssbatch_option_value *value, struct ss_error *error);

/* Writes a time such as "3.5 s", "6 min 01 s" or "2 h 28 min". */
SS_NONNULL() void ssbatch_span_print(FILE *stream, ss_time time);

#endif
