/* SPDX-License-Identifier: Apache-2.0 */

/* Runs in their own PID namespace: nothing outlives them, whatever is killed. */

#include "family.h"
#include "isolated.h"

#define INSTANCES 3
#define OPTIONS   "--isolate", "-v", "-n", "3", "-c", "fixed", "-l", "20%"

/* Clears the environment and thereby the mark. */
#define BARE "env", "-i"

/* Number of moments in a round of 107 ms that are tried, and their distance in seconds. */
#define MOMENTS  10
#define INTERVAL 0.0113

static const char *const *const workloads[] = {
    WORDS(PAYLOAD, "threads"),
    WORDS(PAYLOAD, "setsid", "2"),
    WORDS(PAYLOAD, "daemon", "2"),
    WORDS(PAYLOAD, "daemon-storm", "40"),
    WORDS(BARE, PAYLOAD, "setsid", "2"),
    WORDS(BARE, PAYLOAD, "daemon", "2"),
    WORDS(BARE, PAYLOAD, "daemon-storm", "40"),
};

#define WORKLOADS (sizeof workloads / sizeof *workloads)

static struct isolated_run start(const char *const *command) {
    const char *words[32] = {SHOWSTOPPER, OPTIONS};
    size_t count = 0;
    while (words[count])
        count++;
    while (*command)
        words[count++] = *command++;
    struct isolated_run isolated = isolated_find(run_start(NULL, words));
    RUN_UNTIL(isolated.run, run_count(isolated.run, "ready\n") == INSTANCES);
    return isolated;
}

static struct family members(const struct isolated_run *isolated, const char *name) {
    struct family family;
    family.count = isolated_members(isolated->space, name, family.pids);
    return family;
}

static bool all_stopped(const struct isolated_run *isolated) {
    struct family family = members(isolated, "payload");
    return family.count >= INSTANCES && family_count(&family, 'T') == family.count;
}

/* Returns after the outer process has ended with this status; no process may be left inside. */
static void expect_end(const struct isolated_run *isolated, int status) {
    run_expect(run_wait(isolated->run), status);
    isolated_expect_nobody(isolated);
}

START_TEST(killing_the_outer_process_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i]);
        RUN_UNTIL(isolated.run, all_stopped(&isolated));
        kill(isolated.run->pid, SIGKILL);
        expect_end(&isolated, -SIGKILL);
    }
}
END_TEST

START_TEST(killing_the_outer_process_at_its_start_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (int step = 0; step < 60; step++) {
        struct run *run = START(OPTIONS, PAYLOAD, "ignore-term");
        double moment = run_now() + 0.0003 * step;
        while (run_now() < moment) {
        }
        kill(run->pid, SIGKILL);
        run_expect(run_wait(run), -SIGKILL);
        run_expect_nothing_left();
        run_free(run);
    }
}
END_TEST

START_TEST(a_killed_namespace_init_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i]);
        RUN_UNTIL(isolated.run, all_stopped(&isolated));
        kill(isolated.init, SIGKILL);
        run_wait(isolated.run);
        run_expect_text(&isolated.run->err, "the first process");
        expect_end(&isolated, 125);
    }
}
END_TEST

/* The caller gets the status of the master's end, as without a namespace. */
START_TEST(a_killed_master_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i]);
        RUN_UNTIL(isolated.run, all_stopped(&isolated));
        kill(isolated.master, SIGKILL);
        expect_end(&isolated, -SIGKILL);
    }
}
END_TEST

START_TEST(a_killed_guardian_is_replaced) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start(WORDS(PAYLOAD, "setsid", "2"));
    struct family guardian;
    RUN_UNTIL(isolated.run, (guardian = members(&isolated, "ss-guardian")).count == 1);
    family_signal(&guardian, SIGKILL);
    run_wait_text(isolated.run, "guardian ended unexpectedly");
    struct family family = members(&isolated, "payload");
    ck_assert_uint_eq(family.count, 3 * INSTANCES);
    family_expect_to_run(isolated.run, &family, 0.01);
    RUN_UNTIL(isolated.run, members(&isolated, "ss-guardian").count == 1);
    kill(isolated.run->pid, SIGTERM);
    expect_end(&isolated, -SIGTERM);
}
END_TEST

START_TEST(killed_executors_end_the_isolated_run) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i]);
        RUN_UNTIL(isolated.run, all_stopped(&isolated));
        struct family executors = members(&isolated, "ss-executor");
        ck_assert_uint_eq(executors.count, INSTANCES);
        executors.count = i % INSTANCES + 1; /* one, two or all */
        family_signal(&executors, SIGKILL);
        run_wait(isolated.run);
        run_expect_text(&isolated.run->err, "killed");
        expect_end(&isolated, 125);
    }
}
END_TEST

/* Kills the outer process first or last. */
static void kill_all(const struct isolated_run *isolated, bool outermost_first) {
    struct family crew = members(isolated, "ss-");
    crew.pids[crew.count++] = isolated->master;
    if (outermost_first)
        kill(isolated->run->pid, SIGKILL);
    family_signal(&crew, SIGKILL);
    kill(isolated->run->pid, SIGKILL);
}

static void kill_everything(const char *const *command) {
    for (int step = 0; step < MOMENTS; step++) {
        struct isolated_run isolated = start(command);
        double moment = run_now() + INTERVAL * step;
        if (step % 2)
            RUN_UNTIL(isolated.run, all_stopped(&isolated));
        else
            RUN_UNTIL(isolated.run, run_now() >= moment);
        kill_all(&isolated, step % 4 < 2);
        run_wait(isolated.run);
        isolated_expect_nobody(&isolated);
    }
}

START_TEST(killing_all_run_processes_leaves_no_threads) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[0]);
}
END_TEST

START_TEST(killing_all_run_processes_leaves_no_sessions) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[1]);
}
END_TEST

START_TEST(killing_all_run_processes_leaves_no_daemons) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[2]);
}
END_TEST

START_TEST(killing_all_run_processes_ends_a_daemon_storm) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[3]);
}
END_TEST

START_TEST(killing_all_run_processes_leaves_no_unmarked_sessions) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[4]);
}
END_TEST

START_TEST(killing_all_run_processes_leaves_no_unmarked_daemons) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[5]);
}
END_TEST

START_TEST(killing_all_run_processes_ends_an_unmarked_daemon_storm) {
    SKIP_UNLESS_ISOLATED();
    kill_everything(workloads[6]);
}
END_TEST

/* Processes with neither parent nor mark must end with the run, too. */
START_TEST(a_terminated_isolated_run_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i]);
        kill(isolated.run->pid, SIGTERM);
        expect_end(&isolated, -SIGTERM);
    }
}
END_TEST

/* The stopped process cannot clean up, but the kernel ends its namespace. */
START_TEST(killing_the_stopped_outer_process_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start(WORDS(PAYLOAD, "setsid", "2"));
    kill(isolated.run->pid, SIGSTOP);
    RUN_UNTIL(NULL, run_state(isolated.run->pid) == 'T');
    struct family family = members(&isolated, "payload");
    family_expect_to_run(NULL, &family, 0.02);
    kill(isolated.run->pid, SIGKILL);
    expect_end(&isolated, -SIGKILL);
}
END_TEST

/* The figures of the run die with it, so nothing may look like a finished run. */
START_TEST(a_record_whose_run_was_killed_stays_interrupted) {
    SKIP_UNLESS_ISOLATED();
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record"), *json = run_path(folder, "json");
    struct isolated_run isolated =
        start(WORDS("--record", record, "--json", json, PAYLOAD, "threads"));
    kill(isolated.init, SIGKILL);
    expect_end(&isolated, 125);
    ck_assert(run_exists(run_path(record, "interrupted")));
    ck_assert(!run_exists(run_path(record, "summary.json")));
    ck_assert(!run_exists(json));
    run_remove_folder(folder);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(killing_the_outer_process_leaves_nothing_behind),
    SS_CASE(killing_the_outer_process_at_its_start_leaves_nothing_behind),
    SS_CASE(a_killed_namespace_init_leaves_nothing_behind),
    SS_CASE(a_record_whose_run_was_killed_stays_interrupted),
    SS_CASE(a_killed_master_leaves_nothing_behind),
    SS_CASE(a_killed_guardian_is_replaced),
    SS_CASE(killed_executors_end_the_isolated_run),
    SS_CASE(killing_all_run_processes_leaves_no_threads),
    SS_CASE(killing_all_run_processes_leaves_no_sessions),
    SS_CASE(killing_all_run_processes_leaves_no_daemons),
    SS_CASE(killing_all_run_processes_ends_a_daemon_storm),
    SS_CASE(killing_all_run_processes_leaves_no_unmarked_sessions),
    SS_CASE(killing_all_run_processes_leaves_no_unmarked_daemons),
    SS_CASE(killing_all_run_processes_ends_an_unmarked_daemon_storm),
    SS_CASE(a_terminated_isolated_run_leaves_nothing_behind),
    SS_CASE(killing_the_stopped_outer_process_leaves_nothing_behind))
/* clang-format on */
