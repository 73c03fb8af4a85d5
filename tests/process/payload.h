/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PAYLOAD_H
#define SHOWSTOPPER_TESTS_PAYLOAD_H

#include <stdbool.h>

/* The acts of the payload: each file has a table of its own. */

/* Nothing here outlives its test for long, whatever goes wrong. */
#define LIFE_SECONDS 290

struct payload_act {
    const char *name;
    /* `words` are those after the act's name, ended by NULL. Returns the exit status. */
    int (*act)(char **words);
};

/* Ended by an act without a name. */
extern const struct payload_act payload_tree_acts[];
extern const struct payload_act payload_tty_acts[];
extern const struct payload_act payload_rights_acts[];

/* Uses a part of the CPU time it gets; where the test is greedy, all of it. */
_Noreturn void payload_spin(void);

bool payload_is_gentle(void);

/* One line on standard output, at once. */
void payload_say(const char *text);

void payload_nap(long milliseconds);

#endif
