/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_LETTERS_H
#define TEXT_LETTERS_H

#include <stddef.h>

#include <showstopper/contract.h>

/*
 * Returns the length of the UTF-8 letter at `text` in bytes; 0 if it is invalid or must not appear
 * in SVG and XML.
 */
SS_NONNULL()
size_t text_letter_length(const char *text);

#endif
