/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_REPLACE_H
#define SSBATCH_REPLACE_H

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Finds the text for a placeholder. Returns an allocated text, or NULL: with the error set if the
 * placeholder has no text yet, without an error if it is not a placeholder.
 */
typedef char *ssbatch_finder(void *context, const char *placeholder, struct ss_error *error);

/*
 * Replaces the placeholders in braces; `{{` becomes `{`, and other braces stay. Returns an
 * allocated text, or NULL with the error set.
 */
SS_MUST_USE SS_NONNULL(1, 2) char *ssbatch_replace(
    const char *text, ssbatch_finder *find, void *context, struct ss_error *error);

/*
 * Replaces the placeholders in all words of a list that ends with NULL. Free the result with
 * ssbatch_words_free().
 */
SS_MUST_USE SS_NONNULL(1, 2) char **ssbatch_replace_words(
    char *const *words, ssbatch_finder *find, void *context, struct ss_error *error);

void ssbatch_words_free(char **words);

#endif
