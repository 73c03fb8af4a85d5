/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SURROUNDINGS_H
#define SHOWSTOPPER_TESTS_SURROUNDINGS_H

#include <linux/filter.h>
#include <stdbool.h>

#include "process.h"
#include "run.h"

/* Surroundings of a program: mounts and name spaces, control groups, calls that fail. */

/*
 * The environment that preloads one of the shims beside this file; see there what they do. A
 * sanitizer wants to be loaded first.
 */
#define SHIM(name) "LD_PRELOAD=" TEST_BUILD_DIR "/tests/lib" name ".so"
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SHIMS_WORK false
#else
#define SHIMS_WORK true
#endif

/* With this a preparation says that it cannot be done here. */
#define SURROUNDINGS_MISSING PROCESS_SKIPPED

/* ---- mounts ---- */

/*
 * As unshare(2), with a user name space in which we are root where we are not. False where it is
 * not allowed.
 */
bool surroundings_unshare(int flags);

/* Whether a child can have mounts of its own. */
bool surroundings_have_mounts(void);

/* Has the kernel apply these rules to our system calls. */
bool surroundings_filter_calls(struct sock_filter *steps, size_t count);

/* For run_setup.prepare: from now on no other process sees what we mount. */
void surroundings_leave_mounts(void);

/* A file system of so many bytes in memory, there. */
void surroundings_mount_small(const char *folder, const char *size);

/* Fills the rest of the file system of a folder. */
void surroundings_fill(const char *folder);

/* ---- control groups ---- */

struct control_group {
    char path[512];
    bool unified; /* version 2 */
};

/* Makes one below our own. False where there is no such controller, or we may not. */
bool control_group_make(struct control_group *group, const char *controller);

/* Sets a limit; the two versions name theirs differently. False where there is no such limit. */
bool control_group_limit(
    const struct control_group *group, const char *name, const char *unified, const char *value);

/* Whether a file of the group begins with this word. */
bool control_group_has(const struct control_group *group, const char *name, const char *value);

/* Puts the calling process into it. */
void control_group_enter(const struct control_group *group);

bool control_group_holds(const struct control_group *group, pid_t pid);

/* It must be empty. */
void control_group_remove(const struct control_group *group);

#endif
