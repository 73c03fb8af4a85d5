/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PAYLOAD_H
#define SHOWSTOPPER_TESTS_PAYLOAD_H

#include <stdbool.h>

/* The acts of the payload: each file has its own table. */

/* No payload outlives its test for long, whatever goes wrong. */
#define LIFE_SECONDS 290

struct payload_act {
    const char *name;
    /* `words` are those after the act's name, ended by NULL. Returns the exit status. */
    int (*act)(char **words);
};

/* ended by an act without a name */
extern const struct payload_act payload_tree_acts[];
extern const struct payload_act payload_tty_acts[];
extern const struct payload_act payload_rights_acts[];

/* Uses a part of the CPU time that it gets; all of it if the test is greedy. */
_Noreturn void payload_spin(void);

bool payload_is_gentle(void);

/* Prints one line to standard output, at once. */
void payload_say(const char *text);

void payload_nap(long milliseconds);

#endif
