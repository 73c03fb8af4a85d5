/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_JSON_TEXT_H
#define SHOWSTOPPER_TESTS_JSON_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

/* Looks up fields of JSON without a library. system/test_schemas.sh parses whole documents. */

static inline const char *json_skip(const char *at) {
    while (*at && isspace((unsigned char)*at))
        at++;
    return at;
}

/* Returns the value of the first field of this name; NULL if absent. */
static inline const char *json_field(const char *text, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *at = strstr(text, key);
    at = at ? json_skip(at + strlen(key)) : NULL;
    return at && *at == ':' ? json_skip(at + 1) : NULL;
}

/* Returns the field as a number, or -1 if it is absent or not a number. */
static inline double json_number(const char *text, const char *name) {
    const char *at = json_field(text, name);
    return at && (*at == '-' || isdigit((unsigned char)*at)) ? strtod(at, NULL) : -1;
}

/* Fails the test unless the field is a number in this range. */
static inline void json_expect_between(
    const char *text, const char *name, double low, double high) {
    double value = json_number(text, name);
    ck_assert_msg(
        value >= low && value <= high, "%s is not between %g and %g in %s", name, low, high, text);
}

static inline bool json_is(const char *text, const char *name, const char *word) {
    const char *at = json_field(text, name);
    return at && strncmp(at, word, strlen(word)) == 0;
}

#endif
