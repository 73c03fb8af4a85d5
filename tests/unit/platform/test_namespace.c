/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"
#include "unit.h"

#define NOBODY 65534

/* Exit statuses of the process in the namespace. */
enum { SETTLED, UNSETTLED, WRONG_PID, WRONG_USER, WRONG_PROC, REFUSED, NOT_NOBODY };

static int check_inside(const struct ss_isolation *isolation) {
    char self[16] = "";
    if (ss_platform_isolation_set_up(isolation) < 0)
        return UNSETTLED;
    if (getpid() != 1)
        return WRONG_PID;
    if (getuid() != isolation->user || getgid() != isolation->group)
        return WRONG_USER;
    return readlink("/proc/self", self, sizeof self - 1) == 1 && strcmp(self, "1") == 0
               ? SETTLED
               : WRONG_PROC;
}

/* Returns the exit status of the process in the namespace. */
static int isolate(bool *unprivileged) {
    struct ss_isolation isolation;
    int status;
    pid_t inner = ss_platform_isolation_fork(&isolation);
    if (inner < 0)
        return REFUSED;
    if (inner == 0)
        _exit(check_inside(&isolation));
    *unprivileged = isolation.unprivileged;
    return waitpid(inner, &status, 0) == inner && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Returns whether user namespaces are permitted that mount /proc. If a container hides a part of
 * /proc, the kernel refuses a mount that would show it.
 */
static bool may_mount(void) {
    int status = 1;
    pid_t inner = unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0 ? fork() : -1;
    if (inner == 0)
        _exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0);
    return inner > 0 && waitpid(inner, &status, 0) == inner && status == 0;
}

/* Root needs no user namespace, so the test gives up its rights, in a child. */
TEST(user_without_rights_keeps_its_ids_in_a_namespace) {
    int status;
    pid_t child = fork();
    assert_that(child, >=, 0);
    if (child == 0) {
        bool unprivileged = false;
        if (getuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(NOT_NOBODY);
        prctl(PR_SET_DUMPABLE, 1); /* otherwise root owns its files in /proc */
        int found = isolate(&unprivileged);
        if (found == UNSETTLED && !may_mount())
            found = REFUSED;
        _exit(found == SETTLED && !unprivileged ? 101 : found);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    SKIP_UNLESS(WEXITSTATUS(status) != NOT_NOBODY, "another-user: root cannot become it");
    SKIP_UNLESS(WEXITSTATUS(status) != REFUSED, "user-namespaces: not permitted");
    assert_int_equal(WEXITSTATUS(status), SETTLED);
}

UNIT_RUN
