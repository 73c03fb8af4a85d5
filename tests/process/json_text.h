/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_JSON_TEXT_H
#define SHOWSTOPPER_TESTS_JSON_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

/* A JSON parser that depends on no library, for the output of --json. */

static inline const char *json_skip(const char *at) {
    while (*at && isspace((unsigned char)*at))
        at++;
    return at;
}

static inline const char *json_string(const char *at) {
    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20 || (*at == '\\' && !*++at))
            return NULL;
    }
    return *at ? at + 1 : NULL;
}

static inline const char *json_scalar(const char *at) {
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    if (*at == '"')
        return json_string(at);
    /* strtod() also accepts numbers that JSON does not have. */
    if (*at != '-' && !isdigit((unsigned char)*at))
        return NULL;
    char *end;
    strtod(at, &end);
    return end > at && isdigit((unsigned char)end[-1]) ? end : NULL;
}

/* Returns the text after the value that begins here; NULL if the value is invalid. */
static inline const char *json_value(const char *at) {
    at = json_skip(at);
    if (*at != '{' && *at != '[')
        return json_scalar(at);
    char open = *at;
    char closing = open == '{' ? '}' : ']';
    at = json_skip(at + 1);
    if (*at == closing)
        return at + 1;
    for (;;) {
        if (open == '{') {
            at = json_string(json_skip(at));
            at = at ? json_skip(at) : NULL;
            if (!at || *at++ != ':')
                return NULL;
        }
        at = json_value(at);
        at = at ? json_skip(at) : NULL;
        if (!at || (*at != ',' && *at != closing))
            return NULL;
        if (*at++ == closing)
            return at;
    }
}

/* Returns whether the text is exactly one JSON value. */
static inline bool json_is_valid(const char *text) {
    const char *end = json_value(text);
    return end && !*json_skip(end);
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
