/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PAYLOAD_H
#define SHOWSTOPPER_TESTS_PAYLOAD_H

#include <stdbool.h>

/* Payloads end by themselves after this time, in case a test leaves one behind. */
#define LIFE_SECONDS 290

struct payload_act {
    const char *name;
    /* `words`: the arguments after the act's name, ended by NULL. Returns the exit status. */
    int (*act)(char **words);
    /* Acts with one number, or without arguments, exit with 0. */
    void (*act_for)(long number);
    void (*act_alone)(void);
};

/* Each table ends with an act without a name. */
extern const struct payload_act payload_tree_acts[];
extern const struct payload_act payload_tty_acts[];
extern const struct payload_act payload_rights_acts[];

/* Returns the argument with this index, from 0, as a number. Exits if it is missing. */
long payload_number(char **words, int which);

/* Spins for a part of the available CPU time, or for all of it if the test is greedy. */
_Noreturn void payload_spin(void);

/* The same for pthread_create(). */
void *payload_spin_in_thread(void *nothing);

bool payload_is_gentle(void);

void payload_say(const char *text);

void payload_nap(long milliseconds);

#endif
