/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/words.h"
#include "command/commands.h"
#include "tree.h"

static struct ss_commands commands;

static void repeat(const char *line, uint64_t count) {
    struct ss_error error = {0};
    char **words = ss_words_split(line, NULL, NULL);
    ss_commands_free(&commands);
    assert_succeeds(ss_commands_repeat(&commands, words, count, &error), error);
    assert_int_equal(commands.count, count);
    free(words);
}

/* Returns the words of one command, each in brackets. */
static const char *shown(uint32_t index) {
    static char text[1024];
    *text = '\0';
    for (char **word = commands.items[index]; *word; word++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "[%s]", *word);
    }
    return text;
}

static void number(const char *line, uint64_t count, const char *placeholder) {
    struct ss_error error = {0};
    repeat(line, count);
    assert_int_equal(ss_commands_number(&commands, placeholder, &error), 0);
    assert_int_equal(error.status, 0);
}

static int read_text(const char *text, struct ss_error *error) {
    tree_new();
    ss_commands_free(&commands);
    return ss_commands_read(&commands, tree_write("work", text), error);
}

static void read_well(const char *text, uint32_t count) {
    struct ss_error error = {0};
    assert_succeeds(read_text(text, &error), error);
    assert_int_equal(commands.count, count);
}

TEST(instances_are_in_the_order_of_workload_lines) {
    struct ss_error error = {0};
    read_well("2 one -%\n\n# none\n3 two\n1 one -%\n", 6);
    assert_int_equal(commands.line_count, 3);
    assert_int_equal(ss_commands_number(&commands, "%", &error), 0);
    assert_string_equal(shown(1), "[one][-1]");
    assert_string_equal(commands.lines[0].words[1], "-%");
    assert_int_equal(commands.lines[0].first, 0);
    assert_int_equal(commands.lines[0].count, 2);
    assert_string_equal(commands.lines[1].words[0], "two");
    assert_null(commands.lines[1].words[1]);
    assert_int_equal(commands.lines[1].first, 2);
    assert_int_equal(commands.lines[2].first, 5);
    assert_int_equal(commands.lines[2].count, 1);
    ss_commands_free(&commands);
    assert_null(commands.lines);
}

/* Checks that the file is refused with one line: the path, then `where` (":2: ..."). */
static void refuse(const char *text, const char *where) {
    struct ss_error error = {0};
    assert_int_equal(read_text(text, &error), -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    const char *path = tree_path("work");
    if (strncmp(error.message, path, strlen(path)) != 0 || !strstr(error.message, where) ||
        strpbrk(error.message, "\r\n"))
        fail_msg("'%s': message without '%s': %s", text, where, error.message);
}

TEST(instance_numbers_have_equal_width) {
    static const struct {
        uint32_t count;
        const char *first, *last;
    } cases[] = {
        {1, "[s.0]", "[s.0]"},
        {2, "[s.0]", "[s.1]"},
        {10, "[s.0]", "[s.9]"},
        {11, "[s.00]", "[s.10]"},
        {12, "[s.00]", "[s.11]"},
        {100, "[s.00]", "[s.99]"},
        {1000, "[s.000]", "[s.999]"},
        {1001, "[s.0000]", "[s.1000]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number("s.%", cases[i].count, "%");
        assert_string_equal(shown(0), cases[i].first);
        assert_string_equal(shown(cases[i].count - 1), cases[i].last);
    }
    number("s.%", 1000, "%");
    assert_string_equal(shown(42), "[s.042]");
}

TEST(every_placeholder_is_filled_in) {
    number("% a%b% -x=% plain ''", 12, "%");
    assert_string_equal(shown(7), "[07][a07b07][-x=07][plain][]");
    assert_string_equal(shown(11), "[11][a11b11][-x=11][plain][]");
}

TEST(a_doubled_placeholder_stands_for_itself) {
    number("%% 100%% %%% %%%% %%a% %a%%", 2, "%");
    assert_string_equal(shown(1), "[%][100%][%1][%%][%a1][1a%]");
}

TEST(longer_placeholders_work) {
    number("x{}y {}{} {} { }{ {}{}{}", 11, "{}");
    assert_string_equal(shown(10), "[x10y][{}][10][{][}{][{}10]");
    /* Placeholders are replaced from the left, without overlap. */
    number("aba aaa aaaa", 2, "aa");
    assert_string_equal(shown(1), "[aba][1a][aa]");
    number("a%b NUM", 2, "NUM");
    assert_string_equal(shown(0), "[a%b][0]");
}

TEST(empty_placeholder_disables_substitution) {
    number("a% %% b", 12, "");
    assert_string_equal(shown(3), "[a%][%%][b]");
}

TEST(instances_have_separate_copies_of_their_command) {
    repeat("a b", 2);
    assert_ptr_not_equal(commands.items[0], commands.items[1]);
    assert_ptr_not_equal(commands.items[0][1], commands.items[1][1]);
    struct ss_error error = {0};
    char c[] = "c";
    char *more[] = {c, NULL};
    assert_int_equal(ss_commands_repeat(&commands, more, 1, &error), 0);
    assert_int_equal(commands.count, 3);
    assert_string_equal(shown(1), "[a][b]");
    assert_string_equal(shown(2), "[c]");
    ss_commands_free(&commands);
    assert_int_equal(commands.count, 0);
    assert_null(commands.items);
}

TEST(instance_counts_have_bounds) {
    static const uint64_t wrong[] = {0, 1000001, UINT64_MAX};
    char a[] = "a";
    char *words[] = {a, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error error = {0};
        ss_commands_free(&commands);
        assert_fails(ss_commands_repeat(&commands, words, wrong[i], &error), error,
            wrong[i] ? "(at most 1000000)" : "at least 1");
    }
}

/*
 * 3 + (2^64 - 1) wraps to 2. A child makes the call, because a wrong sum would exhaust memory or
 * crash.
 */
TEST(sum_of_instance_counts_does_not_wrap) {
    repeat("a", 3);
    pid_t child = fork();
    assert_that(child, >=, 0);
    if (child == 0) {
        struct rlimit memory = {1 << 28, 1 << 28};
        setrlimit(RLIMIT_AS, &memory);
        alarm(240);
        char a[] = "a";
        char *words[] = {a, NULL};
        struct ss_error error = {0};
        _exit(ss_commands_repeat(&commands, words, UINT64_MAX, &error) == -1 && commands.count == 3
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("2^64 - 1 more instances were not refused: wait status %#x", (unsigned)status);
}

TEST(workload_files_are_read) {
    read_well("# all of it\n"
              "2 java -jar x.jar\n"
              "\n"
              "  1 sh -c 'echo \"a  b\" # no comment'  # a comment\n"
              "\t# another\n"
              "1 last",
        4);
    assert_string_equal(shown(0), "[java][-jar][x.jar]");
    assert_string_equal(shown(1), "[java][-jar][x.jar]");
    assert_string_equal(shown(2), "[sh][-c][echo \"a  b\" # no comment]");
    assert_string_equal(shown(3), "[last]");
}

TEST(workload_files_may_have_carriage_returns) {
    read_well("1 a b\r\n1 c\r\n", 2);
    assert_string_equal(shown(0), "[a][b]");
    assert_string_equal(shown(1), "[c]");
}

/* Otherwise the rest of the line, or of the file, would be lost without a message. */
TEST(carriage_return_inside_a_line_is_refused) {
    refuse("1 a\r1 b\r", ":1: the line contains a carriage return: save the file with Unix");
    refuse("1 a\r\n2 b\r2 c\n", ":2: the line contains a carriage return");
}

TEST(byte_order_mark_is_skipped) {
    read_well("\xef\xbb\xbf"
              "1 a\n1 b\n",
        2);
    assert_string_equal(shown(0), "[a]");
}

TEST(instance_numbers_continue_across_lines) {
    struct ss_error error = {0};
    read_well("9 a%\n2 b%\n", 11);
    assert_int_equal(ss_commands_number(&commands, "%", &error), 0);
    assert_string_equal(shown(0), "[a00]");
    assert_string_equal(shown(8), "[a08]");
    assert_string_equal(shown(10), "[b10]");
}

TEST(invalid_workload_line_is_reported) {
    refuse("1 a\nx b\n", ":2: expected COUNT COMMAND...: 'x' is not a whole number");
    refuse("1 a\n\n# c\n1.5 b\n", ":4: expected COUNT COMMAND...");
    refuse("-1 a\n", ":1: expected COUNT COMMAND...");
    refuse("0 a\n", ":1: 0 instances: use at least 1");
    refuse("1000001 a\n", ":1: too many instances: 1000001 (at most 1000000)");
    refuse("1 a\n1000000 b\n",
        ":2: too many instances: 1000000, and 1 on earlier lines (at most 1000000)");
    refuse("1 a\n1000001 b\n", ":2: too many instances: 1000001 (at most 1000000)");
    refuse("3\n", ":1: '3' is not COUNT COMMAND...");
    refuse("1 a\nls\n", ":2: 'ls' is not COUNT COMMAND...");
    refuse("1 a\n2 sh -c 'b\n", ":2: the quote ' at column");
}

TEST(files_without_a_workload_are_refused) {
    refuse("", ": the file contains no workload: use one per line, COUNT COMMAND...");
    refuse("\n# 1 a\n", ": the file contains no workload");
}

TEST(zero_byte_in_a_workload_file_is_refused) {
    static const char text[] = "1 true\n2 echo a\0b\n";
    struct ss_error error = {0};
    tree_new();
    ss_commands_free(&commands);
    const char *path = tree_write_bytes("work", text, sizeof text - 1);
    assert_fails(
        ss_commands_read(&commands, path, &error), error, "/work:2: the line contains a null byte");
}

TEST(endless_workload_file_is_refused) {
    struct ss_error error = {0};
    ss_commands_free(&commands);
    assert_fails(ss_commands_read(&commands, "/dev/zero", &error), error,
        "/dev/zero: the file is larger than 16 MiB");
}

TEST(unreadable_workload_files_are_reported) {
    struct ss_error error = {0};
    tree_new();
    ss_commands_free(&commands);
    assert_fails(ss_commands_read(&commands, tree_path("none"), &error), error,
        "/none: No such file or directory");
    error = (struct ss_error){0};
    assert_fails(ss_commands_read(&commands, tree_root, &error), error, "Is a directory");
}

/* A percentage in the command is most likely meant for another showstopper. */
static void assert_percentage(const char *line, const char *placeholder, const char *expected) {
    repeat(line, 1);
    const char *word = ss_commands_find_percentage(&commands, placeholder);
    if (!expected)
        assert_null(word);
    else
        assert_string_equal(word, expected);
}

TEST(percentage_in_a_command_causes_a_hint) {
    assert_percentage("showstopper -l 60% true", "%", "60%");
    assert_percentage("showstopper --load=60% true", "%", "--load=60%");
    assert_percentage("showstopper -l 60%% true", "%", NULL);
    assert_percentage("run scratch.% %", "%", NULL);
    assert_percentage("run 5%x", "%", NULL);
    assert_percentage("run 60%", "@", NULL);
    assert_percentage("run 60%", "", NULL);
    assert_percentage("run 6@", "@", NULL);
}

UNIT_RUN
