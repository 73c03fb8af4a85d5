/* SPDX-License-Identifier: Apache-2.0 */

/* Counters that become unreadable, and outputs that cannot be written. */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../full.h"
#include "fault.h"
#include "json_text.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* When a run met the spoiled counters. */
enum meeting {
    NEVER,  /* it had ended before */
    AT_END, /* perhaps too late for a sample */
    IN_TIME
};

/* Runs until the end. Spoils the counters `seconds` after all instances have started. */
static struct run *run_spoiled(const char *how, size_t instances, double seconds,
    const char *const *words, enum meeting *meeting) {
    pid_t pids[RUN_PIDS_MAX];
    const char *file = run_new_path("spoil");
    const char *text = run_format("SS_TEST_STAT=%s:%s", how, file);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_stat"), text)};
    struct run *run = run_start(&setup, words);
    RUN_UNTIL(run, run->ended || run_named("payload", pids) == instances);
    run_let_pass(run, seconds);
    run_look(run);
    *meeting = run->ended ? NEVER : AT_END;
    run_write_file(file, "");
    run_let_pass(run, 0.6); /* more than the time of a sample */
    if (!run->ended)
        *meeting = IN_TIME;
    run_wait(run);
    return run;
}

#define LONGEST 40000 /* ms */
#define FOR_DURATION(text)                                                                         \
    SHOWSTOPPER, "-q", "-n", "2", "-l", "50%", "--json", "-", "--duration", text

/* Repeats a run of a planned duration, longer each time, until it meets the spoiled counters. */
static struct run *run_spoiled_in_time(const char *how, bool fixed) {
    for (int duration = 2500; duration <= LONGEST; duration *= 4) {
        enum meeting meeting;
        const char *text = run_format("%dm", duration);
        struct run *run = run_spoiled(how, 2, 0.48 * duration / 1e3,
            fixed ? WORDS(FOR_DURATION(text), "-f", "realtime", "-c", "fixed", PAYLOAD, "spin")
                  : WORDS(FOR_DURATION(text), PAYLOAD, "spin"),
            &meeting);
        if (meeting == IN_TIME)
            return run;
        run_free(run);
    }
    ck_abort_msg("this machine is too slow");
    return NULL;
}

static const char *const ways[] = {"error", "empty", "garbled", "cut"};

#define WAYS (sizeof ways / sizeof *ways)

/* `exact` is not tried with `cut`: the source that it chooses may not need the part cut off. */
TEST_CASE(counters_that_become_unreadable_end_the_run) {
    for (size_t i = 0; i < 2 * WAYS - 1; i++) {
        const char *feedback = i < WAYS ? "realtime" : "exact";
        enum meeting meeting;
        struct run *run = run_spoiled(ways[i % WAYS], 3, 0.5,
            WORDS(SHOWSTOPPER, "-q", "-n", "3", "-l", "50%", "-f", feedback, PAYLOAD, "spin"),
            &meeting);
        ck_assert_int_ne(meeting, NEVER);
        fault_expect_refusal(run, 125, "any more: the load can no longer be controlled");
    }
}

/* Fixed control needs no load. The summary says which figures are missing. */
TEST_CASE(fixed_control_continues_without_readable_counters) {
    for (size_t i = 0; i < WAYS; i++) {
        struct run *run = run_spoiled_in_time(ways[i], true);
        run_expect(run, 0);
        ck_assert(json_is(run->out.bytes, "ended_by", "\"duration\""));
        /* A slow machine may not have counted a single sample. */
        if (!strstr(run->out.bytes, "no sample was counted"))
            run_expect_text(&run->out, " lost: the machine was too busy");
        run_free_clean(run);
    }
}

/* Reads of /proc/stat look as if all CPUs but the first had been removed. */
TEST_CASE(run_continues_with_fewer_cpus) {
    struct run *run = run_spoiled_in_time("fewer", false);
    run_expect(run, 0);
}

static const char *small_folder;

static void fill_folder(void) {
    sandbox_leave_mounts();
    sandbox_mount_small(small_folder, "64k");
    sandbox_fill(small_folder);
}

static struct run *run_on_full_disk(
    const char *duration, const char *option, const char *name, const char *what) {
    struct run_setup setup = {.prepare = fill_folder};
    return RUN_IN(&setup, "-n", "2", "-l", "50%", "-c", "fixed", "--duration", duration, option,
        name, PAYLOAD, what, "30", "10");
}

TEST_CASE(a_full_disk_is_reported) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    small_folder = run_make_folder();
    const char *summary = run_path(small_folder, "summary.json");
    struct run *run = run_on_full_disk("1s", "--json", summary, "spin");
    run_expect_refusal(run, "ended by duration");
    run_expect_text(&run->err, "showstopper: --json: ");
    run_expect_text(&run->err, "No space left on device");
    run_expect_nothing_left();
    /* Not even the list of the files fits. */
    run = run_on_full_disk("1M", "--output", small_folder, "lines");
    run_expect_refusal(run, "No space left on device");
    run_expect_nothing_left();
    /* The disk is too full even for a file name. */
    run = run_on_full_disk("1M", "--output", run_path(small_folder, "below"), "lines");
    run_expect_refusal(run, "No space left on device");
}

static void redirect(int stream) {
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0 || dup2(full, stream) < 0)
        _exit(SANDBOX_MISSING);
}

static void fill_output(void) {
    redirect(1);
}

static void fill_errors(void) {
    redirect(2);
}

static void fill_both(void) {
    redirect(1);
    redirect(2);
}

static void close_output(void) {
    close(1);
}

static void close_errors(void) {
    close(2);
}

#define VERBOSELY    SHOWSTOPPER, "-v", "-n", "2", "-l", "50%", "-c", "fixed", "--progress", "always"
#define FOR_A_SECOND VERBOSELY, "--duration", "1s"

/* Only the output of instances matters to the status. All runs are started at once. */
TEST_CASE(a_run_continues_if_its_messages_are_lost) {
    SKIP_UNLESS_FULL();
    static void (*const prepares[])(void) = {
        fill_output, fill_errors, fill_both, close_output, close_errors};
    enum { COUNT = sizeof prepares / sizeof *prepares };
    struct run *silent[COUNT], *lossy[COUNT];
    double begin = run_now();
    for (int i = 0; i < COUNT; i++) {
        struct run_setup setup = {.prepare = prepares[i]};
        silent[i] = run_start(&setup, WORDS(FOR_A_SECOND, PAYLOAD, "spin"));
        lossy[i] = run_start(
            &setup, WORDS(FOR_A_SECOND, "--iteration", "done", PAYLOAD, "lines", "1000", "10"));
        run_expect(RUN_IN(&setup, "-n", "2", PAYLOAD, "spin"), 125);
    }
    for (int i = 0; i < COUNT; i++) {
        bool loses = prepares[i] != fill_errors && prepares[i] != close_errors;
        run_succeed(silent[i]);
        ck_assert_double_ge(run_now() - begin, 0.95);
        run_expect(run_wait(lossy[i]), loses ? 125 : 0);
    }
}

/* A file would be replaced, but not a pipe. */
TEST_CASE(a_summary_is_written_to_a_pipe) {
    const char *pipe = run_new_path("pipe");
    struct stat status;
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    int reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct run *run =
        RUN("-q", "-n", "2", "-l", "50%", "--duration", "500m", "--json", pipe, PAYLOAD, "spin");
    char text[65536] = "";
    run_expect(run, 0);
    ck_assert_int_gt(read(reader, text, sizeof text - 1), 0);
    ck_assert_msg(json_is(text, "ended_by", "\"duration\""), "%s", text);
    ck_assert(lstat(pipe, &status) == 0 && S_ISFIFO(status.st_mode));
}
