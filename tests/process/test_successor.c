/* SPDX-License-Identifier: Apache-2.0 */

/* A new guardian finds processes that are older than itself, without help from others. */

#include <signal.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "tree/sweep.h"

/* Clears the mark, so that no process is found by it. */
#define UNMARKED "env", "-u", SS_SWEEP_MARK

/* The process is older than the new guardian, so no fork event names it. */
START_TEST(a_session_created_without_a_guardian_is_found) {
    const char *folder = run_make_folder(), *file = run_path(folder, "go");
    struct run *run = run_start(NULL, WORDS(SHOWSTOPPER, "-v", "-n", "1", "-c", "fixed", "-l",
                                          "20%", UNMARKED, PAYLOAD, "late-setsid", file));
    run_wait_text(run, "instances run");
    RUN_UNTIL(run, family_find("payload-early").count == 1);
    pid_t late = family_find("payload-early").pids[0];
    pid_t guardian = run_find(run, "ss-guardian");
    kill(run->pid, SIGSTOP);
    kill(guardian, SIGKILL);
    RUN_UNTIL(run, run_state(guardian) == 'Z');
    run_write_file(file, "");
    RUN_UNTIL(run, getsid(late) == late);
    kill(run->pid, SIGCONT);
    run_wait_text(run, "guardian ended unexpectedly");
    RUN_UNTIL(run, family_is_stopped("payload-late", 1));
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), -SIGTERM);
    run_free_clean(run);
    run_remove_folder(folder);
}
END_TEST

static void lead_a_group(void) {
    setpgid(0, 0);
}

/* As `kill -9 -PGID` does. */
START_TEST(killing_the_process_group_of_a_run_leaves_no_process) {
    struct run_setup setup = {.prepare = lead_a_group};
    struct run *run = run_start(&setup, WORDS(SHOWSTOPPER, "-v", "-n", "2", "-c", "fixed", "-l",
                                            "20%", UNMARKED, PAYLOAD, "setsid", "2"));
    run_wait_text(run, "instances run");
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    RUN_UNTIL(run, family_all_stopped("payload"));
    ck_assert_int_eq(getpgid(run->pid), run->pid);
    kill(-run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_session_created_without_a_guardian_is_found),
    SS_CASE(killing_the_process_group_of_a_run_leaves_no_process))
/* clang-format on */
