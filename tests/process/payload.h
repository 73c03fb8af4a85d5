/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PAYLOAD_H
#define SHOWSTOPPER_TESTS_PAYLOAD_H

#include <stdbool.h>

/* Payloads end by themselves, in case a test leaves one behind. */
#define LIFE_SECONDS 290

struct payload_act {
    const char *name;
    /* `words`: the arguments after the act's name, ended by NULL. Returns the exit status. */
    int (*act)(char **words);
};

/* Each table ends with an act without a name. */
extern const struct payload_act payload_tree_acts[];
extern const struct payload_act payload_tty_acts[];
extern const struct payload_act payload_rights_acts[];

/* Spins for a part of the available CPU time, or for all of it if the test is greedy. */
_Noreturn void payload_spin(void);

bool payload_is_gentle(void);

void payload_say(const char *text);

void payload_nap(long milliseconds);

#endif
