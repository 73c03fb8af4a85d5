/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_INPUTS_H
#define SHOWSTOPPER_COMMAND_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <showstopper/error.h>

/* More than any modules name. */
#define SS_INPUTS_MAX 16

/* Names of copies in a record begin with this. */
#define SS_INPUT_PREFIX "input-"

/* A file that a run reads at its start and that its record keeps a copy of. */
struct ss_input {
    char name[80];    /* of the copy: input-trace-path, input-workloads */
    const char *kind; /* of the module whose option names it; NULL: an option of the command line */
    const char *option; /* its name */
    const char *path;   /* as it was given */
    const char **place; /* where its reader finds the path of what is to be read */
    int file;           /* open where it was found; -1: it is nothing that can be copied */
    char spool[32];     /* a pipe, which can be read only once: what is read in its place */
    dev_t device;       /* of a file: which one it was, and how, when it was about to be read */
    ino_t inode;
    off_t size; /* bytes */
    struct timespec changed;
};

/* Zeroed: none. */
struct ss_inputs {
    struct ss_input items[SS_INPUTS_MAX];
    size_t count;
};

/*
 * Before a file is read whose path stands in `place`: until check() that is where to read it from.
 * Texts are not copied. What cannot be opened is left to the reader to complain of.
 */
int ss_inputs_add(struct ss_inputs *inputs, const char *kind, const char *option,
    const char **place, struct ss_error *error);

/* After all have been read: each is still what it was, and can be copied. */
int ss_inputs_check(struct ss_inputs *inputs, struct ss_error *error);

/* Copies what was read into a folder, whatever has its name by now. */
int ss_inputs_copy(const struct ss_inputs *inputs, int folder, struct ss_error *error);

void ss_inputs_close(struct ss_inputs *inputs);

#endif
