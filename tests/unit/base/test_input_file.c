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

UNIT_RUN
