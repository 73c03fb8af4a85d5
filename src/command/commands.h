/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_COMMANDS_H
#define SHOWSTOPPER_COMMAND_COMMANDS_H

#include <stdint.h>

#include <showstopper/error.h>

/* One command as it was given, placeholders and all, and the instances that run it. */
struct ss_command_line {
    char **words; /* ended by NULL */
    uint32_t first;
    uint32_t count;
};

/* The commands of all instances, each a list of words ended by NULL. Zeroed: none. */
struct ss_commands {
    char ***items;
    uint32_t count;
    struct ss_command_line *lines; /* in the order of their instances */
    uint32_t line_count;
};

void ss_commands_free(struct ss_commands *commands);

/* `count` copies of one command. */
int ss_commands_repeat(
    struct ss_commands *commands, char *const *words, uint64_t count, struct ss_error *error);

/* What -w reads: a line each, COUNT COMMAND..., blank lines and # comments left out. */
int ss_commands_read(struct ss_commands *commands, const char *path, struct ss_error *error);

/*
 * Replaces `placeholder` in every word by the instance's number, zero-padded so that all are of
 * equal width; a doubled one stands for itself; "" turns this off.
 */
int ss_commands_number(
    struct ss_commands *commands, const char *placeholder, struct ss_error *error);

/*
 * A word that reads as a percentage but holds the placeholder, as 60% does: what was most likely
 * not meant. To be asked before they are numbered; NULL: there is none.
 */
const char *ss_commands_find_percentage(
    const struct ss_commands *commands, const char *placeholder);

/* Whether each command can be found and executed; status 127 or 126 if not. */
int ss_commands_check(const struct ss_commands *commands, struct ss_error *error);

/* The number of instance `index`, as the placeholder gives it. */
void ss_commands_print_number(char *buffer, size_t size, uint32_t index, uint32_t count);

#endif
