/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTION_CORE_H
#define SHOWSTOPPER_OPTION_CORE_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/option.h>

/* Owns the texts that a configuration points to. Zeroed: an empty one. */
struct ss_option_store {
    char **texts;
    size_t count;
};

void ss_option_store_free(struct ss_option_store *store);

/* A copy of `text` that lives as long as the store; NULL when memory is short. */
const char *ss_option_store_add(struct ss_option_store *store, const char *text);

/* Sets one option from text: parse and range check. The message begins with the option's name. */
int ss_option_set(const struct ss_option *row, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/* Fills in the defaults. A row without one leaves its place as it is. */
int ss_option_set_defaults(const struct ss_option *rows, void *config,
    struct ss_option_store *store, struct ss_error *error);

/*
 * Parses "MAIN,name=value,..." (NULL: nothing given) over the defaults and checks that what is
 * required is there. The first row is the main option, which may stand first without its name; a
 * backslash escapes a comma.
 */
int ss_option_parse_string(const struct ss_option *rows, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/* The value in force, as a user would write it; empty when there is none. */
void ss_option_print_value(
    char *buffer, size_t size, const struct ss_option *row, const void *config);

/* Text up to the 79th column, its further lines behind a margin; the first one is there already. */
void ss_option_print_wrapped(FILE *stream, int margin, const char *text);

/* One paragraph per row: name, type, default, range, help. */
void ss_option_print_help(FILE *stream, const struct ss_option *rows);

#endif
