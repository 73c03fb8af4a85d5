/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SANDBOX_H
#define SHOWSTOPPER_TESTS_SANDBOX_H

#include <stdbool.h>

#include "process.h"
#include "run.h"

/* Environments of a program: mounts, namespaces, control groups, and system calls that fail. */

/*
 * The environment variable that preloads a shim of this folder. Shims do not work with a sanitizer,
 * which must be loaded first.
 */
#define SHIM(name) "LD_PRELOAD=" TEST_BUILD_DIR "/tests/lib" name ".so"
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SHIMS_WORK false
#else
#define SHIMS_WORK true
#endif

/* In a coverage build, processes write files at their end, which exceed a limit on file size. */
#ifdef SHOWSTOPPER_TESTS_COVERAGE_H
#define FILES_ARE_LIMITED false
#else
#define FILES_ARE_LIMITED true
#endif

/* Exit status of a prepare() that is not possible on this machine. */
#define SANDBOX_MISSING PROCESS_SKIPPED

/*
 * Like unshare(2), but an unprivileged user also gets a user namespace as root. Returns false if
 * not permitted.
 */
bool sandbox_unshare(int flags);

/* Returns whether we can create a mount namespace and mount in it. */
bool sandbox_have_mounts(void);

/* Returns the options of unshare(1) for a new PID namespace, which --mount-proc must follow. */
const char *sandbox_new_namespaces(void);

/* Returns whether unshare(1) can create them. */
bool sandbox_have_namespaces(void);

/* Confines the calling process to its first CPU. For run_setup.prepare. */
void sandbox_stay_on_one_cpu(void);

/* Makes this system call fail with this error. For run_setup.prepare: exits if not permitted. */
void sandbox_deny(long call, unsigned error);

/* The same if this argument, counted from 0, has a bit of the mask; always if the mask is 0. */
void sandbox_deny_if(long call, int argument, unsigned mask, unsigned error);

/*
 * For run_setup.prepare: enters a mount namespace, so that later mounts affect only this program.
 */
void sandbox_leave_mounts(void);

/* Mounts a tmpfs of this size (such as "64k"). Returns false if not permitted. */
bool sandbox_can_mount_small(const char *folder, const char *size);

/* The same for run_setup.prepare: exits if not permitted. */
void sandbox_mount_small(const char *folder, const char *size);

/* Fills the file system of a folder. */
void sandbox_fill(const char *folder);

/* Returns whether a set-user-ID program in this folder gets the rights of its owner. */
bool sandbox_permit_setuid(const char *folder);

/*
 * Compiles this source into the shared object FOLDER/NAME.so, which all users can read, with one
 * more flag. Skips the test if there is no compiler.
 */
void sandbox_compile(const char *folder, const char *name, const char *source, const char *flag);

/* Returns whether a quota keeps our control group, or one above it, from using all of our CPUs. */
bool sandbox_have_quota(void);

/* For tests that need all CPU time that other processes leave. */
#define SKIP_IF_QUOTA() SKIP_UNLESS(!sandbox_have_quota(), "cpu-quota: this control group has one")

/* Creates a group below our own. Returns false if the controller is absent or we may not. */
bool control_group_make(const char *controller);

/* Creates a group of version 2 below our own. Returns false if we may not. */
bool control_group_make_unified(void);

/* Returns the folder of the group. */
const char *control_group_path(void);

/* Returns whether the hierarchy has version 2. */
bool control_group_is_unified(void);

/* Writes a limit to the file `name`, or `unified` in version 2. Returns false if not permitted. */
bool control_group_limit(const char *name, const char *unified, const char *value);

/* Returns whether a file of the group begins with this word. */
bool control_group_has(const char *name, const char *value);

void control_group_enter(void);

bool control_group_holds(pid_t pid);

/* Removes the group, which must have no processes. */
void control_group_remove(void);

#endif
