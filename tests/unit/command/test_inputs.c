/* SPDX-License-Identifier: Apache-2.0 */
#include "command/inputs.h"

#include <fcntl.h>

#include "tree.h"

static struct ss_inputs inputs;
static const char *place;
static struct ss_error error;

static int add(const char *path) {
    ss_inputs_close(&inputs);
    error = (struct ss_error){0};
    place = path;
    return ss_inputs_add(&inputs, "trace", "path", &place, &error);
}

static void begin(const char *text) {
    tree_new();
    assert_int_equal(add(tree_write("trace", text)), 0);
}

static int copy(void) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", tree_path("record"));
    assert_int_equal(mkdir(folder, 0777), 0);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = ss_inputs_copy(&inputs, descriptor, &error);
    close(descriptor);
    return status;
}

static void expect_copied(const char *text) {
    assert_int_equal(copy(), 0);
    tree_assert_file("record/input-trace-path", text);
}

static void expect_copy(const char *text) {
    assert_int_equal(ss_inputs_check(&inputs, &error), 0);
    expect_copied(text);
}

static void expect_changed(int status) {
    assert_int_equal(status, -1);
    assert_says(error.message, "the file changed while it was read");
}

TEST(input_file_is_copied_into_the_record) {
    begin("0 10%\n");
    const char *given = place;
    expect_copy("0 10%\n");
    assert_ptr_equal(place, given);
}

TEST(input_file_changed_or_replaced_while_read_is_refused) {
    begin("0 10%\n");
    tree_write("trace", "0 10%\n1s 20%\n");
    expect_changed(ss_inputs_check(&inputs, &error));
    begin("0 10%\n");
    assert_int_equal(ss_inputs_check(&inputs, &error), 0);
    tree_write("trace", "0 10%\n1s 20%\n");
    expect_changed(copy());
    begin("0 10%\n");
    assert_int_equal(rename(tree_write("other", "0 20%\n"), tree_path("trace")), 0);
    expect_changed(ss_inputs_check(&inputs, &error));
}

/* A replay into its own record removes the file before copying it. */
TEST(input_file_removed_after_reading_is_copied) {
    begin("0 10%\n");
    assert_int_equal(ss_inputs_check(&inputs, &error), 0);
    assert_int_equal(unlink(tree_path("trace")), 0);
    expect_copied("0 10%\n");
    begin("0 10%\n");
    assert_int_equal(ss_inputs_check(&inputs, &error), 0);
    assert_int_equal(rename(tree_write("other", "0 20%\n"), tree_path("trace")), 0);
    expect_copied("0 10%\n");
}

/* A pipe can be read only once, so its reader gets the copy. */
TEST(input_pipe_is_read_only_once) {
    char path[32], text[64] = "";
    int ends[2];
    tree_new();
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "0 10%\n", 6), 6);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(add(path), 0);
    close(ends[0]);
    assert_string_not_equal(place, path);
    FILE *file = fopen(place, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "0 10%\n");
    expect_copy("0 10%\n");
    assert_ptr_equal(place, path);
}

TEST(inputs_that_are_not_files_are_refused) {
    static const char *const paths[] = {"/dev/zero", "/", "/nowhere/at/all"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(add(paths[i]), 0);
        assert_ptr_equal(place, paths[i]);
        assert_fails(
            ss_inputs_check(&inputs, &error), error, "only files and pipes can be recorded");
    }
}

TEST(existing_copy_of_an_input_is_not_overwritten) {
    begin("0 10%\n");
    tree_write("record/input-trace-path", "old\n");
    int folder = open(tree_path("record"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_fails(ss_inputs_copy(&inputs, folder, &error), error,
        "to input-trace-path in the record: File exists");
    close(folder);
}

UNIT_RUN
