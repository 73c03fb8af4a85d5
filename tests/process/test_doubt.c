/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A run explains why the load was off target although the duty was at its bound. A sensor prints a
 * fixed load, so that the target is out of reach however busy this machine is.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "surroundings.h"

#define BELOW "-q", "--json", "-", "-l", "60%", "-f", "command", "-F", PAYLOAD " sensor 0.1"
#define ABOVE "-q", "--json", "-", "-l", "60%", "-f", "command", "-F", PAYLOAD " sensor 0.9"

/*
 * The load by process is known after its second measurement. Measurements take at most 1 % of the
 * time, so on a busy machine the second one may come too late for a short run.
 */
static const char *const lengths[] = {"3s", "12s", "90s"};

/* Runs showstopper with these options, and again for a longer time if `part` was not printed. */
static struct run *run_until_said(
    const struct run_setup *setup, const char *part, const char *const *options) {
    const char *words[32] = {SHOWSTOPPER, "--duration"};
    struct run *run = NULL;
    for (size_t i = 0; options[i]; i++) {
        ck_assert_uint_lt(i + 3, sizeof words / sizeof *words - 1);
        words[i + 3] = options[i];
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (run)
            run_free(run);
        words[2] = lengths[i];
        run = run_start(setup, words);
        RUN_UNTIL_WITHIN(RUN_PATIENCE + 90, run, run->ended);
        if (strstr(run->out.bytes, part))
            break;
    }
    return run;
}

#define RUN_LONG(...) run_until_said(NULL, "of the CPUs, other processes ", WORDS(__VA_ARGS__))

#define REACH "the target could not be reached in "

/* Returns the percentage after these words; fails if they are missing. */
static double find_percent(const struct run *run, const char *words) {
    const char *at = strstr(run->out.bytes, words);
    double value = -1;
    ck_assert_msg(at && sscanf(at + strlen(words), "%lf %%", &value) == 1, "no '%s NUMBER' in %s",
        words, run->out.bytes);
    ck_assert(value >= 0 && value <= 100);
    return value;
}

/* Starts two processes per CPU outside the run. */
static void start_others(void) {
    for (int i = 0; i < 2 * run_cpu_count(); i++)
        run_start(NULL, WORDS(PAYLOAD, "spin", ""));
}

TEST_CASE(busy_cpus_are_reported) {
    SKIP_IF_QUOTA();
    run_greedily();
    start_others();
    struct run *run = RUN_LONG(BELOW, "-n", "1", PAYLOAD, "spin", "");
    run_expect(run, 0);
    find_percent(run, REACH);
    run_expect_text(&run->out, "no CPU was idle");
    ck_assert(find_percent(run, "of the CPUs, other processes ") > 30);
    ck_assert_uint_eq(run_count_text(&run->out, "run more"), 0);
}

/* On a busy machine, the instance may end late in a short run. */
TEST_CASE(ended_instances_and_control_that_ignores_the_load_are_reported) {
    SKIP_IF_QUOTA();
    struct run *run = run_until_said(NULL, "instances had ended",
        WORDS(BELOW, "-n", "2", "sh", "-c", "[ % = 0 ] || exit 7; exec " PAYLOAD " spin ''"));
    run_expect(run, 7);
    find_percent(run, REACH);
    find_percent(run, "the rest, always running, used ");
    run_expect_text(&run->out, "; 1 of 2 instances had ended");
    run = RUN_LONG(BELOW, "-c", "fixed", "-C", "duty=100%", "-n", "1", PAYLOAD, "spin", "");
    run_expect(run, 0);
    find_percent(run, REACH);
    find_percent(run, "the instances, always running, used ");
    run_expect_text(&run->out, "the control module 'fixed' does not follow the load");
}

TEST_CASE(load_of_other_processes_above_the_target_is_reported) {
    SKIP_IF_QUOTA();
    run_greedily();
    start_others();
    struct run *run = RUN_LONG(ABOVE, "-n", "1", PAYLOAD, "spin", "");
    run_expect(run, 0);
    find_percent(run, "other processes took more than the target in ");
    ck_assert(find_percent(run, "and used ") < 20);
    ck_assert(find_percent(run, "of the CPUs, other processes ") > 50);
}

static struct control_group group;

static void enter_group(void) {
    control_group_enter(&group);
}

TEST_CASE(a_cpu_quota_that_limits_the_run_is_reported) {
    static const char told[] = "a CPU quota limits their control group to 0.1 of ";
    run_greedily();
    SKIP_UNLESS(control_group_make(&group, "cpu"), "cgroup-quota: cannot create a control group");
    SKIP_UNLESS(control_group_limit(&group, "cpu.cfs_quota_us", "cpu.max", "10000"),
        "cgroup-quota: cannot set one");
    struct run_setup setup = {.prepare = enter_group};
    struct run *run = run_until_said(&setup, told, WORDS(BELOW, "-n", "1", PAYLOAD, "spin", ""));
    run_expect(run, 0);
    find_percent(run, REACH);
    run_expect_text(&run->out, told);
}
