/* SPDX-License-Identifier: Apache-2.0 */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../full.h"
#include "tree.h"

static char target[4100];

static int resolve(const char *name) {
    return ss_whole_file_resolve(tree_path(name), target, sizeof target);
}

static void expect_target(const char *name, const char *expected) {
    assert_int_equal(resolve(name), 0);
    assert_string_equal(target, tree_path(expected));
}

static void link_to(const char *what, const char *name) {
    assert_int_equal(symlink(what, tree_path(name)), 0);
}

TEST(symbolic_links_are_followed) {
    tree_new();
    tree_write("folder/file", "");
    expect_target("folder/file", "folder/file");
    expect_target("none", "none");
    link_to("folder/file", "relative");
    expect_target("relative", "folder/file");
    link_to(tree_path("folder/file"), "absolute");
    expect_target("absolute", "folder/file");
    link_to("file", "folder/beside");
    link_to("folder/beside", "two");
    expect_target("two", "folder/file");
    link_to("folder/none", "dangling");
    expect_target("dangling", "folder/none");
}

TEST(symbolic_link_loops_are_refused) {
    tree_new();
    link_to("b", "a");
    link_to("a", "b");
    assert_int_equal(resolve("a"), -ELOOP);
    struct ss_whole_file file;
    assert_int_equal(ss_whole_file_open(&file, tree_path("a")), -1);
    assert_int_equal(errno, ELOOP);
}

TEST(full_disk_is_the_reason_of_an_earlier_failure) {
    SKIP_UNLESS_FULL();
    struct ss_whole_file file;
    assert_int_equal(ss_whole_file_open(&file, "/dev/full"), 0);
    for (int i = 0; i < 20000; i++)
        fputs("one more line\n", file.stream);
    errno = 0;
    assert_int_equal(ss_whole_file_commit(&file), -1);
    assert_int_equal(errno, ENOSPC);
}

TEST(overlong_path_is_refused) {
    static char path[5000];
    memset(path, 'a', sizeof path - 1);
    assert_int_equal(ss_whole_file_resolve(path, target, sizeof target), -ENAMETOOLONG);
}

TEST(target_of_a_symbolic_link_is_replaced) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    tree_write("file", "old\n");
    link_to("file", "link");
    assert_int_equal(ss_whole_file_open(&file, tree_path("link")), 0);
    fputs("new\n", file.stream);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_true(lstat(tree_path("link"), &status) == 0 && S_ISLNK(status.st_mode));
    tree_assert_file("file", "new\n");
}

TEST(unfinished_file_is_hidden) {
    struct ss_whole_file file;
    char name[64];
    tree_new();
    snprintf(name, sizeof name, ".file.%d", (int)getpid());
    assert_int_equal(ss_whole_file_open(&file, tree_path("file")), 0);
    assert_int_equal(access(tree_path(name), F_OK), 0);
    assert_int_equal(access(tree_path("file"), F_OK), -1);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(access(tree_path("file"), F_OK), 0);
    assert_int_equal(access(tree_path(name), F_OK), -1);
}

static const char *leftover_name(int attempt) {
    static char name[64];
    int length = snprintf(name, sizeof name, ".file.%d", (int)getpid());
    if (attempt > 0)
        snprintf(name + length, sizeof name - (size_t)length, ".%d", attempt);
    return name;
}

/* In a PID namespace, the program that was killed may have had the same pid. */
TEST(leftovers_of_a_killed_program_are_avoided) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    for (int i = 0; i < 3; i++)
        tree_write(leftover_name(i), "old\n");
    assert_int_equal(ss_whole_file_open(&file, tree_path("file")), 0);
    fputs("complete\n", file.stream);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(stat(tree_path("file"), &status), 0);
    assert_int_equal(status.st_size, 9);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(tree_path(leftover_name(i)), &status), 0);
        assert_int_equal(status.st_size, 4);
    }
    assert_int_equal(access(tree_path(leftover_name(3)), F_OK), -1);
}

TEST(number_of_avoided_leftovers_is_limited) {
    struct ss_whole_file file;
    tree_new();
    for (int i = 0; i < 200; i++)
        tree_write(leftover_name(i), "old\n");
    assert_int_equal(ss_whole_file_open(&file, tree_path("file")), -1);
    assert_int_equal(errno, EEXIST);
}

static void assert_refused(const char *path, const char *why) {
    struct ss_error error = {0};
    assert_fails(ss_whole_file_check(path, &error), error, why);
}

TEST(unwritable_file_is_detected_early) {
    tree_new();
    tree_write("folder/file", "text\n");
    tree_write("plain", "text\n");
    link_to("b", "a");
    link_to("a", "b");
    assert_int_equal(ss_whole_file_check(tree_path("folder/file"), NULL), 0);
    assert_int_equal(ss_whole_file_check(tree_path("folder/new"), NULL), 0);
    assert_int_equal(ss_whole_file_check("/dev/null", NULL), 0);
    assert_refused(tree_path("folder"), "is a directory");
    assert_refused(tree_path("none/file"), "cannot be written: ");
    assert_refused(tree_path("none/file"), strerror(ENOENT));
    assert_refused(tree_path("plain/file"), strerror(ENOTDIR));
    assert_refused(tree_path("a"), strerror(ELOOP));
}

#define NOBODY 65534

static int give(const char *name) {
    return lchown(tree_path(name), NOBODY, NOBODY);
}

static void set_mode(const char *name, mode_t mode) {
    assert_int_equal(chmod(tree_path(name), mode), 0);
}

/* As the kernel does if fs.protected_symlinks is set. */
TEST(foreign_links_in_shared_folders_are_refused) {
    SKIP_UNLESS(getuid() == 0, "root: only root can make links of another user");
    struct ss_whole_file file;
    tree_new();
    tree_write("mine/file", "text\n");
    tree_write("shared/some", "");
    set_mode("shared", 01777);
    link_to(tree_path("mine/file"), "shared/link");
    link_to("/dev/null", "shared/device");
    link_to(tree_path("shared/link"), "chain");
    expect_target("shared/link", "mine/file");
    /* In a user namespace with one user, root may not. */
    SKIP_UNLESS(give("shared/link") == 0, "another-user: root cannot give it files");
    assert_int_equal(give("shared/device"), 0);
    assert_int_equal(resolve("shared/link"), -EACCES);
    assert_int_equal(resolve("chain"), -EACCES);
    assert_int_equal(chdir(tree_path("shared")), 0);
    assert_int_equal(ss_whole_file_resolve("link", target, sizeof target), -EACCES);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(ss_whole_file_open(&file, tree_path("shared/link")), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(ss_whole_file_open(&file, tree_path("shared/device")), -1);
    assert_refused(tree_path("shared/link"), "it is a link that another user made");
    assert_refused(tree_path("shared/device"), "it is a link that another user made");
    set_mode("shared", 0777);
    expect_target("shared/link", "mine/file");
    set_mode("shared", 01755);
    expect_target("shared/link", "mine/file");
    set_mode("shared", 01777);
    assert_int_equal(give("shared"), 0);
    expect_target("shared/link", "mine/file");
}

/* The hidden name is longer: without a cut, writing would fail although the name is valid. */
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
    link_to("../other", "folder/name");
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

TEST(replaced_file_keeps_its_mode) {
    struct ss_whole_file file;
    struct stat status;
    tree_new();
    tree_write("secret", "");
    set_mode("secret", 0600);
    assert_int_equal(ss_whole_file_open(&file, tree_path("secret")), 0);
    assert_int_equal(ss_whole_file_commit(&file), 0);
    assert_int_equal(stat(tree_path("secret"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

UNIT_RUN
