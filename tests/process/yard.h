/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_YARD_H
#define SHOWSTOPPER_TESTS_YARD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/*
 * A place where tests run root's processes safely: a payload that can become root, and a control
 * group (version 2) delegated to the user that starts runs, as with `systemd-run --user -p
 * Delegate=yes`. However a test ends, its janitor, a child process, then ends what it left.
 */

#define YARD_USER 65534 /* the user of family_become_nobody() */

static struct {
    const char *group; /* NULL if the yard has no group */
    const char *folder;
    const char *program;
    const char *freezer; /* the last group found below ours */
    pid_t visitor, janitor;
    int alive; /* a pipe that closes when the test ends */
} yard;        /* global, because run_setup.prepare has no argument */

/* Returns our own group of version 2; NULL if absent or not permitted. */
static inline const char *yard_find_own_group(void) {
    static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    struct run_text text = run_read_file("/proc/self/cgroup");
    char *line = strncmp(text.bytes, "0::/", 4) == 0 ? text.bytes : strstr(text.bytes, "\n0::/");
    if (!line)
        return NULL;
    char *own = strchr(line, '/');
    own[strcspn(own, "\n")] = '\0';
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *path = run_path(roots[i], own + 1);
        if (access(run_path(path, "cgroup.procs"), W_OK) == 0)
            return path;
    }
    return NULL;
}

static inline bool yard_make_group(void) {
    static const char *const given[] = {".", "cgroup.procs", "cgroup.subtree_control"};
    const char *own = yard_find_own_group();
    const char *name = run_format("showstopper-test.%d", (int)getpid());
    if (!own || mkdir(run_path(own, name), 0755) < 0)
        return false;
    yard.group = run_path(own, name);
    bool made = run_exists(run_path(yard.group, "cgroup.kill")); /* since Linux 5.14 */
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        made = made && chown(run_path(yard.group, given[i]), YARD_USER, YARD_USER) == 0;
    return made;
}

/* Calls `see` for each group below ours. Returns the number of groups. */
static inline size_t yard_each_freezer(void (*see)(const char *path)) {
    size_t count = 0;
    DIR *directory = yard.group ? opendir(yard.group) : NULL;
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        count++;
        if (see)
            see(run_path(yard.group, entry->d_name));
    }
    if (directory)
        closedir(directory);
    return count;
}

/* Kills the processes of the group, all of which the test has started, and removes it. */
static inline void yard_tear_down(const char *group) {
    int pid;
    FILE *file = fopen(run_path(group, "cgroup.procs"), "re");
    while (file && fscanf(file, "%d", &pid) == 1) {
        if (pid > 1)
            kill(pid, SIGKILL);
    }
    if (file)
        fclose(file);
    rmdir(group);
}

static inline bool yard_has_group(void) {
    return yard.group && run_exists(yard.group);
}

_Noreturn static inline void yard_be_janitor(int alive) {
    char byte;
    setsid(); /* a test that times out is killed with its group */
    while (read(alive, &byte, 1) < 0 && errno == EINTR) {
    }
    struct family left = family_find("");
    family_signal(&left, SIGKILL);
    double deadline = run_now() + RUN_CLEAN_PATIENCE;
    while (yard_has_group() && run_now() < deadline) {
        yard_each_freezer(yard_tear_down);
        yard_tear_down(yard.group);
        run_nap(NULL);
    }
    run_remove_folder(yard.folder);
    _exit(yard_has_group());
}

static inline void yard_hire_janitor(void) {
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    family_find(""); /* creates the mark before the fork, so that both processes have it */
    yard.janitor = fork();
    ck_assert_int_ge(yard.janitor, 0);
    if (yard.janitor == 0) {
        close(ends[1]);
        yard_be_janitor(ends[0]);
    }
    close(ends[0]);
    yard.alive = ends[1];
}

/* For run_setup.prepare: becomes the user that starts runs, in the group if there is one. */
static inline void yard_become_user(void) {
    int procs = yard.group ? open(run_path(yard.group, "cgroup.procs"), O_WRONLY | O_CLOEXEC) : -1;
    if (yard.group && (procs < 0 || write(procs, "0", 1) != 1))
        _exit(SANDBOX_MISSING);
    family_become_nobody();
}

/*
 * Copies the payload as a set-user-ID program of root, in a folder closed to other users. Returns
 * false if no program may become root.
 */
static inline bool yard_copy_program(void) {
    struct run_setup setup = {.prepare = family_become_nobody};
    run_succeed(run_start(NULL, WORDS("cp", PAYLOAD, yard.program)));
    ck_assert_int_eq(chown(yard.folder, 0, YARD_USER), 0);
    ck_assert_int_eq(chmod(yard.folder, 0710), 0);
    ck_assert_int_eq(chmod(yard.program, 04755), 0);
    struct run *run = run_start(&setup, WORDS(yard.program, "become-root"));
    RUN_UNTIL(run, run->ended || run_count_text(&run->out, "ready\n") == 1);
    bool can = !run->ended;
    run_free(run);
    return can;
}

/* Called at exit. Fails the test if the janitor cannot remove everything. */
static inline void yard_leave(void) {
    int status = 1;
    if (getpid() != yard.visitor)
        return;
    close(yard.alive);
    if (waitpid(yard.janitor, &status, 0) == yard.janitor && status == 0)
        return;
    fprintf(stderr, "%s is still there\n", yard.group ? yard.group : "something");
    _exit(EXIT_FAILURE);
}

/* Skips the test if the yard is not available. */
static inline void yard_enter(bool with_group) {
    SKIP_UNLESS(geteuid() == 0, "root: only root can make programs that become root");
    family_need_nobody();
    yard.folder = strdup(TEST_BUILD_DIR "/tests/yard.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp((char *)yard.folder));
    yard.program = run_path(yard.folder, "payload");
    bool made = !with_group || yard_make_group();
    yard_hire_janitor();
    yard.visitor = getpid();
    atexit(yard_leave);
    SKIP_UNLESS(made, "cgroup-v2: no group can be delegated");
    SKIP_UNLESS(
        yard_copy_program(), "setuid: set-user-ID programs are not allowed in the build folder");
}

#endif
