/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_OPTION_VALUE_H
#define SSBATCH_OPTION_VALUE_H

/* Checks values of options for scripts that print plans. */

#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* A value that an option was given. */
struct ssbatch_option_value {
    const char *type;    /* one of those in ssbatch(1) */
    const char *text;    /* as the user wrote it */
    const char *option;  /* name of the option, for messages */
    const char *program; /* name of the script, for warnings */
};

/*
 * Writes the value as a plan has it, in one line. Prints a warning if a time was probably meant in
 * minutes. Messages begin with "--OPTION: ".
 */
SS_NONNULL(1, 2)
int ssbatch_option_value_print(
    FILE *stream, const struct ssbatch_option_value *value, struct ss_error *error);

/* Writes a time as "3.5 s", "6 min 01 s" or "2 h 28 min". */
SS_NONNULL() void ssbatch_span_print(FILE *stream, ss_time time);

#endif
