/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_ISOLATED_H
#define SHOWSTOPPER_TESTS_ISOLATED_H

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "sandbox.h"

/*
 * Runs with --isolate. Tests find their processes by PID namespace, even orphans without the mark.
 */

#define ISOLATE "--isolate", "-v", "-n", "2", "-c", "fixed", "-l", "50%"

struct isolated_run {
    struct run *run;
    pid_t init;
    pid_t master; /* the master inside */
    char space[64];
};

/* In a child: exits with 0 if the system permits everything that --isolate needs. */
static inline void isolated_try(void) {
    pid_t child = sandbox_unshare(CLONE_NEWPID | CLONE_NEWNS) ? fork() : -1;
    int status = 1;
    if (child == 0)
        _exit(mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
              mount("proc", "/proc", "proc", 0, NULL) < 0);
    _exit(child < 0 || waitpid(child, &status, 0) != child || status != 0);
}

/* Returns whether runs can be isolated by the user that `become` selects (NULL: ourselves). */
static inline bool isolated_is_possible(void (*become)(void)) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        if (become)
            become();
        prctl(
            PR_SET_DUMPABLE, 1); /* as after an exec; otherwise root would own our files in /proc */
        isolated_try();
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#define SKIP_UNLESS_ISOLATED()                                                                     \
    SKIP_UNLESS(isolated_is_possible(NULL), "namespaces: cannot create a PID namespace")

/* Skips the rest of the test if an isolated run is next and impossible. */
static inline bool isolated_need(bool isolated) {
    SKIP_UNLESS(!isolated || SHIMS_WORK, "sanitizer: cannot check processes in a namespace");
    if (isolated)
        SKIP_UNLESS_ISOLATED();
    return true;
}

/* The head of a loop over an ordinary run and an isolated one. */
#define EACH_MODE(isolated)                                                                        \
    int isolated = 0;                                                                              \
    isolated < 2 && isolated_need(isolated);                                                       \
    isolated++

/* Reads the PID namespace of a process; empty if the process is gone. */
static inline void isolated_space(pid_t pid, char space[64]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    ssize_t length = readlink(path, space, 63);
    space[length > 0 ? length : 0] = '\0';
}

static inline bool isolated_is_in(pid_t pid, const char *space) {
    char here[64];
    isolated_space(pid, here);
    return strcmp(here, space) == 0;
}

/* Finds the processes of this name in this namespace, except zombies. Returns their number. */
static inline size_t isolated_members(
    const char *space, const char *name, pid_t pids[RUN_PIDS_MAX]) {
    return run_collect(name, isolated_is_in, space, pids);
}

/*
 * Returns the outer process or the master. Both are named showstopper, but only one is in our
 * namespace.
 */
static inline pid_t isolated_showstopper(struct run *run, bool inside) {
    char own[64];
    char space[64];
    pid_t pids[RUN_PIDS_MAX];
    size_t count;
    RUN_UNTIL(run, (count = run_named("showstopper", pids)) == 2);
    isolated_space(getpid(), own);
    for (size_t i = 0; i < count; i++) {
        isolated_space(pids[i], space);
        if (*space && (strcmp(space, own) != 0) == inside)
            return pids[i];
    }
    ck_abort_msg("no process of the run is %s", inside ? "inside" : "outside");
    return 0;
}

/* Waits until all processes of the run exist. */
static inline struct isolated_run isolated_find(struct run *run) {
    struct isolated_run isolated = {.run = run};
    run_wait_text(run, "instances are running");
    isolated.init = run_find(run, "ss-init");
    isolated.master = isolated_showstopper(run, true);
    isolated_space(isolated.init, isolated.space);
    ck_assert_int_ne(isolated.space[0], '\0');
    return isolated;
}

/* Like run_free_clean(), and fails the test if a process of the namespace is left. */
static inline void isolated_free_clean(const struct isolated_run *isolated) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, isolated_members(isolated->space, "", pids) == 0);
    run_free_clean(isolated->run);
}

#endif
