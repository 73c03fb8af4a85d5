/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static int open_input(const char *name, off_t max) {
    struct ss_error error = {0};
    int file = ss_input_open(AT_FDCWD, tree_path(name), max, &error);
    int why = errno;
    if (file < 0)
        assert_int_equal(error.status, SS_ERROR_FAILED);
    errno = why;
    return file;
}

static void expect_refusal(const char *name, int why) {
    int file = open_input(name, 100);
    assert_int_equal(file, -1);
    assert_int_equal(errno, why);
}

TEST(regular_file_is_opened) {
    char text[4] = "";
    tree_new();
    tree_write("file", "abc");
    assert_int_equal(symlink("file", tree_path("link")), 0);
    for (const char *const *name = (const char *const[]){"file", "link", NULL}; *name; name++) {
        int file = open_input(*name, 3);
        assert_that(file, >=, 0);
        assert_int_equal(read(file, text, 3), 3);
        assert_string_equal(text, "abc");
        close(file);
    }
    expect_refusal("none", ENOENT);
}

/* Without a writer, opening it would block. */
TEST(fifo_is_refused) {
    tree_new();
    assert_int_equal(mkfifo(tree_path("fifo"), 0600), 0);
    assert_int_equal(symlink("fifo", tree_path("link")), 0);
    expect_refusal("fifo", EINVAL);
    expect_refusal("link", EINVAL);
}

TEST(folder_and_device_are_refused) {
    tree_new();
    assert_int_equal(symlink("/dev/zero", tree_path("link")), 0);
    expect_refusal("link", EINVAL);
    expect_refusal(".", EINVAL);
}

TEST(file_beyond_the_limit_is_refused) {
    tree_new();
    tree_write("file", "abc");
    assert_int_equal(open_input("file", 2), -1);
    assert_int_equal(errno, EFBIG);
}

TEST(foreign_link_is_not_followed) {
    enum { ALICE = 20001 };
    char text[4] = "";
    tree_new();
    SKIP_UNLESS(geteuid() == 0, "root: files of two users are needed");
    tree_write("secret", "abc");
    assert_int_equal(mkdir(tree_path("home"), 0755), 0);
    tree_write("home/own", "own");
    assert_int_equal(symlink("../secret", tree_path("home/link")), 0);
    assert_int_equal(symlink("..", tree_path("home/up")), 0);
    assert_int_equal(symlink("own", tree_path("home/good")), 0);
    SKIP_UNLESS(
        lchown(tree_path("home"), ALICE, ALICE) == 0, "another-user: root cannot give it files");
    tree_give("home/own", ALICE);
    tree_give("home/link", ALICE);
    tree_give("home/up", ALICE);
    tree_give("home/good", ALICE);

    expect_refusal("home/link", EACCES);
    expect_refusal("home/up/secret", EACCES);
    int file = open_input("home/good", 3);
    assert_that(file, >=, 0);
    assert_int_equal(read(file, text, 3), 3);
    assert_string_equal(text, "own");
    close(file);

    int folder = open(tree_path("home"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(ss_input_open(folder, "link", 3, NULL), -1);
    file = ss_input_open(folder, "own", 3, NULL);
    assert_that(file, >=, 0);
    close(file);
    close(folder);
}

static bool exists(const char *name) {
    return ss_input_exists(AT_FDCWD, tree_path(name));
}

/* A program of root must not show other users which files there are. */
TEST(target_of_a_foreign_link_may_exist_or_not) {
    enum { ALICE = 20001 };
    static const char *const links[][2] = {{"home/there", "../secret"}, {"home/absent", "../none"},
        {"home/above", "../none/file"}, {"home/below", "../secret/file"}, {NULL, NULL}};
    tree_new();
    tree_write("secret", "abc");
    tree_write("home/own", "own");
    assert_int_equal(symlink("none", tree_path("link")), 0);
    assert_true(exists("secret") && exists("home"));
    assert_false(exists("none") || exists("none/file") || exists("link"));

    SKIP_UNLESS(geteuid() == 0, "root: files of two users are needed");
    SKIP_UNLESS(
        lchown(tree_path("home"), ALICE, ALICE) == 0, "another-user: root cannot give it files");
    for (const char *const(*link)[2] = links; (*link)[0]; link++) {
        assert_int_equal(symlink((*link)[1], tree_path((*link)[0])), 0);
        tree_give((*link)[0], ALICE);
        expect_refusal((*link)[0], EACCES);
        assert_true(exists((*link)[0]));
    }
    assert_int_equal(symlink("none", tree_path("home/link")), 0);
    tree_give("home/link", ALICE);
    expect_refusal("home/link", ENOENT);
    assert_false(exists("home/link"));
}

UNIT_RUN
