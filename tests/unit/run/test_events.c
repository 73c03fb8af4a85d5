/* SPDX-License-Identifier: Apache-2.0 */

/* Tests how the master recognizes a child that has exited. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/events.h"
#include "unit.h"

static struct ss_plan plan;
static pid_t executors[2];
static struct ss_crew crew;

static void set_up(void) {
    plan.instances = 2;
    crew = (struct ss_crew){.plan = &plan,
        .board = ss_board_allocate(2, 0, false),
        .executors = executors,
        .running = 2};
    assert_non_null(crew.board);
}

/* Starts a child that has exited with this status when this function returns. */
static pid_t start(int status) {
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(status);
    assert_that(pid, >, 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    return pid;
}

static void expect_reaped(pid_t pid, uint32_t who, int exit_status) {
    uint32_t seen;
    int status;
    assert_int_equal(ss_crew_reap(&crew, &seen, &status), pid);
    assert_int_equal(seen, who);
    assert_int_equal(WEXITSTATUS(status), exit_status);
}

TEST(each_child_is_recognized) {
    uint32_t who;
    int status;
    set_up();
    executors[1] = start(1);
    expect_reaped(executors[1], 1, 1);
    assert_int_equal(executors[1], 0);
    assert_int_equal(crew.running, 1);
    pid_t guardian = crew.guardian.pid = start(2);
    expect_reaped(guardian, SS_CREW_GUARDIAN, 2);
    assert_int_equal(crew.guardian.pid, 0);
    expect_reaped(start(3), SS_CREW_OTHER, 3);
    assert_int_equal(ss_crew_reap(&crew, &who, &status), 0);
    free(crew.board);
}

/* The guardian could not be replaced, so the run is ending when an orphan exits. */
TEST(orphan_is_not_taken_for_the_guardian) {
    static struct ss_recorder recorder = {.record = {.folder = -1, .mark = -1}};
    struct ss_error error = {0};
    struct ss_master *master = calloc(1, sizeof *master);
    assert_non_null(master);
    set_up();
    *master = (struct ss_master){.plan = &plan,
        .crew = crew,
        .recorder = &recorder,
        .stage = SS_STAGE_ENDING,
        .error = &error};
    start(0);
    ss_master_reap(master);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_string_equal(error.message, "");
    free(master);
    free(crew.board);
}

UNIT_RUN
