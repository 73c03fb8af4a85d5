/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_PLACE_STATE_H
#define SSPLACE_PLACE_STATE_H

/*
 * A place of an environment: a locked folder with its state, and possibly a control group. The
 * files of the folder:
 *
 *   holder     pid and start of the process that holds it
 *   starter    pid and start of the program that opens it, or that runs its container
 *   place      exists if open: pid and start of the container's first process, or empty
 *   entered.N  pid and start of a process that entered a place without a control group
 *   log        standard error of the program that opens it
 *
 * The environment's script keeps its own files there, and removes all of them.
 */

#include "named_group.h"

struct ssplace {
    const char *name;
    const char *folder; /* folder of all places */
    char *state;        /* folder of this place; owned */
    char group[256];    /* name of its control group */
    int lock;           /* descriptor of `state`, or -1 */
    const struct ss_platform_roots *roots;
};

/* A process. The start time distinguishes it from later ones with the same pid. */
struct ssplace_process {
    pid_t pid;
    uint64_t started;
};

/* Names a place, whether or not it exists. Free the place in any case. */
SS_MUST_USE SS_NONNULL(1, 2) int ssplace_init(struct ssplace *place, const char *name,
    const struct ss_platform_roots *roots, struct ss_error *error);

SS_NONNULL() void ssplace_free(struct ssplace *place);

/* Locks a place that no process holds, and creates its folder. */
SS_MUST_USE SS_NONNULL() int ssplace_acquire(struct ssplace *place, struct ss_error *error);

/* Ends the processes of a locked place, removes its control group, and calls `--clean`. */
SS_MUST_USE SS_NONNULL() int ssplace_clean_up(
    const struct ssplace *place, char *environment, struct ss_error *error);

/* Removes the folder of a cleared place. */
SS_NONNULL() void ssplace_remove(struct ssplace *place);

/* Ends the process that holds or opens the place, if any, then clears and removes the place. */
SS_MUST_USE SS_NONNULL() int ssplace_close(
    struct ssplace *place, char *environment, struct ss_error *error);

/* Opens a file of the place. Returns NULL with errno set. */
SS_MUST_USE SS_NONNULL() FILE *ssplace_open_file(
    const struct ssplace *place, const char *file, const char *mode);

/* Writes a process to a file of the place. Returns 0 or a negative errno. */
SS_MUST_USE SS_NONNULL() int ssplace_write_process(
    const struct ssplace *place, const char *file, const struct ssplace_process *process);

SS_NONNULL() bool ssplace_lives(const struct ssplace_process *process);

/*
 * Fails unless the place is open: a process holds it, and its container, if any, has not exited.
 * Sets `first` to the first process of the container, or its pid to 0 if there is no container.
 */
SS_MUST_USE SS_NONNULL() int ssplace_check_open(
    const struct ssplace *place, struct ssplace_process *first, struct ss_error *error);

/*
 * Opens a place with `ENVIRONMENT --open PLACE OPTION...`, prints the line `open`, waits for a
 * signal, and closes the place. The words are the environment's script and the options, ending with
 * NULL.
 *
 * The command either exits with 0 or becomes a container. The first process of a container prints
 * `open`, and exits when its standard input ends, which happens even if this process is killed.
 */
SS_MUST_USE SS_NONNULL() int ssplace_hold(
    struct ssplace *place, char *const *words, struct ss_error *error);

/*
 * Makes a process a member of an open place: moves it into the control groups of the place, or of
 * its container. Without control groups, records the process, so that `close` can end it.
 */
SS_MUST_USE SS_NONNULL() int ssplace_join(
    const struct ssplace *place, pid_t pid, struct ss_error *error);

/* Prints the path of the control group that counts the place's CPU time. */
SS_MUST_USE SS_NONNULL() int ssplace_print_group(
    const struct ssplace *place, struct ss_error *error);

/*
 * Executes a command in the container of an open place, in this process's working folder. Forwards
 * SIGTERM, except for an `instance`, whose process group Showstopper signals. Sets `status` to the
 * exit status of the command.
 */
SS_MUST_USE SS_NONNULL() int ssplace_enter(const struct ssplace *place, char *const *words,
    bool instance, int *status, struct ss_error *error);

#endif
