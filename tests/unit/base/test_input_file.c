/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_file.h"

#include <errno.h>
#include <fcntl.h>

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
    tree_link("file", "link");
    for (const char *const *name = (const char *const[]){"file", "link", NULL}; *name; name++) {
        int file = open_input(*name, 3);
        assert_that(file, >=, 0);
        assert_int_equal(read(file, text, 3), 3);
        assert_string_equal(text, "abc");
        close(file);
    }
    expect_refusal("none", ENOENT);
}

/* Without a writer, opening a pipe would block. */
TEST(only_small_regular_files_are_opened) {
    tree_new();
    tree_write("file", "abc");
    assert_int_equal(mkfifo(tree_path("fifo"), 0600), 0);
    tree_link("fifo", "link");
    tree_link("/dev/zero", "device");
    expect_refusal("fifo", EINVAL);
    expect_refusal("link", EINVAL);
    expect_refusal("device", EINVAL);
    expect_refusal(".", EINVAL);
    assert_int_equal(open_input("file", 2), -1);
    assert_int_equal(errno, EFBIG);
}

/* The path is relative to an open folder, not to the working folder. */
TEST(link_to_a_descriptor_is_followed) {
    char target[32], text[4] = "";
    tree_new();
    int open_file = open(tree_write("file", "abc"), O_RDONLY | O_CLOEXEC);
    int folder = open(tree_path("."), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_that(open_file, >=, 0);
    assert_that(folder, >=, 0);
    snprintf(target, sizeof target, "/proc/self/fd/%d", open_file);
    tree_link(target, "link");

    int file = ss_input_open(folder, "link", 3, NULL);
    assert_that(file, >=, 0);
    assert_int_equal(read(file, text, 3), 3);
    assert_string_equal(text, "abc");
    assert_int_equal(lseek(open_file, 0, SEEK_CUR), 0);
    close(file);
    close(folder);
    close(open_file);
}

TEST(foreign_link_is_not_followed) {
    enum { ALICE = 20001 };
    char text[4] = "";
    tree_new();
    tree_need_users();
    tree_write("secret", "abc");
    assert_int_equal(mkdir(tree_path("home"), 0755), 0);
    tree_write("home/own", "own");
    tree_link("../secret", "home/link");
    tree_link("..", "home/up");
    tree_link("own", "home/good");
    tree_give("home", ALICE);
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

/* A program of root must not reveal to other users which files exist. */
TEST(foreign_link_does_not_reveal_whether_its_target_exists) {
    enum { ALICE = 20001 };
    static const char *const links[][2] = {{"home/there", "../secret"}, {"home/absent", "../none"},
        {"home/above", "../none/file"}, {"home/below", "../secret/file"}, {NULL, NULL}};
    tree_new();
    tree_write("secret", "abc");
    tree_write("home/own", "own");
    tree_link("none", "link");
    assert_true(exists("secret") && exists("home"));
    assert_false(exists("none") || exists("none/file") || exists("link"));

    tree_need_users();
    tree_give("home", ALICE);
    for (const char *const(*link)[2] = links; (*link)[0]; link++) {
        tree_link((*link)[1], (*link)[0]);
        tree_give((*link)[0], ALICE);
        expect_refusal((*link)[0], EACCES);
        assert_true(exists((*link)[0]));
    }
    tree_link("none", "home/link");
    tree_give("home/link", ALICE);
    expect_refusal("home/link", ENOENT);
    assert_false(exists("home/link"));
}

UNIT_RUN
