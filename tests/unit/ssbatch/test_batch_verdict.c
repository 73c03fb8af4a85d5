/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "verdict.h"

static char folder[] = "/tmp/batch-verdict-XXXXXX";

static void write_summary(const char *text) {
    char path[100];
    snprintf(path, sizeof path, "%s/summary.json", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char path[100];
    snprintf(path, sizeof path, "%s/summary.json", folder);
    unlink(path);
    return rmdir(folder);
}

static void assert_fails(const char *const *words, const char *message) {
    struct ss_error error = {0};
    assert_int_equal(ssbatch_check_record(folder, (char *const *)words, true, &error), -1);
    assert_string_equal(error.message, message);
}

TEST_WITH(repeat_is_suggested_only_for_commands, make_folder, remove_folder) {
    static const char *const command[] = {"showstopper", "-n", "1", "--", "--attach=7", NULL};
    static const char *const pid[] = {"showstopper", "--attach", "7", NULL};
    static const char *const name[] = {"/bin/showstopper", "-q", "--attach-name=a", NULL};
    write_summary("{\"samples\": 5, \"instances\": 1, \"ended_by\": \"workloads\"}");
    assert_fails(command, "it ended before the trace of the run did: the command ended by itself; "
                          "--repeat starts it again");
    assert_fails(pid,
        "it ended before the trace of the run did: the attached processes ended by themselves");
    assert_fails(name,
        "it ended before the trace of the run did: the attached processes ended by themselves");
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

UNIT_RUN
