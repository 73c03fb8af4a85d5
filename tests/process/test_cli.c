/* SPDX-License-Identifier: Apache-2.0 */

/* Valid command lines are accepted, and invalid ones start nothing. */

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "surroundings.h"

/* A command that creates a file, which shows whether it was started. */
#define TOUCH       PAYLOAD, "touch", "started"
#define TOUCH_AT(L) "-l", L, TOUCH

static const char *folder;

static void refuse_as(
    void (*prepare)(void), int status, const char *part, const char *const *words) {
    if (!folder)
        folder = run_make_folder();
    struct run_setup setup = {.folder = folder, .prepare = prepare};
    struct run *run = run_wait(run_start(&setup, words));
    run_expect(run, status);
    run_expect_text(&run->err, part);
    ck_assert_msg(strncmp(run->err.bytes, "showstopper: ", 13) == 0, "%s", run->err.bytes);
    ck_assert_msg(strchr(run->err.bytes, '\n') == run->err.bytes + run->err.length - 1,
        "not one line: %s", run->err.bytes);
    ck_assert_uint_eq(run->out.length, 0);
    ck_assert_msg(!run_exists(run_path(folder, "started")), "the command was started");
    pid_t pids[RUN_PIDS_MAX];
    ck_assert_uint_eq(run_alive(pids), 0);
}

#define REFUSED(status, part, ...) refuse_as(NULL, status, part, WORDS(SHOWSTOPPER, __VA_ARGS__))

static void expect_plan(struct run *run, const char *part) {
    run_expect(run, 0);
    run_expect_text(&run->out, part);
    ck_assert_uint_eq(run->err.length, 0);
}

#define PLAN(part, ...)              expect_plan(RUN("--dry-run", "-l", "50%", __VA_ARGS__), part)
#define PLAN_WITHOUT_LOAD(part, ...) expect_plan(RUN("--dry-run", __VA_ARGS__), part)

TEST_CASE(help_and_version_are_printed) {
    struct run *help = SUCCEED("--help"), *version = SUCCEED("--version");
    run_expect_text(&help->out, "--instances N");
    run_expect_text(&version->out, "showstopper ");
    ck_assert_uint_eq(help->err.length + version->err.length, 0);
}

TEST_CASE(a_placeholder_before_a_digit_is_explained_in_the_plan) {
    PLAN("note       % in x%5d is the instance's index: use %% to keep it", "-n", "1", "echo",
        "x%5d");
    PLAN("note       @ in 9@9 is", "-n", "1", "-p", "@", "echo", "9@9");
    static const char *const words[][3] = {
        {"-p", "%", "x%%5d"}, {"-p", "", "x%5d"}, {"-p", "%", "%d"}, {"-p", "%", "5"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct run *run = SUCCEED(
            "--dry-run", "-l", "50%", "-n", "1", words[i][0], words[i][1], "echo", words[i][2]);
        ck_assert_uint_eq(run_count_text(&run->out, "note  "), 0);
    }
}

TEST_CASE(modules_are_listed) {
    struct run *run = SUCCEED("--list-modules"), *help = SUCCEED("--help-module", "control/rbpid");
    run_expect_text(&run->out, "control/rbpid");
    run_expect_text(&help->out, "control/rbpid: ");
    ck_assert_uint_eq(run->err.length + help->err.length, 0);
}

TEST_CASE(modules_and_their_options_appear_in_the_plan) {
    PLAN_WITHOUT_LOAD("load=0.3", "-l", "0.3cpu", "--cpus", run_first_cpu(), "true");
    PLAN_WITHOUT_LOAD("load=0.3", "-l", "0.3cpu", "--cpus", run_first_cpu(), "-f", "own", "true");
    PLAN_WITHOUT_LOAD("load=0.6", "-l", "0.3cpu", "--cpus", run_first_cpu(), "-f", "own", "-F",
        "cpus=0.5", "true");
    PLAN("0.5 of these CPUs; work is", "--cpus", run_first_cpu(), "-f", "own", "-F", "cpus=0.5",
        "true");
    PLAN_WITHOUT_LOAD("levels=1cpu:0.5cpu:0.1cpu", "--cpus", run_first_cpu(), "-t", "staircase",
        "-T", "1cpu:0.5cpu:0.1cpu", "true");
    const char *trace = run_new_path("saw.trace");
    run_write_file(trace, "0 1/10\n20s 6/10\n40s 1/10\n");
    PLAN_WITHOUT_LOAD("averageq  tau=51m,", "-n", "12", "-t", "file", "-T", trace, "-f", "realtime",
        "-F", "103m", "-c", "rbpid", "-s", "even", "-d", "averageq", "-D", "51m", "true");
    PLAN("deadbeat  horizon=2s", "--control-options", "2s", "true");
    PLAN("rbpid", "-f", "command", "-F", "echo 1", "true");
}

TEST_CASE(the_plan_shows_values_computed_by_modules) {
    PLAN("stagger  tau=0,min=1m,jitter=0.1,unsteady=26m\n           tau is 107 ms, for 4 instances "
         "on 1 CPU\n",
        "-n", "4", "--cpus", run_first_cpu(), "true");
    PLAN("from /proc/stat\n", "-F", "source=stat", "true");
    PLAN("           the load is measured by busy ticks over elapsed time, with iowait as\n"
         "           work and steal as idle; the statistics differ: they use idle time,\n"
         "           with iowait as idle and steal as work\n",
        "-f", "realtime", "-F", "count=ticks,iowait=work,steal=idle", "true");
    PLAN("the statistics differ", "-f", "realtime", "-F", "count=ratio", "true");
    struct run *run = SUCCEED("-v", "-n", "4", "--cpus", run_first_cpu(), "-l", "50%", "-F",
        "source=stat", "-c", "fixed", "--json", "-", "true");
    run_expect_text(&run->err, "showstopper: stagger: tau is 107 ms, for 4 instances on 1 CPU\n");
    run_expect_text(&run->out, "\"found\": \"tau is 107 ms, for 4 instances on 1 CPU\"");
}

/* A shell that knows $'...' gets the original words from the printed command. */
TEST_CASE(printed_commands_are_quoted_for_a_shell) {
    struct run *plan = SUCCEED("--dry-run", "-l", "50%", "-n1", "printf", "%%s|", "a b", "", "it's",
        "$HOME", "`ls`", "a\nb", "*", "~", "#x", "\\", "\"", "a;b", "!", "a=b", "--x=y", "'",
        "\xc3\xa4", "{a,b}", "%%", "-n", "&", "\t");
    char *begin = strstr(plan->out.bytes, "\ncommand ");
    char *end = begin ? strstr(begin, "\nCPUs ") : NULL;
    ck_assert_msg(end != NULL, "%s", plan->out.bytes);
    *end = '\0';
    struct run *shell = CALL("bash", "-c", begin + strlen("\ncommand "));
    ck_assert_str_eq(shell->out.bytes, "a b||it's|$HOME|`ls`|a\nb|*|~|#x|\\|\"|a;b|!|a=b|--x=y|'|"
                                       "\xc3\xa4|{a,b}|%|-n|&|\t|");
}

TEST_CASE(the_plan_shows_times_cpus_and_workloads) {
    PLAN("warm-up    2 s\nsettle     1.5 s\nduration   until the workloads end\ngrace      5 s\n",
        "--warmup", "2s", "--settle=1500m", "true");
    PLAN("window     500 ms\n", "true");
    PLAN("tau is 21.4 ms, for 2 instances on 1 CPU and a window of 100 ms\n", "-n", "2", "--cpus",
        run_first_cpu(), "--window", "100m", "true");
    PLAN("stagger  tau=107m,", "-D", "107m", "--window", "100m", "true");
    PLAN("averageq  tau=21400u,", "-d", "averageq", "--window", "100m", "true");
    PLAN("fixedq  quantum=2600u", "-d", "fixedq", "--window", "100m", "true");
    PLAN("start at   2100-", "--start-at", "2100-02-03T04:05:06Z", "true");
    PLAN("tolerance  2.5 %", "--tolerance", "2.5", "true");
    PLAN("left running\n", "--keep", "true");
    const char *pinned = run_format("CPUs       1 (%s), instances pinned", run_first_cpu());
    PLAN(pinned, "--cpus", run_first_cpu(), "true");
    const char *file = run_new_path("mix");
    run_write_file(file, "2 sleep %\n1 echo 'a b'\n");
    PLAN("instances  3\ncommand     sleep 0\n            sleep 1\n            echo 'a b'\n", "-w",
        file);
}

/* Fails unless the plan is printed with this warning, or with none if `part` is NULL. */
static void warned(const char *part, struct run *plan) {
    run_succeed(plan);
    ck_assert_uint_eq(run_count_text(&plan->err, "\n"), part != NULL);
    if (part)
        run_expect_text(&plan->err, part);
}

TEST_CASE(doubtful_arguments_cause_a_warning) {
    warned("--duration: 3m is 3 milliseconds",
        START("--dry-run", "-l", "50%", "--duration", "3m", "true"));
    warned("trace/staircase: hold: 3m is 3 milliseconds",
        START("--dry-run", "-t", "staircase", "-T", "20%:60%:20%,hold=3m", "true"));
    warned("in the command, 60% becomes 600",
        START("--dry-run", "-l", "50%", SHOWSTOPPER, "-l", "60%", "true"));
    warned(NULL, START("--dry-run", "-l", "50%", SHOWSTOPPER, "-l", "60%%", "true"));
}

TEST_CASE(invalid_options_are_refused) {
    REFUSED(125, "no command", "-l", "50%");
    REFUSED(125, "no target is given: -l LOAD holds a load", TOUCH);
    REFUSED(
        125, "options precede the command, but --load follows it", "-q", TOUCH, "--load", "50%");
    REFUSED(125, "--iteration", "--iteration", "(", TOUCH_AT("50%"));
    REFUSED(125, "--window: '0' is too small: use at least 50ms", "--window", "0", TOUCH_AT("50%"));
    REFUSED(125, "--settle", "--settle", "2s", "--duration", "2s", TOUCH_AT("50%"));
    REFUSED(125, "--start-at", "--start-at", "yesterday", TOUCH_AT("50%"));
    REFUSED(125, "passed", "--start-at", "@1", TOUCH_AT("50%"));
}

TEST_CASE(invalid_modules_are_refused) {
    REFUSED(
        125, "unknown control module 'rbpd': did you mean 'rbpid'?", "-c", "rbpd", TOUCH_AT("50%"));
    REFUSED(125, "feedback/exact", "-F", "perod=1s", TOUCH_AT("50%"));
    REFUSED(125, "which feedback/command does not keep: use another feedback", "-c", "deadbeat",
        "-f", "command", "-F", "echo 1", TOUCH_AT("50%"));
    REFUSED(125, "a load of 100 % is 1 CPU here: use at most 1cpu", "--cpus", run_first_cpu(),
        TOUCH_AT("1.5cpus"));
    REFUSED(125, "which cannot be converted to a load here", "-f", "command", "-F", "echo 1",
        TOUCH_AT("0.5cpu"));
    REFUSED(125, "feedback/own: cpus=1.5 exceeds the 1 measured CPU", "--cpus", run_first_cpu(),
        "-f", "own", "-F", "cpus=1.5", TOUCH_AT("50%"));
    REFUSED(125, "which cannot be converted to a load here", "-c", "fixed", "-C", "0.5cpu",
        TOUCH_AT("50%"));
    REFUSED(125, ": ", "-f", "cgroup", "-F", "/there/is/none", TOUCH_AT("50%"));
    REFUSED(125, "feedback/command: there.is.none: command not found", "-l", "50%", "-f", "command",
        "-F", "there.is.none 1", "true");
    REFUSED(125, "feedback/command: the command is empty", "-l", "50%", "-f", "command", "-F", " ",
        "true");
    REFUSED(125, "feedback/command: there.is.none: command not found", "--dry-run", "-l", "50%",
        "-f", "command", "-F", "there.is.none", "true");
}

TEST_CASE(invalid_commands_and_files_are_refused) {
    folder = run_make_folder();
    run_write_file(run_path(folder, "plain"), "text\n");
    run_write_file(run_path(folder, "damaged"), "0 1/10\n20s 6/10\n40s much\n");
    run_write_file(run_path(folder, "half"), "1 " PAYLOAD " touch started\n2\n");
    run_write_file(run_path(folder, "missing"), "1 " PAYLOAD " touch started\n1 there.is.none\n");
    REFUSED(127, "there.is.none: command not found: check its name", "-l", "50%", "there.is.none");
    REFUSED(126, "./plain", "-l", "50%", "./plain");
    REFUSED(127, "there.is.none", "-l", "50%", "-w", "missing");
    REFUSED(125, "half:2", "-l", "50%", "-w", "half");
    REFUSED(125, "damaged:3:5", "-t", "file", "-T", "damaged", TOUCH);
    REFUSED(125, "file", "-t", "file", TOUCH);
}

TEST_CASE(invalid_cpus_on_the_command_line_are_refused) {
    REFUSED(125, "--cpus", "--cpus", "a-b", TOUCH_AT("50%"));
    REFUSED(125, "--cpus", "--cpus", "", TOUCH_AT("50%"));
    refuse_as(sandbox_stay_on_one_cpu, 125, "is not available here",
        WORDS(SHOWSTOPPER, "--cpus", "0-1", TOUCH_AT("50%")));
    refuse_as(sandbox_stay_on_one_cpu, 125, "--cpus: CPU 8191 is not available here",
        WORDS(SHOWSTOPPER, "--cpus", "8191", TOUCH_AT("50%")));
}

TEST_CASE(invalid_paths_are_refused) {
    folder = run_make_folder();
    run_write_file(run_path(folder, "plain"), "text\n");
    REFUSED(125, "--output", "--output", "plain", TOUCH_AT("50%"));
    REFUSED(125,
        "cannot write there/is/none.json: No such file or directory: create its folder first",
        "--json", "there/is/none.json", TOUCH_AT("50%"));
    REFUSED(125, "--output: cannot write there/is/none: No such file or directory: create its",
        "--output", "there/is/none", TOUCH_AT("50%"));
    REFUSED(125, "--record: cannot write there/is/none: No such file or directory: create its",
        "--record", "there/is/none", TOUCH_AT("50%"));
    REFUSED(125, "cannot write there/is/none: No such file or directory: create its folder first",
        "--dry-run", "--record", "there/is/none", TOUCH_AT("50%"));
    REFUSED(125, "--json", "--json", "/tmp", TOUCH_AT("50%"));
    run_write_file(run_path(folder, "trace"), "0 1/10\n20s 6/10\n");
    run_write_file(run_path(folder, "work"), "1 " PAYLOAD " touch started\n");
    ck_assert_int_eq(symlink("trace", run_path(folder, "link")), 0);
    REFUSED(125, "--json would overwrite link, which trace/file reads: choose another file", "-t",
        "file", "-T", "trace", "--json", "link", TOUCH);
    REFUSED(125, "--json would overwrite ./work, which -w reads: choose another file", "-l", "50%",
        "-w", "work", "--json", "./work");
}

TEST_CASE(invalid_set_and_status_requests_are_refused) {
    const char *own = run_pid_text(getpid());
    REFUSED(125, "--set: 'one' is not a pid; ", "--set", "one", "50%");
    REFUSED(125, "--set: pid 2147483647 does not exist", "--set", "2147483647", "50%");
    REFUSED(125, "not a running Showstopper", "--set", own, "50%");
    REFUSED(125, "--set", "--set", own, "120%");
    REFUSED(125, "--status: 'one' is not a pid; ", "--status", "one");
}

/*
 * In a mount namespace of the child, hides /proc and the modules of an installed Showstopper, which
 * would be found even without /proc.
 */
static void hide_proc(void) {
    sandbox_leave_mounts();
    if (access(TEST_MODULE_INSTALL_DIR, F_OK) == 0)
        sandbox_mount_small(TEST_MODULE_INSTALL_DIR, "64k");
    sandbox_mount_small("/proc", "64k");
}

static void hide_devices(void) {
    sandbox_leave_mounts();
    sandbox_mount_small("/dev", "64k");
}

TEST_CASE(missing_proc_and_dev_null_are_reported) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: needs /proc");
    refuse_as(
        hide_proc, 125, "/proc is not mounted", WORDS(SHOWSTOPPER, "--dry-run", TOUCH_AT("50%")));
    refuse_as(hide_proc, 125, "/proc is not mounted", WORDS(SHOWSTOPPER, "--list-modules"));
    refuse_as(hide_devices, 125, "cannot read and write /dev/null",
        WORDS(SHOWSTOPPER, "--dry-run", TOUCH_AT("50%")));
}

/* Pids in that /proc are those of other processes, which a run would signal. */
TEST_CASE(proc_of_another_pid_namespace_is_refused) {
    const char *options = geteuid() == 0 ? "-pf" : "-rpf"; /* without --mount-proc */
    struct run *run = CALL("unshare", options, "true");
    SKIP_UNLESS(run->status == 0, "namespaces: cannot create a PID namespace");
    /* The leak check finds its own threads in /proc. */
    struct run_setup setup = {.environment = WORDS("ASAN_OPTIONS=detect_leaks=0")};
    run = run_wait(run_start(
        &setup, WORDS("unshare", options, SHOWSTOPPER, "-n", "1", "-l", "50%", PAYLOAD, "spin")));
    run_expect_refusal(run, "/proc belongs to another PID namespace");
    ck_assert_uint_eq(run_count_text(&run->err, "\n"), 1);
}

static void allow_few_files(void) {
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64});
}

TEST_CASE(instances_beyond_the_open_file_limit_are_refused) {
    refuse_as(allow_few_files, 125, "open files", WORDS(SHOWSTOPPER, "-n", "100", TOUCH_AT("50%")));
    /* --output takes four files per instance. */
    refuse_as(allow_few_files, 125, "12 instances: open files",
        WORDS(SHOWSTOPPER, "-n", "12", "--output", "out", TOUCH_AT("50%")));
    /* Fewer than would be allowed, because the caller's files may be open, too. */
    const char *output = run_new_path("out");
    struct run_setup setup = {.prepare = allow_few_files};
    SUCCEED_IN(&setup, "-q", "-n", "4", "-c", "fixed", "-l", "50%", "--output", output, PAYLOAD,
        "exit", "0");
}
