/* SPDX-License-Identifier: Apache-2.0 */

/* The folder of a study, its locks and journals. tests/process/test_power.c cuts the power. */

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>

#include "batch_options.h"
#include "calls.h"
#include "study_folder.h"
#include "tree.h"

static struct ssbatch_study study;

static int make_study(void **state) {
    struct ss_error error = {0};
    if (*study.path)
        ssbatch_study_close(&study);
    tree_new();
    assert_int_equal(
        ssbatch_study_open(&study, tree_path("study"), SSBATCH_STUDY_CREATE, NULL, &error), 0);
    strcpy(study.host, "here");
    strcpy(study.boot, "12345678-9");
    return 0;
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(tree_path(path), &status) == 0;
}

static void make_folder(const char *path) {
    assert_int_equal(mkdir(tree_path(path), 0777), 0);
}

static int lock_run(const char *name) {
    struct ssbatch_holder holder;
    struct ss_error error = {0};
    int lock = ssbatch_study_lock_run(&study, name, &holder, &error);
    assert_that(lock, >=, 0);
    return lock;
}

/* Leaves an earlier result of run a. */
static void leave_result(void) {
    make_folder("study/a");
    tree_write("study/a/run.json", "");
    tree_write("study/a/old", "");
}

static void begin_run(const char *name, enum ssbatch_reuse reuse) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_study_begin(&study, name, reuse, &error), 0);
}

static void expect_closed(const char *path) {
    assert_int_equal(tree_mode(path) & 022, 0);
}

/* Folders are created like this: with `everyone`, no later check changes the mode. */
TEST_WITH(others_cannot_write_to_folders_of_new_runs, make_study, NULL) {
    mode_t before = umask(0);
    study.trust.everyone = true;
    begin_run("a", SSBATCH_REUSE_NOTHING);
    begin_run("b", SSBATCH_REUSE_INTERRUPTED);
    umask(before);
    study.trust.everyone = false;
    expect_closed("study/.a.part");
    expect_closed("study/.a.part/result");
    expect_closed("study/.b.part");
    expect_closed("study/.b.part/result");
}

/* A call is killed after it has moved the old result away. */
TEST_WITH(the_next_call_completes_an_interrupted_rename_of_a_result, make_study, NULL) {
    struct ss_error error = {0};
    leave_result();
    begin_run("a", SSBATCH_REUSE_NOTHING);
    tree_write("study/.a.part/result/run.json", "");
    assert_int_equal(rename(tree_path("study/a"), tree_path("study/.study/old-a")), 0);
    int lock = lock_run("a");
    assert_int_equal(ssbatch_study_recover(&study, "a", &error), 0);
    assert_false(exists("study/a")); /* the other call has the lock and will rename it */
    ssbatch_study_unlock_run(&study, "a", lock);
    assert_int_equal(ssbatch_study_recover(&study, "a", &error), 0);
    assert_true(exists("study/a/run.json"));
    assert_int_equal(ssbatch_study_tidy(&study, "a", &error), 0);
    assert_false(exists("study/.study/old-a"));
    assert_int_equal(ssbatch_study_recover(&study, "a", &error), 0);
}

TEST_WITH(the_folder_of_an_interrupted_attempt_is_emptied_unless_kept, make_study, NULL) {
    make_folder("study/.a.part");
    make_folder("study/.a.part/result");
    tree_write("study/.a.part/result/half", "");
    begin_run("a", SSBATCH_REUSE_INTERRUPTED);
    assert_true(exists("study/.a.part/result/half"));
    begin_run("a", SSBATCH_REUSE_NOTHING);
    assert_false(exists("study/.a.part/result/half"));
}

TEST_WITH(leftovers_of_a_finished_run_are_removed_unless_it_is_locked, make_study, NULL) {
    struct ss_error error = {0};
    make_folder("study/.a.part");
    tree_write("study/.a.part/temporary", "");
    make_folder("study/.study/old-a");
    int lock = lock_run("a");
    assert_int_equal(ssbatch_study_tidy(&study, "a", &error), 0);
    assert_true(exists("study/.a.part/temporary"));
    close(lock); /* as if its process had been killed */
    assert_int_equal(ssbatch_study_tidy(&study, "a", &error), 0);
    assert_false(exists("study/.a.part"));
    assert_false(exists("study/.study/old-a"));
    assert_false(exists("study/.study/runs/a"));
    assert_false(exists("study/.study/locks/a"));
}

TEST_WITH(a_study_path_with_placeholders_is_refused, make_study, NULL) {
    struct ss_error error = {0};
    struct ssbatch_study other;
    assert_fails(ssbatch_study_open(&other, "/tmp/a{b", SSBATCH_STUDY_CREATE, NULL, &error), error,
        "placeholder");
    error = (struct ss_error){0};
    assert_int_equal(
        ssbatch_study_open(&other, "/tmp/a%b", SSBATCH_STUDY_CREATE, NULL, &error), -1);
}

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

TEST_WITH(standard_input_stays_open_if_no_study_is_opened, make_study, NULL) {
    struct ssbatch_options options = {.others = NAN, .quiet_below = NAN};
    int status = 0;
    if (!is_open(STDIN_FILENO))
        assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);

    struct ss_error joblog = {0};
    options.study = tree_path("new");
    options.joblog = "/nonexistent/joblog";
    assert_fails(ssbatch_carry_out(&options, &status, &joblog), joblog, "joblog");
    assert_true(is_open(STDIN_FILENO));

    struct ss_error plan = {0};
    options.joblog = NULL;
    options.plan = "/nonexistent/plan";
    assert_fails(ssbatch_carry_out(&options, &status, &plan), plan, "plan");
    assert_true(is_open(STDIN_FILENO));

    struct ss_error clean = {0};
    assert_fails(ssbatch_clean(&options, &status, &clean), clean, "is not a study");
    assert_true(is_open(STDIN_FILENO));
}

TEST_WITH(a_locked_run_names_its_holder, make_study, NULL) {
    struct ssbatch_holder holder;
    struct ss_error error = {0};
    int lock = lock_run("a");
    assert_int_equal(ssbatch_study_lock_run(&study, "a", &holder, &error), SSBATCH_HELD);
    assert_string_equal(holder.host, "here");
    assert_int_equal(holder.pid, getpid());
    int other = lock_run("b");
    /* Unlocking works even if a child still has a copy of the descriptor. */
    int copy = dup(lock);
    ssbatch_study_unlock_run(&study, "a", lock);
    lock = lock_run("a");
    ssbatch_study_unlock_run(&study, "a", lock);
    ssbatch_study_unlock_run(&study, "b", other);
    close(copy);
}

TEST_WITH(the_lock_of_a_killed_process_is_not_held, make_study, NULL) {
    struct ssbatch_holder holder;
    assert_int_equal(ssbatch_study_lock_state(&study, "a", &holder), SSBATCH_FREE);
    int lock = lock_run("a");
    assert_int_equal(ssbatch_study_lock_state(&study, "a", &holder), SSBATCH_LOCKED);
    assert_string_equal(holder.host, "here");
    assert_int_equal(holder.pid, getpid());
    close(lock); /* as if the process had been killed */
    assert_true(exists("study/.study/runs/a"));
    assert_int_equal(ssbatch_study_lock_state(&study, "a", &holder), SSBATCH_FREE);
    strcpy(study.host, "elsewhere");
    assert_int_equal(ssbatch_study_lock_state(&study, "a", &holder), SSBATCH_LOCKED);
}

static int reader;

static void close_reader(int number) {
    close(reader);
}

TEST_WITH(a_process_that_looks_at_a_lock_only_delays_a_call, make_study, NULL) {
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    tree_write("study/.study/locks/a", "");
    tree_set_mode("study/.study/locks/a", 0600);
    reader = open(tree_path("study/.study/locks/a"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(reader, LOCK_SH), 0);
    signal(SIGALRM, close_reader);
    setitimer(ITIMER_REAL, &soon, NULL);
    int lock = lock_run("a");
    ssbatch_study_unlock_run(&study, "a", lock);
}

static char said[100];

/* Keeps the name of the holder, and ends the wait. */
static void say(const char *lock, const char *holder) {
    snprintf(said, sizeof said, "%s", holder);
    close(reader);
}

TEST_WITH(a_long_wait_for_the_plan_names_the_holder, make_study, NULL) {
    const struct itimerval later = {.it_value = {.tv_sec = 100}};
    struct ss_error error = {0};
    char expected[100];
    snprintf(expected, sizeof expected, "process %d on here", (int)getpid());
    reader = ssbatch_study_lock(&study, &error);
    assert_that(reader, >=, 0);
    signal(SIGALRM, close_reader);
    setitimer(ITIMER_REAL, &later, NULL);
    study.report_wait = say;
    int lock = ssbatch_study_lock(&study, &error);
    assert_that(lock, >=, 0);
    assert_string_equal(said, expected);
    close(lock);
}

static bool removes; /* whether a sync of one of two files removes the other one */

/* Replaces the function of the C library. */
int fsync(int descriptor) {
    char link[32], path[300];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (removes && length > 0) {
        path[length] = '\0';
        path[length - 1] ^= 3;
        unlink(path);
    }
    return 0;
}

TEST_WITH(files_that_vanish_are_not_synced, make_study, NULL) {
    struct ss_error error = {0};
    make_folder("folder");
    tree_write("folder/1", "");
    tree_write("folder/2", "");
    removes = true;
    assert_int_equal(ssbatch_disk_sync_tree(tree_path("folder"), &error), 0);
    removes = false;
    assert_true(exists("folder/1") != exists("folder/2"));
}

static void remove_tree(const char *path) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_disk_remove_tree(tree_path(path), &error), 0);
}

static void copy_tree(const char *path, const char *copy) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_disk_copy_tree(-1, tree_path(path), -1, tree_path(copy), &error), 0);
}

/* A later copy lacks files that were removed from the original, or replaced by folders or links. */
TEST_WITH(a_copy_loses_what_the_original_has_lost, make_study, NULL) {
    make_folder("from");
    make_folder("to");
    tree_write("from/file", "");
    make_folder("from/folder");
    tree_write("from/folder/inner", "");
    tree_link("elsewhere", "from/link");
    copy_tree("from", "to");
    assert_true(exists("to/file") && exists("to/folder/inner") && exists("to/link"));
    remove_tree("from/file");
    remove_tree("from/folder");
    remove_tree("from/link");
    tree_link("elsewhere", "from/folder");
    make_folder("from/link");
    tree_write("from/link/inner", "");
    copy_tree("from", "to");
    assert_false(exists("to/file") || exists("to/folder/inner"));
    assert_true(exists("to/folder") && exists("to/link/inner"));
}

static char undone[500];
static bool fails;
static bool lives;
static size_t ended;

static int undo(
    void *context, char *const *words, const char *folder, const char *ok, struct ss_error *error) {
    size_t length = strlen(undone);
    snprintf(undone + length, sizeof undone - length, "%s%s:%s(%s)%s%s", length ? " " : "", folder,
        words[0], words[1] ? words[1] : "", strcmp(ok, "0") ? "=" : "", strcmp(ok, "0") ? ok : "");
    return fails ? ss_error_fail(error, "it is busy") : 0;
}

static size_t end_marked(const char *mark) {
    ended++;
    return 0;
}

static bool is_alive(pid_t pid, uint64_t started) {
    return lives;
}

static const struct ssbatch_undoer undoer = {
    .after = undo, .end_marked = end_marked, .lives = is_alive};

static void open_call(struct ssbatch_call *call) {
    struct ss_error error = {0};
    undone[0] = '\0';
    fails = lives = false;
    ended = 0;
    assert_int_equal(ssbatch_call_open(call, &study, 77, &error), 0);
}

static void note_journal(const struct ssbatch_call *call, const char *name, const char *text) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_call_write_journal(call, name, text, &error), 0);
}

/* As if the process had been killed. */
static void die(struct ssbatch_call *call) {
    flock(call->lock, LOCK_UN);
    close(call->lock);
}

/* Leaves a call that was killed with this journal of run a. */
static void leave_call(struct ssbatch_call *call, const char *journal) {
    open_call(call);
    note_journal(call, "a", journal);
    die(call);
}

static int clear_calls(const char *name, struct ss_error *error) {
    *error = (struct ss_error){0};
    return ssbatch_calls_clean_up(&study, "", name, &undoer, error);
}

static void clear_all(void) {
    struct ss_error error;
    assert_int_equal(clear_calls(NULL, &error), 0);
}

TEST_WITH(journals_of_a_dead_call_are_undone, make_study, NULL) {
    struct ssbatch_call call;
    char path[600];
    open_call(&call);
    make_folder("ram");
    tree_set_mode("ram", 0700);
    tree_write("ram/file", "x");
    snprintf(path, sizeof path,
        "folder /tmp\nstatuses 0,1\nafter close a 'x y'\nafter close2\nremove %s/ram\n", tree_root);
    note_journal(&call, "", "folder /var\nafter stop all\n");
    note_journal(&call, "a", path);
    die(&call);
    clear_all();
    assert_string_equal(undone, "/tmp:close(a)=0,1 /tmp:close2() /var:stop(all)");
    assert_false(exists("ram"));
    assert_int_equal(ended, 1);
    snprintf(path, sizeof path, "study/.study/calls/%s", call.mark);
    assert_false(exists(path));
}

/* Leaves a call that was killed while it carried out run a, whose files are in memory. */
static void leave_files(struct ssbatch_call *call) {
    char journal[600];
    make_folder("ram");
    tree_set_mode("ram", 0700);
    make_folder("ram/result");
    tree_write("ram/result/half", "x");
    snprintf(
        journal, sizeof journal, "remove %s/ram %s/study/.a.part/result\n", tree_root, tree_root);
    leave_call(call, journal);
}

static void claim(const struct ssbatch_call *call, bool in_memory) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_call_claim(call, "a", in_memory, &error), 0);
}

TEST_WITH(the_result_of_a_killed_attempt_is_copied_out_of_memory, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    begin_run("a", SSBATCH_REUSE_INTERRUPTED);
    leave_files(&call);
    claim(&call, true);
    int lock = lock_run("a");
    tree_write("study/.study/runs/a", "elsewhere 1\n");
    assert_fails(
        clear_calls(NULL, &error), error, "a: it is being carried out on elsewhere by process 1");
    assert_false(exists("study/.a.part/result/half"));
    assert_true(exists("ram/result/half"));
    ssbatch_study_unlock_run(&study, "a", lock);
    error = (struct ss_error){0};
    lock = lock_run("a");
    assert_int_equal(clear_calls("a", &error), 0);
    ssbatch_study_unlock_run(&study, "a", lock);
    assert_true(exists("study/.a.part/result/half"));
    assert_false(exists("ram"));
}

/* The call on the other host was killed, too, or is interrupted. */
TEST_WITH(files_of_a_later_attempt_on_another_host_are_not_replaced, make_study, NULL) {
    struct ssbatch_call call, later = {.study = &study, .mark = "elsewhere:1:2:3"};
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        begin_run("a", SSBATCH_REUSE_INTERRUPTED);
        leave_files(&call);
        claim(&call, true);
        begin_run("a", SSBATCH_REUSE_INTERRUPTED);
        claim(&later, in_memory);
        clear_all();
        assert_false(exists("study/.a.part/result/half"));
        assert_false(exists("ram"));
    }
}

/* The result in memory may be the only copy. */
TEST_WITH(a_result_in_memory_is_kept_while_its_claim_cannot_be_read, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    begin_run("a", SSBATCH_REUSE_INTERRUPTED);
    leave_files(&call);
    assert_int_equal(symlink(".call", tree_path("study/.a.part/.call")), 0); /* a loop of links */
    assert_fails(clear_calls(NULL, &error), error, ".a.part/.call: ");
    assert_true(exists("ram/result/half"));
    assert_int_equal(unlink(tree_path("study/.a.part/.call")), 0);
    make_folder("study/.a.part/.call"); /* it can be opened, but not read */
    assert_int_equal(clear_calls(NULL, &error), -1);
    assert_true(exists("ram/result/half"));
    assert_int_equal(rmdir(tree_path("study/.a.part/.call")), 0);
    claim(&call, true);
    clear_all();
    assert_true(exists("study/.a.part/result/half"));
    assert_false(exists("ram"));
}

/* The call was killed between naming the result and removing the hidden folder. */
TEST_WITH(the_result_of_a_finished_run_is_not_copied_again, make_study, NULL) {
    struct ssbatch_call call;
    make_folder("study/.a.part");
    leave_files(&call);
    claim(&call, true);
    clear_all();
    assert_false(exists("ram"));
    assert_false(exists("study/.a.part/result"));
}

/* In a folder that is not in memory, files remain, but may be damaged. Processes are gone. */
TEST_WITH(after_a_reboot_results_are_not_copied_and_processes_not_ended, make_study, NULL) {
    struct ssbatch_call call;
    begin_run("a", SSBATCH_REUSE_INTERRUPTED);
    leave_files(&call);
    note_journal(&call, "b", "after close\n");
    claim(&call, true);
    strcpy(study.boot, "87654321-9");
    clear_all();
    assert_false(exists("ram"));
    assert_false(exists("study/.a.part/result/half"));
    assert_string_equal(undone, "/:close()");
    assert_int_equal(ended, 0);
}

TEST_WITH(journals_of_a_living_call_are_left_alone, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    open_call(&call);
    lives = true;
    note_journal(&call, "a", "after close\n");
    clear_all();
    assert_string_equal(undone, "");
    assert_int_equal(clear_calls("a", &error), -1);
    assert_int_equal(clear_calls("b", &error), 0);
    assert_int_equal(ssbatch_call_remove_journal(&call, "a", &error), 0);
    ssbatch_call_close(&call);
}

/* A new call creates its folder before its lock. */
TEST_WITH(the_folder_of_a_call_without_a_lock_is_not_removed, make_study, NULL) {
    struct ssbatch_call call;
    char path[200];
    open_call(&call);
    lives = true;
    die(&call);
    clear_all();
    snprintf(path, sizeof path, "study/.study/calls/%s/lock", call.mark);
    assert_true(exists(path));
    lives = false;
    clear_all();
    assert_false(exists(path));
}

TEST_WITH(journals_of_another_host_are_left_alone, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    leave_call(&call, "after close\n");
    strcpy(study.host, "her");
    clear_all();
    strcpy(study.host, "elsewhere");
    assert_int_equal(clear_calls("a", &error), 0);
    assert_string_equal(undone, "");
}

TEST_WITH(lines_that_cannot_be_undone_stay_in_the_journal, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    leave_call(&call, "after close\nafter close2\n");
    fails = true;
    assert_fails(clear_calls(NULL, &error), error, "a: it is busy");
    assert_string_equal(undone, "/:close() /:close2()");
    fails = false;
    undone[0] = '\0';
    assert_int_equal(clear_calls("a", &error), 0);
    assert_string_equal(undone, "/:close() /:close2()");
    undone[0] = '\0';
    clear_all();
    assert_string_equal(undone, "");
}

/* Journals of another user, and those that another user may write to, are commands of that user. */
TEST_WITH(foreign_journals_are_refused_unread, make_study, NULL) {
    struct ssbatch_call call;
    struct ss_error error = {0};
    char folder[200], file[200];
    tree_need_users();
    leave_call(&call, "after close\n");
    snprintf(folder, sizeof folder, "study/.study/calls/%s", call.mark);
    snprintf(file, sizeof file, "study/.study/calls/%s/a.undo", call.mark);
    tree_give(file, 65534);
    assert_fails(clear_calls(NULL, &error), error, "belongs to ");
    tree_give(file, 0);
    tree_set_mode(file, 0646);
    assert_fails(clear_calls(NULL, &error), error, "other users may write to it");
    tree_set_mode(file, 0644);
    tree_give(folder, 65534);
    assert_fails(clear_calls(NULL, &error), error, "belongs to ");
    assert_string_equal(undone, "");
    tree_give(folder, 0);
    clear_all();
    assert_string_equal(undone, "/:close()");
}

TEST_WITH(only_we_may_write_to_state_whatever_the_umask, make_study, NULL) {
    static const char *const names[] = {".study", ".study/calls", ".study/runs", ".study/locks"};
    struct ss_error error = {0};
    mode_t before = umask(0);
    assert_int_equal(
        ssbatch_study_open(&study, tree_path("open"), SSBATCH_STUDY_CREATE, NULL, &error), 0);
    assert_int_equal(ssbatch_disk_write(study.state, "plan", "plan", "plan 1\n", &error), 0);
    umask(before);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100];
        snprintf(path, sizeof path, "open/%s", names[i]);
        assert_int_equal(tree_mode(path), 0755);
    }
    assert_int_equal(tree_mode("open/.study/plan"), 0644);
}

UNIT_RUN
