/* SPDX-License-Identifier: Apache-2.0 */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "../../full.h"
#include "tree.h"

TEST(commit_reports_an_earlier_full_disk) {
    SKIP_UNLESS_FULL();
    struct ss_whole_file file;
    assert_int_equal(ss_whole_file_open(&file, "/dev/full"), 0);
    for (int i = 0; i < 20000; i++)
        fputs("one more line\n", file.stream);
    errno = 0;
    assert_int_equal(ss_whole_file_commit(&file), -1);
    assert_int_equal(errno, ENOSPC);
}

TEST(target_of_a_symbolic_link_is_replaced) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    tree_write("file", "old\n");
    tree_link("file", "link");
    assert_int_equal(ss_whole_file_open(&file, tree_path("link")), 0);
    fputs("new\n", file.stream);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_true(lstat(tree_path("link"), &status) == 0 && S_ISLNK(status.st_mode));
    tree_assert_file("file", "new\n");
}

/* If its name could be guessed, another user could put a link there. */
TEST(unfinished_file_is_hidden) {
    struct ss_whole_file file, other;
    tree_new();
    assert_int_equal(ss_whole_file_open(&file, tree_path("file")), 0);
    assert_int_equal(ss_whole_file_open(&other, tree_path("file")), 0);
    assert_string_not_equal(file.temporary, other.temporary);
    ss_whole_file_abandon(&other);
    assert_int_equal(file.temporary[0], '.');
    assert_int_equal(access(tree_path(file.temporary), F_OK), 0);
    assert_int_equal(access(tree_path("file"), F_OK), -1);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(access(tree_path("file"), F_OK), 0);
    assert_int_equal(access(tree_path(file.temporary), F_OK), -1);
}

static void assert_refused(const char *path, const char *why) {
    struct ss_error error = {0};
    assert_fails(ss_whole_file_check(path, &error), error, why);
}

TEST(unwritable_file_is_detected_early) {
    tree_new();
    tree_write("folder/file", "text\n");
    tree_write("plain", "text\n");
    tree_link("b", "a");
    tree_link("a", "b");
    assert_int_equal(ss_whole_file_check(tree_path("folder/file"), NULL), 0);
    assert_int_equal(ss_whole_file_check(tree_path("folder/new"), NULL), 0);
    assert_int_equal(ss_whole_file_check("/dev/null", NULL), 0);
    assert_refused(tree_path("folder"), "Is a directory");
    assert_refused(tree_path("none/file"), "cannot write ");
    assert_refused(tree_path("none/file"), strerror(ENOENT));
    assert_refused(tree_path("plain/file"), strerror(ENOTDIR));
    assert_refused(tree_path("a"), strerror(ELOOP));
}

/* The hidden name is longer: unless it is truncated, a valid name could not be written. */
TEST(file_may_have_the_longest_name) {
    char name[NAME_MAX + 1];
    struct ss_whole_file file;
    memset(name, 'a', NAME_MAX);
    name[NAME_MAX] = '\0';
    tree_new();
    assert_int_equal(ss_whole_file_check(tree_path(name), NULL), 0);
    assert_int_equal(ss_whole_file_open(&file, tree_path(name)), 0);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(access(tree_path(name), F_OK), 0);
}

TEST(file_below_a_folder_replaces_a_link) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    tree_write("other", "old\n");
    tree_write("folder/some", "");
    tree_link("../other", "folder/name");
    int folder = open(tree_path("folder"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_that(folder, >=, 0);
    assert_int_equal(ss_whole_file_open_below(&file, folder, "name"), 0);
    assert_int_equal(rename(tree_path("folder"), tree_path("moved")), 0);
    fputs("longer\n", file.stream);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(lstat(tree_path("moved/name"), &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(status.st_size, 7);
    assert_int_equal(stat(tree_path("other"), &status), 0);
    assert_int_equal(status.st_size, 4);
    assert_int_equal(ss_whole_file_open_below(&file, folder, "name"), 0);
    assert_int_equal(faccessat(folder, file.temporary, F_OK, 0), 0);
    ss_whole_file_abandon(&file);
    assert_int_equal(faccessat(folder, file.temporary, F_OK, 0), -1);
    assert_int_equal(ss_whole_file_open_below(&file, -1, "name"), -1);
    close(folder);
}

TEST(file_below_a_folder_is_writable_for_its_owner_only_from_the_start) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    int folder = open(tree_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mode_t before = umask(0);
    assert_int_equal(ss_whole_file_open_below(&file, folder, "name"), 0);
    umask(before);
    assert_int_equal(fstat(fileno(file.stream), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    ss_whole_file_abandon(&file);
    close(folder);
}

/* Writes the file, and returns its mode. */
static mode_t rewrite_with_umask(const char *name, mode_t mask) {
    struct ss_whole_file file;
    mode_t before = umask(mask);
    int opened = ss_whole_file_open(&file, tree_path(name));
    umask(before);
    assert_int_equal(opened, 0);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    return tree_mode(name);
}

/* Another user may have moved a world-writable file here. */
TEST(replaced_file_keeps_its_mode_within_the_umask) {
    static const mode_t rows[][3] = {{0600, 022, 0600}, {0666, 022, 0644}, {0666, 002, 0664}};
    tree_new();
    tree_write("file", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tree_set_mode("file", rows[i][0]);
        assert_int_equal(rewrite_with_umask("file", rows[i][1]), rows[i][2]);
    }
}

TEST(mode_of_a_file_with_another_name_is_not_copied) {
    tree_new();
    tree_write("own", "");
    tree_set_mode("own", 0755);
    assert_int_equal(link(tree_path("own"), tree_path("name")), 0);
    assert_int_equal(rewrite_with_umask("name", 022), 0644);
}

TEST(mode_of_another_users_file_is_not_copied) {
    tree_new();
    tree_need_users();
    tree_write("open", "");
    tree_set_mode("open", 0666);
    tree_give("open", 65534);
    assert_int_equal(rewrite_with_umask("open", 022), 0644);
}

UNIT_RUN
