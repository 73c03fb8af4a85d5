/* SPDX-License-Identifier: Apache-2.0 */

#include "results.h"
#include "tree.h"

#define HEADING "machine,limits,benchmark,lower_is_better,class,repetition,result\n"
#define ROW     "a,without,b,true,c,1,5\n"

/* Reads a table from a file, or a text if `path` is NULL. */
static int read_any(struct ssprofile_results *results, const char *path, const char *text,
    size_t length, struct ss_error *error) {
    if (path)
        return ssprofile_results_read(results, path, error);
    tree_new();
    return ssprofile_results_read(results, tree_write_bytes("f", text, length), error);
}

static struct ssprofile_results read_text(const char *text) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    assert_succeeds(read_any(&results, NULL, text, strlen(text), &error), error);
    return results;
}

/* Returns the number of repetitions of benchmark b of class c on machine a. */
static size_t count(const struct ssprofile_results *results) {
    const struct ssprofile_profile *profile = ssprofile_results_profile(results, "a", "without");
    assert_non_null(profile);
    const struct ssprofile_benchmark *benchmark = ssprofile_profile_find(profile, "b", "c");
    assert_non_null(benchmark);
    return benchmark->count;
}

/* Tables with benchmark b of class c on machine a, and how many of its repetitions count. */
static const struct {
    const char *rows;
    size_t count;
} tables[] = {
    /* Harmless differences of formatting. */
    {HEADING "a,without,b,true,c,1,5\r\na,without,b,TRUE,c,2,5.5\r\n", 2},
    {HEADING " a\t, without ,\" b\" ,True, c,\"rep-1 \",\" 5 \"  \n"
             "a,without,b,tRUE,\"c \",REP-02,5e0\t\n",
        2},
    {HEADING "\na,without,b,true,c,1,+5.0\n\n# a comment\na,without,b,true,c,2,5E-3\n\n", 2},
    {HEADING ROW "#a,without,b,true,c,2,5\n", 1},
    {"\"Machine\",\" limits\",BENCHMARK,lower_is_better,class,repetition,result,,\n"
     "a,without,b,true,c,1,5,,\na,without,b,true,c,2,5.001,x,y\n",
        2},
    {"\xef\xbb\xbfresult,machine,extra,limits,class,repetition,benchmark,lower_is_better\r\n"
     "7,a,x,without,c,1,b,true\r\n",
        1},
    {HEADING ROW "a,without,b,true,c,2,6", 2},
    /* Joined tables. */
    {HEADING ROW HEADING "a,without,b,true,c,2,6\n", 2},
    {HEADING ROW "class,result,machine,more,limits,repetition,benchmark,lower_is_better\n"
                 "c,6,a,x,without,2,b,true\n",
        2},
    /* Repetitions may be written in any form, and rows may be repeated. */
    {HEADING ROW "a,without,b,true,c,Rep-01,5\na,without,b,true,c,1.0,5\n", 1},
    {HEADING "a,without,b,true,c,1.5,5\na,without,b,true,c,1,6\n"
             "a,without,b,true,c,first,6\na,without,b,true,c,10,6\n",
        4},
    {HEADING ROW "a,without,b,false,other,1,6\na,quota-5,b,true,c,2,6\n", 1},
};

TEST(repetitions_of_valid_tables_count) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct ssprofile_results results = read_text(tables[i].rows);
        assert_int_equal(count(&results), tables[i].count);
        ssprofile_results_free(&results);
    }
}

static void expect_refused(const char *path, const char *text, size_t length, const char *message) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    assert_fails(read_any(&results, path, text, length, &error), error, message);
    ssprofile_results_free(&results);
}

TEST(invalid_rows_are_refused_with_their_line) {
    static const char *const refused[][2] = {
        {"a,without,b,true,c,2,", "f:3: the result is missing"},
        {"a,without,b,true", "f:3:17: the row has 4 fields, but 7 are expected"},
        {"a,without,b\x1b[2J,true,c,2,5\n", "f:3: the benchmark contains a control character"},
        {"a,without,b\xc2\x9b\x32J,true,c,2,5\n",
            "f:3: the benchmark contains a control character"},
        {"a\rb,without,b,true,c,2,5\n", "f:3: the machine contains a control character"},
        {"a,without,\"b,true,c,2,5\n", "f:3:11: unclosed quote"},
        {"a,without,b,1,c,2,5\n", "f:3: invalid lower_is_better '1': use true or false"},
        {",without,b,true,c,2,5\n", "f:3: the machine is missing"},
        {"a,without,b,true,c,\" \",5\n", "f:3: the repetition is missing"},
        {"a,without,b,true,c,rep-1,6\n", "f:3: repetition 1 of b already has another result"},
        {"a,without,b,true,c,01.0,6\n", "f:3: repetition 1 of b already has another result"},
        {"a,without,b,false,c,2,6\n", "f:3: lower_is_better of b differs"},
    };
    static const char *const numbers[] = {"NaN", "inf", "0x10", "1e400", "\"1,5\"", "5 s", "5%",
        "1e", ".", "1.2.3", "\xd9\xa3", "0", "-0", "-5", "1e-400", "-1e-3"};
    char text[1200];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        int length = snprintf(text, sizeof text, HEADING ROW "%s", refused[i][0]);
        expect_refused(NULL, text, (size_t)length, refused[i][1]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int length =
            snprintf(text, sizeof text, HEADING ROW "a,without,b,true,c,2,%s\n", numbers[i]);
        expect_refused(NULL, text, (size_t)length, "f:3: the result of b is ");
    }
    int length = snprintf(text, sizeof text, HEADING ROW "a,without,%0699d,true,c,2,5\n", 0);
    expect_refused(NULL, text, (size_t)length, "f:3:11: the name is too long: 699 bytes");
    static const char zero[] = HEADING ROW "a,without,b\0,true,c,2,5\n";
    expect_refused(NULL, zero, sizeof zero - 1, "f:3:12: the file contains a null byte");
}

/* If there is a profile.json, ssprofile measure was writing the table. */
TEST(unterminated_last_line_of_a_measurement_is_left_out) {
    static const char *const ends[] = {"a,without,b,true,c,2,6", "a,without,b,tr"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct ssprofile_results results;
        struct ss_error error = {0};
        char text[200];
        snprintf(text, sizeof text, HEADING ROW "%s", ends[i]);
        tree_new();
        tree_write("results.csv", text);
        tree_write("profile.json", "");
        assert_int_equal(ssprofile_results_read(&results, tree_path("results.csv"), &error), 0);
        assert_int_equal(error.status, 0);
        assert_int_equal(count(&results), 1);
        ssprofile_results_free(&results);
    }
}

/* Otherwise a comparison would reveal whether the target of the link exists. */
TEST(foreign_link_next_to_results_is_not_a_missing_file) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    tree_new();
    tree_need_users();
    tree_give(".", 20001);
    tree_write("results.csv", HEADING ROW "a,without,b,true,c,2,6");
    assert_int_equal(symlink("/none/file", tree_path("profile.json")), 0);
    tree_give("profile.json", 20001);
    assert_int_equal(ssprofile_results_read(&results, tree_path("results.csv"), &error), 0);
    assert_int_equal(count(&results), 1);
    ssprofile_results_free(&results);
}

TEST(unusable_result_tables_are_refused) {
    static const struct {
        const char *path, *text, *message;
    } refused[] = {
        {NULL, "", "f is empty"},
        {NULL, "machine,limits\n", "no column 'benchmark'"},
        {NULL, "machine;limits;benchmark;lower_is_better;class;repetition;result\n",
            "f:1:1: columns must be separated by commas"},
        {NULL, "machine,limits,benchmark,lower_is_better,class,repetition,result,Result\n",
            "f:1:1: column 'result' appears twice"},
        {NULL, "\xff\xfem\x01", "f:1:1: no column 'machine'"},
        {NULL, HEADING, "f has no rows"},
        {"/dev/null", NULL, "/dev/null is empty"},
        {"/tmp", NULL, "/tmp"},
        {"/dev/zero", NULL, "/dev/zero"},
        {"/none/there", NULL, "cannot open /none/there: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *text = refused[i].text ? refused[i].text : "";
        expect_refused(refused[i].path, text, strlen(text), refused[i].message);
    }
}

UNIT_RUN
