/* SPDX-License-Identifier: Apache-2.0 */

#include <fcntl.h>
#include <sys/wait.h>

#include "append_log.h"
#include "base/owned.h"
#include "battery.h"
#include "tree.h"

static const char *make_path(void) {
    tree_new();
    return tree_path("file");
}

TEST(rows_are_appended_after_a_heading) {
    struct ssprofile_append_log log;
    struct ss_error error = {0};
    const char *path = make_path();
    assert_int_equal(ssprofile_append_log_open(&log, path, "a,b\n", &error), 0);
    assert_int_equal(ssprofile_append_log_add(&log, "1,2\n", &error), 0);
    assert_int_equal(ssprofile_append_log_add(&log, "3,4\n", &error), 0);
    assert_int_equal(log.rows, 2);
    ssprofile_append_log_close(&log);
    tree_assert_file("file", "a,b\n1,2\n3,4\n");
}

/* Only complete rows remain, wherever the process was killed. */
TEST(truncated_tables_keep_complete_rows) {
    static const char whole[] = "a,b\n1,2\n3,4\n";
    for (size_t length = 0; length < sizeof whole; length++) {
        struct ssprofile_append_log log;
        struct ss_error error = {0};
        tree_new();
        const char *path = tree_write_bytes("file", whole, length);
        assert_int_equal(ssprofile_append_log_open(&log, path, "a,b\n", &error), 0);
        size_t rows = length < 8 ? 0 : length < 12 ? 1 : 2;
        assert_int_equal(log.rows, rows);
        ssprofile_append_log_close(&log);
        tree_assert_file("file", rows == 0 ? "a,b\n" : rows == 1 ? "a,b\n1,2\n" : whole);
    }
}

TEST(unwritable_tables_are_refused) {
    struct ssprofile_append_log log;
    struct ss_error error = {0};
    assert_fails(ssprofile_append_log_open(&log, tree_new(), "a\n", &error), error, tree_root);
}

/* On a full disk a row is written completely or not at all. */
TEST(partial_rows_are_removed) {
    struct ssprofile_append_log log;
    struct ss_error error = {0};
    const char *path = make_path();
    assert_int_equal(ssprofile_append_log_open(&log, path, "a,b\n", &error), 0);
    assert_int_equal(ssprofile_append_log_add(&log, "1,2\n", &error), 0);
    tree_limit_size(10);
    int added = ssprofile_append_log_add(&log, "3,4\n", &error);
    tree_limit_size(RLIM_INFINITY);
    assert_int_equal(added, -1);
    assert_says(error.message, path);
    assert_int_equal(log.rows, 1);
    ssprofile_append_log_close(&log);
    tree_assert_file("file", "a,b\n1,2\n");
}

static int lock_folder(struct ss_error *error) {
    SS_OWNED(close) int opened = open(tree_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *error = (struct ss_error){0};
    return ssprofile_append_log_lock(opened, "results", error);
}

TEST(folder_of_results_has_only_one_writer) {
    struct ss_error error;
    tree_new();
    int lock = lock_folder(&error);
    assert_that(lock, >=, 0);
    assert_fails(lock_folder(&error), error, "results: another process is writing results to it");
    close(lock);
    SS_OWNED(close) int other = lock_folder(&error);
    assert_that(other, >=, 0);
}

/* As after a kill between fork and exec: a child shares the lock for a moment. */
TEST(lock_of_a_killed_writer_is_awaited) {
    struct ss_error error;
    tree_new();
    int lock = lock_folder(&error);
    assert_that(lock, >=, 0);
    pid_t child = fork();
    assert_that(child, >=, 0);
    if (child == 0) {
        usleep(100000);
        _exit(0);
    }
    close(lock);
    SS_OWNED(close) int other = lock_folder(&error);
    assert_that(other, >=, 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(shuffled_orders_are_permutations) {
    size_t orders[3][53];
    for (unsigned seed = 0; seed < 3; seed++) {
        bool seen[53] = {false};
        ssprofile_shuffle(orders[seed], 53, seed + 1);
        for (size_t i = 0; i < 53; i++) {
            assert_true(orders[seed][i] < 53 && !seen[orders[seed][i]]);
            seen[orders[seed][i]] = true;
        }
    }
    /* On average two orders agree in one position, and hardly ever in ten. */
    for (int other = 1; other < 3; other++) {
        int same = 0;
        for (size_t i = 0; i < 53; i++)
            same += orders[0][i] == orders[other][i];
        assert_true(same < 10);
    }
    size_t again[53];
    ssprofile_shuffle(again, 53, 2);
    assert_memory_equal(again, orders[1], sizeof again);
}

UNIT_RUN
