/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each run has a fault that its verdict must name, or is off target for a reason that a warning
 * must explain. Only this fault is asserted, because the machine may be busy.
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"

/* Returns the result of a check: "passed", "doubtful", "invalid" or "not checked". */
static const char *result_of(const struct run *run, const char *check) {
    static char result[32];
    const char *words = run_format("\"check\": \"%s\",", check);
    const char *at = strstr(run->out.bytes, words);
    ck_assert_msg(at && sscanf(at + strlen(words), " \"result\": \"%31[^\"]\"", result) == 1,
        "no %s in %s", words, run->out.bytes);
    return result;
}

static void expect_verdict(const struct run *run, const char *verdict) {
    const char *words = run_format("\"verdict\": {\n    \"result\": \"%s\"", verdict);
    run_expect_text(&run->out, words);
}

TEST_CASE(setting_the_clock_makes_a_run_doubtful) {
    const char *folder = run_make_folder();
    const char *file = run_path(folder, "shift"), *record = run_path(folder, "record");
    const char *shift = run_format("SS_TEST_CLOCK=-3600:%s", file);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_clock"), shift)};
    struct run *run = START_IN(&setup, "-q", "--json", "-", "-n", "1", "-l", "20%", "-c", "fixed",
        "--record", record, PAYLOAD, "spin");
    /* The record is written after the master has noted the time of the wall clock. */
    RUN_UNTIL(run, record_count(record, "events.jsonl", "\"counting\"") > 0);
    run_write_file(file, "");
    run_end(run, SIGINT);
    ck_assert_str_eq(result_of(run, "clock"), "doubtful");
}

TEST_CASE(falling_frequency_makes_a_run_invalid) {
    struct run_setup setup = {.environment = WORDS(SHIM("shim_frequency"))};
    struct run *run = SUCCEED_IN(&setup, "-q", "--json", "-", "-n", "1", "-l", "20%", "-c", "fixed",
        "--duration", "6s", PAYLOAD, "spin");
    ck_assert_str_eq(result_of(run, "frequency"), "invalid");
}

/*
 * A sensor prints a fixed load, so that the target is out of reach however busy this machine is.
 */
#define BELOW "-q", "--json", "-", "-l", "60%", "-f", "command", "-F", PAYLOAD " sensor 0.1"
#define ABOVE "-q", "--json", "-", "-l", "60%", "-f", "command", "-F", PAYLOAD " sensor 0.9"

/*
 * The load by process is known after its second measurement. Measurements take at most 1 % of the
 * time, so on a busy machine the second one may come too late for a short run.
 */
static const char *const lengths[] = {"3s", "12s", "90s"};

#define LENGTHS (sizeof lengths / sizeof *lengths)
#define OTHERS  "of the CPUs, other processes "

static bool has_shares(const struct run *run) {
    return strstr(run->out.bytes, OTHERS) != NULL;
}

/* Runs showstopper with these options, and again for a longer time if `part` was not printed. */
static struct run *run_until_said(
    const struct run_setup *setup, const char *part, const char *const *options) {
    struct run *run = NULL;
    for (size_t i = 0; i < LENGTHS && !(run && strstr(run->out.bytes, part)); i++) {
        run = run_start(setup, run_join(WORDS(SHOWSTOPPER, "--duration", lengths[i]), options));
        RUN_UNTIL_WITHIN(RUN_PATIENCE + 90, run, run->ended);
    }
    return run;
}

#define RUN_LONG(...) run_until_said(NULL, OTHERS, WORDS(__VA_ARGS__))

#define REACH "the target could not be reached in "

/* Returns the percentage after these words; fails if they are missing. */
static double find_percent(const struct run *run, const char *words) {
    const char *at = strstr(run->out.bytes, words);
    double value = -1;
    ck_assert_msg(at && sscanf(at + strlen(words), "%lf %%", &value) == 1, "no '%s NUMBER' in %s",
        words, run->out.bytes);
    ck_assert(value >= 0 && value <= 100);
    return value;
}

/* Two processes per CPU use the machine; of two runs, one is below its target and one above. */
TEST_CASE(other_processes_are_reported_and_make_a_run_invalid) {
    SKIP_IF_QUOTA();
    run_greedily();
    for (int i = 0; i < 2 * run_cpu_count(); i++)
        run_start(NULL, WORDS(PAYLOAD, "spin", ""));
    struct run *below = NULL, *above = NULL;
    for (size_t i = 0; i < LENGTHS && !(below && has_shares(below) && has_shares(above)); i++) {
        below = START("--duration", lengths[i], BELOW, "-n", "1", PAYLOAD, "spin", "");
        above = START("--duration", lengths[i], ABOVE, "-n", "1", PAYLOAD, "spin", "");
        RUN_UNTIL_WITHIN(RUN_PATIENCE + 90, below, below->ended);
        run_succeed(below);
        run_succeed(above);
    }
    find_percent(below, REACH);
    run_expect_text(&below->out, "no CPU was idle");
    ck_assert(find_percent(below, OTHERS) > 30);
    ck_assert_uint_eq(run_count_text(&below->out, "run more"), 0);
    find_percent(above, "other processes took more than the target in ");
    ck_assert(find_percent(above, "and used ") < 20);
    ck_assert(find_percent(above, OTHERS) > 50);
    ck_assert_str_eq(result_of(below, "others"), "invalid");
    expect_verdict(below, "invalid");
}

/* On a busy machine, the instance may end late in a short run. */
TEST_CASE(ended_instances_and_control_that_ignores_the_load_are_reported) {
    SKIP_IF_QUOTA();
    struct run *run = run_until_said(NULL, "instances had ended",
        WORDS(BELOW, "-n", "2", "sh", "-c", "[ % = 0 ] || exit 7; exec " PAYLOAD " spin ''"));
    run_expect(run, 7);
    find_percent(run, REACH);
    find_percent(run, "the rest, always running, used ");
    run_expect_text(&run->out, "; 1 of 2 instances had ended");
    run = RUN_LONG(BELOW, "-c", "fixed", "-C", "duty=100%", "-n", "1", PAYLOAD, "spin", "");
    run_expect(run, 0);
    find_percent(run, REACH);
    find_percent(run, "the instances, always running, used ");
    run_expect_text(&run->out, "the control module 'fixed' does not follow the load");
}

TEST_CASE(a_cpu_quota_that_limits_the_run_is_reported) {
    static const char message[] = "a CPU quota limits their control group to 0.1 of ";
    run_greedily();
    SKIP_UNLESS(control_group_make("cpu"), "cgroup-quota: cannot create a control group");
    SKIP_UNLESS(control_group_limit("cpu.cfs_quota_us", "cpu.max", "10000"),
        "cgroup-quota: cannot set one");
    struct run_setup setup = {.prepare = control_group_enter};
    struct run *run = run_until_said(&setup, message, WORDS(BELOW, "-n", "1", PAYLOAD, "spin", ""));
    run_expect(run, 0);
    find_percent(run, REACH);
    run_expect_text(&run->out, message);
}

/* The load does not matter: only part of a group of version 1 is ours. */
TEST_CASE(changed_limits_of_the_control_group_are_recorded_and_reported) {
    const char *record = run_new_path("record");
    SKIP_UNLESS(control_group_make("cpu"), "cgroup-quota: cannot create a control group");
    SKIP_UNLESS(control_group_limit("cpu.cfs_quota_us", "cpu.max", "50000"),
        "cgroup-quota: cannot set one");
    struct run_setup setup = {.prepare = control_group_enter};
    struct run *run = START_IN(&setup, "-q", "--json", "-", "-f", "cgroup", "-n", "1", "-l", "20%",
        "--record", record, PAYLOAD, "spin");
    RUN_UNTIL(run, record_rows(record, "samples.csv") > 2);
    ck_assert(control_group_limit("cpu.cfs_quota_us", "cpu.max", "30000"));
    RUN_UNTIL(
        run, record_count(record, "events.jsonl", "\"allowance_changed\",\"value\":0.3}") > 0);
    RUN_UNTIL(run, record_count(record, "samples.csv", ",0.300000\n") > 0);
    run_end(run, SIGINT);
    run_expect_text(&run->out, "\"capacity_cpus\": 0.5,");
    run_expect_text(&run->out, "\"changes\": 1,\n    \"latest_cpus\": 0.3,");
    ck_assert_uint_eq(record_count(record, "samples.csv", ",0.400000\n"), 1);
    ck_assert_uint_ge(record_count(record, "samples.csv", ",0.500000\n"), 2);
}

TEST_CASE(processes_beside_the_run_must_exist_until_its_end) {
    struct run *client = run_start(NULL, WORDS(PAYLOAD, "spin", ""));
    const char *record = run_new_path("record");
    struct run *run = START("-q", "--json", "-", "-n", "1", "-l", "20%", "--duration", "5s",
        "--record", record, "--beside", run_pid_text(client->pid), PAYLOAD, "spin");
    RUN_UNTIL(run, record_count(record, "samples.csv", "\n") >= 3);
    run_end(client, SIGKILL);
    run_succeed(run);
    run_expect_text(&run->out, "a process of --beside ended during the run");
    ck_assert_str_eq(result_of(run, "others"), "not checked");
    run_expect_refusal(START("-l", "20%", "--beside", run_pid_text(client->pid), PAYLOAD, "spin"),
        run_format("--beside: no process has pid %d", (int)client->pid));
    run_expect_refusal(START("-l", "20%", "--beside", "x", PAYLOAD, "spin"), "'x' is not a pid");
    run_expect_refusal(
        START("-l", "20%", "--isolate", "--beside", run_pid_text(getpid()), PAYLOAD, "spin"),
        "cannot be combined with --");
}
