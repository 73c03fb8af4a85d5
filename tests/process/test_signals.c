/* SPDX-License-Identifier: Apache-2.0 */

/* Ends and pauses by a signal to the master. */

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "json_text.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"

static void lead_a_group(void) {
    setpgid(0, 0);
}

static void no_core(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void wait_for_ready(struct run *run, size_t count) {
    RUN_UNTIL(run, run_count(run, "ready\n") == count);
}

static void end_by(int number) {
    char caught[32];
    struct run_setup setup = {.prepare = no_core};
    snprintf(caught, sizeof caught, "caught %d\n", number);
    struct run *run = run_start(&setup, WORDS(SHOWSTOPPER, "-n", "2", "-l", "50%", "-c", "fixed",
                                            "--grace", "30s", "--json", "-", PAYLOAD, "catch"));
    wait_for_ready(run, 2);
    kill(run->pid, number);
    run_wait(run);
    run_expect(run, -number);
    ck_assert_uint_eq(run_count(run, caught), 2);
    ck_assert_msg(json_is(run->out.bytes, "ended_by", "\"signal\""), "%s", run->out.bytes);
    run_expect_nothing_left();
    run_expect_no_shared_memory(run->pid);
}

START_TEST(a_run_dies_from_the_received_signal) {
    end_by(SIGINT);
    end_by(SIGTERM);
    end_by(SIGHUP);
    end_by(SIGQUIT);
}
END_TEST

/* As in a container: the kernel ignores what the first process of a PID namespace sends itself. */
START_TEST(a_first_process_exits_with_the_number_of_the_signal) {
    SKIP_UNLESS(surroundings_have_namespaces(), "namespaces: cannot create a namespace");
    struct run *run = run_wait(run_start(
        NULL, WORDS("unshare", surroundings_new_namespaces(), "--mount-proc", SHOWSTOPPER, "-n",
                  "1", "-f", "own", "-l", "50%", "sh", "-c", "kill -TERM 1; exec sleep 1000")));
    run_expect(run, 128 + SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* A stopped process must be continued to handle the signal. */
START_TEST(a_stopped_instance_receives_the_termination_signal) {
    struct run *run =
        START("-q", "-n", "1", "-c", "fixed", "-l", "5%", "--grace", "30s", PAYLOAD, "catch");
    wait_for_ready(run, 1);
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_text(&run->out, "caught 15\n");
    run_expect_nothing_left();
}
END_TEST

START_TEST(instances_are_killed_after_the_grace_period) {
    struct run *run =
        START("-n", "2", "-l", "50%", "-c", "fixed", "--grace", "700m", PAYLOAD, "ignore-term");
    wait_for_ready(run, 2);
    double begin = run_now();
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    ck_assert_double_ge(run_now() - begin, 0.65);
    run_expect_nothing_left();
}
END_TEST

/*
 * Fails unless a planned end is followed by the grace period. Returns false if on a busy machine
 * the instance did not ignore SIGTERM in time.
 */
static bool ends_with_grace_period(int warmup) {
    char length[32];
    snprintf(length, sizeof length, "%ds", warmup);
    double begin = run_now();
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--warmup", length, "--duration",
        "200m", "--grace", "500m", PAYLOAD, "ignore-term");
    RUN_UNTIL(run, run->ended || run_count(run, "ready\n") == 1);
    bool early = run_now() - begin < warmup;
    run_expect(run_wait(run), 0);
    if (early)
        ck_assert_double_ge(run_now() - begin, warmup + 0.65);
    run_expect_nothing_left();
    run_free(run);
    return early;
}

START_TEST(grace_period_applies_to_planned_end) {
    for (int warmup = 3; !ends_with_grace_period(warmup); warmup *= 4)
        ck_assert_int_le(warmup, 12);
}
END_TEST

START_TEST(a_second_signal_cuts_the_grace_period_short) {
    struct run *run =
        START("-n", "2", "-l", "50%", "-c", "fixed", "--grace", "1h", PAYLOAD, "ignore-term");
    wait_for_ready(run, 2);
    kill(run->pid, SIGINT);
    /* Repeats the signal, like a user who sees no reaction. */
    double next = run_now() + 0.5;
    while (!run->ended) {
        run_nap(run);
        if (!run->ended && run_now() > next) {
            kill(run->pid, SIGTERM);
            next += 0.5;
        }
    }
    run_wait(run);
    run_expect(run, -SIGINT);
    run_expect_nothing_left();
}
END_TEST

/* Signals a run twice, as timeout(1) does: the process and then its whole group. */
static bool is_one_request(const struct run_setup *setup) {
    struct run *run =
        run_start(setup, WORDS(SHOWSTOPPER, "-q", "-n", "2", "-l", "50%", "-c", "fixed", "--grace",
                             "30s", PAYLOAD, "slow-catch", "600"));
    wait_for_ready(run, 2);
    /* On a busy machine, the second signal might be late unless the run is stopped. */
    kill(run->pid, SIGSTOP);
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    kill(run->pid, SIGINT);
    kill(run->pid, SIGTERM);
    kill(run->pid, SIGCONT);
    run_wait(run);
    bool one = run_count_text(&run->out, "went in peace\n") == 2;
    run_free_clean(run);
    return one;
}

/* On a busy machine, the master may get no CPU between reading one signal and the other. */
static void expect_one_request(const struct run_setup *setup) {
    int tries = 0;
    while (!is_one_request(setup))
        ck_assert_int_lt(++tries, 5);
}

START_TEST(two_signals_at_once_count_as_one) {
    expect_one_request(NULL);
}
END_TEST

/* Between the two signals, the master reads the last figures, some of which are in all of /proc. */
START_TEST(two_signals_at_once_count_as_one_if_reading_proc_is_slow) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run_setup setup = {
        .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=400:master:list")};
    expect_one_request(&setup);
}
END_TEST

/* Fails unless the instance runs, and ends it. */
static void end_kept(pid_t instance) {
    char state;
    RUN_UNTIL(NULL, (state = run_state(instance)) != 'D'); /* it may wait for memory on disk */
    kill(instance, SIGKILL);
    run_expect_nothing_left();
    ck_assert_msg(state == 'R' || state == 'S', "it was left in state %c", state ? state : '-');
}

START_TEST(kept_instances_keep_running_after_the_end) {
    struct run *run =
        START("-n", "1", "-l", "10%", "--keep", "--duration", "700m", PAYLOAD, "spin");
    pid_t instance = run_find(run, "payload");
    run_expect(run_wait(run), 0);
    RUN_UNTIL(run, run_named("ss-", (pid_t[RUN_PIDS_MAX]){0}) == 0);
    end_kept(instance);
    run =
        START("-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "500m", "--keep", PAYLOAD, "spin");
    instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    end_kept(instance);
}
END_TEST

START_TEST(kept_instances_survive_a_killed_master) {
    struct run *run =
        START("-n", "1", "-c", "fixed", "-l", "0%", "--warmup", "500m", "--keep", PAYLOAD, "spin");
    pid_t instance = run_find(run, "payload");
    RUN_UNTIL(run, run_state(instance) == 'T');
    kill(run->pid, SIGKILL);
    run_wait(run);
    RUN_UNTIL(run, run_named("ss-", (pid_t[RUN_PIDS_MAX]){0}) == 0);
    end_kept(instance);
}
END_TEST

static bool all_in_state(char state) {
    pid_t pids[RUN_PIDS_MAX];
    size_t count = run_named("payload", pids);
    for (size_t i = 0; i < count; i++) {
        if (run_state(pids[i]) != state)
            return false;
    }
    return count == 2;
}

/* Stops the run, like Ctrl-Z, once its instances run. Returns false if it ended before. */
static bool suspend_in_time(struct run *run) {
    RUN_UNTIL(run, run->ended || strstr(run->err.bytes, "instances run"));
    if (!run->ended)
        kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run->ended || run_state(run->pid) == 'T');
    return !run->ended;
}

/*
 * Pauses a run of some seconds. Returns false if the machine was too busy: the run ended before it
 * was stopped, or before it was seen to run again.
 */
static bool pause_once(int seconds) {
    char duration[32];
    snprintf(duration, sizeof duration, "%ds", seconds);
    double begin = run_now();
    struct run *run = START("-q", "-n", "2", "-l", "100%", "-c", "fixed", "--duration", duration,
        "--json", "-", "-v", PAYLOAD, "spin");
    if (!suspend_in_time(run))
        return false;
    /* The instances may have ended when the run is stopped. */
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, all_in_state('T') || run_named("payload", pids) != 2);
    if (run_named("payload", pids) != 2) {
        kill(run->pid, SIGCONT);
        run_expect(run_wait(run), 0);
        run_free(run);
        return false;
    }
    double stopped = run_now();
    RUN_UNTIL(run, run_now() > stopped + 2);
    ck_assert(all_in_state('T'));
    double pause = run_now() - stopped;
    kill(run->pid, SIGCONT);
    RUN_UNTIL(run, run->ended || all_in_state('R'));
    bool continued = !run->ended;
    ck_assert_int_ne(run_state(run->pid), 'T');
    run_expect(run_wait(run), 0);
    /* The trace's clock stopped during the pause. */
    double took = run_now() - begin;
    ck_assert_double_ge(took, seconds + pause);
    double counted = json_number(run->out.bytes, "load_mean");
    double all = fmin(1, 2.0 / run_cpu_count());
    ck_assert_msg(
        counted > all / 2 && json_number(run->out.bytes, "duration_seconds") < took - pause,
        "the pause was counted: %s", run->out.bytes);
    run_expect_nothing_left();
    run_free(run);
    return continued;
}

START_TEST(sigtstp_stops_instances_and_is_not_counted) {
    SKIP_IF_QUOTA();
    run_greedily();
    for (int seconds = 2; !pause_once(seconds); seconds *= 4)
        ck_assert_int_le(seconds, 8);
}
END_TEST

/*
 * The first two thirds of the trace have full load, the rest none; a pause must not consume them.
 * Returns whether the mean target is that of a trace without the pause. On a busy machine the run
 * may end before it is stopped, or too late.
 */
static bool keeps_the_target(const char *trace, int thirds) {
    char steps[128], duration[32];
    snprintf(steps, sizeof steps, "0 100%%\n%ds 100%%\n%ds 0%%\n1h 0%%\n", 2 * thirds, 2 * thirds);
    snprintf(duration, sizeof duration, "%ds", 3 * thirds);
    run_write_file(trace, steps);
    struct run *run = START("-q", "-v", "-n", "1", "-c", "fixed", "-t", "file", "-T", trace,
        "--duration", duration, "--json", "-", PAYLOAD, "spin");
    if (!suspend_in_time(run))
        return false;
    double stopped = run_now();
    RUN_UNTIL(run, run_now() > stopped + 1.6 * thirds);
    kill(run->pid, SIGCONT);
    run_expect(run_wait(run), 0);
    return json_number(run->out.bytes, "target_mean") > 0.42;
}

START_TEST(sigtstp_stops_the_clock_of_the_trace) {
    const char *folder = run_make_folder();
    const char *trace = run_path(folder, "step");
    for (int thirds = 1; !keeps_the_target(trace, thirds); thirds *= 4)
        ck_assert_msg(thirds < 16, "a pause consumes the trace");
    run_remove_folder(folder);
}
END_TEST

/*
 * Starts a run whose master takes long to pause, and sends it two signals in that time. The run
 * lasts longer if it ended before the first signal.
 */
static struct run *signal_twice(int first, int second) {
    struct run_setup setup = {
        .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=20:master:event")};
    for (const char *const *length = WORDS("2s", "8s", "32s"); *length; length++) {
        struct run *run =
            run_start(&setup, WORDS(SHOWSTOPPER, "-q", "-v", "-n", "2", "-l", "50%", "-c", "fixed",
                                  "--duration", *length, PAYLOAD, "spin"));
        run_wait_text(run, "instances run");
        run_look(run);
        if (!run->ended) {
            kill(run->pid, first);
            usleep(5000);
            kill(run->pid, second);
            return run;
        }
        run_free(run);
    }
    ck_abort_msg("all runs ended before they were signaled");
    return NULL;
}

START_TEST(a_run_continued_before_it_stops_does_not_stop) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    run_expect(run_wait(signal_twice(SIGTSTP, SIGCONT)), 0);
    run_expect_nothing_left();
}
END_TEST

START_TEST(two_sigtstp_stop_a_run_once) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run *run = signal_twice(SIGTSTP, SIGTSTP);
    RUN_UNTIL(run, run->ended || run_state(run->pid) == 'T');
    if (!run->ended)
        kill(run->pid, SIGCONT);
    run_expect(run_wait(run), 0);
    run_expect_nothing_left();
}
END_TEST

/*
 * Pauses a run for half a second before its trace begins at --start-at. Returns how late the trace
 * was according to the warning; 0 if the machine was too busy: the trace had begun.
 */
static double pause_before_start(int warmup) {
    char at[32], length[32];
    static const char words[] = "the trace began ";
    snprintf(at, sizeof at, "@%lld", (long long)time(NULL) + warmup + 2);
    snprintf(length, sizeof length, "%ds", warmup);
    struct run *run = START("-q", "-n", "2", "-l", "50%", "-c", "fixed", "--warmup", length,
        "--start-at", at, "--duration", "600m", "--json", "-", "-v", PAYLOAD, "spin");
    if (suspend_in_time(run)) {
        double stopped = run_now();
        RUN_UNTIL(run, run_now() > stopped + 0.5);
        kill(run->pid, SIGCONT);
    }
    run_wait(run);
    const char *late = run->status == 0 ? strstr(run->out.bytes, words) : NULL;
    double seconds = late ? atof(late + strlen(words)) : 0;
    run_free(run);
    return seconds;
}

START_TEST(a_pause_that_delays_the_start_of_the_trace_is_reported) {
    double late = 0;
    for (int warmup = 1; late < 0.5 && warmup <= 16; warmup *= 2)
        late = pause_before_start(warmup);
    ck_assert_double_ge(late, 0.5);
    run_expect_nothing_left();
}
END_TEST

START_TEST(a_paused_run_can_be_ended) {
    struct run *run = START("-q", "-n", "2", "-l", "100%", "-v", PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    kill(run->pid, SIGTERM);
    kill(run->pid, SIGCONT);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* Like timeout(1), signals the whole group, including the executors. */
START_TEST(signal_to_whole_group_counts_once) {
    struct run_setup setup = {.prepare = lead_a_group};
    struct run *run = run_start(&setup, WORDS(SHOWSTOPPER, "-q", "-n", "2", "-l", "50%", "-c",
                                            "fixed", "--grace", "30s", PAYLOAD, "catch"));
    wait_for_ready(run, 2);
    kill(-run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    ck_assert_uint_eq(run_count(run, "caught 15\n"), 2);
    run_expect_nothing_left();
}
END_TEST

START_TEST(a_run_that_waits_for_its_start_can_be_ended) {
    struct run *run = START(
        "-v", "-n", "1", "-l", "50%", "-c", "fixed", "--start-at", "@4000000000", PAYLOAD, "spin");
    run_find(run, "ss-guardian");
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* The reader of our output sleeps. */
START_TEST(a_stalled_reader_does_not_delay_the_end) {
    struct run *run = START(
        "-q", "-n", "1", "-l", "100%", "--grace", "500m", "--iteration", "x", PAYLOAD, "flood");
    siginfo_t info = {0};
    int waiting = 0, size = fcntl(run->pipes[0], F_GETPIPE_SZ);
    ck_assert_int_gt(size, 0);
    RUN_UNTIL(NULL, ioctl(run->pipes[0], FIONREAD, &waiting) == 0 && waiting >= size);
    kill(run->pid, SIGTERM);
    RUN_UNTIL(NULL, waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                        info.si_pid == run->pid);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* Makes standard output a pipe without room, whose reader sleeps. */
static void block_output(void) {
    static const char text[4096];
    int ends[2];
    if (pipe(ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
        _exit(SURROUNDINGS_MISSING);
    while (write(ends[1], text, sizeof text) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
}

START_TEST(a_run_whose_summary_nobody_reads_can_be_ended) {
    struct run_setup setup = {.prepare = block_output};
    struct run *run = run_start(
        &setup, WORDS(SHOWSTOPPER, "-n", "1", "-l", "100%", "--json", "-", PAYLOAD, "exit", "0"));
    run_wait_text(run, "ended by workloads");
    ck_assert(!run->ended);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

static void ignore_hangups(void) {
    signal(SIGHUP, SIG_IGN);
}

/* As under nohup. */
START_TEST(ignored_signals_stay_ignored) {
    struct run_setup setup = {.prepare = ignore_hangups};
    struct run *run = run_start(&setup, WORDS(SHOWSTOPPER, "-q", "-v", "-n", "1", "-l", "50%", "-c",
                                            "fixed", "--duration", "1s", PAYLOAD, "spin"));
    run_wait_text(run, "instances run");
    kill(run->pid, SIGHUP);
    run_expect(run_wait(run), 0);
    run_expect_nothing_left();
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_run_dies_from_the_received_signal),
    SS_CASE(a_first_process_exits_with_the_number_of_the_signal),
    SS_CASE(a_stopped_instance_receives_the_termination_signal),
    SS_CASE(instances_are_killed_after_the_grace_period),
    SS_CASE(grace_period_applies_to_planned_end),
    SS_CASE(a_second_signal_cuts_the_grace_period_short),
    SS_CASE(two_signals_at_once_count_as_one),
    SS_CASE(two_signals_at_once_count_as_one_if_reading_proc_is_slow),
    SS_CASE(kept_instances_keep_running_after_the_end),
    SS_CASE(kept_instances_survive_a_killed_master),
    SS_CASE(sigtstp_stops_instances_and_is_not_counted),
    SS_CASE(sigtstp_stops_the_clock_of_the_trace),
    SS_CASE(a_run_continued_before_it_stops_does_not_stop),
    SS_CASE(two_sigtstp_stop_a_run_once),
    SS_CASE(a_pause_that_delays_the_start_of_the_trace_is_reported),
    SS_CASE(a_paused_run_can_be_ended),
    SS_CASE(signal_to_whole_group_counts_once),
    SS_CASE(a_run_that_waits_for_its_start_can_be_ended),
    SS_CASE(a_stalled_reader_does_not_delay_the_end),
    SS_CASE(a_run_whose_summary_nobody_reads_can_be_ended),
    SS_CASE(ignored_signals_stay_ignored))
/* clang-format on */
