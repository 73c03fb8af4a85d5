/* SPDX-License-Identifier: Apache-2.0 */

/* Whichever process dies, a run leaves no process, running or stopped. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"

#define INSTANCES 3

/* Starts a run that is stopped most of the time, of programs that ignore termination signals. */
static struct run *start_stubborn(void) {
    return START(
        "-v", "-n", "3", "-l", "20%", "-c", "fixed", "--grace", "1s", PAYLOAD, "ignore-term");
}

static void wait_for_all(struct run *run) {
    RUN_UNTIL(run, run_count(run, "ready\n") == INSTANCES);
    run_wait_text(run, "instances run");
}

static void kill_named(const char *name, int number) {
    pid_t pids[RUN_PIDS_MAX];
    size_t count = run_named(name, pids);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; i++)
        kill(pids[i], number);
}

START_TEST(a_killed_master_leaves_nothing_behind) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

START_TEST(a_master_killed_just_after_its_start_leaves_nothing_behind) {
    for (int step = 0; step < 40; step++) {
        struct run *run = start_stubborn();
        double moment = run_now() + 0.0004 * step * (step % 4 + 1);
        while (run_now() < moment) {
        }
        kill(run->pid, SIGKILL);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

START_TEST(a_master_killed_at_any_phase_leaves_nothing_behind) {
    for (int step = 0; step < 10; step++) {
        struct run *run = start_stubborn();
        wait_for_all(run);
        double moment = run_now() + 0.013 * step;
        RUN_UNTIL(run, run_now() >= moment);
        kill(run->pid, SIGKILL);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

START_TEST(a_master_killed_during_shutdown_leaves_nothing_behind) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill(run->pid, SIGTERM);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
    run = start_stubborn();
    wait_for_all(run);
    kill(run->pid, SIGTERM);
    double moment = run_now() + 0.3; /* during the grace period */
    RUN_UNTIL(run, run_now() >= moment);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

static bool has_exited(pid_t pid) {
    char state = run_state(pid);
    return state == 0 || state == 'Z';
}

/* With output that is not read, the master continues for a moment after the guardian has ended. */
START_TEST(a_master_killed_after_its_guardian_leaves_no_child_of_a_sensor) {
    struct run *run = START("-q", "-n", "1", "-l", "100%", "-c", "fixed", "--duration", "1s",
        "--grace", "100m", "--iteration", "done", "-f", "command", "-F",
        "sh -c 'sleep 1000 & exec " PAYLOAD " sensor 0.5'", PAYLOAD, "flood");
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(NULL, run_named("ss-guardian", pids) == 1 || has_exited(run->pid));
    RUN_UNTIL(NULL, run_named("ss-guardian", pids) == 0 || has_exited(run->pid));
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

START_TEST(a_killed_master_leaves_no_process_of_a_tree) {
    /* The leader is a shell that waits for its children and grandchildren. */
    struct run *run = START("-v", "-n", "2", "-l", "30%", "-c", "fixed", "sh", "-c",
        PAYLOAD " tree; " PAYLOAD " ignore-term");
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

/* The kernel kills the leaders with their executors; children and grandchildren stay stopped. */
START_TEST(killed_executors_leave_no_process_of_a_tree) {
    struct run *run = START("-v", "-n", "2", "-l", "5%", "-c", "fixed", "sh", "-c",
        PAYLOAD " tree; " PAYLOAD " ignore-term");
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    pid_t leaves[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_named("payload-leaf", leaves) == 2);
    RUN_UNTIL(run, run_state(leaves[0]) == 'T' && run_state(leaves[1]) == 'T');
    kill_named("ss-executor", SIGKILL);
    run_expect(run_wait(run), 125);
    run_free_clean(run);
}
END_TEST

/*
 * Without pidfds, the guardian identifies processes by pid and start time and polls for their ends.
 */
START_TEST(killed_processes_are_noticed_without_pidfds) {
    struct run_setup setup = {.prepare = family_deny_pidfds};
    const char *command = PAYLOAD " tree; " PAYLOAD " ignore-term";
    for (int victim = 0; victim < 2; victim++) {
        struct run *run = run_start(&setup,
            WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "5%", "-c", "fixed", "sh", "-c", command));
        RUN_UNTIL(run, run_count(run, "ready\n") == 2);
        kill_named("ss-executor", victim == 0 ? SIGKILL : SIGSTOP);
        if (victim == 1)
            kill(run->pid, SIGKILL);
        run_expect(run_wait(run), victim == 0 ? 125 : -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

START_TEST(a_killed_executor_ends_the_run) {
    for (int which = 0; which < INSTANCES; which++) {
        char name[32];
        char message[32];
        struct run *run = start_stubborn();
        wait_for_all(run);
        snprintf(name, sizeof name, "ss-executor %d", which);
        snprintf(message, sizeof message, "executor %d", which);
        kill_named(name, SIGKILL);
        run_expect(run_wait(run), 125);
        run_expect_text(&run->err, message);
        run_expect_text(&run->err, "killed");
        run_free_clean(run);
    }
}
END_TEST

START_TEST(killing_all_executors_ends_the_run) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill_named("ss-executor", SIGKILL);
    run_expect(run_wait(run), 125);
    run_free_clean(run);
}
END_TEST

static pid_t find_guardian(struct run *run, pid_t except) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_named("ss-guardian", pids) == 1 && pids[0] != except);
    return pids[0];
}

START_TEST(a_killed_guardian_is_replaced) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    pid_t first = find_guardian(run, 0);
    kill(first, SIGKILL);
    pid_t second = find_guardian(run, first);
    run_wait_text(run, "guardian ended unexpectedly");
    pid_t pids[RUN_PIDS_MAX];
    ck_assert_uint_eq(run_named("payload", pids), INSTANCES);
    ck_assert(!run->ended);
    kill(second, SIGKILL);
    find_guardian(run, second);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

/* Executors are stopped and the master is killed, so only the new guardian can clean up. */
START_TEST(a_new_guardian_cleans_up_after_a_killed_master) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    pid_t first = find_guardian(run, 0);
    kill(first, SIGKILL);
    pid_t second = find_guardian(run, first);
    RUN_UNTIL(run, run_state(second) == 'S'); /* it has looked at all processes */
    kill_named("ss-executor", SIGSTOP);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

/* Kills the guardian of a run of some seconds. Returns false if the run ended first. */
static bool kill_guardian_in_time(int seconds) {
    char duration[32];
    pid_t pids[RUN_PIDS_MAX];
    snprintf(duration, sizeof duration, "%ds", seconds);
    struct run *run =
        START("-q", "-v", "-n", "2", "-l", "50%", "--duration", duration, PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    RUN_UNTIL(run, run->ended || run_named("ss-guardian", pids) == 1);
    bool early = !run->ended;
    if (early)
        kill(pids[0], SIGKILL);
    run_expect(run_wait(run), 0);
    run_free_clean(run);
    return early;
}

START_TEST(a_run_with_a_new_guardian_ends_with_status_0) {
    for (int seconds = 2; !kill_guardian_in_time(seconds); seconds *= 4)
        ck_assert_int_le(seconds, 32);
}
END_TEST

START_TEST(a_stopped_executor_does_not_block_the_end) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill_named("ss-executor 1", SIGSTOP);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_free_clean(run);
}
END_TEST

START_TEST(a_stopped_guardian_does_not_block_the_end) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill(find_guardian(run, 0), SIGSTOP);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_free_clean(run);
}
END_TEST

START_TEST(a_killed_master_with_stopped_executors_leaves_nothing_behind) {
    struct run *run = start_stubborn();
    wait_for_all(run);
    kill_named("ss-executor", SIGSTOP);
    kill(run->pid, SIGKILL);
    run_wait(run);
    run_free_clean(run);
}
END_TEST

START_TEST(a_master_killed_with_all_executors_leaves_nothing_behind) {
    for (int step = 0; step < 5; step++) {
        struct run *run = start_stubborn();
        wait_for_all(run);
        pid_t pids[RUN_PIDS_MAX];
        size_t count = run_named("ss-executor", pids);
        ck_assert_uint_eq(count, INSTANCES);
        double moment = run_now() + 0.017 * step;
        RUN_UNTIL(run, run_now() >= moment);
        kill(run->pid, SIGKILL);
        for (size_t i = 0; i < count; i++)
            kill(pids[i], SIGKILL);
        run_wait(run);
        run_free_clean(run);
    }
}
END_TEST

START_TEST(a_script_with_an_invalid_interpreter_is_reported) {
    const char *folder = run_make_folder();
    const char *script = run_path(folder, "script");
    run_write_file(script, "#!/there/is/none\n");
    chmod(script, 0755);
    struct run *run = RUN("-n", "3", "-l", "50%", "-c", "fixed", script);
    ck_assert_msg(run->status == 126 || run->status == 127, "status %d", run->status);
    run_expect_text(&run->err, script);
    run_free_clean(run);
    run_write_file(script, "#!/etc/passwd\n");
    run = RUN("-n", "3", "-l", "50%", "-c", "fixed", script);
    run_expect(run, 126);
    run_expect_text(&run->err, script);
    run_free_clean(run);
    run_remove_folder(folder);
}
END_TEST

START_TEST(an_instance_that_stops_itself_can_be_ended) {
    struct run *run =
        START("-n", "2", "-l", "100%", "-c", "fixed", "--grace", "30s", PAYLOAD, "stop");
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_free_clean(run);
    run = RUN("-n", "2", "-l", "100%", "-c", "fixed", "--duration", "700m", PAYLOAD, "stop");
    run_expect(run, 0);
    run_free_clean(run);
}
END_TEST

START_TEST(a_run_whose_output_reader_exits_leaves_nothing_behind) {
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--iteration", "done", PAYLOAD,
        "lines", "100", "10");
    run_wait_text(run, "done");
    close(run->pipes[0]);
    close(run->pipes[1]);
    run->pipes[0] = run->pipes[1] = -1;
    run_wait(run);
    ck_assert_int_ge(run->status, 0);
    run_free_clean(run);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_killed_master_leaves_nothing_behind),
    SS_CASE(a_master_killed_just_after_its_start_leaves_nothing_behind),
    SS_CASE(a_master_killed_at_any_phase_leaves_nothing_behind),
    SS_CASE(a_master_killed_during_shutdown_leaves_nothing_behind),
    SS_CASE(a_master_killed_after_its_guardian_leaves_no_child_of_a_sensor),
    SS_CASE(a_killed_master_leaves_no_process_of_a_tree),
    SS_CASE(killed_executors_leave_no_process_of_a_tree),
    SS_CASE(killed_processes_are_noticed_without_pidfds),
    SS_CASE(a_killed_executor_ends_the_run),
    SS_CASE(killing_all_executors_ends_the_run),
    SS_CASE(a_killed_guardian_is_replaced),
    SS_CASE(a_new_guardian_cleans_up_after_a_killed_master),
    SS_CASE(a_run_with_a_new_guardian_ends_with_status_0),
    SS_CASE(a_stopped_executor_does_not_block_the_end),
    SS_CASE(a_stopped_guardian_does_not_block_the_end),
    SS_CASE(a_killed_master_with_stopped_executors_leaves_nothing_behind),
    SS_CASE(a_master_killed_with_all_executors_leaves_nothing_behind),
    SS_CASE(a_script_with_an_invalid_interpreter_is_reported),
    SS_CASE(an_instance_that_stops_itself_can_be_ended),
    SS_CASE(a_run_whose_output_reader_exits_leaves_nothing_behind))
/* clang-format on */
