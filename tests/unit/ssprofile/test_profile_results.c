/* SPDX-License-Identifier: Apache-2.0 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choice.h"
#include "unit.h"

#define DAMAGED TEST_SOURCE_DIR "/data/profile/damaged.csv"

static struct ssprofile_results read_file(const char *path) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    if (ssprofile_results_read(&results, path, &error) < 0)
        fail_msg("%s", error.message);
    return results;
}

static int read_bytes(
    struct ssprofile_results *results, const char *bytes, size_t size, struct ss_error *error) {
    char path[] = "/tmp/profile-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    lseek(file, 0, SEEK_SET);
    unlink(path);
    return ssprofile_results_read_descriptor(results, file, "f", error);
}

static int read_text(struct ssprofile_results *results, const char *text, struct ss_error *error) {
    return read_bytes(results, text, strlen(text), error);
}

static bool is_warned(const struct ssprofile_results *results, unsigned line, const char *text) {
    char place[32];
    snprintf(place, sizeof place, ".csv:%u:", line);
    for (size_t i = 0; i < results->warnings.count; i++) {
        const char *item = results->warnings.items[i].text;
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

TEST_CASE(damaged_results_are_reported_with_their_line) {
    static const struct {
        unsigned line;
        const char *text;
    } damages[] = {
        {5, "copy is in the classes memory (line 4) and cpu: counted as two benchmarks"},
        {6, "the row has 6 fields, but 7 are expected (is the file truncated?)"},
        {9, "the result of zero is 0, from which no ratio can be computed"},
        {10, "the result of minus is -3, from which no ratio"},
        {11, "the result of word is 'fast', which is not a number"},
        {12, "the result is missing: the row is left out"},
        {14, "both: lower_is_better is true here and false in line 13"},
        {16, "repetition 1 of sort already appears in line 2 with another result: the row is left "
             "out"},
        {17, "lower_is_better is 'yes', neither true nor false"},
        {18, "the row has 8 fields, but 7 are expected"},
        {19, "the row is left out"},
        {31, "the last line has no newline: the row is kept, but its result, '12', may be "
             "truncated"},
    };
    struct ssprofile_results results = read_file(DAMAGED);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        if (!is_warned(&results, damages[i].line, damages[i].text))
            fail_msg("line %u: no warning '%s'", damages[i].line, damages[i].text);
    }
    /*
     * Line 23 repeats the name in two classes on another machine. In line 31 a repetition is far
     * from the other.
     */
    assert_true(
        is_warned(&results, 31, "the result of sort is 12 here, but 1 in line 30, a factor"));
    assert_int_equal(results.warnings.count, sizeof damages / sizeof *damages + 2);
    ssprofile_results_free(&results);
}

TEST_CASE(valid_rows_of_damaged_results_are_kept) {
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
    assert_int_equal(find(&results, "three", "quota-20", "sort", "cpu")->count, 2);
    ssprofile_results_free(&results);
}

#define HEADING "machine,limits,benchmark,lower_is_better,class,repetition,result\n"

static struct ssprofile_results read_rows(const char *rows) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    if (read_text(&results, rows, &error) < 0)
        fail_msg("%s", error.message);
    return results;
}

/*
 * Expects one warning, or none if NULL, and `count` repetitions of benchmark b, class c, on machine
 * a.
 */
static void expect_rows(const char *rows, const char *warning, size_t count) {
    struct ssprofile_results results = read_rows(rows);
    if (results.warnings.count != (warning != NULL))
        fail_msg("%s: %zu warnings: %s", rows, results.warnings.count,
            results.warnings.count > 0 ? results.warnings.items[0].text : "");
    if (warning && !strstr(results.warnings.items[0].text, warning))
        fail_msg("'%s', not '%s'", results.warnings.items[0].text, warning);
    assert_int_equal(find(&results, "a", "without", "b", "c")->count, count);
    ssprofile_results_free(&results);
}

TEST_CASE(harmless_formatting_differences_are_accepted) {
    static const char *const harmless[] = {
        HEADING "a,without,b,true,c,1,5\r\na,without,b,TRUE,c,2,5.5\r\n",
        HEADING " a\t, without ,\" b\" ,True, c,\"rep-1 \",\" 5 \"  \n"
                "a,without,b,tRUE,\"c \",REP-02,5e0\t\n",
        HEADING "\na,without,b,true,c,1,+5.0\n\n# a comment\na,without,b,true,c,2,5E-3\n\n",
        "\"Machine\",\" limits\",BENCHMARK,lower_is_better,class,repetition,result,,\n"
        "a,without,b,true,c,1,5,,\na,without,b,true,c,2,5.001,x,y\n",
        HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,\"6\"",
    };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        expect_rows(harmless[i], i == 2 ? "a factor of more than 10" : NULL, 2);
}

TEST_CASE(rows_with_invalid_results_are_skipped) {
    static const char *const results[] = {"NaN", "nan", "inf", "-inf", "Infinity", "0x10", "1e400",
        "\"1,5\"", "1 000", "5 s", "5%", "1e", ".", "-", "--5", "1.2.3", "5;", "\xd9\xa3"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        char rows[256];
        snprintf(rows, sizeof rows, HEADING "a,without,b,true,c,1,7\na,without,b,true,c,2,%s\n",
            results[i]);
        expect_rows(rows, "f:3: the result of b is '", 1);
    }
    static const char *const zeros[] = {"0", "0.0", "-0", "-5", "1e-400", "-1e-3"};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        char rows[256];
        snprintf(rows, sizeof rows, HEADING "a,without,b,true,c,1,7\na,without,b,true,c,2,%s\n",
            zeros[i]);
        expect_rows(rows, "from which no ratio can be computed", 1);
    }
}

TEST_CASE(garbage_rows_are_skipped) {
    static const struct {
        const char *row, *warning;
    } garbage[] = {
        {"a,without,b\x1b[2J,true,c,2,5\n", "f:3: the benchmark contains a control character"},
        {"a\rb,without,b,true,c,2,5\n", "f:3: the machine contains a control character"},
        {"\x80\xff\xfe,,\x01\n", "f:3:7: the row has 3 fields, but 7 are expected"},
        {"a,without,\"b,true,c,2,5\n", "f:3:11: the quote must be closed"},
        {"a,without,\"b\"x,true,c,2,5\n", "f:3:14: a closing quote must be followed"},
        {"#a,without,b,true,c,2,5\n", "f:3: the row '#a,without"},
        {"a,without,b,1,c,2,5\n", "f:3: lower_is_better is '1', neither true nor false"},
        {",without,b,true,c,2,5\n", "f:3: the machine is missing"},
        {"a,without,b,true,c,\" \",5\n", "f:3: the repetition is missing"},
    };
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        char rows[512];
        snprintf(rows, sizeof rows, HEADING "a,without,b,true,c,1,5\n%sa,without,b,true,c,3,5\n",
            garbage[i].row);
        expect_rows(rows, garbage[i].warning, 2);
    }
}

TEST_CASE(zero_bytes_and_long_names_are_reported) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    static const char rows[] = HEADING "a,without,b,true,c,1,5\na,without,b\0,true,c,2,5\n"
                                       "a,without,b,true,c,3,5\n";
    if (read_bytes(&results, rows, sizeof rows - 1, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(results.warnings.count, 1);
    assert_non_null(
        strstr(results.warnings.items[0].text, "f:3:12: the file contains a null byte"));
    assert_int_equal(find(&results, "a", "", "b", "c")->count, 2);
    ssprofile_results_free(&results);
    char name[700], text[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, HEADING "a,without,b,true,c,1,5\na,without,%s,true,c,2,5\n", name);
    expect_rows(text, "f:3:11: the name has 699 characters", 1);
}

/* Valid rows are far shorter than a mebibyte. */
TEST_CASE(endless_result_lines_are_refused) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    size_t size = ((size_t)1 << 20) + 100000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, HEADING, sizeof HEADING - 1);
    assert_int_equal(read_bytes(&results, text, size, &error), -1);
    assert_non_null(strstr(error.message, "f cannot be read to the end"));
    ssprofile_results_free(&results);
    free(text);
}

TEST_CASE(joined_tables_are_read_by_their_headings) {
    expect_rows(HEADING "a,without,b,true,c,1,5\n" HEADING "a,without,b,true,c,2,6\n",
        "f:3: unexpected second heading: the file contains several tables", 2);
    struct ssprofile_results results =
        read_rows(HEADING "a,without,b,true,c,1,5\n\xef\xbb\xbf"
                          "class,result,machine,more,limits,repetition,benchmark,"
                          "lower_is_better\nc,6,a,x,without,2,b,true\nc,6,a,x,without,1,b,true\n"
                          "c,5,a,x,without,1,b,true\na,without,b,true,c,3,5\n");
    assert_int_equal(results.warnings.count, 4);
    assert_non_null(strstr(results.warnings.items[0].text,
        "f:3: unexpected second heading: the file contains several tables"));
    assert_non_null(
        strstr(results.warnings.items[1].text, "f:5: repetition 1 of b already appears in line 2 "
                                               "with another result: the row is left out"));
    assert_non_null(
        strstr(results.warnings.items[2].text, "f:6: the row repeats line 2 and is left out"));
    assert_non_null(
        strstr(results.warnings.items[3].text, "f:7:23: the row has 7 fields, but 8 are"));
    const struct ssprofile_benchmark *benchmark = find(&results, "a", "", "b", "c");
    assert_int_equal(benchmark->count, 2);
    assert_true(benchmark->repetitions[0].result == 5 && benchmark->repetitions[1].result == 6);
    ssprofile_results_free(&results);
    /* The first table lacked a final line end, so its last row and the heading are one line. */
    expect_rows(HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6" HEADING
                        "a,without,b,true,c,3,6\n",
        "f:3:87: the row has 13 fields, but 7 are expected", 2);
}

TEST_CASE(repetition_numbers_may_be_written_in_any_form) {
    expect_rows(HEADING "a,without,b,true,c,1,5\na,without,b,true,c,Rep-01,5\n",
        "f:3: the row repeats line 2", 1);
    expect_rows(HEADING "a,without,b,true,c,1.0,5\na,without,b,true,c,rep-1,6\n",
        "f:3: repetition 1 of b already appears", 1);
    expect_rows(HEADING "a,without,b,true,c,0,5\na,without,b,true,c,00,6\n",
        "f:3: repetition 0 of b already appears", 1);
    expect_rows(HEADING "a,without,b,true,c,1.5,5\na,without,b,true,c,1,6\n"
                        "a,without,b,true,c,first,6\na,without,b,true,c,10,6\n",
        NULL, 4);
}

/* Whether an unterminated last line is complete depends on the program that wrote it. */
TEST_CASE(unterminated_last_line_counts_in_foreign_tables) {
    expect_rows(HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6",
        "f:3: the last line has no newline: the row is kept, but its result, '6', may be truncated",
        2);
    expect_rows(HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,\"6\"", NULL, 2);
    expect_rows(
        HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,", "f:3: the result is missing", 1);
    expect_rows(HEADING "a,without,b,true,c,1,5\na,without,b,true",
        "f:3:17: the row has 4 fields, but 7 are expected", 1);
    /* Only the note may be incomplete. */
    expect_rows("machine,limits,benchmark,lower_is_better,class,repetition,result,note\n"
                "a,without,b,true,c,1,5,x\na,without,b,true,c,2,6,x",
        NULL, 2);
    char folder[] = "/tmp/profile-XXXXXX", path[64], description[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/results.csv", folder);
    snprintf(description, sizeof description, "%s/profile.json", folder);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6", stream);
    fclose(stream);
    close(open(description, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    struct ssprofile_results results = read_file(path);
    assert_true(is_warned(
        &results, 3, "the last line has no newline and may be truncated: the row is left out"));
    assert_int_equal(find(&results, "a", "", "b", "c")->count, 1);
    ssprofile_results_free(&results);
    unlink(description);
    results = read_file(path);
    assert_int_equal(find(&results, "a", "", "b", "c")->count, 2);
    ssprofile_results_free(&results);
    unlink(path);
    rmdir(folder);
}

TEST_CASE(distant_repetitions_cause_a_warning) {
    expect_rows(HEADING "a,without,b,true,c,1,156\na,without,b,true,c,2,0.161\n"
                        "a,without,b,true,c,3,150\n",
        "f:2: the result of b is 156 here, but 0.161 in line 3, a factor of more than 10: both are "
        "kept",
        3);
    expect_rows(HEADING "a,without,b,true,c,1,10\na,without,b,true,c,2,1\n", NULL, 2);
}

TEST_CASE(rows_of_large_tables_are_found) {
    enum { MANY = 3000 };
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    fputs(HEADING, stream);
    for (int i = 0; i < MANY; i++) {
        fprintf(stream, "a,without,b,true,c,%d,%d\n", i, 20000 + i);
        fprintf(stream, "a,without,b%d,true,c,1,5\n", i);
        fprintf(stream, "a%d,without,b,true,c,1,5\n", i);
    }
    for (int i = 0; i < 100; i++)
        fprintf(stream, "a,without,b,true,c,%d,%d\n", i, 20000 + i);
    fclose(stream);
    struct ssprofile_results results = read_rows(text);
    assert_int_equal(results.count, MANY + 1);
    assert_int_equal(results.warnings.count, 100);
    assert_int_equal(find(&results, "a", "", "b", "c")->count, MANY);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "b%d", i);
        const struct ssprofile_benchmark *benchmark = find(&results, "a", "", name, "c");
        assert_non_null(benchmark);
        assert_string_equal(benchmark->name, name);
    }
    assert_null(find(&results, "a", "", "b3000", "c"));
    ssprofile_results_free(&results);
    free(text);
}

TEST_CASE(many_warnings_are_shortened_by_kind) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    fputs(HEADING "a,without,b,true,c,1,5\na,without,d,true,c,1,0\n", stream);
    for (int i = 0; i < 50; i++)
        fputs("a,without,b,true,1,5\n", stream);
    fputs("a,without,d,true,c,2,-1\n", stream);
    fclose(stream);
    struct ssprofile_results results = read_rows(text);
    assert_int_equal(results.warnings.count, 52);
    struct ssprofile_warnings shown =
        ssprofile_warnings_shorten(&results.warnings, SSPROFILE_WARNINGS_SHOWN);
    assert_int_equal(shown.count, 1 + 20 + 1 + 1);
    assert_non_null(strstr(shown.items[0].text, "f:3: the result of d is 0"));
    assert_non_null(strstr(shown.items[20].text, "f:23:21: the row has 6 fields"));
    assert_string_equal(shown.items[21].text, "... and 30 more like it");
    assert_non_null(strstr(shown.items[22].text, "f:54: the result of d is -1"));
    ssprofile_warnings_free(&shown);
    ssprofile_results_free(&results);
    free(text);
}

TEST_CASE(number_of_stored_warnings_is_limited) {
    struct ssprofile_warnings warnings = {0};
    for (int i = 0; i < SSPROFILE_WARNINGS_KEPT + 7; i++)
        ssprofile_warn(&warnings, "row %d", i);
    assert_int_equal(warnings.count, SSPROFILE_WARNINGS_KEPT);
    struct ssprofile_warnings kept = ssprofile_warnings_shorten(&warnings, SSPROFILE_WARNINGS_KEPT);
    assert_int_equal(kept.count, SSPROFILE_WARNINGS_KEPT + 1);
    assert_string_equal(kept.items[SSPROFILE_WARNINGS_KEPT].text, "... and 7 more like it");
    ssprofile_warnings_free(&kept);
    struct ssprofile_warnings shown =
        ssprofile_warnings_shorten(&warnings, SSPROFILE_WARNINGS_SHOWN);
    assert_int_equal(shown.count, SSPROFILE_WARNINGS_SHOWN + 1);
    assert_string_equal(shown.items[SSPROFILE_WARNINGS_SHOWN].text, "... and 99987 more like it");
    ssprofile_warnings_free(&shown);
    ssprofile_warnings_free(&warnings);
}

TEST_CASE(result_columns_are_found_by_name) {
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

TEST_CASE(unusable_result_tables_are_refused) {
    static const char heading[] =
        "machine,limits,benchmark,lower_is_better,class,repetition,result\n";
    char one_bad[256];
    snprintf(one_bad, sizeof one_bad, "%sa,b,c,true,d,1,0\n", heading);
    const struct {
        const char *text, *message;
    } refused[] = {
        {"", "f is empty"},
        {"\n\n", "f is empty"},
        {"machine,limits\n", "no column 'benchmark'"},
        {"a,without,b,true,c,1,5\n", "f:1:1: no column 'machine'"},
        {"machine;limits;benchmark;lower_is_better;class;repetition;result\n",
            "f:1:1: columns must be separated by commas"},
        {"machine,limits,benchmark,lower_is_better,class,repetition,result,Result\n",
            "f:1:1: column 'result' appears twice"},
        {"\xff\xfem\x01", "f:1:1: no column 'machine'"},
        {heading, "f has no usable result"},
        {one_bad, "f has no usable result: f:2: the result of c is 0"},
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

TEST_CASE(machine_is_chosen_after_a_colon) {
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

/* A machine may be named by its IPv6 address. */
TEST_CASE(machine_names_may_contain_colons) {
    static const struct {
        const char *text, *machine, *limits;
    } named[] = {
        {"::1", "::1", "without"},
        {"::1:without", "::1", "without"},
        {"::1:quota-5", "::1", "quota-5"},
        {"fe80::1", "fe80::1", "quota-5"},
        {"fe80::", "fe80::", "without"},
        {"fe80:::without", "fe80::", "without"},
        {"::1:2", "::1", "2"},
        {"::1:2:without", "::1:2", "without"},
        {"a", "a", "x:y"},
        {"a:x:y", "a", "x:y"},
    };
    struct ssprofile_results results = read_rows(
        HEADING "::1,without,b,true,c,1,5\n::1,quota-5,b,true,c,1,6\nfe80::1,quota-5,b,true,c,1,7\n"
                "fe80::,without,b,true,c,1,8\n::1,2,b,true,c,1,9\n::1:2,without,b,true,c,1,3\n"
                "a,x:y,b,true,c,1,3\n");
    struct ss_error error = {0};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct ssprofile_choice choice;
        char text[600];
        snprintf(text, sizeof text, "%s:%s", DAMAGED, named[i].text);
        if (ssprofile_choose(&choice, text, &error) < 0)
            fail_msg("%s", error.message);
        const struct ssprofile_profile *found = ssprofile_results_find(&results, &choice, &error);
        if (!found)
            fail_msg("%s: %s", named[i].text, error.message);
        if (strcmp(found->machine, named[i].machine) != 0 ||
            strcmp(found->limits, named[i].limits) != 0)
            fail_msg("%s: %s:%s", named[i].text, found->machine, found->limits);
    }
    struct ssprofile_choice none;
    assert_int_equal(ssprofile_choose(&none, DAMAGED ":fe80::2", &error), 0);
    assert_null(ssprofile_results_find(&results, &none, &error));
    assert_non_null(strstr(error.message, "has no machine fe80::2: its machines are ::1:without"));
    ssprofile_results_free(&results);
}

TEST_CASE(unreadable_result_files_are_reported) {
    static const struct {
        const char *path, *message;
    } refused[] = {{"/dev/null", "/dev/null is empty"},
        {"/tmp", "/tmp cannot be read: Is a directory"}, {"/dev/zero", "/dev/zero"},
        {"/none/there", "/none/there: No such file or directory"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ssprofile_results results;
        struct ss_error error = {0};
        assert_int_equal(ssprofile_results_read(&results, refused[i].path, &error), -1);
        if (!strstr(error.message, refused[i].message))
            fail_msg("'%s', not '%s'", error.message, refused[i].message);
        ssprofile_results_free(&results);
    }
}

TEST_CASE(ambiguous_machines_are_refused) {
    struct ssprofile_results results = read_file(DAMAGED);
    struct ssprofile_choice any = {.path = "f"}, two = {.path = "f", .machine = "two"},
                            three = {.path = "f", .machine = "three"},
                            none = {.path = "f", .machine = "four"};
    struct ss_error error = {0};
    assert_null(ssprofile_results_find(&results, &any, &error));
    assert_non_null(strstr(error.message, "several machines"));
    /* One of the two profiles is unthrottled. */
    const struct ssprofile_profile *plain = ssprofile_results_find(&results, &two, &error);
    assert_string_equal(plain->limits, "without");
    error = (struct ss_error){0};
    assert_null(ssprofile_results_find(&results, &three, &error));
    assert_non_null(strstr(error.message, "three:quota-10, three:quota-20"));
    error = (struct ss_error){0};
    assert_null(ssprofile_results_find(&results, &none, &error));
    assert_non_null(strstr(error.message, "has no machine four: its machines are one:without"));
    ssprofile_results_free(&results);
}

UNIT_MAIN()
