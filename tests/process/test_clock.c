/* SPDX-License-Identifier: Apache-2.0 */

/* The wall clock is changed, or time passes while all processes are frozen. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "family.h"
#include "json_text.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* SECONDS:MS or SECONDS:FILE, as in shim_clock.c. */
static struct run *start_shifted(const char *shift, const char *const *words) {
    const char *text = run_format("SS_TEST_CLOCK=%s", shift);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_clock"), text)};
    return run_start(&setup, words);
}

/* The bounds allow for a busy machine; an error of an hour would far exceed them. */
TEST_CASE(wall_clock_change_does_not_affect_duration) {
    static const char *const shifts[] = {"-3600:1200", "3600:1200", "-3600:0", "-90000:2400"};
    enum { COUNT = sizeof shifts / sizeof *shifts };
    struct run *runs[COUNT];
    double begin = run_now();
    for (int i = 0; i < COUNT; i++)
        runs[i] = start_shifted(
            shifts[i], WORDS(SHOWSTOPPER, "-q", "-n", "2", "-l", "40%", "-c", "fixed", "--settle",
                           "500m", "--duration", "3s", "--json", "-", PAYLOAD, "spin"));
    for (int i = 0; i < COUNT; i++) {
        const char *json = run_succeed(runs[i])->out.bytes;
        ck_assert_double_ge(run_now() - begin, 2.95);
        ck_assert(json_is(json, "ended_by", "\"duration\""));
        json_expect_between(json, "duration_seconds", 2.4, 60);
        json_expect_between(json, "samples", 1, 6);
        json_expect_between(json, "target_mean", 0.4, 0.4);
        json_expect_between(json, "duty_mean", 0.02, 0.98);
        json_expect_between(json, "load_mean", 1e-4, 1);
        json_expect_between(json, "switches_per_second", 0.01, 100);
    }
}

static const char *in_seconds(int seconds) {
    return run_format("@%lld", (long long)time(NULL) + seconds);
}

/*
 * Starts a run that waits `lead` seconds for its start time, and shifts its clock after the start
 * time has been read and well before instances start. Repeated with a later start time if that was
 * too late. `start` is the latest possible start time on the monotonic clock.
 */
static struct run *shift_before_start(
    const char *seconds, int lead, const char *act, double *start) {
    for (int tries = 0; tries < 5; tries++, lead *= 2) {
        pid_t pids[RUN_PIDS_MAX];
        const char *file = run_new_path("shift");
        const char *shift = run_format("%s:%s", seconds, file);
        *start = run_now() + lead;
        struct run *run = start_shifted(
            shift, WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%", "--start-at", in_seconds(lead),
                       "--duration", "600m", "--json", "-", PAYLOAD, act, "too early"));
        RUN_UNTIL(run, run_named("ss-guardian", pids) == 1 || run_now() > *start);
        run_write_file(file, "");
        if (run_now() < *start - 1.9) /* in_seconds() drops less than a second */
            return run;
        run_free(run);
        run_expect_nothing_left();
    }
    ck_abort_msg("this machine is too slow");
    return NULL;
}

/* The wall clock jumps past the start time; the summary reports the difference. */
TEST_CASE(a_run_starts_at_once_if_the_clock_jumps_past_its_start_time) {
    double start;
    struct run *run = run_wait(shift_before_start("3600", 100, "spin", &start));
    ck_assert_double_lt(run_now(), start);
    run_expect(run, 0);
    static const char words[] = "the trace began ";
    const char *late = strstr(run->out.bytes, words);
    ck_assert_msg(late && strstr(late, "s after --start-at"), "%s", run->out.bytes);
    ck_assert_double_gt(atof(late + strlen(words)), 3000);
    json_expect_between(run->out.bytes, "duration_seconds", 0.5, 60);
}

TEST_CASE(a_wall_clock_set_back_delays_the_start) {
    double start;
    struct run *run = shift_before_start("-3600", 3, "say", &start);
    RUN_UNTIL(run, run_now() > start + 1);
    run_look(run);
    ck_assert_msg(!run->ended && run->out.length == 0 && run->err.length == 0, "%s%s",
        run->out.bytes, run->err.bytes);
    run_end(run, SIGTERM);
}

#define RUNS   4
#define FROZEN 3.0 /* seconds */

/* The duration of the runs in seconds; they are frozen before it ends. */
static int planned;

static bool all_stopped(const struct run *const runs[RUNS], const struct family *family) {
    for (int i = 0; i < RUNS; i++) {
        if (run_state(runs[i]->pid) != 'T')
            return false;
    }
    return family_count(family, 'T') == family->count;
}

static void signal_runs(struct run *runs[RUNS], int number) {
    for (int i = 0; i < RUNS; i++)
        kill(runs[i]->pid, number);
}

/*
 * Starts several runs and stops each before it can end. Stops masters first, because they would
 * continue the other processes. Sets `all` to the stopped processes with this name, `each` per run.
 * On a busy machine, a run may end first: then returns false after the end of all runs.
 */
static bool stop_in_time(struct run *runs[RUNS], const char *name, size_t each,
    void (*prepare)(void), struct family *all) {
    struct run_setup setup = {.prepare = prepare};
    bool early = true;
    int count = 0;
    const char *duration = run_format("%ds", planned);
    while (early && count < RUNS) {
        struct run *run = runs[count] = START_IN(&setup, "-v", "-n", "2", "-l", "50%", "-c",
            "fixed", "--grace", "30s", "--duration", duration, "--json", "-", PAYLOAD, "spin");
        run_wait_text(run, "instances are running");
        run_let_pass(run, 0.4 - 0.07 * count); /* another phase of its rounds */
        if (!run->ended)
            kill(run->pid, SIGSTOP);
        RUN_UNTIL(run, run->ended || run_state(run->pid) == 'T');
        *all = family_find(name);
        early = !run->ended && all->count == (size_t)++count * each;
        family_signal(all, SIGSTOP);
    }
    if (early)
        return true;
    family_signal(all, SIGCONT);
    for (int i = 0; i < RUNS && runs[i]; i++) {
        if (!runs[i]->ended)
            kill(runs[i]->pid, SIGCONT);
        run_succeed(runs[i]);
        runs[i] = NULL;
    }
    run_expect_nothing_left();
    return false;
}

/* Returns the stopped processes with this name, after they were frozen for a while. */
static struct family start_frozen(
    struct run *runs[RUNS], const char *name, size_t each, void (*prepare)(void)) {
    struct family all = {.count = 0};
    for (int i = 0; i < RUNS; i++)
        runs[i] = NULL;
    for (planned = 5; !stop_in_time(runs, name, each, prepare, &all); planned *= 4)
        ck_assert_int_lt(planned, 80);
    RUN_UNTIL(NULL, all_stopped((const struct run *const *)runs, &all));
    run_let_pass(NULL, FROZEN);
    return all;
}

static void expect_planned_end(struct run *runs[RUNS]) {
    for (int i = 0; i < RUNS; i++) {
        run_succeed(runs[i]);
        ck_assert(json_is(runs[i]->out.bytes, "ended_by", "\"duration\""));
        json_expect_between(runs[i]->out.bytes, "duration_seconds", planned - 0.1, planned + 55);
        json_expect_between(runs[i]->out.bytes, "load_mean", 0, 1);
    }
    run_expect_nothing_left();
}

static void freeze_and_thaw(const char *name, size_t each, void (*prepare)(void)) {
    struct run *runs[RUNS];
    struct family family = start_frozen(runs, name, each, prepare);
    family_signal(&family, SIGCONT);
    signal_runs(runs, SIGCONT);
    expect_planned_end(runs);
}

/*
 * To its processes, a frozen run looks like a suspended machine. If only executors and guardian are
 * frozen, instances stay running or stopped.
 */
TEST_CASE(frozen_runs_end_as_planned) {
    freeze_and_thaw("", 6, NULL);
    family_need_nobody();
    freeze_and_thaw("", 6, family_become_nobody);
    freeze_and_thaw("ss-", 3, family_become_nobody);
}

TEST_CASE(a_thawed_master_continues_executors_and_guardian) {
    struct run *runs[RUNS];
    start_frozen(runs, "ss-", 3, NULL);
    signal_runs(runs, SIGCONT);
    expect_planned_end(runs);
}

TEST_CASE(run_signaled_while_frozen_ends) {
    struct run *runs[RUNS];
    struct family family = start_frozen(runs, "", 6, NULL);
    signal_runs(runs, SIGTERM);
    family_signal(&family, SIGCONT);
    for (int i = 0; i < RUNS; i++)
        run_expect(run_wait(runs[i]), -SIGTERM);
}
