/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTIONS_VALUES_H
#define SHOWSTOPPER_OPTIONS_VALUES_H

#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/option.h>

/* Memory and warnings that belong to a configuration. Empty when zero-initialized. */
struct ss_option_store {
    double cpus;  /* CPUs that make a load of 1, for loads given in CPUs; 0 refuses those */
    double scale; /* the run's window divided by the default window, for defaults that scale; 0
                     counts as 1 */
    char **texts; /* texts that the configuration points to */
    size_t count, room;
    char **warnings; /* warnings about values that are valid but probably mistakes; no duplicates */
    size_t warning_count, warning_room;
};

void ss_option_store_free(struct ss_option_store *store);

/* Returns a copy of `text` that lives as long as the store, or NULL if memory is exhausted. */
SS_NONNULL() const char *ss_option_store_add(struct ss_option_store *store, const char *text);

/* Adds a warning unless the store has it already. Drops it if memory is exhausted. */
SS_NONNULL() void ss_option_store_warn(struct ss_option_store *store, const char *text);

/* Puts "LABEL: " before the warnings from index `first` to the end. */
SS_NONNULL()
void ss_option_store_label(struct ss_option_store *store, size_t first, const char *label);

/* Prints "PROGRAM: warning: ..." for each warning. */
SS_NONNULL()
void ss_option_store_print_warnings(
    FILE *stream, const char *program, const struct ss_option_store *store);

/*
 * Sets one option from text, which is parsed and checked against its range. Messages and warnings
 * begin with the option's name. The store may be NULL if the option is not a text and warnings are
 * not wanted.
 */
SS_NONNULL(1, 2)
int ss_option_set(const struct ss_option *row, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/*
 * Parses "MAIN,name=value,..." (NULL if nothing was given) over the defaults, and checks for
 * required options. The first row is the main option, which may come first without its name; a
 * backslash escapes a comma.
 */
SS_NONNULL(3)
int ss_option_parse_string(const struct ss_option *rows, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error);

/* Prints the current value as a user would write it; empty if unset. */
SS_WRITES(1, 2)
void ss_option_print_value(
    char *buffer, size_t size, const struct ss_option *row, const void *config);

/* Appends "LABELVALUE" to a help text, unless `value` is NULL. */
SS_NONNULL(1, 3)
void ss_option_append(char *text, size_t size, const char *label, const char *value);

/* Prints text up to the 79th column, with a margin before all lines but the first. */
SS_NONNULL() void ss_option_print_wrapped(FILE *stream, int margin, const char *text);

/* Prints one paragraph per row: name, type, default, range, help. */
SS_NONNULL(1) void ss_option_print_help(FILE *stream, const struct ss_option *rows);

#endif
