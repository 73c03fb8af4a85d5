/* SPDX-License-Identifier: Apache-2.0 */

#include <fcntl.h>
#include <unistd.h>

#include "choice.h"
#include "tree.h"

#define DAMAGED TEST_SOURCE_DIR "/data/profile/damaged.csv"
#define HEADING "machine,limits,benchmark,lower_is_better,class,repetition,result\n"

/* The warnings of the last table, one per line. */
static char *warnings;

static size_t count_warnings(void) {
    size_t count = 0;
    for (const char *at = warnings; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* Reads a table from a file, or from bytes if `path` is NULL. */
static int read_any(struct ssprofile_results *results, const char *path, const char *bytes,
    size_t length, struct ss_error *error) {
    size_t size;
    free(warnings);
    FILE *stream = open_memstream(&warnings, &size);
    assert_non_null(stream);
    int status = 0;
    if (path) {
        status = ssprofile_results_read(results, path, stream, error);
    } else {
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        rewind(file);
        status = ssprofile_results_read_descriptor(results, dup(fileno(file)), "f", stream, error);
        fclose(file);
    }
    fclose(stream);
    return status;
}

static struct ssprofile_results read_table(const char *path, const char *text) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    if (read_any(&results, path, text, text ? strlen(text) : 0, &error) < 0)
        fail_msg("%s", error.message);
    return results;
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

TEST(damaged_results_are_reported_with_their_line) {
    static const char *const expected[] = {
        ".csv:5: copy is in the classes memory (line 4) and cpu: counted as two benchmarks",
        ".csv:6:", "the row has 6 fields, but 7 are expected (is the file truncated?)",
        ".csv:9: the result of zero is 0, from which no ratio can be computed",
        ".csv:10: the result of minus is -3, from which no ratio",
        ".csv:11: the result of word is 'fast', which is not a number",
        ".csv:12: the result is missing: the row is left out",
        ".csv:14: both: lower_is_better is true here and false in line 13",
        ".csv:16: repetition 1 of sort already appears in line 2 with another result",
        ".csv:17: lower_is_better is 'yes', neither true nor false",
        ".csv:18:", "the row has 8 fields, but 7 are expected",
        ".csv:19:", ".csv:23:", /* the name in two classes on another machine */
        ".csv:31: the last line has no newline: the row is kept, but its result, '12', may be",
        ".csv:31: the result of sort is 12 here, but 1 in line 30, a factor"};
    struct ssprofile_results results = read_table(DAMAGED, NULL);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (!strstr(warnings, expected[i]))
            fail_msg("no '%s' in: %s", expected[i], warnings);
    }
    assert_int_equal(count_warnings(), sizeof expected / sizeof *expected - 2);
    ssprofile_results_free(&results);
}

TEST(valid_rows_of_damaged_results_are_kept) {
    struct ssprofile_results results = read_table(DAMAGED, NULL);
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

/*
 * Tables with benchmark b of class c on machine a: how many of its repetitions count, and a part of
 * the only warning, or NULL.
 */
static const struct {
    const char *rows, *warning;
    size_t count;
} tables[] = {
    /* Harmless differences of formatting. */
    {HEADING "a,without,b,true,c,1,5\r\na,without,b,TRUE,c,2,5.5\r\n", NULL, 2},
    {HEADING " a\t, without ,\" b\" ,True, c,\"rep-1 \",\" 5 \"  \n"
             "a,without,b,tRUE,\"c \",REP-02,5e0\t\n",
        NULL, 2},
    {HEADING "\na,without,b,true,c,1,+5.0\n\n# a comment\na,without,b,true,c,2,5E-3\n\n",
        "a factor of more than 10", 2},
    {"\"Machine\",\" limits\",BENCHMARK,lower_is_better,class,repetition,result,,\n"
     "a,without,b,true,c,1,5,,\na,without,b,true,c,2,5.001,x,y\n",
        NULL, 2},
    {"\xef\xbb\xbfresult,machine,extra,limits,class,repetition,benchmark,lower_is_better\r\n"
     "7,a,x,without,c,1,b,true\r\n",
        NULL, 1},
    /* Whether an unterminated last line is complete depends on the program that wrote it. */
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,\"6\"", NULL, 2},
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6",
        "f:3: the last line has no newline: the row is kept, but its result, '6', may be truncated",
        2},
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,", "f:3: the result is missing", 1},
    {HEADING "a,without,b,true,c,1,5\na,without,b,true",
        "f:3:17: the row has 4 fields, but 7 are expected", 1},
    {"machine,limits,benchmark,lower_is_better,class,repetition,result,note\n"
     "a,without,b,true,c,1,5,x\na,without,b,true,c,2,6,x",
        NULL, 2}, /* only the note may be incomplete */
    /* Garbage. */
    {HEADING "a,without,b,true,c,1,5\na,without,b\x1b[2J,true,c,2,5\n",
        "f:3: the benchmark contains a control character", 1},
    {HEADING "a,without,b,true,c,1,5\na\rb,without,b,true,c,2,5\n",
        "f:3: the machine contains a control character", 1},
    {HEADING "a,without,b,true,c,1,5\n\x80\xff\xfe,,\x01\n",
        "f:3:7: the row has 3 fields, but 7 are expected", 1},
    {HEADING "a,without,b,true,c,1,5\na,without,\"b,true,c,2,5\n",
        "f:3:11: the quote must be closed", 1},
    {HEADING "a,without,b,true,c,1,5\na,without,\"b\"x,true,c,2,5\n",
        "f:3:14: a closing quote must be followed", 1},
    {HEADING "a,without,b,true,c,1,5\n#a,without,b,true,c,2,5\n", "f:3: the row '#a,without", 1},
    {HEADING "a,without,b,true,c,1,5\na,without,b,1,c,2,5\n",
        "f:3: lower_is_better is '1', neither true nor false", 1},
    {HEADING "a,without,b,true,c,1,5\n,without,b,true,c,2,5\n", "f:3: the machine is missing", 1},
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,\" \",5\n",
        "f:3: the repetition is missing", 1},
    /* Joined tables; the first one may lack a final line end. */
    {HEADING "a,without,b,true,c,1,5\n" HEADING "a,without,b,true,c,2,6\n",
        "f:3: unexpected second heading: the file contains several tables", 2},
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6" HEADING "a,without,b,true,c,3,6\n",
        "f:3:87: the row has 13 fields, but 7 are expected", 2},
    /* Repetitions may be written in any form. */
    {HEADING "a,without,b,true,c,1,5\na,without,b,true,c,Rep-01,5\n", "f:3: the row repeats line 2",
        1},
    {HEADING "a,without,b,true,c,1.0,5\na,without,b,true,c,rep-1,6\n",
        "f:3: repetition 1 of b already appears", 1},
    {HEADING "a,without,b,true,c,0,5\na,without,b,true,c,00,6\n",
        "f:3: repetition 0 of b already appears", 1},
    {HEADING "a,without,b,true,c,1.5,5\na,without,b,true,c,1,6\n"
             "a,without,b,true,c,first,6\na,without,b,true,c,10,6\n",
        NULL, 4},
    /* Results that are far apart. */
    {HEADING "a,without,b,true,c,1,156\na,without,b,true,c,2,0.161\na,without,b,true,c,3,150\n",
        "f:2: the result of b is 156 here, but 0.161 in line 3, a factor of more than 10", 3},
    {HEADING "a,without,b,true,c,1,10\na,without,b,true,c,2,1\n", NULL, 2},
};

static void expect_rows(const char *rows, size_t length, const char *warning, size_t count) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    if (read_any(&results, NULL, rows, length, &error) < 0)
        fail_msg("%s", error.message);
    if (count_warnings() != (warning != NULL) || !strstr(warnings, warning ? warning : ""))
        fail_msg("%s: '%s', not '%s'", rows, warnings, warning ? warning : "");
    assert_int_equal(find(&results, "a", "without", "b", "c")->count, count);
    ssprofile_results_free(&results);
}

TEST(rows_count_or_are_reported) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        expect_rows(tables[i].rows, strlen(tables[i].rows), tables[i].warning, tables[i].count);
}

TEST(rows_with_invalid_results_are_skipped) {
    static const char *const results[] = {"NaN", "nan", "inf", "-inf", "Infinity", "0x10", "1e400",
        "\"1,5\"", "1 000", "5 s", "5%", "1e", ".", "-", "--5", "1.2.3", "5;", "\xd9\xa3", "0",
        "0.0", "-0", "-5", "1e-400", "-1e-3"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        char rows[256];
        int length = snprintf(rows, sizeof rows,
            HEADING "a,without,b,true,c,1,7\na,without,b,true,c,2,%s\n", results[i]);
        expect_rows(rows, (size_t)length, "f:3: the result of b is ", 1);
    }
}

TEST(zero_bytes_and_long_names_are_reported) {
    static const char rows[] = HEADING "a,without,b,true,c,1,5\na,without,b\0,true,c,2,5\n"
                                       "a,without,b,true,c,3,5\n";
    char text[1000];
    expect_rows(rows, sizeof rows - 1, "f:3:12: the file contains a null byte", 2);
    int length = snprintf(
        text, sizeof text, HEADING "a,without,b,true,c,1,5\na,without,%0699d,true,c,2,5\n", 0);
    expect_rows(text, (size_t)length, "f:3:11: the name has 699 characters", 1);
}

/* Valid rows are far shorter than a mebibyte. */
TEST(endless_result_lines_are_refused) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    size_t size = ((size_t)1 << 20) + 100000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, HEADING, sizeof HEADING - 1);
    assert_int_equal(read_any(&results, NULL, text, size, &error), -1);
    assert_non_null(strstr(error.message, "f cannot be read to the end"));
    ssprofile_results_free(&results);
    free(text);
}

TEST(joined_tables_are_read_by_their_headings) {
    struct ssprofile_results results = read_table(NULL,
        HEADING "a,without,b,true,c,1,5\n\xef\xbb\xbf"
                "class,result,machine,more,limits,repetition,benchmark,"
                "lower_is_better\nc,6,a,x,without,2,b,true\nc,6,a,x,without,1,b,true\n"
                "c,5,a,x,without,1,b,true\na,without,b,true,c,3,5\n");
    assert_int_equal(count_warnings(), 4);
    assert_non_null(strstr(warnings, "f:6: the row repeats line 2 and is left out"));
    assert_non_null(strstr(warnings, "f:7:23: the row has 7 fields, but 8 are"));
    const struct ssprofile_benchmark *benchmark = find(&results, "a", "", "b", "c");
    assert_int_equal(benchmark->count, 2);
    assert_true(benchmark->repetitions[0].result == 5 && benchmark->repetitions[1].result == 6);
    ssprofile_results_free(&results);
}

/* If there is a profile.json, ssprofile measure was writing the table. */
TEST(unterminated_last_line_of_a_measurement_is_left_out) {
    tree_new();
    tree_write("results.csv", HEADING "a,without,b,true,c,1,5\na,without,b,true,c,2,6");
    for (size_t count = 2; count > 0; count--) {
        struct ssprofile_results results = read_table(tree_path("results.csv"), NULL);
        assert_int_equal(find(&results, "a", "", "b", "c")->count, count);
        ssprofile_results_free(&results);
        tree_write("profile.json", "");
    }
    assert_non_null(strstr(warnings, ":3: the last line has no newline and may be truncated"));
}

TEST(rows_of_large_tables_are_found) {
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
    struct ssprofile_results results = read_table(NULL, text);
    assert_int_equal(results.count, MANY + 1);
    assert_non_null(strstr(warnings, "... and 80 more like it"));
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

TEST(many_warnings_are_shortened_by_kind) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    fputs(HEADING "a,without,b,true,c,1,5\na,without,d,true,c,1,0\n", stream);
    for (int i = 0; i < 50; i++)
        fputs("a,without,b,true,1,5\n", stream);
    fputs("a,without,d,true,c,2,-1\n", stream);
    fclose(stream);
    struct ssprofile_results results = read_table(NULL, text);
    assert_int_equal(count_warnings(), 1 + 20 + 1 + 1);
    assert_non_null(strstr(warnings, "f:23:21: the row has 6 fields"));
    assert_null(strstr(warnings, "f:24:"));
    assert_non_null(strstr(warnings, "f:54: the result of d is -1"));
    assert_non_null(strstr(warnings, "... and 30 more like it\n"));
    ssprofile_results_free(&results);
    free(text);
}

TEST(unusable_result_tables_are_refused) {
    static const struct {
        const char *path, *text, *message;
    } refused[] = {
        {NULL, "", "f is empty"},
        {NULL, "\n\n", "f is empty"},
        {NULL, "machine,limits\n", "no column 'benchmark'"},
        {NULL, "a,without,b,true,c,1,5\n", "f:1:1: no column 'machine'"},
        {NULL, "machine;limits;benchmark;lower_is_better;class;repetition;result\n",
            "f:1:1: columns must be separated by commas"},
        {NULL, "machine,limits,benchmark,lower_is_better,class,repetition,result,Result\n",
            "f:1:1: column 'result' appears twice"},
        {NULL, "\xff\xfem\x01", "f:1:1: no column 'machine'"},
        {NULL, HEADING, "f has no usable result"},
        {NULL, HEADING "a,b,c,true,d,1,0\n", "f has no usable result"},
        {"/dev/null", NULL, "/dev/null is empty"},
        {"/tmp", NULL, "/tmp cannot be read: Is a directory"},
        {"/dev/zero", NULL, "/dev/zero"},
        {"/none/there", NULL, "/none/there: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ssprofile_results results;
        struct ss_error error = {0};
        const char *text = refused[i].text;
        assert_int_equal(
            read_any(&results, refused[i].path, text, text ? strlen(text) : 0, &error), -1);
        if (!strstr(error.message, refused[i].message))
            fail_msg("'%s', not '%s'", error.message, refused[i].message);
        ssprofile_results_free(&results);
    }
}

/* A machine may be named by its IPv6 address. Without a name, the result cannot be read back. */
TEST(machine_is_chosen_after_a_colon) {
    static const struct {
        const char *text, *machine, *limits; /* NULL: none, with this part of the message */
    } rows[] = {
        {":::1", "::1", "without"},
        {":::1:without", "::1", "without"},
        {":::1:quota-5", "::1", "quota-5"},
        {":fe80::1", "fe80::1", "quota-5"},
        {":fe80::", "fe80::", "without"},
        {":fe80:::without", "fe80::", "without"},
        {":::1:2", "::1", "2"},
        {":::1:2:without", "::1:2", "without"},
        {":a", "a", "x:y"},
        {":a:x:y", "a", "x:y"},
        {":two", "two", "without"}, /* one of its two profiles is unthrottled */
        {"", NULL, "several machines"},
        {":three", NULL, "three:quota-10, three:quota-20"},
        {":fe80::2", NULL, "has no machine fe80::2: its machines are ::1:without"},
        {":", NULL, "names no machine"},
        {":one:", NULL, "names no machine"},
    };
    struct ssprofile_results results = read_table(NULL,
        HEADING "::1,without,b,true,c,1,5\n::1,quota-5,b,true,c,1,6\nfe80::1,quota-5,b,true,c,1,7\n"
                "fe80::,without,b,true,c,1,8\n::1,2,b,true,c,1,9\n::1:2,without,b,true,c,1,3\n"
                "a,x:y,b,true,c,1,3\ntwo,without,b,true,c,1,3\ntwo,quota-5,b,true,c,1,3\n"
                "three,quota-10,b,true,c,1,3\nthree,quota-20,b,true,c,1,3\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssprofile_choice choice;
        struct ss_error error = {0};
        char text[600];
        snprintf(text, sizeof text, "%s%s", DAMAGED, rows[i].text);
        const struct ssprofile_profile *found = NULL;
        if (ssprofile_choose(&choice, text, &error) == 0)
            found = ssprofile_results_find(&results, &choice, &error);
        if (!rows[i].machine) {
            assert_null(found);
            if (!strstr(error.message, rows[i].limits))
                fail_msg("%s: %s", rows[i].text, error.message);
            continue;
        }
        if (!found)
            fail_msg("%s: %s", rows[i].text, error.message);
        assert_string_equal(found->machine, rows[i].machine);
        assert_string_equal(found->limits, rows[i].limits);
    }
    ssprofile_results_free(&results);
}

UNIT_RUN
