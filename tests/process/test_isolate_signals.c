/* SPDX-License-Identifier: Apache-2.0 */

/* Signals to the outer process of runs in a PID namespace. */

#include "family.h"
#include "isolated.h"
#include "json_text.h"

static void wait_for_ready(struct run *run, size_t count) {
    RUN_UNTIL(run, run_count(run, "ready\n") == count);
}

static struct isolated_run start(const struct run_setup *setup, const char *const *words) {
    struct isolated_run isolated = isolated_find(run_start(setup, words));
    wait_for_ready(isolated.run, 2);
    return isolated;
}

static void end_by(int number) {
    char caught[32];
    snprintf(caught, sizeof caught, "caught %d\n", number);
    struct isolated_run isolated =
        start(NULL, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "30s", "--json", "-", PAYLOAD, "catch"));
    kill(isolated.run->pid, number);
    run_expect(run_wait(isolated.run), -number);
    const struct run_text *out = &isolated.run->out;
    ck_assert_uint_eq(run_count(isolated.run, caught), 2);
    ck_assert_msg(json_is(out->bytes, "ended_by", "\"signal\""), "%s", out->bytes);
    ck_assert_uint_eq(run_count_text(out, "\"ended_by\""), 1);
    isolated_expect_nobody(&isolated);
}

START_TEST(an_isolated_run_dies_from_the_received_signal) {
    SKIP_UNLESS_ISOLATED();
    end_by(SIGINT);
    end_by(SIGTERM);
    end_by(SIGHUP);
    end_by(SIGQUIT);
}
END_TEST

/* Repeats the signal until the run ends, like a user who sees no reaction. */
static void hurry(struct run *run) {
    double begin = run_now(), next = begin + 0.5;
    while (!run->ended) {
        run_nap(run);
        if (!run->ended && run_now() > next) {
            kill(run->pid, SIGTERM);
            next += 0.5;
        }
        ck_assert_msg(run_now() < begin + RUN_PATIENCE, "nothing hurries it");
    }
}

#define COUNTS_TERMS "trap 'echo told' TERM; echo ready; while :; do sleep 0.02; done"

START_TEST(each_instance_gets_one_termination_signal) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated =
        start(NULL, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "1h", "sh", "-c", COUNTS_TERMS));
    kill(isolated.run->pid, SIGTERM);
    RUN_UNTIL(isolated.run, run_count_text(&isolated.run->out, "told\n") >= 2);
    hurry(isolated.run);
    run_expect(isolated.run, -SIGTERM);
    ck_assert_uint_eq(run_count_text(&isolated.run->out, "told\n"), 2);
    isolated_expect_nobody(&isolated);
}
END_TEST

static void lead_a_group(void) {
    setpgid(0, 0);
}

/*
 * Signals a run's whole group; with `both`, first the process, as timeout(1) does. Returns whether
 * that was one request. It may be two if a process is late between the two signals.
 */
static bool is_one_request(bool both) {
    struct run_setup setup = {.prepare = lead_a_group};
    struct isolated_run isolated =
        start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "30s", PAYLOAD, "slow-catch", "700"));
    if (both)
        kill(isolated.run->pid, SIGTERM);
    kill(-isolated.run->pid, SIGTERM);
    run_expect(run_wait(isolated.run), -SIGTERM);
    bool one = run_count_text(&isolated.run->out, "went in peace\n") == 2;
    isolated_expect_nobody(&isolated);
    return one;
}

START_TEST(signal_to_whole_group_counts_once) {
    SKIP_UNLESS_ISOLATED();
    for (int both = 0; both < 2; both++) {
        int tries = 0;
        while (!is_one_request(both))
            ck_assert_int_lt(++tries, 5);
    }
}
END_TEST

START_TEST(a_second_signal_cuts_the_grace_period_short) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated =
        start(NULL, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "1h", PAYLOAD, "ignore-term"));
    kill(isolated.run->pid, SIGINT);
    hurry(isolated.run);
    run_expect(isolated.run, -SIGINT);
    isolated_expect_nobody(&isolated);
}
END_TEST

START_TEST(instances_are_killed_after_the_grace_period) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated =
        start(NULL, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "700m", PAYLOAD, "ignore-term"));
    double begin = run_now();
    kill(isolated.run->pid, SIGTERM);
    run_expect(run_wait(isolated.run), -SIGTERM);
    ck_assert_double_ge(run_now() - begin, 0.65);
    isolated_expect_nobody(&isolated);
}
END_TEST

/* The processes that handle the signal do not exist yet, so it must be kept. */
START_TEST(a_signal_during_startup_is_not_lost) {
    SKIP_UNLESS_ISOLATED();
    const char *program = realpath(SHOWSTOPPER, NULL);
    ck_assert_ptr_nonnull(program);
    for (int step = 0; step < 80; step++) {
        struct run *run = START(ISOLATE, "-q", "--duration", "30s", PAYLOAD, "spin");
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/exe", (int)run->pid);
        /* Before exec the process is the test itself. */
        char target[4096] = "";
        while (strcmp(target, program) != 0) {
            ssize_t length = readlink(name, target, sizeof target - 1);
            target[length > 0 ? length : 0] = '\0';
        }
        double moment = run_now() + 0.0001 * step;
        while (run_now() < moment) {
        }
        kill(run->pid, SIGTERM);
        run_expect(run_wait(run), -SIGTERM);
        run_expect_nothing_left();
        run_free(run);
    }
}
END_TEST

static void ignore_hangups(void) {
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

/* As under nohup, and in the background of a script. */
START_TEST(ignored_signals_stay_ignored) {
    SKIP_UNLESS_ISOLATED();
    struct run_setup setup = {.prepare = ignore_hangups};
    struct run *run =
        run_start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "-q", "--duration", "1h", PAYLOAD, "spin"));
    struct isolated_run isolated = isolated_find(run);
    kill(run->pid, SIGHUP);
    kill(run->pid, SIGINT);
    kill(isolated.init, SIGHUP);
    double begin = run_now();
    RUN_UNTIL(run, run->ended || run_now() > begin + 0.5);
    /* The run would die from the first signal that it does not ignore. */
    run_end(run, SIGTERM);
    isolated_expect_nobody(&isolated);
}
END_TEST

static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* The run still reacts to signals, and instances inherit the caller's mask. */
START_TEST(signals_blocked_by_the_caller_still_end_the_run) {
    SKIP_UNLESS_ISOLATED();
    struct run_setup setup = {.prepare = block_signals};
    struct run *run =
        run_start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "-q", "--grace", "200m", PAYLOAD, "spin"));
    struct isolated_run isolated = isolated_find(run);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    isolated_expect_nobody(&isolated);
    run = run_wait(run_start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "-q", PAYLOAD, "env")));
    run_expect(run, 0);
    ck_assert_msg(strstr(run->out.bytes, "SigBlk:\tfffffff") != NULL, "%s", run->out.bytes);
}
END_TEST

static void ignore_children(void) {
    signal(SIGCHLD, SIG_IGN);
}

static unsigned long long ignored_signals(const struct run *run) {
    const char *line = strstr(run->out.bytes, "SigIgn:");
    ck_assert_msg(line != NULL, "%s", run->out.bytes);
    return strtoull(line + strlen("SigIgn:"), NULL, 16);
}

/* If showstopper inherited the setting, it could not wait for its children. */
START_TEST(a_run_works_if_the_caller_ignores_sigchld) {
    SKIP_UNLESS_ISOLATED();
    struct run_setup setup = {.prepare = ignore_children};
    struct run *run =
        run_wait(run_start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "-q", PAYLOAD, "exit", "7")));
    run_expect(run, 7);
    run = run_wait(run_start(&setup, WORDS(SHOWSTOPPER, ISOLATE, "-q", PAYLOAD, "env")));
    run_expect(run, 0);
    ck_assert(ignored_signals(run) & 1ULL << (SIGCHLD - 1));
    run_expect_nothing_left();
}
END_TEST

static bool are_in_state(struct run *run, char state) {
    run_look(run);
    struct family family = family_find("payload");
    return family.count == 2 && family_count(&family, state) == 2;
}

/* No process under control stays stopped or running for this long, in seconds. */
#define STANDSTILL 0.4

/* Waits until all have been in this state at each look for `seconds`. */
static bool stay(struct run *run, char state, double seconds, double *since) {
    if (!are_in_state(run, state))
        *since = run_now();
    return run_now() > *since + seconds;
}

/* `target`: the outer process, or its group as a negative number. */
static void pause_and_continue(const struct isolated_run *isolated, pid_t target, double pause) {
    struct run *run = isolated->run;
    kill(target, SIGTSTP);
    RUN_UNTIL(run, run_state(run->pid) == 'T' && run_state(isolated->master) == 'T');
    double since = run_now();
    RUN_UNTIL(run, stay(run, 'T', pause, &since));
    kill(target, SIGCONT);
    RUN_UNTIL(run, are_in_state(run, 'R'));
    since = run_now();
    RUN_UNTIL(run, stay(run, 'R', 0.2, &since));
    ck_assert_int_ne(run_state(run->pid), 'T');
    ck_assert_int_ne(run_state(isolated->master), 'T');
}

static struct isolated_run start_in_group_with(const char *const *environment) {
    run_greedily();
    struct run_setup setup = {.prepare = lead_a_group, .environment = environment};
    return isolated_find(run_start(&setup,
        WORDS(SHOWSTOPPER, ISOLATE, "-q", "-l", "100%", "--duration", "1h", PAYLOAD, "spin")));
}

static struct isolated_run start_in_group(void) {
    return start_in_group_with(NULL);
}

/*
 * Pauses a run of some seconds. Returns false if the machine was too busy: the run ended before it
 * was stopped, or before it was seen to run again.
 */
static bool pause_once(int seconds) {
    char duration[32];
    run_greedily();
    snprintf(duration, sizeof duration, "%ds", seconds);
    double begin = run_now();
    struct run *run = START(ISOLATE, "-q", "-l", "100%", "--duration", duration, PAYLOAD, "spin");
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run->ended || strstr(run->err.bytes, "instances run"));
    if (!run->ended)
        kill(run->pid, SIGTSTP);
    /* The instances may have ended when the run is stopped. */
    RUN_UNTIL(run, run->ended || (run_state(run->pid) == 'T' &&
                                     (are_in_state(run, 'T') || run_named("payload", pids) != 2)));
    bool stopped = !run->ended && run_named("payload", pids) == 2;
    double pause = 0, since = run_now();
    if (stopped) {
        RUN_UNTIL(run, stay(run, 'T', 2, &since));
        pause = run_now() - since;
    }
    if (!run->ended)
        kill(run->pid, SIGCONT);
    since = run_now();
    RUN_UNTIL(run, run->ended || stay(run, 'R', 0.2, &since));
    bool continued = !run->ended;
    run_expect(run_wait(run), 0);
    run_expect_nothing_left();
    /* The trace's clock stopped during the pause. */
    ck_assert_double_ge(run_now() - begin, seconds + pause);
    run_free(run);
    return stopped && continued;
}

START_TEST(sigtstp_stops_instances_and_the_clock_of_the_trace) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start_in_group();
    pause_and_continue(&isolated, isolated.run->pid, STANDSTILL);
    run_end(isolated.run, SIGTERM);
    isolated_expect_nobody(&isolated);
    for (int seconds = 2; !pause_once(seconds); seconds *= 4)
        ck_assert_int_le(seconds, 8);
}
END_TEST

/* Each process of the group gets the signal, but the run pauses only once. */
START_TEST(sigtstp_to_the_whole_group_pauses_once) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start_in_group();
    for (int i = 0; i < 10; i++)
        pause_and_continue(&isolated, -isolated.run->pid, STANDSTILL);
    kill(isolated.run->pid, SIGTERM);
    run_expect(run_wait(isolated.run), -SIGTERM);
    isolated_expect_nobody(&isolated);
}
END_TEST

/*
 * A caller may continue the outer process as soon as that is stopped: all of the run must continue.
 */
START_TEST(a_short_pause_leaves_no_process_stopped) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start_in_group();
    struct run *run = isolated.run;
    struct family instances = family_find("payload");
    for (int i = 0; i < 15; i++) {
        kill(run->pid, SIGTSTP);
        double deadline = run_now() + RUN_PATIENCE;
        while (run_state(run->pid) != 'T')
            ck_assert_msg(run_now() < deadline, "it does not stop");
        kill(run->pid, SIGCONT);
        family_expect_to_run(run, &instances, 0.01);
    }
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    isolated_expect_nobody(&isolated);
}
END_TEST

/* The run has stopped, but the process outside does not know it yet. */
START_TEST(a_sigcont_before_the_outer_process_stops_continues_all) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated =
        start_in_group_with(WORDS(SHIM("shim_late"), "SS_TEST_LATE=60000:ss-init:wait"));
    struct run *run = isolated.run;
    struct family instances = family_find("payload");
    kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run_state(isolated.master) == 'T');
    kill(run->pid, SIGCONT);
    family_expect_to_run(run, &instances, 0.01);
    double since = run_now();
    RUN_UNTIL(run, run_now() > since + 0.3);
    ck_assert_int_ne(run_state(run->pid), 'T');
    kill(run->pid, SIGTERM);
    hurry(run); /* ss-init waits for a signal before it reports the end, too */
    run_expect(run, -SIGTERM);
    isolated_expect_nobody(&isolated);
}
END_TEST

START_TEST(a_paused_run_can_be_ended) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start_in_group();
    struct run *run = isolated.run;
    kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    kill(run->pid, SIGTERM);
    kill(run->pid, SIGCONT);
    run_expect(run_wait(run), -SIGTERM);
    isolated_expect_nobody(&isolated);
}
END_TEST

/* Otherwise it would neither pass a signal on nor report the end of the run. */
START_TEST(a_stopped_first_process_is_continued) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated =
        start(NULL, WORDS(SHOWSTOPPER, ISOLATE, "--grace", "30s", PAYLOAD, "catch"));
    for (int i = 0; i < 3; i++) {
        kill(isolated.init, SIGSTOP);
        RUN_UNTIL(isolated.run, run_state(isolated.init) == 'S');
    }
    kill(isolated.init, SIGSTOP);
    kill(isolated.run->pid, SIGTERM);
    run_expect(run_wait(isolated.run), -SIGTERM);
    ck_assert_uint_eq(run_count(isolated.run, "caught 15\n"), 2);
    isolated_expect_nobody(&isolated);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(an_isolated_run_dies_from_the_received_signal),
    SS_CASE(each_instance_gets_one_termination_signal),
    SS_CASE(signal_to_whole_group_counts_once),
    SS_CASE(a_second_signal_cuts_the_grace_period_short),
    SS_CASE(instances_are_killed_after_the_grace_period),
    SS_CASE(a_signal_during_startup_is_not_lost),
    SS_CASE(ignored_signals_stay_ignored),
    SS_CASE(signals_blocked_by_the_caller_still_end_the_run),
    SS_CASE(a_run_works_if_the_caller_ignores_sigchld),
    SS_CASE(sigtstp_stops_instances_and_the_clock_of_the_trace),
    SS_CASE(sigtstp_to_the_whole_group_pauses_once),
    SS_CASE(a_short_pause_leaves_no_process_stopped),
    SS_CASE(a_sigcont_before_the_outer_process_stops_continues_all),
    SS_CASE(a_paused_run_can_be_ended),
    SS_CASE(a_stopped_first_process_is_continued))
/* clang-format on */
