/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_COMMANDS_H
#define SHOWSTOPPER_COMMAND_COMMANDS_H

#include <stdint.h>

#include <showstopper/error.h>

/* One command as given, with placeholders, and the instances that run it. */
struct ss_command_line {
    char **words; /* ends with NULL */
    uint32_t first;
    uint32_t count;
};

/*
 * The commands of all instances, each a list of words that ends with NULL. Empty when
 * zero-initialized.
 */
struct ss_commands {
    char ***items;
    uint32_t count, room;
    struct ss_command_line *lines; /* ordered by instance */
    uint32_t line_count, line_room;
};

void ss_commands_free(struct ss_commands *commands);

/* Adds `count` copies of one command. */
SS_MUST_USE int ss_commands_repeat(
    struct ss_commands *commands, char *const *words, uint64_t count, struct ss_error *error);

/* Reads the file of -w: lines of COUNT COMMAND..., blank lines and # comments. */
SS_MUST_USE int ss_commands_read(
    struct ss_commands *commands, const char *path, struct ss_error *error);

/*
 * Replaces `placeholder` in every word with the instance's number, zero-padded to equal width. A
 * doubled placeholder becomes a single one; "" turns this off.
 */
SS_MUST_USE int ss_commands_fill_in(
    struct ss_commands *commands, const char *placeholder, struct ss_error *error);

/*
 * Finds a word that looks like a percentage, such as 60%, but ends with the placeholder %, which is
 * most likely a mistake. Call this before ss_commands_fill_in(). Returns NULL if there is no such
 * word, or if the placeholder is not %.
 */
const char *ss_commands_find_percentage(
    const struct ss_commands *commands, const char *placeholder);

/*
 * Returns the first word, as given, in which a digit follows the placeholder, as in the format %5d;
 * NULL if absent.
 */
const char *ss_commands_find_before_digit(
    const struct ss_commands *commands, const char *placeholder);

/*
 * Replaces commands that PATH lacks by their paths in the folder of this program: in an
 * environment, such as one of pipx, the programs are installed together but need not be in PATH.
 */
SS_MUST_USE int ss_commands_use_installed(struct ss_commands *commands, struct ss_error *error);

/* Fails with status 127 or 126 if a program cannot be found or executed. */
SS_MUST_USE int ss_commands_check_program(const char *name, struct ss_error *error);

/* Fails with status 127 or 126 if a command cannot be found or executed. */
SS_MUST_USE int ss_commands_check(const struct ss_commands *commands, struct ss_error *error);

/* Prints the number of instance `index` as it appears in place of the placeholder. */
SS_WRITES(1, 2)
void ss_commands_print_number(char *buffer, size_t size, uint32_t index, uint32_t count);

#endif
