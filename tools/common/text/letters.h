/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_LETTERS_H
#define TEXT_LETTERS_H

#include <stddef.h>

#include <showstopper/contract.h>

/*
 * Returns the length in bytes of the UTF-8 character at `text`; 0 if it is invalid or not allowed
 * in SVG and XML.
 */
SS_NONNULL()
size_t text_letter_length(const char *text);

#endif
