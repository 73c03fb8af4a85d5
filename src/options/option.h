/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTION_CORE_H
#define SHOWSTOPPER_OPTION_CORE_H

#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/option.h>

/* Memory and warnings that belong to a configuration. Zeroed: an empty one. */
struct ss_option_store {
    double cpus;  /* that make a load of 1, for loads given in CPUs; 0: those are refused */
    double scale; /* the run's window in default ones, for defaults that follow it; 0: is as 1 */
    char **texts; /* those that the configuration points to */
    size_t count;
    char **warnings; /* of values that are allowed but hardly meant; each only once */
    size_t warning_count;
};

void ss_option_store_free(struct ss_option_store *store);

/* A copy of `text` that lives as long as the store; NULL when memory is short. */
SS_NONNULL() const char *ss_option_store_add(struct ss_option_store *store, const char *text);

/* Adds a warning, unless the very same is there. What finds no memory is left out. */
SS_NONNULL() void ss_option_store_warn(struct ss_option_store *store, const char *text);

/* Puts "LABEL: " before every warning from number `first` on. */
SS_NONNULL()
void ss_option_store_label(struct ss_option_store *store, size_t first, const char *label);

/* Adds the warnings of another store. */
SS_NONNULL()
void ss_option_store_merge(struct ss_option_store *store, const struct ss_option_store *other);

/* Prints "PROGRAM: warning: ..." for each. */
SS_NONNULL()
void ss_option_store_print_warnings(
    FILE *stream, const char *program, const struct ss_option_store *store);

/*
 * Sets one option from text: parse and range check. The message begins with the option's name, and
 * so does a warning in the store, which may be NULL for what is neither a text nor to be warned of.
 */
SS_NONNULL(1, 2)
int ss_option_set(const struct ss_option *row, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/*
 * Parses "MAIN,name=value,..." (NULL: nothing given) over the defaults and checks that what is
 * required is there. The first row is the main option, which may come first without its name; a
 * backslash escapes a comma.
 */
SS_NONNULL(3)
int ss_option_parse_string(const struct ss_option *rows, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/* The value in force, as a user would write it; empty if unset. */
SS_WRITES(1, 2)
void ss_option_print_value(
    char *buffer, size_t size, const struct ss_option *row, const void *config);

/* Text up to the 79th column, its further lines behind a margin; the first one is there already. */
SS_NONNULL() void ss_option_print_wrapped(FILE *stream, int margin, const char *text);

/* One paragraph per row: name, type, default, range, help. */
SS_NONNULL(1) void ss_option_print_help(FILE *stream, const struct ss_option *rows);

#endif
