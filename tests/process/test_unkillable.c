/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A process that no signal can end for a while: a run continues, ends without it, and reports it.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "isolated.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"

static void set(const struct control_group *group, const char *file, const char *value) {
    ck_assert_msg(control_group_limit(group, file, file, value), "%s: %s", file, value);
}

/* Moves a process into the group. Frozen by version 1, it does not even end by SIGKILL. */
static void hold_process(
    const struct control_group *group, struct run *run, pid_t held, bool is_frozen) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)held);
    set(group, "cgroup.procs", pid);
    set(group, "freezer.state", is_frozen ? "FROZEN" : "THAWED");
    /* Until the group is frozen, a signal still ends the process. */
    RUN_UNTIL(run, control_group_has(group, "freezer.state", is_frozen ? "FROZEN" : "THAWED"));
}

static pid_t hold(const struct control_group *group, struct run *run, bool is_frozen) {
    pid_t held = run_find(run, "sleep");
    hold_process(group, run, held, is_frozen);
    return held;
}

/* Thaws the group even if a test fails. */
static void thaw_after_us(const struct control_group *group) {
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    if (fork() == 0) {
        setsid(); /* Check kills the whole group of a test at its end */
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0) /* an assertion here would write into Check's file */
            ;
        control_group_limit(group, "freezer.state", "freezer.state", "THAWED");
        control_group_remove(group);
        _exit(0);
    }
    close(ends[0]);
}

static bool make_group(struct control_group *group) {
    bool made = control_group_make(group, "freezer");
    if (made)
        thaw_after_us(group);
    return made;
}

static void end_held(const struct control_group *group, struct run *run, bool is_frozen) {
    static const char warning[] = "1 killed process of instances had not ended";
    ck_assert_msg(run_count_text(&run->err, warning) == (size_t)is_frozen, "%s", run->err.bytes);
    set(group, "freezer.state", "THAWED");
    run_free_clean(run);
}

/* A run with a process that is then held, and one that ends. */
#define HELD                                                                                       \
    "-n", "1", "-l", "50%", "-c", "fixed", "--grace", "100m", "sh", "-c",                          \
        "sleep 1000 & exec \"$@\"", "sh", PAYLOAD, "spin"

static void expect_end(const char *const *words) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        struct run *run = run_start(NULL, words);
        hold(&group, run, is_frozen);
        kill(run->pid, SIGTERM);
        run_expect(run_wait(run), -SIGTERM);
        end_held(&group, run, is_frozen);
    }
    control_group_remove(&group);
}

START_TEST(the_run_ends_even_if_a_process_cannot_be_killed) {
    expect_end(WORDS(SHOWSTOPPER, HELD));
}
END_TEST

/* The first process of the namespace cannot end before it. */
START_TEST(an_isolated_run_ends_even_if_a_process_cannot_be_killed) {
    SKIP_UNLESS_ISOLATED();
    expect_end(WORDS(SHOWSTOPPER, "--isolate", HELD));
}
END_TEST

/* Like one of another user, which may not be signaled. */
START_TEST(a_sensor_that_cannot_be_killed_is_left_with_a_warning) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--grace", "100m", "-f",
        "command", "-F", PAYLOAD " sensor 0.5", "sleep", "1000");
    run_find(run, "sleep");
    hold_process(&group, run, run_find(run, "payload"), true);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_expect_text(&run->err, "did not end when it was killed");
    ck_assert_uint_eq(run_count_text(&run->err, "killed process of instances"), 0);
    set(&group, "freezer.state", "THAWED");
    run_free_clean(run);
    control_group_remove(&group);
}
END_TEST

/* The next iteration waits only briefly. */
START_TEST(the_next_iteration_does_not_wait_for_an_unkillable_process) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    const char *folder = run_make_folder(), *file = run_path(folder, "go");
    char text[512];
    snprintf(text, sizeof text, "sleep 1000 & echo ready; until test -e %s; do :; done", file);
    struct run *run = START(
        "-n", "1", "-l", "50%", "-c", "fixed", "--grace", "100m", "--repeat", "sh", "-c", text);
    run_wait_text(run, "ready");
    hold(&group, run, true);
    run_write_file(file, "");
    RUN_UNTIL(run, run_count(run, "ready\n") >= 2);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    end_held(&group, run, true);
    control_group_remove(&group);
    run_remove_folder(folder);
}
END_TEST

/* --end requests the end of the process, so the run fails. */
START_TEST(an_attached_process_that_cannot_be_killed_fails_the_run) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        char pid[16];
        struct run *target = run_start(NULL, WORDS("sh", "-c", "sleep 1000 & wait"));
        pid_t held = hold(&group, target, is_frozen);
        snprintf(pid, sizeof pid, "%d", (int)target->pid);
        struct run *run = RUN("-l", "50%", "-c", "fixed", "--grace", "100m", "--duration", "600m",
            "--end", "--attach", pid);
        run_expect(run, is_frozen ? 125 : 0);
        char state = run_state(held);
        ck_assert_int_eq(state != 0 && state != 'Z', is_frozen);
        run_free(target);
        end_held(&group, run, is_frozen);
    }
    control_group_remove(&group);
}
END_TEST

/*
 * With a quota of 1 ms per second, a killed process with much memory needs seconds to exit, and is
 * runnable meanwhile, as on a busy machine.
 */
START_TEST(an_attached_process_that_ends_slowly_is_waited_for) {
    struct control_group group;
    SKIP_UNLESS(control_group_make(&group, "cpu"), "cgroup-quota: cannot create a group");
    char pid[16];
    struct run *target = run_start(NULL, WORDS(PAYLOAD, "spin-with-mb", "256"));
    run_wait_text(target, "ready");
    snprintf(pid, sizeof pid, "%d", (int)target->pid);
    set(&group, "cgroup.procs", pid);
    if (group.unified) {
        set(&group, "cpu.max", "1000 1000000");
    } else {
        set(&group, "cpu.cfs_period_us", "1000000");
        set(&group, "cpu.cfs_quota_us", "1000");
    }
    struct run *run = RUN("-l", "50%", "-c", "fixed", "--grace", "100m", "--duration", "100m",
        "--end", "--attach", pid);
    run_expect(run, 0);
    ck_assert_int_eq(run_count(run, "had not ended"), 0);
    run_free(run);
    run_free(target);
    control_group_remove(&group);
}
END_TEST

/* The guardian kills what an executor left, and must check that it ended. */
START_TEST(survivors_of_a_killed_executor_are_reported) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        char pid[16];
        const char *folder = run_make_folder(), *record = run_path(folder, "record");
        struct run *target = run_start(NULL, WORDS("sh", "-c", "sleep 1000 & wait"));
        snprintf(pid, sizeof pid, "%d", (int)target->pid);
        struct run *run =
            START("-l", "50%", "-c", "fixed", "--record", record, "--end", "--attach", pid);
        pid_t child = run_find(target, "sleep");
        RUN_UNTIL(run, run_state(child) == 'T'); /* the run controls it */
        hold(&group, target, is_frozen);
        kill(run_find(run, "ss-executor"), SIGKILL);
        run_expect(run_wait(run), 125);
        struct run_text summary = run_read_file(run_path(folder, "record/summary.json"));
        ck_assert_msg((strstr(summary.bytes, "1 killed process of instances") != NULL) == is_frozen,
            "%s", summary.bytes);
        set(&group, "freezer.state", "THAWED");
        run_free(target);
        run_free_clean(run);
        run_remove_folder(folder);
    }
    control_group_remove(&group);
}
END_TEST

/*
 * The instance ends while others run; whether its process remains is checked at the end of the run.
 */
START_TEST(an_unkillable_process_that_ends_before_the_run_is_not_reported) {
    struct control_group group;
    SKIP_UNLESS(make_group(&group), "cgroup-v1: cannot create a freezer group");
    const char *folder = run_make_folder(), *file = run_path(folder, "go");
    char text[512];
    snprintf(text, sizeof text,
        "case %% in 0) sleep 1000 & until test -e %s; do :; done;; *) exec \"$@\";; esac", file);
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace", "100m",
            "sh", "-c", text, "sh", PAYLOAD, "spin");
        pid_t held = hold(&group, run, true);
        run_write_file(file, "");
        run_wait_text(run, "instance 0 ended");
        double given_up = run_now() + 2; /* the guardian has given up, too */
        RUN_UNTIL(run, run_now() > given_up);
        if (!is_frozen) {
            set(&group, "freezer.state", "THAWED");
            RUN_UNTIL(run, !control_group_holds(&group, held));
        }
        kill(run->pid, SIGTERM);
        run_expect(run_wait(run), -SIGTERM);
        end_held(&group, run, is_frozen);
        unlink(file);
    }
    control_group_remove(&group);
    run_remove_folder(folder);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(the_run_ends_even_if_a_process_cannot_be_killed),
    SS_CASE(an_isolated_run_ends_even_if_a_process_cannot_be_killed),
    SS_CASE(a_sensor_that_cannot_be_killed_is_left_with_a_warning),
    SS_CASE(the_next_iteration_does_not_wait_for_an_unkillable_process),
    SS_CASE(an_attached_process_that_cannot_be_killed_fails_the_run),
    SS_CASE(an_attached_process_that_ends_slowly_is_waited_for),
    SS_CASE(survivors_of_a_killed_executor_are_reported),
    SS_CASE(an_unkillable_process_that_ends_before_the_run_is_not_reported))
/* clang-format on */
