/* SPDX-License-Identifier: Apache-2.0 */

/* Environment, input and output of instances. */

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"

/* Input, group and number differ between instances and the caller. */
static bool may_differ(const char *line) {
    return strncmp(line, "stdin=", 6) == 0 || strncmp(line, "leads its group=", 16) == 0 ||
           strncmp(line, "variable SHOWSTOPPER_INSTANCE", 29) == 0;
}

/* Returns the next line that must not differ, or NULL at the end. */
static char *next_line(char **rest) {
    char *line;
    do
        line = strtok_r(NULL, "\n", rest);
    while (line && may_differ(line));
    return line;
}

/* Compares the environment of a program with and without showstopper as its parent. */
static void expect_same_with(const char *option, void (*prepare)(void)) {
    const char *const words[] = {SHOWSTOPPER, "-q", "-n", "1", "-l", "100%", "--placeholder", "",
        option, PAYLOAD, "env", "a%b", "two words", NULL};
    struct run_setup setup = {
        .folder = "/usr",
        .input = "/proc/self/status",
        .prepare = prepare,
        .environment = WORDS("SS_TEST_VARIABLE=some value", "EMPTY="),
    };
    struct run *direct = run_wait(run_start(&setup, words + 9));
    struct run *run = run_wait(run_start(&setup, words));
    run_expect(direct, 0);
    run_expect(run, 0);
    ck_assert_uint_eq(run->err.length, 0);
    run_expect_text(&run->out, "stdin=/dev/null\n");
    run_expect_text(&run->out, "leads its group=1\n");
    run_expect_text(&run->out, "variable SHOWSTOPPER_INSTANCE=0\n");
    run_expect_text(&run->out, "variable SHOWSTOPPER_INSTANCES=1\n");
    char *rest = direct->out.bytes;
    char *other_rest = run->out.bytes;
    size_t lines = 0;
    for (;; lines++) {
        char *line = next_line(&rest);
        char *other = next_line(&other_rest);
        if (!line && !other)
            break;
        ck_assert_msg(line && other && strcmp(line, other) == 0, "'%s' became '%s'", line, other);
    }
    ck_assert_uint_gt(lines, 15);
}

static void expect_same_environment(void (*prepare)(void)) {
    expect_same_with("--grace=5s", prepare);
    expect_same_with("--iteration=nothing", prepare); /* through a pipe */
}

static void change_signals(void) {
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void ignore_children(void) {
    signal(SIGCHLD, SIG_IGN);
}

static void change_priority(void) {
    setpriority(PRIO_PROCESS, 0, 5);
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
    prctl(PR_SET_TIMERSLACK, 123456UL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Without privilege this fails, and the test compares ordinary priorities again. */
static void become_real_time(void) {
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 7});
}

static void change_limits(void) {
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){100, 200});
    setrlimit(RLIMIT_RTTIME, &(struct rlimit){900000, 5000000});
    umask(027);
}

TEST_CASE(instances_get_the_callers_environment) {
    expect_same_environment(NULL);
    expect_same_environment(change_signals);
    expect_same_environment(ignore_children);
    expect_same_environment(change_priority);
    expect_same_environment(become_real_time);
    expect_same_environment(change_limits);
}

static void close_all(void) {
    for (int i = 0; i < 3; i++)
        close(i);
}

/* Pipes of showstopper must not get the descriptors 0 to 2. */
TEST_CASE(a_run_works_with_closed_standard_streams) {
    const char *file = run_new_path("summary.json");
    struct run_setup setup = {.prepare = close_all};
    SUCCEED_IN(&setup, "-v", "-n", "1", "-l", "50%", "--duration", "700m", "--json", file, PAYLOAD,
        "spin");
    struct run_text summary = run_read_file(file);
    run_expect_text(&summary, "\"duration\"");
}

TEST_CASE(instances_are_pinned_to_the_given_cpus) {
    struct run *run = SUCCEED("-q", "-n", "1", "-l", "100%", "--cpus", run_first_cpu(), "grep",
        "Cpus_allowed_list", "/proc/self/status");
    const char *expected = run_format("Cpus_allowed_list:\t%s\n", run_first_cpu());
    ck_assert_str_eq(run->out.bytes, expected);
}

TEST_CASE(placeholder_is_filled_in) {
    struct run *run = SUCCEED("-q", "-n", "12", "-l", "100%", "sh", "-c",
        "echo \"<%.%%>\" $SHOWSTOPPER_INSTANCE of $SHOWSTOPPER_INSTANCES");
    for (int i = 0; i < 12; i++) {
        const char *line = run_format("<%02d.%%> %02d of 12\n", i, i);
        ck_assert_uint_eq(run_count_text(&run->out, line), 1);
    }
}

static void expect_equal(struct run_text text, const struct run *direct) {
    ck_assert_uint_gt(direct->out.length, 0);
    ck_assert_uint_eq(text.length, direct->out.length);
    ck_assert_mem_eq(text.bytes, direct->out.bytes, text.length);
}

TEST_CASE(output_of_instances_is_forwarded_unchanged) {
    const char *kept = run_new_path("kept");
    struct run *direct = CALL(PAYLOAD, "binary");
    expect_equal(RUN("-q", "-n", "1", "-l", "100%", PAYLOAD, "binary")->out, direct);
    expect_equal(
        RUN("-q", "-n", "1", "-l", "100%", "--iteration", "x", PAYLOAD, "binary")->out, direct);
    struct run *run =
        RUN("-q", "-n", "1", "-l", "100%", "--output", kept, "sh", "-c", PAYLOAD " binary; ls /no");
    ck_assert_uint_eq(run->out.length + run->err.length, 0);
    expect_equal(run_read_file(run_path(kept, "0.out")), direct);
    struct run_text errors = run_read_file(run_path(kept, "0.err"));
    run_expect_text(&errors, "/no");
    direct = CALL("seq", "1", "300000");
    expect_equal(
        RUN("-q", "-n", "1", "-l", "60%", "-c", "fixed", "--iteration", "7$", "seq", "1", "300000")
            ->out,
        direct);
}

TEST_CASE(output_is_stored_separately_for_each_instance) {
    const char *folder = run_make_folder();
    struct run *run = SUCCEED("-q", "-n", "11", "-l", "100%", "--output", folder, "sh", "-c",
        "echo out %; echo err % >&2");
    ck_assert_uint_eq(run->out.length + run->err.length, 0);
    for (int i = 0; i < 11; i++) {
        run_expect_file(run_path(folder, run_format("%02d.out", i)), run_format("out %02d\n", i));
        run_expect_file(run_path(folder, run_format("%02d.err", i)), run_format("err %02d\n", i));
    }
}

/* Without pauses in forwarding, the kernel would kill the master at real-time priority. */
TEST_CASE(endless_output_does_not_kill_the_master) {
    const char *command =
        "exec \"$0\" -q -n 1 -l 100% --iteration nothing --duration 1s yes >/dev/null";
    run_succeed(CALL("sh", "-c", command, SHOWSTOPPER));
}

static bool can_be_nice(void) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(setpriority(PRIO_PROCESS, 0, -20) < 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

static bool are_nice(const char *name, int nice) {
    struct family family = family_find(name);
    size_t count = 0;
    for (size_t i = 0; i < family.count; i++)
        count += getpriority(PRIO_PROCESS, (id_t)family.pids[i]) == nice;
    return count > 0 && count == family.count;
}

/* Many runnable instances could otherwise keep it from ending them. */
TEST_CASE(a_master_that_forwards_output_has_a_high_priority_at_the_end) {
    SKIP_UNLESS(can_be_nice(), "high-priority: not permitted");
    struct run *run = START(
        "-n", "1", "-l", "50%", "--iteration", "nothing", "--grace", "1h", PAYLOAD, "ignore-term");
    run_wait_text(run, "ready");
    ck_assert_int_eq(sched_getscheduler(run->pid) & ~SCHED_RESET_ON_FORK, sched_getscheduler(0));
    kill(run->pid, SIGTERM);
    RUN_UNTIL(run, getpriority(PRIO_PROCESS, (id_t)run->pid) == -20);
    family_signal_named("payload", SIGKILL);
    run_expect(run_wait(run), -SIGTERM);
}

TEST_CASE(without_real_time_priority_all_take_the_highest_ordinary_one) {
    SKIP_UNLESS(can_be_nice(), "high-priority: not permitted");
    struct run_setup setup = {.prepare = family_deny_realtime};
    struct run *run = START_IN(&setup, "-v", "-n", "2", "-l", "50%", PAYLOAD, "spin");
    RUN_UNTIL(run, run->ended || run_count_text(&run->err, "instances are running") > 0);
    SKIP_UNLESS(!run->ended || run->status != PROCESS_SKIPPED, "seccomp: not available");
    run_expect_text(&run->err, "no real-time priority");
    RUN_UNTIL(run, are_nice("showstopper", -20) && are_nice("ss-executor", -20));
    RUN_UNTIL(run, are_nice("ss-guardian", -20));
    ck_assert(are_nice("payload", getpriority(PRIO_PROCESS, 0)));
    run_end(run, SIGTERM);
}

/*
 * Returns how long it takes to stop a workload whose first thread gets no CPU, in seconds; negative
 * if real-time priority is not permitted.
 */
static double stop_the_deaf(void) {
    struct run *run =
        START("-v", "-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "300ms", PAYLOAD, "deaf");
    run_wait_text(run, "instances are running");
    double begin = run_now();
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    double needed = run_now() - begin;
    run_end(run, SIGTERM);
    if (run->out.length == 0) /* it was stopped before it began */
        return INFINITY;
    return strcmp(run->out.bytes, "ready\n") == 0 ? needed : -1;
}

/*
 * If only its first thread got the signal, every first stop would be a second late. Other processes
 * may delay this test, so one timely stop in several tries is enough.
 */
TEST_CASE(a_starved_first_thread_does_not_delay_the_stop) {
    SKIP_UNLESS(strcmp(run_first_cpu(), run_last_cpu()) != 0, "cpus: only one CPU");
    double needed = stop_the_deaf();
    for (int i = 1; i < 10 && needed >= 0.8; i++)
        needed = stop_the_deaf();
    SKIP_UNLESS(needed >= 0, "realtime: real-time priority is not permitted");
    ck_assert_msg(needed < 0.8, "%.3f s instead of 0.3", needed);
}

/*
 * Returns whether the instance says in one of several runs that it was continued. On a slow machine
 * it may stop too early or too late for that.
 */
static bool is_continued(const char *load, const char *duration, const char *script) {
    bool continued = false;
    for (int i = 0; i < 5 && !continued; i++) {
        struct run *run = SUCCEED("-q", "-n", "1", "-c", "fixed", "-l", load, "--duration",
            duration, "--grace", "20s", "sh", "-c", script);
        continued = run_count_text(&run->out, "continued\n") == 1;
    }
    return continued;
}

/*
 * At full duty, no next round continues a child that has stopped after the last continuation, as
 * the kernel stops one that was being forked; nor does one after the end.
 */
TEST_CASE(processes_left_stopped_are_continued) {
    ck_assert(is_continued("100%", "20s", "sh -c 'sleep 0.2; kill -STOP $$; echo continued'; :"));
    ck_assert(is_continued("50%", "1s",
        "trap 'kill -STOP $$; echo continued; exit' TERM; while :; do sleep 0.1; done"));
}
