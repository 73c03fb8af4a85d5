/* SPDX-License-Identifier: Apache-2.0 */

/* Targets that change during a run, and loads from other sources. */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "family.h"
#include "json_text.h"
#include "process.h"
#include "run.h"

#define FIGURES(...) RUN("-q", "--json", "-", __VA_ARGS__)

static const char *number_of(const struct run *run) {
    static char text[32];
    snprintf(text, sizeof text, "%d", (int)run->pid);
    return text;
}

/* Returns the number of samples in the record; with `column`, reads that column of the last one. */
static size_t read_samples(const char *record, const char *column, double *value) {
    struct run_text text = run_read_file(run_path(record, "samples.csv"));
    size_t rows = 0, skip = 0;
    const char *last = text.bytes, *at = column ? strstr(text.bytes, column) : NULL;
    for (const char *before = text.bytes; at && before <= at; before++)
        skip += *before == ',';
    for (const char *line = strchr(last, '\n'); line && strchr(line + 1, '\n'); rows++) {
        last = line + 1;
        line = strchr(last, '\n');
    }
    for (; skip > 0 && (last = strchr(last, ',')); skip--)
        last++;
    if (at && rows > 0)
        *value = last ? strtod(last, NULL) : NAN;
    free(text.bytes);
    return rows;
}

/*
 * Waits for samples that begin later than now, and returns the target of the last one. One may be
 * in progress, and another not yet written.
 */
static double later_target(struct run *run, const char *record) {
    double target = NAN;
    size_t rows = read_samples(record, NULL, NULL);
    RUN_UNTIL(run, run->ended || read_samples(record, ",target", &target) >= rows + 3);
    ck_assert_msg(!run->ended, "%s", run->err.bytes);
    return target;
}

START_TEST(target_is_set_during_a_run) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    struct run *run = START(
        "-q", "-v", "-n", "1", "-l", "10%", "--record", record, "--json", "-", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    struct run *set = RUN("--set", number_of(run), "90%");
    run_expect(set, 0);
    ck_assert_uint_eq(set->out.length + set->err.length, 0);
    run_wait_text(run, "the target was set to 90 %");
    ck_assert_double_eq_tol(later_target(run, record), 0.9, 1e-6);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    double mean = json_number(run->out.bytes, "target_mean");
    ck_assert_msg(mean > 0.101 && mean <= 0.9, "%s", run->out.bytes);
    run_remove_folder(folder);
}
END_TEST

/* Instance 0 ends while it runs. The other one has the whole target then. */
START_TEST(an_ended_instance_uses_none_of_the_load_of_feedback_own) {
    static const char script[] =
        "[ $SHOWSTOPPER_INSTANCE = 0 ] && exec " PAYLOAD " run-ms 150; exec " PAYLOAD " spin";
    run_greedily();
    struct run *run = START("-q", "-v", "-n", "2", "-f", "own", "-F", "cpus=1", "-l", "5%", "-p",
        "", "sh", "-c", script);
    run_wait_text(run, "instance 0 ended");
    struct family other;
    RUN_UNTIL(run, (other = family_find("payload")).count == 1);
    family_expect_to_run(run, &other, 0.1);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

START_TEST(status_of_a_run_is_printed) {
    struct run *run = START("-v", "-n", "1", "-l", "10%", PAYLOAD, "spin");
    char expected[64];
    snprintf(expected, sizeof expected, "showstopper %s: ", number_of(run));
    run_wait_text(run, "instances run");
    struct run *status = RUN("--status", number_of(run));
    while (!strstr(status->out.bytes, "target 10.00%")) {
        run_expect(status, 0);
        run_free(status);
        status = RUN("--status", number_of(run));
    }
    run_expect(status, 0);
    ck_assert_msg(
        strncmp(status->out.bytes, expected, strlen(expected)) == 0, "%s", status->out.bytes);
    run_expect_text(&status->out, ": controlled, target 10.00%, load ");
    run_expect_text(&status->out, "%, 1 of 1 instances, since ");
    ck_assert_uint_eq(run_count_text(&status->out, "\n"), 1);
    status = RUN("--status", number_of(run), "--openmetrics", "-");
    run_expect(status, 0);
    run_expect_text(&status->out, "\n# EOF\n");
    status = RUN("--status", number_of(run), "--openmetrics", "/nowhere/metrics");
    run_expect(status, 125);
    run_expect_text(
        &status->err, "--openmetrics: /nowhere/metrics cannot be written: No such file");
    run_expect(RUN("--set", number_of(run), "20%"), 0);
    run_expect_text(&RUN("--status", number_of(run))->out, "target 20.00% (--set), ");
    kill(run->pid, SIGTERM);
    run_wait(run);
    status = RUN("--status", number_of(run));
    run_expect(status, 125);
    run_expect_text(&status->err, "showstopper: --status: ");
}
END_TEST

START_TEST(target_is_set_in_cpus) {
    struct run *run =
        START("-q", "-v", "-n", "1", "--cpus", run_first_cpu(), "-l", "10%", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    struct run *wrong = RUN("--set", number_of(run), "2cpu");
    run_expect(wrong, 125);
    run_expect_text(&wrong->err, "a load of 100 % is 1 CPU here: use at most 1cpu");
    run_expect(RUN("--set", number_of(run), "0.3cpu"), 0);
    run_wait_text(run, "the target was set to 30 %");
    kill(run->pid, SIGTERM);
    run_wait(run);
}
END_TEST

/*
 * The load of the run's own processes is a fraction of the same CPUs as the load of all processes.
 */
START_TEST(target_of_feedback_own_is_set_in_cpus) {
    struct run *run = START("-v", "-n", "1", "--cpus", run_first_cpu(), "-f", "own", "-t",
        "staircase", "-T", "0.2cpu:0.2cpu:0.1cpu,hold=1h", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    run_expect(RUN("--set", number_of(run), "0.3cpu"), 0);
    run_wait_text(run, "the target was set to 30 %");
    kill(run->pid, SIGTERM);
    run_wait(run);
}
END_TEST

START_TEST(set_trace_returns_to_the_target_of_the_trace) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    struct run *run = START(
        "-q", "-v", "-n", "1", "-l", "10%", "--record", record, "--json", "-", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    struct run *wrong = RUN("--set", "1", "90%");
    run_expect(wrong, 125);
    run_expect_text(&wrong->err, "showstopper: --set: pid 1 ");
    run_expect_text(&wrong->err, "; running: ");
    /* The list may have no room for this run if many others exist. */
    if (!strstr(wrong->err.bytes, ", ..."))
        run_expect_text(&wrong->err, number_of(run));
    run_expect(RUN("--set", number_of(run), "90%"), 0);
    run_expect(RUN("--set", number_of(run), "trace"), 0);
    run_wait_text(run, "the target follows the trace again");
    ck_assert_double_eq_tol(later_target(run, record), 0.1, 1e-6);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    double mean = json_number(run->out.bytes, "target_mean");
    ck_assert_msg(mean > 0.09 && mean < 0.899, "%s", run->out.bytes);
    run_remove_folder(folder);
}
END_TEST

/* The time between two of them is that of a process, not that of writing two events. */
START_TEST(each_change_of_the_target_is_recorded_with_its_time) {
    static const char *const loads[] = {"20%", "30%", "trace"};
    static const char *const values[] = {"\"value\":0.2", "\"value\":0.3", "\"text\":\"trace\""};
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    struct run *run = START(
        "-q", "-v", "-n", "1", "-l", "10%", "-c", "fixed", "--record", record, PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    for (int i = 0; i < 3; i++)
        run_expect(RUN("--set", number_of(run), loads[i]), 0);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    struct run_text events = run_read_file(run_path(record, "events.jsonl"));
    const char *at = events.bytes;
    double last = -1;
    ck_assert_uint_eq(run_count_text(&events, "target_set"), 3);
    for (int i = 0; i < 3; i++) {
        char line[256];
        at = strstr(at, "target_set") + 1;
        const char *begin = at;
        while (begin[-1] != '\n')
            begin--;
        sscanf(begin, "%255[^\n]", line);
        ck_assert_msg(strstr(line, values[i]), "%s", line);
        double elapsed = json_number(line, "elapsed_seconds");
        ck_assert_msg(elapsed > last + 100e-6, "%s", events.bytes);
        last = elapsed;
    }
    run_remove_folder(folder);
}
END_TEST

/* A sleeping executor at duty 0 must notice it, too. */
START_TEST(a_new_target_reaches_sleeping_executors) {
    struct run *run = START(
        "-q", "-v", "-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "500m", PAYLOAD, "spin");
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    run_expect(RUN("--set", number_of(run), "100%"), 0);
    RUN_UNTIL(run, run_state(instance) != 'T');
    run_expect(RUN("--set", number_of(run), "0"), 0);
    RUN_UNTIL(run, run_state(instance) == 'T');
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
}
END_TEST

/* An executor that sleeps through a `free` section must not notice the change only at its end. */
START_TEST(a_new_target_ends_a_free_section) {
    const char *folder = run_make_folder();
    const char *trace = run_path(folder, "free");
    run_write_file(trace, "0 free\n1h 50%\n2h 50%\n");
    struct run *run =
        START("-q", "-v", "-n", "1", "-c", "fixed", "-t", "file", "-T", trace, PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) != 'T');
    run_expect(RUN("--set", number_of(run), "0"), 0);
    RUN_UNTIL(run, run_state(instance) == 'T');
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_remove_folder(folder);
}
END_TEST

START_TEST(another_user_cannot_set_the_target) {
    family_need_nobody();
    struct run *run = START("-q", "-v", "-n", "1", "-l", "10%", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    struct run_setup setup = {.prepare = family_become_nobody, .folder = "/"};
    struct run *set =
        run_wait(run_start(&setup, WORDS(SHOWSTOPPER, "--set", number_of(run), "90%")));
    run_expect(set, 125);
    run_expect_text(&set->err, "another user");
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* An executor maps the same board as the master. */
START_TEST(set_with_the_pid_of_an_executor_is_refused) {
    struct run *run = START("-q", "-v", "-n", "1", "-l", "10%", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    char executor[32];
    snprintf(executor, sizeof executor, "%d", (int)run_find(run, "ss-executor"));
    struct run *set = RUN("--set", executor, "90%");
    run_expect(set, 125);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
}
END_TEST

/* Runs with a constant load until the duty is between these limits. */
static struct run *run_to_duty(const char *sensor, double low, double high) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    double duty = -1;
    struct run *run = START("-q", "--json", "-", "-n", "1", "-l", "50%", "--record", record, "-f",
        "command", "-F", sensor, PAYLOAD, "spin");
    RUN_UNTIL(run,
        run->ended || (read_samples(record, ",duty", &duty) >= 2 && duty >= low && duty <= high));
    run_end(run, SIGTERM);
    run_expect_nothing_left();
    run_remove_folder(folder);
    return run;
}

START_TEST(duty_follows_the_load_of_a_sensor) {
    struct run *run = run_to_duty(PAYLOAD " sensor 0.9", 0, 0.3);
    ck_assert_double_eq_tol(json_number(run->out.bytes, "load_mean"), 0.9, 1e-6);
    ck_assert_double_eq_tol(json_number(run->out.bytes, "target_mean"), 0.5, 1e-6);
    run_to_duty(PAYLOAD " sensor 0.1", 0.7, 1);
}
END_TEST

static void lower_file_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Showstopper raises its own limit on open files, and lowers that on time at real-time priority. */
START_TEST(sensor_has_the_limits_of_the_caller) {
    const char *folder = run_make_folder(), *limits = run_path(folder, "limits");
    char sensor[1024];
    struct run_setup setup = {.prepare = lower_file_limit};
    struct run *caller = run_wait(run_start(&setup, WORDS("cat", "/proc/self/limits")));
    run_expect_text(&caller->out, "Max open files");
    snprintf(sensor, sizeof sensor,
        "sh -c 'cat /proc/self/limits >%s.new; mv %s.new %s; exec " PAYLOAD " sensor 1'", limits,
        limits, limits);
    struct run *run = run_start(&setup, WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%", "-f",
                                            "command", "-F", sensor, PAYLOAD, "spin"));
    RUN_UNTIL(run, run->ended || run_exists(limits));
    run_end(run, SIGTERM);
    ck_assert_str_eq(run_read_file(limits).bytes, caller->out.bytes);
    run_remove_folder(folder);
}
END_TEST

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
    run_expect_no_shared_memory(run->pid);
}

START_TEST(sensor_that_fails_ends_the_run) {
    expect_sensor_error(PAYLOAD " say 0.5", "the sensor ended (exit status 0)");
    expect_sensor_error(PAYLOAD " sensor banana", "banana");
    expect_sensor_error(PAYLOAD " sensor 7", "not a load");
    expect_sensor_error(PAYLOAD " exit 1", "the sensor ended (exit status 1)");
    expect_sensor_error("sh -c 'kill -9 $$'", "the sensor ended (killed by SIGKILL)");
    expect_sensor_error(
        "sh -c 'exec >&-; exec sleep 1000'", "the sensor ended (its output was closed)");
}
END_TEST

START_TEST(children_of_a_sensor_end_with_it) {
    expect_sensor_error("sh -c '" PAYLOAD " ignore-term >/dev/null & echo 0.5; exit 1'",
        "the sensor ended (exit status 1)");
    /* This one keeps the output open. */
    expect_sensor_error(
        "sh -c 'sleep 1000 & echo 0.5; exit 1'", "the sensor ended (exit status 1)");
}
END_TEST

START_TEST(children_of_a_sensor_end_with_the_master) {
    struct run *run = START("-q", "-v", "-n", "1", "-l", "50%", "-f", "command", "-F",
        "sh -c '" PAYLOAD " ignore-term >/dev/null & while :; do echo 0.5; sleep 0.1; done'",
        PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    RUN_UNTIL(run, family_find("payload").count == 2);
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_expect_nothing_left();
    run_free(run);
}
END_TEST

START_TEST(sensor_that_is_silent_ends_the_run) {
    expect_sensor_error("sleep 1000", "printed nothing");
}
END_TEST

START_TEST(load_of_a_control_group_is_measured) {
    struct run *run =
        FIGURES("-n", "1", "-l", "30%", "-f", "cgroup", "--duration", "2s", PAYLOAD, "spin");
    if (run->status == 125) {
        run_expect_text(&run->err, "showstopper: ");
        run_expect_text(&run->err, "group");
        SKIP("cgroup-cpu: no control group here reports its CPU time");
    }
    run_expect(run, 0);
    double load = json_number(run->out.bytes, "load_mean");
    ck_assert_msg(load >= 0 && load <= 1, "%s", run->out.bytes);
    run_expect(RUN("-l", "30%", "-f", "cgroup", "-F", "/there/is/none", PAYLOAD, "spin"), 125);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(target_is_set_during_a_run),
    SS_CASE(target_of_feedback_own_is_set_in_cpus),
    SS_CASE(an_ended_instance_uses_none_of_the_load_of_feedback_own),
    SS_CASE(status_of_a_run_is_printed),
    SS_CASE(target_is_set_in_cpus),
    SS_CASE(set_trace_returns_to_the_target_of_the_trace),
    SS_CASE(each_change_of_the_target_is_recorded_with_its_time),
    SS_CASE(a_new_target_reaches_sleeping_executors),
    SS_CASE(a_new_target_ends_a_free_section),
    SS_CASE(another_user_cannot_set_the_target),
    SS_CASE(set_with_the_pid_of_an_executor_is_refused),
    SS_CASE(duty_follows_the_load_of_a_sensor),
    SS_CASE(sensor_has_the_limits_of_the_caller),
    SS_CASE(sensor_that_fails_ends_the_run),
    SS_CASE(children_of_a_sensor_end_with_it),
    SS_CASE(children_of_a_sensor_end_with_the_master),
    SS_CASE(sensor_that_is_silent_ends_the_run),
    SS_CASE(load_of_a_control_group_is_measured))
/* clang-format on */
