/* SPDX-License-Identifier: Apache-2.0 */

/* Complete runs in real time: figures, ends, exit statuses. Bounds are wide. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json_text.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"

/* With --json - and without a text summary, the output is the figures. */
#define ALONE        "-q", "--json", "-"
#define FIGURES(...) SUCCEED(ALONE, __VA_ARGS__)

static void expect_ended_by(const struct run *run, const char *by) {
    const char *word = run_format("\"%s\"", by);
    ck_assert_msg(json_is(run->out.bytes, "ended_by", word), "not %s: %s", by, run->out.bytes);
}

TEST_CASE(json_summary_has_the_figures_of_the_run) {
    const char *file = run_new_path("summary.json");
    struct run *run =
        SUCCEED("-n", "1", "-l", "50%", "--duration", "2s", "--json", file, PAYLOAD, "spin");
    ck_assert_uint_eq(run->out.length, 0);
    run_expect_text(&run->err, "target");
    run_expect_text(&run->err, "late wake-up");
    struct run_text text = run_read_file(file);
    json_expect_between(text.bytes, "target_mean", 0.5, 0.5);
    json_expect_between(text.bytes, "load_mean", 1e-4, 1);
    json_expect_between(text.bytes, "samples", 1, 5);
    json_expect_between(text.bytes, "duration_seconds", 1.9, 60);
    ck_assert(json_is(text.bytes, "iterations", "null"));
    ck_assert(json_is(text.bytes, "ended_by", "\"duration\""));
}

TEST_CASE(load_follows_the_target) {
    SKIP_IF_QUOTA();
    run_greedily();
    struct run *run = FIGURES("-l", "50%", "--settle", "1s", "--duration", "4s", PAYLOAD, "spin");
    json_expect_between(run->out.bytes, "load_mean", 0.25, 1);
    /* If other processes leave less than half of the machine, the duty can only fall. */
    if (json_number(run->out.bytes, "load_mean") > 0.75)
        json_expect_between(run->out.bytes, "duty_mean", 0, 0.3);
    else if (!strstr(run->out.bytes, "other processes took more than the target"))
        json_expect_between(run->out.bytes, "switches_per_second", 1, 1000);
}

TEST_CASE(duty_is_enforced) {
    /* On a busy machine, the executor may stop the instance late, or the instance get no CPU. */
    double share = 0;
    for (const char *const *length = WORDS("2000", "8000", "30000");
         *length && !(share > 0 && share < 45); length++) {
        struct run *run =
            SUCCEED("-q", "-n", "1", "-l", "30%", "-c", "fixed", PAYLOAD, "share", *length);
        share = json_number(run->out.bytes, "share");
    }
    ck_assert_msg(share > 0 && share < 45, "%f %%", share);
    /* At first, instances may be stopped until all have started. */
    struct run *run = NULL;
    for (const char *const *after = WORDS("0.5", "4", "16");
         *after && (!run || !strstr(run->out.bytes, "\"continued\": 0")); after++) {
        const char *script = run_format("sleep %s; exec " PAYLOAD " stops 1000", *after);
        run = SUCCEED("-q", "-n", "1", "-l", "100%", "-c", "fixed", "sh", "-c", script);
    }
    run_expect_text(&run->out, "\"continued\": 0");
    run = SUCCEED("-q", "-n", "1", "-l", "50%", "-c", "fixed", PAYLOAD, "stops", "100000", "2");
    run_expect_text(&run->out, "\"continued\": 2");
}

TEST_CASE(exit_status_comes_from_the_first_failed_instance) {
    struct run *run = FIGURES("-n", "3", "-l", "100%", PAYLOAD, "exit", "0");
    expect_ended_by(run, "workloads");
    ck_assert_uint_eq(run->err.length, 0);
    /* Instance 1 fails 1.5 s after instance 2 was reaped. */
    struct run_setup setup = {.folder = run_make_folder()};
    run_expect(RUN_IN(&setup, "-q", "-n", "3", "-l", "100%", "sh", "-c",
                   "case % in 0) exit 0;; 2) echo $$ >two; exit 12;; esac\n"
                   "until [ -s two ] && ! [ -e /proc/$(cat two) ]; do sleep 0.05; done\n"
                   "sleep 1.5; exit 11"),
        12);
    run_expect(RUN("-q", "-n", "1", "-l", "100%", PAYLOAD, "signal", "9"), 128 + 9);
    run_expect(RUN("-q", "-n", "2", "-l", "50%", "-c", "fixed", PAYLOAD, "signal", "15"), 128 + 15);
}

TEST_CASE(fail_fast_ends_the_run) {
    const char *command = "case % in 0) exit 5;; *) exec sleep 1000;; esac";
    struct run *run = RUN(ALONE, "-n", "3", "-l", "100%", "--fail-fast", "sh", "-c", command);
    run_expect(run, 5);
    expect_ended_by(run, "failure");
    run_expect_nothing_left();
}

#define ONCE_CONTROLLED "until [ -e controlled ]; do sleep 0.05; done; "

/*
 * Starts two instances, of which the second one ends by `script` while the first one continues, and
 * waits for the end of the run.
 */
static struct run *run_with_death(
    const char *folder, const char *script, const char *repeat, int seconds) {
    struct run_setup setup = {.folder = folder};
    const char *duration = run_format("%ds", seconds);
    const char *progress = run_format("/%d s", seconds);
    struct run *run = START_IN(&setup, "-n", "2", "-l", "100%", "-c", "fixed", "--duration",
        duration, "--progress", "always", "--json", "-", "--record", "record", repeat, "sh", "-c",
        script);
    /* On a busy machine, the first line may name a later second. */
    RUN_UNTIL(run, run->ended || strstr(run->err.bytes, progress));
    run_write_file(run_path(folder, "controlled"), "");
    return run_wait(run);
}

static void expect_death_reported(
    const char *script, const char *repeat, int status, const char *how) {
    const char *folder = run_make_folder();
    int seconds = 3;
    struct run *run = run_with_death(folder, script, repeat, seconds);
    /* On a busy machine, the run may end before the instance, which gets no CPU. */
    while (!strstr(run->err.bytes, "ended early") && seconds < 80) {
        folder = run_make_folder();
        seconds *= 4;
        run_free(run);
        run = run_with_death(folder, script, repeat, seconds);
    }
    run_expect(run, status);
    expect_ended_by(run, "duration");
    const char *line = run_format("s: %s\n", how);
    run_expect_text(
        &run->err, "ended early                1      of 2 instances\n  instance 1 after ");
    ck_assert_uint_eq(run_count_text(&run->err, line), 2); /* from the live view and the summary */
    run_expect_text(&run->err, "showstopper: instance 1 ended after ");
    const char *json = json_field(run->out.bytes, "instances_ended");
    ck_assert_ptr_nonnull(json);
    ck_assert(json_number(json, "instance") == 1);
    json_expect_between(json, "elapsed_seconds", 0, seconds);
    if (status > 128)
        ck_assert(json_is(json, "signal", "\"SIGSEGV\""));
    else
        json_expect_between(json, "exit_status", status, status);
    const char *event = run_format("\"instance\":1,\"text\":\"%s\",\"value\":%d}", how, status);
    record_expect_events(run_path(folder, "record"), 1, event);
}

TEST_CASE(an_instance_that_ended_early_is_reported) {
    expect_death_reported(
        ONCE_CONTROLLED "sleep 0.3; [ % = 0 ] || exit 7", "--repeat", 7, "exit status 7");
    expect_death_reported(ONCE_CONTROLLED
        "sleep 0.3; [ % = 0 ] && exit; ulimit -c 0; kill -SEGV $$",
        "--repeat", 128 + 11, "killed by SIGSEGV");
    expect_death_reported(
        ONCE_CONTROLLED "[ % = 0 ] && exec sleep 1000; exit 7", "--", 7, "exit status 7");
}

TEST_CASE(repeat_counts_iterations) {
    const char *file = run_new_path("count");
    struct run *run = RUN(ALONE, "-n", "1", "-l", "100%", "--repeat", PAYLOAD, "count", file, "5");
    run_expect(run, 7);
    ck_assert_uint_eq(run_read_file(file).length, 5);
    json_expect_between(run->out.bytes, "iterations", 1, 4);
    json_expect_between(run->out.bytes, "iterations_per_second", 0.001, 10);
}

/* Returns the pid that the file contains; 0 if it has no whole line yet. */
static pid_t read_pid(const char *file) {
    pid_t pid = 0;
    struct run_text text = run_read_file(file);
    if (strchr(text.bytes, '\n'))
        pid = (pid_t)atol(text.bytes);
    free(text.bytes);
    return pid;
}

/*
 * The iteration ends by itself; before its executor has reaped it, the run begins to end. A process
 * that is exiting has no memory any more, and thus no mark, but has not ended yet.
 */
TEST_CASE(no_iteration_begins_after_the_run_has_begun_to_end) {
    const char *folder = run_make_folder();
    const char *file = run_path(folder, "pid");
    struct run_setup setup = {.folder = folder,
        .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=4000:ss-executor 0:reap")};
    struct run *run = START_IN(&setup, "-n", "1", "-l", "100%", "-c", "fixed", "--repeat",
        "--grace", "1h", "--record", "record", "sh", "-c", "echo $$ >pid");
    RUN_UNTIL(run, run_exists(file) && read_pid(file) > 0 && run_state(read_pid(file)) == 'Z');
    run_end(run, SIGINT);
    /* The run would have ended a second iteration. */
    record_expect_events(run_path(folder, "record"), 1, "\"event\":\"instance_ended\"");
    record_expect_events(run_path(folder, "record"), 0, "ended by the run");
}

/*
 * Fails unless each iteration of the instance in the record takes this many seconds. Uses the
 * record, because a busy machine may deliver lines in bursts, which leaves the rate in the summary
 * unknown.
 */
static void expect_lengths(const char *record, int instance, double low, double high) {
    struct run_text text = record_read(record, "iterations.csv");
    size_t count = 0;
    for (RUN_EACH_ROW(row, text)) {
        double length = run_cell(row, 2) - run_cell(row, 1);
        if ((int)run_cell(row, 0) != instance)
            continue;
        ck_assert_msg(length >= low && length <= high, "%g s", length);
        count++;
    }
    ck_assert_uint_ge(count, 4);
}

#define LOOP(seconds, line) "while :; do sleep " seconds "; echo " line "; done"
#define FAST                LOOP("0.03", "done 30 ms")
#define SLOW                LOOP("0.3", "done 300 ms")

static size_t count_iterations(const char *record, char instance) {
    const char begin[] = {'\n', instance, ',', '\0'};
    return record_count(record, "iterations.csv", begin);
}

/* The length is unknown if a busy machine delivered the lines in bursts. */
static void expect_length_if_known(const char *json, const char *name, double length) {
    if (!json_is(json, name, "null"))
        json_expect_between(json, name, 0.99 * length, 1.01 * length);
}

/* Two instances run one command; a third one runs another, which takes ten times as long. */
TEST_CASE(iterations_are_reported_per_command) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *file = run_path(folder, "workloads");
    size_t slow;
    run_write_file(file, "2 sh -c '" FAST "'\n1 sh -c '" SLOW "'\n");
    struct run *run = START("-l", "100%", "-c", "fixed", "--iteration", "done ([0-9]+) ms",
        "--record", record, "--json", "-", "-w", file);
    RUN_UNTIL(run, run->ended || ((slow = count_iterations(record, '2')) >= 4 &&
                                     count_iterations(record, '0') > slow + 5 &&
                                     count_iterations(record, '1') > slow + 5));
    run_end(run, SIGINT);
    for (int instance = 0; instance < 3; instance++) {
        double length = instance == 2 ? 0.3 : 0.03;
        expect_lengths(record, instance, length - 1e-5, length + 1e-5);
    }
    const char *commands = json_field(run->out.bytes, "commands");
    ck_assert_msg(commands != NULL, "%s", run->out.bytes);
    const char *other = strstr(commands, "sleep 0.3;");
    ck_assert_ptr_nonnull(other);
    json_expect_between(commands, "instances", 2, 2);
    expect_length_if_known(commands, "mean", 0.03);
    json_expect_between(other, "instances", 1, 1);
    json_expect_between(other, "iterations", 4, 1000);
    expect_length_if_known(other, "median", 0.3);
    ck_assert(json_number(commands, "iterations") > json_number(other, "iterations"));
    double sum = json_number(commands, "iterations") + json_number(other, "iterations");
    json_expect_between(run->out.bytes, "iterations", sum, sum);
    const char *detail = json_field(run->out.bytes, "instances_detail");
    ck_assert_ptr_nonnull(detail);
    const char *last = strstr(detail, "\"instance\": 2");
    ck_assert_ptr_nonnull(last);
    json_expect_between(last, "command", 1, 1);
    run_expect_text(&run->err, "2 x sh -c " FAST "\n  throughput ");
}

/* Standard output has nothing but the summary, even if no output is matched. */
TEST_CASE(json_to_standard_output_is_not_mixed_with_other_output) {
    struct run *run = FIGURES("-n", "2", "-l", "100%", "sh", "-c", "echo said");
    ck_assert_int_eq(run->out.bytes[0], '{');
    ck_assert_uint_eq(run_count_text(&run->err, "said\n"), 2);
    run = SUCCEED("-q", "-n", "2", "-l", "100%", "sh", "-c", "echo said");
    ck_assert_uint_eq(run_count_text(&run->out, "said\n"), 2);
}

/*
 * Returns a shell command that waits until the run with this record counts iterations. On a busy
 * machine that may be after an instance has started.
 */
static const char *await_counting(const char *record) {
    return run_format(
        "until grep -q '\"event\":\"counting\"' %s/events.jsonl; do sleep 0.05; done", record);
}

static const char *six_steps(const char *record) {
    return run_format("%s; for i in 1 2 3 4 5 6; do echo step $i took 20000 ms; sleep 0.2; done",
        await_counting(record));
}

/*
 * Without a group in the pattern, an iteration lasts from one line to the next; with a group, as
 * long as the line says. It cannot be longer than the machine's uptime, because times are counted
 * from boot: 20 s have always passed.
 */
TEST_CASE(iterations_are_matched_in_output_lines) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record"), *timed = run_path(folder, "timed");
    struct run *run = FIGURES("-n", "1", "-l", "100%", "--record", record, "--iteration",
        "^step .* ms$", "sh", "-c", six_steps(record));
    json_expect_between(run->out.bytes, "iterations", 6, 6);
    expect_lengths(record, 0, 0, 15);
    run = FIGURES("-n", "1", "-l", "100%", "--record", timed, "--iteration", "took ([0-9]+) ms",
        "sh", "-c", six_steps(timed));
    json_expect_between(run->out.bytes, "iterations", 6, 6);
    expect_lengths(timed, 0, 20 - 1e-3, 20 + 1e-3);
    /*
     * Standard output has only the summary with the command, as words and as a line of a workloads
     * file. Matched lines are forwarded to standard error.
     */
    ck_assert_int_eq(run->out.bytes[0], '{');
    ck_assert_uint_eq(run_count_text(&run->out, "step "), 2);
    ck_assert_uint_eq(run_count_text(&run->err, "step "), 6);
    run = SUCCEED("-n", "1", "-l", "100%", "--iteration", "never", PAYLOAD, "lines", "2", "10");
    run_expect_text(&run->err, "no line of output matched --iteration: the first of ");
    run_expect_text(&run->err, "throughput         not measured");
}

/*
 * With both options, an end of the program is not an iteration. It prints a line once the run
 * counts, and fails at the sixth start.
 */
TEST_CASE(a_repeated_program_counts_only_matching_lines) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *script =
        run_format("%s; sleep 0.1; echo took 5 ms; exec " PAYLOAD " count %s/count 6",
            await_counting(record), folder);
    struct run *run = RUN("-n", "1", "-l", "100%", "--record", record, "--iteration",
        "took ([0-9]+) ms", "--repeat", "sh", "-c", script);
    run_expect(run, 7);
    expect_lengths(record, 0, 0.005 - 1e-5, 0.005 + 1e-5);
    ck_assert_uint_eq(run_count_text(&run->out, "took 5 ms\n"), 6);
    ck_assert_uint_eq(count_iterations(record, '0'), 6);
}

TEST_CASE(instances_run_freely_during_the_warmup) {
    /* At a target of 0 it would never end. */
    struct run *run = FIGURES("-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "100s",
        "--duration", "110s", PAYLOAD, "run-ms", "100");
    expect_ended_by(run, "workloads");
}

TEST_CASE(settle_time_is_not_counted) {
    struct run *run = NULL;
    double begin = 0, took = 0, length = 0;
    /* On a busy machine, the only sample of a short run may begin before the counted time. */
    for (const char *const *lengths = WORDS("3s", "9s", "33s");
         *lengths && !(run && json_number(run->out.bytes, "samples") > 0); lengths++) {
        begin = run_now();
        length = atof(*lengths);
        run = FIGURES("-n", "1", "-l", "20%", "--warmup", "500m", "--settle", "2s", "--duration",
            *lengths, PAYLOAD, "spin");
        took = run_now() - begin;
    }
    ck_assert_double_ge(took, length + 0.5);
    /* All but the first two seconds are counted, or more if the end is late. */
    json_expect_between(run->out.bytes, "duration_seconds", length - 2.5, took - 2.4);
    json_expect_between(run->out.bytes, "samples", 1, 2 * took - 4);
    expect_ended_by(run, "duration");
}

/*
 * Starts a run at `moment` whose instance writes its own begin to a file. Returns NULL if the
 * machine was too busy: the run came too late, or ended before the instance got any CPU.
 */
static struct run *run_at(long long moment, double seconds, const char *file) {
    const char *at = run_format("@%lld", moment);
    const char *duration = run_format("%gs", seconds);
    struct run *run = RUN("-q", "--json", "-", "-n", "1", "-l", "10%", "-p", "#", "--start-at", at,
        "--duration", duration, "sh", "-c", "date +%s.%N >\"$0\"; exec " PAYLOAD " spin", file);
    if (run->status == 125 && strstr(run->err.bytes, "has passed"))
        return NULL;
    run_expect(run, 0);
    return run_read_file(file).length > 0 ? run : NULL;
}

TEST_CASE(start_at_delays_the_start) {
    const char *file = run_new_path("begin");
    struct run *run = NULL;
    for (int more = 1; !run; more *= 2) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        double begin = run_now();
        double left = 3 * more - (double)now.tv_nsec / 1e9;
        ck_assert_int_le(more, 16);
        run = run_at((long long)now.tv_sec + 3 * more, 0.5 * more, file);
        if (!run)
            continue;
        ck_assert_double_ge(run_now() - begin, left + 0.5 * more - 0.05);
        json_expect_between(run->out.bytes, "duration_seconds", 0.5 * more - 0.1, 60);
        /* Instances start at most half a second early. */
        double early = (double)now.tv_sec + 3 * more - strtod(run_read_file(file).bytes, NULL);
        ck_assert_msg(early <= 0.5, "%g s early", early);
    }
}

TEST_CASE(start_at_that_cuts_the_warm_up_causes_a_warning) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *at = run_format("@%lld", (long long)now.tv_sec + 3);
    struct run *run = SUCCEED("-n", "1", "-l", "50%", "-c", "fixed", "--warmup", "1000s",
        "--start-at", at, "--duration", "100ms", PAYLOAD, "spin");
    run_expect_text(&run->err, "the warm-up was cut to ");
}

TEST_CASE(an_error_above_the_tolerance_sets_the_exit_status) {
    const char *trace = run_new_path("trace");
    /* On a busy machine, the sensor may be late. */
    struct run *run = NULL;
    for (const char *const *length = WORDS("2s", "8s", "32s");
         *length && (!run || !strstr(run->err.bytes, "is outside of")); length++) {
        run = RUN("-n", "1", "-l", "1%", "-f", "command", "-F", PAYLOAD " sensor 0.1", "--duration",
            *length, "--tolerance", "5", PAYLOAD, "spin");
        run_expect(run, 3);
    }
    run_expect_text(&run->err, "is outside of +-5 %");
    /* Without a target, no sample counts, however late the run ends. */
    run_write_file(trace, "0 free\n1h 50%\n2h 50%\n");
    run = RUN("-q", "-n", "1", "-t", "file", "-T", trace, "--duration", "200m", "--tolerance",
        "100", PAYLOAD, "spin");
    run_expect(run, 3);
    run_expect_text(&run->err, "no sample was counted");
    run = SUCCEED("-n", "1", "-l", "1%", "-c", "fixed", "-C", "100%", "--duration", "1s",
        "--tolerance", "100", PAYLOAD, "spin");
    run = RUN("-n", "1", "-f", "own", "-l", "1%", "-c", "fixed", "-C", "100%", "--duration", "1M",
        "--tolerance", "1", PAYLOAD, "exit", "4");
    run_expect(run, 4);
}
