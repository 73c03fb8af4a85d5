/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_CHAOS_MARKED_H
#define SHOWSTOPPER_TESTS_CHAOS_MARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the processes of one run by its mark, an environment variable that even orphans have.
 * Zombies have no environment and are not found.
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

/* Stores up to MARKED_MAX processes in `found`, ordered by pid. Returns their number. */
size_t marked_find(const char *mark, struct marked *found);

/* Prints one line per process to standard error, like ps. */
void marked_print(const struct marked *processes, size_t count);

/* Kills all marked processes, and those that they start meanwhile. */
void marked_end(const char *mark);

/* Removes the shared memory of the run. Returns whether there was any. */
bool marked_left_memory(pid_t master);

/* Returns the state of a process as in ps; 0 if it is gone. */
char marked_state(pid_t pid);

#endif
