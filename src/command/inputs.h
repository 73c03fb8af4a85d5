/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_INPUTS_H
#define SHOWSTOPPER_COMMAND_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <showstopper/error.h>

/* More than all modules and options together need. */
#define SS_INPUTS_MAX 16

/* The prefix of the names of copies in a record. */
#define SS_INPUT_PREFIX "input-"

/* A file that a run reads at its start and copies to its record. */
struct ss_input {
    char name[80];      /* name of the copy: input-trace-path, input-workloads */
    const char *kind;   /* kind of the module; NULL for an option of the command line */
    const char *option; /* the option's name */
    const char *path;   /* the path as given */
    const char **slot;  /* the reader opens the path stored here */
    int file;           /* open if the file was found; -1 if it cannot be copied */
    char spool[32];     /* for a pipe, which can be read only once: the path that is read instead */
    dev_t device;       /* identity and state of the file, taken just before it is read */
    ino_t inode;
    off_t size; /* bytes */
    struct timespec changed_at;
};

/* The files that a run reads. Empty when zero-initialized. */
struct ss_inputs {
    struct ss_input items[SS_INPUTS_MAX];
    size_t count;
};

/*
 * Registers an input. Call this before the file named in `*slot` is read: until ss_inputs_check()
 * the reader must take the path from there. Strings are not copied. Does not fail if the file
 * cannot be opened: its reader reports that.
 */
SS_MUST_USE int ss_inputs_add(struct ss_inputs *inputs, const char *kind, const char *option,
    const char **slot, struct ss_error *error);

/*
 * Checks that each file is unchanged and can be copied, and sets each slot back to the path as
 * given. Call this after all files have been read.
 */
SS_MUST_USE int ss_inputs_check(struct ss_inputs *inputs, struct ss_error *error);

/* Copies the registered files to `folder`, even if their paths name other files by now. */
SS_MUST_USE int ss_inputs_copy(const struct ss_inputs *inputs, int folder, struct ss_error *error);

void ss_inputs_close(struct ss_inputs *inputs);

#endif
