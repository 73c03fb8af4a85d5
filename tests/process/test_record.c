/* SPDX-License-Identifier: Apache-2.0 */

/* The record is complete or marked as interrupted, however the run ends. */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "json_text.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"

static const char *const tables[] = {
    "samples.csv", "cpus.csv", "decisions.csv", "iterations.csv", "iteration-times.csv"};

#define TABLES (sizeof tables / sizeof *tables)

static size_t count_columns(const char *line) {
    size_t count = 1;
    for (; *line && *line != '\n'; line++)
        count += *line == ',';
    return count;
}

/*
 * Fails unless every complete line has as many columns as the heading. Returns the number of rows.
 */
static size_t expect_table(const char *record, const char *name) {
    struct run_text text = record_read(record, name);
    ck_assert_msg(text.length > 0, "%s is empty", name);
    size_t columns = count_columns(text.bytes), lines = 0;
    for (char *line = text.bytes; *line; lines++) {
        char *end = strchr(line, '\n');
        if (!end)
            break;
        EXPECT(count_columns(line) == columns, "%s, line %zu: %.200s", name, lines, line);
        line = end + 1;
    }
    return lines - 1;
}

static bool is_whole(const char *record, const char *name) {
    struct run_text text = record_read(record, name);
    return text.length > 0 && text.bytes[text.length - 1] == '\n';
}

TEST_CASE(a_record_has_tables_events_and_summary) {
    const char *record = run_new_path("record");
    double begin = run_now();
    struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "-D", "40m", "--iteration",
        "done ([0-9.]+) ms", "--record", record, PAYLOAD, "lines", "100000", "10");
    RUN_UNTIL(run, run->ended || (record_rows(record, "decisions.csv") >= 20 &&
                                     record_rows(record, "iterations.csv") >= 10));
    record_interrupt_after(run, record, "samples.csv", 2);
    double took = run_now() - begin;
    /*
     * Two samples per second at most, and 100 decisions of two executors; a few more at the ends.
     */
    size_t samples = expect_table(record, "samples.csv");
    ck_assert_uint_ge(samples, 2);
    ck_assert_double_le((double)samples, 2 * took + 1);
    ck_assert_uint_eq(expect_table(record, "cpus.csv"), samples);
    size_t decisions = expect_table(record, "decisions.csv");
    ck_assert_uint_ge(decisions, 20);
    ck_assert_double_le((double)decisions, 134 * took);
    ck_assert_uint_ge(expect_table(record, "iterations.csv"), 10);
    for (size_t i = 0; i < TABLES; i++)
        ck_assert(is_whole(record, tables[i]));
    record_expect_events(record, 2, "\"event\":\"instance_started\"");
    record_expect_events(record, 1, "\"event\":\"counting\"");
    record_expect_events(record, 1, "\"event\":\"signal\",\"value\":2");
    struct run_text summary = record_read(record, "summary.json");
    ck_assert_double_eq(json_number(summary.bytes, "samples"), (double)samples);
    ck_assert(json_is(record_read(record, "plan.json").bytes, "load", "0.5"));
    ck_assert(!record_has(record, "interrupted"));
}

TEST_CASE(a_step_at_the_end_of_a_sample_counts_for_the_next_one) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *trace = run_path(folder, "trace");
    run_write_file(trace, "0 10%\n1s 10%\n1s 90%\n9s 90%\n");
    SUCCEED("-q", "-n", "1", "-t", "file", "-T", trace, "-c", "fixed", "--duration", "2s",
        "--record", record, PAYLOAD, "spin");
    struct run_text text = record_read(record, "samples.csv");
    int rows = 0;
    for (RUN_EACH_ROW(row, text)) {
        ck_assert_double_eq_tol(run_cell(row, 2), run_cell(row, 1) < 1.5 ? 0.1 : 0.9, 1e-6);
        rows++;
    }
    ck_assert_int_ge(rows, 1);
}

enum { LOAD = 3, USER = 6, SYSTEM, IRQ, STEAL, IOWAIT, IDLE };

/*
 * Columns about the whole machine are empty. A load is at most 1, even if the group also has
 * processes on CPUs that the run may not use; user and system times are not limited.
 */
static void expect_group(const char *row) {
    double load = run_cell(row, LOAD), both = run_cell(row, USER) + run_cell(row, SYSTEM);
    for (size_t i = IRQ; i <= IOWAIT; i++)
        ck_assert_msg(isnan(run_cell(row, i)), "%.200s", row);
    ck_assert(isnan(run_cell(row, USER)) == isnan(run_cell(row, SYSTEM)));
    ck_assert_msg(isnan(both) || load >= 1 || both <= load + 0.2, "%.200s", row);
}

static void expect_no_parts(const char *row) {
    ck_assert_double_eq_tol(run_cell(row, LOAD), 0.25, 1e-6);
    for (size_t i = USER; i <= IDLE; i++)
        ck_assert_msg(i == IRQ || i == STEAL || isnan(run_cell(row, i)), "%.200s", row);
}

/*
 * Fails unless cpus.csv has a column for the run's only CPU, the times of samples.csv, and loads.
 * Calls `expect` for each sample.
 */
static void expect_cpus(const char *record, void (*expect)(const char *row)) {
    const char *heading = run_format("time,elapsed_seconds,cpu%s\n", run_last_cpu());
    struct run_text cpus = record_read(record, "cpus.csv");
    size_t rows = 0;
    ck_assert_msg(strncmp(cpus.bytes, heading, strlen(heading)) == 0, "%.200s", cpus.bytes);
    const char *row = run_next_line(cpus.bytes);
    for (RUN_EACH_ROW(sample, record_read(record, "samples.csv"))) {
        size_t times = strcspn(row, ",") + 1;
        times += strcspn(row + times, ",") + 1;
        ck_assert_msg(strncmp(row, sample, times) == 0, "%.80s, %.80s", row, sample);
        double load = run_cell(row, 2);
        ck_assert(load >= 0 && load <= 1);
        if (expect)
            expect(sample);
        row = run_next_line(row);
        rows++;
    }
    ck_assert(!*row);
    ck_assert_uint_ge(rows, 2);
}

TEST_CASE(samples_have_the_columns_of_their_source) {
    static const struct {
        const char *feedback[3], *scope, *message;
        void (*expect)(const char *row);
    } sources[] = {
        {{"realtime", "-v", "-v"}, "\"cpus\"", "", NULL},
        {{"exact", "-v", "-v"}, "\"cpus\"", "", NULL},
        {{"own", "-v", "-v"}, "\"own\"", "", NULL},
        {{"command", "-F", "sh -c 'while echo 0.25; do sleep 0.05; done'"}, "\"sensor\"",
            "a value of 1 from the sensor: sh -c", expect_no_parts},
        {{"cgroup", "-v", "-v"}, "\"cgroup\"", "the allowance of the control group with",
            expect_group},
    };
    const char *folder = run_make_folder();
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *const *feedback = sources[i].feedback;
        const char *record = run_path(folder, feedback[0]);
        struct run *run = START("--cpus", run_last_cpu(), "-n", "1", "-l", "20%", "-f", feedback[0],
            feedback[1], feedback[2], "--record", record, PAYLOAD, "spin");
        RUN_UNTIL(run, run->ended || record_rows(record, "samples.csv") >= 2);
        SKIP_UNLESS(!run->ended || run->status != 125 || !strstr(run->err.bytes, "control group"),
            "cgroup-cpu: our own control group counts no CPU time");
        record_interrupt_after(run, record, "samples.csv", 2);
        run_expect_text(&run->err, sources[i].message);
        expect_cpus(record, sources[i].expect);
        struct run_text summary = record_read(record, "summary.json");
        ck_assert(json_is(summary.bytes, "scope", sources[i].scope));
        json_expect_between(summary.bytes, "steal_mean", 0, 1);
        run_free(run);
    }
}

struct sums {
    double error, squares, duty, samples; /* percent, percent squared, fractions, a count */
    double running, all;                  /* seconds */
};

static struct sums sum_up(const char *record) {
    struct sums sums = {0};
    struct run_text text = record_read(record, "samples.csv");
    size_t columns = count_columns(text.bytes);
    for (RUN_EACH_ROW(row, text)) {
        double error = run_cell(row, 2) - run_cell(row, LOAD);
        ck_assert_double_eq_tol(error, run_cell(row, 4), 2e-6);
        ck_assert_double_eq(run_cell(row, columns - 2), 1); /* it counts */
        sums.error += 100 * error;
        sums.squares += 1e4 * error * error;
        sums.duty += run_cell(row, columns - 3);
        sums.samples++;
    }
    text = record_read(record, "decisions.csv");
    double ends[2] = {0};
    for (RUN_EACH_ROW(row, text)) {
        double begin = run_cell(row, 1), real = run_cell(row, 5);
        int instance = (int)run_cell(row, 2);
        /* Decisions follow one another without a gap. */
        if (ends[instance] > 0)
            ck_assert_double_eq_tol(begin, ends[instance], 2e-6);
        ends[instance] = begin + real;
        sums.running +=
            strstr(row, ",running,") && strstr(row, ",running,") < run_next_line(row) ? real : 0;
        sums.all += real;
    }
    return sums;
}

/* Returns the difference of the mean duties in the summary and in the decisions of a run. */
static double compare_figures(const char *duration) {
    const char *record = run_new_path("record"), *trace = run_new_path("trace");
    run_write_file(trace, "0 10%\n20ms 10%\n20ms 90%\n400ms 90%\n400ms 10%\n500ms 10%\n");
    SUCCEED("-q", "-n", "2", "-t", "file", "-T", trace, "-c", "fixed", "-D", "20m", "--duration",
        duration, "--record", record, PAYLOAD, "spin");
    record_expect_events(record, 2, "\"event\":\"instance_ended\"");
    record_expect_events(record, 1, "\"text\":\"duration\"");
    ck_assert(!record_has(record, "interrupted"));
    struct sums sums = sum_up(record);
    const char *summary = record_read(record, "summary.json").bytes;
    ck_assert_double_eq_tol(
        json_number(summary, "error_mean_percent"), sums.error / sums.samples, 1e-3);
    ck_assert_double_eq_tol(
        json_number(summary, "error_mse_e4"), sums.squares / sums.samples, 0.05);
    double duty = json_number(summary, "duty_mean");
    ck_assert_double_eq_tol(duty, sums.duty / sums.samples, 1e-6);
    ck_assert_double_ge(duty, 0.2);
    return fabs(duty - sums.running / sums.all);
}

/*
 * The mean duty is the same in summary, samples and decisions, although samples end within
 * decisions. Late switches change the planned duty of 0.7, on a busy machine for seconds; the last
 * decisions end after the run.
 */
TEST_CASE(figures_agree_in_summary_samples_and_decisions) {
    double difference = 1;
    for (const char *const *duration = WORDS("4s", "12s", "36s"); *duration && difference > 0.3;
         duration++)
        difference = compare_figures(*duration);
    ck_assert_double_le(difference, 0.3);
}

TEST_CASE(existing_record_is_kept) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    mkdir(record, 0777);
    run_write_file(run_path(record, "samples.csv"), "old\n");
    run_write_file(run_path(record, "notes"), "mine\n");
    run_write_file(run_path(record, "plan.json"), "{\n  \"schema\": 2,\n");
    struct run *run = RUN("-l", "100%", "-c", "fixed", "--record", record, PAYLOAD, "exit", "0");
    run_expect_refusal(run, "--force");
    run_expect_file(run_path(record, "samples.csv"), "old\n");
    run = SUCCEED(
        "-q", "-l", "100%", "-c", "fixed", "--record", record, "--force", PAYLOAD, "exit", "0");
    ck_assert(record_has(record, "summary.json"));
    ck_assert(record_has(record, "notes"));
    expect_table(record, "samples.csv");
    run = RUN(
        "-l", "100%", "-c", "fixed", "--record", run_path(record, "notes"), PAYLOAD, "exit", "0");
    run_expect_refusal(run, "is not a folder");
}

/* A folder without a plan of showstopper is not a record. */
TEST_CASE(a_folder_that_is_not_a_record_is_kept) {
    static const char *const names[] = {
        "input-raw.csv", "iterations.csv", "plan.json", ".plan.json.7", "interrupted"};
    const char *data = run_new_path("data");
    mkdir(data, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run_write_file(run_path(data, names[i]), "mine\n");
    for (const char *const *option = WORDS("--verbose", "--force"); *option; option++) {
        struct run *run =
            RUN("-l", "100%", "-c", "fixed", "--record", data, *option, PAYLOAD, "exit", "0");
        run_expect_refusal(run, "is not a record");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run_expect_file(run_path(data, names[i]), "mine\n");
    ck_assert(!record_has(data, "summary.json"));
}

static void expect_interrupted(const char *record) {
    ck_assert(record_has(record, "interrupted"));
    ck_assert(!record_has(record, "summary.json"));
    for (size_t table = 0; table < TABLES; table++) {
        if (record_read(record, tables[table]).length > 0)
            expect_table(record, tables[table]);
    }
}

/*
 * Wherever a run is killed, its record is marked as interrupted and has complete lines, except for
 * the last one. Several runs at a time, because most of them wait.
 */
TEST_CASE(a_killed_run_leaves_whole_lines) {
    enum { ROUNDS = 10, AT_ONCE = 5 };
    const char *folder = run_make_folder();
    for (int round = 0; round < ROUNDS; round++) {
        struct run *runs[AT_ONCE];
        const char *records[AT_ONCE];
        double begin = run_now();
        for (int i = 0; i < AT_ONCE; i++) {
            const char *name = run_format("record%d.%d", round, i);
            records[i] = run_path(folder, name);
            runs[i] = START("-n", "2", "-l", "50%", "-c", "fixed", "-D", "5m", "--iteration",
                "done ([0-9.]+) ms", "--record", records[i], PAYLOAD, "lines", "100000", "5");
        }
        for (int i = 0; i < AT_ONCE; i++) {
            double moment = begin + 0.02 * (round * AT_ONCE + i);
            RUN_UNTIL(runs[i], run_now() >= moment && record_has(records[i], "events.jsonl"));
            kill(runs[i]->pid, SIGKILL);
            run_wait(runs[i]);
        }
        run_expect_nothing_left();
        for (int i = 0; i < AT_ONCE; i++)
            expect_interrupted(records[i]);
    }
}

static bool is_full(const char *folder) {
    struct statvfs status;
    return statvfs(folder, &status) == 0 && status.f_bavail == 0;
}

/* The run continues and reports what was lost; the files contain complete lines. */
TEST_CASE(a_full_disk_is_reported) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    char size[32]; /* a file needs at least a page, which may have 64 KiB */
    snprintf(size, sizeof size, "%ld", 18 * sysconf(_SC_PAGESIZE));
    sandbox_leave_mounts();
    ck_assert(sandbox_can_mount_small(folder, size));
    struct run *run = START(
        "-n", "4", "-l", "50%", "-c", "fixed", "-D", "4m", "--record", record, PAYLOAD, "spin");
    RUN_UNTIL(run, run->ended || is_full(folder));
    /* Some tens of decisions may still fit into the last page. There are 1000 per second. */
    double full = run_now();
    RUN_UNTIL(run, run->ended || run_now() >= full + 2);
    run_end(run, SIGINT);
    run_expect_text(&run->err, "lines of the record were lost");
    ck_assert(is_whole(record, "decisions.csv"));
    ck_assert_uint_ge(expect_table(record, "decisions.csv"), 10);
    ck_assert_uint_ge(expect_table(record, "samples.csv"), 1);
    ck_assert_uint_ge(record_count(record, "summary.json", "decisions.csv: No space left on"), 1);
    ck_assert_uint_ge(record_count(record, "summary.json", "lines of the record were lost"), 1);
}

/* The instances end when the file `go` is gone, after hundreds of decisions that do not fit. */
TEST_CASE(lost_lines_of_a_quiet_run_are_an_error) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder(), *go = run_new_path("go");
    const char *record = run_path(folder, "record");
    const char *script = run_format("while [ -e %s ]; do sleep 0.1; done", go);
    run_write_file(go, "");
    sandbox_leave_mounts();
    ck_assert(sandbox_can_mount_small(folder, "4m"));
    struct run *run = START("-q", "-n", "2", "-l", "50%", "-c", "fixed", "-D", "4m", "--record",
        record, "sh", "-c", script);
    RUN_UNTIL(run, record_count(record, "decisions.csv", "\n") > 10);
    sandbox_fill(folder);
    run_let_pass(run, 2);
    unlink(go);
    run_wait(run);
    run_expect(run, 125);
    ck_assert_uint_eq(run_count_text(&run->err, "lines of the record were lost"), 1);
    ck_assert_uint_eq(run_count_text(&run->err, "\n"), 1);
}

TEST_CASE(lost_lines_of_a_simulated_run_are_an_error) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder();
    const char *size = run_format("%ld", 48 * sysconf(_SC_PAGESIZE));
    sandbox_leave_mounts();
    ck_assert(sandbox_can_mount_small(folder, size));
    run_expect_refusal(CALL(TEST_BIN_DIR "/sssim", "--foreground", "serial", "--iteration", "50m",
                           "--duration", "600s", "--record", run_path(folder, "record")),
        "No space left on device");
}

/*
 * Starts a run with the delays of `late`; see shim_late.c. Returns when all instances are running.
 */
static struct run *start_late(const char *late, const char *grace, const char *record) {
    struct run_setup setup = {.environment = WORDS(SHIM("shim_late"), late)};
    struct run *run = START_IN(&setup, "-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace",
        grace, "--record", record, PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    return run;
}

/* The executor is killed before it can publish the end of its instance. */
TEST_CASE(the_end_of_an_instance_is_recorded_if_its_executor_is_late) {
    const char *record = run_new_path("record");
    struct run *run = start_late("SS_TEST_LATE=60000:ss-executor 0:reap", "2s", record);
    run_end(run, SIGINT);
    record_expect_events(record, 2, "\"event\":\"instance_ended\"");
    record_expect_events(record, 1, "\"text\":\"killed with its executor\"");
}

/* The time in which the figures are read from /proc is not part of the grace period. */
TEST_CASE(reading_figures_does_not_shorten_the_grace_period) {
    const char *record = run_new_path("record");
    struct run *run = start_late("SS_TEST_LATE=3000:master:list", "2s", record);
    RUN_UNTIL(run, record_has(record, "events.jsonl"));
    run_end(run, SIGINT);
    record_expect_events(record, 2, "\"text\":\"ended by the run\"");
}

TEST_CASE(events_are_on_disk_while_instances_have_their_grace_period) {
    const char *record = run_new_path("record");
    struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace", "1h",
        "--record", record, PAYLOAD, "ignore-term");
    run_wait_ready(run, 2);
    run_wait_text(run, "instances are running");
    kill(run->pid, SIGTERM);
    RUN_UNTIL(run, record_count(record, "events.jsonl", "\"event\":\"ending\"") > 0);
    ck_assert(!run->ended);
    run_end(run, SIGKILL);
}

static struct run *need_json(struct run *run) {
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    return run;
}

#define REPLAY(...) need_json(RUN("--replay", __VA_ARGS__))

/*
 * A replay runs the same options and command in the same folder; new options replace recorded ones.
 */
TEST_CASE(a_recorded_run_is_replayed_with_new_options) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    const char *again = run_path(folder, "again");
    struct run_setup setup = {.folder = folder};
    struct run *run = START_IN(&setup, "-q", "-n", "2", "-l", "50%", "-c", "fixed", "--duration",
        "1s", "--record", "record", "--force", PAYLOAD, "spin");
    run_succeed(run);
    run = run_succeed(REPLAY(record, "-l", "30%", "--record", again, "--json", "-"));
    ck_assert_double_eq(json_number(run->out.bytes, "target_mean"), 0.3);
    ck_assert_double_eq(json_number(run->out.bytes, "instances"), 2);
    expect_table(again, "samples.csv");
    /* New relative paths are relative to the current folder, not to that of the recorded run. */
    const char *here = run_path(folder, "here");
    mkdir(here, 0777);
    struct run_setup elsewhere = {.folder = here};
    run = SUCCEED_IN(
        &elsewhere, "-q", "--replay", record, "--json", "j", "--record", "r/", "--output", "o");
    ck_assert(
        record_has(here, "j") && record_has(here, "r/samples.csv") && record_has(here, "o/0.out"));
    ck_assert(!record_has(folder, "j") && !record_has(folder, "r") && !record_has(folder, "o"));
    run = RUN("--replay", run_path(folder, "none"));
    run_expect_refusal(run, "none: No such file or directory: name a folder that --record created");
    run = CALL(TEST_BUILD_DIR "/libexec/showstopper/showstopper-replay");
    run_expect(run, 125);
    run_expect_text(
        &run->err, "showstopper: --replay: no record given: use showstopper --replay DIR");
    ck_assert_uint_eq(run->out.length, 0);
}

static void expect_labels(const char *record, const char *labels) {
    static const char *const names[] = {"plan.json", "summary.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run_text text = record_read(record, names[i]);
        ck_assert_msg(json_is(text.bytes, "labels", labels), "%s: %.400s", names[i], text.bytes);
    }
}

/* --record-decisions, which requires --record, is replayed only if --record is given. */
TEST_CASE(labels_and_options_of_a_record_are_replayed) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record"), *again = run_path(folder, "again");
    SUCCEED("-q", "-n", "1", "-l", "10%", "--duration", "600m", "--record-decisions", "all",
        "--record-decisions=none", "--label", "pair=a \"b\"", "--label=round=1", "--label",
        "last=", "--record", record, PAYLOAD, "spin");
    expect_labels(record,
        "{\n    \"pair\": \"a \\\"b\\\"\",\n    \"round\": \"1\",\n    \"last\": \"\"\n  }");
    struct run *run = run_succeed(REPLAY(record, "--record", again, "--label", "round=2",
        "--label=last=x", "--label", "roun=d", "-q"));
    expect_labels(again, "{\n    \"pair\": \"a \\\"b\\\"\",\n    \"round\": \"2\",\n    "
                         "\"last\": \"x\",\n    \"roun\": \"d\"\n  }");
    ck_assert(record_has(again, "samples.csv") && !record_has(again, "decisions.csv"));
    run = run_succeed(REPLAY(record, "--dry-run"));
    run_expect_text(&run->out, "\nlabels     pair=a \"b\"\n           round=1\n           last=\n");
}

/* Returns a new folder. Sets the umask, because a plan that others may write to is refused. */
static const char *make_record(void) {
    const char *record = run_new_path("record");
    umask(022);
    mkdir(record, 0777);
    return record;
}

/* A simulated run has the command line of sssim, and records keep only UTF-8. */
TEST_CASE(replays_that_cannot_repeat_the_run_are_refused) {
    const char *record = make_record();
    run_write_file(run_path(record, "plan.json"),
        "{\"command\": [\"serial\"], \"arguments\": [\"-l\", \"50%\"], \"options\": 2, "
        "\"folder\": \"/\", \"simulated\": true}\n");
    run_expect_refusal(REPLAY(record), "run sssim again instead\n");
    record = run_new_path("record");
    SUCCEED("-q", "-n", "1", "-l", "100%", "-c", "fixed", "--record", record, PAYLOAD, "exit", "0",
        "caf\xe9");
    run_expect_refusal(REPLAY(record), "has bytes that are not UTF-8");
}

TEST_CASE(control_characters_of_a_record_are_not_printed) {
    const char *record = make_record();
    run_write_file(run_path(record, "plan.json"),
        "{\"version\": \"\\u001b[31m\", \"command\": [\"true\"], \"arguments\": [\"-l\", \"50%\", "
        "\"--dry-run\", \"echo\", \"\\u009b31m\"], \"options\": 3, \"folder\": \"/\"}\n");
    run_write_file(run_path(record, "platform.json"), "{\"\\u001b[31m\": \"\\u009b31m\"}\n");
    struct run *run = REPLAY(record);
    run_expect(run, 0);
    run_expect_text(&run->err, "recorded by version  [31m, this is");
    run_expect_text(&run->out, "echo $'\\302\\23331m'");
    for (const struct run_text *text = &run->out; text; text = text == &run->out ? &run->err : NULL)
        ck_assert(!strchr(text->bytes, '\033') && !strstr(text->bytes, "\xc2\x9b"));
}

TEST_CASE(fifo_in_a_record_does_not_block_a_replay) {
    const char *record = make_record();
    ck_assert_int_eq(mkfifo(run_path(record, "plan.json"), 0600), 0);
    run_expect_refusal(REPLAY(record), "plan.json is not a regular file");
    unlink(run_path(record, "plan.json"));
    run_write_file(run_path(record, "plan.json"),
        "{\"command\": [\"true\"], \"arguments\": [\"-l\", \"50%\", \"--dry-run\", \"true\"], "
        "\"options\": 3, \"folder\": \"/\"}\n");
    ck_assert_int_eq(mkfifo(run_path(record, "input-workloads"), 0600), 0);
    ck_assert_int_eq(mkfifo(run_path(record, "platform.json"), 0600), 0);
    struct run *run = REPLAY(record);
    run_expect(run, 0);
    run_expect_text(&run->err, "cannot compare the machines");
    for (const char *const *file = WORDS("input-workloads", "../workloads"); *file; file++) {
        run_write_file(run_path(record, "plan.json"),
            run_format(
                "{\"arguments\": [\"--dry-run\"], \"options\": 1, \"folder\": \"/\", \"inputs\": "
                "[{\"option\": \"workloads\", \"file\": \"%s\"}]}\n",
                *file));
        run_expect_refusal(REPLAY(record),
            **file == '.' ? "invalid \"inputs\"" : "input-workloads is not a regular file");
    }
}

/* Adds up the iterations in all buckets of seconds, or of the run. */
static double sum_buckets(const char *record, bool of_run) {
    struct run_text text = record_read(record, "iteration-times.csv");
    double sum = 0;
    for (RUN_EACH_ROW(row, text)) {
        if ((*row == ',') == of_run && strchr(row, '\n'))
            sum += run_cell(row, 3);
    }
    free(text.bytes);
    return sum;
}

/* Returns true twice a second: reading long tables takes the run's CPU time. */
static bool may_read(double *next) {
    double now = run_now();
    if (now < *next)
        return false;
    *next = now + 0.5;
    return true;
}

/* A program that prints continuously does not fill the disk, but all its iterations are counted. */
TEST_CASE(iterations_beyond_the_rate_limit_are_not_recorded) {
    const char *record = run_new_path("record");
    const char *script = run_format("exec " SHOWSTOPPER " -n 1 -l 90%% -c fixed --iteration y "
                                    "--record %s yes >/dev/null",
        record);
    struct run *run = run_start(NULL, WORDS("/bin/sh", "-c", script));
    double written, next = 0;
    /* A busy machine may need long to exceed the limit, which applies to each second. */
    RUN_UNTIL(
        run, run->ended || (may_read(&next) && (written = sum_buckets(record, false)) > 10000 &&
                               written > (double)record_rows(record, "iterations.csv")));
    record_interrupt_after(run, record, "samples.csv", 1);
    run_expect_text(&run->err, "iterations were counted but are not in iterations.csv");
    size_t rows = expect_table(record, "iterations.csv");
    ck_assert_uint_ge(rows, 10000);
    struct run_text summary = record_read(record, "summary.json");
    double left = json_number(summary.bytes, "iterations_left_out");
    double iterations = json_number(summary.bytes, "iterations");
    ck_assert_double_gt(left, 0);
    ck_assert_double_eq(sum_buckets(record, false), iterations);
    ck_assert_double_eq(sum_buckets(record, true), iterations);
    /* Iterations before control begins and after it has ended are recorded but not counted. */
    ck_assert_double_ge((double)rows + left, iterations);
    struct run_text text = record_read(record, "iterations.csv");
    double first = run_cell(run_next_line(text.bytes), 2), last = first;
    for (RUN_EACH_ROW(row, text))
        last = run_cell(row, 2);
    ck_assert_double_le((double)rows, 10000 * (last - first + 2));
}

#define TRACE "0 10%\n4s 30%\n"
#define WORK  "1 " PAYLOAD " spin\n# two\n2 " PAYLOAD " spin\n"

/* Replays a record whose original input files are gone. */
static void expect_replay(const char *record, const char *again) {
    struct run *run = NULL;
    /*
     * The trace, played at twice the speed, rises from 20 % at the offset to 30 %. On a busy
     * machine, samples at its start or end may be missing in the mean.
     */
    for (int i = 0;
         i < 5 && !(run && fabs(json_number(run->out.bytes, "target_mean") - 0.25) < 0.03); i++)
        run = SUCCEED("--replay", record, "--record", again, "--force", "--json", "-");
    ck_assert_double_eq_tol(json_number(run->out.bytes, "target_mean"), 0.25, 0.03);
    ck_assert_double_eq(json_number(run->out.bytes, "instances"), 3);
    ck_assert(json_is(run->out.bytes, "ended_by", "\"trace\""));
    ck_assert(json_is(run->out.bytes, "loop", "\"no\""));
    run_expect_file(run_path(again, "input-trace-path"), TRACE);
    run_expect_file(run_path(again, "input-workloads"), WORK);
}

TEST_CASE(a_moved_record_is_replayed_without_its_originals) {
    const char *folder = run_make_folder(), *origin = run_path(folder, "origin");
    mkdir(origin, 0777);
    run_write_file(run_path(origin, "a,trace"), TRACE);
    run_write_file(run_path(origin, "work"), WORK);
    struct run_setup setup = {.folder = origin};
    struct run *run = SUCCEED_IN(&setup, "-q", "-w", "work", "-t", "file", "-T",
        "a\\,trace,scale=1/2,loop=no,offset=2s", "-c", "fixed", "--record", "record");
    const char *moved = run_path(folder, "moved"), *again = run_path(folder, "again");
    ck_assert_int_eq(rename(run_path(origin, "record"), moved), 0);
    run_remove_folder(origin);
    run = run_succeed(REPLAY(moved, "--dry-run"));
    run_expect_text(&run->err, "running the command here instead");
    expect_replay(moved, again);
    run_remove_folder(moved);
    expect_replay(again, run_path(folder, "third"));
}

TEST_CASE(a_replay_may_replace_its_record) {
    const char *folder = run_make_folder();
    const char *trace = run_path(folder, "trace"), *record = run_path(folder, "record");
    run_write_file(trace, TRACE);
    SUCCEED("-q", "-n", "1", "-t", "file", "-T", trace, "-c", "fixed", "--duration", "600m",
        "--record", record, PAYLOAD, "spin");
    ck_assert_int_eq(unlink(trace), 0);
    run_succeed(REPLAY(record, "--record", record, "--force", "-q"));
    run_expect_file(run_path(record, "input-trace-path"), TRACE);
    /* A record without input files keeps no copy of an earlier one. */
    SUCCEED("-q", "-n", "1", "-l", "10%", "--duration", "600m", "--record", record, "--force",
        PAYLOAD, "spin");
    ck_assert(!record_has(record, "input-trace-path"));
}

/* A trace from a pipe is copied, because it cannot be read again. */
TEST_CASE(a_trace_from_a_pipe_is_kept) {
    const char *record = run_new_path("record");
    const char *assignment = run_format("RECORD=%s", record);
    struct run_setup setup = {.environment = WORDS(assignment)};
    run_succeed(run_start(
        &setup, WORDS("/bin/sh", "-c",
                    "printf '0 10%%\\n4s 30%%\\n' | " SHOWSTOPPER " -q -n 1 -t file -T /dev/stdin "
                    "-c fixed --duration 600m --record \"$RECORD\" " PAYLOAD " spin")));
    run_expect_file(run_path(record, "input-trace-path"), TRACE);
    struct run_text plan = record_read(record, "plan.json");
    ck_assert(json_is(plan.bytes, "path", "\"/dev/stdin\""));
}

TEST_CASE(a_run_whose_trace_cannot_be_copied_is_refused) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder(), *small = run_path(folder, "small");
    const char *trace = run_path(folder, "trace"), *record = run_path(small, "record");
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 20000; i++)
        fprintf(stream, "%ds 10%%\n", i);
    fclose(stream);
    run_write_file(trace, text);
    mkdir(small, 0777);
    sandbox_leave_mounts();
    sandbox_mount_small(small, "100k");
    struct run *run =
        RUN("-n", "1", "-t", "file", "-T", trace, "--record", record, PAYLOAD, "exit", "9");
    run_expect_refusal(run, "input-trace-path in the record: No space left on device");
    ck_assert(!run_exists(record));
}
