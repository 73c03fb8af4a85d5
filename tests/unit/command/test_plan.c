/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/words.h"
#include "command/plan.h"
#include "unit.h"

static struct ss_cli cli;
static struct ss_plan plan;
static char **words; /* the command line, to which the plan points */

static int make_plan(const char *line, struct ss_error *error) {
    char whole[1024];
    snprintf(whole, sizeof whole, "showstopper %s", line);
    words = ss_words_split(whole, NULL, NULL);
    assert_non_null(words);
    if (ss_cli_parse(&cli, words, error) < 0)
        fail_msg("'%s' was refused: %s", line, error->message);
    return ss_plan_make(&plan, &cli, error);
}

static void free_plan(void) {
    ss_plan_free(&plan);
    ss_cli_free(&cli);
    free(words);
}

static void make(const char *line) {
    struct ss_error error = {0};
    assert_succeeds(make_plan(line, &error), error);
}

static void assert_refused(const char *line, const char *part) {
    struct ss_error error = {0};
    assert_fails(make_plan(line, &error), error, part);
    free_plan();
}

/* Modules size their memory by these numbers. */
TEST(modules_get_the_size_of_the_run) {
    make("--window 250m -n 3 -l 50% -- sleep 1");
    assert_int_equal(plan.instances, 3);
    assert_int_equal(plan.set.instances, 3);
    assert_int_equal(plan.set.cpus, ss_cpus_count(&plan.cpus));
    assert_that(plan.set.window, ==, 250 * SS_MILLISECOND);
    free_plan();
}

TEST(each_instance_has_its_number) {
    make("-n 11 -l 50% -- echo %");
    assert_string_equal(plan.numbers[2], "02");
    assert_string_equal(plan.commands.items[10][1], "10");
    assert_string_equal(plan.instances_text, "11");
    free_plan();
}

TEST(printed_options_are_escaped_and_cut) {
    char path[] = "/tmp/plan,XXXXXX", line[100], expected[100], text[100];
    int file = mkstemp(path);
    assert_that(file, >=, 0);
    assert_int_equal(write(file, "0 50%\n10s 50%\n", 14), 14);
    close(file);
    const char *end = strchr(path, ',') + 1;
    snprintf(line, sizeof line, "-t file -T 'path=/tmp/plan\\,%s,offset=2s' -- true", end);
    snprintf(expected, sizeof expected, "path=/tmp/plan\\,%s,scale=1,loop=yes,offset=2s", end);
    make(line);
    ss_plan_print_options(text, sizeof text, &plan, SS_KIND_TRACE);
    assert_string_equal(text, expected);
    for (size_t size = 1; size < strlen(expected); size++) {
        memset(text, '#', sizeof text);
        ss_plan_print_options(text, size, &plan, SS_KIND_TRACE);
        assert_that(strnlen(text, size), <, size);
        assert_memory_equal(text, expected, strlen(text));
    }
    free_plan();
    unlink(path);
}

TEST(unmeasured_time_is_refused) {
    assert_refused("--settle 5s --duration 5s -l 50% -- true", "--settle leaves no time to count");
}

TEST(target_after_the_command_is_refused) {
    assert_refused("sleep 5 -l 50%", "options must precede the command, but -l follows it");
    assert_refused("-- sleep 5", "no target given: hold a load with -l LOAD");
}

UNIT_RUN
