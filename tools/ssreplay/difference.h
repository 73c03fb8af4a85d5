/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPLAY_DIFFERENCE_H
#define SSREPLAY_DIFFERENCE_H

#include <json-c/json.h>
#include <stdio.h>

#include <showstopper/contract.h>

/* Prints a line for each difference between two descriptions, and returns the number of lines. */
int ssreplay_print_differences(FILE *stream, struct json_object *before, struct json_object *now)
    SS_NONNULL();

#endif
