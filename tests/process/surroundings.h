/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SURROUNDINGS_H
#define SHOWSTOPPER_TESTS_SURROUNDINGS_H

#include <linux/filter.h>
#include <stdbool.h>

#include "process.h"
#include "run.h"

/* The environment of a program: mounts and namespaces, control groups, calls that fail. */

/*
 * The environment variable that preloads one of the shims in this folder; they describe what they
 * do. A sanitizer must be loaded first.
 */
#define SHIM(name) "LD_PRELOAD=" TEST_BUILD_DIR "/tests/lib" name ".so"
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SHIMS_WORK false
#else
#define SHIMS_WORK true
#endif

/* A preparation exits with this status if it is not possible here. */
#define SURROUNDINGS_MISSING PROCESS_SKIPPED

/* ---- mounts ---- */

/*
 * As unshare(2), with a user namespace in which we are root if we are not already. Returns false if
 * that is not allowed.
 */
bool surroundings_unshare(int flags);

/* Returns whether a child can have its own mounts. */
bool surroundings_have_mounts(void);

/* Applies a seccomp filter to our system calls. */
bool surroundings_filter_calls(struct sock_filter *steps, size_t count);

/* For run_setup.prepare: hides our future mounts from all other processes. */
void surroundings_leave_mounts(void);

/* Mounts a file system of this many bytes in memory. */
void surroundings_mount_small(const char *folder, const char *size);

/* Fills the rest of the file system of a folder. */
void surroundings_fill(const char *folder);

/* ---- control groups ---- */

struct control_group {
    char path[512];
    bool unified; /* version 2 */
};

/* Makes a group below our own. Returns false if there is no such controller, or we may not. */
bool control_group_make(struct control_group *group, const char *controller);

/* Sets a limit, whose name depends on the version. Returns false if there is no such limit. */
bool control_group_limit(
    const struct control_group *group, const char *name, const char *unified, const char *value);

/* Returns whether a file of the group begins with this word. */
bool control_group_has(const struct control_group *group, const char *name, const char *value);

/* Moves the calling process into it. */
void control_group_enter(const struct control_group *group);

bool control_group_holds(const struct control_group *group, pid_t pid);

/* The group must be empty. */
void control_group_remove(const struct control_group *group);

#endif
