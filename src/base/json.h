/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_JSON_H
#define SHOWSTOPPER_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

/* Writes one JSON value after another; reading JSON is left to a library. */
struct ss_json {
    FILE *stream;
    int depth;
    bool follows; /* something stands before what comes next */
};

/* The longest form of one letter, with the final 0. */
#define SS_JSON_LETTER 8

/*
 * A text in quotes, without an end of its own, cut where there is no more room before `end`; two
 * bytes at least there must be. Returns where it ends.
 */
SS_NONNULL(1, 3) char *ss_json_quote(char *to, const char *end, const char *text);

/* `name` is NULL inside a list and for the outermost value. */
SS_NONNULL(1) void ss_json_open(struct ss_json *json, const char *name, char bracket); /* { or [ */
void ss_json_close(struct ss_json *json, char bracket);                                /* } or ] */
SS_NONNULL(1)
void ss_json_text(struct ss_json *json, const char *name, const char *text); /* NULL: null */
SS_NONNULL(1)
void ss_json_number(struct ss_json *json, const char *name, double number); /* NaN: null */
SS_NONNULL(1) void ss_json_bool(struct ss_json *json, const char *name, bool value);

/* A number that is in decimal already. */
SS_NONNULL(1, 3) void ss_json_digits(struct ss_json *json, const char *name, const char *digits);

#endif
