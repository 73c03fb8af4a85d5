/* SPDX-License-Identifier: Apache-2.0 */

/* Runs in their own PID namespace: nothing outlives them, whatever is killed. */

#include "family.h"
#include "isolated.h"

#define INSTANCES 3
#define OPTIONS   "--isolate", "-v", "-n", "3", "-c", "fixed", "-l", "20%"

/* Clears the environment and thereby the mark. */
#define BARE "env", "-i"

#define ROUND 0.107 /* seconds */
#define TRIES 4     /* of each workload */

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
    struct isolated_run isolated =
        isolated_find(run_start(NULL, run_join(WORDS(SHOWSTOPPER, OPTIONS), command)));
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

static void wait_until_stopped(const struct isolated_run *isolated) {
    RUN_UNTIL(isolated->run, all_stopped(isolated));
}

/* Returns after the outer process has ended with this status; no process may be left inside. */
static void expect_end(const struct isolated_run *isolated, int status) {
    run_expect(run_wait(isolated->run), status);
    isolated_free_clean(isolated);
}

static void kill_outer(const struct isolated_run *isolated, size_t turn) {
    kill(isolated->run->pid, SIGKILL);
}

static void kill_first(const struct isolated_run *isolated, size_t turn) {
    kill(isolated->init, SIGKILL);
}

static void kill_master(const struct isolated_run *isolated, size_t turn) {
    kill(isolated->master, SIGKILL);
}

/* Kills one, two or all, depending on `turn`. */
static void kill_executors(const struct isolated_run *isolated, size_t turn) {
    struct family executors = members(isolated, "ss-executor");
    ck_assert_uint_eq(executors.count, INSTANCES);
    executors.count = turn % INSTANCES + 1;
    family_signal(&executors, SIGKILL);
}

/* Orphans without a mark must end with the run, too. */
static void terminate(const struct isolated_run *isolated, size_t turn) {
    kill(isolated->run->pid, SIGTERM);
}

/* The caller gets the status of the master's end, as without a namespace. */
TEST_CASE(ended_isolated_runs_leave_nothing_behind) {
    static const struct {
        void (*end)(const struct isolated_run *isolated, size_t turn);
        int status;
        const char *message;
    } rows[] = {{kill_outer, -SIGKILL, ""}, {kill_first, 125, "the first process"},
        {kill_master, -SIGKILL, ""}, {kill_executors, 125, "killed"}, {terminate, -SIGTERM, ""}};
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < WORKLOADS; k++) {
            struct isolated_run isolated = start(workloads[k]);
            wait_until_stopped(&isolated);
            rows[i].end(&isolated, k);
            run_wait(isolated.run);
            run_expect_text(&isolated.run->err, rows[i].message);
            expect_end(&isolated, rows[i].status);
        }
    }
}

TEST_CASE(killing_the_outer_process_at_its_start_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (int step = 0; step < 60; step++) {
        struct run *run = START(OPTIONS, PAYLOAD, "ignore-term");
        run_spin(0.0003 * step);
        run_end_clean(run, SIGKILL);
    }
}

/* Kills the outer process first or last, at different moments of a round. */
TEST_CASE(killing_all_run_processes_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    for (size_t i = 0; i < TRIES * WORKLOADS; i++) {
        struct isolated_run isolated = start(workloads[i % WORKLOADS]);
        if (i % 2)
            wait_until_stopped(&isolated);
        else
            run_let_pass(isolated.run, ROUND * (double)i / (double)(TRIES * WORKLOADS));
        struct family crew = members(&isolated, "ss-");
        crew.pids[crew.count++] = isolated.master;
        if (i % 4 < 2)
            kill_outer(&isolated, i);
        family_signal(&crew, SIGKILL);
        kill_outer(&isolated, i);
        run_wait(isolated.run);
        isolated_free_clean(&isolated);
    }
}

/* The stopped process cannot clean up, but the kernel ends its namespace. */
TEST_CASE(killing_the_stopped_outer_process_leaves_nothing_behind) {
    SKIP_UNLESS_ISOLATED();
    struct isolated_run isolated = start(workloads[1]);
    run_stop(NULL, isolated.run->pid);
    struct family family = members(&isolated, "payload");
    family_expect_to_run(NULL, &family, 0.02);
    kill_outer(&isolated, 0);
    expect_end(&isolated, -SIGKILL);
}

/* The figures of the run die with it, so nothing may look like a finished run. */
TEST_CASE(a_record_whose_run_was_killed_stays_interrupted) {
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
}
