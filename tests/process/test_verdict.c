/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each run has a fault that its verdict must name. Only this fault is asserted, because the machine
 * may be busy.
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "surroundings.h"

#define SHORT "-q", "--json", "-", "-n", "2", "-l", "20%", "-c", "fixed", "--duration", "2s"

/* Returns the result of a check: "passed", "doubtful", "invalid" or "not checked". */
static const char *result_of(const struct run *run, const char *check) {
    static char result[32];
    char words[96];
    snprintf(words, sizeof words, "\"check\": \"%s\",", check);
    const char *at = strstr(run->out.bytes, words);
    ck_assert_msg(at && sscanf(at + strlen(words), " \"result\": \"%31[^\"]\"", result) == 1,
        "no %s in %s", words, run->out.bytes);
    return result;
}

static void expect_verdict(const struct run *run, const char *verdict) {
    char words[96];
    snprintf(words, sizeof words, "\"verdict\": {\n    \"result\": \"%s\"", verdict);
    run_expect_text(&run->out, words);
}

TEST_CASE(other_processes_make_a_run_invalid) {
    SKIP_IF_QUOTA();
    run_greedily();
    for (int i = 0; i < 2 * run_cpu_count(); i++)
        run_start(NULL, WORDS(PAYLOAD, "spin", ""));
    struct run *run = RUN(SHORT, PAYLOAD, "spin", "");
    run_expect(run, 0);
    ck_assert_str_eq(result_of(run, "others"), "invalid");
    expect_verdict(run, "invalid");
}

TEST_CASE(setting_the_clock_makes_a_run_doubtful) {
    const char *folder = run_make_folder();
    const char *file = run_path(folder, "shift"), *record = run_path(folder, "record");
    const char *events = run_path(record, "events.jsonl");
    char shift[320];
    snprintf(shift, sizeof shift, "SS_TEST_CLOCK=-3600:%s", file);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_clock"), shift)};
    struct run *run = START_IN(&setup, "-q", "--json", "-", "-n", "1", "-l", "20%", "-c", "fixed",
        "--record", record, PAYLOAD, "spin");
    /* The record is written after the master has noted the time of the wall clock. */
    RUN_UNTIL(run, strstr(run_read_file(events).bytes, "\"counting\""));
    run_write_file(file, "");
    run_end(run, SIGINT);
    ck_assert_str_eq(result_of(run, "clock"), "doubtful");
}

TEST_CASE(falling_frequency_makes_a_run_invalid) {
    struct run_setup setup = {.environment = WORDS(SHIM("shim_frequency"))};
    struct run *run = RUN_IN(&setup, "-q", "--json", "-", "-n", "1", "-l", "20%", "-c", "fixed",
        "--duration", "6s", PAYLOAD, "spin");
    run_expect(run, 0);
    ck_assert_str_eq(result_of(run, "frequency"), "invalid");
}

static const char *small_folder;

static void limit_folder(void) {
    surroundings_leave_mounts();
    surroundings_mount_small(small_folder, "64k");
}

TEST_CASE(lost_output_makes_a_run_doubtful) {
    SKIP_UNLESS(surroundings_have_mounts(), "mounts: cannot create a mount namespace");
    struct run_setup setup = {.prepare = limit_folder};
    small_folder = run_make_folder();
    struct run *run = RUN_IN(&setup, "-q", "--json", "-", "-n", "2", "-l", "50%", "-c", "fixed",
        "--duration", "1M", "--output", small_folder, "sh", "-c",
        "head -c 100000 /dev/zero; " PAYLOAD " run-ms 300");
    run_expect(run, 125);
    ck_assert_str_eq(result_of(run, "lines_lost"), "doubtful");
}

TEST_CASE(failed_instance_makes_a_run_doubtful) {
    struct run *run = RUN("-q", "--json", "-", "-n", "2", "-l", "20%", "-c", "fixed", "sh", "-c",
        "[ % = 0 ] && exit 3; exec " PAYLOAD " run-ms 100");
    run_expect(run, 3);
    ck_assert_str_eq(result_of(run, "failed_instances"), "doubtful");
    ck_assert_str_eq(result_of(run, "interrupted"), "passed");
}

TEST_CASE(interrupted_run_is_doubtful) {
    struct run *run = START("--json", "-", "-v", "-n", "1", "-l", "20%", "-c", "fixed",
        "--duration", "100s", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    run_end(run, SIGINT);
    ck_assert_str_eq(result_of(run, "interrupted"), "doubtful");
}

TEST_CASE(verdict_is_the_last_line_of_the_summary) {
    struct run *run =
        RUN("-n", "1", "-l", "20%", "-c", "fixed", "--duration", "600ms", PAYLOAD, "spin");
    run_expect(run, 0);
    const char *at = strstr(run->err.bytes, "\nverdict: ");
    ck_assert_ptr_nonnull(at);
    for (at = strchr(at + 1, '\n'); *at && at[1]; at = strchr(at + 1, '\n'))
        ck_assert_msg(strncmp(at + 1, "         ", 9) == 0, "not its continuation: %s", at);
}
