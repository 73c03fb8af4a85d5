/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_ERROR_H
#define SHOWSTOPPER_ERROR_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <showstopper/contract.h>
#include <showstopper/letter.h>

/*
 * A function reports failure by a negative value and sets the error that is its last parameter. The
 * first error wins: an error that is already set can be wrapped, but not replaced. `message` says
 * what failed, why, and what to do about it, in one line without the program's name; only main()
 * prints it.
 */
struct ss_error {
    int status; /* the exit status to use; 0 if no error is set */
    char message[1024];
};

#define SS_ERROR_FAILED         125 /* the tool itself failed */
#define SS_ERROR_NOT_EXECUTABLE 126
#define SS_ERROR_NOT_FOUND      127

/* Replaces control characters: messages may quote files, and terminals obey such characters. */
static inline void ss_error_make_one_line(struct ss_error *error) {
    ss_letter_hide_controls(error->message, '?');
}

/* Sets the error unless it is set already. Always returns -1, for `return ss_error_set(...)`. */
SS_FORMAT(3, 4)
static inline int ss_error_set(struct ss_error *error, int status, const char *format, ...) {
    if (!error || error->status)
        return -1;

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    ss_error_make_one_line(error);
    error->status = status;
    return -1;
}

#define ss_error_fail(error, ...) ss_error_set(error, SS_ERROR_FAILED, __VA_ARGS__)

static inline int ss_error_memory(struct ss_error *error) {
    return ss_error_fail(error, "out of memory");
}

/* Puts "CONTEXT: " before the message. Always returns -1. */
SS_FORMAT(2, 3) static inline int ss_error_wrap(struct ss_error *error, const char *format, ...) {
    if (!error || !error->status)
        return -1;

    char context[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);

    size_t length = strlen(context);
    size_t room = sizeof error->message - length - 3;
    size_t kept = strlen(error->message);
    if (kept > room)
        kept = room;

    memmove(error->message + length + 2, error->message, kept);
    memcpy(error->message, context, length);
    memcpy(error->message + length, ": ", 2);
    error->message[length + 2 + kept] = '\0';
    ss_error_make_one_line(error);
    return -1;
}

#endif
