/* SPDX-License-Identifier: Apache-2.0 */

/* Commands that cannot be executed, and processes that cannot be created. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "family.h"
#include "fault.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

static void vanish(const char *path) {
    ck_assert_int_eq(unlink(path), 0);
}

static void lose_mode(const char *path) {
    ck_assert_int_eq(chmod(path, 0644), 0);
}

static void become_folder(const char *path) {
    const char *other = run_format("%s.new", path);
    ck_assert_int_eq(mkdir(other, 0755), 0);
    ck_assert_int_eq(renameat2(AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE), 0);
}

/* Replaces the file, because a file that is open for writing cannot be executed. */
static void become_text(const char *path, const char *text) {
    const char *other = run_format("%s.new", path);
    run_write_file(other, text);
    ck_assert_int_eq(chmod(other, 0755), 0);
    ck_assert_int_eq(rename(other, path), 0);
}

static void lose_interpreter(const char *path) {
    become_text(path, "#!/there/is/none\n");
}

static void have_file_as_interpreter(const char *path) {
    become_text(path, "#!/etc/passwd\n");
}

static void have_folder_as_interpreter(const char *path) {
    become_text(path, "#!/etc\n");
}

/*
 * A file that is open for writing cannot be executed, and vice versa, so another file replaces it
 * and stays open until the test ends.
 */
static void be_written(const char *path) {
    const char *other = run_format("%s.other", path);
    run_succeed(CALL("cp", PAYLOAD, other));
    ck_assert_int_ge(open(other, O_WRONLY | O_CLOEXEC), 0);
    ck_assert_int_eq(rename(other, path), 0);
}

static const struct {
    const char *name;
    void (*change)(const char *path);
    int status;
} changes[] = {
    {"vanish", vanish, 127},
    {"lose-mode", lose_mode, 126},
    {"become-folder", become_folder, 126},
    {"lose-interpreter", lose_interpreter, 127},
    {"file-as-interpreter", have_file_as_interpreter, 126},
    {"folder-as-interpreter", have_folder_as_interpreter, 126},
    {"be-written", be_written, 126},
};

#define CHANGES (sizeof changes / sizeof *changes)

/* Linux 6.11 executes files that are open for writing. Returns how many changes prevent an exec. */
static size_t count_changes(void) {
    const char *path = run_new_path("written");
    be_written(path);
    struct run *run = CALL(path, "exit", "0");
    size_t count = run->status == 0 ? CHANGES - 1 : CHANGES;
    ck_assert_ptr_eq(changes[CHANGES - 1].change, be_written);
    return count;
}

static const char *make_script(const char *folder, const char *name, const char *text) {
    const char *path = run_path(folder, name);
    run_write_file(path, text);
    ck_assert_int_eq(chmod(path, 0755), 0);
    return path;
}

static double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Changes the commands after the plan is made, `lead` seconds before instances start. Returns false
 * if that was too late.
 */
static bool change_before_start(const char *folder, int lead, size_t count) {
    struct run *runs[CHANGES];
    const char *paths[CHANGES];
    pid_t pids[RUN_PIDS_MAX];
    double start = wall_clock() + lead;
    const char *at = run_format("@%.0f", start);
    for (size_t i = 0; i < count; i++) {
        paths[i] = make_script(folder, changes[i].name, "#!/bin/sh\n");
        runs[i] = START("-q", "-n", "3", "-l", "50%", "--start-at", at, paths[i]);
    }
    RUN_UNTIL(NULL, run_named("ss-guardian", pids) == count || wall_clock() > start);
    for (size_t i = 0; i < count; i++)
        changes[i].change(paths[i]);
    /* Instances are forked at most half a second before the start. */
    bool early = wall_clock() < start - 1;
    for (size_t i = 0; i < count; i++) {
        if (early)
            fault_expect_refusal(runs[i], changes[i].status, paths[i]);
        else
            run_wait(runs[i]);
    }
    return early;
}

TEST_CASE(command_changed_before_exec_is_refused) {
    bool early = false;
    size_t count = count_changes();
    for (int lead = 4; !early; lead *= 2) {
        const char *folder = run_make_folder();
        ck_assert_msg(lead < 64, "this machine is too slow");
        early = change_before_start(folder, lead, count);
    }
}

/* Changes the command of each run while it is being repeated. */
TEST_CASE(command_changed_between_iterations_ends_the_run) {
    size_t count = count_changes();
    for (size_t i = 0; i < count; i++) {
        const char *folder = run_make_folder();
        const char *path = run_path(folder, changes[i].name);
        run_succeed(CALL("cp", PAYLOAD, path));
        struct run *run =
            START("-q", "-n", "3", "-l", "100%", "-c", "fixed", "--repeat", path, "say", "done");
        RUN_UNTIL(run, run_count_text(&run->out, "done\n") > 6);
        changes[i].change(path);
        run_wait(run);
        fault_expect_refusal(run, changes[i].status, path);
    }
}

TEST_CASE(a_script_without_interpreter_line_runs_in_a_shell) {
    const char *folder = run_make_folder();
    const char *path = make_script(folder, "text", "echo by the shell\nexit 5\n");
    struct run *env = CALL("env", path);
    struct run *run = RUN("-q", "-n", "3", "-l", "100%", path);
    run_expect(env, 5);
    run_expect(run, 5);
    ck_assert_uint_eq(run_count_text(&run->out, "by the shell\n"), 3);
}

/* The leak check at exit forks another process. */
#define NO_LEAKS .environment = WORDS("ASAN_OPTIONS=detect_leaks=0")

/* In this order, because a user who already has more processes could not execute anything. */
static void allow_one_process(void) {
    family_become_nobody();
    setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
}

TEST_CASE(a_limit_on_processes_at_the_start_is_reported) {
    family_need_nobody();
    struct run_setup setup = {.prepare = allow_one_process, NO_LEAKS};
    struct run *run = RUN_IN(&setup, "-q", "-n", "3", "-l", "50%", PAYLOAD, "exit", "9");
    fault_expect_refusal(run, 125, "ulimit -u");
}

TEST_CASE(the_process_limit_of_a_control_group_is_reported) {
    SKIP_UNLESS(control_group_make("pids"), "cgroup-pids: cannot create a control group");
    struct run_setup setup = {.prepare = control_group_enter, NO_LEAKS};
    ck_assert(control_group_limit("pids.max", "pids.max", "3"));
    struct run *run = RUN_IN(&setup, "-q", "-n", "3", "-l", "50%", PAYLOAD, "exit", "9");
    fault_expect_refusal(run, 125, "pids.max");
    control_group_remove();
}

/* As in a container that sees only its own group, at the root, but has its path on the host. */
static void enter_container(void) {
    control_group_enter();
    sandbox_leave_mounts();
    sandbox_mount_small("/sys/fs/cgroup", "64k");
    const char *root = control_group_is_unified() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
    mkdir("/sys/fs/cgroup/pids", 0755);
    run_write_file(run_path(root, "pids.max"), "5\n");
    run_write_file(run_path(root, "pids.current"), "3\n");
}

TEST_CASE(the_process_limit_of_a_container_is_reported) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    SKIP_UNLESS(control_group_make("pids"), "cgroup-pids: cannot create a control group");
    struct run_setup setup = {.prepare = enter_container, NO_LEAKS};
    struct run *run = RUN_IN(&setup, "-q", "-n", "3", "-l", "50%", PAYLOAD, "exit", "9");
    fault_expect_refusal(run, 125, "pids.max leaves room for 2");
    control_group_remove();
}

#define THREE_FOR_A_MOMENT                                                                         \
    WORDS(SHOWSTOPPER, "-q", "-n", "3", "-l", "50%", "-c", "fixed", "--duration", "300ms",         \
        PAYLOAD, "spin")

/* The guardian, three executors, and an instance of each. */
#define FORKS 7

TEST_CASE(failing_forks_leave_nothing_behind) {
    ck_assert_uint_gt(fault_try_all("fork", 1, THREE_FOR_A_MOMENT), FORKS);
    ck_assert_uint_gt(fault_try_all("fork", FAULT_FOR_EVER, THREE_FOR_A_MOMENT), FORKS);
}

/* Every fork at the start is needed. */
TEST_CASE(a_run_whose_fork_fails_at_the_start_is_refused) {
    for (unsigned long first = 1; first <= FORKS; first++) {
        struct fault fault = {"fork", first, 1};
        struct run *run = fault_start(&fault, THREE_FOR_A_MOMENT);
        fault_expect_refusal(run, 125, "Resource temporarily unavailable: run fewer instances");
        ck_assert(fault_has_struck(&fault));
    }
}

static void inherit_files(void) {
    struct rlimit limit = {60, 60};
    for (int i = 0; i < 30; i++)
        fcntl(STDIN_FILENO, F_DUPFD, 3);
    setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_CASE(files_that_the_caller_left_open_count_toward_the_limit) {
    struct run_setup setup = {.prepare = inherit_files};
    struct run *run =
        RUN_IN(&setup, "-q", "-n", "1", "-l", "100%", "-c", "fixed", PAYLOAD, "exit", "0");
    fault_expect_refusal(run, 125, " more, but 34 are needed: run fewer instances");
}

TEST_CASE(failed_fork_between_iterations_ends_the_run) {
    for (unsigned long first = FORKS + 1; first < FORKS + 12; first++) {
        struct fault fault = {"fork", first, first % 2 ? 1 : FAULT_FOR_EVER};
        struct run *run = fault_start(&fault, WORDS(SHOWSTOPPER, "-q", "-n", "3", "-l", "100%",
                                                  "-c", "fixed", "--repeat", PAYLOAD, "exit", "0"));
        fault_expect_refusal(run, 125, "run fewer instances");
        ck_assert(fault_has_struck(&fault));
    }
}

TEST_CASE(a_guardian_that_cannot_be_replaced_ends_the_run) {
    struct fault fault = {"fork", FORKS + 1, FAULT_FOR_EVER};
    struct run *run = fault_start(
        &fault, WORDS(SHOWSTOPPER, "-q", "-n", "3", "-l", "50%", "-c", "fixed", PAYLOAD, "spin"));
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_named("payload", pids) == 3);
    kill(run_find(run, "ss-guardian"), SIGKILL);
    fault_expect_refusal(run, 125, "cannot start the guardian");
    ck_assert(fault_has_struck(&fault));
}

/* Kills guardian and executor of a run in which all further forks fail. */
static void kill_both(struct run *run, const struct fault *fault) {
    pid_t guardian = run_find(run, "ss-guardian"), executor = run_find(run, "ss-executor");
    kill(guardian, SIGKILL);
    kill(executor, SIGKILL);
    ck_assert(run_wait(run) && fault_has_struck(fault));
}

/* The first forks are the guardian and the executor. */
TEST_CASE(the_master_continues_an_attached_process_if_no_guardian_can_be_started) {
    struct fault fault = {"fork", 3, FAULT_FOR_EVER};
    struct run *target = run_start(NULL, WORDS(PAYLOAD, "spin"));
    const char *pid = run_pid_text(target->pid);
    struct run *run =
        fault_start(&fault, WORDS(SHOWSTOPPER, "-q", "-l", "1%", "-c", "fixed", "--attach", pid));
    RUN_UNTIL(run, run_state(target->pid) == 'T');
    kill_both(run, &fault);
    run_expect_refusal(run, ": ");
    ck_assert_int_ne(run_state(target->pid), 'T');
    run_end(target, SIGKILL);
}

/* The first forks are the guardian, the executor, and the instance. */
TEST_CASE(the_master_ends_processes_that_remain_if_no_guardian_can_be_started) {
    struct fault fault = {"fork", 4, FAULT_FOR_EVER};
    struct run *run = fault_start(&fault,
        WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "10%", "-c", "fixed", PAYLOAD, "setsid", "3"));
    run_wait_ready(run, 1);
    kill_both(run, &fault);
    fault_expect_refusal(run, 125, ": ");
}

/* The guardian is the first fork, the sensor the second. */
TEST_CASE(a_sensor_that_cannot_be_forked_is_reported) {
    struct fault fault = {"fork", 2, 1};
    struct run *run =
        fault_start(&fault, WORDS(SHOWSTOPPER, "-q", "-n", "3", "-l", "50%", "-f", "command", "-F",
                                PAYLOAD " sensor 0.5", PAYLOAD, "spin"));
    fault_expect_refusal(run, 125, "cannot start the sensor");
    ck_assert(fault_has_struck(&fault));
}
