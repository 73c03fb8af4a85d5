/* SPDX-License-Identifier: Apache-2.0 */

/* Valid command lines are accepted, and invalid ones start nothing. */

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "sandbox.h"

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

static void expect_plan(struct run *run, const char *part) {
    run_expect(run, 0);
    run_expect_text(&run->out, part);
    ck_assert_uint_eq(run->err.length, 0);
}

#define PLAN(part, ...) expect_plan(RUN("--dry-run", __VA_ARGS__), part)

TEST_CASE(help_version_and_modules_are_printed) {
    static const char *const rows[][3] = {{"--help", "-q", "--instances N"},
        {"--version", "-q", "showstopper "}, {"--list-modules", "-q", "control/rbpid"},
        {"--help-module", "control/rbpid", "control/rbpid: "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run *run = SUCCEED(rows[i][0], rows[i][1]);
        run_expect_text(&run->out, rows[i][2]);
        ck_assert_uint_eq(run->err.length, 0);
    }
}

/* Loads in CPUs are relative to the CPUs that are measured. */
TEST_CASE(the_plan_shows_options_and_values_computed_by_modules) {
    static const char *const rows[][8] = {
        {"load=0.3", "-l", "0.3cpu"},
        {"load=0.3", "-l", "0.3cpu", "-f", "own"},
        {"load=0.6", "-l", "0.3cpu", "-f", "own", "-F", "cpus=0.5"},
        {"0.5 of these CPUs; work is", "-l", "50%", "-f", "own", "-F", "cpus=0.5"},
        {"levels=1cpu:0.5cpu:0.1cpu", "-t", "staircase", "-T", "1cpu:0.5cpu:0.1cpu"},
        {"averageq  tau=51m,", "-l", "50%", "-d", "averageq", "-D", "51m"},
        {"deadbeat  horizon=2s", "-l", "50%", "--control-options", "2s"},
        {"rbpid", "-l", "50%", "-f", "command", "-F", "echo 1"},
        {"from /proc/stat\n", "-l", "50%", "-F", "source=stat"},
        {"the statistics differ", "-l", "50%", "-f", "realtime", "-F", "count=ratio"},
        {"tau is 21.4 ms, for 2 instances on 1 CPU and a window of 100 ms\n", "-l", "50%", "-n",
            "2", "--window", "100m"},
        {"stagger  tau=107m,", "-l", "50%", "-D", "107m", "--window", "100m"},
        {"averageq  tau=21400u,", "-l", "50%", "-d", "averageq", "--window", "100m"},
        {"fixedq  quantum=2600u", "-l", "50%", "-d", "fixedq", "--window", "100m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *words = WORDS(SHOWSTOPPER, "--dry-run", "--cpus", run_first_cpu());
        words = run_join(run_join(words, rows[i] + 1), WORDS("true"));
        expect_plan(run_wait(run_start(NULL, words)), rows[i][0]);
    }
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

TEST_CASE(the_plan_shows_the_run) {
    const char *pinned = run_format("CPUs       1 (%s), instances pinned", run_first_cpu());
    const char *file = run_new_path("mix");
    run_write_file(file, "2 sleep %\n1 echo 'a b'\n");
    PLAN("warm-up    2 s\nsettle     1.5 s\nduration   until the workloads end\ngrace      5 s\n",
        "-l", "50%", "--warmup", "2s", "--settle=1500m", "true");
    PLAN("start at   2100-", "-l", "50%", "--start-at", "2100-02-03T04:05:06Z", "true");
    PLAN(pinned, "-l", "50%", "--cpus", run_first_cpu(), "true");
    PLAN("instances  3\ncommand     sleep 0\n            sleep 1\n            echo 'a b'\n", "-l",
        "50%", "-w", file);
    PLAN("note       % in x%5d is the instance's index: use %% to keep it", "-l", "50%", "-n", "1",
        "echo", "x%5d");
}

/* Unit tests have the other warnings. */
TEST_CASE(doubtful_arguments_cause_a_warning) {
    struct run *run = SUCCEED("--dry-run", "-t", "staircase", "-T", "20%:60%:20%,hold=3m", "true");
    run_expect_text(&run->err, "trace/staircase: hold: 3m is 3 milliseconds");
    run = SUCCEED("--dry-run", "-l", "50%", SHOWSTOPPER, "-l", "60%", "true");
    run_expect_text(&run->err, "in the command, 60% becomes 600");
    ck_assert_uint_eq(run_count_text(&run->err, "\n"), 1);
    run = SUCCEED("--dry-run", "-l", "50%", SHOWSTOPPER, "-l", "60%%", "true");
    ck_assert_uint_eq(run->err.length, 0);
}

static void write_files(void) {
    folder = run_make_folder();
    run_write_file(run_path(folder, "plain"), "text\n");
    run_write_file(run_path(folder, "damaged"), "0 1/10\n20s 6/10\n40s much\n");
    run_write_file(run_path(folder, "half"), "1 " PAYLOAD " touch started\n2\n");
    run_write_file(run_path(folder, "missing"), "1 " PAYLOAD " touch started\n1 there.is.none\n");
    run_write_file(run_path(folder, "trace"), "0 1/10\n20s 6/10\n");
    run_write_file(run_path(folder, "work"), "1 " PAYLOAD " touch started\n");
    ck_assert_int_eq(symlink("trace", run_path(folder, "link")), 0);
}

/* Command lines that only the whole program can check; unit tests have the others. */
TEST_CASE(invalid_command_lines_start_nothing) {
    static const char nowhere[] = "cannot write there/is/none";
    static const struct {
        int status;
        const char *part, *words[10];
    } rows[] = {
        {125, "no command", {"-l", "50%"}},
        {125, "--iteration", {"--iteration", "(", TOUCH_AT("50%")}},
        {125, "--start-at", {"--start-at", "yesterday", TOUCH_AT("50%")}},
        {125, "passed", {"--start-at", "@1", TOUCH_AT("50%")}},
        {125, "feedback/exact", {"-F", "perod=1s", TOUCH_AT("50%")}},
        {125, "which feedback/command does not keep",
            {"-c", "deadbeat", "-f", "command", "-F", "echo 1", "-l50%", "true"}},
        {125, "which cannot be converted to a load here",
            {"-f", "command", "-F", "echo 1", TOUCH_AT("0.5cpu")}},
        {125, "cpus=4096 exceeds the ", {"-f", "own", "-Fcpus=4096", TOUCH_AT("50%")}},
        {125, ": ", {"-f", "cgroup", "-F/there/is/none", TOUCH_AT("50%")}},
        {125, "feedback/command: there.is.none: command not found",
            {"-f", "command", "-Fthere.is.none 1", TOUCH_AT("50%")}},
        {125, "feedback/command: there.is.none: command not found",
            {"--dry-run", "-fcommand", "-Fthere.is.none", TOUCH_AT("50%")}},
        {127, "there.is.none: command not found: check its name", {"-l", "50%", "there.is.none"}},
        {126, "./plain", {"-l", "50%", "./plain"}},
        {127, "there.is.none", {"-l", "50%", "-w", "missing"}},
        {125, "half:2", {"-l", "50%", "-w", "half"}},
        {125, "damaged:3:5", {"-t", "file", "-T", "damaged", TOUCH}},
        {125, "file", {"-t", "file", TOUCH}},
        {125, "--cpus", {"--cpus", "a-b", TOUCH_AT("50%")}},
        {125, "--cpus: CPU 8191 is not available here", {"--cpus", "8191", TOUCH_AT("50%")}},
        {125, "--output", {"--output", "plain", TOUCH_AT("50%")}},
        {125, nowhere, {"--output", "there/is/none", TOUCH_AT("50%")}},
        {125, nowhere, {"--record", "there/is/none", TOUCH_AT("50%")}},
        {125, nowhere, {"--dry-run", "--record", "there/is/none", TOUCH_AT("50%")}},
        {125, nowhere, {"--json", "there/is/none", TOUCH_AT("50%")}},
        {125, "--json", {"--json", "/tmp", TOUCH_AT("50%")}},
        {125, "--json would overwrite link, which trace/file reads",
            {"-tfile", "-Ttrace", "--json", "link", TOUCH}},
        {125, "--json would overwrite ./work, which -w reads",
            {"-l", "50%", "-w", "work", "--json", "./work"}},
        {125, "--set: 'one' is not a pid; ", {"--set", "one", "50%"}},
        {125, "--set: pid 2147483647 does not exist", {"--set", "2147483647", "50%"}},
        {125, "--status: 'one' is not a pid; ", {"--status", "one"}},
    };
    write_files();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse_as(NULL, rows[i].status, rows[i].part, run_join(WORDS(SHOWSTOPPER), rows[i].words));
    refuse_as(NULL, 125, "a load of 100 % is 1 CPU here: use at most 1cpu",
        WORDS(SHOWSTOPPER, "--cpus", run_first_cpu(), TOUCH_AT("1.5cpus")));
    refuse_as(NULL, 125, "not a running Showstopper",
        WORDS(SHOWSTOPPER, "--set", run_pid_text(getpid()), "50%"));
    refuse_as(sandbox_stay_on_one_cpu, 125, "is not available here",
        WORDS(SHOWSTOPPER, "--cpus", "0-1", TOUCH_AT("50%")));
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
