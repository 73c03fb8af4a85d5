/* SPDX-License-Identifier: Apache-2.0 */

/* Whatever ends ssbatch, nothing is left of its runs, and the next call completes the study. */

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

#define SSBATCH TEST_BIN_DIR "/ssbatch"

static const char *folder;

/* A run that makes a folder, leaves a daemon and never ends; an `after` removes the folder. */
static const char endless[] = "run a takes 1s\n"
                              "before -- sh -c 'mkdir made-{run}; setsid sleep 1000 &'\n"
                              "beside server -- sleep 1000\n"
                              "main -- sh -c 'setsid sleep 1000 & touch begun; "
                              "while [ ! -e enough ]; do sleep 0.02; done'\n"
                              "after -- sh -c 'rmdir made-{run}; touch closed-{run}'\n";

static void write_plan(const char *text) {
    folder = run_make_folder();
    run_write_file(run_path(folder, "plan"), text);
}

static struct run *start(const char *option) {
    const struct run_setup setup = {.folder = folder};
    return run_start(
        &setup, option ? WORDS(SSBATCH, option, "study", "plan") : WORDS(SSBATCH, "study", "plan"));
}

static bool is_there(const char *name) {
    return run_exists(run_path(folder, name));
}

/* Starts a study and waits until its run has made the file `begun`. */
static struct run *start_until_begun(const char *plan, const char *option) {
    write_plan(plan);
    struct run *run = start(option);
    RUN_UNTIL(run, is_there("begun"));
    return run;
}

static struct run *start_endless(void) {
    return start_until_begun(endless, NULL);
}

static void clean_study(void) {
    const struct run_setup setup = {.folder = folder};
    run_succeed(run_start(&setup, WORDS(SSBATCH, "--clean", "study")));
}

static void kill_call(struct run *run) {
    kill(run->pid, SIGKILL);
    run_wait(run);
}

/* Returns the minder whose child is the shell of `main`, which may just have forked another. */
static pid_t find_minder_of_main(void) {
    pid_t shells[RUN_PIDS_MAX], minders[RUN_PIDS_MAX];
    struct ss_process shell;
    ck_assert_uint_eq(run_named("ssbatch-minder", minders), 3);
    size_t count = run_named("sh", shells);
    for (size_t i = 0; i < 3 * count; i++) {
        if (ss_platform_process_info(shells[i / 3], &shell) && shell.parent == minders[i % 3])
            return shell.parent;
    }
    ck_abort_msg("none of %zu shells is the command of a minder", count);
    return 0;
}

static void expect_completion(void) {
    run_write_file(run_path(folder, "enough"), "");
    struct run *run = run_succeed(start(NULL));
    run_expect_text(&run->err, "1 of 1 runs done");
    ck_assert(is_there("study/a/run.json"));
    ck_assert(!is_there("made-a"));
    ck_assert(!is_there("study/.a.part"));
}

TEST_CASE(a_killed_call_leaves_nothing_behind) {
    struct run *run = start_endless();
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_expect_nothing_left();
    ck_assert(is_there("closed-a")); /* by the keeper */
    ck_assert(!is_there("made-a"));
    expect_completion();
}

/* The journal has the exit statuses that mean success, for the keeper and for later calls. */
TEST_CASE(accepted_statuses_of_after_commands_survive_a_kill) {
    struct run *run =
        start_until_begun("run a takes 1s\n"
                          "main -- sh -c '[ -e begun ] || { touch begun; exec sleep 1000; }'\n"
                          "after ok=7 -- sh -c 'echo x >>closed; exit 7'\n",
            NULL);
    kill_call(run);
    run_expect_nothing_left();
    run = run_succeed(start(NULL));
    run_expect_file(run_path(folder, "closed"), "x\nx\n");
}

TEST_CASE(a_killed_call_and_its_keeper_leave_no_process) {
    struct run *run = start_endless();
    pid_t keeper = run_find(run, "ssbatch-keeper");
    kill(run->pid, SIGSTOP); /* it must not replace the keeper first */
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    kill(keeper, SIGKILL);
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_expect_nothing_left();
    /*
     * The next call completes the cleanup if the previous one did not: after the keeper's death the
     * stopped call continues, and may replace the keeper before it is killed.
     */
    clean_study();
    ck_assert(is_there("closed-a"));
    ck_assert(!is_there("made-a"));
    expect_completion();
}

TEST_CASE(a_killed_minder_fails_its_run_and_leaves_no_process) {
    struct run *run = start_endless();
    kill(find_minder_of_main(), SIGKILL);
    run_expect(run_wait(run), 1);
    run_expect_text(&run->err, "a: failed: main was ended by signal 9");
    ck_assert(is_there("closed-a"));
    expect_completion();
}

/* Kills a call and all of its processes that would clean up. Returns the number of processes. */
static size_t kill_all(struct run *run) {
    pid_t pids[RUN_PIDS_MAX];
    size_t count = run_named("ssbatch", pids);
    kill(run->pid, SIGSTOP);
    for (size_t i = 0; i < count; i++) {
        if (pids[i] != run->pid)
            kill(pids[i], SIGKILL);
    }
    kill_call(run);
    return count;
}

TEST_CASE(the_next_call_ends_processes_of_a_killed_call) {
    struct run *run = start_endless();
    ck_assert_uint_ge(kill_all(run), 5); /* itself, its keeper, three minders */
    expect_completion(); /* although daemons, and what `after` undoes, may be left */
}

TEST_CASE(a_call_without_runs_undoes_the_journals_of_a_killed_call) {
    struct run *run = start_until_begun(
        "after -- sh -c 'touch begun; while [ ! -e enough ]; do sleep 0.02; done; touch closed'\n"
        "run a takes 1s\n"
        "main -- true\n",
        NULL);
    kill_all(run);
    ck_assert(is_there("study/a/run.json"));
    ck_assert(!is_there("closed"));
    run_write_file(run_path(folder, "enough"), "");
    run = run_succeed(start(NULL));
    ck_assert(is_there("closed"));
}

TEST_CASE(a_terminated_call_cleans_up_and_ends_by_the_signal) {
    struct run *run = start_endless();
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    ck_assert(is_there("closed-a"));
    ck_assert(!is_there("made-a"));
    expect_completion();
}

/* The user must know that something may still run. */
TEST_CASE(a_terminated_call_reports_failed_cleanup) {
    struct run *run = start_until_begun("after -- sh -c 'echo no bridge >&2; exit 3'\n"
                                        "run a takes 1s\n"
                                        "main -- sh -c 'touch begun; exec sleep 1000'\n"
                                        "after -- sh -c 'echo no cable >&2; exit 4'\n",
        NULL);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_text(&run->err,
        "ssbatch: a: warning: cannot undo it: after ended with status 4: no cable; the next "
        "call, or ssbatch --clean, tries again\n");
    run_expect_text(&run->err, "ssbatch: after ended with status 3: no bridge\n");
}

/* As in a container: the kernel ignores what the first process of a PID namespace sends itself. */
TEST_CASE(a_call_as_first_process_exits_with_the_number_of_the_signal) {
    SKIP_UNLESS(sandbox_have_namespaces(), "namespaces: cannot create a namespace");
    write_plan("run a takes 1s\n"
               "main -- sh -c 'kill -TERM 1; exec sleep 1000'\n");
    const struct run_setup setup = {.folder = folder};
    struct run *run = run_wait(run_start(&setup,
        WORDS("unshare", sandbox_new_namespaces(), "--mount-proc", SSBATCH, "study", "plan")));
    run_expect(run, 128 + SIGTERM);
}

/* The program is started before the run; showstopper is killed while the program is stopped. */
TEST_CASE(a_killed_call_leaves_no_attached_program_stopped) {
    static const char text[] =
        "run a takes 1s\n"
        "beside held ready='instances are running' -- sh -c 'exec " SHOWSTOPPER
        " -v --attach $SERVER -f own -l 20% -c fixed -C duty=20% 2>&1'\n"
        "main -- sh -c 'touch begun; exec sleep 1000'\n";
    write_plan(text);
    struct run *program = run_start(NULL, WORDS("sleep", "1000"));
    const char *server = run_format("SERVER=%d", (int)program->pid);
    const char *const environment[] = {server, NULL};
    const struct run_setup setup = {.folder = folder, .environment = environment};
    struct run *run = run_start(&setup, WORDS(SSBATCH, "study", "plan"));
    RUN_UNTIL(run, is_there("begun"));
    RUN_UNTIL(run, run_state(program->pid) == 'T');
    kill_call(run);
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(NULL, run_alive(pids) == 1); /* only the program is left */
    RUN_UNTIL(NULL, run_state(program->pid) == 'S');
    kill(program->pid, SIGKILL);
    run_wait(program);
}

TEST_CASE(a_command_that_ignores_sigterm_is_killed_after_the_grace_period) {
    write_plan("run a takes 1s limit 1s\n"
               "main -- sh -c 'trap \"\" TERM; while :; do sleep 0.1; done'\n");
    struct run *run = run_wait(start(NULL));
    run_expect(run, 1);
    run_expect_text(&run->err, "a: failed: did not finish within its limit of 1 s");
}

/* Returns the folder in memory, whose path a run has written to the file `where`. */
static const char *read_where(void) {
    struct run_text where = run_read_file(run_path(folder, "where"));
    where.bytes[strcspn(where.bytes, "\n")] = '\0';
    return where.bytes;
}

static void expect_state(const char *expected) {
    run_expect_file(run_path(folder, "study/.a.part/result/state"), expected);
}

/* A keeper that was started during the run has inherited the lock of the run. */
TEST_CASE(a_replaced_keeper_copies_files_out_of_memory) {
    struct run *run =
        start_until_begun("run a takes 1s keep\n"
                          "main -- sh -c 'echo x >{out}/state; echo {scratch} >where; touch begun; "
                          "exec sleep 1000'\n",
            "--ram");
    const char *where = read_where();
    pid_t first = run_find(run, "ssbatch-keeper");
    kill(first, SIGKILL);
    RUN_UNTIL(run, run_state(first) == 0);
    ck_assert_int_ne(first, run_find(run, "ssbatch-keeper"));
    kill_call(run);
    run_expect_nothing_left();
    expect_state("x\n");
    ck_assert(!run_exists(where));
}

static void copy_folder(const char *from, const char *to) {
    run_succeed(run_start(NULL, WORDS("cp", "-a", from, to)));
}

/* While a second call runs, the call that a power cut ended looks like one of another host. */
TEST_CASE(files_in_memory_do_not_replace_those_of_another_host) {
    glob_t found;
    write_plan("run a takes 1s keep\n"
               "main -- sh -c 'cat attempt >{out}/state; echo {scratch} >where; cp attempt begun; "
               "exec sleep 1000'\n");
    run_write_file(run_path(folder, "attempt"), "1");
    struct run *run = start("--ram");
    RUN_UNTIL(run, is_there("begun"));
    const char *where = read_where();
    /*
     * A power cut leaves the files as they are now. Kills do not: a killed keeper wakes its call,
     * which may clean up.
     */
    copy_folder(run_path(folder, "study"), run_path(folder, "left"));
    copy_folder(where, run_path(folder, "memory"));
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
    run_remove_folder(run_path(folder, "study"));
    ck_assert_int_eq(rename(run_path(folder, "left"), run_path(folder, "study")), 0);
    copy_folder(run_path(folder, "memory"), where);
    ck_assert_int_eq(glob(run_path(folder, "study/.study/calls/*"), 0, NULL, &found), 0);
    const char *call = found.gl_pathv[0];
    const char *away = run_format("%s/study/.study/calls/elsewhere:1:2:3", folder);
    ck_assert_int_eq(rename(call, away), 0);
    run_write_file(run_path(folder, "attempt"), "2");
    ck_assert_int_eq(unlink(run_path(folder, "begun")), 0);
    run = start(NULL);
    RUN_UNTIL(run, is_there("begun"));
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    expect_state("2");
    ck_assert_int_eq(rename(away, call), 0);
    globfree(&found);
    clean_study();
    expect_state("2");
    ck_assert(!run_exists(where));
}
