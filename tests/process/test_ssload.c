/* SPDX-License-Identifier: Apache-2.0 */

/* The load monitor: its rows, its end, and its measurements. */

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../full.h"
#include "family.h"
#include "json_text.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"
#include "terminal.h"

#define SSLOAD  TEST_BIN_DIR "/ssload"
#define SSTRACE TEST_BIN_DIR "/sstrace"

#define START_LOAD(...) run_start(NULL, WORDS(SSLOAD, __VA_ARGS__))
#define LOAD(...)       run_wait(START_LOAD(__VA_ARGS__))

#define HEADING                                                                                    \
    "time,elapsed_seconds,target,load,error,load_ticks,user,system,irq,steal,iowait,idle,"         \
    "pressure,capacity_cpus\n"

enum { TIME, ELAPSED, TARGET, THE_LOAD, ERROR, TICKS, NEXT };

static size_t count_rows(const struct run *run) {
    return run_count_text(&run->out, "\n") - 1;
}

/* Returns the text of a field of a row up to its separator. */
static const char *field(const struct run *run, size_t row, int column) {
    const char *at = run->out.bytes;
    for (size_t i = 0; i <= row && at; i++)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    for (int i = 0; i < column && at; i++)
        at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    ck_assert_msg(at && *at, "no row %zu, column %d: %s", row, column, run->out.bytes);
    return at;
}

static double number(const struct run *run, size_t row, int column) {
    const char *text = field(run, row, column);
    return *text == ',' || *text == '\n' ? NAN : strtod(text, NULL);
}

static void expect_refusal(struct run *run, int status, const char *part) {
    run_expect(run, status);
    run_expect_text(&run->err, part);
    ck_assert_msg(run_count_text(&run->err, "\n") == 1, "not one line: %s", run->err.bytes);
    ck_assert_msg(strncmp(run->err.bytes, "ssload: ", 8) == 0, "no name: %s", run->err.bytes);
    ck_assert_msg(run->out.length == 0, "%s", run->out.bytes);
}

TEST_CASE(ssload_ends_after_the_requested_count) {
    struct run *run = run_succeed(LOAD("-i", "50m", "-c", "3", "-o", "-"));
    ck_assert_msg(strncmp(run->out.bytes, HEADING, strlen(HEADING)) == 0, "%s", run->out.bytes);
    ck_assert_uint_eq(count_rows(run), 3);
    for (size_t i = 0; i < 3; i++) {
        double parts = 0, load = number(run, i, THE_LOAD);
        ck_assert_double_ge(number(run, i, ELAPSED), 0.05 * (double)(i + 1));
        ck_assert(load >= 0 && load <= 1);
        ck_assert(isnan(number(run, i, TARGET)) && isnan(number(run, i, ERROR)));
        for (int part = 0; part < 6; part++)
            parts += number(run, i, NEXT + part);
        ck_assert_msg(isnan(number(run, i, TICKS)) || fabs(parts - 1) < 1e-5, "%s", run->out.bytes);
    }
    run_expect_text(&run->err, "ssload: average over ");
    ck_assert_uint_eq(LOAD("-q", "-c", "1", "-i", "20m")->err.length, 0);
}

TEST_CASE(ssload_ends_after_the_requested_duration) {
    struct run *run = run_succeed(LOAD("-i", "200m", "-d", "500m"));
    size_t rows = count_rows(run);
    ck_assert_msg(rows >= 1 && rows <= 3, "%s", run->out.bytes);
    ck_assert_double_ge(number(run, rows - 1, ELAPSED), 0.5);
}

TEST_CASE(a_signal_ends_ssload_with_status_0_and_an_average) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        struct run *run = START_LOAD("-i", "20m");
        run_wait_text(run, "\n2");
        kill(run->pid, numbers[i]);
        run_succeed(run);
        run_expect_text(&run->err, "ssload: average over ");
        ck_assert_int_eq(run->out.bytes[run->out.length - 1], '\n');
    }
}

TEST_CASE(interrupted_sample_is_omitted) {
    struct run *run = START_LOAD("-i", "1s");
    run_wait_text(run, "\n2");
    run_let_pass(run, 0.1);
    kill(run->pid, SIGINT);
    run_succeed(run);
    /* A delayed test sees more than one row, but none shorter than a second. */
    for (size_t i = 0; i < count_rows(run); i++)
        ck_assert_double_ge(number(run, i, ELAPSED), (double)(i + 1));
}

static void ignore_hangup(void) {
    signal(SIGHUP, SIG_IGN);
}

TEST_CASE(ssload_ignores_sighup_under_nohup) {
    struct run_setup setup = {.prepare = ignore_hangup};
    struct run *run = run_start(&setup, WORDS(SSLOAD, "-i", "20m"));
    run_wait_text(run, "\n2");
    kill(run->pid, SIGHUP);
    size_t seen = run->out.length;
    RUN_UNTIL(run, run->out.length > seen + 500);
    kill(run->pid, SIGINT);
    run_succeed(run);
}

/* The load of a late sample refers to its actual length, and missed samples are skipped. */
TEST_CASE(late_samples_do_not_pile_up) {
    struct run *run = START_LOAD("-i", "20m");
    run_wait_text(run, "\n2");
    kill(run->pid, SIGSTOP);
    RUN_UNTIL(NULL, run_state(run->pid) == 'T');
    run_let_pass(NULL, 1.5);
    run_look(run);
    size_t before = run->out.length;
    kill(run->pid, SIGCONT);
    double until = run_now() + 0.3;
    RUN_UNTIL(run, run_now() > until && run->out.length > before + 200);
    kill(run->pid, SIGINT);
    run_succeed(run);
    size_t rows = count_rows(run);
    double longest = 0;
    for (size_t i = 1; i < rows; i++) {
        longest = fmax(longest, number(run, i, ELAPSED) - number(run, i - 1, ELAPSED));
        ck_assert(number(run, i, THE_LOAD) >= 0 && number(run, i, THE_LOAD) <= 1);
    }
    ck_assert_double_ge(longest, 1.5);
    /* Samples that were due during the longest interval were not made up for. */
    ck_assert_double_le(0.02 * (double)rows, number(run, rows - 1, ELAPSED) - longest + 0.1);
}

TEST_CASE(ssload_returns_the_exit_status_of_the_command) {
    run_succeed(LOAD("--", PAYLOAD, "exit", "0"));
    run_expect(LOAD("--", PAYLOAD, "exit", "7"), 7);
    run_expect(LOAD("--", PAYLOAD, "signal", "9"), 128 + 9);
    struct run *run = LOAD("-i", "50m", "--", "sh", "-c", "sleep 0.3; exit 3");
    run_expect(run, 3);
    ck_assert_double_ge(number(run, count_rows(run) - 1, ELAPSED), 0.3);
    double started = run_now();
    run = LOAD("-i", "20m", "-c", "1", "--", "sh", "-c", "sleep 0.3; exit 4");
    run_expect(run, 4);
    ck_assert_uint_eq(count_rows(run), 1);
    ck_assert_double_ge(run_now() - started, 0.3);
}

TEST_CASE(a_refused_command_line_keeps_existing_files) {
    const char *folder = run_make_folder();
    const char *kept = run_path(folder, "kept"), *alias = run_path(folder, "alias");
    const char *broken = run_path(folder, "broken");
    run_write_file(kept, "0 50%\n");
    ck_assert_int_eq(symlink("kept", alias), 0);
    /* The interpreter of the script does not exist, which shows only when it is executed. */
    run_write_file(broken, "#!/there/is/none\n");
    run_succeed(run_start(NULL, WORDS("chmod", "755", broken)));
    expect_refusal(LOAD("--", broken), 127, broken);
    expect_refusal(LOAD("-o", kept, "--", "there.is.none"), 127, "there.is.none");
    expect_refusal(LOAD("-o", kept, "--", "/etc"), 126, "/etc");
    expect_refusal(LOAD("--target", kept, "-o", kept, "-c", "1"), 125, "--output would overwrite ");
    expect_refusal(LOAD("--target", kept, "--openmetrics", alias, "-c", "1"), 125,
        "--openmetrics would overwrite ");
    expect_refusal(LOAD("-o", kept, "--openmetrics", alias, "-c", "1"), 125,
        "--output and --openmetrics would both write to ");
    run_expect_file(kept, "0 50%\n");
}

TEST_CASE(ssload_passes_signals_on_to_the_command) {
    static const int numbers[] = {SIGTERM, SIGQUIT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct run *run = START_LOAD("-i", "50m", "--", PAYLOAD, "spin");
        run_find(run, "payload");
        run_wait_text(run, "\n2");
        kill(run->pid, numbers[i]);
        run_expect(run_wait(run), 128 + numbers[i]);
        run_expect_nothing_left();
        run_expect_text(&run->err, "ssload: average over ");
    }
}

TEST_CASE(ctrl_c_reaches_the_command) {
    struct terminal *terminal = terminal_open(WORDS(SSLOAD, "-i", "50m", "--format", "csv", "--",
        "sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.1; done"));
    terminal_wait(terminal, "ready");
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait(terminal, "caught");
    run_expect(run_wait(terminal->run), 9);
}

TEST_CASE(ssload_prints_a_table_to_a_terminal) {
    struct terminal *terminal = terminal_open(WORDS(SSLOAD, "-i", "50m"));
    terminal_wait(terminal, "percent");
    terminal_wait(terminal, ":");
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait(terminal, "Average");
    run_succeed(terminal->run);
}

TEST_CASE(a_full_disk_is_an_error) {
    SKIP_UNLESS_FULL();
    expect_refusal(LOAD("-i", "20m", "-o", "/dev/full"), 125, "/dev/full: No space left");
    expect_refusal(LOAD("-i", "20m", "-o", "/dev/full", "--", PAYLOAD, "run-ms", "200"), 125,
        "/dev/full: No space left");
}

static int slow[2]; /* a pipe that is read late, or never */

static void print_to_slow(void) {
    dup2(slow[1], STDOUT_FILENO);
}

/* Starts ssload with a pipe as its standard output, and waits until a write to it blocks. */
static struct run *start_blocked(const char *const *words) {
    struct run_setup setup = {.prepare = print_to_slow};
    int written = 0, before;
    ck_assert_int_eq(pipe2(slow, O_CLOEXEC), 0);
    ck_assert_int_gt(fcntl(slow[1], F_SETPIPE_SZ, 4096), 0);
    struct run *run = run_start(&setup, words);
    close(slow[1]);
    for (double since = run_now(); written == 0 || run_now() < since + 0.3; run_nap(run)) {
        before = written;
        ck_assert_int_eq(ioctl(slow[0], FIONREAD, &written), 0);
        since = written > before ? run_now() : since;
        ck_assert(!run->ended);
    }
    return run;
}

/* Neither the forwarded signal nor the end of the command interrupts a write. */
TEST_CASE(blocked_output_keeps_the_status_and_all_samples) {
    char text[4096];
    ssize_t length;
    struct run *run = start_blocked(WORDS(SSLOAD, "-i", "10m", "--format", "json", "--", "sh", "-c",
        "trap 'exit 7' TERM; echo ready >&2; while :; do sleep 0.02; done"));
    run_wait_text(run, "ready");
    kill(run->pid, SIGTERM);
    RUN_UNTIL(run, family_find("sh").count == 0); /* the command has ended */
    run_nap(run);
    char last = '\0';
    while ((length = read(slow[0], text, sizeof text)) > 0)
        last = text[length - 1];
    ck_assert_int_eq(last, '\n');
    run_expect(run_wait(run), 7);
    run_expect_text(&run->err, "ssload: average over ");
}

TEST_CASE(a_signal_ends_ssload_while_its_output_is_blocked) {
    static const char *const formats[] = {"json", "csv", "table"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct run *run =
            start_blocked(WORDS(SSLOAD, "-i", "10m", "--per-cpu", "--format", formats[i]));
        kill(run->pid, SIGTERM);
        run_succeed(run);
        ck_assert(i == 2 || strstr(run->err.bytes, "ssload: average over "));
        close(slow[0]);
    }
}

/* A reader that exits early is not an error, and the command continues. */
TEST_CASE(a_closed_pipe_ends_the_output_without_an_error) {
    struct run *run = run_wait(run_start(
        NULL, WORDS("bash", "-c",
                  "\"$0\" -i 20m -- sh -c 'sleep 0.4; exit 5' | true; exit $PIPESTATUS", SSLOAD)));
    run_expect(run, 5);
    ck_assert_msg(run->err.length == 0, "%s", run->err.bytes);
}

TEST_CASE(error_messages_are_one_line) {
    // clang-format off
    static const struct {
        const char *words[5];
        const char *part;
    } cases[] = {
        {{"-i", "5m"}, "at least 10ms; 5m is 5 milliseconds"},
        {{"--cpus", "8191"}, "--cpus: CPU 8191 does not exist or is offline; available: "},
        {{"--cgroup", "/there.is.none"}, "/there.is.none"},
        {{"--cgroup", "/", "--per-cpu"}, "--per-cpu"},
        {{"--target", "/there.is.none"}, "--target: cannot open /there.is.none"},
        {{"-o", "/there.is/none"}, "/there.is/none: No such file"},
        {{"--openmetrics", "-"}, "--openmetrics replaces its file at each sample: name a file"},
        {{"5"}, "put a command after --"},
        {{"-c", "1", "sleep", "1"}, "put a command after --"},
        {{"--"}, "-- requires a command"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[7] = {SSLOAD};
        memcpy(words + 1, cases[i].words, sizeof cases[i].words);
        expect_refusal(run_wait(run_start(NULL, words)), 125, cases[i].part);
    }
}

/* Returns the number of rows with a target that were not too late to be checked. */
static int check_targets(const char *trace, const char *duration) {
    struct run *run = run_succeed(LOAD("-i", "50m", "-d", duration, "--target", trace));
    double before = 0;
    int judged = 0;
    for (size_t i = 0; i < count_rows(run); i++) {
        double elapsed = number(run, i, ELAPSED), intervals = floor(elapsed / 0.05 + 1e-4);
        bool follows = intervals == before + 1;
        before = intervals;
        if (!follows)
            continue; /* late by more than an interval: its planned end is unknown */
        /* The trace as written; after its first pass it repeats without its first 0.2 s. */
        double at = 0.05 * intervals;
        at = at < 0.6 + 1e-6 ? at : 0.2 + fmod(at - 0.2, 0.4);
        if (at < 0.2 + 1e-6 && elapsed > 0.3)
            at = 0.6; /* the value is held until the trace repeats */
        /* The mean target of this row; a step at its very end counts for the next row. */
        double expected = at < 0.2 + 1e-6 ? NAN : at < 0.4 + 1e-6 ? 0.2 + (at - 0.2) * 3 : NAN;
        double target = number(run, i, TARGET), error = number(run, i, ERROR);
        ck_assert_msg(isnan(expected) ? isnan(target) && isnan(error)
                                      : fabs(target - expected) < 1e-4 &&
                                            fabs(target - number(run, i, THE_LOAD) - error) < 3e-6,
            "row %zu: %.6f expected\n%s", i, expected, run->out.bytes);
        judged += !isnan(target);
    }
    if (judged > 0)
        run_expect_text(&run->err, "target ");
    return judged;
}

static void expect_targets(const char *trace) {
    int judged = 0;
    for (const char *const *length = WORDS("1s", "5s", "20s"); *length && judged == 0; length++)
        judged = check_targets(trace, *length);
    ck_assert_int_gt(judged, 0);
}

/*
 * Returns the target of a sample that begins in the first half second and ends after 0.8 s, because
 * ssload is stopped. Infinity if all samples ended on time.
 */
static double late_target(const char *trace) {
    struct run *run = START_LOAD("-i", "200m", "-d", "2s", "--target", trace);
    run_wait_text(run, "\n2");
    kill(run->pid, SIGSTOP);
    run_let_pass(run, 0.8);
    kill(run->pid, SIGCONT);
    run_succeed(run);
    for (size_t i = 1; i < count_rows(run); i++) {
        if (number(run, i - 1, ELAPSED) < 0.49 && number(run, i, ELAPSED) > 0.8)
            return number(run, i, TARGET);
    }
    return INFINITY;
}

static void expect_late_target(double expected, const char *trace) {
    double target = INFINITY;
    for (int attempts = 5; isinf(target) && attempts > 0; attempts--)
        target = late_target(trace);
    ck_assert_msg(isnan(expected) ? isnan(target) : fabs(target - expected) < 1e-4,
        "target %f instead of %f", target, expected);
}

TEST_CASE(a_late_sample_has_the_target_of_its_end) {
    const char *folder = run_make_folder(), *trace = run_path(folder, "trace");
    run_write_file(trace, "0 20%\n500m 20%\n500m 80%\n60s 80%\n");
    expect_late_target(0.8, trace);
    run_write_file(trace, "0 20%\n500m 20%\n500m free\n700m 80%\n60s 80%\n");
    expect_late_target(NAN, trace);
}

TEST_CASE(target_column_follows_the_trace) {
    const char *folder = run_make_folder();
    const char *text = run_path(folder, "text"), *compiled = run_path(folder, "compiled");
    run_write_file(text, "0 free\n200m 20%\n400m 80%\n400m free\n600m 20%\n");
    expect_targets(text);
    run_succeed(run_start(NULL, WORDS(SSTRACE, "-o", compiled, text)));
    expect_targets(compiled);
}

TEST_CASE(each_cpu_has_a_row) {
    struct run *run = run_succeed(LOAD("-i", "1s", "-c", "2", "--per-cpu"));
    run_expect_text(&run->out, ",load_ticks,cpu,user,");
    size_t rows = count_rows(run), cpus = rows / 2 - 1;
    ck_assert_uint_eq(run_count_text(&run->out, ",all,"), 2);
    ck_assert(rows % 2 == 0 && cpus > 0);
    double sum = 0;
    ck_assert_int_eq(strncmp(field(run, 0, NEXT), "all,", 4), 0);
    for (size_t i = 1; i <= cpus; i++) {
        ck_assert(number(run, i, ELAPSED) == number(run, 0, ELAPSED));
        sum += number(run, i, TICKS);
    }
    /* CPUs do not get exactly the same number of ticks. */
    ck_assert_double_eq_tol(sum / (double)cpus, number(run, 0, TICKS), 0.1);
}

TEST_CASE(json_has_one_line_per_sample) {
    struct run *run = run_succeed(LOAD("-i", "50m", "-c", "3", "--format", "json", "--per-cpu"));
    ck_assert_uint_ge(run_count_text(&run->out, "\n"), 6);
    for (char *line = strtok(run->out.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        double load = json_number(line, "load");
        ck_assert_msg(*line == '{' && line[strlen(line) - 1] == '}', "%s", line);
        ck_assert_msg(load >= 0 && load <= 1, "%s", line);
        ck_assert(json_is(line, "target", "null"));
    }
}

TEST_CASE(the_table_fits_the_window) {
    static const struct {
        const char *columns, *locale, *option;
        size_t width;
    } rows[] = {
        {"COLUMNS=80", "LC_ALL=C", "--per-cpu", 80},
        {"COLUMNS=80", "LC_ALL=C.UTF-8", "--per-cpu", 80},
        {"COLUMNS=66", "LC_ALL=C", "--per-cpu", 66},
        {"COLUMNS=120", "LC_ALL=C", "--per-cpu", 120},
        {"COLUMNS=80", "LC_ALL=C", "--target", 80},
    };
    const char *trace = run_new_path("trace");
    run_write_file(trace, "0 100%\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_setup setup = {.environment = WORDS(rows[i].columns, rows[i].locale)};
        bool has_target = strcmp(rows[i].option, "--target") == 0;
        struct run *run =
            run_succeed(run_start(&setup, WORDS(SSLOAD, "-i", "50m", "-c", "3", "--format", "table",
                                              rows[i].option, has_target ? trace : NULL)));
        run_expect_text(&run->out, "\nAverage   ");
        ck_assert_msg(!strstr(run->err.bytes, "average"), "%s", run->err.bytes);
        ck_assert_uint_eq(run_count_text(&run->out, "|\n"), has_target ? 4 : 0); /* the target */
        size_t length = 0, heading = strcspn(run->out.bytes, "\n");
        ck_assert_msg(heading == rows[i].width, "%s", run->out.bytes);
        for (const char *at = run->out.bytes; *at; at++) {
            length = *at == '\n' ? 0 : length + ((*at & 0xc0) != 0x80);
            ck_assert_msg(length <= rows[i].width, "%zu columns:\n%s", length, run->out.bytes);
        }
    }
}

/* A control group in a folder instead of those of the machine. */
static void make_group(void) {
    sandbox_leave_mounts();
    sandbox_mount_small("/sys/fs/cgroup", "64k");
    if (mkdir("/sys/fs/cgroup/web", 0755) < 0)
        _exit(SANDBOX_MISSING);
    run_write_file("/sys/fs/cgroup/web/cpu.stat", "usage_usec 1\n");
    run_write_file("/sys/fs/cgroup/web/cpu.max", "50000 100000\n");
}

TEST_CASE(changed_limits_are_noted_and_in_the_rows) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    struct run_setup setup = {.prepare = make_group};
    struct run *run = run_start(&setup, WORDS(SSLOAD, "--cgroup", "web", "-i", "100m"));
    RUN_UNTIL(run, run_count_text(&run->out, ",0.500000\n") >= 2);
    run_write_file(
        run_format("/proc/%d/root/sys/fs/cgroup/web/cpu.max", (int)run->pid), "25000 100000\n");
    run_wait_text(run, "ssload: note: 100 % is now 0.25 CPUs; it was 0.5\n");
    RUN_UNTIL(run, run_count_text(&run->out, ",0.250000\n") >= 2);
    kill(run->pid, SIGINT);
    RUN_UNTIL(run, run->ended);
    run_succeed(run);
    ck_assert_uint_eq(run_count_text(&run->out, ",0.375000\n"), 1);
    ck_assert_uint_eq(run_count_text(&run->err, "note"), 1);
}
