/* SPDX-License-Identifier: Apache-2.0 */

#include "battery.h"
#include "tree.h"

#define TASK "sort cpu /s higher 'run sort' 'rate ([0-9.e+-]+)'"

static struct ssprofile_battery parse(const char *text) {
    struct ssprofile_battery battery;
    struct ss_error error = {0};
    assert_succeeds(ssprofile_battery_parse(&battery, text, "f", &error), error);
    return battery;
}

TEST(each_battery_line_is_a_benchmark) {
    struct ssprofile_battery battery =
        parse("# comment\n\nversion 'run --version'\n" TASK "\nsort memory s lower run '(.+)'");
    assert_int_equal(battery.count, 2);
    assert_string_equal(battery.version[1], "--version");
    const struct ssprofile_task *task = ssprofile_battery_find_task(&battery, "sort", "cpu");
    assert_non_null(task);
    assert_string_equal(task->unit, "/s");
    assert_string_equal(task->command[1], "sort");
    assert_false(task->lower_is_better);
    assert_true(ssprofile_battery_find_task(&battery, "sort", "memory")->lower_is_better);
    assert_null(ssprofile_battery_find_task(&battery, "sort", "disk"));
    ssprofile_battery_free(&battery);
}

TEST(battery_may_have_a_byte_order_mark_and_carriage_returns) {
    struct ssprofile_battery battery =
        parse("\xef\xbb\xbf" TASK "\r\n\r\nsearch cpu /s higher x '(y)'\r");
    double result;
    assert_int_equal(battery.count, 2);
    assert_string_equal(battery.tasks[0].name, "sort");
    assert_true(ssprofile_task_result(&battery.tasks[0], "rate 5\n", &result) && result == 5);
    ssprofile_battery_free(&battery);
}

/* A name must be readable from the table of results to which it is written. */
TEST(invalid_benchmarks_of_a_battery_are_refused) {
    char name[600], text[700];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, "%s cpu /s higher x '(y)'", name);
    const struct {
        const char *text, *message;
    } refused[] = {
        {TASK "\n" TASK, "f:2: benchmark sort of class cpu appears twice"},
        {"'' cpu /s higher x '(y)'", "f:1: the name is empty"},
        {"' a' cpu /s higher x '(y)'", "f:1: the name begins or ends with a blank"},
        {"a 'cpu ' /s higher x '(y)'", "f:1: the class begins or ends with a blank"},
        {"'#a' cpu /s higher x '(y)'", "f:1: the name begins with #"},
        {"a 'c\tpu' /s higher x '(y)'", "f:1: the class contains a control character"},
        {text, "f:1: the name is longer than 511 bytes"},
        {"a cpu /s more x '(y)'", "f:1: 'more' is not a direction"},
        {"a cpu /s higher '' '(y)'", "f:1: the command is empty"},
        {"a cpu /s higher x", "f:1: the regular expression is missing"},
        {"a cpu /s higher x '(y)' z", "f:1: unexpected 'z'"},
        {"a cpu /s higher 'x", "quote"},
        {"a cpu /s higher x 'y'", "f:1: the regular expression 'y': put parentheses"},
        {"version x\nversion y", "f:2: the version command is given twice"},
        {"version x", "f: the file contains no benchmark"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ssprofile_battery battery;
        struct ss_error error = {0};
        assert_int_equal(ssprofile_battery_parse(&battery, refused[i].text, "f", &error), -1);
        assert_int_equal(error.status, 2);
        assert_says(error.message, refused[i].message);
        ssprofile_battery_free(&battery);
    }
}

TEST(unusable_battery_files_are_refused) {
    static const char bytes[] = TASK "\n\0" TASK "\n";
    tree_new();
    const struct {
        const char *path, *message;
    } refused[] = {
        {tree_write_bytes("f", bytes, sizeof bytes - 1),
            "the file contains a null byte: it is not text"},
        {"/dev/null", "/dev/null: the file contains no benchmark"},
        {"/dev/zero", "the file contains a null byte"},
        {"/tmp", "cannot read /tmp: Is a directory: name a file"},
        {tree_path("none"), "No such file or directory"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ssprofile_battery battery;
        struct ss_error error = {0};
        assert_int_equal(ssprofile_battery_read(&battery, refused[i].path, &error), -1);
        assert_says(error.message, refused[i].message);
        ssprofile_battery_free(&battery);
    }
}

TEST(first_matching_output_line_is_the_result) {
    static const struct {
        const char *output;
        double result; /* 0 if there is none */
    } outputs[] = {{"begin\nrate 12.5 /s\nrate 7\n", 12.5}, {"rate 1e3", 1000}, {"rate 1e999", 0},
        {"rate 0", 0}, {"rate -5", 0}, {"rate 1.2.3\nrate 5", 0}, {"rate x", 0}, {"", 0},
        {"rate 5\r\n", 5}};
    struct ssprofile_battery battery = parse(TASK);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        double result = 0;
        bool found = ssprofile_task_result(&battery.tasks[0], outputs[i].output, &result);
        if (found != (outputs[i].result > 0) || (found && result != outputs[i].result))
            fail_msg("%s: %g", outputs[i].output, result);
    }
    ssprofile_battery_free(&battery);
}

UNIT_RUN
