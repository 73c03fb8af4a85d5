/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/lines.h"
#include "tree.h"

static struct ss_lines lines; /* too large for the stack */

/* Opens the file in the folder of the test. */
static int open_lines_again(void) {
    int descriptor = open(tree_root, O_RDONLY | O_DIRECTORY);
    int result = ss_lines_open(&lines, descriptor, "lines");
    close(descriptor);
    return result;
}

static void open_lines(void) {
    tree_new();
    assert_int_equal(open_lines_again(), 0);
}

static void print_line(const char *text) {
    char *to = ss_lines_begin(&lines, strlen(text) + 1);
    to = stpcpy(to, text);
    *to++ = '\n';
    ss_lines_end(&lines, to);
}

TEST(buffered_lines_are_written_together) {
    open_lines();
    print_line("one 1");
    print_line("two 2");
    tree_assert_file("lines", "");
    ss_lines_flush(&lines);
    tree_assert_file("lines", "one 1\ntwo 2\n");
    print_line("three");
    ss_lines_close(&lines);
    tree_assert_file("lines", "one 1\ntwo 2\nthree\n");
    assert_int_equal(lines.lost, 0);
    assert_int_equal(lines.err, 0);
}

TEST(full_line_buffer_is_written_early) {
    static char text[10000 * 12 + 1];
    open_lines();
    for (int i = 0; i < 10000; i++) {
        char *line = text + 12 * i;
        snprintf(line, 13, "line %06d", i);
        print_line(line);
        strcat(line, "\n");
    }
    ss_lines_close(&lines);
    tree_assert_file("lines", text);
}

TEST(existing_file_is_not_replaced_by_lines) {
    open_lines();
    ss_lines_close(&lines);
    assert_int_equal(open_lines_again(), -EEXIST);
    print_line("nowhere");
    ss_lines_close(&lines);
}

/* A short write, as on a full disk, must not leave a partial line. */
TEST(full_disk_leaves_only_complete_lines) {
    open_lines();
    print_line("0123456789");
    ss_lines_flush(&lines);
    tree_limit_size(25);
    print_line("abcdefghij");
    print_line("klmnopqrst");
    ss_lines_flush(&lines);
    assert_int_equal(lines.lost, 1);
    assert_int_equal(lines.err, EFBIG);
    tree_assert_file("lines", "0123456789\nabcdefghij\n");
    print_line("not a byte of it fits");
    ss_lines_flush(&lines);
    assert_int_equal(lines.lost, 2);
    /* The disk has space again. */
    tree_limit_size(RLIM_INFINITY);
    print_line("uvwxyz");
    ss_lines_close(&lines);
    tree_assert_file("lines", "0123456789\nabcdefghij\nuvwxyz\n");
    assert_int_equal(lines.lost, 2);
}

UNIT_RUN
