/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_JSON_H
#define SHOWSTOPPER_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

/* Writes JSON to a stream, one value after another. */
struct ss_json {
    FILE *stream;
    int depth;
    bool needs_comma; /* a comma must precede the next value */
};

/* Room for the longest form of one character, with a final 0. */
#define SS_JSON_CHARACTER_SIZE 8

/*
 * Writes a text in quotes, cut to fit before `end`, without a terminating 0. Needs at least two
 * bytes of room. Returns the end of the output.
 */
SS_NONNULL(1, 3) char *ss_json_quote(char *to, const char *end, const char *text);

/*
 * `name` is NULL inside a list and for the outermost value. A NULL text, NaN and infinity are
 * written as null.
 */
SS_NONNULL(1) void ss_json_open(struct ss_json *json, const char *name, char bracket); /* { or [ */
void ss_json_close(struct ss_json *json, char bracket);                                /* } or ] */
SS_NONNULL(1)
void ss_json_text(struct ss_json *json, const char *name, const char *text);
SS_NONNULL(1)
void ss_json_number(struct ss_json *json, const char *name, double number);
SS_NONNULL(1) void ss_json_bool(struct ss_json *json, const char *name, bool value);

/* Writes `digits`, a decimal number, unchanged; null instead of anything else, such as inf. */
SS_NONNULL(1, 3) void ss_json_digits(struct ss_json *json, const char *name, const char *digits);

#endif
