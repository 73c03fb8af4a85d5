/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lines.h"
#include "unit.h"

static char folder[64];
static struct ss_lines lines; /* too large for the stack */

static void open_lines(void) {
    strcpy(folder, "/tmp/test_lines.XXXXXX");
    assert_non_null(mkdtemp(folder));
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(ss_lines_open(&lines, descriptor, "lines"), 0);
    close(descriptor);
}

static size_t read_back(char *text, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/lines", folder);
    int file = open(path, O_RDONLY);
    ssize_t length = read(file, text, size - 1);
    close(file);
    assert_that(length, >=, 0);
    text[length] = '\0';
    return (size_t)length;
}

static void remove_all(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/lines", folder);
    unlink(path);
    rmdir(folder);
}

static void print_line(const char *text) {
    char *to = ss_lines_begin(&lines, strlen(text) + 1);
    to = stpcpy(to, text);
    *to++ = '\n';
    ss_lines_end(&lines, to);
}

TEST(buffered_lines_are_written_together) {
    char text[256];
    open_lines();
    print_line("one 1");
    print_line("two 2");
    assert_int_equal(read_back(text, sizeof text), 0);
    ss_lines_flush(&lines);
    read_back(text, sizeof text);
    assert_string_equal(text, "one 1\ntwo 2\n");
    print_line("three");
    ss_lines_close(&lines);
    read_back(text, sizeof text);
    assert_string_equal(text, "one 1\ntwo 2\nthree\n");
    assert_int_equal(lines.lost, 0);
    assert_int_equal(lines.why, 0);
    remove_all();
}

TEST(full_line_buffer_is_written_early) {
    static char text[400000];
    open_lines();
    for (int i = 0; i < 20000; i++) {
        char line[16];
        snprintf(line, sizeof line, "line %06d", i);
        print_line(line);
    }
    ss_lines_close(&lines);
    assert_int_equal(read_back(text, sizeof text), 20000 * 12);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(strtol(text + 12 * i + 5, NULL, 10), i);
    remove_all();
}

TEST(existing_file_is_not_replaced_by_lines) {
    open_lines();
    ss_lines_close(&lines);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(ss_lines_open(&lines, descriptor, "lines"), -EEXIST);
    close(descriptor);
    print_line("nowhere");
    ss_lines_close(&lines);
    remove_all();
}

static void limit_files(rlim_t size) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A short write, as on a full disk, must not leave a partial line. */
TEST(full_disk_leaves_only_complete_lines) {
    char text[256];
    signal(SIGXFSZ, SIG_IGN);
    open_lines();
    print_line("0123456789");
    ss_lines_flush(&lines);
    limit_files(25);
    print_line("abcdefghij");
    print_line("klmnopqrst");
    ss_lines_flush(&lines);
    assert_int_equal(lines.lost, 1);
    assert_int_equal(lines.why, EFBIG);
    read_back(text, sizeof text);
    assert_string_equal(text, "0123456789\nabcdefghij\n");
    print_line("not a byte of it fits");
    ss_lines_flush(&lines);
    assert_int_equal(lines.lost, 2);
    /* The disk has space again. */
    limit_files(RLIM_INFINITY);
    print_line("uvwxyz");
    ss_lines_close(&lines);
    read_back(text, sizeof text);
    assert_string_equal(text, "0123456789\nabcdefghij\nuvwxyz\n");
    assert_int_equal(lines.lost, 2);
    remove_all();
}

UNIT_RUN
