/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LETTER_H
#define SHOWSTOPPER_LETTER_H

/* UTF-8 characters in texts that may come from a file and go to a terminal. */

#include <stdbool.h>
#include <string.h>

/*
 * Returns the length in bytes of the UTF-8 character that begins here, or 0 if it is not valid
 * UTF-8.
 */
static inline int ss_letter_length(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    int length = 1 + (*at >= 0xc2) + (*at >= 0xe0) + (*at >= 0xf0);
    if ((*at >= 0x80 && *at < 0xc2) || *at >= 0xf5)
        return 0;

    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }

    bool overlong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
    bool surrogate = *at == 0xed && at[1] >= 0xa0;
    bool beyond = *at == 0xf4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

/*
 * Returns whether this is a control character, which a terminal would obey: an ASCII one, or a C1
 * one in UTF-8 or as a single byte.
 */
static inline bool ss_letter_is_control(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    if (*at < 0x80)
        return *at < ' ' || *at == 0x7f;
    return ss_letter_length(text) == 0 ? *at < 0xa0 : *at == 0xc2 && at[1] < 0xa0;
}

static inline bool ss_letter_has_controls(const char *text) {
    while (*text && !ss_letter_is_control(text)) {
        int length = ss_letter_length(text);
        text += length ? length : 1;
    }
    return *text;
}

/* Replaces the control characters of a text, byte by byte. */
static inline void ss_letter_hide_controls(char *text, char replacement) {
    while (*text) {
        int length = ss_letter_length(text);
        size_t bytes = length ? (size_t)length : 1;
        if (ss_letter_is_control(text))
            memset(text, replacement, bytes);
        text += bytes;
    }
}

#endif
