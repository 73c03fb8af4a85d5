/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"
#include "verdict.h"

static void assert_unfit(const char *const *words, const char *message) {
    struct ss_error error = {0};
    assert_fails(
        ssbatch_check_record(tree_root, (char *const *)words, true, &error), error, message);
}

TEST(repeat_is_suggested_only_for_commands) {
    static const struct {
        const char *words[6], *message;
    } rows[] = {
        {{"showstopper", "-n", "1", "--", "--attach=7"}, "--repeat starts it again"},
        {{"showstopper", "--attach", "7"}, "the attached processes ended by themselves"},
        {{"/bin/showstopper", "-q", "--attach-name=a"},
            "the attached processes ended by themselves"},
    };
    tree_new();
    tree_write("summary.json", "{\"samples\": 5, \"instances\": 1, \"ended_by\": \"workloads\"}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_unfit(rows[i].words, rows[i].message);
}

/* Options of showstopper may be joined; those of its command do not concern it. */
TEST(only_options_of_showstopper_name_a_trace) {
    static const char *const with[][8] = {
        {"showstopper", "-t", "file", "-T", "x"},
        {"showstopper", "-tstaircase", "x"},
        {"showstopper", "-qt", "staircase", "x"},
        {"env", "A=b", "/bin/showstopper", "-n", "1", "--trace=sine", "x"},
    };
    static const char *const without[][7] = {
        {"showstopper", "-l", "50%", "./bench", "-t", "4"},
        {"showstopper", "-l", "50%", "--", "-t", "4"},
        {"showstopper", "-l", "50%", "./bench", "--attach", "4"},
        {"showstopper", "-t", "constant", "-T", "50%", "x"},
        {"./bench", "-t", "file"},
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_true(ssbatch_follows_trace((char *const *)with[i]));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(ssbatch_follows_trace((char *const *)without[i]));
}

/* Otherwise a verdict would reveal whether the target of the link exists. */
TEST(foreign_link_is_not_a_missing_file) {
    static const char *const words[] = {"showstopper", NULL};
    tree_new();
    tree_need_users();
    tree_give(".", 20001);
    tree_link("/none/summary.json", "summary.json");
    tree_give("summary.json", 20001);
    assert_unfit(words, "summary.json is a link of ");
}

UNIT_RUN
