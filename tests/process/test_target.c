/* SPDX-License-Identifier: Apache-2.0 */

/* Targets that change during a run, and loads from other sources. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "family.h"
#include "json_text.h"
#include "process.h"
#include "record.h"
#include "run.h"

/* Returns the number of samples in the record, and reads this column of the last one. */
static size_t read_samples(const char *record, const char *column, double *value) {
    struct run_text text = record_read(record, "samples.csv");
    size_t rows = 0, index = 0;
    const char *at = strstr(text.bytes, column);
    for (const char *before = text.bytes; at && before <= at; before++)
        index += *before == ',';
    for (RUN_EACH_ROW(row, text)) {
        if (!strchr(row, '\n'))
            break;
        rows++;
        if (at)
            *value = run_cell(row, index);
    }
    free(text.bytes);
    return rows;
}

/*
 * Waits for samples that begin later than now, and returns the target of the last one. One may be
 * in progress, and another not yet written.
 */
static double later_target(struct run *run, const char *record) {
    double target = NAN;
    size_t rows = record_rows(record, "samples.csv");
    RUN_UNTIL(run, run->ended || read_samples(record, ",target", &target) >= rows + 3);
    ck_assert_msg(!run->ended, "%s", run->err.bytes);
    return target;
}

/* The time between two changes is that of a process, not that of writing two events. */
static void expect_changes(const char *record, const char *const *values) {
    struct run_text events = record_read(record, "events.jsonl");
    double last = -1;
    size_t count = 0;
    for (char *rest = events.bytes, *line; (line = strsep(&rest, "\n"));) {
        if (!strstr(line, "target_set"))
            continue;
        ck_assert_msg(values[count] && strstr(line, values[count]), "%s", line);
        double elapsed = json_number(line, "elapsed_seconds");
        ck_assert_msg(elapsed > last + 100e-6, "%s", line);
        last = elapsed;
        count++;
    }
    ck_assert_ptr_null(values[count]);
}

static void set(struct run *run, const char *load) {
    struct run *setter = SUCCEED("--set", run_pid_text(run->pid), load);
    ck_assert_uint_eq(setter->out.length + setter->err.length, 0);
}

static struct run *status_of(struct run *run) {
    return RUN("--status", run_pid_text(run->pid));
}

TEST_CASE(target_is_set_and_shown_during_a_run) {
    const char *record = run_new_path("record");
    struct run *run = START(
        "-q", "-v", "-n", "1", "-l", "10%", "--record", record, "--json", "-", PAYLOAD, "spin");
    const char *expected =
        run_format("showstopper %d: controlled, target 10.00%%, load ", (int)run->pid);
    run_wait_text(run, "instances are running");
    struct run *status;
    RUN_UNTIL(run, strstr((status = status_of(run))->out.bytes, "target 10.00%"));
    ck_assert_msg(
        strncmp(status->out.bytes, expected, strlen(expected)) == 0, "%s", status->out.bytes);
    run_expect_text(&status->out, "%, 1 of 1 instances, since ");
    ck_assert_uint_eq(run_count_text(&status->out, "\n"), 1);
    set(run, "90%");
    run_wait_text(run, "the target was set to 90 %");
    ck_assert_double_eq_tol(later_target(run, record), 0.9, 1e-6);
    run_expect_text(&status_of(run)->out, "target 90.00% (--set), ");
    set(run, "20%");
    set(run, "trace");
    run_wait_text(run, "the target follows the trace again");
    ck_assert_double_eq_tol(later_target(run, record), 0.1, 1e-6);
    run_end(run, SIGTERM);
    json_expect_between(run->out.bytes, "target_mean", 0.101, 0.899);
    expect_changes(record, WORDS("\"value\":0.9", "\"value\":0.2", "\"text\":\"trace\""));
    run_expect_refusal(status_of(run), "showstopper: --status: ");
}

/* An executor maps the same board as the master. */
TEST_CASE(set_and_status_require_the_master_of_our_own_run) {
    struct run *run = START("-q", "-v", "-n", "1", "-l", "10%", PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    struct run *status = SUCCEED("--status", run_pid_text(run->pid), "--openmetrics", "-");
    run_expect_text(&status->out, "\n# EOF\n");
    run_expect_refusal(
        START("--status", run_pid_text(run->pid), "--openmetrics", "/nowhere/metrics"),
        "--openmetrics: cannot write /nowhere/metrics: No such file");
    struct run *wrong = RUN("--set", "1", "90%");
    run_expect_refusal(wrong, "showstopper: --set: pid 1 ");
    run_expect_text(&wrong->err, "; running: ");
    /* The list may have no room for this run if many others exist. */
    if (!strstr(wrong->err.bytes, ", ..."))
        run_expect_text(&wrong->err, run_pid_text(run->pid));
    run_expect_refusal(START("--set", run_pid_text(run_find(run, "ss-executor")), "90%"), "--set");
    family_need_nobody();
    struct run_setup setup = {.prepare = family_become_nobody, .folder = "/"};
    run_expect_refusal(START_IN(&setup, "--set", run_pid_text(run->pid), "90%"), "another user");
    run_end(run, SIGTERM);
}

/*
 * The load of the run's own processes is a fraction of the same CPUs as the load of all processes.
 */
TEST_CASE(target_is_set_in_cpus) {
    static const char *const rows[][6] = {
        {"-l", "10%", "-q"}, {"-f", "own", "-t", "staircase", "-T0.2cpu:0.2cpu:0.1cpu,hold=1h"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *words =
            run_join(WORDS(SHOWSTOPPER, "-v", "-n", "1", "--cpus", run_first_cpu()), rows[i]);
        struct run *run = run_start(NULL, run_join(words, WORDS(PAYLOAD, "spin")));
        run_wait_text(run, "instances are running");
        run_expect_refusal(START("--set", run_pid_text(run->pid), "2cpu"),
            "a load of 100 % is 1 CPU here: use at most 1cpu");
        set(run, "0.3cpu");
        run_wait_text(run, "the target was set to 30 %");
        run_end(run, SIGTERM);
    }
}

TEST_CASE(a_new_target_reaches_sleeping_executors) {
    struct run *run = START(
        "-q", "-v", "-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "500m", PAYLOAD, "spin");
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    set(run, "100%");
    RUN_UNTIL(run, run_state(instance) != 'T');
    set(run, "0");
    RUN_UNTIL(run, run_state(instance) == 'T');
    run_end(run, SIGTERM);
}

static void lower_file_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Showstopper raises its own limit on open files, and lowers that on time at real-time priority. */
TEST_CASE(sensor_has_the_limits_of_the_caller) {
    const char *limits = run_new_path("limits");
    struct run_setup setup = {.prepare = lower_file_limit};
    struct run *caller = run_wait(run_start(&setup, WORDS("cat", "/proc/self/limits")));
    run_expect_text(&caller->out, "Max open files");
    const char *sensor =
        run_format("sh -c 'cat /proc/self/limits >%s.new; mv %s.new %s; exec " PAYLOAD " sensor 1'",
            limits, limits, limits);
    struct run *run = START_IN(
        &setup, "-q", "-n", "1", "-l", "50%", "-f", "command", "-F", sensor, PAYLOAD, "spin");
    RUN_UNTIL(run, run->ended || run_exists(limits));
    run_end(run, SIGTERM);
    run_expect_file(limits, caller->out.bytes);
}

/* On a busy machine, the sensor may be seen to close its output 100 ms before it ends. */
#define TRIES 5

static void expect_sensor_error(const char *sensor, const char *part) {
    struct run *run = NULL;
    for (int i = 0; i < TRIES && (!run || !strstr(run->err.bytes, part)); i++) {
        run = RUN("-n", "2", "-l", "50%", "--grace", "1s", "-f", "command", "-F", sensor, PAYLOAD,
            "spin");
        run_expect(run, 125);
    }
    run_expect_text(&run->err, part);
    run_expect_nothing_left();
}

/* The children of the last two ignore signals, or keep the output open. */
TEST_CASE(a_sensor_that_fails_ends_the_run) {
    static const char *const rows[][2] = {
        {PAYLOAD " say 0.5", "the sensor ended (exit status 0)"},
        {PAYLOAD " sensor banana", "banana"},
        {PAYLOAD " sensor 7", "not a load"},
        {PAYLOAD " exit 1", "the sensor ended (exit status 1)"},
        {"sh -c 'kill -9 $$'", "the sensor ended (killed by SIGKILL)"},
        {"sh -c 'exec >&-; exec sleep 1000'", "the sensor ended (its output was closed)"},
        {"sleep 1000", "printed nothing"},
        {"sh -c '" PAYLOAD " ignore-term >/dev/null & echo 0.5; exit 1'",
            "the sensor ended (exit status 1)"},
        {"sh -c 'sleep 1000 & echo 0.5; exit 1'", "the sensor ended (exit status 1)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_sensor_error(rows[i][0], rows[i][1]);
}

TEST_CASE(children_of_a_sensor_end_with_the_master) {
    struct run *run = START("-q", "-v", "-n", "1", "-l", "50%", "-f", "command", "-F",
        "sh -c '" PAYLOAD " ignore-term >/dev/null & while :; do echo 0.5; sleep 0.1; done'",
        PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    RUN_UNTIL(run, family_find("payload").count == 2);
    run_end(run, SIGKILL);
}
