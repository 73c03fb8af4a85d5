/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/child.h"
#include "platform/platform.h"
#include "unit.h"

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static char shell[] = "sh", option[] = "-c";

/* Descriptors are assigned in order, so a leaked one changes the next. */
static int next_descriptor(void) {
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    return next;
}

/* Executes the command to its end. Returns its wait status, or -1 with the failure set. */
static int execute(const struct ss_child_setup *setup, struct ss_child_failure *failure) {
    struct ss_child child;
    int status = -1, before = next_descriptor();
    assert_int_equal(ss_child_fork(&child, setup), 0);
    if (ss_child_execute(&child, failure) == 0)
        assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    else
        assert_int_equal(child.pid, 0);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(next_descriptor(), before);
    return status;
}

static int run_shell(char *script, struct ss_child_setup setup) {
    struct ss_child_failure failure;
    setup.words = WORDS(shell, option, script);
    return execute(&setup, &failure);
}

TEST(failed_exec_is_reported) {
    char missing[] = "/no/such/program", folder[] = "/";
    const struct {
        char *program;
        int number, status;
    } rows[] = {{missing, ENOENT, SS_ERROR_NOT_FOUND}, {folder, EACCES, SS_ERROR_NOT_EXECUTABLE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ss_child_setup setup = {
            .words = WORDS(rows[i].program), .streams = {-1, -1, -1}};
        struct ss_child_failure failure;
        struct ss_error error = {0};
        assert_int_equal(execute(&setup, &failure), -1);
        assert_int_equal(failure.step, 0);
        assert_int_equal(failure.err, rows[i].number);
        assert_int_equal(ss_child_fail(&failure, rows[i].program, &error), -1);
        assert_int_equal(error.status, rows[i].status);
        assert_says(error.message, rows[i].program);
    }
}

static int fail_in_step(const void *step) {
    errno = EDOM;
    return *(const int *)step;
}

TEST(failed_step_is_reported) {
    const int step = 7;
    const struct ss_child_setup setup = {
        .words = WORDS(shell), .streams = {-1, -1, -1}, .prepare = fail_in_step, .context = &step};
    struct ss_child_failure failure;
    assert_int_equal(execute(&setup, &failure), -1);
    assert_int_equal(failure.step, step);
    assert_int_equal(failure.err, EDOM);
}

TEST(given_streams_are_used) {
    char script[] = "read word && echo out-$word && echo err >&2", text[64] = "";
    int input[2], output[2], errors[2];
    assert_int_equal(pipe2(input, O_CLOEXEC) | pipe2(output, O_CLOEXEC), 0);
    assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
    assert_int_equal(write(input[1], "word\n", 5), 5);
    int status =
        run_shell(script, (struct ss_child_setup){.streams = {input[0], output[1], errors[1]}});
    assert_int_equal(status, 0);
    assert_int_equal(read(output[0], text, sizeof text), 9);
    assert_memory_equal(text, "out-word\n", 9);
    assert_int_equal(read(errors[0], text, sizeof text), 4);
    const int *const pipes[] = {input, output, errors};
    for (int i = 0; i < 6; i++)
        close(pipes[i / 2][i % 2]);
}

static volatile sig_atomic_t handled;

static void on_signal(int number) {
    handled = number;
}

static int raise_usr1(const void *unused) {
    (void)unused;
    raise(SIGUSR1);
    return 0;
}

/* A signal before exec must not be lost in a handler of the parent. */
TEST(early_signal_acts_on_the_program) {
    char script[] = "exit 3";
    sigset_t all;
    sigfillset(&all);
    signal(SIGUSR1, on_signal);
    const struct ss_child_setup setup = {.streams = {-1, -1, -1}, .prepare = raise_usr1};
    int status = run_shell(script, setup);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGUSR1);

    struct ss_child_setup masked = setup;
    masked.mask = &all;
    status = run_shell(script, masked);
    assert_int_equal(WEXITSTATUS(status), 3);

    signal(SIGUSR1, SIG_IGN);
    status = run_shell(script, setup);
    assert_int_equal(WEXITSTATUS(status), 3);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(handled, 0);
}

TEST(program_leads_its_group_if_requested) {
    char script[] = "kill -KILL 0";
    int status =
        run_shell(script, (struct ss_child_setup){.streams = {-1, -1, -1}, .has_group = true});
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* Forks a process that starts a child and dies with or without letting it execute `sleep`. */
static pid_t child_of_a_dead_parent(bool executes) {
    char sleep[] = "sleep", seconds[] = "1000";
    const struct ss_child_setup setup = {
        .words = WORDS(sleep, seconds), .streams = {-1, -1, -1}, .death_signal = SIGKILL};
    struct ss_child child;
    struct ss_child_failure failure;
    int ends[2];
    pid_t pid;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        if (ss_child_fork(&child, &setup) == 0 &&
            (!executes || ss_child_execute(&child, &failure) == 0) &&
            write(ends[1], &child.pid, sizeof child.pid) > 0)
            _exit(0);
        _exit(1);
    }
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    waitpid(parent, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

TEST(child_ends_with_its_parent) {
    ss_platform_adopt_orphans();
    for (int executes = 0; executes < 2; executes++) {
        int status;
        pid_t orphan = child_of_a_dead_parent(executes);
        assert_int_equal(waitpid(orphan, &status, 0), orphan);
        assert_int_equal(WIFSIGNALED(status), executes);
    }
}

UNIT_RUN
