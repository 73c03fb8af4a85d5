/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a table that keeps only its last rows. */
#include "record/rotation.h"

#include <errno.h>
#include <fcntl.h>

#include "tree.h"

#define HEADING "second\n"

static struct ss_lines lines;
static struct ss_rotation rotation;
static int folder = -1;

static void open_table(ss_time keep) {
    if (folder >= 0)
        close(folder);
    folder = open(tree_new(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_that(folder, >=, 0);
    rotation = (struct ss_rotation){.name = "rows.csv",
        .aside = "rows-before.csv",
        .heading = HEADING,
        .keep = keep,
        .began = SS_TIME_NEVER};
    assert_int_equal(ss_lines_open(&lines, folder, rotation.name), 0);
    ss_lines_end(&lines, stpcpy(ss_lines_begin(&lines, 64), HEADING));
}

static void add_rows(unsigned from, unsigned to) {
    for (unsigned second = from; second <= to; second++) {
        ss_rotation_turn(&rotation, &lines, folder, second * SS_SECOND);
        char *row = ss_lines_begin(&lines, 64);
        ss_lines_end(&lines, row + sprintf(row, "%u\n", second));
    }
    ss_lines_flush(&lines);
}

static void expect_file(const char *name, const char *expected) {
    char text[4096];
    FILE *file = fopen(tree_path(name), "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static void expect_none(const char *name) {
    assert_int_equal(access(tree_path(name), F_OK), -1);
}

TEST(table_without_a_limit_keeps_all_rows) {
    open_table(0);
    add_rows(1, 5);
    expect_none("rows-before.csv");
    expect_file("rows.csv", HEADING "1\n2\n3\n4\n5\n");
    ss_lines_close(&lines);
    assert_int_equal(ss_rotation_join(&rotation, folder), 0);
    expect_file("rows.csv", HEADING "1\n2\n3\n4\n5\n");
}

TEST(last_rows_are_kept_in_two_files) {
    open_table(3 * SS_SECOND);
    add_rows(1, 3);
    expect_none("rows-before.csv");
    add_rows(4, 11);
    expect_file("rows-before.csv", HEADING "7\n8\n9\n");
    expect_file("rows.csv", HEADING "10\n11\n");
}

TEST(rotated_files_are_joined_at_the_end) {
    open_table(3 * SS_SECOND);
    add_rows(1, 11);
    ss_lines_close(&lines);
    assert_int_equal(ss_rotation_join(&rotation, folder), 0);
    expect_none("rows-before.csv");
    expect_file("rows.csv", HEADING "7\n8\n9\n10\n11\n");
}

TEST(joined_table_keeps_rows_out_of_order) {
    open_table(3 * SS_SECOND);
    add_rows(1, 4);
    add_rows(2, 2);
    ss_lines_close(&lines);
    assert_int_equal(ss_rotation_join(&rotation, folder), 0);
    expect_file("rows.csv", HEADING "1\n2\n3\n4\n2\n");
}

TEST(failure_to_join_keeps_all_rows) {
    open_table(3 * SS_SECOND);
    add_rows(1, 5);
    ss_lines_close(&lines);
    assert_int_equal(unlink(tree_path("rows.csv")), 0);
    assert_int_equal(ss_rotation_join(&rotation, folder), -ENOENT);
    expect_file("rows-before.csv", HEADING "1\n2\n3\n");
}

TEST(file_that_cannot_be_put_aside_keeps_its_rows) {
    open_table(3 * SS_SECOND);
    assert_int_equal(mkdir(tree_path("rows-before.csv"), 0777), 0);
    add_rows(1, 5);
    expect_file("rows.csv", HEADING "1\n2\n3\n4\n5\n");
    assert_int_equal(rotation.why, EISDIR);
    assert_int_equal(lines.lost, 0);
    assert_int_equal(rmdir(tree_path("rows-before.csv")), 0);
    add_rows(6, 8);
    expect_file("rows-before.csv", HEADING "1\n2\n3\n4\n5\n6\n");
    expect_file("rows.csv", HEADING "7\n8\n");
}

/* The last rows of a file are written when it is put aside. */
TEST(rows_lost_in_the_file_put_aside_are_counted) {
    open_table(3 * SS_SECOND);
    add_rows(1, 1);
    int unwritable = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_that(unwritable, >=, 0);
    assert_int_equal(dup2(unwritable, lines.file), lines.file);
    close(unwritable);
    char *row = ss_lines_begin(&lines, 64);
    ss_lines_end(&lines, row + sprintf(row, "2\n"));
    add_rows(4, 4);
    assert_int_equal(lines.lost, 1);
    assert_int_equal(lines.why, EBADF);
    expect_file("rows.csv", HEADING "4\n");
}

UNIT_RUN
