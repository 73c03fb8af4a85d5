/* SPDX-License-Identifier: Apache-2.0 */

/* What is read from results.csv, of others and damaged. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssprofile/results.h"
#include "unit.h"

#define DAMAGED TEST_SOURCE_DIR "/data/profile/damaged.csv"

static struct ssprofile_results read_file(const char *path) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    if (ssprofile_results_read(&results, path, &error) < 0)
        fail_msg("%s", error.message);
    return results;
}

/* From a text, to its end. */
static int read_text(struct ssprofile_results *results, const char *text, struct ss_error *error) {
    char path[] = "/tmp/profile-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    lseek(file, 0, SEEK_SET);
    unlink(path);
    return ssprofile_results_read_descriptor(results, file, "f", error);
}

static bool is_warned(const struct ssprofile_results *results, unsigned line, const char *text) {
    char place[32];
    snprintf(place, sizeof place, ".csv:%u:", line);
    for (size_t i = 0; i < results->warnings.count; i++) {
        const char *item = results->warnings.items[i];
        if (strstr(item, place) && strstr(item, text))
            return true;
    }
    return false;
}

static const struct ssprofile_benchmark *find(const struct ssprofile_results *results,
    const char *machine, const char *limits, const char *name, const char *class) {
    struct ssprofile_choice choice = {.path = "f"};
    struct ss_error error = {0};
    snprintf(choice.machine, sizeof choice.machine, "%s", machine);
    snprintf(choice.limits, sizeof choice.limits, "%s", limits);
    const struct ssprofile_profile *profile = ssprofile_results_find(results, &choice, &error);
    assert_non_null(profile);
    return ssprofile_profile_find(profile, name, class);
}

static void every_damage_is_named_with_its_line(void **state) {
    (void)state;
    static const struct {
        unsigned line;
        const char *text;
    } damages[] = {
        {5, "copy is in the classes memory (line 4) and cpu: taken for two benchmarks"},
        {6, "the row has 6 fields, where 7 are expected (one is lacking): left out"},
        {9, "the result of zero is 0: no ratio can be made of it"},
        {10, "the result of minus is -3: no ratio"},
        {11, "the result of word is 'fast', no number"},
        {12, "the row lacks its result: left out"},
        {14, "both: lower_is_better is true here and false in line 13"},
        {16, "repetition 1 of sort is there already, in line 2: left out"},
        {17, "lower_is_better is 'yes', neither true nor false"},
        {18, "the row has 8 fields, where 7 are expected: left out"},
        {19, "the row is left out"},
        {31, "the last line has no end"},
    };
    struct ssprofile_results results = read_file(DAMAGED);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        if (!is_warned(&results, damages[i].line, damages[i].text))
            fail_msg("line %u: no warning '%s'", damages[i].line, damages[i].text);
    }
    /* Line 23 has the name of two classes once more, in another machine. */
    assert_int_equal(results.warnings.count, sizeof damages / sizeof *damages + 1);
    ssprofile_results_free(&results);
}

static void what_makes_sense_is_kept(void **state) {
    (void)state;
    struct ssprofile_results results = read_file(DAMAGED);
    assert_int_equal(results.count, 5);
    const struct ssprofile_benchmark *sort = find(&results, "one", "without", "sort", "cpu");
    assert_int_equal(sort->count, 2);
    assert_true(sort->repetitions[0].result == 100 && sort->repetitions[1].result == 102.5);
    assert_false(sort->lower);
    const struct ssprofile_benchmark *ray = find(&results, "one", "without", "ray", "cpu");
    assert_true(ray->lower && ray->count == 2);
    assert_true(find(&results, "one", "", "copy", "memory")->repetitions[0].result == 50);
    assert_true(find(&results, "one", "", "copy", "cpu")->repetitions[0].result == 80);
    assert_true(find(&results, "one", "", "both", "cpu")->contradictory);
    assert_null(find(&results, "one", "", "cache", "cpu-cache"));
    assert_null(find(&results, "one", "", "zero", "cpu"));
    assert_null(find(&results, "one", "", "yes", "cpu"));
    assert_int_equal(find(&results, "three", "quota-20", "sort", "cpu")->count, 1);
    ssprofile_results_free(&results);
}

static void columns_are_found_by_name(void **state) {
    (void)state;
    struct ssprofile_results results;
    struct ss_error error = {0};
    assert_int_equal(read_text(&results,
                         "\xef\xbb\xbfresult,machine,extra,limits,class,repetition,benchmark,"
                         "lower_is_better\r\n7,a,x,without,c,1,b,true\r\n",
                         &error),
        0);
    assert_true(find(&results, "a", "", "b", "c")->repetitions[0].result == 7);
    assert_int_equal(results.warnings.count, 0);
    ssprofile_results_free(&results);
}

static void what_is_no_table_of_results_is_refused(void **state) {
    (void)state;
    static const char heading[] =
        "machine,limits,benchmark,lower_is_better,class,repetition,result\n";
    char one_bad[256];
    snprintf(one_bad, sizeof one_bad, "%sa,b,c,true,d,1,0\n", heading);
    const struct {
        const char *text, *message;
    } refused[] = {
        {"", "f is empty"},
        {"machine,limits\n", "there is no column 'benchmark'"},
        {heading, "f has no result that can be used"},
        {one_bad, "f has no result that can be used: f:2: the result of c is 0"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ssprofile_results results;
        struct ss_error error = {0};
        assert_int_equal(read_text(&results, refused[i].text, &error), -1);
        if (!strstr(error.message, refused[i].message))
            fail_msg("'%s', not '%s'", error.message, refused[i].message);
        ssprofile_results_free(&results);
    }
}

static void expect_choice(const char *text, const char *machine, const char *limits) {
    struct ssprofile_choice choice;
    struct ss_error error = {0};
    if (ssprofile_choose(&choice, text, &error) < 0)
        fail_msg("%s", error.message);
    assert_string_equal(choice.machine, machine);
    assert_string_equal(choice.limits, limits);
}

static void a_machine_of_a_file_is_named_behind_a_colon(void **state) {
    (void)state;
    struct ssprofile_choice choice;
    struct ss_error error = {0};
    expect_choice(DAMAGED, "", "");
    expect_choice(DAMAGED ":one", "one", "");
    expect_choice(DAMAGED ":two:quota-6352", "two", "quota-6352");
    assert_int_equal(ssprofile_choose(&choice, DAMAGED ":", &error), -1);
    error = (struct ss_error){0};
    assert_int_equal(ssprofile_choose(&choice, DAMAGED ":one:", &error), -1);
    error = (struct ss_error){0};
    assert_int_equal(ssprofile_choose(&choice, "/none/there:one", &error), -1);
    assert_non_null(strstr(error.message, "No such file"));
}

static void the_machine_that_is_meant_must_be_clear(void **state) {
    (void)state;
    struct ssprofile_results results = read_file(DAMAGED);
    struct ssprofile_choice any = {.path = "f"}, two = {.path = "f", .machine = "two"},
                            three = {.path = "f", .machine = "three"},
                            none = {.path = "f", .machine = "four"};
    struct ss_error error = {0};
    assert_null(ssprofile_results_find(&results, &any, &error));
    assert_non_null(strstr(error.message, "several machines"));
    /* One of its two is without a throttle. */
    const struct ssprofile_profile *plain = ssprofile_results_find(&results, &two, &error);
    assert_string_equal(plain->limits, "without");
    error = (struct ss_error){0};
    assert_null(ssprofile_results_find(&results, &three, &error));
    assert_non_null(strstr(error.message, "three:quota-10, three:quota-20"));
    error = (struct ss_error){0};
    assert_null(ssprofile_results_find(&results, &none, &error));
    assert_non_null(strstr(error.message, "has no machine four: there are one:without"));
    ssprofile_results_free(&results);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(every_damage_is_named_with_its_line),
    cmocka_unit_test(what_makes_sense_is_kept),
    cmocka_unit_test(columns_are_found_by_name),
    cmocka_unit_test(what_is_no_table_of_results_is_refused),
    cmocka_unit_test(a_machine_of_a_file_is_named_behind_a_colon),
    cmocka_unit_test(the_machine_that_is_meant_must_be_clear))
