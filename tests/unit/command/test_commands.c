/* SPDX-License-Identifier: Apache-2.0 */

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
    assert_int_equal(ss_commands_fill_in(&commands, placeholder, &error), 0);
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
    assert_int_equal(ss_commands_fill_in(&commands, "%", &error), 0);
    assert_string_equal(shown(1), "[one][-1]");
    assert_string_equal(shown(5), "[one][-5]");
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
    static const struct {
        const char *placeholder, *line;
        uint32_t count, index;
        const char *shown;
    } cases[] = {
        {"%", "% a%b% -x=% plain ''", 12, 7, "[07][a07b07][-x=07][plain][]"},
        {"%", "% a%b% -x=% plain ''", 12, 11, "[11][a11b11][-x=11][plain][]"},
        /* A doubled placeholder is literal. */
        {"%", "%% 100%% %%% %%%% %%a% %a%%", 2, 1, "[%][100%][%1][%%][%a1][1a%]"},
        {"{}", "x{}y {}{} {} { }{ {}{}{}", 11, 10, "[x10y][{}][10][{][}{][{}10]"},
        /* Placeholders are replaced from the left, without overlap. */
        {"aa", "aba aaa aaaa", 2, 1, "[aba][1a][aa]"},
        {"NUM", "a%b NUM", 2, 0, "[a%b][0]"},
        /* An empty placeholder disables substitution. */
        {"", "a% %% b", 12, 3, "[a%][%%][b]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number(cases[i].line, cases[i].count, cases[i].placeholder);
        assert_string_equal(shown(cases[i].index), cases[i].shown);
    }
}

TEST(instances_have_separate_copies_of_their_command) {
    repeat("a b", 2);
    assert_ptr_not_equal(commands.items[0], commands.items[1]);
    assert_ptr_not_equal(commands.items[0][1], commands.items[1][1]);
    struct ss_error error = {0};
    char c[] = "c";
    char *more[] = {c, NULL};
    assert_fails(ss_commands_repeat(&commands, more, 0, &error), error, "at least 1");
    error = (struct ss_error){0};
    assert_fails(ss_commands_repeat(&commands, more, 1000001, &error), error, "at most 1000000");
    assert_int_equal(ss_commands_repeat(&commands, more, 1, &error), 0);
    assert_int_equal(commands.count, 3);
    assert_string_equal(shown(1), "[a][b]");
    assert_string_equal(shown(2), "[c]");
    ss_commands_free(&commands);
    assert_int_equal(commands.count, 0);
    assert_null(commands.items);
}

/* 3 + (2^64 - 1) wraps to 2. */
TEST(sum_of_instance_counts_does_not_wrap) {
    struct ss_error error = {0};
    char a[] = "a";
    char *words[] = {a, NULL};
    repeat("a", 3);
    assert_fails(
        ss_commands_repeat(&commands, words, UINT64_MAX, &error), error, "at most 1000000");
    assert_int_equal(commands.count, 3);
}

TEST(workload_files_are_read) {
    read_well("\xef\xbb\xbf# all of it\r\n"
              "2 java -jar x.jar\r\n"
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

TEST(invalid_workload_line_is_reported) {
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"", ": the file contains no workload: use one per line, COUNT COMMAND..."},
        {"\n# 1 a\n", ": the file contains no workload"},
        {"1 a\nx b\n", ":2: expected COUNT COMMAND...: 'x' is not a whole number"},
        {"1 a\n\n# c\n1.5 b\n", ":4: expected COUNT COMMAND..."},
        {"-1 a\n", ":1: expected COUNT COMMAND..."},
        {"0 a\n", ":1: 0 instances: use at least 1"},
        {"1000001 a\n", ":1: too many instances: 1000001 (at most 1000000)"},
        {"1 a\n1000000 b\n",
            ":2: too many instances: 1000000, and 1 on earlier lines (at most 1000000)"},
        {"3\n", ":1: '3' is not a workload: use COUNT COMMAND..."},
        {"1 a\nls\n", ":2: 'ls' is not a workload: use COUNT COMMAND..."},
        {"1 a\n2 sh -c 'b\n", ":2: the quote ' at column"},
        /* Otherwise the rest of the line, or of the file, would be lost without a message. */
        {"1 a\r1 b\r", ":1: the line contains a carriage return: save the file with Unix"},
        {"1 a\r\n2 b\r2 c\n", ":2: the line contains a carriage return"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, cases[i].where);
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

TEST(unreadable_workload_files_are_reported) {
    static const struct {
        const char *path, *message;
    } cases[] = {
        {"/dev/zero", "/dev/zero: the file is larger than 16 MiB"},
        {"/no/such/file", "/no/such/file: No such file or directory"},
        {"/", "Is a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_error error = {0};
        ss_commands_free(&commands);
        assert_fails(ss_commands_read(&commands, cases[i].path, &error), error, cases[i].message);
    }
}

/* A percentage in the command is most likely meant for another showstopper. */
TEST(percentage_in_a_command_causes_a_hint) {
    static const struct {
        const char *line, *placeholder, *word;
    } cases[] = {
        {"showstopper -l 60% true", "%", "60%"},
        {"showstopper --load=60% true", "%", "--load=60%"},
        {"showstopper -l 60%% true", "%", NULL},
        {"run scratch.% %", "%", NULL},
        {"run 5%x", "%", NULL},
        {"run 60%", "@", NULL},
        {"run 60%", "", NULL},
        {"run 6@", "@", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        repeat(cases[i].line, 1);
        const char *word = ss_commands_find_percentage(&commands, cases[i].placeholder);
        assert_string_equal(word ? word : "", cases[i].word ? cases[i].word : "");
    }
}

UNIT_RUN
