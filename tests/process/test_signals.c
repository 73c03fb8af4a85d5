/* SPDX-License-Identifier: Apache-2.0 */

/* Ends and pauses by a signal to the master, or to the outer process of an isolated run. */

#include <fcntl.h>
#include <math.h>
#include <sys/ioctl.h>
#include <time.h>

#include "family.h"
#include "isolated.h"
#include "json_text.h"

#define TWO "-v", "-n", "2", "-c", "fixed", "-l", "50%"

/* Returns when all instances run. `words`: further options and the command. */
static struct run *start(bool isolated, const struct run_setup *setup, const char *const *words) {
    struct run *run =
        run_start(setup, run_join(WORDS(SHOWSTOPPER, TWO, isolated ? "--isolate" : "-v"), words));
    run_wait_text(run, "instances are running");
    return run;
}

static struct run *start_ready(
    bool isolated, const struct run_setup *setup, const char *const *words) {
    struct run *run = start(isolated, setup, words);
    run_wait_ready(run, 2);
    return run;
}

TEST_CASE(a_run_dies_from_the_received_signal) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct run_setup setup = {.prepare = family_dump_no_core};
    for (EACH_MODE(isolated)) {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            const char *caught = run_format("caught %d\n", numbers[i]);
            struct run *run = start_ready(
                isolated, &setup, WORDS("--grace", "30s", "--json", "-", PAYLOAD, "catch"));
            run_end(run, numbers[i]);
            ck_assert_uint_eq(run_count(run, caught), 2);
            ck_assert_msg(json_is(run->out.bytes, "ended_by", "\"signal\""), "%s", run->out.bytes);
            ck_assert_uint_eq(run_count_text(&run->out, "\"ended_by\""), 1);
            run_free_clean(run);
        }
    }
}

/* As in a container: the kernel ignores what the first process of a PID namespace sends itself. */
TEST_CASE(a_first_process_exits_with_the_number_of_the_signal) {
    SKIP_UNLESS(sandbox_have_namespaces(), "namespaces: cannot create a namespace");
    run_expect(CALL("unshare", sandbox_new_namespaces(), "--mount-proc", SHOWSTOPPER, "-n", "1",
                   "-f", "own", "-l", "50%", "sh", "-c", "kill -TERM 1; exec sleep 1000"),
        128 + SIGTERM);
}

TEST_CASE(instances_are_killed_after_the_grace_period) {
    for (EACH_MODE(isolated)) {
        struct run *run =
            start_ready(isolated, NULL, WORDS("--grace", "700m", PAYLOAD, "ignore-term"));
        double begin = run_now();
        run_end(run, SIGTERM);
        ck_assert_double_ge(run_now() - begin, 0.65);
        run_free_clean(run);
    }
}

/*
 * Fails unless a planned end is followed by the grace period. Returns false if on a busy machine
 * the instance did not ignore SIGTERM in time.
 */
static bool ends_with_grace_period(int warmup) {
    const char *length = run_format("%ds", warmup);
    double begin = run_now();
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--warmup", length, "--duration",
        "200m", "--grace", "500m", PAYLOAD, "ignore-term");
    RUN_UNTIL(run, run->ended || run_count(run, "ready\n") == 1);
    bool early = run_now() - begin < warmup;
    run_succeed(run);
    if (early)
        ck_assert_double_ge(run_now() - begin, warmup + 0.65);
    run_free_clean(run);
    return early;
}

TEST_CASE(grace_period_applies_to_planned_end) {
    for (int warmup = 3; !ends_with_grace_period(warmup); warmup *= 4)
        ck_assert_int_le(warmup, 12);
}

/* Repeats the signal until the run ends, like a user who sees no reaction. */
static void hurry(struct run *run) {
    for (double begin = run_now(); !run->ended;) {
        run_let_pass(run, 0.5);
        if (!run->ended)
            kill(run->pid, SIGTERM);
        ck_assert_msg(run_now() < begin + RUN_PATIENCE, "nothing hurries it");
    }
}

/* The second signal to the run only cuts the grace period short. */
TEST_CASE(each_instance_gets_one_termination_signal) {
    for (EACH_MODE(isolated)) {
        struct run *run = start_ready(isolated, NULL,
            WORDS("--grace", "1h", "sh", "-c",
                "trap 'echo told' TERM; echo ready; while :; do sleep 0.02; done"));
        kill(run->pid, SIGTERM);
        RUN_UNTIL(run, run_count_text(&run->out, "told\n") >= 2);
        hurry(run);
        run_expect(run, -SIGTERM);
        ck_assert_uint_eq(run_count_text(&run->out, "told\n"), 2);
        run_free_clean(run);
    }
}

/* Two signals to the process; one to its whole group; or both to the process and to the group. */
enum request { TWICE, TO_GROUP, TO_BOTH };

/* timeout(1) signals a process, and then its whole group, including the executors. */
static bool is_one_request(bool isolated, enum request request, const char *const *environment) {
    struct run_setup setup = {.prepare = family_lead_group, .environment = environment};
    struct run *run =
        start_ready(isolated, &setup, WORDS("--grace", "30s", PAYLOAD, "slow-catch", "600"));
    /* On a busy machine, the second signal might be late unless the run is stopped. */
    if (!isolated)
        run_stop(run, run->pid);
    if (request != TO_GROUP)
        kill(run->pid, SIGTERM);
    if (request == TWICE)
        kill(run->pid, SIGINT);
    else
        kill(-run->pid, SIGTERM);
    kill(run->pid, SIGCONT);
    run_wait(run);
    bool one = run_count_text(&run->out, "went in peace\n") == 2;
    run_free_clean(run);
    return one;
}

/* On a busy machine, the master may get no CPU between reading one signal and the other. */
static void expect_one_request(
    bool isolated, enum request request, const char *const *environment) {
    int tries = 0;
    while (!is_one_request(isolated, request, environment))
        ck_assert_int_lt(++tries, 5);
}

TEST_CASE(signals_to_a_process_and_its_group_count_as_one) {
    for (EACH_MODE(isolated)) {
        if (!isolated)
            expect_one_request(isolated, TWICE, NULL);
        expect_one_request(isolated, TO_GROUP, NULL);
        expect_one_request(isolated, TO_BOTH, NULL);
    }
}

/* Between the two signals, the master reads the last figures, some of which are in all of /proc. */
TEST_CASE(two_signals_at_once_count_as_one_if_reading_proc_is_slow) {
    expect_one_request(false, TWICE, WORDS(SHIM("shim_late"), "SS_TEST_LATE=400:master:list"));
}

/* The processes that handle the signal do not exist yet, so it must be kept. */
TEST_CASE(a_signal_during_startup_is_not_lost) {
    SKIP_UNLESS_ISOLATED();
    const char *program = realpath(SHOWSTOPPER, NULL);
    ck_assert_ptr_nonnull(program);
    for (int step = 0; step < 40; step++) {
        struct run *run = START("--isolate", TWO, "-q", "--duration", "30s", PAYLOAD, "spin");
        const char *name = run_format("/proc/%d/exe", (int)run->pid);
        /* Before exec the process is the test itself. */
        char target[4096] = "";
        while (strcmp(target, program) != 0) {
            ssize_t length = readlink(name, target, sizeof target - 1);
            target[length > 0 ? length : 0] = '\0';
        }
        run_spin(0.0002 * step);
        run_end_clean(run, SIGTERM);
    }
}

static void ignore_hangups(void) {
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

/* As under nohup, and in the background of a script. */
TEST_CASE(ignored_signals_stay_ignored) {
    struct run_setup setup = {.prepare = ignore_hangups};
    for (EACH_MODE(isolated)) {
        struct run *run = start(isolated, &setup, WORDS("-q", "--duration", "1h", PAYLOAD, "spin"));
        kill(run->pid, SIGHUP);
        kill(run->pid, SIGINT);
        if (isolated)
            kill(run_find(run, "ss-init"), SIGHUP);
        run_let_pass(run, 0.5);
        run_end(run, SIGTERM); /* it would have died from the first that it does not ignore */
        run_free_clean(run);
    }
}

TEST_CASE(ignored_interrupt_is_explained_once) {
    struct run_setup setup = {.prepare = ignore_hangups};
    struct run *run = START_IN(&setup, "-v", "-n", "1", "-l", "20%", PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    kill(run->pid, SIGINT);
    run_wait_text(run, run_format("end the run with kill %d", (int)run->pid));
    kill(run->pid, SIGINT);
    kill(run->pid, SIGHUP);
    run_let_pass(run, 0.5);
    run_end(run, SIGTERM);
    ck_assert_uint_eq(run_count_text(&run->err, "SIGINT is ignored"), 1);
}

static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* The run still reacts to signals, and instances inherit the caller's mask. */
TEST_CASE(signals_blocked_by_the_caller_still_end_the_run) {
    struct run_setup setup = {.prepare = block_signals};
    for (EACH_MODE(isolated)) {
        struct run *run = start(isolated, &setup, WORDS("-q", "--grace", "200m", PAYLOAD, "spin"));
        run_end(run, SIGTERM);
        run = SUCCEED_IN(&setup, TWO, isolated ? "--isolate" : "-v", "-q", PAYLOAD, "env");
        run_expect_text(&run->out, "SigBlk:\tfffffff");
    }
}

static void ignore_children(void) {
    signal(SIGCHLD, SIG_IGN);
}

/* If showstopper inherited the setting, it could not wait for its children. */
TEST_CASE(an_isolated_run_works_if_the_caller_ignores_sigchld) {
    SKIP_UNLESS_ISOLATED();
    struct run_setup setup = {.prepare = ignore_children};
    run_expect(RUN_IN(&setup, "--isolate", TWO, "-q", PAYLOAD, "exit", "7"), 7);
    struct run *run = SUCCEED_IN(&setup, "--isolate", TWO, "-q", PAYLOAD, "env");
    const char *line = strstr(run->out.bytes, "SigIgn:");
    ck_assert_msg(line != NULL, "%s", run->out.bytes);
    ck_assert(strtoull(line + strlen("SigIgn:"), NULL, 16) & 1ULL << (SIGCHLD - 1));
}

static bool are_in_state(char state) {
    struct family family = family_find("payload");
    return family.count == 2 && family_count(&family, state) == 2;
}

/* Stops the run, like Ctrl-Z, once its instances run. Returns false if it ended before. */
static bool suspend_in_time(struct run *run) {
    RUN_UNTIL(run, run->ended || strstr(run->err.bytes, "instances are running"));
    if (!run->ended)
        kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run->ended || run_state(run->pid) == 'T');
    return !run->ended;
}

/*
 * Pauses a run of some seconds. Returns false if the machine was too busy: the run ended before it
 * was stopped, or before it was seen to run again.
 */
static bool pause_once(bool isolated, int seconds) {
    const char *duration = run_format("%ds", seconds);
    double begin = run_now();
    struct run *run = START(isolated ? "--isolate" : "-v", "-q", "-v", "-n", "2", "-l", "100%",
        "-c", "fixed", "--duration", duration, "--json", "-", PAYLOAD, "spin");
    if (!suspend_in_time(run))
        return false;
    /* The instances may have ended when the run is stopped. */
    RUN_UNTIL(run, are_in_state('T') || family_find("payload").count != 2);
    bool stopped = family_find("payload").count == 2;
    double since = run_now(), pause = 0;
    if (stopped) {
        run_let_pass(run, 2);
        ck_assert(are_in_state('T'));
        pause = run_now() - since;
    }
    kill(run->pid, SIGCONT);
    RUN_UNTIL(run, run->ended || are_in_state('R'));
    bool continued = !run->ended;
    run_succeed(run);
    /* The trace's clock stopped during the pause. */
    double took = run_now() - begin, load = json_number(run->out.bytes, "load_mean");
    ck_assert_double_ge(took, seconds + pause);
    if (stopped)
        ck_assert_msg(load > fmin(1, 2.0 / run_cpu_count()) / 2 &&
                          json_number(run->out.bytes, "duration_seconds") < took - pause,
            "the pause was counted: %s", run->out.bytes);
    run_free_clean(run);
    return stopped && continued;
}

TEST_CASE(sigtstp_stops_instances_and_is_not_counted) {
    SKIP_IF_QUOTA();
    run_greedily();
    for (EACH_MODE(isolated)) {
        for (int seconds = 2; !pause_once(isolated, seconds); seconds *= 4)
            ck_assert_int_le(seconds, 8);
    }
}

static struct run *start_in_group(bool isolated, const char *const *environment) {
    run_greedily();
    struct run_setup setup = {.prepare = family_lead_group, .environment = environment};
    return start(isolated, &setup, WORDS("-q", "-l", "100%", "--duration", "1h", PAYLOAD, "spin"));
}

static pid_t find_master(struct run *run, bool isolated) {
    return isolated ? isolated_showstopper(run, true) : run->pid;
}

/* Returns whether both were always in this state, for longer than control would keep them so. */
static bool stand_still(char state, double *since) {
    if (!are_in_state(state))
        *since = run_now();
    return run_now() > *since + 0.4;
}

/* Each process of the group gets the signal, but the run pauses only once. */
TEST_CASE(sigtstp_to_the_whole_group_pauses_once) {
    for (EACH_MODE(isolated)) {
        struct run *run = start_in_group(isolated, NULL);
        pid_t master = find_master(run, isolated);
        for (int i = 0; i < 2; i++) {
            kill(-run->pid, SIGTSTP);
            RUN_UNTIL(run, run_state(run->pid) == 'T' && run_state(master) == 'T');
            double since = run_now();
            RUN_UNTIL(run, stand_still('T', &since));
            kill(-run->pid, SIGCONT);
            since = run_now();
            RUN_UNTIL(run, stand_still('R', &since));
            ck_assert(run_state(run->pid) != 'T' && run_state(master) != 'T');
        }
        run_end_clean(run, SIGTERM);
    }
}

/* A caller may continue the run as soon as that has stopped: all of it must continue. */
TEST_CASE(a_short_pause_leaves_no_process_stopped) {
    for (EACH_MODE(isolated)) {
        struct run *run = start_in_group(isolated, NULL);
        struct family instances = family_find("payload");
        for (int i = 0; i < 8; i++) {
            kill(run->pid, SIGTSTP);
            for (double deadline = run_now() + RUN_PATIENCE; run_state(run->pid) != 'T';)
                ck_assert_msg(run_now() < deadline, "it does not stop");
            kill(run->pid, SIGCONT);
            family_expect_to_run(run, &instances, 0.01);
        }
        run_end_clean(run, SIGTERM);
    }
}

/* The run has stopped, but the process outside does not know it yet. */
TEST_CASE(a_sigcont_before_the_outer_process_stops_continues_all) {
    SKIP_UNLESS_ISOLATED();
    struct run *run =
        start_in_group(true, WORDS(SHIM("shim_late"), "SS_TEST_LATE=60000:ss-init:wait"));
    struct family instances = family_find("payload");
    pid_t master = find_master(run, true);
    kill(run->pid, SIGTSTP);
    RUN_UNTIL(run, run_state(master) == 'T');
    kill(run->pid, SIGCONT);
    family_expect_to_run(run, &instances, 0.01);
    run_let_pass(run, 0.3);
    ck_assert_int_ne(run_state(run->pid), 'T');
    kill(run->pid, SIGTERM);
    hurry(run); /* ss-init waits for a signal before it reports the end, too */
    run_expect(run, -SIGTERM);
}

TEST_CASE(a_paused_run_can_be_ended) {
    for (EACH_MODE(isolated)) {
        struct run *run = start_in_group(isolated, NULL);
        ck_assert(suspend_in_time(run));
        kill(run->pid, SIGTERM);
        kill(run->pid, SIGCONT);
        run_expect(run_wait(run), -SIGTERM);
        run_free_clean(run);
    }
}

/* Otherwise it would neither pass a signal on nor report the end of the run. */
TEST_CASE(a_stopped_first_process_is_continued) {
    SKIP_UNLESS_ISOLATED();
    struct run *run = start_ready(true, NULL, WORDS("--grace", "30s", PAYLOAD, "catch"));
    pid_t first = run_find(run, "ss-init");
    for (int i = 0; i < 3; i++) {
        kill(first, SIGSTOP);
        RUN_UNTIL(run, run_state(first) == 'S');
    }
    kill(first, SIGSTOP);
    run_end(run, SIGTERM);
    ck_assert_uint_eq(run_count(run, "caught 15\n"), 2);
}

TEST_CASE(a_run_that_waits_for_its_start_can_be_ended) {
    struct run *run = START(
        "-v", "-n", "1", "-l", "50%", "-c", "fixed", "--start-at", "@4000000000", PAYLOAD, "spin");
    run_find(run, "ss-guardian");
    run_end(run, SIGTERM);
}

/* The reader of our output sleeps. */
TEST_CASE(a_stalled_reader_does_not_delay_the_end) {
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
}

/* Makes standard output a pipe without room, whose reader sleeps. */
static void block_output(void) {
    static const char text[4096];
    int ends[2];
    if (pipe(ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
        _exit(SANDBOX_MISSING);
    while (write(ends[1], text, sizeof text) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
}

TEST_CASE(a_run_whose_summary_is_not_read_can_be_ended) {
    struct run_setup setup = {.prepare = block_output};
    struct run *run =
        START_IN(&setup, "-n", "1", "-l", "100%", "--json", "-", PAYLOAD, "exit", "0");
    run_wait_text(run, "ended by workloads");
    ck_assert(!run->ended);
    run_end(run, SIGTERM);
}
