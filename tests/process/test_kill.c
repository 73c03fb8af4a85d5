/* SPDX-License-Identifier: Apache-2.0 */

/* SIGKILL and SIGSTOP for our processes: whichever dies, no process is left, running or stopped. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "family.h"
#include "platform/platform.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"
#include "tree/sweep.h"

#define INSTANCES 3
#define OPTIONS   "-v", "-n", "3", "-c", "fixed", "-l", "20%", "--grace", "300m"

#define ROUND 0.107 /* seconds */

/* Clears the variable that identifies processes as a last resort. */
#define UNMARKED "env", "-u", SS_SWEEP_MARK

enum workload {
    THREADS,
    SESSIONS,
    DAEMONS,
    STORM,
    TREE,
    STUBBORN,
    UNMARKED_SESSIONS,
    UNMARKED_DAEMONS,
    UNMARKED_STORM,
};

static const char *const *const workloads[] = {
    [THREADS] = WORDS(PAYLOAD, "threads"),
    [SESSIONS] = WORDS(PAYLOAD, "setsid", "2"),
    [DAEMONS] = WORDS(PAYLOAD, "daemon", "2"),
    [STORM] = WORDS(PAYLOAD, "daemon-storm", "40"),
    [TREE] = WORDS("sh", "-c", PAYLOAD " tree; " PAYLOAD " ignore-term"),
    [STUBBORN] = WORDS(PAYLOAD, "ignore-term"),
    [UNMARKED_SESSIONS] = WORDS(UNMARKED, PAYLOAD, "setsid", "2"),
    [UNMARKED_DAEMONS] = WORDS(UNMARKED, PAYLOAD, "daemon", "2"),
    [UNMARKED_STORM] = WORDS(UNMARKED, PAYLOAD, "daemon-storm", "40"),
};

/* Returns when all instances are ready. */
static struct run *start_in(const struct run_setup *setup, enum workload workload) {
    struct run *run = run_start(setup, run_join(WORDS(SHOWSTOPPER, OPTIONS), workloads[workload]));
    run_wait_ready(run, INSTANCES);
    run_wait_text(run, "instances are running");
    return run;
}

static struct run *start(enum workload workload) {
    return start_in(NULL, workload);
}

struct blow {
    bool master, guardian;
    size_t executors;
};

/* Which executors die first depends on `turn`. */
static struct family find_victims(struct run *run, const struct blow *blow, size_t turn) {
    struct family victims = {.count = 0};
    for (size_t i = 0; i < blow->executors; i++) {
        const char *name = run_format("ss-executor %zu", (turn + i) % INSTANCES);
        victims.pids[victims.count++] = run_find(run, name);
    }
    if (blow->guardian)
        victims.pids[victims.count++] = family_find_guardian(run, 0);
    return victims;
}

/* Kills processes of a run after the fraction `moment` of a round. Fails unless nothing is left. */
static void strike_once(const struct run_setup *setup, const struct blow *blow,
    enum workload workload, size_t turn, double moment) {
    struct run *run = start_in(setup, workload);
    struct family victims = find_victims(run, blow, turn);
    /* A guardian can end unmarked orphans only if it has found them before. */
    if (blow->master && (workload == UNMARKED_SESSIONS || workload == UNMARKED_DAEMONS))
        RUN_UNTIL(run, family_all_stopped("payload"));
    run_let_pass(run, moment * ROUND);
    family_kill_together(&victims, blow->master ? run->pid : 0);
    run_expect(run_wait(run), blow->master ? -SIGKILL : 125);
    if (!blow->master && blow->executors == 1) {
        const char *text = run_format("executor %zu", turn % INSTANCES);
        run_expect_text(&run->err, text);
        run_expect_text(&run->err, "killed");
    }
    run_free_clean(run);
}

struct strike {
    struct blow blow;
    enum workload first, last;
    size_t tries;
};

/* Kills processes of runs of each workload, at different moments of a round. */
static void strike(const struct strike *row) {
    size_t workloads_tried = row->last - row->first + 1, all = row->tries * workloads_tried;
    for (size_t i = 0; i < all; i++)
        strike_once(NULL, &row->blow, row->first + (enum workload)(i % workloads_tried), i,
            (double)i / (double)all);
}

static const struct strike deaths[] = {
    {{.master = true}, THREADS, STUBBORN, 2},
    {{.master = true, .guardian = true}, THREADS, STUBBORN, 1},
    {{.guardian = true, .executors = INSTANCES}, THREADS, STUBBORN, 1},
    {{.executors = 1}, THREADS, UNMARKED_SESSIONS, 1}, /* unmarked orphans: the master's children */
    {{.executors = 2}, THREADS, STORM, 1},
    {{.executors = INSTANCES}, THREADS, UNMARKED_DAEMONS, 1},
};

TEST_CASE(killed_processes_leave_nothing_behind) {
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        strike(&deaths[i]);
}

/*
 * Unmarked processes that the guardian has not found end by themselves, but none may stay stopped.
 * An executor finds unmarked sessions on the board.
 */
static const struct strike survivals[] = {
    {{.master = true, .executors = INSTANCES}, THREADS, STUBBORN, 3},
    {{.master = true, .executors = INSTANCES}, UNMARKED_SESSIONS, UNMARKED_STORM, 3},
    {{.master = true, .guardian = true, .executors = INSTANCES - 1}, SESSIONS, DAEMONS, 4},
    {{.master = true, .guardian = true, .executors = INSTANCES - 1}, UNMARKED_SESSIONS,
        UNMARKED_SESSIONS, 4},
};

TEST_CASE(a_surviving_guardian_or_executor_leaves_nothing_behind) {
    for (size_t i = 0; i < sizeof survivals / sizeof *survivals; i++)
        strike(&survivals[i]);
}

/* Finds the executors' children that lead their groups: orphans do not. */
static struct family find_leaders(const struct family *executors) {
    struct family all = family_find("payload");
    struct family leaders = {.count = 0};
    for (size_t i = 0; i < all.count; i++) {
        struct ss_process process;
        bool leads = ss_platform_process_info(all.pids[i], &process) &&
                     process.group == all.pids[i] && family_has(executors, process.parent);
        if (leads)
            leaders.pids[leaders.count++] = all.pids[i];
    }
    return leaders;
}

/* Only the kernel can act: it ends every leader. */
TEST_CASE(killing_every_run_process_ends_all_leaders) {
    for (size_t step = 0; step <= STORM; step++) {
        const struct blow all = {.guardian = true, .executors = INSTANCES};
        struct run *run = start((enum workload)step);
        struct family ours = find_victims(run, &all, 0);
        struct family leaders = find_leaders(&ours);
        ck_assert_uint_eq(leaders.count, INSTANCES);
        run_let_pass(run, ROUND * (double)step / 4);
        family_kill_together(&ours, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, run, family_count_living(&leaders) == 0);
        family_end_all();
        run_free_clean(run);
    }
}

/* Without pidfds, processes are identified by pid and start time, and ends are polled for. */
TEST_CASE(killed_processes_leave_nothing_behind_without_pidfds) {
    static const enum workload tried[] = {SESSIONS, DAEMONS, TREE, UNMARKED_SESSIONS};
    static const struct blow blows[] = {
        {.executors = INSTANCES}, {.master = true, .executors = INSTANCES}, {.master = true}};
    const struct run_setup setup = {.prepare = family_deny_pidfds};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        for (size_t k = 0; k < sizeof blows / sizeof *blows; k++)
            strike_once(&setup, &blows[k], tried[i], i + k, (double)i / 4);
    }
}

/* The other executors die while the guardian cleans up after the first, or just after that. */
TEST_CASE(executors_killed_one_after_another_leave_nothing_behind) {
    for (int step = 0; step < 8; step++) {
        struct run *run = start(UNMARKED_SESSIONS);
        struct family executors = family_find("ss-executor");
        ck_assert_uint_eq(executors.count, INSTANCES);
        kill(executors.pids[--executors.count], SIGKILL);
        run_spin(0.003 * step);
        family_kill_together(&executors, 0);
        run_expect(run_wait(run), 125);
        run_free_clean(run);
    }
}

TEST_CASE(a_master_killed_just_after_its_start_leaves_nothing_behind) {
    for (int step = 0; step < 40; step++) {
        struct run *run =
            run_start(NULL, run_join(WORDS(SHOWSTOPPER, OPTIONS), workloads[STUBBORN]));
        run_spin(0.0004 * step * (step % 4 + 1));
        run_end_clean(run, SIGKILL);
    }
}

/* Kills the master at once, and during the grace period. */
TEST_CASE(a_master_killed_during_shutdown_leaves_nothing_behind) {
    for (int later = 0; later < 2; later++) {
        struct run *run = start(STUBBORN);
        kill(run->pid, SIGTERM);
        run_spin(0.1 * later);
        kill(run->pid, SIGKILL);
        run_free_clean(run_wait(run));
    }
}

/* With output that is not read, the master continues for a moment after the guardian has ended. */
TEST_CASE(a_master_killed_after_its_guardian_leaves_no_child_of_a_sensor) {
    struct run *run = START("-q", "-n", "1", "-l", "100%", "-c", "fixed", "--duration", "1s",
        "--grace", "100m", "--iteration", "done", "-f", "command", "-F",
        "sh -c 'sleep 1000 & exec " PAYLOAD " sensor 0.5'", PAYLOAD, "flood");
    RUN_UNTIL(NULL, family_find("ss-guardian").count == 1 || !run_lives(run->pid));
    RUN_UNTIL(NULL, family_find("ss-guardian").count == 0 || !run_lives(run->pid));
    kill(run->pid, SIGKILL);
    run_wait(run);
}

/* As `kill -9 -PGID` does. */
TEST_CASE(killing_the_process_group_of_a_run_leaves_no_process) {
    struct run_setup setup = {.prepare = family_lead_group};
    struct run *run = start_in(&setup, UNMARKED_SESSIONS);
    RUN_UNTIL(run, family_all_stopped("payload"));
    ck_assert_int_eq(getpgid(run->pid), run->pid);
    kill(-run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
}

static pid_t replace_guardian(struct run *run) {
    pid_t first = family_find_guardian(run, 0);
    kill(first, SIGKILL);
    pid_t second = family_find_guardian(run, first);
    run_wait_text(run, "guardian ended unexpectedly");
    RUN_UNTIL(run, run_state(second) == 'S'); /* its census is complete */
    return second;
}

/* The new guardian must find out which process belongs to which instance. */
TEST_CASE(a_new_guardian_takes_over_all_processes) {
    static const struct {
        enum workload workload;
        int signal; /* to the executors; 0: none */
    } rows[] = {{SESSIONS, 0}, {DAEMONS, 0}, {STORM, SIGSTOP}, {STUBBORN, SIGSTOP},
        {UNMARKED_SESSIONS, SIGKILL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run *run = start(rows[i].workload);
        RUN_UNTIL(run, family_all_stopped("payload"));
        replace_guardian(run);
        if (rows[i].workload == STUBBORN)
            replace_guardian(run);
        RUN_UNTIL(run, family_all_stopped("payload"));
        ck_assert(!run->ended);
        struct family executors = family_find("ss-executor");
        if (rows[i].signal == SIGKILL) {
            family_kill_together(&executors, run->pid);
            run_expect(run_wait(run), -SIGKILL);
        } else {
            family_signal(&executors, rows[i].signal);
            run_end(run, SIGKILL);
        }
        run_free_clean(run);
    }
}

/* The process is older than the new guardian, so no fork event names it. */
TEST_CASE(a_session_created_without_a_guardian_is_found) {
    const char *file = run_new_path("go");
    struct run *run =
        START("-v", "-n", "1", "-c", "fixed", "-l", "20%", UNMARKED, PAYLOAD, "late-setsid", file);
    run_wait_text(run, "instances are running");
    RUN_UNTIL(run, family_find("payload-early").count == 1);
    pid_t late = family_find("payload-early").pids[0];
    pid_t guardian = family_find_guardian(run, 0);
    kill(run->pid, SIGSTOP);
    kill(guardian, SIGKILL);
    RUN_UNTIL(run, run_state(guardian) == 'Z');
    run_write_file(file, "");
    RUN_UNTIL(run, getsid(late) == late);
    kill(run->pid, SIGCONT);
    run_wait_text(run, "guardian ended unexpectedly");
    RUN_UNTIL(run, family_is_stopped("payload-late", 1));
    run_end(run, SIGTERM);
}

/* The guardian sleeps for a minute at its start, so executors must do its work. */
static const struct run_setup hanging_guardian = {
    .environment = WORDS(SHIM("shim_late"), "SS_TEST_LATE=60000:ss-guardian")};

TEST_CASE(executors_end_trees_if_the_guardian_hangs) {
    struct run *run = start_in(&hanging_guardian, SESSIONS);
    struct family late = family_find("showstopper");
    ck_assert_uint_eq(late.count, 2);
    struct family killed = {.count = 1, .pids = {run_find(run, "ss-executor 1")}};
    family_kill_together(&killed, run->pid);
    run_expect(run_wait(run), -SIGKILL);
    /* Executor 1's two sessions are left, unless others no longer wait for the guardian. */
    RUN_UNTIL(run, family_find("payload").count <= 2);
    kill(late.pids[late.pids[0] == run->pid], SIGKILL);
}

/* No process has registered this tree: the executor ends one generation after another. */
TEST_CASE(an_executor_ends_a_tree_unknown_to_a_killed_guardian) {
    struct run *run = START_IN(
        &hanging_guardian, "-n", "1", "-c", "fixed", "-l", "20%", PAYLOAD, "bloom", "12", "1");
    RUN_UNTIL(run, family_find("payload").count == 13);
    struct family late = family_find("showstopper");
    ck_assert_uint_eq(late.count, 2);
    family_kill_together(&late, 0);
    run_expect(run_wait(run), -SIGKILL);
}

/*
 * Kills processes while all instances are stopped: the instances must run then. The kernel sends
 * SIGHUP to a stopped group when its last link to the session ends.
 */
TEST_CASE(with_keep_killed_processes_leave_instances_running) {
    static const char *const hardened[] = {"nohup", PAYLOAD, "setsid", "2", NULL};
    const struct {
        const char *instances;
        const char *const *command;
        struct blow blow;
    } rows[] = {
        {"2", hardened, {.master = true, .guardian = true, .executors = 1}},
        {"1", workloads[SESSIONS], {.master = true}},
        {"1", workloads[SESSIONS], {.executors = 1}},
        {"1", workloads[DAEMONS], {.master = true}},
        {"1", workloads[DAEMONS], {.executors = 1}},
        {"1", workloads[UNMARKED_DAEMONS], {.executors = 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t instances = (size_t)atoi(rows[i].instances);
        struct run *run =
            run_start(NULL, run_join(WORDS(SHOWSTOPPER, "-v", "-n", rows[i].instances, "-c",
                                         "fixed", "-l", "2%", "-D", "600m", "--keep"),
                                rows[i].command));
        run_wait_ready(run, instances);
        RUN_UNTIL(run, family_is_stopped("payload", 3 * instances));
        struct family kept = family_find("payload"), victims = find_victims(run, &rows[i].blow, 0);
        family_kill_together(&victims, rows[i].blow.master ? run->pid : 0);
        run_expect(run_wait(run), rows[i].blow.master ? -SIGKILL : 125);
        family_end_kept(&kept);
    }
}

/* Returns whether the process has stopped and was continued since a SIGSTOP was sent. */
static bool was_continued(pid_t pid) {
    unsigned long long signals = strtoull(run_status(pid, "ShdPnd"), NULL, 16);
    return !(signals & 1ULL << (SIGSTOP - 1)) && run_state(pid) != 'T';
}

/* If it is stopped again, it does not delay the end of the run. */
TEST_CASE(a_stopped_executor_or_guardian_is_continued) {
    for (const char *const *name = WORDS("ss-executor 1", "ss-guardian"); *name; name++) {
        struct run *run = start(SESSIONS);
        pid_t stopped = run_find(run, *name);
        for (int step = 0; step < 6; step++) {
            kill(stopped, SIGSTOP);
            RUN_UNTIL(run, was_continued(stopped));
            run_let_pass(run, ROUND * step / 6);
        }
        struct family family = family_find("payload");
        ck_assert_uint_eq(family.count, INSTANCES * 3);
        family_expect_to_run(run, &family, 0.01);
        kill(stopped, SIGSTOP);
        run_end_clean(run, SIGTERM);
    }
}

TEST_CASE(stopped_executors_and_a_killed_master_leave_nothing_behind) {
    for (enum workload i = THREADS; i <= STUBBORN; i++) {
        struct run *run = start(i);
        family_signal_named("ss-executor", SIGSTOP);
        run_end_clean(run, SIGKILL);
    }
}

/* In this order: the master would continue the guardian. */
static void stop_master_and_guardian(struct run *run) {
    run_stop(run, run->pid);
    run_stop(run, family_find_guardian(run, 0));
}

/* Master and guardian would continue the executors, so they are stopped, too. */
TEST_CASE(a_killed_master_and_guardian_leave_no_executor_stopped) {
    for (enum workload i = THREADS; i <= STORM; i++) {
        struct run *run = start(i);
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

/*
 * The test adopts orphans like the first process of a container; then the kernel does not rescue
 * them.
 */
TEST_CASE(a_stopped_guardian_that_survives_leaves_nothing_behind) {
    ss_platform_adopt_orphans();
    struct run *run = start(SESSIONS);
    struct family executors = family_find("ss-executor");
    stop_master_and_guardian(run);
    family_kill_together(&executors, run->pid);
    run_expect(run_wait(run), -SIGKILL);
}

/*
 * The guardian has not seen the sessions begin, so only the mark identifies them. The mark
 * disappears with the leader's memory, and the sessions stay the leader's children until all of
 * that is freed.
 */
TEST_CASE(children_of_a_slowly_exiting_leader_are_ended) {
    const char *folder = run_make_folder();
    struct run_setup setup = {.folder = folder};
    struct run *run = START_IN(&setup, "-v", "-n", "1", "-c", "fixed", "-l", "100%", "sh", "-c",
        "until [ -e go ]; do sleep 0.05; done; exec " PAYLOAD " large-setsid 2 256");
    run_wait_text(run, "instances are running");
    struct family executors = family_find("ss-executor");
    stop_master_and_guardian(run);
    run_write_file(run_path(folder, "go"), "");
    run_wait_ready(run, 1);
    family_kill_together(&executors, run->pid);
    run_expect(run_wait(run), -SIGKILL);
}

/* A signal ends it, and so does the planned end. */
TEST_CASE(an_instance_that_stops_itself_can_be_ended) {
    struct run *run =
        START("-n", "2", "-l", "100%", "-c", "fixed", "--grace", "30s", PAYLOAD, "stop");
    run_wait_ready(run, 2);
    run_end_clean(run, SIGTERM);
    run_expect(
        RUN("-n", "2", "-l", "100%", "-c", "fixed", "--duration", "700m", PAYLOAD, "stop"), 0);
}

TEST_CASE(a_run_whose_output_reader_exits_leaves_nothing_behind) {
    struct run *run = START("-n", "1", "-l", "50%", "-c", "fixed", "--iteration", "done", PAYLOAD,
        "lines", "100", "10");
    run_wait_text(run, "done");
    close(run->pipes[0]);
    close(run->pipes[1]);
    run->pipes[0] = run->pipes[1] = -1;
    run_wait(run);
    ck_assert_int_ge(run->status, 0);
}
