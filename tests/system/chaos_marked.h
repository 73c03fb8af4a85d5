/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CHAOS_MARKED_H
#define SHOWSTOPPER_TESTS_CHAOS_MARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The processes of one run: they have its mark, a variable, in their environment, whatever their
 * parent has become. Zombies have no environment any more and do not count.
 */

#define MARKED_MAX 8192

struct marked {
    pid_t pid;
    pid_t parent;
    pid_t group;
    pid_t session;
    char state; /* as in ps */
    char name[32];
};

/* Fills `found`, of MARKED_MAX, in the order of their numbers. Returns how many. */
size_t marked_find(const char *mark, struct marked *found);

/* One line a process on standard error, like ps. */
void marked_print(const struct marked *processes, size_t count);

/* Kills all of them and whatever they start meanwhile. */
void marked_end(const char *mark);

/* Says whether shared memory of the run is still there, and removes it. */
bool marked_left_memory(pid_t master);

/* The letter of a process's state; 0 if it is gone. */
char marked_state(pid_t pid);

#endif
