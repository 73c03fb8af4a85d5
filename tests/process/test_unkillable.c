/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A process that no signal can end for a while: a run continues, ends without it, and reports it.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "isolated.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"

#define REMOVALS 1000 /* attempts */

static void set(const char *file, const char *value) {
    ck_assert_msg(control_group_limit(file, file, value), "%s: %s", file, value);
}

/* Moves a process into the group and freezes or thaws it. SIGKILL does not end a frozen process. */
static void hold_process(struct run *run, pid_t held, bool is_frozen) {
    const char *pid = run_pid_text(held);
    set("cgroup.procs", pid);
    set("freezer.state", is_frozen ? "FROZEN" : "THAWED");
    /* Until the group is frozen, a signal still ends the process. */
    RUN_UNTIL(run, control_group_has("freezer.state", is_frozen ? "FROZEN" : "THAWED"));
}

static pid_t hold(struct run *run, bool is_frozen) {
    pid_t held = run_find(run, "sleep");
    hold_process(run, held, is_frozen);
    return held;
}

/*
 * Thaws the group even if a test fails. The child outlives the test, and must assert nothing: each
 * assertion writes into a file that Check reads at this time.
 */
static void thaw_after_us(void) {
    const char *group = control_group_path(), *state = run_path(group, "freezer.state");
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    if (fork() == 0) {
        setsid(); /* Check kills the whole group of a test at its end */
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0)
            ;
        int file = open(state, O_WRONLY | O_CLOEXEC);
        bool is_thawed = file >= 0 && write(file, "THAWED", 6) == 6;
        for (int i = 0; i < REMOVALS && rmdir(group) < 0 && errno == EBUSY; i++)
            usleep(10000); /* its processes are about to end */
        _exit(!is_thawed);
    }
    close(ends[0]);
}

static void need_freezer(void) {
    SKIP_UNLESS(control_group_make("freezer"), "cgroup-v1: cannot create a freezer group");
    thaw_after_us();
}

static void end_held(struct run *run, bool is_frozen) {
    static const char warning[] = "1 killed process of instances had not ended";
    ck_assert_msg(run_count_text(&run->err, warning) == (size_t)is_frozen, "%s", run->err.bytes);
    set("freezer.state", "THAWED");
    run_free_clean(run);
}

/* One process is held, the other ends. The first process of a namespace cannot end before it. */
TEST_CASE(the_run_ends_even_if_a_process_cannot_be_killed) {
    need_freezer();
    for (EACH_MODE(isolated)) {
        for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
            struct run *run = START(isolated ? "--isolate" : "-v", "-n", "1", "-l", "50%", "-c",
                "fixed", "--grace", "100m", "sh", "-c", "sleep 1000 & exec \"$@\"", "sh", PAYLOAD,
                "spin");
            hold(run, is_frozen);
            run_end(run, SIGTERM);
            end_held(run, is_frozen);
        }
    }
}

/* As if the sensor belonged to another user, whose processes may not be signaled. */
TEST_CASE(a_sensor_that_cannot_be_killed_is_left_with_a_warning) {
    need_freezer();
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--grace", "100m", "-f",
        "command", "-F", PAYLOAD " sensor 0.5", "sleep", "1000");
    run_find(run, "sleep");
    hold_process(run, run_find(run, "payload"), true);
    run_end(run, SIGTERM);
    run_expect_text(&run->err, "did not end when it was killed");
    ck_assert_uint_eq(run_count_text(&run->err, "killed process of instances"), 0);
    set("freezer.state", "THAWED");
}

TEST_CASE(the_next_iteration_does_not_wait_for_an_unkillable_process) {
    need_freezer();
    const char *file = run_new_path("go");
    const char *text = run_format("sleep 1000 & echo ready; until test -e %s; do :; done", file);
    struct run *run = START(
        "-n", "1", "-l", "50%", "-c", "fixed", "--grace", "100m", "--repeat", "sh", "-c", text);
    run_wait_text(run, "ready");
    hold(run, true);
    run_write_file(file, "");
    RUN_UNTIL(run, run_count(run, "ready\n") >= 2);
    run_end(run, SIGTERM);
    end_held(run, true);
}

/* --end requests the end of the process, so the run fails. */
TEST_CASE(an_attached_process_that_cannot_be_killed_fails_the_run) {
    need_freezer();
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        struct run *target = run_start(NULL, WORDS("sh", "-c", "sleep 1000 & wait"));
        pid_t held = hold(target, is_frozen);
        const char *pid = run_pid_text(target->pid);
        struct run *run = RUN("-l", "50%", "-c", "fixed", "--grace", "100m", "--duration", "600m",
            "--end", "--attach", pid);
        run_expect(run, is_frozen ? 125 : 0);
        ck_assert_int_eq(run_lives(held), is_frozen);
        run_free(target);
        end_held(run, is_frozen);
    }
}

/*
 * With a quota of 1 ms per second, a killed process with much memory needs seconds to exit, and is
 * runnable meanwhile, as on a busy machine.
 */
TEST_CASE(an_attached_process_that_ends_slowly_is_waited_for) {
    SKIP_UNLESS(control_group_make("cpu"), "cgroup-quota: cannot create a group");
    struct run *target = run_start(NULL, WORDS(PAYLOAD, "spin-with-mb", "256"));
    run_wait_text(target, "ready");
    const char *pid = run_pid_text(target->pid);
    set("cgroup.procs", pid);
    if (control_group_is_unified()) {
        set("cpu.max", "1000 1000000");
    } else {
        set("cpu.cfs_period_us", "1000000");
        set("cpu.cfs_quota_us", "1000");
    }
    struct run *run = SUCCEED("-l", "50%", "-c", "fixed", "--grace", "100m", "--duration", "100m",
        "--end", "--attach", pid);
    ck_assert_int_eq(run_count(run, "had not ended"), 0);
}

/* The guardian kills what an executor left, and must check that it ended. */
TEST_CASE(survivors_of_a_killed_executor_are_reported) {
    need_freezer();
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        const char *record = run_new_path("record");
        struct run *target = run_start(NULL, WORDS("sh", "-c", "sleep 1000 & wait"));
        const char *pid = run_pid_text(target->pid);
        struct run *run =
            START("-l", "50%", "-c", "fixed", "--record", record, "--end", "--attach", pid);
        pid_t child = run_find(target, "sleep");
        RUN_UNTIL(run, run_state(child) == 'T'); /* the run controls it */
        hold(target, is_frozen);
        kill(run_find(run, "ss-executor"), SIGKILL);
        run_expect(run_wait(run), 125);
        ck_assert_int_eq(
            record_count(record, "summary.json", "1 killed process of instances") > 0, is_frozen);
        set("freezer.state", "THAWED");
        run_free(target);
        run_free_clean(run);
    }
}

/*
 * The instance ends while others run; whether its process remains is checked at the end of the run.
 */
TEST_CASE(an_unkillable_process_that_ends_before_the_run_is_not_reported) {
    need_freezer();
    const char *file = run_new_path("go");
    const char *text = run_format(
        "case %% in 0) sleep 1000 & until test -e %s; do :; done;; *) exec \"$@\";; esac", file);
    for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
        struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace", "100m",
            "sh", "-c", text, "sh", PAYLOAD, "spin");
        pid_t held = hold(run, true);
        run_write_file(file, "");
        run_wait_text(run, "instance 0 ended");
        run_let_pass(run, 2); /* the guardian has given up, too */
        if (!is_frozen) {
            set("freezer.state", "THAWED");
            RUN_UNTIL(run, !control_group_holds(held));
        }
        run_end(run, SIGTERM);
        end_held(run, is_frozen);
        unlink(file);
    }
}
