/* SPDX-License-Identifier: Apache-2.0 */

/* SIGKILL and SIGSTOP for our processes, with process trees as instances. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "family.h"
#include "platform/platform.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"
#include "tree/sweep.h"

#define INSTANCES 3
#define OPTIONS   "-v", "-n", "3", "-c", "fixed", "-l", "20%"

/* Clears the variable that identifies processes as a last resort. */
#define UNMARKED "env", "-u", SS_SWEEP_MARK

/* Number of moments in a round of 107 ms that are tried, and their distance in seconds. */
#define MOMENTS  12
#define INTERVAL 0.0097

static struct run *start_with(
    const struct run_setup *setup, const char *const *options, const char *const *command) {
    const char *words[32] = {SHOWSTOPPER};
    size_t count = 1;
    while (*options)
        words[count++] = *options++;
    while (*command)
        words[count++] = *command++;
    return run_start(setup, words);
}

static struct run *start(const char *const *command) {
    return start_with(NULL, WORDS(OPTIONS), command);
}

static void wait_for_ready(struct run *run) {
    RUN_UNTIL(run, run_count(run, "ready\n") == INSTANCES);
    run_wait_text(run, "instances run");
}

#define KILL_TEST(name, kill_all, ...)                                                             \
    START_TEST(name) {                                                                             \
        kill_all(__VA_ARGS__);                                                                     \
    }                                                                                              \
    END_TEST

static void wait_for_moment(struct run *run, int step) {
    double moment = run_now() + INTERVAL * step;
    RUN_UNTIL(run, run_now() >= moment);
}

static pid_t find_guardian(struct run *run, pid_t except) {
    struct family guardian;
    RUN_UNTIL(
        run, (guardian = family_find("ss-guardian")).count == 1 && guardian.pids[0] != except);
    return guardian.pids[0];
}

/* The commands of most cases. */
static const char *const *const workloads[] = {
    WORDS(PAYLOAD, "threads"),
    WORDS(PAYLOAD, "setsid", "2"),
    WORDS(PAYLOAD, "daemon", "2"),
    WORDS(PAYLOAD, "daemon-storm", "40"),
};

#define WORKLOADS (sizeof workloads / sizeof *workloads)

/* For each workload, kills all processes of that name, and with `master` the master. */
static void kill_named(const char *name, bool master, int status) {
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct run *run = start(workloads[i]);
        wait_for_ready(run);
        struct family family = family_find(name);
        family_kill_together(&family, master ? run->pid : 0);
        run_expect(run_wait(run), status);
        run_free_clean(run);
    }
}

START_TEST(a_killed_master_leaves_nothing_behind) {
    kill_named("none", true, -SIGKILL);
}
END_TEST

START_TEST(a_killed_guardian_and_executors_leave_nothing_behind) {
    kill_named("ss-", false, 125);
}
END_TEST

START_TEST(a_killed_guardian_and_master_leave_nothing_behind) {
    kill_named("ss-guardian", true, -SIGKILL);
}
END_TEST

/* Kills `count` executors at once. */
static void kill_executors(const char *const *command, size_t count) {
    struct run *run = start(command);
    wait_for_ready(run);
    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, INSTANCES);
    executors.count = count;
    family_kill_together(&executors, 0);
    run_expect(run_wait(run), 125);
    run_expect_text(&run->err, "killed");
    run_free_clean(run);
}

START_TEST(a_killed_executor_leaves_nothing_behind) {
    for (size_t i = 0; i < WORKLOADS; i++)
        kill_executors(workloads[i], 1);
}
END_TEST

START_TEST(two_killed_executors_leave_nothing_behind) {
    for (size_t i = 0; i < WORKLOADS; i++)
        kill_executors(workloads[i], 2);
}
END_TEST

START_TEST(killing_all_executors_leaves_nothing_behind) {
    for (size_t i = 0; i < WORKLOADS; i++)
        kill_executors(workloads[i], INSTANCES);
}
END_TEST

/* The other executors die while the guardian cleans up after the first, or just after that. */
START_TEST(executors_killed_one_after_another_leave_nothing_behind) {
    for (int step = 0; step < 2 * MOMENTS; step++) {
        struct run *run = start(WORDS(UNMARKED, PAYLOAD, "setsid", "2"));
        wait_for_ready(run);
        struct family executors = family_find("ss-executor");
        ck_assert_uint_eq(executors.count, INSTANCES);
        kill(executors.pids[--executors.count], SIGKILL);
        double moment = run_now() + 0.001 * step;
        while (run_now() < moment) {
        }
        family_kill_together(&executors, 0);
        run_expect(run_wait(run), 125);
        run_free_clean(run);
    }
}
END_TEST

/* Orphans without the mark become the master's children. */
START_TEST(killed_executors_of_unmarked_trees_leave_nothing_behind) {
    kill_executors(WORDS(UNMARKED, PAYLOAD, "setsid", "2"), 1);
    kill_executors(WORDS(UNMARKED, PAYLOAD, "daemon", "2"), INSTANCES);
}
END_TEST

/* The new guardian must find out which process belongs to which instance. */
START_TEST(a_new_guardian_takes_over_all_processes) {
    for (size_t i = 1; i < WORKLOADS; i++) {
        struct run *run = start(workloads[i]);
        wait_for_ready(run);
        pid_t first = find_guardian(run, 0);
        kill(first, SIGKILL);
        run_wait_text(run, "guardian ended unexpectedly");
        find_guardian(run, first);
        RUN_UNTIL(run, family_all_stopped("payload"));
        ck_assert(!run->ended);
        kill(run->pid, SIGKILL);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

/* Only the first guardian saw these sessions begin. */
START_TEST(a_new_guardian_alone_ends_unmarked_sessions) {
    struct run *run = start(WORDS(UNMARKED, PAYLOAD, "setsid", "2"));
    wait_for_ready(run);
    RUN_UNTIL(run, family_all_stopped("payload"));
    pid_t first = find_guardian(run, 0);
    kill(first, SIGKILL);
    pid_t second = find_guardian(run, first);
    RUN_UNTIL(run, run_state(second) == 'S'); /* its census is complete */
    struct family executors = family_find("ss-executor");
    family_kill_together(&executors, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

/* Kills master and executors at once, at many moments of a round. */
static void kill_all_but_the_guardian(const char *const *command, bool known) {
    for (int step = 0; step < MOMENTS; step++) {
        struct run *run = start(command);
        wait_for_ready(run);
        struct family executors = family_find("ss-executor");
        ck_assert_uint_eq(executors.count, INSTANCES);
        if (known)
            RUN_UNTIL(run, family_all_stopped("payload"));
        wait_for_moment(run, step);
        family_kill_together(&executors, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}

KILL_TEST(
    the_guardian_alone_ends_threads, kill_all_but_the_guardian, WORDS(PAYLOAD, "threads"), false)

KILL_TEST(the_guardian_alone_ends_sessions, kill_all_but_the_guardian,
    WORDS(PAYLOAD, "setsid", "2"), false)

KILL_TEST(the_guardian_alone_ends_daemons, kill_all_but_the_guardian, WORDS(PAYLOAD, "daemon", "2"),
    false)

KILL_TEST(the_guardian_alone_ends_a_daemon_storm, kill_all_but_the_guardian,
    WORDS(PAYLOAD, "daemon-storm", "40"), false)

/* Without parents and mark, only a guardian that registered them before can find them. */
KILL_TEST(the_guardian_alone_ends_unmarked_sessions, kill_all_but_the_guardian,
    WORDS(UNMARKED, PAYLOAD, "setsid", "2"), true)

KILL_TEST(the_guardian_alone_ends_unmarked_daemons, kill_all_but_the_guardian,
    WORDS(UNMARKED, PAYLOAD, "daemon", "2"), true)

/* Processes that the guardian has not found end by themselves, but none may stay stopped. */
KILL_TEST(the_guardian_alone_leaves_no_unmarked_daemon_stopped, kill_all_but_the_guardian,
    WORDS(UNMARKED, PAYLOAD, "daemon-storm", "40"), false)

/* Finds the executors' children that lead their groups: orphans do not. */
static struct family find_leaders(const struct family *executors) {
    struct family all = family_find("payload");
    struct family leaders = {.count = 0};
    for (size_t i = 0; i < all.count; i++) {
        struct ss_process process;
        bool leads = ss_platform_process_look(all.pids[i], &process) &&
                     process.group == all.pids[i] && family_has(executors, process.parent);
        if (leads)
            leaders.pids[leaders.count++] = all.pids[i];
    }
    return leaders;
}

/* Kills all processes of the run except one executor, which alone must act. */
static void kill_all_but_one_executor(const char *const *command, bool known) {
    for (int step = 0; step < MOMENTS; step++) {
        struct run *run = start(command);
        wait_for_ready(run);
        run_find(run, "ss-guardian"); /* it may get its name after instances are ready */
        struct family killed = family_find("ss-");
        ck_assert_uint_eq(killed.count, INSTANCES + 1);
        char survivor[32];
        snprintf(survivor, sizeof survivor, "ss-executor %d", step % INSTANCES);
        pid_t spared = run_find(run, survivor);
        for (size_t i = 0; i < killed.count; i++) {
            if (killed.pids[i] == spared)
                killed.pids[i] = killed.pids[--killed.count];
        }
        ck_assert_uint_eq(killed.count, INSTANCES);
        if (known)
            RUN_UNTIL(run, family_all_stopped("payload"));
        wait_for_moment(run, step);
        family_kill_together(&killed, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}

KILL_TEST(one_executor_alone_ends_sessions, kill_all_but_one_executor,
    WORDS(PAYLOAD, "setsid", "2"), false)

KILL_TEST(one_executor_alone_ends_daemons, kill_all_but_one_executor, WORDS(PAYLOAD, "daemon", "2"),
    false)

/* The guardian hangs, and its work is left to it or to an executor in its place. */
START_TEST(executors_end_trees_if_the_guardian_hangs) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run_setup setup = {
        .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=60000:ss-guardian")};
    struct run *run = start_with(&setup, WORDS(OPTIONS), WORDS(PAYLOAD, "setsid", "2"));
    wait_for_ready(run);
    struct family late = family_find("showstopper");
    ck_assert_uint_eq(late.count, 2);
    struct family killed = {.count = 1, .pids = {run_find(run, "ss-executor 1")}};
    family_kill_together(&killed, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    /* Executor 1's two sessions are left, unless other executors no longer wait for the guardian.
     */
    RUN_UNTIL(run, family_find("payload").count <= 2);
    kill(late.pids[late.pids[0] == run->pid], SIGKILL);
    run_free_clean(run);
}
END_TEST

/* No process has registered this tree: the executor ends one generation after another. */
START_TEST(an_executor_ends_a_tree_unknown_to_a_killed_guardian) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    struct run_setup setup = {
        .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=60000:ss-guardian")};
    struct run *run = start_with(
        &setup, WORDS("-n", "1", "-c", "fixed", "-l", "20%"), WORDS(PAYLOAD, "bloom", "12", "1"));
    RUN_UNTIL(run, family_find("payload").count == 13);
    struct family late = family_find("showstopper");
    ck_assert_uint_eq(late.count, 2);
    family_kill_together(&late, 0);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

/* The sessions are found on the board. */
KILL_TEST(one_executor_alone_ends_unmarked_sessions, kill_all_but_one_executor,
    WORDS(UNMARKED, PAYLOAD, "setsid", "2"), true)

/* Only the kernel can act: it ends every leader. */
START_TEST(killing_every_run_process_ends_all_leaders) {
    for (int step = 0; step < MOMENTS; step++) {
        struct run *run = start(workloads[(size_t)step % WORKLOADS]);
        wait_for_ready(run);
        run_find(run, "ss-guardian");
        struct family ours = family_find("ss-");
        struct family leaders = find_leaders(&ours);
        ck_assert_uint_eq(ours.count, INSTANCES + 1);
        ck_assert_uint_eq(leaders.count, INSTANCES);
        wait_for_moment(run, step);
        family_kill_together(&ours, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, run, family_count_living(&leaders) == 0);
        run_expect_no_shared_memory(run->pid);
        family_end_all();
        run_free(run);
    }
}
END_TEST

/* Fails unless all of `kept` live and run; then ends them. */
static void end_kept(const struct family *kept) {
    RUN_UNTIL(NULL, family_find("ss-").count == 0);
    ck_assert_uint_eq(family_count_living(kept), kept->count);
    family_expect_to_run(NULL, kept, 0.01);
    family_end_all();
}

/*
 * With --keep, one executor outlives all other processes. The kernel sends SIGHUP to a stopped
 * group when its last link to the session ends.
 */
START_TEST(with_keep_one_surviving_executor_leaves_instances_running) {
    struct run *run =
        start_with(NULL, WORDS("-v", "-n", "2", "-c", "fixed", "-l", "2%", "-D", "600m", "--keep"),
            WORDS("nohup", PAYLOAD, "setsid", "2"));
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    RUN_UNTIL(run, family_is_stopped("payload", 6));
    struct family kept = family_find("payload");
    struct family killed = {
        .count = 2, .pids = {run_find(run, "ss-executor 0"), find_guardian(run, 0)}};
    family_kill_together(&killed, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    end_kept(&kept);
    run_free(run);
}
END_TEST

/*
 * With --keep, and while all instances are stopped; `victim` is the name of the process that dies.
 */
static void kill_the_keeper_of(const char *const *command, size_t count, const char *victim) {
    struct run *run = start_with(
        NULL, WORDS("-v", "-n", "1", "-c", "fixed", "-l", "2%", "-D", "600m", "--keep"), command);
    RUN_UNTIL(run, run_count(run, "ready\n") == 1);
    RUN_UNTIL(run, family_is_stopped("payload", count));
    struct family kept = family_find("payload");
    if (*victim)
        family_signal_named(victim, SIGKILL);
    else
        kill(run->pid, SIGKILL);
    run_expect(run_wait(run), *victim ? 125 : -SIGKILL);
    end_kept(&kept);
    run_free(run);
}

START_TEST(with_keep_a_killed_master_or_executor_leaves_instances_running) {
    kill_the_keeper_of(WORDS(PAYLOAD, "setsid", "2"), 3, "");
    kill_the_keeper_of(WORDS(PAYLOAD, "setsid", "2"), 3, "ss-executor");
    kill_the_keeper_of(WORDS(PAYLOAD, "daemon", "2"), 3, "");
    kill_the_keeper_of(WORDS(PAYLOAD, "daemon", "2"), 3, "ss-executor");
    kill_the_keeper_of(WORDS(UNMARKED, PAYLOAD, "daemon", "2"), 3, "ss-executor");
}
END_TEST

/* Returns whether the process has stopped and was continued since a SIGSTOP was sent. */
static bool was_continued(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    struct run_text text = run_read_file(path);
    const char *pending = strstr(text.bytes, "\nShdPnd:");
    ck_assert_ptr_nonnull(pending);
    unsigned long long signals = strtoull(strchr(pending, ':') + 1, NULL, 16);
    free(text.bytes);
    return !(signals & 1ULL << (SIGSTOP - 1)) && run_state(pid) != 'T';
}

/* Stops one of our processes from outside: it must be continued, and its instance, too. */
static void stop_one(const char *name) {
    struct run *run = start(WORDS(PAYLOAD, "setsid", "2"));
    wait_for_ready(run);
    struct family stopped = family_find(name);
    ck_assert_uint_eq(stopped.count, 1);
    for (int step = 0; step < MOMENTS; step++) {
        family_signal(&stopped, SIGSTOP);
        RUN_UNTIL(run, was_continued(stopped.pids[0]));
        wait_for_moment(run, step);
    }
    struct family family = family_find("payload");
    ck_assert_uint_eq(family.count, INSTANCES * 3);
    family_expect_to_run(run, &family, 0.01);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_free_clean(run);
}

START_TEST(a_stopped_executor_is_continued) {
    stop_one("ss-executor 1");
}
END_TEST

START_TEST(a_stopped_guardian_is_continued) {
    stop_one("ss-guardian");
}
END_TEST

START_TEST(stopped_executors_and_a_killed_master_leave_nothing_behind) {
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct run *run = start(workloads[i]);
        wait_for_ready(run);
        family_signal_named("ss-executor", SIGSTOP);
        kill(run->pid, SIGKILL);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

/* In this order: the master would continue the guardian. */
static void stop_master_and_guardian(struct run *run) {
    kill(run->pid, SIGSTOP);
    RUN_UNTIL(run, run_state(run->pid) == 'T');
    pid_t guardian = find_guardian(run, 0);
    kill(guardian, SIGSTOP);
    RUN_UNTIL(run, run_state(guardian) == 'T');
}

/* Master and guardian would continue the executors, so they are stopped, too. */
START_TEST(a_killed_master_and_guardian_leave_no_executor_stopped) {
    for (size_t i = 0; i < WORKLOADS; i++) {
        struct run *run = start(workloads[i]);
        wait_for_ready(run);
        struct family executors = family_find("ss-executor");
        struct family others = family_find("ss-guardian");
        stop_master_and_guardian(run);
        family_signal(&executors, SIGSTOP);
        RUN_UNTIL(run, family_count(&executors, 'T') == INSTANCES);
        family_kill_together(&others, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        run_free_clean(run);
    }
}
END_TEST

/*
 * The test adopts orphans like the first process of a container; then the kernel does not rescue
 * them.
 */
START_TEST(a_stopped_guardian_alone_leaves_nothing_behind) {
    ss_platform_adopt_orphans();
    struct run *run = start(WORDS(PAYLOAD, "setsid", "2"));
    wait_for_ready(run);
    struct family executors = family_find("ss-executor");
    stop_master_and_guardian(run);
    family_kill_together(&executors, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

/*
 * The guardian has not seen the sessions begin, so only the mark identifies them. The mark
 * disappears with the leader's memory, and the sessions stay the leader's children until all of
 * that is freed.
 */
START_TEST(children_of_a_slowly_exiting_leader_are_ended) {
    const char *folder = run_make_folder();
    struct run_setup setup = {.folder = folder};
    struct run *run = start_with(&setup, WORDS("-v", "-n", "1", "-c", "fixed", "-l", "100%"),
        WORDS("sh", "-c",
            "until [ -e go ]; do sleep 0.05; done; exec " PAYLOAD " large-setsid 2 256"));
    run_wait_text(run, "instances run");
    struct family executors = family_find("ss-executor");
    stop_master_and_guardian(run);
    run_write_file(run_path(folder, "go"), "");
    RUN_UNTIL(run, run_count(run, "ready\n") == 1);
    family_kill_together(&executors, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
    run_remove_folder(folder);
}
END_TEST

/* Without pidfds, processes are identified by pid and start time, and ends are polled for. */
static void without_pidfds(const char *const *command) {
    struct run_setup setup = {.prepare = family_deny_pidfds};
    for (int victim = 0; victim < 3; victim++) {
        struct run *run = start_with(&setup, WORDS(OPTIONS), command);
        wait_for_ready(run);
        RUN_UNTIL(run, family_all_stopped("payload"));
        struct family executors = family_find("ss-executor");
        if (victim == 2)
            executors.count = 0;
        family_kill_together(&executors, victim == 0 ? 0 : run->pid);
        run_expect(run_wait(run), victim == 0 ? 125 : -SIGKILL);
        run_free_clean(run);
    }
}

START_TEST(killed_processes_leave_nothing_behind_without_pidfds) {
    without_pidfds(WORDS(PAYLOAD, "setsid", "2"));
    without_pidfds(WORDS(PAYLOAD, "daemon", "2"));
    without_pidfds(WORDS(UNMARKED, PAYLOAD, "setsid", "2"));
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_killed_master_leaves_nothing_behind),
    SS_CASE(a_killed_executor_leaves_nothing_behind),
    SS_CASE(two_killed_executors_leave_nothing_behind),
    SS_CASE(killing_all_executors_leaves_nothing_behind),
    SS_CASE(executors_killed_one_after_another_leave_nothing_behind),
    SS_CASE(killed_executors_of_unmarked_trees_leave_nothing_behind),
    SS_CASE(a_new_guardian_takes_over_all_processes),
    SS_CASE(a_new_guardian_alone_ends_unmarked_sessions),
    SS_CASE(a_killed_guardian_and_executors_leave_nothing_behind),
    SS_CASE(a_killed_guardian_and_master_leave_nothing_behind),
    SS_CASE(the_guardian_alone_ends_threads),
    SS_CASE(the_guardian_alone_ends_sessions),
    SS_CASE(the_guardian_alone_ends_daemons),
    SS_CASE(the_guardian_alone_ends_a_daemon_storm),
    SS_CASE(the_guardian_alone_ends_unmarked_sessions),
    SS_CASE(the_guardian_alone_ends_unmarked_daemons),
    SS_CASE(the_guardian_alone_leaves_no_unmarked_daemon_stopped),
    SS_CASE(one_executor_alone_ends_sessions),
    SS_CASE(one_executor_alone_ends_daemons),
    SS_CASE(one_executor_alone_ends_unmarked_sessions),
    SS_CASE(executors_end_trees_if_the_guardian_hangs),
    SS_CASE(children_of_a_slowly_exiting_leader_are_ended),
    SS_CASE(an_executor_ends_a_tree_unknown_to_a_killed_guardian),
    SS_CASE(killing_every_run_process_ends_all_leaders),
    SS_CASE(with_keep_a_killed_master_or_executor_leaves_instances_running),
    SS_CASE(with_keep_one_surviving_executor_leaves_instances_running),
    SS_CASE(a_stopped_executor_is_continued),
    SS_CASE(a_stopped_guardian_is_continued),
    SS_CASE(stopped_executors_and_a_killed_master_leave_nothing_behind),
    SS_CASE(a_killed_master_and_guardian_leave_no_executor_stopped),
    SS_CASE(a_stopped_guardian_alone_leaves_nothing_behind),
    SS_CASE(killed_processes_leave_nothing_behind_without_pidfds))
/* clang-format on */
