/* SPDX-License-Identifier: Apache-2.0 */

/* The wall clock is changed, or time passes while all processes are frozen. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "family.h"
#include "json_text.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"

/* SECONDS:MS, as in shim_clock.c. */
static struct run *start_shifted(const char *shift, const char *const *words) {
    char text[64];
    snprintf(text, sizeof text, "SS_TEST_CLOCK=%s", shift);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_clock"), text)};
    return run_start(&setup, words);
}

static void expect_between(const char *json, const char *name, double low, double high) {
    double value = json_number(json, name);
    ck_assert_msg(
        value >= low && value <= high, "%s is not between %g and %g in %s", name, low, high, json);
}

/* The bounds allow for a busy machine; an error of an hour would far exceed them. */
START_TEST(wall_clock_change_does_not_affect_duration) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    static const char *const shifts[] = {"-3600:1200", "3600:1200", "-3600:0", "-90000:2400"};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        double begin = run_now();
        struct run *run = run_wait(start_shifted(
            shifts[i], WORDS(SHOWSTOPPER, "-q", "-n", "2", "-l", "40%", "-c", "fixed", "--settle",
                           "500m", "--duration", "3s", "--json", "-", PAYLOAD, "spin")));
        run_expect(run, 0);
        ck_assert_double_ge(run_now() - begin, 2.95);
        ck_assert(json_is(run->out.bytes, "ended_by", "\"duration\""));
        expect_between(run->out.bytes, "duration_seconds", 2.4, 60);
        expect_between(run->out.bytes, "samples", 1, 6);
        expect_between(run->out.bytes, "target_mean", 0.4, 0.4);
        expect_between(run->out.bytes, "duty_mean", 0.2, 0.6);
        expect_between(run->out.bytes, "load_mean", 1e-4, 1);
        expect_between(run->out.bytes, "switches_per_second", 1, 100);
        run_expect_nothing_left();
        run_free(run);
    }
}
END_TEST

static const char *in_seconds(int seconds) {
    static char at[32];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(at, sizeof at, "@%lld", (long long)now.tv_sec + seconds);
    return at;
}

/* The wall clock jumps past the start time; the summary reports the difference. */
START_TEST(a_run_starts_at_once_if_the_clock_jumps_past_its_start_time) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run *run = run_wait(start_shifted(
        "3600:500", WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%", "--start-at", in_seconds(3),
                        "--duration", "600m", "--json", "-", PAYLOAD, "spin")));
    run_expect(run, 0);
    run_expect_text(&run->out, "s after --start-at");
    expect_between(run->out.bytes, "duration_seconds", 0.5, 60);
    run_expect_nothing_left();
}
END_TEST

/* The clock goes back an hour, so instances must not start within the next seconds. */
START_TEST(a_wall_clock_set_back_delays_the_start) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run *run =
        start_shifted("-3600:500", WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%", "--start-at",
                                       in_seconds(3), PAYLOAD, "say", "too early"));
    double moment = run_now() + 4;
    RUN_UNTIL(run, run_now() > moment);
    ck_assert_msg(!run->ended && run->out.length == 0, "%s", run->out.bytes);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

#define RUNS     4
#define FROZEN   3.0  /* seconds */
#define DURATION "5s" /* they are frozen before it ends */

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

/* Starts several runs, each in a different phase of its rounds. */
static void start_all(struct run *runs[RUNS], void (*prepare)(void)) {
    struct run_setup setup = {.prepare = prepare};
    for (int i = 0; i < RUNS; i++)
        runs[i] = run_start(
            &setup, WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace",
                        "30s", "--duration", DURATION, "--json", "-", PAYLOAD, "spin"));
    for (int i = 0; i < RUNS; i++)
        run_wait_text(runs[i], "instances run");
    double moment = run_now() + 0.4;
    RUN_UNTIL(NULL, run_now() > moment);
}

/* Stops the masters first, because they would continue the other processes. */
static void freeze(struct run *runs[RUNS], const struct family *family) {
    signal_runs(runs, SIGSTOP);
    for (int i = 0; i < RUNS; i++)
        RUN_UNTIL(NULL, run_state(runs[i]->pid) == 'T');
    family_signal(family, SIGSTOP);
    RUN_UNTIL(NULL, all_stopped((const struct run *const *)runs, family));
    double moment = run_now() + FROZEN;
    RUN_UNTIL(NULL, run_now() > moment);
}

static void expect_planned_end(struct run *runs[RUNS]) {
    for (int i = 0; i < RUNS; i++) {
        run_expect(run_wait(runs[i]), 0);
        ck_assert(json_is(runs[i]->out.bytes, "ended_by", "\"duration\""));
        expect_between(runs[i]->out.bytes, "duration_seconds", 4.9, 60);
        expect_between(runs[i]->out.bytes, "load_mean", 0, 1);
        run_free(runs[i]);
    }
    run_expect_nothing_left();
}

static void freeze_and_thaw(const char *name, size_t each, void (*prepare)(void)) {
    struct run *runs[RUNS];
    start_all(runs, prepare);
    struct family family = family_find(name);
    ck_assert_uint_eq(family.count, RUNS * each);
    freeze(runs, &family);
    family_signal(&family, SIGCONT);
    signal_runs(runs, SIGCONT);
    expect_planned_end(runs);
}

/* To its processes, a frozen run looks like a suspended machine. */
START_TEST(a_frozen_run_ends_as_planned) {
    freeze_and_thaw("", 6, NULL);
}
END_TEST

START_TEST(an_unprivileged_frozen_run_ends_as_planned) {
    family_need_nobody();
    freeze_and_thaw("", 6, family_become_nobody);
}
END_TEST

/* Instances stay running or stopped while executors and guardian are frozen. */
START_TEST(a_run_with_frozen_control_processes_ends_as_planned) {
    freeze_and_thaw("ss-", 3, NULL);
}
END_TEST

START_TEST(an_unprivileged_run_with_a_frozen_crew_ends_as_planned) {
    family_need_nobody();
    freeze_and_thaw("ss-", 3, family_become_nobody);
}
END_TEST

START_TEST(a_thawed_master_continues_executors_and_guardian) {
    struct run *runs[RUNS];
    start_all(runs, NULL);
    struct family family = family_find("ss-");
    freeze(runs, &family);
    signal_runs(runs, SIGCONT);
    expect_planned_end(runs);
}
END_TEST

START_TEST(run_signaled_while_frozen_ends) {
    struct run *runs[RUNS];
    start_all(runs, NULL);
    struct family family = family_find("");
    freeze(runs, &family);
    signal_runs(runs, SIGTERM);
    family_signal(&family, SIGCONT);
    for (int i = 0; i < RUNS; i++)
        run_expect(run_wait(runs[i]), -SIGTERM);
    run_expect_nothing_left();
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(wall_clock_change_does_not_affect_duration),
    SS_CASE(a_run_starts_at_once_if_the_clock_jumps_past_its_start_time),
    SS_CASE(a_wall_clock_set_back_delays_the_start),
    SS_CASE(a_frozen_run_ends_as_planned),
    SS_CASE(an_unprivileged_frozen_run_ends_as_planned),
    SS_CASE(a_run_with_frozen_control_processes_ends_as_planned),
    SS_CASE(an_unprivileged_run_with_a_frozen_crew_ends_as_planned),
    SS_CASE(a_thawed_master_continues_executors_and_guardian),
    SS_CASE(run_signaled_while_frozen_ends))
/* clang-format on */
