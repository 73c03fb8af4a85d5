/* SPDX-License-Identifier: Apache-2.0 */
#include "command/commands.h"
#include "tree.h"

static const char *script(const char *name, mode_t mode) {
    const char *path = tree_write(name, "#!/bin/sh\n");
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

/* Returns the exit status with which a command of this name is refused, or 0. */
static int check_with(const char *name, struct ss_error *error) {
    struct ss_commands commands = {0};
    char word[4200];
    char *words[] = {word, NULL};
    snprintf(word, sizeof word, "%s", name);
    assert_int_equal(ss_commands_repeat(&commands, words, 2, error), 0);
    int result = ss_commands_check(&commands, error);
    assert_int_equal(result, error->status ? -1 : 0);
    ss_commands_free(&commands);
    return error->status;
}

static int check(const char *name) {
    struct ss_error error = {0};
    return check_with(name, &error);
}

static void assert_message(const char *name, const char *part) {
    struct ss_error error = {0};
    check_with(name, &error);
    if (strncmp(error.message, name, strlen(name)) != 0 || !strstr(error.message, part))
        fail_msg("'%s': message without '%s': %s", name, part, error.message);
}

static void use_path(const char *first, const char *second) {
    char path[8300];
    snprintf(path, sizeof path, "%s:%s", first, second);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

TEST(commands_with_a_slash_are_not_searched) {
    tree_new();
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(check(script("run", 0755)), 0);
    assert_int_equal(check(tree_path("none")), SS_ERROR_NOT_FOUND);
    assert_int_equal(check(script("plain", 0644)), SS_ERROR_NOT_EXECUTABLE);
    assert_int_equal(check(tree_root), SS_ERROR_NOT_EXECUTABLE);
    /* A file where a folder is expected. */
    assert_int_equal(check(tree_path("run/x")), SS_ERROR_NOT_FOUND);
    assert_message(tree_path("none"), "no such file: check the path");
    assert_message(tree_path("plain"), "cannot execute the command: Permission denied");
    assert_message(tree_root, "cannot execute the command: Is a directory");
}

static void write_script(const char *name, const char *first_line) {
    const char *path = tree_write(name, first_line);
    assert_int_equal(chmod(path, 0755), 0);
}

TEST(scripts_need_their_interpreter) {
    char line[4300];
    tree_new();
    write_script("none", "#!/no/such -x\n");
    assert_int_equal(check(tree_path("none")), SS_ERROR_NOT_FOUND);
    assert_message(tree_path("none"), ": interpreter /no/such does not exist");
    write_script("carried", "#! /bin/sh\r\n");
    assert_int_equal(check(tree_path("carried")), SS_ERROR_NOT_FOUND);
    assert_message(tree_path("carried"), "interpreter /bin/sh is followed by a carriage return");
    script("plain", 0644);
    snprintf(line, sizeof line, "#!%s\n", tree_path("plain"));
    if (strlen(line) < 250) {
        write_script("locked", line);
        assert_int_equal(check(tree_path("locked")), SS_ERROR_NOT_EXECUTABLE);
        assert_message(tree_path("locked"), "/plain: Permission denied");
    }
    /* The interpreter of a script may itself be a script, which needs an interpreter, too. */
    snprintf(line, sizeof line, "#!%s\n", tree_path("none"));
    if (strlen(line) < 250) {
        write_script("second", line);
        assert_int_equal(check(tree_path("second")), SS_ERROR_NOT_FOUND);
    }
    /* Scripts are also found in PATH. A script without an interpreter is run by a shell. */
    use_path(tree_path("."), "/nowhere");
    assert_int_equal(check("none"), SS_ERROR_NOT_FOUND);
    assert_message("none", "interpreter /no/such does not exist");
    write_script("shell", "echo\n");
    assert_int_equal(check("shell"), 0);
    write_script("blank", "#!\n");
    assert_int_equal(check("blank"), 0);
    assert_int_equal(check(""), SS_ERROR_NOT_FOUND);
    assert_message("", "the command is empty");
    assert_message("shell 1", "contains spaces: remove the quotes around it, or run it with sh -c");
}

TEST(relative_commands_are_relative_to_the_current_folder) {
    tree_new();
    script("sub/run", 0755);
    assert_int_equal(chdir(tree_root), 0);
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(check("sub/run"), 0);
    assert_int_equal(check("./sub/run"), 0);
    assert_int_equal(check("run"), SS_ERROR_NOT_FOUND);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(check("sub/run"), SS_ERROR_NOT_FOUND);
}

/* Folders and files that cannot be executed are skipped. */
TEST(commands_without_a_slash_are_searched_in_path) {
    static const struct {
        const char *first, *second, *name;
        int status;
        const char *message; /* NULL if not compared */
    } rows[] = {
        {"one", "two", "a", 0, NULL},
        {"one", "two", "b", 0, NULL},
        {"one", "two", "none", SS_ERROR_NOT_FOUND, "command not found: check its name and PATH"},
        {"none", "two", "a", SS_ERROR_NOT_FOUND, NULL},
        {"none", "two", "b", 0, NULL},
        {"one", "two", "c", 0, NULL},
        {"one", "two", "folder", 0, NULL},
        {"one", "two", "plain", SS_ERROR_NOT_EXECUTABLE, NULL},
        /* The first reason is kept when a later folder lacks the name. */
        {"two", "one", "plain", SS_ERROR_NOT_EXECUTABLE, "Permission denied"},
        /* A file among the folders of PATH is skipped. */
        {"two/plain", "two", "c", 0, NULL},
        {"two/plain", "two/plain", "c", SS_ERROR_NOT_FOUND, NULL},
        {"two", "two/plain", "plain", SS_ERROR_NOT_EXECUTABLE, NULL},
    };
    tree_new();
    script("one/a", 0755);
    script("two/b", 0755);
    script("one/c", 0644);
    script("two/c", 0755);
    script("one/folder/x", 0644);
    script("two/folder", 0755);
    script("two/plain", 0644);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use_path(tree_path(rows[i].first), tree_path(rows[i].second));
        int status = check(rows[i].name);
        if (status != rows[i].status)
            fail_msg("row %zu: status %d, not %d", i, status, rows[i].status);
        if (rows[i].message)
            assert_message(rows[i].name, rows[i].message);
    }
}

/* PATH does not contain this test program, so it is found in its own folder. */
TEST(program_missing_from_path_is_found_next_to_this_one) {
    static const char *const names[] = {"unit_test_commands_search", "no-such-one", "sh", "./sh"};
    struct ss_commands commands = {0};
    struct ss_error error = {0};
    setenv("PATH", "/bin:/usr/bin", 1);
    for (size_t i = 0; i < 4; i++) {
        char word[64];
        char *words[] = {word, NULL};
        snprintf(word, sizeof word, "%s", names[i]);
        assert_int_equal(ss_commands_repeat(&commands, words, 1, &error), 0);
    }
    assert_int_equal(ss_commands_use_installed(&commands, &error), 0);
    assert_string_equal(strrchr(commands.items[0][0], '/') + 1, names[0]);
    assert_int_equal(access(commands.items[0][0], X_OK), 0);
    for (size_t i = 1; i < 4; i++)
        assert_string_equal(commands.items[i][0], names[i]);
    ss_commands_free(&commands);
    /* PATH takes precedence. */
    tree_new();
    script("one/unit_test_commands_search", 0755);
    use_path(tree_path("one"), "/bin");
    char name[] = "unit_test_commands_search";
    char *words[] = {name, NULL};
    assert_int_equal(ss_commands_repeat(&commands, words, 1, &error), 0);
    assert_int_equal(ss_commands_use_installed(&commands, &error), 0);
    assert_string_equal(commands.items[0][0], name);
    ss_commands_free(&commands);
}

TEST(empty_path_element_is_current_folder) {
    static const char *const paths[] = {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"};
    tree_new();
    script("here", 0755);
    assert_int_equal(chdir(tree_root), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        setenv("PATH", paths[i], 1);
        if (check("here") != 0)
            fail_msg("not found with PATH='%s'", paths[i]);
        assert_int_equal(check("there"), SS_ERROR_NOT_FOUND);
    }
    assert_int_equal(chdir("/"), 0);
    setenv("PATH", "", 1);
    assert_int_equal(check("here"), SS_ERROR_NOT_FOUND);
}

TEST(system_folders_are_searched_without_path) {
    unsetenv("PATH");
    assert_int_equal(check("sh"), 0);
    assert_int_equal(check("no-such-command-anywhere"), SS_ERROR_NOT_FOUND);
}

TEST(every_command_is_checked) {
    struct ss_commands commands = {0};
    struct ss_error error = {0};
    setenv("PATH", "/bin:/usr/bin", 1);
    tree_new();
    assert_int_equal(
        ss_commands_read(&commands, tree_write("work", "3 sh\n1 ls\n2 no-such-one\n"), &error), 0);
    assert_int_equal(ss_commands_check(&commands, &error), -1);
    assert_int_equal(error.status, SS_ERROR_NOT_FOUND);
    assert_says(error.message, "no-such-one");
    ss_commands_free(&commands);
    error = (struct ss_error){0};
    assert_int_equal(check_with("no\nsuch", &error), SS_ERROR_NOT_FOUND);
    assert_null(strpbrk(error.message, "\r\n"));
}

UNIT_RUN
