/* SPDX-License-Identifier: Apache-2.0 */
#include "place_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/owned.h"
#include "platform/child.h"

int ssplace_join(const struct ssplace *place, pid_t pid, struct ss_error *error) {
    struct ssplace_process first, joining = {pid, ss_platform_process_started(pid)};
    char file[64];

    if (ssplace_check_open(place, &first, error) < 0)
        return -1;

    int count = named_group_join(place->group, first.pid, pid, place->roots);
    if (count < 0 || (count == 0 && first.pid > 0))
        return ss_error_fail(error, "%s: cannot join the control groups: %s", place->name,
            count < 0 ? strerror(-count) : "the container has none");

    snprintf(file, sizeof file, "entered.%d", (int)pid);
    if (count == 0 && ssplace_write_process(place, file, &joining) < 0)
        return ss_error_fail(error, "%s: cannot record process %d", place->name, (int)pid);

    /* Fail if the place was closed meanwhile: the process may have joined too late to be killed. */
    return ssplace_check_open(place, &first, error);
}

int ssplace_print_group(const struct ssplace *place, struct ss_error *error) {
    struct ssplace_process first;
    char path[SS_GROUP_PATH_SIZE];

    if (ssplace_check_open(place, &first, error) < 0)
        return -1;
    if (!named_group_exists(place->group, place->roots))
        return ss_error_fail(error, "%s has no control group", place->name);

    snprintf(path, sizeof path, "/%s", place->group);
    if (first.pid > 0 &&
        named_group_accounting_path(first.pid, path, sizeof path, place->roots) < 0)
        return ss_error_fail(error, "%s: the container has exited", place->name);
    puts(path);
    return 0;
}

/* Uses descriptors in /proc/PID, which never refer to a later process with the same pid. */
static int enter_namespaces(const struct ssplace_process *first, int process) {
    static const char *const names[] = {
        "ns/cgroup", "ns/ipc", "ns/uts", "ns/net", "ns/pid", "ns/mnt"};
    enum { COUNT = sizeof names / sizeof *names };
    int files[COUNT];
    SS_OWNED(close) int root = openat(process, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = root < 0 ? -errno : 0;

    for (int i = 0; i < COUNT; i++) {
        files[i] = openat(process, names[i], O_RDONLY | O_CLOEXEC);
        status = files[i] < 0 && status == 0 ? -errno : status;
    }

    if (!ssplace_lives(first))
        status = -ESRCH;
    for (int i = 0; i < COUNT; i++) {
        if (status == 0 && setns(files[i], 0) < 0)
            status = -errno;
        ss_owned_close(&files[i]);
    }

    /* A container that was started in a chroot has another root than its mount namespace. */
    if (status == 0 && (fchdir(root) < 0 || chroot(".") < 0))
        status = -errno;

    return status;
}

static int enter_folder(const void *folder) {
    return chdir(folder) < 0;
}

/* Waits for the command. Forwards SIGTERM if it is one of the blocked signals. */
static int await_end(pid_t child, const sigset_t *signals) {
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int number = sigwaitinfo(signals, NULL);
        if (number == SIGTERM)
            kill(child, number);
    }
    return ss_child_exit_status(status);
}

/* Executes the command in a child, because setns() changes the PID namespace only of children. */
static int run_child(
    char *const *words, const char *folder, bool instance, struct ss_error *error) {
    struct ss_child child;
    struct ss_child_failure failure;
    sigset_t signals, before;
    const struct ss_child_setup setup = {
        .words = words,
        .streams = {-1, -1, -1},
        .mask = &before,
        .prepare = enter_folder,
        .context = folder,
    };
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    if (!instance)
        sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before);

    int result = ss_child_fork(&child, &setup);
    if (result < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(-result));

    if (ss_child_execute(&child, &failure) == 0)
        return await_end(child.pid, &signals);
    if (failure.step)
        return ss_error_fail(error, "cannot enter the folder %s in the container: %s", folder,
            strerror(failure.err));
    return ss_child_fail(&failure, words[0], error);
}

int ssplace_enter(const struct ssplace *place, char *const *words, bool instance, int *status,
    struct ss_error *error) {
    struct ssplace_process first;
    char path[64], folder[PATH_MAX];

    if (ssplace_check_open(place, &first, error) < 0)
        return -1;
    if (first.pid == 0)
        return ss_error_fail(error, "%s is not a container", place->name);

    snprintf(path, sizeof path, "/proc/%d", (int)first.pid);
    SS_OWNED(close) int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return ss_error_fail(error, "%s: the container has exited", place->name);
    if (!getcwd(folder, sizeof folder))
        return ss_error_fail(error, "the working folder does not exist");

    int result = enter_namespaces(&first, process);
    if (result < 0)
        return ss_error_fail(
            error, "%s: cannot enter the container: %s", place->name, strerror(-result));

    result = run_child(words, folder, instance, error);
    *status = result;
    return result < 0 ? -1 : 0;
}
