/* SPDX-License-Identifier: Apache-2.0 */

/* All descendants of an instance are throttled and ended with it, wherever they are. */

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "family.h"
#include "json_text.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* Long rounds, mostly stopped, so that a look at all processes falls into one stop. */
#define ROUNDS       "-c", "fixed", "-l", "10%", "-D", "400m"
#define START_2(...) START("-v", "-n", "2", ROUNDS, "--grace", "30s", __VA_ARGS__)

/* Durations of further tries: on a busy machine, a process may get no CPU during a short run. */
#define LONGER "16s", "60s"

/*
 * CPU time is measured for WATCHED seconds. An executor that gets no CPU stops its instance late,
 * so longer measurements follow.
 */
#define WATCHED     1.0
#define WATCHED_MAX (27 * WATCHED)

/*
 * Maximum share of a CPU that each of `count` processes may use: half of what it would use without
 * stops, but between 0.15 and 0.2, because a process with its own CPU uses 0.1.
 */
static double share_max(size_t count) {
    double unstopped = run_cpu_count() / (double)count;
    return fmin(fmax(unstopped / 2, 0.15), 0.2);
}

/* Maximum sum of all shares: twice what two instances can use if each runs a tenth of the time. */
static double sum_max(size_t count) {
    return 0.4 * fmin(run_cpu_count(), (double)count);
}

struct shares {
    double largest;
    double sum;
};

/* Waits until all are stopped at one moment and run at a later one. Returns the CPU time used. */
static struct shares measure_shares(struct run *run, size_t count, double watched) {
    double used[RUN_PIDS_MAX];
    RUN_UNTIL(run, family_is_stopped("payload", count));
    struct family family = family_find("payload");
    double begin = run_now();
    for (size_t i = 0; i < family.count; i++)
        used[i] = family_cpu_time(family.pids[i]);
    family_expect_to_run(run, &family, 0.02);
    RUN_UNTIL(run, run_now() >= begin + watched);
    struct shares shares = {0};
    for (size_t i = 0; i < family.count; i++) {
        double share = (family_cpu_time(family.pids[i]) - used[i]) / (run_now() - begin);
        shares.largest = fmax(shares.largest, share);
        shares.sum += share;
    }
    return shares;
}

/* Fails unless all are stopped and run in turn, and use about the requested share. */
static void expect_throttled(struct run *run, size_t count) {
    struct shares shares = {INFINITY, INFINITY};
    for (double watched = WATCHED; watched <= WATCHED_MAX && !(shares.largest < share_max(count) &&
                                                                 shares.sum < sum_max(count));
         watched *= 3)
        shares = measure_shares(run, count, watched);
    ck_assert_msg(shares.largest < share_max(count), "one of %zu ran for %.0f %% of the time",
        count, 100 * shares.largest);
    ck_assert_msg(shares.sum < sum_max(count), "%zu processes used %.2f CPUs", count, shares.sum);
    RUN_UNTIL(run, family_is_stopped("payload", count));
    run_end_clean(run, SIGTERM);
}

/*
 * Without pidfds, the members of a session are signaled one by one, by pid. Children that are born
 * before the first census of a late guardian are also older than an executor's first report.
 */
TEST_CASE(sessions_groups_daemons_and_orphans_are_throttled) {
    const struct {
        const char *act, *number;
        size_t count;
        struct run_setup setup;
    } rows[] = {
        {"setsid", "3", 8, {0}},
        {"groups", "3", 8, {0}},
        {"daemon", "2", 6, {0}},
        {"orphans", "2", 6, {0}},
        {"setsid", "3", 8, {.prepare = family_deny_pidfds}},
        {"setsid", "3", 8,
            {.environment = WORDS(
                 SHIM("shim_late"), "SS_TEST_LATE=1000:ss-guardian,2000:ss-executor 0:birth")}},
    };
    run_greedily();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run *run = START_IN(&rows[i].setup, "-v", "-n", "2", ROUNDS, "--grace", "30s",
            PAYLOAD, rows[i].act, rows[i].number);
        run_wait_ready(run, 2);
        expect_throttled(run, rows[i].count);
    }
}

TEST_CASE(trees_that_grow_while_they_are_searched_are_throttled) {
    run_greedily();
    struct run *run = START_2(PAYLOAD, "bloom", "3", "2");
    expect_throttled(run, 30);
}

TEST_CASE(processes_that_create_a_session_late_are_throttled) {
    run_greedily();
    const char *file = run_new_path("go");
    struct run *run = START_2(PAYLOAD, "late-setsid", file);
    RUN_UNTIL(run, family_is_stopped("payload", 4) && family_find("payload-early").count == 2);
    run_write_file(file, "");
    RUN_UNTIL(run, family_find("payload-late").count == 2);
    expect_throttled(run, 4);
}

static const char *other_loadavg;

/* As lxcfs does, with a pid that never changes. */
static void mount_loadavg(void) {
    sandbox_leave_mounts();
    if (mount(other_loadavg, "/proc/loadavg", NULL, MS_BIND, NULL) < 0)
        _exit(SANDBOX_MISSING);
}

TEST_CASE(late_sessions_are_throttled_if_the_latest_pid_is_unknown) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    run_greedily();
    const char *folder = run_make_folder(), *file = run_path(folder, "go");
    const char *text = run_format("0.00 0.01 0.05 1/99 %d\n", (int)getpid());
    const char *script = run_format("until test -e %s; do sleep 0.1; done; setsid " PAYLOAD
                                    " spin & exec " PAYLOAD " spin",
        file);
    other_loadavg = run_path(folder, "loadavg");
    run_write_file(other_loadavg, text);
    struct run_setup setup = {.prepare = mount_loadavg};
    struct run *run = START_IN(&setup, "-v", "-n", "2", ROUNDS, "sh", "-c", script);
    run_wait_text(run, "instances are running");
    run_write_file(file, "");
    RUN_UNTIL(run, family_find("payload").count == 4);
    expect_throttled(run, 4);
}

/* Returns whether a process of that name is not in `before`. */
static bool has_new(const char *name, const struct family *before) {
    struct family now = family_find(name);
    for (size_t i = 0; i < now.count; i++) {
        if (!family_has(before, now.pids[i]))
            return true;
    }
    return false;
}

/* Short-lived processes are stopped with the others, three times in succession. */
static void expect_storm_throttled(struct run *run, const char *name) {
    for (int round = 0; round < 3; round++) {
        RUN_UNTIL(run, family_all_stopped("payload") && family_find(name).count > 0);
        struct family stopped = family_find(name);
        RUN_UNTIL(run, has_new(name, &stopped));
    }
    run_end_clean(run, SIGTERM);
}

TEST_CASE(storms_of_forks_and_daemons_are_throttled) {
    expect_storm_throttled(
        START("-v", "-n", "1", ROUNDS, PAYLOAD, "fork-storm", "3"), "payload-brief");
    expect_storm_throttled(
        START("-v", "-n", "1", ROUNDS, PAYLOAD, "daemon-storm", "100"), "payload-daemon");
}

/*
 * Starts a payload that spawns children and is then stopped, in rounds of 100 s. On a busy machine
 * it may be stopped before it has spawned one; the next gets more time to run.
 */
static struct run *start_spawning(void) {
    for (const char *const *load = WORDS("0.1%", "0.3%", "1%", "3%"); *load; load++) {
        struct run *run =
            START("-v", "-n", "1", "-c", "fixed", "-l", *load, "-D", "100s", PAYLOAD, "spawn", "7");
        /* A child may be stopped before it has its name. */
        for (double deadline = run_now() + 10; run_now() < deadline; run_nap(run)) {
            if (family_find("payload").count > 1)
                return run;
        }
        run_end_clean(run, SIGTERM);
    }
    ck_abort_msg("the payload did not spawn in 3 s");
}

/* A process found during a stop must not keep running until the next stop, which is long after. */
TEST_CASE(processes_that_appear_during_a_stop_are_stopped_at_once) {
    for (int i = 0; i < 2; i++) {
        struct run *run = start_spawning();
        RUN_UNTIL_WITHIN(90, run, family_all_stopped("payload")); /* a round lasts 100 s */
        run_end(run, SIGTERM);
    }
}

/*
 * Starts instances with two daemons each for a planned time. On a busy machine that may be over
 * before all daemons are seen; the next run gets more time.
 */
static struct run *start_planned(
    const char *instances, size_t expected, const char *option, struct family *found) {
    for (const char *const *length = WORDS("4s", LONGER); *length; length++) {
        struct run *run = START(
            "-q", "-n", instances, ROUNDS, option, "--duration", *length, PAYLOAD, "daemon", "2");
        RUN_UNTIL(run, run->ended || run_count(run, "ready\n") == expected / 3);
        *found = family_find("payload");
        run_look(run);
        if (!run->ended && found->count == expected)
            return run;
        run_free(run);
        family_end_all();
    }
    ck_abort_msg("the daemons did not appear in time");
}

TEST_CASE(kept_instances_and_daemons_keep_running) {
    struct family kept;
    struct run *run = start_planned("1", 3, "--keep", &kept);
    run_succeed(run);
    family_end_kept(&kept);
    run = START("-q", "-n", "1", ROUNDS, "--keep", PAYLOAD, "daemon", "2");
    run_wait_ready(run, 1);
    RUN_UNTIL(run, family_is_stopped("payload", 3));
    kept = family_find("payload");
    run_end(run, SIGTERM);
    family_end_kept(&kept);
}

TEST_CASE(daemons_end_after_the_planned_duration) {
    struct family all;
    struct run *run = start_planned("2", 6, "-q", &all);
    run_succeed(run);
}

TEST_CASE(a_signal_ends_daemons) {
    for (int stopped = 0; stopped < 2; stopped++) {
        struct run *run = START_2(PAYLOAD, "daemon", "2");
        run_wait_ready(run, 2);
        RUN_UNTIL(run, !stopped || family_is_stopped("payload", 6));
        run_end_clean(run, SIGTERM);
    }
}

/* The leader exits by itself; the others are killed without a termination signal. */
TEST_CASE(daemons_end_with_their_leader) {
    const char *folder = run_make_folder();
    struct run_setup setup = {.folder = folder};
    struct run *run =
        START_IN(&setup, "-q", "-n", "2", "-c", "fixed", "-l", "50%", "--json", "-", "sh", "-c",
            "(setsid " PAYLOAD " ignore-term &); setsid " PAYLOAD " catch & " PAYLOAD " tree & "
            "until [ -e end ]; do sleep 0.05; done");
    run_wait_ready(run, 4);
    RUN_UNTIL(run, family_find("payload-leaf").count == 2);
    run_write_file(run_path(folder, "end"), "");
    run_succeed(run);
    ck_assert_msg(json_is(run->out.bytes, "ended_by", "\"workloads\""), "%s", run->out.bytes);
    ck_assert_uint_eq(run_count(run, "caught"), 0);
}

/* The grace period does not end with the leader. */
TEST_CASE(sessions_get_the_whole_grace_period) {
    const char *file = run_new_path("end");
    const char *command =
        run_format("setsid " PAYLOAD " outlast %s & exec " PAYLOAD " catch", file);
    struct run *run = START_2("sh", "-c", command);
    run_wait_ready(run, 4);
    RUN_UNTIL(run, family_is_stopped("payload", 4));
    kill(run->pid, SIGTERM);
    RUN_UNTIL(run, run_count(run, "caught 15\n") == 2);
    RUN_UNTIL(run, family_find("payload").count == 2);
    run_let_pass(run, 1.5);
    ck_assert_uint_eq(family_find("payload").count, 2);
    run_write_file(file, "");
    run_expect(run_wait(run), -SIGTERM);
    ck_assert_uint_eq(run_count_text(&run->out, "ended late\n"), 2);
}

TEST_CASE(sessions_are_killed_after_the_grace_period) {
    struct run *run = START("-v", "-n", "2", ROUNDS, "--grace", "700m", "sh", "-c",
        "setsid " PAYLOAD " ignore-term & exec " PAYLOAD " catch");
    run_wait_ready(run, 4);
    RUN_UNTIL(run, family_is_stopped("payload", 4));
    double begin = run_now();
    run_end(run, SIGTERM);
    ck_assert_double_ge(run_now() - begin, 0.65);
}

/* `linger`: the lifetime of each instance, which decides whether a census can find its children. */
static void expect_no_heirs(const char *linger) {
    const char *folder = run_make_folder();
    struct run *run = START("-q", "-n", "1", "-c", "fixed", "-l", "50%", "-D", "30m", "--repeat",
        PAYLOAD, "heir", run_path(folder, "lock"), linger);
    run_let_pass(run, 2.5);
    /* An heir that was left would keep the lock that every further iteration needs. */
    size_t repeats = run_count(run, "ready\n");
    RUN_UNTIL(run, run->ended || run_count(run, "ready\n") >= repeats + 2);
    run_end_clean(run, SIGTERM);
}

TEST_CASE(iterations_leave_no_process_behind) {
    expect_no_heirs("0");
    expect_no_heirs("300");
}

static void be_preferred(void) {
    setpriority(PRIO_PROCESS, 0, -20); /* if permitted */
}

/* Returns whether the shell saw no stop of a background and a foreground job. */
static bool sees_no_job_stopped(struct run **run) {
    struct run_setup setup = {.prepare = be_preferred};
    *run = RUN_IN(&setup, "-q", "-n", "1", "-c", "fixed", "-l", "50%", "-D", "50m", "bash", "-c",
        "set -m; " PAYLOAD " stops 600000 13 & wait $!; echo \"waited $?\"; " PAYLOAD
        " stops 600000 13; echo \"called $?\"");
    run_expect_nothing_left();
    const char *out = (*run)->out.bytes;
    return strstr(out, "waited 0\n") && strstr(out, "called 0\n") &&
           json_number(out, "continued") >= 13 && !strstr((*run)->err.bytes, "Stopped");
}

/*
 * With job control, every job is in its own group, and the shell is notified when one stops: it
 * would print a message and continue with the next command. On a busy machine a shell may run so
 * late that the stop is not waited for, so one successful try is enough.
 */
TEST_CASE(the_shell_sees_no_stopped_job) {
    SKIP_UNLESS(CALL("sh", "-c", "command -v bash")->status == 0, "bash: not installed");
    struct run *run = NULL;
    bool undisturbed = false;
    for (int i = 0; i < 8 && !undisturbed; i++)
        undisturbed = sees_no_job_stopped(&run);
    ck_assert_msg(undisturbed, "%s%s", run->out.bytes, run->err.bytes);
}

TEST_CASE(process_that_stops_itself_is_continued) {
    static const char *const loads[] = {"100%", "50%"};
    for (int i = 0; i < 2; i++) {
        struct run *run =
            START("-v", "-n", "2", "-c", "fixed", "-l", loads[i], PAYLOAD, "stop-self");
        RUN_UNTIL(run, run_count_text(&run->out, "again\n") >= 2);
        struct family family = family_find("payload");
        ck_assert_uint_eq(family.count, 2);
        family_expect_to_run(run, &family, 0.02);
        run_end_clean(run, SIGTERM);
    }
}
