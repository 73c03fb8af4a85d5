/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Another user owns a folder on the path of an output, and exchanges what is there at each moment
 * in turn. The victim's file must never change.
 */

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

#define SSLOAD  TEST_BIN_DIR "/ssload"
#define SSBATCH TEST_BIN_DIR "/ssbatch"
#define SSSIM   TEST_BIN_DIR "/sssim"
#define SSTRACE TEST_BIN_DIR "/sstrace"
#define MALLORY 65534
#define SECRET  "secret\n"

static const char *folder, *theirs, *victim, *report;
static size_t row; /* of an_output_may_be_exchanged_at_any_moment */

static void give(const char *path) {
    ck_assert_int_eq(lchown(path, MALLORY, MALLORY), 0);
}

static const char *make_folder(const char *path) {
    ck_assert_int_eq(mkdir(path, 0755), 0);
    return path;
}

static const char *make_their_folder(const char *path) {
    give(make_folder(path));
    return path;
}

static void make_their_file(const char *path) {
    run_write_file(path, "theirs\n");
    give(path);
}

static void make_their_link(const char *target, const char *path) {
    ck_assert_int_eq(symlink(target, path), 0);
    give(path);
}

static void begin(void) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    SKIP_UNLESS(getuid() == 0, "root: only root can make files of another user");
    SKIP_UNLESS(family_can_become_nobody(), "another-user: root cannot become it");
    folder = run_make_folder();
    theirs = make_their_folder(run_path(folder, "theirs"));
    victim = make_folder(run_path(folder, "victim"));
    report = run_path(folder, "report");
    run_write_file(run_path(victim, "file"), SECRET);
}

/* Makes a file of another user, which is exchanged with a link to the victim's file. */
static void make_file_and_link(void) {
    make_their_file(run_path(theirs, "out"));
    make_their_link(run_path(victim, "file"), run_path(theirs, "out.other"));
}

static void make_file_and_hard_link(void) {
    make_their_file(run_path(theirs, "out"));
    ck_assert_int_eq(link(run_path(victim, "file"), run_path(theirs, "out.other")), 0);
}

static void make_folder_and_link(void) {
    make_their_file(run_path(make_their_folder(run_path(theirs, "out")), "file"));
    make_their_link(victim, run_path(theirs, "out.other"));
}

static void expect_no_harm(const char *option, int first, int second) {
    struct dirent *entry;
    size_t count = 0;
    DIR *entries = opendir(victim);
    while ((entry = readdir(entries)))
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(entries);
    struct run_text text = run_read_file(run_path(victim, "file"));
    ck_assert_msg(count == 1 && strcmp(text.bytes, SECRET) == 0,
        "%s in row %zu wrote to a file of the victim after swaps at calls %d and %d", option, row,
        first, second);
}

/* A program that is stopped by a swap makes fewer calls. */
static int larger(int calls, int made) {
    return made > calls ? made : calls;
}

/* Runs a program that swaps this path. Returns the number of calls that it has made. */
static int run_swapped(
    const char *const *words, const char *path, const char *name, int first, int second) {
    char swaps[6000];
    struct stat status;
    unlink(report);
    snprintf(swaps, sizeof swaps, "SS_TEST_SWAPS=%d:%d:%s:%s", first, second, report, path);
    const struct run_setup setup = {.environment = WORDS(SHIM("shim_swaps"), swaps, name)};
    run_free_clean(run_wait(run_start(&setup, words)));
    ck_assert_int_eq(stat(report, &status), 0);
    return (int)status.st_size;
}

static int attempt(
    const char *option, const char *output, void (*make)(void), int first, int second) {
    run_remove_folder(theirs);
    make_their_folder(theirs);
    make();
    int calls =
        run_swapped(WORDS(SSLOAD, "-q", "-c", "1", "-i", "0.01s", option, run_path(theirs, output)),
            run_path(theirs, "out"), NULL, first, second);
    expect_no_harm(option, first, second);
    return calls;
}

static void swap_at_each_call(const char *option, const char *output, void (*make)(void)) {
    int calls = 1;
    for (int first = 1; first <= calls; first++) {
        calls = larger(calls, attempt(option, output, make, first, 0));
        attempt(option, output, make, first, first + 1);
    }
    ck_assert_int_gt(calls, 5);
}

TEST_CASE(an_output_may_be_exchanged_at_any_moment) {
    static const struct {
        const char *output;
        void (*make)(void);
    } rows[] = {{"out", make_file_and_link}, {"out.other", make_file_and_link},
        {"out", make_file_and_hard_link}, {"out/file", make_folder_and_link},
        {"out/new", make_folder_and_link}};
    begin();
    for (; row < sizeof rows / sizeof *rows; row++) {
        swap_at_each_call("--output", rows[row].output, rows[row].make);
        swap_at_each_call("--openmetrics", rows[row].output, rows[row].make);
    }
}

/* Leaves files of an interrupted attempt, in a folder that another user may write to. */
static const char *leave_attempt(const char *study) {
    const char *hidden = run_path(study, ".a.part");
    run_remove_folder(hidden);
    const char *inner = make_folder(run_path(make_their_folder(hidden), "inner"));
    run_write_file(run_path(inner, "file"), "theirs\n");
    ck_assert_int_eq(symlink(victim, run_format("%s.other", inner)), 0);
    return inner;
}

TEST_CASE(a_folder_that_is_removed_may_become_a_link) {
    begin();
    const char *study = run_path(folder, "study"), *plan = run_path(folder, "plan");
    const char *const words[] = {SSBATCH, "-q", "--redo", "a", study, plan, NULL};
    int calls = 1;
    run_write_file(plan, "run a takes 1s\nmain -- true\n");
    run_expect(CALL(SSBATCH, "-q", study, plan), 0);
    for (int first = 1; first <= calls; first++) {
        calls = larger(
            calls, run_swapped(words, leave_attempt(study), "SS_TEST_SWAPS_NAME=inner", first, 0));
        expect_no_harm("ssbatch", first, 0);
    }
    ck_assert_int_gt(calls, 2);
}

/* The path of a failed record leads to a file of the victim when the record is removed. */
TEST_CASE(a_record_that_is_removed_may_be_exchanged) {
    begin();
    const char *record = run_path(run_path(theirs, "out"), "file");
    const char *const words[] = {SSSIM, "fleet", "--nodes", "1", "--record", record, "--", "-l",
        "50%", "--duration", "1ms", NULL};
    int calls = 1;
    for (int first = 1; first <= calls; first++) {
        run_remove_folder(theirs);
        make_their_folder(theirs);
        make_their_folder(run_path(theirs, "out"));
        make_their_link(victim, run_path(theirs, "out.other"));
        calls = larger(calls, run_swapped(words, run_path(theirs, "out"), NULL, first, 0));
        expect_no_harm("sssim fleet --record", first, 0);
    }
    ck_assert_int_gt(calls, 5);
}

/* Runs a study in memory whose `inner` changes while it is copied from there. */
static void swap_while_copied(const char *make, const char *target, const char *copied) {
    const char *study = run_path(folder, "study"), *plan = run_path(folder, "plan");
    const char *ram = make_folder(run_path(folder, "ram")), *place = run_path(folder, "place");
    const char *const words[] = {SSBATCH, "-q", "--ram-folder", ram, study, plan, NULL};
    int calls = 1;
    run_write_file(
        plan, run_format("run a takes 1s\nmain -- sh -c 'cd {out}; %s; ln -s %s inner.other; ln "
                         "-sfn {out} %s'\n",
                  make, target, place));
    for (int first = 1; first <= calls; first++) {
        struct stat status;
        run_remove_folder(study);
        calls = run_swapped(words, run_path(place, "inner"), "SS_TEST_SWAPS_NAME=inner", first, 0);
        expect_no_harm("ssbatch", first, 0);
        bool is_link =
            lstat(run_format("%s/a/inner", study), &status) == 0 && S_ISLNK(status.st_mode);
        const char *copy = run_format("%s/a/%s", study, copied);
        if (!is_link && run_exists(copy))
            run_expect_file(copy, "theirs\n");
    }
    ck_assert_int_gt(calls, 2);
    run_remove_folder(ram);
}

TEST_CASE(a_folder_that_is_copied_may_become_a_link) {
    begin();
    swap_while_copied("mkdir inner; echo theirs >inner/file", victim, "inner/file");
    swap_while_copied("echo theirs >inner", run_path(victim, "file"), "inner");
}

/* Another user moves a folder to a place next to one of our files, while we are in that folder. */
TEST_CASE(the_way_up_may_change_at_any_moment) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    int calls = 1;
    folder = run_make_folder();
    theirs = make_folder(run_path(folder, "theirs"));
    victim = make_folder(run_path(folder, "victim"));
    report = run_path(folder, "report");
    const char *inner = make_folder(run_path(theirs, "inner"));
    const char *other =
        run_format("SS_TEST_SWAPS_OTHER=%s", make_folder(run_path(victim, "inner")));
    const char *output = run_path(inner, "../file");
    for (int first = 1; first <= calls; first++) {
        run_write_file(run_path(victim, "file"), SECRET);
        calls =
            larger(calls, run_swapped(WORDS(SSLOAD, "-q", "-c", "1", "-i", "0.01s", "-o", output),
                              inner, other, first, 0));
        struct run_text text = run_read_file(run_path(victim, "file"));
        ck_assert_msg(strcmp(text.bytes, SECRET) == 0, "ssload left the path at call %d", first);
        free(text.bytes);
    }
    ck_assert_int_gt(calls, 5);
    ck_assert(run_exists(run_path(theirs, "file")));
}

/* Another user owns the folder of the study. */
TEST_CASE(the_hidden_folder_of_a_run_may_become_a_link) {
    begin();
    const char *study = run_path(folder, "study"), *plan = run_path(folder, "plan");
    const char *hidden = run_path(study, ".a.part"), *other = run_path(study, ".a.part.other");
    const char *const words[] = {
        SSBATCH, "-q", "--trust-owner", "65534", "--redo", "a", study, plan, NULL};
    int calls = 1;
    run_write_file(plan, "run a takes 1s\nmain -- true\n");
    run_expect(CALL(SSBATCH, "-q", study, plan), 0);
    give(study);
    for (int first = 1; first <= calls; first++) {
        run_remove_folder(hidden);
        run_remove_folder(other);
        make_their_link(victim, other);
        calls = larger(calls, run_swapped(words, hidden, "SS_TEST_SWAPS_NAME=.a.part", first, 0));
        expect_no_harm("ssbatch", first, 0);
    }
    ck_assert_int_gt(calls, 10);
}

/* Another user exchanges the folder in which traces are written with another one of ours. */
TEST_CASE(files_of_a_folder_that_replaces_that_of_split_are_kept) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    folder = run_make_folder();
    const char *table = run_path(folder, "table.csv"), *out = run_path(folder, "out");
    const char *other = make_folder(run_path(folder, "out.other"));
    const char *swap = run_format("SS_TEST_SWAP=mkdir:%s", out);
    const struct run_setup setup = {.environment = WORDS(SHIM("shim_swap"), swap)};
    run_write_file(run_path(other, "file"), SECRET);
    run_write_file(table, "time,host,load\n0,a,10\n1,a,20\n");
    struct run *run =
        run_wait(run_start(&setup, WORDS(SSTRACE, "--from", "csv", "--split", out, table)));
    run_expect_text(&run->err, "it was replaced as soon as it had been created");
    const char *kept = run_path(run_format("%s.%d", out, (int)run->pid), "file");
    ck_assert_msg(run_exists(kept), "%s was removed", kept);
    run_expect(run, 2);
}
